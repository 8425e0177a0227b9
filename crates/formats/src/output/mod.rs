//! Outputs: a file to replace atomically, a device or pipe, standard output, memory.

mod folder;
#[cfg(target_os = "linux")]
mod mapped;
mod replacement;
mod under_way;

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use gpusort_order::key::ElementType;
use tempfile::SpooledTempFile;

use self::folder::Folder;
use self::replacement::Replacement;
use super::compression::{self, Compression};
use super::input::Input;
use super::npy;
use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind};
use crate::human;

pub use self::replacement::Temporary;
pub use self::under_way::{Exit, end_process, remove_temporary};

/// The requested row groups and files of Parquet.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParquetLayout {
    /// The maximum number of rows of a row group; `None` follows the first input.
    pub rows: Option<u64>,
    /// The approximate maximum of encoded bytes of a row group.
    pub bytes: Option<u64>,
    /// The approximate bytes of each file of a folder; `None` writes one file.
    pub split: Option<u64>,
}

/// An open output. A file to be replaced stays unchanged until [`Output::finish`].
pub struct Output<'w> {
    to: Destination<'w>,
    /// The name for messages.
    name: String,
    /// Compresses the output, if the file's name or an option requests it.
    compressing: Option<compression::Writer>,
    cancel: Cancel,
}

enum Destination<'w> {
    /// A caller's writer, or standard output on systems without file descriptors.
    Writer(Box<dyn Write + Send + 'w>),
    /// A device, a pipe or standard output, written directly.
    Through(File),
    /// A new file that will replace the file of its name.
    Replacing(Box<Replacement>),
    /// A destination that gets the bytes of this file at the end.
    Held(SpooledTempFile, Box<Destination<'w>>),
    /// Files of a folder, one after another.
    Folder(Box<Folder>),
}

impl<'w> Output<'w> {
    fn to(to: Destination<'w>, name: String) -> Self {
        Self { to, name, compressing: None, cancel: Cancel::default() }
    }

    /// Standard output.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn stdout() -> Result<Self, Error> {
        let name = "standard output".to_owned();
        if !stdout_is_open() {
            return Err(Error::io(name, "write", io::Error::other("closed")));
        }
        // The standard library's `Stdout` silently discards output to an unwritable descriptor.
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let file = io::stdout().as_fd().try_clone_to_owned();
            let file = file.map_err(|error| Error::io(&name, "write", error))?.into();
            Ok(Self::to(Destination::Through(file), name))
        }
        #[cfg(not(unix))]
        Ok(Self::to(Destination::Writer(Box::new(io::stdout())), name))
    }

    /// Opens a file, compressed if its extension says so. A regular or new file is first written to
    /// a temporary file, which [`Output::finish`] renames; for a link, it replaces the target.
    /// Other files are written directly.
    ///
    /// # Errors
    ///
    /// The folder is missing or not writable; the path is a directory.
    pub fn file(path: &Path) -> Result<Self, Error> {
        let compression = Compression::of_name(path).map(|(compression, _)| compression);
        Ok(Self::open(path)?.compressed_as(compression))
    }

    /// Opens a file, without compression.
    fn open(path: &Path) -> Result<Self, Error> {
        let refused = |problem: &str| {
            let problem = format!("cannot write: {problem}");
            Error::new(ErrorKind::Output { path: path.to_owned(), problem })
        };
        let name = human::path(path);
        let failed = |error| Error::io(&name, "write", error);
        let target = follow_links(path).map_err(failed)?;
        if is_descriptor(&target) {
            // Another process has the file open, so even a regular file must not be replaced.
            let file = File::options().append(true).open(path).map_err(failed)?;
            return Ok(Self::to(Destination::Through(file), name));
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let existing = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(refused("it is a folder; name a file in it")),
            Ok(metadata) => {
                // A read-only file is kept, even if its folder permits a replacement.
                let file = File::options().write(true).open(path).map_err(failed)?;
                if !metadata.is_file() {
                    return Ok(Self::to(Destination::Through(file), name));
                }
                #[cfg(unix)]
                if is_kept_by_its_folder(&metadata, folder) {
                    let problem =
                        "it belongs to another user, in a folder with the sticky bit; use another name";
                    return Err(refused(problem));
                }
                Some(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
                    return Err(refused("the name ends in a slash, so it means a folder; name a file"));
                }
                None
            }
            Err(error) => return Err(failed(error)),
        };
        if !folder.is_dir() {
            let problem = format!("the folder {} does not exist; create it first", human::path(folder));
            return Err(refused(&problem));
        }
        let replacement = Replacement::new(&target, folder, existing).map_err(|error| {
            refused(&format!("in folder {}: {}", human::path(folder), human::system(&error)))
        })?;
        Ok(Self::to(Destination::Replacing(Box::new(replacement)), human::path(&target)))
    }

    /// Writes the header of a .npy file with `count` elements.
    ///
    /// # Errors
    ///
    /// I/O errors.
    #[doc(hidden)]
    pub fn write_header(&mut self, element: ElementType, count: u64) -> Result<(), Error> {
        self.write_all(&npy::Header::of(element, count)).map_err(|error| self.failed(error))
    }

    /// Completes the output: flushes buffers and moves a new file into place.
    ///
    /// # Errors
    ///
    /// I/O errors, including errors from closing the file. The file to be replaced is then still intact.
    pub fn finish(self) -> Result<(), Error> {
        self.finish_as(false)
    }

    /// Completes the output. A signal after the `last` output of the process ends the process with success.
    ///
    /// # Errors
    ///
    /// See [`Output::finish`].
    #[doc(hidden)]
    pub fn finish_as(mut self, last: bool) -> Result<(), Error> {
        if let Some(mut compressing) = self.compressing.take() {
            compressing.finish(&mut self.to).map_err(|error| self.failed(error))?;
        }
        self.flush().map_err(|error| self.failed(error))?;
        self.to.finish(last).map_err(|error| Error::io(self.name, "write", error))
    }

    /// An I/O error while writing, with this output's name.
    pub fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.name, "write", error)
    }
}

