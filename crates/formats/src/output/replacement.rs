//! A new file that atomically replaces another.
//!
//! If the system supports unnamed files (Linux, on most file systems), the new file has no name until
//! complete, so that nothing remains however the process ends. The complete file is linked under its name
//! or, to replace a file, linked next to the old file and renamed. Otherwise, the new file has a temporary
//! name in the folder from the start.
//!
//! The new file never exposes data that the old file protects: at first, only its owner has access. The
//! complete file gets the old file's owner, group, mode, access control list and attributes.

use std::fs::File;
use std::io::{self, Seek, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use tempfile::TempPath;

#[cfg(target_os = "linux")]
use crate::{file::is_in_memory, parallel};

#[cfg(target_os = "linux")]
use super::mapped::{LEAST_CORES, Mapped, WINDOW};
use super::under_way::{Registered, undisturbed, until};

/// A new file.
pub(super) struct Replacement {
    pub(super) file: File,
    /// The temporary name, if any.
    name: Option<Named>,
    folder: PathBuf,
    pub(super) target: PathBuf,
    /// The file to be replaced, if there is one.
    existing: Option<File>,
    /// The thread that reserves space in memory, and the number of bytes.
    reserving: Option<(JoinHandle<()>, u64)>,
    /// The mapping through which the content is written.
    #[cfg(target_os = "linux")]
    mapped: Option<Mapped>,
}

/// A unique temporary name in the target's folder, removed when this value is dropped.
struct Named {
    path: TempPath,
    _registered: Registered,
}

impl Named {
    /// Calls `make` with temporary names until a name is free.
    fn new<T>(folder: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(T, Self)> {
        let new = tempfile::Builder::new().prefix(".gpusort-").suffix(".tmp").make_in(folder, make)?;
        let (new, path) = new.into_parts();
        Ok((new, Self { _registered: Registered::new(&path), path }))
    }
}

/// An empty file with a temporary name, which goes with this value or with the process.
pub struct Temporary(Option<Named>);

impl Temporary {
    /// Creates a file in this folder.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let (_, name) = undisturbed(|| Named::new(folder, |path| create(path, 0o600)))?;
        Ok(Self(Some(name)))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), |name| &name.path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        undisturbed(|| drop(self.0.take()));
    }
}

impl Replacement {
    /// Creates a file in the target's folder.
    pub(super) fn new(target: &Path, folder: &Path, existing: Option<File>) -> io::Result<Self> {
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        let (file, name) = match unnamed(folder, mode) {
            Some(file) => (file, None),
            None => undisturbed(|| Named::new(folder, |path| create(path, mode)))
                .map(|(file, name)| (file, Some(name)))?,
        };
        let (folder, target) = (folder.to_owned(), target.to_owned());
        Ok(Self {
            file,
            name,
            folder,
            target,
            existing,
            reserving: None,
            #[cfg(target_os = "linux")]
            mapped: None,
        })
    }

    /// Writes bytes, and returns their number.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(target_os = "linux")]
        if let Some(mapped) = &mut self.mapped {
            return mapped.write(&self.file, bytes).map(|()| bytes.len());
        }
        self.file.write(bytes)
    }

    /// Reserves space for this number of bytes, or with `maps` maps the file for writing them.
    pub(super) fn expect(&mut self, bytes: u64, maps: bool) {
        #[cfg(target_os = "linux")]
        {
            /// In memory, a reservation of this number of bytes takes a tenth of a second.
            const MANY: u64 = 1 << 28;
            if maps && self.name.is_none() && parallel::threads() >= LEAST_CORES {
                self.mapped = Mapped::begin(&self.file, bytes, WINDOW);
            }
            if self.mapped.is_some() {
                return;
            }
            self.settle();
            let reserve = move |file: &File| {
                // Even after a failure, part of the space may be reserved. The excess is truncated at the end.
                let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes);
            };
            if bytes >= MANY
                && is_in_memory(&self.file)
                && let Ok(file) = self.file.try_clone()
            {
                // The system fills the file with zeros while the input is sorted. Earlier writes wait for it.
                let reserving = parallel::background(move || reserve(&file));
                self.reserving = reserving.ok().map(|thread| (thread, bytes));
            } else {
                reserve(&self.file);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (bytes, maps);
    }

    /// Returns the bytes of memory under reservation.
    pub(super) fn taking(&self) -> u64 {
        let reserving = self.reserving.as_ref().filter(|(thread, _)| !thread.is_finished());
        reserving.map_or(0, |(_, bytes)| *bytes)
    }

    /// Waits until the reservation ends.
    fn settle(&mut self) {
        if let Some((thread, _)) = self.reserving.take() {
            // The thread can fail only by a panic, which was reported.
            let _ = thread.join();
        }
    }

    /// Moves the file to its place; `last` marks the last output of the process.
    pub(super) fn place(mut self, last: bool) -> io::Result<()> {
        self.complete()?;
        until(|| self.name_it(), |placed| last && placed.is_ok())
    }

    /// Completes the content and the attributes.
    pub(super) fn complete(&mut self) -> io::Result<()> {
        self.settle();
        // Reserved space may make the file longer than its content.
        #[cfg(target_os = "linux")]
        if let Some(mapped) = self.mapped.take() {
            self.file.seek(io::SeekFrom::Start(mapped.written))?;
        }
        let written = self.file.stream_position()?;
        self.file.set_len(written)?;
        // Windows replaces no open file.
        if let Some(existing) = self.existing.take() {
            keep(&existing, &self.file)?;
        }
        close(&self.file)
    }

    /// Gives the file its name; the process cannot end during this.
    pub(super) fn name_it(&mut self) -> io::Result<()> {
        let name = match self.name.take() {
            Some(name) => name,
            None => match link(&self.file, &self.target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Named::new(&self.folder, |path| link(&self.file, path))?.1
                }
                linked => return linked,
            },
        };
        name.path.persist(&self.target).map_err(|refused| refused.error)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Other files may want the space.
        self.settle();
        if let Some(name) = self.name.take() {
            undisturbed(|| drop(name));
        }
    }
}

