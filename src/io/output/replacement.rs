//! The new file that takes another's place.
//!
//! Where the system can (Linux, on most file systems), the file has no name until it is whole, so that nothing remains
//! however the process ends. A file that takes no other's place is then linked under its name. One that does is linked beside
//! the other and renamed over it, and where files without a name cannot be had, it is beside it all the time: `.gpusort-0.tmp`
//! or the next number that is free. Such a file is locked by the process that writes it, so one that is not locked is
//! a dead process's, and the next output into that folder removes it.
//!
//! Nobody else can read what will take the place of a file that others may not read: it is made for its owner alone,
//! and gets the owner, group, mode, access control list and attributes of the other when it is whole.

use std::fs::{File, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::under_way::{Registered, undisturbed, until};

/// Names that are looked at for files of dead processes, at least.
const SWEPT: u64 = 8;

/// Names that are tried in turn.
const TRIED: u64 = 256;

/// A new file.
pub(super) struct Replacement {
    file: File,
    /// Its name, if it has one.
    name: Option<Named>,
    folder: PathBuf,
    target: PathBuf,
    /// The file whose place it takes, if there is one.
    existing: Option<File>,
    /// Whether it may be longer than what was written to it.
    reserved: bool,
}

/// A name beside the target, which nobody else uses.
struct Named {
    path: PathBuf,
    registered: Registered,
}

impl Named {
    fn new(path: PathBuf) -> Self {
        Self { registered: Registered::new(&path), path }
    }

    /// Takes the name away from the file, unless it was renamed.
    fn remove(self, renamed: bool) {
        if !renamed {
            // Where that is not possible, there is nothing else to do about it.
            let _ = std::fs::remove_file(&self.path);
        }
        drop(self.registered);
    }
}

impl Replacement {
    /// A new file in the folder that the target is in.
    pub(super) fn new(target: &Path, folder: &Path, existing: Option<File>) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(if existing.is_some() { 0o600 } else { 0o666 });
        sweep(folder);
        let (file, name) = match unnamed(folder, mode) {
            Some(file) => (file, None),
            None => named(folder, |path| {
                let flags =
                    OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                rustix::fs::open(path, flags, mode).map(File::from)
            })
            .map(|(file, name)| (file, Some(name)))?,
        };
        let (folder, target) = (folder.to_owned(), target.to_owned());
        Ok(Self { file, name, folder, target, existing, reserved: false })
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    pub(super) fn expect(&mut self, bytes: u64) {
        #[cfg(target_os = "linux")]
        {
            // Also where it was refused half-way: what is too much is cut off at the end.
            self.reserved = true;
            let _ = rustix::fs::fallocate(&self.file, rustix::fs::FallocateFlags::empty(), 0, bytes);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    /// Puts it in its place; `last` says that it is the last output of the process.
    pub(super) fn place(mut self, last: bool) -> io::Result<()> {
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
                // Somebody else has made one meanwhile.
                Err(Errno::EXIST) => {}
                linked => return Ok(linked?),
            }
        }
        let name = if let Some(name) = self.name.take() {
            name
        } else {
            lock(&self.file);
            named_undisturbed(&self.folder, |path| link(&self.file, path))?.1
        };
        let renamed = std::fs::rename(&name.path, &self.target);
        name.remove(renamed.is_ok());
        renamed
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            undisturbed(|| name.remove(false));
        }
    }
}

