//! Runs in temporary files, with checksums.
//!
//! Runs with blocks of the same size share a file in each folder. The file has no name while in use, or
//! the system removes it on closing, so nothing remains however the process ends. Memory holds a
//! checksum of each block: a read returns the written data, or an error.
//!
//! A run is read only once, and other runs overwrite its blocks, so merging runs into longer ones takes
//! no more space. Files in a folder in memory (tmpfs) count as memory and may take half of the budget.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gpusort_formats::budget::Budget;
use gpusort_formats::file::{fill_at, is_in_memory, write_all_at};
use xxhash_rust::xxh3::xxh3_64;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::frames::{RunFormat, SortedRun};
use crate::human;
use crate::parallel::{self, lock};

/// The folders for temporary files, used round-robin.
#[derive(Debug)]
pub struct Folders {
    all: Vec<(PathBuf, Option<Arc<Store>>)>,
    next: usize,
    in_memory: Arc<InMemory>,
    cancel: Cancel,
}

/// The size of the files in memory-backed folders.
#[derive(Debug)]
struct InMemory {
    taken: AtomicU64,
    most: u64,
}

impl InMemory {
    fn take(&self, bytes: u64) -> io::Result<()> {
        if self.taken.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.most {
            return Ok(());
        }
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        let most = human::bytes(self.most);
        let problem = format!(
            "the folder is in memory (tmpfs), where temporary files may use at most {most}; \
             use a folder on a disk (--temp-dir) or more memory (--memory)"
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, problem))
    }
}

/// The file of a folder.
#[derive(Debug)]
struct Store {
    file: File,
    /// The name for messages.
    name: String,
    /// The size of a block; the last block of a run may be shorter.
    block: usize,
    places: Mutex<FreeBlocks>,
    /// Set for a memory-backed file.
    in_memory: Option<Arc<InMemory>>,
    cancel: Cancel,
}

/// The places for blocks in a file.
#[derive(Debug, Default)]
struct FreeBlocks {
    /// The end of the last block, in bytes.
    end: u64,
    /// The places of whole blocks that were read.
    free: Vec<u64>,
}

impl Store {
    /// Returns a place for a block of this many bytes.
    fn place(&self, length: u64) -> io::Result<u64> {
        let mut places = lock(&self.places);
        if let Some(place) = places.free.pop() {
            return Ok(place);
        }
        if let Some(memory) = &self.in_memory {
            memory.take(length)?;
        }
        places.end += length;
        Ok(places.end - length)
    }

    /// Reads a block, which must fill `room`.
    fn read(&self, block: &Block, room: &mut [u8]) -> io::Result<()> {
        self.cancel.check()?;
        if fill_at(&self.file, room, block.place)? < room.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if xxh3_64(room) == block.sum {
            return Ok(());
        }
        let problem = "the data read back is not the data written; the disk or the memory is faulty";
        Err(io::Error::new(io::ErrorKind::InvalidData, problem))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Some(memory) = &self.in_memory {
            let places = self.places.get_mut().unwrap_or_else(PoisonError::into_inner);
            memory.taken.fetch_sub(places.end, Ordering::Relaxed);
        }
    }
}

impl Folders {
    /// Uses these folders, or by default `/var/tmp`, or else the system's folder.
    pub fn new(mut folders: Vec<PathBuf>) -> Self {
        if folders.is_empty() {
            let usual = Some(PathBuf::from("/var/tmp")).filter(|folder| cfg!(unix) && folder.is_dir());
            folders.push(usual.unwrap_or_else(std::env::temp_dir));
        }
        let all = folders.into_iter().map(|folder| (folder, None)).collect();
        let in_memory = InMemory { taken: AtomicU64::new(0), most: u64::MAX };
        Self { all, next: 0, in_memory: Arc::new(in_memory), cancel: Cancel::default() }
    }

    /// Limits the files in memory-backed folders to this budget, and stops reading and writing runs after a
    /// cancellation.
    pub fn within(self, budget: &Budget, cancel: &Cancel) -> Self {
        let in_memory = InMemory { taken: AtomicU64::new(0), most: budget.bytes() };
        Self { in_memory: Arc::new(in_memory), cancel: cancel.clone(), ..self }
    }

