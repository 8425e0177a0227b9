//! Positioned reads and writes of a file, by several cores at once.

use std::fs::File;
use std::io;

/// Reads some bytes from `place` on. On Windows this moves the file's own place.
///
/// # Errors
///
/// I/O errors.
pub fn read_at(file: &File, room: &mut [u8], place: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, room, place);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, room, place);
}

/// Writes some of the bytes from `place` on. On Windows this moves the file's own place.
///
/// # Errors
///
/// I/O errors.
pub fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, bytes, place);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, bytes, place);
}

/// Returns true for a file or a folder in memory (tmpfs, ramfs), if the system tells.
pub fn is_in_memory(file: &File) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::fstatfs(file)
        .is_ok_and(|system| matches!(system.f_type as u32, 0x0102_1994 | 0x8584_58F6));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        false
    }
}

/// Fills `room` by calls of `read`, until one reads 0 bytes. `read` also gets the number of bytes filled.
///
/// # Errors
///
/// I/O errors.
pub fn fill(
    room: &mut [u8],
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match uninterrupted(|| read(&mut room[filled..], filled))? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Fills `room` from `place` on as far as the file goes.
///
/// # Errors
///
/// I/O errors.
pub fn fill_at(file: &File, room: &mut [u8], place: u64) -> io::Result<usize> {
    fill(room, |room, filled| read_at(file, room, place + filled as u64))
}

/// Does this again as long as a signal interrupts it.
///
/// # Errors
///
/// I/O errors.
pub fn uninterrupted<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Writes all bytes from `place` on.
///
/// # Errors
///
/// I/O errors.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut place: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match uninterrupted(|| write_at(file, bytes, place))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => (bytes, place) = (&bytes[count..], place + count as u64),
        }
    }
    Ok(())
}
