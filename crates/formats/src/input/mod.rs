//! Inputs: files, standard input, readers, and bytes in memory.

pub mod opened;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::cancel::Cancel;
use crate::compression::{self, Compression};
use crate::error::Error;
use crate::human;
use crate::input::opened::{Opened, RegularFile, Reopened};
use crate::parallel::lock;
use crate::text::Before;

/// An input source: a file, standard input, [bytes](Self::bytes), or a [reader](Self::reader).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// Bytes in memory.
    #[doc(hidden)]
    Memory {
        /// The name in messages.
        name: String,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A reader, which yields its bytes once.
    #[doc(hidden)]
    Reader(Reader),
    /// One of the above, with options for reading.
    #[doc(hidden)]
    With(Box<With>),
}

/// An input with options for reading.
#[derive(Clone, Debug)]
pub struct With {
    input: Input,
    options: Options,
}

/// The options for reading an input.
#[derive(Clone, Debug, Default)]
struct Options {
    /// Cancels reads.
    cancel: Cancel,
    /// True if reads decompress.
    decompresses: bool,
    /// The compression, if known before the first read; else the first bytes of a reader tell it.
    compression: Option<Compression>,
    /// The memory limit, if set; decompression takes a small part of it.
    memory: Option<u64>,
    /// Repeats the content from the beginning, if a part was read from an input that cannot be reopened.
    begun: Option<Input>,
    /// The position in a file, if the input is a later part of it.
    before: Option<Before>,
    /// True for the beginning of an input whose rest is elsewhere.
    is_beginning: bool,
}

/// A reader with a name. Reopened, it continues where the last read ended, like standard input.
#[derive(Clone)]
pub struct Reader {
    name: String,
    /// The reader, until its end.
    shared: Arc<Mutex<Option<Box<dyn Read + Send>>>>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reader").field(&self.name).finish()
    }
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut shared = lock(&self.shared);
        let Some(reader) = &mut *shared else { return Ok(0) };
        let count = reader.read(room)?;
        shared.take_if(|_| count == 0 && !room.is_empty());
        Ok(count)
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Input {
    fn from(path: &P) -> Self {
        Self::File(path.as_ref().to_owned())
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<String> for Input {
    fn from(path: String) -> Self {
        Self::File(path.into())
    }
}

impl Input {
    /// An input from a reader, which is read once. Messages show the name, and its extension
    /// decides the format, like a file's.
    #[must_use]
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let shared = Arc::new(Mutex::new(Some(Box::new(reader) as _)));
        Self::Reader(Reader { name: name.into(), shared })
    }

    /// An input of bytes in memory. Messages show the name, and its extension decides the format,
    /// like a file's.
    #[must_use]
    pub fn bytes(name: &str, bytes: &[u8]) -> Self {
        Self::Memory { name: name.to_owned(), bytes: bytes.into() }
    }

    /// Returns what the first bytes of a regular file or of bytes in memory tell.
    fn known_by_first_bytes(&self) -> Option<compression::Known> {
        let mut begin = [0; compression::LONGEST];
        let bytes: &[u8] = match self.as_it_is() {
            Self::Memory { bytes, .. } => bytes,
            // The read that follows reports the file's problem.
            other => {
                let file = other.open_regular().ok()??;
                let count = file.read_at(&mut begin, 0).unwrap_or(0);
                &begin[..count]
            }
        };
        let cut = self.named().and_then(|path| Compression::of_cut(path, bytes));
        Some(cut.map(|cut| Ok(Some(cut))).or_else(|| compression::beginning(bytes)).unwrap_or(Ok(None)))
    }

    fn with(self, set: impl FnOnce(&mut Options)) -> Self {
        let mut with = match self {
            Self::With(with) => with,
            input => Box::new(With { input, options: Options::default() }),
        };
        set(&mut with.options);
        Self::With(with)
    }

    fn options(&self) -> Option<&Options> {
        if let Self::With(with) = self { Some(&with.options) } else { None }
    }

    /// The input without its options.
    fn as_it_is(&self) -> &Self {
        if let Self::With(with) = self { &with.input } else { self }
    }

    /// Returns true if this is standard input.
    #[must_use]
    pub fn is_stdin(&self) -> bool {
        matches!(self.as_it_is(), Self::Stdin)
    }

    /// Returns true if the input can be read from the beginning more than once.
    #[must_use]
    pub fn can_be_read_again(&self) -> bool {
        self.as_it_is().size().is_some()
    }

    /// The name in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File(path) => human::path(path),
            Self::Memory { name, .. } => name.clone(),
            Self::Reader(reader) => reader.name.clone(),
            Self::With(with) => with.input.name(),
        }
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        if let Self::File(path) = self.as_it_is() { Some(path) } else { None }
    }

    /// The size in bytes, if known in advance.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Memory { bytes, .. } => Some(bytes.len() as u64),
            Self::File(path) => {
                let metadata = std::fs::metadata(path).ok()?;
                is_regular(path, &metadata).then_some(metadata.len())
            }
            Self::With(with) if with.options.compression.is_none() => with.input.size(),
            _ => None,
        }
    }

    /// Returns true if this is /dev/null.
    #[must_use]
    #[doc(hidden)]
    pub fn is_nothing(&self) -> bool {
        std::fs::metadata("/dev/null").is_ok_and(|null| self.is_same_file(&null))
    }
}