    /// Returns the first folder.
    pub fn first(&self) -> &Path {
        &self.all[0].0
    }

    /// Returns true if a folder is memory-backed.
    pub fn are_in_memory(&self) -> bool {
        self.all.iter().any(|(folder, _)| File::open(folder).is_ok_and(|folder| is_in_memory(&folder)))
    }

    /// Creates a run in the next folder, written in blocks of this many bytes.
    ///
    /// # Errors
    ///
    /// The folder does not exist or is not writable.
    pub fn create(&mut self, block: usize) -> Result<Spill, Error> {
        let number = self.next % self.all.len();
        self.next += 1;
        let (folder, store) = &mut self.all[number];
        let store = if let Some(store) = store.as_ref().filter(|store| store.block == block) {
            store.clone()
        } else {
            let name = format!("a temporary file in {}", human::path(folder));
            let file = tempfile::tempfile_in(folder).map_err(|error| Error::io(&name, "create", error))?;
            let in_memory = is_in_memory(&file).then(|| self.in_memory.clone());
            let (places, cancel) = (Mutex::default(), self.cancel.clone());
            store.insert(Arc::new(Store { file, name, block, places, in_memory, cancel })).clone()
        };
        Ok(Spill { store, block: Vec::new(), blocks: Vec::new(), bytes: 0 })
    }
}

/// A run under construction.
pub struct Spill {
    store: Arc<Store>,
    /// The incomplete block.
    block: Vec<u8>,
    /// The blocks before it.
    blocks: Vec<Block>,
    bytes: u64,
}

/// A block in the file.
#[derive(Clone, Copy)]
struct Block {
    place: u64,
    sum: u64,
}

impl Spill {
    fn write_block(&mut self) -> io::Result<()> {
        let length = self.block.len() as u64;
        self.store.cancel.check()?;
        let place = self.store.place(length)?;
        write_all_at(&self.store.file, &self.block, place)?;
        self.blocks.push(Block { place, sum: xxh3_64(&self.block) });
        self.bytes += length;
        self.block.clear();
        Ok(())
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.store.name
    }

    /// Completes the run.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn finish(mut self) -> Result<Spilled, Error> {
        if !self.block.is_empty() {
            self.write_block().map_err(|error| Error::io(&self.store.name, "write", error))?;
        }
        let Self { store, blocks, bytes, .. } = self;
        Ok(Spilled { store, blocks, bytes, next: 0, block: Cursor::default() })
    }
}

