//! Bytes of columnar files, their batches, and the errors of the libraries that read them.

use std::cell::Cell;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use bytes::Bytes;
use tempfile::{SpooledData, SpooledTempFile, spooled_tempfile_in};

use crate::error::{Error, of_panic};
use crate::file::fill_at;
use crate::input::Input;
use crate::input::opened::ByAllCores;

/// The bytes of an input, at any place.
#[derive(Clone)]
pub enum Stored {
    /// A file, and its size in bytes.
    File(Arc<File>, u64),
    /// Bytes in memory.
    Memory(Bytes),
}

impl Stored {
    /// The bytes of an input. Compressed or streamed input is copied to memory if small, else to a
    /// temporary file in this folder.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn of(input: &Input, folder: &Path) -> Result<Self, Error> {
        const FEW: usize = 64 << 20;
        const STEP: usize = 1 << 20;
        if let Some(file) = input.open_regular()? {
            return Ok(Self::File(Arc::new(file.file), file.size));
        }
        let (mut opened, mut spool) = (input.open()?, spooled_tempfile_in(FEW, folder));
        let mut block = vec![0; STEP];
        while let count @ 1.. = opened.read_some(&mut block)? {
            spool.write_all(&block[..count]).map_err(spooling)?;
        }
        Self::spooled(spool)
    }

    /// The bytes written to a spool.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn spooled(spool: SpooledTempFile) -> Result<Self, Error> {
        match spool.into_inner() {
            SpooledData::InMemory(bytes) => Ok(Self::Memory(bytes.into_inner().into())),
            SpooledData::OnDisk(mut file) => {
                let length = file.stream_position().map_err(spooling)?;
                Ok(Self::File(Arc::new(file), length))
            }
        }
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::File(_, length) => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The bytes at a place.
    pub(super) fn at(&self, place: u64, length: usize) -> io::Result<Bytes> {
        let ended = || io::Error::from(io::ErrorKind::UnexpectedEof);
        place.checked_add(length as u64).filter(|&end| end <= self.size()).ok_or_else(ended)?;
        match self {
            Self::Memory(bytes) => Ok(bytes.slice(place as usize..place as usize + length)),
            Self::File(file, _) => {
                let mut room = vec![0; length];
                let count = fill_at(file, &mut room, place)?;
                if count < length { Err(ended()) } else { Ok(room.into()) }
            }
        }
    }
}

fn spooling(error: io::Error) -> Error {
    Error::io("a temporary file", "write", error)
}

impl Length for Stored {
    fn len(&self) -> u64 {
        self.size()
    }
}

impl ChunkReader for Stored {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self.clone() {
            Self::File(file, size) => Box::new(BufReader::new(ByAllCores { file, at: start, size })),
            Self::Memory(bytes) => {
                Box::new(Cursor::new(bytes.slice(start.min(bytes.len() as u64) as usize..)))
            }
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.at(start, length)?)
    }
}

/// Batches of rows, one after another.
pub type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send + 'a>;

thread_local! {
    /// This thread's depth of guarded work.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
}

/// Returns true if a panic of this thread is caught and becomes a read error.
pub fn is_guarded() -> bool {
    GUARDED.get() > 0
}

/// Does work on foreign data, and catches the panics of readers on unexpected damage.
pub(super) fn guarded<T, E: Display>(
    name: &str,
    what: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    caught(work).map_err(|problem| {
        // The libraries begin with their own names.
        let repeated = [&format!("{what} error: "), "EOF: ", "Ipc error: ", "Parser error: "];
        let problem = repeated.into_iter().fold(problem, |problem, repeated| problem.replace(repeated, ""));
        let problem = problem.replace(&format!("Invalid {what} file. "), "");
        let remedy = if problem.contains("; ") { "" } else { "; get the file again" };
        Error::input(name, format!("invalid {what}: {problem}{remedy}"))
    })
}

/// Does work of a library, and returns its error or its panic as a message.
pub(super) fn caught<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    GUARDED.set(GUARDED.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(GUARDED.get() - 1);
    match done {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(panic) => Err(of_panic(&*panic).unwrap_or("damaged data").to_owned()),
    }
}

/// An Arrow error about this program's own operations.
pub fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::DictionaryKeyOverflowError => {
            Error::options("an Arrow dictionary has more values than its index type can number")
        }
        ArrowError::OffsetOverflowError(_) => {
            Error::options("an Arrow column has more than 2 GiB of text; cast it to large strings")
        }
        error => Error::options(format!("Arrow: {error}")),
    }
}

/// A read or write error, usually of the disk.
pub fn unwritten(name: &str, action: &'static str, error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => Error::io(name, action, source),
        error => failed(error),
    }
}