#[doc(hidden)]
impl Input {
    /// Makes reads fail once `cancel` is triggered.
    pub fn cancelled_by(self, cancel: &Cancel) -> Self {
        self.with(|it| it.cancel = cancel.clone())
    }

    /// Marks the input as a part of a file, without a header of its own. The part begins with a
    /// record after `lines` lines; `line_end` ends the file's first line.
    pub fn after(self, lines: u64, line_end: &'static [u8]) -> Self {
        self.with(|it| it.before = Some(Before { lines, line_end: Some(line_end), ..Before::default() }))
    }

    /// Marks the beginning of an input whose rest is elsewhere.
    pub fn beginning(self) -> Self {
        self.with(|it| it.is_beginning = true)
    }

    /// Returns true for the beginning of an input.
    pub fn is_beginning(&self) -> bool {
        self.options().is_some_and(|options| options.is_beginning)
    }

    /// The position in a file, if the input is a later part of it.
    pub fn before(&self) -> Option<Before> {
        self.options()?.before
    }

    /// Decompresses the input, with this format or the one that its first bytes tell. Decompression
    /// takes a small part of `memory`.
    pub fn decompressed(self, compression: Option<Compression>, memory: Option<u64>) -> Self {
        let known = compression.map(|given| Ok(Some(given))).or_else(|| self.known_by_first_bytes());
        self.with(|it| {
            it.decompresses = known != Some(Ok(None));
            it.compression = known.and_then(Result::ok).flatten();
            it.memory = memory;
        })
    }

    /// Replaces an input that cannot be reopened, after `bytes` were read and `rest` remains: `None` at
    /// its end, beyond which a terminal may go on.
    pub fn begun(self, bytes: Vec<u8>, rest: Option<Opened>) -> Self {
        let read = io::Cursor::new(bytes);
        let rest = rest.map_or_else(|| Box::new(io::empty()) as Box<_>, |rest| rest.reader);
        let begun = Self::reader(self.name(), read.chain(rest));
        self.with(|it| it.begun = Some(begun))
    }

    /// The path or the caller's name; its extension decides the format.
    pub fn named(&self) -> Option<&Path> {
        match self.as_it_is() {
            Self::File(path) => Some(path),
            Self::Memory { name, .. } => Some(name.as_ref()),
            Self::Reader(reader) => Some(reader.name.as_ref()),
            Self::Stdin | Self::With(_) => None,
        }
    }

    /// Returns true if this is the same file.
    pub fn is_same_file(&self, other: &std::fs::Metadata) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;

