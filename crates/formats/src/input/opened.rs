//! Open inputs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::cancel::Cancel;
use crate::compression::Foreign;
use crate::error::{Error, ErrorKind, Hint};
use crate::file::{fill, fill_at, read_at, uninterrupted};
use crate::memory;
use crate::parallel::{self, lock};
use crate::text::{BLOCK, Before, LineEnd, Text};

/// Reads a regular file; large reads use all cores.
pub(crate) struct ByAllCores {
    pub(crate) file: Arc<File>,
    pub(crate) at: u64,
    /// The size at opening.
    pub(crate) size: u64,
}

impl Read for ByAllCores {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        const PIECE: usize = 1 << 20;
        let total = fill_by_all_cores(&self.file, room, self.at, PIECE)?;
        self.at += total as u64;
        // A shorter file was truncated: its missing end must not count as the end of input.
        if total < room.len() && self.file.metadata()?.len() < self.size { Err(cut()) } else { Ok(total) }
    }
}

/// The error of a truncated file.
fn cut() -> io::Error {
    io::Error::other("the file changed while it was being read")
}

/// Reads a regular file, and reopens it for each block.
pub(crate) struct Reopened {
    pub(crate) path: PathBuf,
    pub(crate) at: u64,
    /// The size at first opening; a smaller size reveals a changed or replaced file.
    pub(crate) size: u64,
}

impl Read for Reopened {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        /// Open one file at a time across all cores, because few descriptors are left.
        static READING: Mutex<()> = Mutex::new(());
        let _reading = lock(&READING);
        let file = File::open(&self.path)?;
        if file.metadata()?.len() < self.size {
            return Err(cut());
        }
        let count = read_at(&file, room, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Returns true if this many inputs may be open at once. For many inputs it queries the system's limit.
pub fn may_be_open(inputs: usize) -> bool {
    // Three inputs are always allowed.
    if inputs < 4 {
        return true;
    }
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit};
        /// A reserve for other uses.
        const OTHERS: usize = 8;

        // An estimate, if the system does not list the open descriptors.
        let open = std::fs::read_dir("/proc/self/fd").map_or(OTHERS, Iterator::count);
        let allows = |limit: Option<u64>| limit.is_none_or(|limit| (inputs + open + OTHERS) as u64 <= limit);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        allows(current) || allows(maximum) && raise_limit()
    }
    #[cfg(not(unix))]
    // Fewer than the C runtime allows.
    {
        inputs < 500
    }
}

/// Raises the process's limit of open files to its maximum. Returns false if the system refuses.
#[cfg(unix)]
pub(crate) fn raise_limit() -> bool {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok()
}

/// An open regular file, for concurrent reads at any position.
pub struct RegularFile {
    pub(crate) name: String,
    pub(crate) file: File,
    /// The size at opening, in bytes.
    pub size: u64,
    pub(crate) cancel: Cancel,
}

