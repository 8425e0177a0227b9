//! Tables of columns: Parquet, and Arrow files and streams. Rows are read in batches and stay in place; their
//! numbers are sorted.
//!
//! ```text
//! input ── Stored ──> Table: a schema, and parts (row groups, batches) ── read, on all cores ──> RecordBatch
//! ```

pub(crate) mod arrays;
mod dictionaries;
pub(crate) mod from_text;
pub(crate) mod ipc;
mod kind;
pub(crate) mod parquet;
pub(crate) mod to_text;

use std::cell::Cell;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use bytes::Bytes;
use tempfile::{SpooledData, SpooledTempFile, spooled_tempfile_in};

use crate::error::Error;
use crate::file::fill_at;
use crate::format::Format;
use crate::io::source::Input;

/// The bytes of an input, at any place.
#[derive(Clone)]
pub(crate) enum Stored {
    File(Arc<File>, u64),
    Memory(Bytes),
}

impl Stored {
    /// The bytes of an input. Compressed or streamed input is copied to memory if small, else to a
    /// temporary file in this folder.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn of(input: &Input, folder: &Path) -> Result<Self, Error> {
        const FEW: usize = 64 << 20;
        const STEP: usize = 1 << 20;
        let name = input.name();
        if let Some(path) = input.path().filter(|_| input.compression().is_none()) {
            let failed = |error| Error::io(&name, "open", error);
            let file = File::open(path).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            if metadata.is_file() {
                return Ok(Self::File(Arc::new(file), metadata.len()));
            }
        }
        let (mut opened, mut spool) = (input.open()?, spooled_tempfile_in(FEW, folder));
        let mut block = vec![0; STEP];
        loop {
            let count = opened.read_some(&mut block)?;
            if count == 0 {
                return Self::spooled(spool);
            }
            spool.write_all(&block[..count]).map_err(spooling)?;
        }
    }

    /// The bytes written to a spool.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn spooled(spool: SpooledTempFile) -> Result<Self, Error> {
        match spool.into_inner() {
            SpooledData::InMemory(bytes) => Ok(Self::Memory(bytes.into_inner().into())),
            SpooledData::OnDisk(mut file) => {
                let length = file.stream_position().map_err(spooling)?;
                Ok(Self::File(Arc::new(file), length))
            }
        }
    }

    /// The size in bytes.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File(_, length) => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The bytes at a place.
    pub(super) fn at(&self, place: u64, length: usize) -> io::Result<Bytes> {
        let end = place.checked_add(length as u64).filter(|&end| end <= self.size());
        if end.is_none() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match self {
            Self::Memory(bytes) => Ok(bytes.slice(place as usize..place as usize + length)),
            Self::File(file, _) => {
                let mut room = vec![0; length];
                let count = fill_at(file, &mut room, place)?;
                if count < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(room.into()) }
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
    type T = io::BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(io::BufReader::new(From { stored: self.clone(), place: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.at(start, length)?)
    }
}

/// Reads from a place on.
pub(crate) struct From {
    stored: Stored,
    place: u64,
}

impl Read for From {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let left = self.stored.size().saturating_sub(self.place);
        let count = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        room[..count].copy_from_slice(&self.stored.at(self.place, count)?);
        self.place += count as u64;
        Ok(count)
    }
}

/// A Parquet or Arrow input.
pub(crate) enum Table {
    Parquet(parquet::File),
    Arrow(ipc::File),
}

/// A separately read part of a table: a row group or a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The number of the input.
    pub(crate) table: usize,
    pub(crate) number: usize,
    pub(crate) rows: u64,
    /// Approximate memory size.
    pub(crate) bytes: u64,
}

/// Batches of rows, one after another.
pub(crate) type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send + 'a>;

impl Table {
    /// Opens an input of this format; a copy, where needed, goes to this folder.
    ///
    /// # Errors
    ///
    /// I/O errors; invalid data.
    pub(crate) fn open(input: &Input, format: Format, folder: &Path) -> Result<Self, Error> {
        let (name, stored) = (input.name(), Stored::of(input, folder)?);
        match format {
            Format::Parquet => parquet::File::open(name, stored).map(Self::Parquet),
            _ => ipc::File::open(name, stored).map(Self::Arrow),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Parquet(file) => &file.name,
            Self::Arrow(file) => &file.name,
        }
    }