            let metadata = match self.as_it_is() {
                Self::Stdin => stdin().and_then(|file| file.metadata()),
                Self::File(path) => std::fs::metadata(path),
                _ => return false,
            };
            metadata.is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (other.dev(), other.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = other;
            false
        }
    }

    /// Checks that a sorted file can replace this input.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened; a pipe, or what else cannot be read twice.
    pub fn check_replaceable(&self) -> Result<(), Error> {
        self.open_regular()?;
        let problem = "is not a regular file, so it cannot be replaced; name an output folder with -o";
        if self.can_be_read_again() { Ok(()) } else { Err(Error::input(self.name(), problem)) }
    }

    /// Checks that a file exists and can be opened. A pipe is not opened.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened; a folder.
    pub fn check(&self) -> Result<(), Error> {
        self.open_regular().map(drop)
    }

    /// Opens an uncompressed regular file for reads at any position; `None` for other inputs.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn open_regular(&self) -> Result<Option<RegularFile>, Error> {
        let Some(path) = self.path() else { return Ok(None) };
        let failed = |error| Error::io(self.name(), "open", error);
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::input(self.name(), "is a folder; name its files"));
        }
        // Opening a pipe would consume its data.
        if !is_regular(path, &metadata) {
            return Ok(None);
        }
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let Options { decompresses, cancel, .. } = self.options().cloned().unwrap_or_default();
        let is_regular = !decompresses && metadata.is_file();
        Ok(is_regular.then(|| RegularFile { name: self.name(), file, size: metadata.len(), cancel }))
    }

    /// The compression, if known before the first read.
    pub fn compression(&self) -> Option<Compression> {
        self.options()?.compression
    }

    /// Opens the input.
    ///
    /// # Errors
    ///
    /// I/O errors; a directory is rejected here, before any read.
    pub fn open(&self) -> Result<Opened, Error> {
        self.open_as(false)
    }

    /// Opens the input. If `shut`, a regular file is open only during reads.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn open_as(&self, shut: bool) -> Result<Opened, Error> {
        let reader: Box<dyn Read + Send + Sync> = match self {
            Self::With(with) => return with.open(shut),
            Self::Reader(reader) if lock(&reader.shared).is_none() => {
                return Err(Error::input(self.name(), "has been read already"));
            }
            Self::Reader(reader) => Box::new(reader.clone()),
            Self::Stdin => {
                let stdin = stdin().map_err(|error| Error::io(self.name(), "read", error))?;
                widen(&stdin);
                Box::new(stdin)
            }
            Self::Memory { bytes, .. } => Box::new(io::Cursor::new(bytes.clone())),
            Self::File(path) => match self.open_regular()? {
                Some(RegularFile { size, .. }) if shut => {
                    Box::new(Reopened { path: path.clone(), at: 0, size })
                }
                Some(file) => file.opened_at(0).reader,
                None => Box::new(File::open(path).map_err(|error| Error::io(self.name(), "open", error))?),
            },
        };
        Ok(Opened::new(self.name(), reader, self.size()))
    }
}

impl With {
    fn open(&self, shut: bool) -> Result<Opened, Error> {
        let Options { cancel, decompresses, compression, memory, begun, .. } = &self.options;
        let mut opened = begun.as_ref().unwrap_or(&self.input).open_as(shut)?;
        if *decompresses && begun.is_none() {
            let limit = compression::sensible(*memory, opened.is_ready);
            opened.size = opened.size.filter(|_| compression.is_none());
            opened.reader = Box::new(compression::Reader::new(opened.reader, *compression, limit));
        }
        Ok(Opened { cancel: cancel.clone(), ..opened })
    }
}

/// Returns true for a regular file whose first byte is the first one of the input. Systems other than Linux
/// open `/dev/stdin` at the position of standard input.
fn is_regular(path: &Path, metadata: &std::fs::Metadata) -> bool {
    metadata.is_file() && (cfg!(target_os = "linux") || !path.starts_with("/dev"))
}

/// Standard input without a buffer: only the bytes read are consumed.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    // The standard library's `Stdin` reports an unreadable descriptor as empty.
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
fn stdin() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}

/// Enlarges a pipe's buffer, so that it holds more input while the last bytes are processed.
#[cfg(target_os = "linux")]
fn widen(pipe: &File) {
    const PIPE: usize = 1 << 20;
    // Files other than pipes have no pipe size. A limit of the system may refuse the change, without harm.
    if rustix::pipe::fcntl_getpipe_size(pipe).is_ok_and(|size| size < PIPE) {
        let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE);
    }
}

/// Only Linux supports this.
#[cfg(not(target_os = "linux"))]
fn widen<T>(_: &T) {}
