//! Runs in temporary files, with checksums.
//!
//! A file has no name while it is in use, or is removed by the system when it is closed, so that nothing remains
//! however the process ends. It is written and read in blocks, each with a checksum that stays in memory: what the disk
//! gives back is what it was given, or an error.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Error;
use crate::human;

/// Folders for temporary files, used in turn.
#[derive(Clone, Debug)]
pub struct Folders {
    folders: Vec<PathBuf>,
    next: usize,
}

impl Folders {
    /// These folders; without any, that of `TMPDIR`, else `/var/tmp`, else the system's.
    #[must_use]
    pub fn new(mut folders: Vec<PathBuf>) -> Self {
        if folders.is_empty() {
            let named = std::env::var_os("TMPDIR").filter(|name| !name.is_empty()).map(PathBuf::from);
            let usual = Some(PathBuf::from("/var/tmp")).filter(|folder| cfg!(unix) && folder.is_dir());
            folders.push(named.or(usual).unwrap_or_else(std::env::temp_dir));
        }
        Self { folders, next: 0 }
    }

    /// A new run in the next folder, written in blocks of this many bytes.
    ///
    /// # Errors
    ///
    /// The folder does not exist or is not writable.
    pub(crate) fn create(&mut self, block: usize) -> Result<Spill, Error> {
        let folder = &self.folders[self.next % self.folders.len()];
        self.next += 1;
        let name = name_in(folder);
        let file = tempfile::tempfile_in(folder).map_err(|error| Error::io(&name, "create", error))?;
        Ok(Spill { file, name, room: block, block: Vec::new(), sums: Vec::new(), bytes: 0 })
    }
}

/// The name of a temporary file in messages.
fn name_in(folder: &Path) -> String {
    format!("a temporary file in {}", human::path(folder))
}

/// A run that is being written.
pub struct Spill {
    file: File,
    name: String,
    /// The size of a block.
    room: usize,
    /// The block that is being filled.
    block: Vec<u8>,
    /// The checksums of those before it.
    sums: Vec<u64>,
    bytes: u64,
}

impl Spill {
    fn write_block(&mut self) -> io::Result<()> {
        self.file.write_all(&self.block)?;
        self.sums.push(xxh3_64(&self.block));
        self.bytes += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The complete run.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn finish(mut self) -> io::Result<Spilled> {
        if !self.block.is_empty() {
            self.write_block()?;
        }
        let Self { file, name, room, sums, bytes, .. } = self;
        Ok(Spilled { file, name, room, sums, bytes })
    }
}

impl Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.room - self.block.len());
        self.block.extend_from_slice(&bytes[..count]);
        if self.block.len() == self.room {
            self.write_block()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A complete run in a temporary file.
pub struct Spilled {
    file: File,
    name: String,
    room: usize,
    sums: Vec<u64>,
    bytes: u64,
}

impl Spilled {
    /// The name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All of it.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn all(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let (name, sums) = (self.name.clone(), self.sums.clone());
        let file = self.file.try_clone()?;
        Self { file, name, sums, ..*self }.read()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads it from its beginning.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn read(mut self) -> io::Result<SpillReader> {
        self.file.seek(SeekFrom::Start(0))?;
        Ok(SpillReader { spilled: self, next: 0, block: Vec::new(), at: 0 })
    }
}

/// Reads a run; a block that differs from what was written is an error.
pub(crate) struct SpillReader {
    spilled: Spilled,
    /// The number of the next block.
    next: usize,
    /// The block that is being given, from `at` on.
    block: Vec<u8>,
    at: usize,
}

impl SpillReader {
    /// Reads the next block; an empty one at the end.
    fn read_block(&mut self) -> io::Result<()> {
        let Spilled { file, room, sums, bytes, .. } = &mut self.spilled;
        self.at = 0;
        self.block.clear();
        let Some(&sum) = sums.get(self.next) else { return Ok(()) };
        let left = *bytes - (self.next * *room) as u64;
        self.block.resize(left.min(*room as u64) as usize, 0);
        file.read_exact(&mut self.block)?;
        if xxh3_64(&self.block) != sum {
            let problem = "what was read is not what was written; the disk or the memory fails";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        self.next += 1;
        Ok(())
    }
}

impl Read for SpillReader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            self.read_block()?;
        }
        let count = room.len().min(self.block.len() - self.at);
        room[..count].copy_from_slice(&self.block[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spilled(bytes: &[u8], block: usize) -> Spilled {
        let mut spill = Folders::new(vec![std::env::temp_dir()]).create(block).unwrap();
        bytes.chunks(7).for_each(|some| spill.write_all(some).unwrap());
        spill.finish().unwrap()
    }

    #[test]
    fn runs_come_back_as_they_were() {
        for length in [0, 1, 15, 16, 17, 32, 100] {
            let bytes: Vec<u8> = (0..length).collect();
            let run = spilled(&bytes, 16);
            assert_eq!(run.bytes(), bytes.len() as u64);
            let mut back = Vec::new();
            run.read().unwrap().read_to_end(&mut back).unwrap();
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn a_flipped_bit_and_a_lost_end_are_noticed() {
        let bytes = [5; 40];
        for damage in [true, false] {
            let mut run = spilled(&bytes, 16);
            if damage {
                run.file.seek(SeekFrom::Start(33)).unwrap();
                run.file.write_all(&[4]).unwrap();
            } else {
                run.file.set_len(39).unwrap();
            }
            let mut back = Vec::new();
            let error = run.read().unwrap().read_to_end(&mut back).unwrap_err();
            assert_eq!(back, bytes[..32]);
            assert_eq!(damage, error.to_string().contains("not what was written"), "{error}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_that_names_it() {
        let error = Folders::new(vec![PathBuf::from("/no/such folder")]).create(16).err().unwrap();
        assert!(error.to_string().contains("a temporary file in /no/such folder"), "{error}");
    }
}
