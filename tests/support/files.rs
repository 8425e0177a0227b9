//! Scratch folders, fixtures, and files of known content.

use std::fs;
use std::path::{Path, PathBuf};

use super::inputs::random;

/// A folder of its own for a test, and paths in it as arguments.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The folder itself.
    pub fn root(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn arg(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.arg(name)
    }

    /// A named pipe.
    #[cfg(unix)]
    pub fn fifo(&self, name: &str) -> String {
        let path = self.arg(name);
        let name = std::ffi::CString::new(path.as_str()).unwrap();
        // SAFETY: the name ends in NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0, "{path}");
        path
    }

    /// The sorted names of all files in it.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// The path of a file in `fixtures/`.
pub fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).to_str().unwrap().to_owned()
}

/// The numbers from 1 to `n`, a line each, in random order.
pub fn shuffled_lines(n: usize) -> String {
    let mut numbers: Vec<(u64, usize)> = random(n as u64).take(n).zip(1..).collect();
    numbers.sort_unstable();
    numbers.iter().map(|(_, number)| format!("{number}\n")).collect()
}

/// The numbers from 1 to `n`, a line each.
pub fn lines_to(n: usize) -> String {
    (1..=n).map(|number| format!("{number}\n")).collect()
}

/// The numbers below `n`, a line each, the largest first.
pub fn falling_lines(n: usize) -> String {
    (0..n).rev().map(|number| format!("{number}\n")).collect()
}

/// A .npy file of these parts, which need not fit together.
pub fn npy_of(descr: &[u8], shape: &str, elements: &[u8]) -> Vec<u8> {
    let header =
        [b"{'descr': '", descr, b"', 'fortran_order': False, 'shape': ", shape.as_bytes(), b", }"].concat();
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], &header, elements].concat()
}

/// The path of each Rust source in this folder, and its text, in order.
pub fn sources(folder: &str) -> Vec<(String, String)> {
    let (mut sources, mut left) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = left.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.display().to_string().replace('\\', "/");
                sources.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    sources.sort();
    sources
}