/// Where a file that is open can be found under a name.
fn magic_link(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// A file without a name, if such can be had here and given a name later.
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

/// Gives a file without a name this one.
fn link(file: &File, path: &Path) -> rustix::io::Result<()> {
    rustix::fs::linkat(CWD, magic_link(file), CWD, path, AtFlags::SYMLINK_FOLLOW)
}

/// What `make` makes under the first name beside the target that is free.
fn named<T>(folder: &Path, make: impl Fn(&Path) -> rustix::io::Result<T>) -> io::Result<(T, Named)>
where
    T: Lockable,
{
    undisturbed(|| named_undisturbed(folder, make))
}

fn named_undisturbed<T: Lockable>(
    folder: &Path,
    make: impl Fn(&Path) -> rustix::io::Result<T>,
) -> io::Result<(T, Named)> {
    for number in 0..2 * TRIED {
        // Whoever takes all of the first names away does not know the others.
        let path = match number {
            ..TRIED => temporary(folder, number),
            _ => temporary(folder, RandomState::new().build_hasher().finish()),
        };
        match make(&path) {
            // Somebody who sweeps may have taken it for a dead process's before it was locked.
            Ok(new) if new.is_lost() => {}
            Ok(new) => return Ok((new, Named::new(path))),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("too many temporary files are there"))
}

/// What a name was made for.
trait Lockable {
    /// Locks it, and says whether the name is gone again.
    fn is_lost(&self) -> bool;
}

impl Lockable for File {
    fn is_lost(&self) -> bool {
        !lock(self) || self.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}

/// A file that was locked before it got its name.
impl Lockable for () {
    fn is_lost(&self) -> bool {
        false
    }
}

fn temporary(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!(".gpusort-{number}.tmp"))
}

/// Locks a file of ours against those who sweep; false if one of them has it. Where there are no locks, nobody sweeps.
fn lock(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
}

/// Removes temporary files whose processes are dead.
fn sweep(folder: &Path) {
    for number in 0.. {
        let path = temporary(folder, number);
        // For writing, without which network file systems give no such lock.
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
        // The name may be another file's by now.
        && std::fs::symlink_metadata(path).is_ok_and(|there| is_same(&ours, &there))
    {
        // Where that is not possible, it stays.
        let _ = std::fs::remove_file(path);
    }
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Gives the new file what others know the old one by: owner, group, mode, access control list, attributes. Where one
/// may not, it is the new file of whoever sorts, and nobody is let in who was not before.
fn keep(existing: &File, file: &File) -> io::Result<()> {
    let (old, new) = (existing.metadata()?, file.metadata()?);
    let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
    let mut mode = old.mode() & 0o7777;
    let mut keeps_group = old.gid() == new.gid();
    if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
        if rustix::fs::fchown(file, Some(owner), Some(group)).is_ok() {
            keeps_group = true;
        } else {
            // What the file may do on behalf of its owner it may not do on somebody else's.
            mode &= 0o777;
            keeps_group = keeps_group || rustix::fs::fchown(file, None, Some(group)).is_ok();
        }
    }
    let keeps_list = keep_attributes(existing, file);
    if !keeps_group || !keeps_list {
        // Who was in the group is one of the others now, and some of the others are in the group.
        let both = mode >> 3 & mode & 0o007;
        mode = mode & !0o077 | both << 3 | both;
    }
    let is = file.metadata()?.mode() & 0o7777;
    match rustix::fs::fchmod(file, Mode::from_raw_mode(mode as _)) {
        // Some file systems give all files one mode, which will do if it lets nobody in.
        Err(_) if is & !mode == 0 => Ok(()),
        changed => Ok(changed?),
    }
}

/// Copies extended attributes, the access control list among them, and says whether that has its list, if it had one.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn keep_attributes(existing: &File, file: &File) -> bool {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};

    const LIST: &str = "system.posix_acl_access";
    // No attribute is larger, nor are the names of all together.
    let mut room = vec![0; 1 << 16];
    let Ok(length) = flistxattr(existing, &mut room[..]) else { return true };
    let names = room[..length].to_vec();
    let mut keeps_list = true;
    // The folder may have given it one. Mostly there is none to be removed.
    let _ = fremovexattr(file, LIST);
    for name in names.split(|&byte| byte == 0).filter_map(|name| std::str::from_utf8(name).ok()) {
        // Others say what was true of the old bytes, or what the system allowed for them.
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

/// Has the system say what is wrong with a file when it is closed, as network file systems do; it stays open.
pub(super) fn close(file: &File) -> io::Result<()> {
    // Where there is no second descriptor to be had, nothing can be asked.
    let Ok(second) = file.try_clone() else { return Ok(()) };
    // SAFETY: the descriptor is ours, and nothing uses it after this.
    let closed = unsafe { libc::close(second.into_raw_fd()) };
    if closed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn replacement(folder: &Path, named_only: bool) -> Replacement {
        let target = folder.join("new");
        let new = Replacement::new(&target, folder, None).unwrap();
        if !named_only || new.name.is_some() {
            return new;
        }
        let make = |path: &Path| {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
            rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map(File::from)
        };
        let (file, name) = named(folder, make).unwrap();
        Replacement {
            file,
            name: Some(name),
            folder: folder.to_owned(),
            target,
            existing: None,
            reserved: false,
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
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
        // What somebody holds is not swept.
        sweep(folder);
        assert_eq!(names(folder).len(), 2);
        drop(second);
        first.write(b"x").unwrap();
        first.place(false).unwrap();
        assert_eq!(names(folder), ["new"]);
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
        let mut expected = others;
        expected.sort_unstable();
        assert_eq!(names(folder), expected);
    }
}
