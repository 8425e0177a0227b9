//! The forms of compressed data.

use std::path::Path;

/// A form of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// RFC 1952; written in blocks, as `bgzip` writes it.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Compression {
    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the compression that a file's extension tells, and the name without this extension.
    pub fn of_name(path: &Path) -> Option<(Self, &Path)> {
        let extension = path.extension()?;
        let compression = match extension.to_ascii_lowercase().to_str()? {
            "gz" | "bgz" => Self::Gzip,
            "zst" => Self::Zstd,
            _ => return None,
        };
        path.file_stem().map(|stem| (compression, Path::new(stem)))
    }
}
