//! Where output goes: a file that is replaced whole or not at all, a device or pipe, standard output.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Error, ErrorKind};

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
    /// A new file beside the one it replaces.
    Replacing {
        temporary: NamedTempFile,
        target: PathBuf,
        /// Whether it may be longer than what was written to it.
        reserved: bool,
    },
}

/// The temporary file, so that whoever ends the process can remove it: see [`remove_temporary`].
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

fn temporary() -> MutexGuard<'static, Option<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary file of an output under way, for a process that is about to end by a signal.
/// An output that is being put in its place is waited for.
pub fn remove_temporary() {
    if let Some(path) = temporary().take() {
        // Gone already, or not ours to remove: nothing is left to do about it either way.
        let _ = fs::remove_file(path);
    }
}

impl Output {
    /// Standard output.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn stdout() -> Result<Self, Error> {
        let name = "standard output".to_owned();
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
        let failed = |error| Error::io(path.display().to_string(), "write", error);
        let target = follow_links(path).map_err(failed)?;
        if is_descriptor(&target) {
            // Whatever it is, even a regular file, it is somebody's who has it open.
            let file = File::options().append(true).open(path).map_err(failed)?;
            return Ok(Self(Destination::Through { file, name: path.display().to_string() }));
        }
        let existing = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(refused("is a directory".to_owned())),
            Ok(metadata) => {
                // A file that may not be written to is not replaced either, though its folder would allow it.
                let file = File::options().write(true).open(path).map_err(failed)?;
                if !metadata.is_file() {
                    return Ok(Self(Destination::Through { file, name: path.display().to_string() }));
                }
                Some(metadata)
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
            return Err(refused(format!("there is no folder {}", folder.display())));
        }
        // Held until the file is registered, so that a signal cannot come between.
        let mut registered = temporary();
        let temporary = create_in(folder, existing.as_ref())
            .map_err(|error| refused(format!("into {}: {}", folder.display(), error.kind())))?;
        *registered = Some(temporary.path().to_owned());
        Ok(Self(Destination::Replacing { temporary, target, reserved: false }))
    }

    /// Makes room on the disk for about so many bytes to come, which makes writing them to a new file quicker. Where
    /// that is not possible, nothing is different.
    pub fn expect(&mut self, bytes: u64) {
        #[cfg(target_os = "linux")]
        if let (Destination::Replacing { temporary, reserved, .. }, Ok(length)) =
            (&mut self.0, bytes.try_into())
        {
            use std::os::fd::AsRawFd;
            // SAFETY: no memory is passed, and the descriptor is that of a file that is open.
            let refused = unsafe { libc::fallocate(temporary.as_file().as_raw_fd(), 0, 0, length) };
            // Also where it was refused half-way: what is too much is cut off at the end.
            *reserved = true;
            let _ = refused;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }

    /// Completes the output: whatever is buffered is written, and a new file takes its place.
    ///
    /// # Errors
    ///
    /// What the system says; then the file that would be replaced is still whole.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush().map_err(|error| self.failed(error))?;
        if let Destination::Replacing { temporary: mut file, target, reserved } = self.0 {
            if reserved {
                let written = file.stream_position();
                let cut = written.and_then(|written| file.as_file().set_len(written));
                cut.map_err(|error| Error::io(target.display().to_string(), "write", error))?;
            }
            let mut registered = temporary();
            let kept = file
                .persist(&target)
                .map_err(|error| Error::io(target.display().to_string(), "replace", error.error));
            *registered = None;
            kept?;
        }
        Ok(())
    }

    /// A failure to write to this output, with its name.
    #[must_use]
    pub fn failed(&self, error: io::Error) -> Error {
        let name = match &self.0 {
            #[cfg(not(unix))]
            Destination::Stdout(_) => "standard output".to_owned(),
            Destination::Memory(_) => "memory".to_owned(),
            Destination::Through { name, .. } => name.clone(),
            Destination::Replacing { target, .. } => target.display().to_string(),
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
            Destination::Replacing { temporary, .. } => temporary.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            #[cfg(not(unix))]
            Destination::Stdout(stdout) => stdout.flush(),
            Destination::Memory(_) => Ok(()),
            Destination::Through { file, .. } => file.flush(),
            Destination::Replacing { temporary, .. } => temporary.as_file_mut().flush(),
        }
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

/// A new file in `folder`, with the mode and owner of the one it will replace.
fn create_in(folder: &Path, existing: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gpusort-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any program asks for; the umask takes from it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Some(existing) = existing {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let ours = file.as_file().metadata()?;
            if (ours.uid(), ours.gid()) != (existing.uid(), existing.gid()) {
                // Only root may give files away; for others the file becomes theirs, as with any editor.
                let _ = fchown(file.as_file(), Some(existing.uid()), Some(existing.gid()));
            }
        }
        file.as_file().set_permissions(existing.permissions())?;
    }
    Ok(file)
}
