//! Writes a new file of known size through memory, which several threads prepare ahead.
//!
//! ```text
//! threads   map and populate window 2, 3, …    while a device starts and the input is read
//! writer    copies to window 0, 1, …           on all cores
//! ```
//!
//! An inode's lock admits one `write` at a time. Copies to a mapping do not take it, and populated pages cause no
//! page faults.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use memmap2::{Advice, MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate, fstatfs};

use crate::file::{is_in_memory, write_all_at};
use crate::parallel;

/// Bytes of a window: a multiple of the size of a page.
pub(super) const WINDOW: u64 = 64 << 20;

/// The maximum number of threads. For 1.5 GB in ext4, six take 0.14 instead of 0.16 s, and a quarter more processor time.
const THREADS: usize = 4;

/// Fewer cores have no time to prepare memory: 1.47 GB took 1.13 s instead of 0.88 s on two cores.
pub(super) const LEAST_CORES: usize = 3;

/// The magic numbers of ext4 (also ext2 and ext3) and XFS.
const KNOWN: [u32; 2] = [0xEF53, 0x5846_5342];

/// Bytes that a core copies at once.
const PART: usize = 1 << 20;

/// A file under preparation.
pub(super) struct Mapped {
    /// Prepared windows with their numbers; `None` for a window that the system refuses.
    prepared: mpsc::Receiver<(u64, Option<MmapMut>)>,
    /// Prepared windows that wait for their turn.
    waiting: BTreeMap<u64, Option<MmapMut>>,
    /// The number of the next window to prepare; a number beyond the file ends the threads.
    next: Arc<AtomicU64>,
    /// Bytes of the file, and of a window.
    size: u64,
    window: u64,
    /// Bytes written.
    pub(super) written: u64,
}

impl Mapped {
    /// Begins to prepare an unnamed file of this size, in windows of this size. Returns `None` on
    /// file systems where this is not known to be safe, and for small files.
    pub(super) fn begin(file: &File, size: u64, window: u64) -> Option<Self> {
        let in_memory = is_in_memory(file);
        let is_known = fstatfs(file).is_ok_and(|system| KNOWN.contains(&(system.f_type as u32)));
        // In memory, populating a page reserves it.
        let is_reserved = || in_memory || fallocate(file, FallocateFlags::empty(), 0, size).is_ok();
        if size < window || !(is_known || in_memory) || file.set_len(size).is_err() || !is_reserved() {
            return None;
        }
        let (sender, prepared) = mpsc::channel();
        let next = Arc::new(AtomicU64::new(0));
        for _ in 0..THREADS.min(parallel::threads()) {
            let (file, sender, next) = (file.try_clone().ok()?, sender.clone(), Arc::clone(&next));
            let prepare = move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let begin = number.saturating_mul(window);
                    // Without a receiver, the file is complete.
                    if begin >= size
                        || sender.send((number, populated(&file, begin, size.min(begin + window)))).is_err()
                    {
                        break;
                    }
                }
            };
            // A refused thread has prepared all windows.
            let _ = parallel::background(prepare);
        }
        Some(Self { prepared, waiting: BTreeMap::new(), next, size, window, written: 0 })
    }

    /// Writes bytes behind those written so far.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(super) fn write(&mut self, file: &File, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (number, offset) = (self.written / self.window, (self.written % self.window) as usize);
            let room = self.window as usize - offset;
            let (now, later) = bytes.split_at(bytes.len().min(room));
            match self.window(number) {
                Some(window) if offset + now.len() <= window.len() => {
                    let to = window[offset..offset + now.len()].chunks_mut(PART);
                    parallel::map_parts(to.zip(now.chunks(PART)), |(to, from): (&mut [u8], &[u8])| {
                        to.copy_from_slice(from);
                    });
                }
                _ => {
                    self.give_up(file)?;
                    write_all_at(file, now, self.written)?;
                }
            }
            self.written += now.len() as u64;
            bytes = later;
            if self.written.is_multiple_of(self.window)
                && let Some(window) = self.waiting.remove(&number)
            {
                // Unmapping takes time.
                drop(parallel::background(|| drop(window)));
            }
        }
        Ok(())
    }

    /// Returns the pages of later windows to the file system, which refuses one: the content may need fewer than all.
    fn give_up(&mut self, file: &File) -> io::Result<()> {
        if self.size > self.written {
            self.next.store(u64::MAX / 2, Ordering::Relaxed);
            self.size = self.written;
            self.waiting.clear();
            // Later windows are dropped with their sender.
            self.prepared = mpsc::channel().1;
            file.set_len(self.written)?;
        }
        Ok(())
    }

    /// Returns the window with this number; `None` if it cannot be written through memory.
    fn window(&mut self, number: u64) -> Option<&mut MmapMut> {
        while number * self.window < self.size && !self.waiting.contains_key(&number) {
            let (number, window) = self.prepared.recv().ok()?;
            self.waiting.insert(number, window);
        }
        self.waiting.get_mut(&number)?.as_mut()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.next.store(u64::MAX / 2, Ordering::Relaxed);
    }
}

/// Maps a window of the file, and populates its pages. Returns `None` if the system refuses.
fn populated(file: &File, begin: u64, end: u64) -> Option<MmapMut> {
    let length = (end - begin) as usize;
    // SAFETY:
    // - The file has no name, so other processes open it only through this process's descriptors in /proc. If
    //   another process truncates it there, a signal ends this process.
    // - This process never writes a byte through the mapping and through the file at once, and reads none.
    // - The file ends behind the window until its mappings are no longer accessed.
    let window = unsafe { MmapOptions::new().offset(begin).len(length).map_mut(file) }.ok()?;
    // A full disk or memory is an error here; later it would be a signal.
    window.advise(Advice::PopulateWrite).ok()?;
    Some(window)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn a_file_is_written_through_memory_and_beyond_it() {
        let window = 1 << 16;
        for (size, length, block) in [
            (1 << 16, 1 << 16, 1000),
            (300_000, 300_000, 70_001),
            (300_000, 1, 1),
            (70_000, 200_000, 200_000),
        ] {
            let mut file = tempfile::tempfile_in("/dev/shm").unwrap();
            let mut mapped = Mapped::begin(&file, size, window).unwrap();
            let content: Vec<u8> = (0..length).map(|at: u32| (at / 7) as u8).collect();
            for block in content.chunks(block) {
                mapped.write(&file, block).unwrap();
            }
            assert_eq!(mapped.written, content.len() as u64);
            drop(mapped);
            file.set_len(content.len() as u64).unwrap();
            let mut there = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut there).unwrap();
            assert!(there == content, "{size} {length}");
        }
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        assert!(Mapped::begin(&file, window - 1, window).is_none());
        // The file system refuses the second window, but has populated the third.
        let mut mapped = Mapped::begin(&file, 4 * window, window).unwrap();
        mapped.write(&file, &vec![1; 1 << 16]).unwrap();
        while mapped.waiting.len() < 3 {
            let (number, window) = mapped.prepared.recv().unwrap();
            mapped.waiting.insert(number, window);
        }
        mapped.waiting.insert(1, None);
        mapped.write(&file, b"text").unwrap();
        assert_eq!((mapped.written, file.metadata().unwrap().len()), ((1 << 16) + 4, (1 << 16) + 4));
        mapped.write(&file, &vec![2; 1 << 18]).unwrap();
        assert_eq!(file.metadata().unwrap().len(), (1 << 16) + 4 + (1 << 18));
    }
}
