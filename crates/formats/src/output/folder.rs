//! A folder of new files that get their names together, once all of them are complete.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::replacement::Replacement;
use super::under_way::{Registered, undisturbed, until};

/// The files of a folder.
pub(super) struct Folder {
    path: PathBuf,
    /// The registered path of a folder that did not exist, until its files have names.
    made: Option<Registered>,
    files: Vec<Replacement>,
    /// The size and the hash of the current file.
    size: u64,
    hash: Xxh3,
}

impl Folder {
    /// Creates the folder, unless it exists and is empty.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        // Complete files stay open until the last file is complete.
        #[cfg(unix)]
        let _ = crate::input::opened::raise_limit();
        let made = undisturbed(|| match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match fs::read_dir(path)?.next() {
                Some(_) => Err(io::Error::other("the folder is not empty; name a new folder")),
                None => Ok(None),
            },
            made => made.map(|()| Some(Registered::new(path))),
        })?;
        Ok(Self { path: path.to_owned(), made, files: Vec::new(), size: 0, hash: Xxh3::new() })
    }

    /// Begins the next file.
    pub(super) fn begin(&mut self, name: &str) -> io::Result<()> {
        self.files.push(Replacement::new(&self.path.join(name), &self.path, None)?);
        self.size = 0;
        self.hash.reset();
        Ok(())
    }

    /// Returns the size of the current file and the xxh3 of its bytes.
    pub(super) fn current(&self) -> (u64, u64) {
        (self.size, self.hash.digest())
    }

    /// Names the files in order; `last` marks the last output of the process. After an error, every file is without a
    /// name.
    pub(super) fn place(mut self, last: bool) -> io::Result<()> {
        self.files.iter_mut().try_for_each(Replacement::complete)?;
        let name_all = || {
            for number in 0..self.files.len() {
                let exists = self.files[number].target.try_exists();
                let named = exists.and_then(|exists| {
                    if exists { Err(ErrorKind::AlreadyExists.into()) } else { self.files[number].name_it() }
                });
                if named.is_err() {
                    let _ = self.files[..number].iter().try_for_each(|file| fs::remove_file(&file.target));
                    return named;
                }
            }
            self.made = None;
            Ok(())
        };
        until(name_all, |placed| last && placed.is_ok())
    }
}

impl Write for Folder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.files.last_mut().expect("a file has begun").file.write(bytes)?;
        self.size += count as u64;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.files.clear();
        if self.made.is_some() {
            undisturbed(|| {
                // Files of another program keep the folder.
                let _ = fs::remove_dir(&self.path);
                self.made = None;
            });
        }
    }
}
