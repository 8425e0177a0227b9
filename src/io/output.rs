//! Where output goes: a file that is replaced whole or not at all, a device or pipe, standard output, memory.

#[cfg(unix)]
mod replacement;
#[cfg(not(unix))]
#[path = "output/portable.rs"]
mod replacement;
mod under_way;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use self::replacement::Replacement;
use super::source::Input;
use crate::error::{Error, ErrorKind};
use crate::human;

pub use self::under_way::{Exit, end_process, remove_temporary};

/// An output that is open. Nothing that it replaces is touched before [`Output::finish`].
pub struct Output(Destination);

enum Destination {
    /// Standard output where it is no file descriptor.
    #[cfg(not(unix))]
    Stdout(io::Stdout),
    /// Memory.
    Memory(Vec<u8>),
    /// A device, a pipe or standard output, written through.
    Through { file: File, name: String },
    /// A new file, which takes the place of the one of this name.
    Replacing(Box<Replacement>),
}

impl Output {
    /// Standard output.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn stdout() -> Result<Self, Error> {
        let name = "standard output".to_owned();
        if !stdout_is_open() {
            return Err(Error::io(name, "write", io::Error::other("it is closed")));
        }
        // A file of its own, because the standard library's takes a descriptor that cannot be written to
        // for one that swallows everything.
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let file = io::stdout().as_fd().try_clone_to_owned();
            let file = file.map_err(|error| Error::io(&name, "write", error))?.into();
            Ok(Self(Destination::Through { file, name }))
        }
        #[cfg(not(unix))]
        {
            let _ = name;
            Ok(Self(Destination::Stdout(io::stdout())))
        }
    }

    /// Memory, from which [`Output::into_bytes`] takes what was written.
    #[must_use]
    pub fn memory() -> Self {
        Self(Destination::Memory(Vec::new()))
    }

    /// What was written to memory; nothing of an output that goes elsewhere.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        if let Destination::Memory(bytes) = self.0 { bytes } else { Vec::new() }
    }

    /// A file. A regular one, or one that does not exist, is written beside its place and put there by
    /// [`Output::finish`]; a link's target is what is replaced. Anything else is written through.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written to, or that does not exist; a directory in the file's place.
    pub fn file(path: &Path) -> Result<Self, Error> {
        let refused = |problem: String| {
            Error::new(ErrorKind::Output {
                path: path.to_owned(),
                problem: format!("cannot write: {problem}"),
            })
        };
        let name = human::path(path);
        let failed = |error| Error::io(&name, "write", error);
        let target = follow_links(path).map_err(failed)?;
        if is_descriptor(&target) {
            // Whatever it is, even a regular file, it is somebody's who has it open.
            let file = File::options().append(true).open(path).map_err(failed)?;
            return Ok(Self(Destination::Through { file, name }));
        }
        let existing = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(refused("is a directory".to_owned())),
            Ok(metadata) => {
                // A file that may not be written to is not replaced either, though its folder would allow it.
                let file = File::options().write(true).open(path).map_err(failed)?;
                if !metadata.is_file() {
                    return Ok(Self(Destination::Through { file, name }));
                }
                if is_kept_by_its_folder(&metadata, &target) {
                    return Err(refused(
                        "it is another's, in a folder where only owners replace files".to_owned(),
                    ));
                }
                Some(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
                    return Err(refused("names a folder".to_owned()));
                }
                None
            }
            Err(error) => return Err(failed(error)),
        };
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(refused(format!("there is no folder {}", human::path(folder))));
        }
        let replacement = Replacement::new(&target, folder, existing)
            .map_err(|error| refused(format!("into {}: {}", human::path(folder), human::system(&error))))?;
        Ok(Self(Destination::Replacing(Box::new(replacement))))
    }

    /// Makes room on the disk for about so many bytes to come, which makes writing them to a new file quicker. Where
    /// that is not possible, nothing is different.
    pub fn expect(&mut self, bytes: u64) {
        if let Destination::Replacing(replacement) = &mut self.0 {
            replacement.expect(bytes);
        }
    }

    /// Completes the output: whatever is buffered is written, and a new file takes its place.
    ///
    /// # Errors
    ///
    /// What the system says, also when the file is closed; then the file that would be replaced is still whole.
    pub fn finish(self) -> Result<(), Error> {
        self.finish_as(false)
    }

    /// Completes the last output of the process. Whoever ends the process after this ends one that is done.
    ///
    /// # Errors
    ///
    /// As for [`Output::finish`].
    pub fn finish_last(self) -> Result<(), Error> {
        self.finish_as(true)
    }

    fn finish_as(mut self, last: bool) -> Result<(), Error> {
        self.flush().map_err(|error| self.failed(error))?;
        match self.0 {
            Destination::Replacing(replacement) => {
                let name = human::path(replacement.target());
                replacement.place(last).map_err(|error| Error::io(name, "write", error))
            }
            #[cfg(unix)]
            Destination::Through { file, name } => {
                replacement::close(&file).map_err(|error| Error::io(name, "write", error))
            }
            _ => Ok(()),
        }
    }

    /// Whether what is written would be read again from this input: both are the same file, which is not replaced but
    /// written to.
    #[must_use]
    pub fn feeds(&self, input: &Input) -> bool {
        let Destination::Through { file, .. } = &self.0 else { return false };
        file.metadata().is_ok_and(|output| output.is_file() && input.is_same_file(&output))
    }

    /// A failure to write to this output, with its name.
    #[must_use]
    pub fn failed(&self, error: io::Error) -> Error {
        let name = match &self.0 {
            #[cfg(not(unix))]
            Destination::Stdout(_) => "standard output".to_owned(),
            Destination::Memory(_) => "memory".to_owned(),
            Destination::Through { name, .. } => name.clone(),
            Destination::Replacing(replacement) => human::path(replacement.target()),
        };
        Error::io(name, "write", error)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            #[cfg(not(unix))]
            Destination::Stdout(stdout) => stdout.write(bytes),
            Destination::Memory(memory) => memory.write(bytes),
            Destination::Through { file, .. } => file.write(bytes),
            Destination::Replacing(replacement) => replacement.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            #[cfg(not(unix))]
            Destination::Stdout(stdout) => stdout.flush(),
            Destination::Memory(_) => Ok(()),
            Destination::Through { file, .. } => file.flush(),
            Destination::Replacing(_) => Ok(()),
        }
    }
}

/// Whether standard output is there to be written to.
#[must_use]
pub fn stdout_is_open() -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl};
        fcntl_getfl(io::stdout()).is_ok_and(|flags| flags & OFlags::RWMODE != OFlags::RDONLY)
    }
    #[cfg(not(unix))]
    true
}

/// Whether this file is one that its folder lets only its owner or its own owner replace, and we are neither.
fn is_kept_by_its_folder(file: &fs::Metadata, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        const STICKY: u32 = 0o1000;
        let us = rustix::process::geteuid().as_raw();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let keeps =
            |folder: fs::Metadata| folder.mode() & STICKY != 0 && ![folder.uid(), file.uid()].contains(&us);
        us != 0 && fs::metadata(folder).is_ok_and(keeps)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        false
    }
}

/// Whether this path stands for a file descriptor: a link that is not to be followed, since what it
/// leads to is what the process that opened it has open.
fn is_descriptor(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    matches!(parts[..], ["/", "proc", _, "fd", _] | ["/", "dev", "fd", _])
}

/// The path at the end of a chain of symbolic links, which need not exist; or the first on the way that
/// is a file descriptor.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows.
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