#[doc(hidden)]
impl<'w> Output<'w> {
    /// Makes writes fail once `cancel` is triggered.
    pub fn cancelled_by(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// A writer, with a name for messages.
    pub fn writer(writer: &'w mut (dyn Write + Send), name: String) -> Self {
        Self::to(Destination::Writer(Box::new(writer)), name)
    }

    /// Checks that a file can be written, without a change.
    ///
    /// # Errors
    ///
    /// See [`Output::file`].
    pub fn check(path: &Path) -> Result<(), Error> {
        // Opening a pipe or a device has effects.
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        if is_special { Ok(()) } else { Self::open(path).map(drop) }
    }

    /// Sets the compression, unless the name already requests one.
    pub fn compressed_as(self, compression: Option<Compression>) -> Self {
        let compressing = self.compressing.or_else(|| compression.map(compression::Writer::new));
        Self { compressing, ..self }
    }

    /// Reserves disk space for about `bytes` more bytes, where supported. This speeds up writing a
    /// new file. With `maps`, maps the file for writing, where this makes writing faster.
    pub fn expect(&mut self, bytes: u64, maps: bool) {
        if let Destination::Replacing(replacement) = &mut self.to
            && self.compressing.is_none()
            && bytes > 0
        {
            replacement.expect(bytes, maps);
        }
    }

    /// Returns the bytes of memory under reservation for the output, if files are in memory.
    pub fn taking(&self) -> u64 {
        if let Destination::Replacing(replacement) = &self.to { replacement.taking() } else { 0 }
    }

    /// Returns true if the output is not a file, or its name requests the stream format.
    pub fn is_streamed(&self) -> bool {
        let Destination::Replacing(replacement) = &self.to else { return true };
        replacement.target.extension().is_some_and(|extension| extension == "arrows")
    }

    /// Creates a folder of files, which get their names in [`Output::finish`]. [`Output::begin_file`] begins each file.
    ///
    /// # Errors
    ///
    /// The folder is not empty; its parent is missing or not writable.
    pub fn folder(path: &Path) -> Result<Self, Error> {
        let name = human::path(path);
        let folder = Folder::new(path).map_err(|error| Error::io(&name, "write", error))?;
        Ok(Self::to(Destination::Folder(Box::new(folder)), name))
    }

    /// Begins the next file of a folder.
    ///
    /// # Errors
    ///
    /// I/O errors.
    ///
    /// # Panics
    ///
    /// Panics unless the output is a folder.
    pub fn begin_file(&mut self, name: &str) -> Result<(), Error> {
        let Destination::Folder(folder) = &mut self.to else { panic!("the output is a folder") };
        folder.begin(name).map_err(|error| Error::io(&self.name, "write", error))
    }

    /// Returns the size of the current file of a folder and the xxh3 of its bytes; `None` for other outputs.
    pub fn file_of_folder(&self) -> Option<(u64, u64)> {
        if let Destination::Folder(folder) = &self.to { Some(folder.current()) } else { None }
    }

    /// Holds the output in this file until [`Output::finish`]; new files need no such hold.
    pub fn held(self, spool: SpooledTempFile) -> Self {
        if let Destination::Replacing(_) | Destination::Folder(_) = self.to {
            return self;
        }
        Self { to: Destination::Held(spool, Box::new(self.to)), ..self }
    }

    /// Returns true if the output is written directly into the input's own file, so that it would
    /// be read again.
    pub fn feeds(&self, input: &Input) -> bool {
        let Destination::Through(file) = &self.to else { return false };
        file.metadata().is_ok_and(|output| output.is_file() && input.is_same_file(&output))
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        self.name.clone()
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.cancel.check()?;
        let written = match &mut self.compressing {
            Some(compressing) => compressing.write(bytes, &mut self.to).map(|()| bytes.len()),
            None => self.to.write(bytes),
        };
        // An interrupted write is repeated by its callers.
        written.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, self.failed(error)),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Destination<'_> {
    fn finish(self, last: bool) -> io::Result<()> {
        match self {
            Self::Replacing(replacement) => replacement.place(last),
            Self::Through(file) => replacement::close(&file),
            Self::Writer(..) => Ok(()),
            Self::Held(mut spool, mut to) => {
                spool.rewind()?;
                io::copy(&mut spool, &mut to)?;
                to.flush()?;
                to.finish(last)
            }
            Self::Folder(folder) => folder.place(last),
        }
    }
}

impl Write for Destination<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Writer(writer) => writer.write(bytes),
            Self::Through(file) => file.write(bytes),
            Self::Replacing(replacement) => replacement.write(bytes),
            Self::Held(spool, _) => spool.write(bytes),
            Self::Folder(folder) => folder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Self::Writer(writer) = self { writer.flush() } else { Ok(()) }
    }
}

/// Returns true if standard output is open for writing.
pub fn stdout_is_open() -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl};
        fcntl_getfl(io::stdout()).is_ok_and(|flags| flags & OFlags::RWMODE != OFlags::RDONLY)
    }
    #[cfg(not(unix))]
    true
}

/// Returns true if the folder's sticky bit forbids replacing this file: only the owner of the file
/// or the folder may.
#[cfg(unix)]
fn is_kept_by_its_folder(file: &fs::Metadata, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    const STICKY: u32 = 0o1000;
    let us = rustix::process::geteuid().as_raw();
    let keeps =
        |folder: fs::Metadata| folder.mode() & STICKY != 0 && ![folder.uid(), file.uid()].contains(&us);
    us != 0 && fs::metadata(folder).is_ok_and(keeps)
}

/// Returns true if this path denotes a file descriptor, possibly of another process. Such links are
/// not followed.
fn is_descriptor(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    matches!(parts[..], ["/", "proc", _, "fd", _] | ["/", "dev", "fd", _])
}

/// The end of a chain of symbolic links, which may be missing, or the first file descriptor in the chain.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    // Linux has the same limit.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        if is_descriptor(&path) {
            return Ok(path);
        }
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let link = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(link);
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}
