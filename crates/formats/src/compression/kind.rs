//! The compressions, and all formats of compressed data that are known by name.

use std::path::Path;

use super::codec::Codec;
use super::gzip::Gzip;
use super::refused::{Foreign, through};
use super::zstd::Zstd;

/// A form of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952; written in blocks, as `bgzip` writes it.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// A format of compressed data. The program that compresses and decompresses the format has the same name.
pub(super) struct Form {
    name: &'static str,
    extensions: &'static [&'static str],
    /// The first bytes, as patterns.
    pub(super) begins: &'static [&'static [u8]],
    /// The compression, or the refusal of a format that is neither read nor written.
    pub(super) is: Result<Compression, Foreign>,
}

/// The entry of a format that is neither read nor written.
macro_rules! refused {
    ($name:literal, $extensions:expr, $begins:expr) => {
        Form {
            name: $name,
            extensions: &$extensions,
            begins: &$begins,
            is: Err(through(concat!("compressed with ", $name), concat!($name, " -dc FILE"))),
        }
    };
}

/// The formats; first the compressions, in the order of the type.
pub(super) static FORMS: [Form; 9] = [
    Form { name: "gzip", extensions: &["gz", "bgz"], begins: &[b"\x1f\x8b"], is: Ok(Compression::Gzip) },
    Form {
        name: "zstd",
        extensions: &["zst"],
        begins: &[b"(\xb5/\xfd", b"_*M\x18"],
        is: Ok(Compression::Zstd),
    },
    refused!("xz", ["xz", "txz"], [b"\xFD7zXZ\0"]),
    refused!("bzip2", ["bz2", "tbz", "tbz2"], [b"BZh#1AY&SY", b"BZh#\x17\x72\x45\x38\x50\x90"]),
    refused!("lz4", ["lz4"], [b"\x04\x22\x4D\x18"]),
    refused!("lzip", ["lz"], [b"LZIP\x01"]),
    refused!("lzma", ["lzma"], []),
    refused!("brotli", ["br"], []),
    refused!("compress", ["z"], []),
];

impl Compression {
    /// All compressions.
    pub const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// The name of the format.
    pub fn name(self) -> &'static str {
        FORMS[self as usize].name
    }

    pub(super) fn codec(self) -> &'static dyn Codec {
        match self {
            Self::Gzip => &Gzip,
            Self::Zstd => &Zstd,
        }
    }

    /// Returns the compression that a file's extension tells, and the name without this extension.
    pub fn of_name(path: &Path) -> Option<(Self, &Path)> {
        let form = Form::of_extension(path)?;
        Some((*form.is.as_ref().ok()?, Path::new(path.file_stem()?)))
    }

    /// Returns the program that compresses files with this file's extension, if gpusort does not.
    pub fn program_of_name(path: &Path) -> Option<&'static str> {
        Form::of_extension(path).filter(|form| form.is.is_err()).map(|form| form.name)
    }
}

impl Form {
    fn of_extension(path: &Path) -> Option<&'static Self> {
        let extension = path.extension()?.to_str()?;
        FORMS.iter().find(|form| form.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)))
    }
}
