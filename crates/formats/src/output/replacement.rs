//! A new file that atomically replaces another.
//!
//! If the system supports unnamed files (Linux, on most file systems), the new file has no name until
//! complete, so that nothing remains however the process ends. The complete file is linked under its name
//! or, to replace a file, linked next to the old file and renamed. Otherwise, the new file has a temporary
//! name in the folder from the start: `.gpusort-0.tmp` or the next free number. Its writer holds a lock on
//! the file. A temporary file without a lock belongs to a dead process, and the next output into that
//! folder removes it.
//!
//! The new file never exposes data that the old file protects: at first, only its owner has access. The
//! complete file gets the old file's owner, group, mode, access control list and attributes.

use std::fs::{File, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::thread::JoinHandle;

use rustix::fs::{AtFlags, CWD, FlockOperation, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

#[cfg(target_os = "linux")]
use crate::{file::is_in_memory, parallel};

use super::under_way::{Registered, undisturbed, until};

/// The minimum number of names checked for files of dead processes.
const SWEPT: u64 = 8;

/// The number of numbered names to try.
const TRIED: u64 = 256;

/// A new file.
pub(super) struct Replacement {
    file: File,
    /// The temporary name, if any.
    name: Option<Named>,
    folder: PathBuf,
    pub(super) target: PathBuf,
    /// The file to be replaced, if there is one.
    existing: Option<File>,
    /// True if reserved space may make the file longer than its content.
    reserved: bool,
    /// The thread that reserves space, and the number of bytes.
    #[cfg(target_os = "linux")]
    reserving: Option<(JoinHandle<()>, u64)>,
}

/// A unique temporary name in the target's folder.
struct Named {
    path: PathBuf,
    registered: Registered,
}

impl Named {
    fn new(path: PathBuf) -> Self {
        Self { registered: Registered::new(&path), path }
    }

    /// Removes the name, unless the file was renamed.
    fn remove(self, renamed: bool) {
        if !renamed {
            // A failure cannot be handled here.
            let _ = std::fs::remove_file(&self.path);
        }
        drop(self.registered);
    }
}

impl Replacement {
    /// Creates a file in the target's folder.
    pub(super) fn new(target: &Path, folder: &Path, existing: Option<File>) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(if existing.is_some() { 0o600 } else { 0o666 });
        sweep(folder);
        let (file, name) = match unnamed(folder, mode) {
            Some(file) => (file, None),
            None => undisturbed(|| named(folder, |path| create(path, mode)))
                .map(|(file, name)| (file, Some(name)))?,
        };
        let (folder, target) = (folder.to_owned(), target.to_owned());
        Ok(Self {
            file,
            name,
            folder,
            target,
            existing,
            reserved: false,
            #[cfg(target_os = "linux")]
            reserving: None,
        })
    }

    pub(super) fn expect(&mut self, bytes: u64) {
        #[cfg(target_os = "linux")]
        {
            /// If files are in memory, this number of bytes takes a tenth of a second.
            const MANY: u64 = 1 << 28;
            let reserve = move |file: &File| {
                // Even after a failure, part of the space may be reserved. The excess is truncated at the
                // end.
                let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes);
            };
            self.settle();
            self.reserved = true;
            match self.file.try_clone() {
                // Reserves the space while the input is read and sorted. Earlier writes wait for it in the
                // system.
                Ok(file) if bytes >= MANY => {
                    let reserving = parallel::background(move || reserve(&file));
                    self.reserving = reserving.ok().map(|thread| (thread, bytes));
                }
                _ => reserve(&self.file),
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }

    /// Returns the bytes of memory being reserved for the file, if files are in memory.
    pub(super) fn taking(&self) -> u64 {
        #[cfg(target_os = "linux")]
        if let Some((thread, bytes)) = &self.reserving {
            return if is_in_memory(&self.file) && !thread.is_finished() { *bytes } else { 0 };
        }
        0
    }

    /// Waits until the reservation ends.
    fn settle(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some((thread, _)) = self.reserving.take() {
            // The thread can fail only by a panic, which was reported.
            let _ = thread.join();
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    /// Moves the file to its place; `last` marks the last output of the process.
    pub(super) fn place(mut self, last: bool) -> io::Result<()> {
        self.settle();
        if self.reserved {
            let written = self.file.stream_position()?;
            self.file.set_len(written)?;
        }
        if let Some(existing) = &self.existing {
            keep(existing, &self.file)?;
        }
        close(&self.file)?;
        until(|| self.name_it(), |placed| last && placed.is_ok())
    }

    fn name_it(&mut self) -> io::Result<()> {
        if self.name.is_none() && self.existing.is_none() {
            match link(&self.file, &self.target) {
                // Another process has just created the target.
                Err(Errno::EXIST) => {}
                linked => return Ok(linked?),
            }
        }
        let name = if let Some(name) = self.name.take() {
            name
        } else {
            lock(&self.file);
            named(&self.folder, |path| link(&self.file, path))?.1
        };
        let renamed = std::fs::rename(&name.path, &self.target);
        name.remove(renamed.is_ok());
        renamed
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Other files may want the space.
        self.settle();
        if let Some(name) = self.name.take() {
            undisturbed(|| name.remove(false));
        }
    }
}

/// Returns a path to an open file.
fn magic_link(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Creates a file without a name, if the system can do so here and link the file later.
fn unnamed(folder: &Path, mode: Mode) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(folder, flags, mode).ok()?);
        let there = std::fs::metadata(magic_link(&file)).ok()?;
        is_same(&file.metadata().ok()?, &there).then_some(file)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (folder, mode);
        None
    }
}

/// Links an unnamed file at this path.
fn link(file: &File, path: &Path) -> rustix::io::Result<()> {
    rustix::fs::linkat(CWD, magic_link(file), CWD, path, AtFlags::SYMLINK_FOLLOW)
}

/// Creates and locks a file at this path.
fn create(path: &Path, mode: Mode) -> rustix::io::Result<File> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, mode)?);
    // A concurrent sweep may have removed the file before the lock.
    let is_lost = !lock(&file) || file.metadata().is_ok_and(|metadata| metadata.nlink() == 0);
    if is_lost { Err(Errno::EXIST) } else { Ok(file) }
}