impl RegularFile {
    /// Fills `room` from offset `place` on, up to the end of the file.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn read_at(&self, room: &mut [u8], place: u64) -> Result<usize, Error> {
        let read = self.cancel.check().and_then(|()| fill_at(&self.file, room, place));
        read.map_err(|error| Error::io(&self.name, "read", error))
    }

    /// The lines before the line at offset `place`.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn before(&self, place: u64) -> Result<Before, Error> {
        let (mut at, mut lines) = (0, 0);
        let mut block = vec![0; BLOCK];
        while at < place {
            let room = (place - at).min(BLOCK as u64) as usize;
            let count = self.read_at(&mut block[..room], at)?;
            if count == 0 {
                return Err(self.has_changed());
            }
            // Ends the block after a line end, so that CR LF stays together.
            let end = memchr::memrchr(b'\n', &block[..count]).map_or(count, |newline| newline + 1);
            lines += Before::of_text(&block[..end]).lines;
            at += end as u64;
        }
        Ok(Before { lines, ..Before::default() })
    }

    /// Turns the file into an open input that begins at offset `place`.
    pub fn opened_at(self, place: u64) -> Opened {
        let Self { name, file, size, cancel } = self;
        let reader = Box::new(ByAllCores { at: place, file: Arc::new(file), size });
        Opened { cancel, ..Opened::new(name, reader, Some(size.saturating_sub(place))) }
    }

    /// Returns the text of the whole file up to its current end, read by all cores.
    ///
    /// # Errors
    ///
    /// I/O errors; too little memory.
    pub fn text(&self, line_end: LineEnd) -> Result<Text, Error> {
        // Zero pages cost nothing until data is read into them. One more byte is for the line end
        // after a part.
        let size = usize::try_from(self.size).ok();
        let room = size.and_then(|size| bytemuck::allocation::try_zeroed_vec(size.checked_add(1)?).ok());
        let failed = |error| Error::io(&self.name, "read", error);
        let (Some(size), Some(mut bytes)) = (size, room) else {
            return Err(failed(io::ErrorKind::OutOfMemory.into()));
        };
        bytes.truncate(size);
        if fill_by_all_cores(&self.file, &mut bytes, 0, BLOCK).map_err(failed)? < size {
            return Err(self.has_changed());
        }
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.size)).map_err(failed)?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(Text::of_one(&self.name, bytes, None, line_end))
    }

    /// Returns the text of a range, at the position `before`, whose records end so.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn part(&self, range: Range<u64>, before: Option<Before>, line_end: LineEnd) -> Result<Text, Error> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let count = self.read_at(&mut bytes, range.start)?;
        bytes.truncate(count);
        Ok(Text::of_one(&self.name, bytes, before, line_end))
    }

    /// The error of a file that changed after opening.
    pub fn has_changed(&self) -> Error {
        Error::input(&self.name, "changed its size while it was being read")
    }

    /// The current size.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn size_now(&self) -> Result<u64, Error> {
        let metadata = self.file.metadata().map_err(|error| Error::io(&self.name, "read", error))?;
        Ok(metadata.len())
    }
}

/// Fills `room` from offset `place` on, in pieces of this size, up to the end of the file.
fn fill_by_all_cores(file: &File, room: &mut [u8], place: u64, piece: usize) -> io::Result<usize> {
    let read = |(number, room): (usize, &mut [u8])| fill_at(file, room, place + (number * piece) as u64);
    let counts: Vec<io::Result<usize>> = parallel::map_parts(room.chunks_mut(piece).enumerate(), read);
    let mut total = 0;
    for count in counts {
        let count = count?;
        total += count;
        // The file ended here, so later pieces do not count, even if the file has grown since.
        if count < piece {
            break;
        }
    }
    Ok(total)
}

/// An open input.
pub struct Opened {
    /// The name for messages.
    pub name: String,
    pub(crate) reader: Box<dyn Read + Send + Sync>,
    /// The expected size in bytes, if known.
    pub size: Option<u64>,
    /// True if reads never wait for another process.
    pub is_ready: bool,
    pub(crate) cancel: Cancel,
}

impl Opened {
    pub(crate) fn new(name: String, reader: Box<dyn Read + Send + Sync>, size: Option<u64>) -> Self {
        // Special files report size 0.
        let (is_ready, cancel) = (size.is_some_and(|size| size > 0), Cancel::default());
        Self { name, reader, size, is_ready, cancel }
    }

    /// Reserves memory for `more` bytes.
    ///
    /// # Errors
    ///
    /// Too little memory.
    pub fn grow(&self, to: &mut Vec<u8>, more: usize) -> Result<(), Error> {
        memory::try_reserve(to, more).map_err(|_| {
            let (what, available) = (format!("reading {}", self.name), memory::available().unwrap_or(0));
            Error::new(ErrorKind::Memory { what, needed: more as u64, available })
        })
    }

    /// Fills `room` up to the end of the input; a partial fill means the end.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn fill(&mut self, room: &mut [u8]) -> Result<usize, Error> {
        fill(room, |room, _| self.cancel.check().and_then(|()| self.reader.read(room)))
            .map_err(|error| self.failed(error))
    }

    /// Reads the available bytes, and waits for at least one; 0 means the end.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn read_some(&mut self, room: &mut [u8]) -> Result<usize, Error> {
        let read = uninterrupted(|| self.cancel.check().and_then(|()| self.reader.read(room)));
        read.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> Error {
        let foreign = error.get_ref().and_then(|error| error.downcast_ref::<&Foreign>());
        let Some(foreign) = foreign else { return Error::io(&self.name, "read", error) };
        let is_read = matches!(foreign.remedy, Hint::Format(_));
        let problem = if is_read { format!("is {}", foreign.what) } else { foreign.to_string() };
        Error::input(&self.name, problem).hinting(foreign.remedy.clone())
    }
}