/// Creates a file without a name, if the system can do so here and link the file later.
fn unnamed(folder: &Path, mode: u32) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, OFlags};

        // A shared writable mapping needs a descriptor open for reading.
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)).ok()?);
        let (ours, there) = (file.metadata().ok()?, std::fs::metadata(magic_link(&file)).ok()?);
        ((ours.dev(), ours.ino()) == (there.dev(), there.ino())).then_some(file)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (folder, mode);
        None
    }
}

/// Links an unnamed file at this path.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, magic_link(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Only Linux has unnamed files.
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("the file has a name")
}

/// Returns a path to an open file.
#[cfg(target_os = "linux")]
fn magic_link(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Creates a file at this path.
fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    options.mode(mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.write(true).create_new(true).open(path)
}

/// Copies the old file's owner, group, mode, access control list and attributes. If the system does not
/// permit this, the file belongs to the current user, and nobody gains access.
#[cfg(unix)]
fn keep(existing: &File, file: &File) -> io::Result<()> {
    use rustix::fs::{Gid, Mode, Uid};

    let (old, new) = (existing.metadata()?, file.metadata()?);
    let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
    let mut mode = old.mode() & 0o7777;
    let mut keeps_group = old.gid() == new.gid();
    if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
        let keeps_owner = rustix::fs::fchown(file, Some(owner), Some(group)).is_ok();
        if !keeps_owner {
            // Set-id bits must not apply to another owner.
            mode &= 0o777;
        }
        keeps_group |= keeps_owner || rustix::fs::fchown(file, None, Some(group)).is_ok();
    }
    let keeps_list = keep_attributes(existing, file);
    if !keeps_group || !keeps_list {
        // Former group members are "others" now, and vice versa: both get the intersection.
        let both = mode >> 3 & mode & 0o007;
        mode = mode & !0o077 | both << 3 | both;
    }
    let is = file.metadata()?.mode() & 0o7777;
    match rustix::fs::fchmod(file, Mode::from_raw_mode(mode as _)) {
        // Some file systems give all files the same mode, which is acceptable if it grants no more.
        Err(_) if is & !mode == 0 => Ok(()),
        changed => Ok(changed?),
    }
}

/// Makes the file read-only if the old file is.
#[cfg(not(unix))]
fn keep(existing: &File, file: &File) -> io::Result<()> {
    file.set_permissions(existing.metadata()?.permissions())
}

/// Copies extended attributes; returns whether an access control list, if there is one, was kept.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn keep_attributes(existing: &File, file: &File) -> bool {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};

    const LIST: &str = "system.posix_acl_access";
    // The system's limit for an attribute, and for the list of names.
    let mut room = vec![0; 1 << 16];
    let Ok(length) = flistxattr(existing, &mut room[..]) else { return true };
    let names = room[..length].to_vec();
    let mut keeps_list = true;
    // Removes a list inherited from the folder, usually missing.
    let _ = fremovexattr(file, LIST);
    for name in names.split(|&byte| byte == 0).filter_map(|name| std::str::from_utf8(name).ok()) {
        // Other attributes describe the old bytes, or are privileges of the old file.
        let kept = name.starts_with("user.") || [LIST, "security.selinux"].contains(&name);
        if kept || cfg!(target_vendor = "apple") && !name.is_empty() {
            let copied = fgetxattr(existing, name, &mut room[..])
                .and_then(|length| fsetxattr(file, name, &room[..length], XattrFlags::empty()));
            keeps_list &= copied.is_ok() || name != LIST;
        }
    }
    keeps_list
}

#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
fn keep_attributes(_: &File, _: &File) -> bool {
    true
}

/// Checks for the errors that network file systems report on close; the file stays open.
#[cfg(unix)]
pub(super) fn close(file: &File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // Without a second descriptor there is nothing to check.
    let Ok(second) = file.try_clone() else { return Ok(()) };
    // SAFETY: the descriptor is ours and is not used after this.
    let closed = unsafe { libc::close(second.into_raw_fd()) };
    if closed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Other systems report no errors on close.
#[cfg(not(unix))]
pub(super) fn close(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn replacement(folder: &Path, named_only: bool) -> Replacement {
        let mut new = Replacement::new(&folder.join("new"), folder, None).unwrap();
        if named_only && new.name.is_none() {
            let (file, name) = undisturbed(|| Named::new(folder, |path| create(path, 0o600))).unwrap();
            (new.file, new.name) = (file, Some(name));
        }
        new
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn temporary_names_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut first = replacement(folder, true);
        let second = replacement(folder, true);
        assert_eq!(names(folder).len(), 2);
        drop(second);
        assert_eq!(names(folder).len(), 1);
        first.file.write_all(b"x").unwrap();
        first.place(false).unwrap();
        assert_eq!(names(folder), ["new"]);
    }

    #[test]
    fn what_is_reserved_makes_no_file_longer() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for bytes in [1000, 300 << 20] {
            let mut new = replacement(folder, false);
            // Calls it twice, as if the expected size had changed.
            new.expect(bytes, false);
            new.expect(bytes + 1, false);
            new.file.write_all(b"x").unwrap();
            new.place(false).unwrap();
            assert_eq!(fs::read(folder.join("new")).unwrap(), b"x");
            let mut given_up = replacement(folder, true);
            given_up.expect(bytes, false);
            drop(given_up);
            assert_eq!(names(folder), ["new"]);
        }
    }
}