impl Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.store.block - self.block.len());
        self.block.extend_from_slice(&bytes[..count]);
        if self.block.len() == self.store.block {
            self.write_block()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A complete run in a temporary file, read from its beginning; a damaged block is an error.
pub struct Spilled {
    store: Arc<Store>,
    blocks: Vec<Block>,
    /// The size in bytes.
    pub bytes: u64,
    /// The number of the next block.
    next: usize,
    /// The current block.
    block: Cursor<Vec<u8>>,
}

impl Spilled {
    /// Returns the run of this number of records.
    pub fn into_run(self, records: u64, form: RunFormat) -> SortedRun {
        let (name, bytes) = (self.store.name.clone(), self.bytes);
        SortedRun { name, bytes, records, form, reader: Box::new(self) }
    }

    /// Reads the next blocks into `room`. Only the last block of the run may be shorter than the others.
    fn read_blocks(&mut self, room: &mut [u8]) -> io::Result<()> {
        let Self { store, blocks, .. } = self;
        let blocks = &blocks[self.next..][..room.len().div_ceil(store.block)];
        parallel::map_parts(room.chunks_mut(store.block).zip(blocks), |(room, block)| {
            store.read(block, room)
        })
        .into_iter()
        .collect::<io::Result<()>>()?;
        // The places of whole blocks may be used again.
        let whole = &blocks[..room.len() / store.block];
        lock(&store.places).free.extend(whole.iter().map(|block| block.place));
        self.next += blocks.len();
        Ok(())
    }
}

impl Read for Spilled {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.block.position() == self.block.get_ref().len() as u64 {
            let size = self.store.block;
            let left = self.bytes.saturating_sub((self.next * size) as u64);
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let whole = room.len().min(left) / size * size;
            if whole > 0 {
                self.read_blocks(&mut room[..whole])?;
                return Ok(whole);
            }
            let mut block = std::mem::take(&mut self.block).into_inner();
            block.resize(left.min(size), 0);
            self.read_blocks(&mut block)?;
            self.block = Cursor::new(block);
        }
        self.block.read(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut run: Spilled) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        run.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn spilled(bytes: &[u8], block: usize) -> Spilled {
        let mut spill = Folders::new(vec![std::env::temp_dir()]).create(block).unwrap();
        bytes.chunks(7).for_each(|some| spill.write_all(some).unwrap());
        spill.finish().unwrap()
    }

    #[test]
    fn runs_come_back_as_they_were() {
        for length in [0, 1, 15, 16, 17, 32, 100] {
            let bytes: Vec<u8> = (0..length).collect();
            let mut run = spilled(&bytes, 16);
            assert_eq!(run.bytes, bytes.len() as u64);
            let mut back = Vec::new();
            run.read_to_end(&mut back).unwrap();
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn runs_of_a_folder_do_not_disturb_each_other() {
        let mut folders = Folders::new(vec![std::env::temp_dir()]);
        let mut runs = [folders.create(4).unwrap(), folders.create(4).unwrap()];
        for number in 0..20 {
            runs[number % 2].write_all(&[number as u8; 3]).unwrap();
        }
        for (parity, run) in runs.into_iter().enumerate() {
            let expected: Vec<u8> =
                (0..20).filter(|number| number % 2 == parity as u8).flat_map(|n| [n; 3]).collect();
            assert_eq!(all(run.finish().unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn what_was_read_leaves_room_for_what_is_written() {
        let mut folders = Folders::new(vec![std::env::temp_dir()]);
        let mut runs: Vec<Spilled> = Vec::new();
        for number in 0..4 {
            let mut run = folders.create(16).unwrap();
            run.write_all(&[number; 100]).unwrap();
            runs.push(run.finish().unwrap());
        }
        let store = runs[0].store.clone();
        let length = store.file.metadata().unwrap().len();
        assert_eq!(length, 4 * 100);
        for _level in 0..3 {
            let mut merged = folders.create(16).unwrap();
            let mut expected = Vec::new();
            for mut reader in runs.drain(..) {
                let mut some = [0; 40];
                loop {
                    let count = reader.read(&mut some).unwrap();
                    if count == 0 {
                        break;
                    }
                    expected.extend_from_slice(&some[..count]);
                    merged.write_all(&some[..count]).unwrap();
                }
            }
            assert_eq!(expected, [[0; 100], [1; 100], [2; 100], [3; 100]].concat());
            runs.push(merged.finish().unwrap());
        }
        // The ends of runs and the incomplete block of the new run take less than a block each.
        let most = length + 5 * 16;
        assert!(store.file.metadata().unwrap().len() <= most, "{:?}", store.places);
        // Blocks of another size have a file of their own.
        let mut other = folders.create(32).unwrap();
        other.write_all(&[9; 64]).unwrap();
        assert_eq!(all(runs.remove(0)).unwrap().len(), 400);
        assert_eq!(all(other.finish().unwrap()).unwrap(), [9; 64]);
    }

    #[test]
    fn a_flipped_bit_and_a_lost_end_are_noticed() {
        let bytes = [5; 40];
        for damage in [true, false] {
            let mut run = spilled(&bytes, 16);
            if damage {
                write_all_at(&run.store.file, &[4], 33).unwrap();
            } else {
                run.store.file.set_len(39).unwrap();
            }
            let mut back = Vec::new();
            let error = run.read_to_end(&mut back).unwrap_err();
            assert_eq!(back, bytes[..32]);
            assert_eq!(damage, error.to_string().contains("not the data written"), "{error}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_that_names_it() {
        let error = Folders::new(vec![PathBuf::from("/no/such folder")]).create(16).err().unwrap();
        assert!(error.to_string().contains("a temporary file in /no/such folder"), "{error}");
    }
}