    /// The columns as they are written.
    pub(crate) fn schema(&self) -> &SchemaRef {
        match self {
            Self::Parquet(file) => &file.schema,
            Self::Arrow(file) => &file.schema,
        }
    }

    /// The columns as they are read.
    pub(crate) fn schema_as_read(&self, views: bool) -> &SchemaRef {
        match self {
            Self::Parquet(file) => file.schema_as_read(views),
            Self::Arrow(file) => &file.schema,
        }
    }

    /// The parts, for input number `table`.
    pub(crate) fn parts(&self, table: usize) -> Vec<Part> {
        let parts = match self {
            Self::Parquet(file) => file.parts(),
            Self::Arrow(file) => file.parts(),
        };
        let part = |(number, (rows, bytes))| Part { table, number, rows, bytes };
        parts.into_iter().enumerate().map(part).collect()
    }

    /// The bytes of each column of a part in the input, if columns can be read separately.
    pub(crate) fn column_sizes(&self, part: usize) -> Option<Vec<u64>> {
        if let Self::Parquet(file) = self { Some(file.column_sizes(part)) } else { None }
    }

    /// Reads these columns of a part, or all, in table order. Parquet comes in batches of at most
    /// `rows` rows.
    ///
    /// # Errors
    ///
    /// I/O errors; invalid data.
    pub(crate) fn read(
        &self,
        part: usize,
        columns: Option<&[usize]>,
        rows: usize,
        views: bool,
    ) -> Result<Batches<'static>, Error> {
        match self {
            Self::Parquet(file) => file.read(part, columns, rows, views),
            Self::Arrow(file) => Ok(file.read(part, columns)),
        }
    }
}

thread_local! {
    /// This thread's depth of guarded work.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
}

/// Returns true if a panic of this thread is caught and becomes a read error.
pub(crate) fn is_guarded() -> bool {
    GUARDED.get() > 0
}

/// Does work on foreign data, and catches the panics of readers on unexpected damage.
fn guarded<T, E: Display>(name: &str, what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, Error> {
    let damaged = |problem: String| Error::input(name, format!("invalid {what}: {problem}"));
    GUARDED.set(GUARDED.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(GUARDED.get() - 1);
    match done {
        Ok(done) => done.map_err(|error| damaged(error.to_string())),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(damaged(said.unwrap_or("damaged data").to_owned()))
        }
    }
}

/// An Arrow error about this program's own operations.
pub(crate) fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::DictionaryKeyOverflowError => {
            Error::options("an Arrow dictionary has more values than its index type can number")
        }
        error => Error::options(format!("Arrow: {error}")),
    }
}

/// A read or write error, usually of the disk.
pub(crate) fn unwritten(name: &str, action: &'static str, error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => Error::io(name, action, source),
        error => failed(error),
    }
}

/// The common schema of all inputs: the first schema, if all columns match.
///
/// # Errors
///
/// A column differs.
pub(crate) fn common_schema(tables: &[Table]) -> Result<SchemaRef, Error> {
    let Some((first, others)) = tables.split_first() else { return Ok(Arc::new(Schema::empty())) };
    let mut fields: Vec<Field> = first.schema().fields().iter().map(|field| (**field).clone()).collect();
    for other in others {
        let theirs = other.schema().fields();
        let differs = |problem: String| {
            Err(Error::input(
                other.name(),
                format!("the columns differ from those of {}: {problem}", first.name()),
            ))
        };
        if theirs.len() != fields.len() {
            return differs(format!("there are {}, not {}", theirs.len(), fields.len()));
        }
        for (field, their) in fields.iter_mut().zip(theirs) {
            let [name, here] = [their.name(), field.name()].map(crate::human::quoted);
            if name != here {
                return differs(format!("'{name}' in place of '{here}'"));
            }
            if their.data_type() != field.data_type() {
                return differs(format!("'{name}' is {}, not {}", their.data_type(), field.data_type()));
            }
            if their.is_nullable() && !field.is_nullable() {
                *field = field.clone().with_nullable(true);
            }
        }
    }
    Ok(Arc::new(Schema::new_with_metadata(fields, first.schema().metadata().clone())))
}