/// Calls `make` with temporary names until a name is free.
fn named<T>(folder: &Path, make: impl Fn(&Path) -> rustix::io::Result<T>) -> io::Result<(T, Named)> {
    for number in 0..2 * TRIED {
        // Random names, since another process may have occupied all numbered ones.
        let path = match number {
            ..TRIED => temporary(folder, number),
            _ => temporary(folder, RandomState::new().build_hasher().finish()),
        };
        match make(&path) {
            Ok(new) => return Ok((new, Named::new(path))),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("too many temporary files in this folder"))
}

fn temporary(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!(".gpusort-{number}.tmp"))
}

/// Locks our file against sweeps; returns false if a sweep holds the lock. Without support for locks, no
/// file is swept.
fn lock(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
}

/// Removes temporary files of dead processes.
fn sweep(folder: &Path) {
    for number in 0.. {
        let path = temporary(folder, number);
        // Opened for writing, which network file systems require for an exclusive lock.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()).map(File::from) {
            Ok(file) => sweep_one(&path, &file),
            Err(Errno::NOENT) if number < SWEPT => {}
            Err(Errno::NOENT) => return,
            Err(_) if number >= TRIED => return,
            Err(_) => {}
        }
    }
}

fn sweep_one(path: &Path, file: &File) {
    let Ok(ours) = file.metadata() else { return };
    let own = ours.is_file() && ours.uid() == rustix::process::geteuid().as_raw();
    if own
        && rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
        // The name may belong to another file by now.
        && std::fs::symlink_metadata(path).is_ok_and(|there| is_same(&ours, &there))
    {
        // On failure, the file remains.
        let _ = std::fs::remove_file(path);
    }
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Copies the old file's owner, group, mode, access control list and attributes. If the system does not
/// permit this, the file belongs to the current user, and nobody gains access.
fn keep(existing: &File, file: &File) -> io::Result<()> {
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

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn keep_attributes(_: &File, _: &File) -> bool {
    true
}

/// Checks for the errors that network file systems report on close; the file stays open.
pub(super) fn close(file: &File) -> io::Result<()> {
    // Without a second descriptor there is nothing to check.
    let Ok(second) = file.try_clone() else { return Ok(()) };
    // SAFETY: the descriptor is ours and is not used after this.
    let closed = unsafe { libc::close(second.into_raw_fd()) };
    if closed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn replacement(folder: &Path, named_only: bool) -> Replacement {
        let mut new = Replacement::new(&folder.join("new"), folder, None).unwrap();
        if named_only && new.name.is_none() {
            let create = |path: &Path| create(path, Mode::from_raw_mode(0o600));
            let (file, name) = undisturbed(|| named(folder, create)).unwrap();
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
    fn names_are_taken_in_turn_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut first = replacement(folder, true);
        let second = replacement(folder, true);
        assert_eq!(names(folder), [".gpusort-0.tmp", ".gpusort-1.tmp"]);
        // A locked file is not swept.
        sweep(folder);
        assert_eq!(names(folder).len(), 2);
        drop(second);
        first.write(b"x").unwrap();
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
            new.expect(bytes);
            new.expect(bytes + 1);
            new.write(b"x").unwrap();
            new.place(false).unwrap();
            assert_eq!(fs::read(folder.join("new")).unwrap(), b"x");
            let mut given_up = replacement(folder, true);
            given_up.expect(bytes);
            drop(given_up);
            assert_eq!(names(folder), ["new"]);
        }
    }

    #[test]
    fn what_nobody_holds_is_swept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for number in [0, 3, SWEPT - 1, SWEPT, SWEPT + 1] {
            fs::write(temporary(folder, number), "stray").unwrap();
        }
        let others = [".gpusort-x.tmp", "other.tmp", ".gpusort-2.tmp"];
        fs::write(folder.join(others[0]), "").unwrap();
        fs::write(folder.join(others[1]), "").unwrap();
        std::os::unix::fs::symlink(folder.join(others[1]), folder.join(others[2])).unwrap();
        drop(replacement(folder, false));
        assert_eq!(names(folder), [others[2], others[0], others[1]]);
    }
}
