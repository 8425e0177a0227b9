//! The formats that are recognised by their names or first bytes: compressed data, archives, and formats of other
//! programs.

use std::path::Path;
use std::{error, fmt};

use super::codec::Codec;
use super::gzip::Gzip;
use super::zstd::Zstd;
use crate::error::Hint;
use crate::format::Format;

/// A form of compressed data, in the order of the first entries of `FORMS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952; written in blocks, as `bgzip` writes it.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// A recognised compressed format, supported or not. `name` is also the name of its program.
struct Form {
    name: &'static str,
    extensions: &'static [&'static str],
    /// The first bytes, as patterns.
    begins: &'static [&'static [u8]],
    /// The compression, or the refusal of an unsupported format.
    is: Result<Compression, Foreign>,
}

/// The entry of an unsupported format.
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
static FORMS: [Form; 9] = [
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

    /// Returns the compression that the name of a file promises, if the whole file is only the beginning of
    /// its magic number.
    pub fn of_cut(path: &Path, bytes: &[u8]) -> Option<Self> {
        let form = Form::of_extension(path)?;
        let is_cut = |begin: &&[u8]| bytes.len() < begin.len() && begin.starts_with(bytes);
        form.is.as_ref().ok().filter(|_| form.begins.iter().any(is_cut)).copied()
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

/// An unsupported format.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    pub what: &'static str,
    /// The remedy: name the format if gpusort reads it, else convert the data.
    pub remedy: Hint,
}

const fn through(what: &'static str, command: &'static str) -> Foreign {
    Foreign { what, remedy: Hint::Through(command) }
}

/// Returns the entry of a format with columns. Builds that do not read columns name a command.
const fn columns(format: Format, what: &'static str, command: &'static str) -> Foreign {
    let is_read = cfg!(feature = "arrow");
    Foreign { what, remedy: if is_read { Hint::Format(format) } else { Hint::Through(command) } }
}

const DUCKDB: &str = "duckdb -csv -c \"from 'FILE'\"";
const PANDAS: &str = "python3 -c \"import pandas; print(pandas.read_orc('FILE').to_csv(index=False))\"";
const FEATHER: &str = "python3 -c \"import pandas; print(pandas.read_feather('FILE').to_csv(index=False))\"";

/// Patterns of formats other than compressions.
static OTHERS: [(&[u8], Foreign); 14] = [
    (b"PK\x03\x04", through("a zip archive or a spreadsheet", "unzip -p FILE")),
    (b"7z\xBC\xAF\x27\x1C", through("a 7z archive", "7z x -so FILE")),
    (b"PAR1!", columns(Format::Parquet, "Parquet", DUCKDB)),
    (b"ARROW1\0", columns(Format::Arrow, "Arrow", FEATHER)),
    (b"FEA1!", through("Feather", FEATHER)),
    (b"ORC!", through("ORC", PANDAS)),
    (b"Obj\x01", through("Avro", DUCKDB)),
    (b"SQLite format 3\0", through("an SQLite database", "sqlite3 -csv -header FILE 'select * from TABLE'")),
    (b"\x89HDF\r\n\x1A\n", through("HDF5", "h5dump FILE")),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", through("an Excel spreadsheet", "in2csv FILE")),
    (b"%PDF-", through("PDF", "pdftotext FILE -")),
    (b"\x93NUMPY", Foreign { what: "a .npy file", remedy: Hint::Format(Format::Npy) }),
    (b"\xFF\xFE@\0@\0", through("UTF-16", "iconv -f UTF-16 -t UTF-8 FILE")),
    (b"\xFE\xFF\0@\0@", through("UTF-16", "iconv -f UTF-16 -t UTF-8 FILE")),
];

/// The failure to read such data.
impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is {}, which is not supported", self.what)
    }
}

impl error::Error for Foreign {}

/// The compression (`None` if the data is not compressed), or the unsupported format.
pub(crate) type Known = Result<Option<Compression>, &'static Foreign>;

/// The number of first bytes that always decide.
pub(crate) const LONGEST: usize = 16;

/// Returns what these first bytes tell; `None` if more bytes are needed to decide.
pub(crate) fn beginning(bytes: &[u8]) -> Option<Known> {
    let mut is_short = false;
    for (begins, known) in patterns() {
        if begins.iter().zip(bytes).all(|(&pattern, &byte)| fits(pattern, byte)) {
            if bytes.len() >= begins.len() {
                return Some(known);
            }
            is_short = true;
        }
    }
    (!is_short).then_some(Ok(None))
}

/// Returns the patterns of first bytes.
fn patterns() -> impl Iterator<Item = (&'static [u8], Known)> {
    let compressed = FORMS.iter().flat_map(|form| {
        form.begins.iter().map(|begins| (*begins, form.is.as_ref().map(|&compression| Some(compression))))
    });
    compressed.chain(OTHERS.iter().map(|(begins, foreign)| (*begins, Err(foreign))))
}

/// Returns true if a byte fits a byte of a pattern.
fn fits(pattern: u8, byte: u8) -> bool {
    match pattern {
        // The level of bzip2.
        b'#' => byte.is_ascii_digit(),
        // A letter of UTF-16.
        b'@' => matches!(byte, 1..=0x7f),
        // The first byte of a skippable frame of zstd.
        b'_' => byte & 0xf0 == 0x50,
        // A byte that does not continue a text.
        b'!' => !matches!(byte, b'\t'..=b'\r' | b' '..=b'~'),
        _ => pattern == byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_what_is_no_text() {
        let said = |bytes: &[u8]| match beginning(bytes) {
            Some(Err(foreign)) => foreign.what,
            Some(Ok(Some(compression))) => compression.name(),
            Some(Ok(None)) => "text",
            None => "short",
        };
        for (begins, known) in patterns() {
            let sample = |byte: &u8| match byte {
                b'#' => b'9',
                b'@' => b'a',
                b'_' => b'P',
                b'!' => 0x15,
                &byte => byte,
            };
            let bytes: Vec<u8> = begins.iter().map(sample).chain(*b"\x15\x04").collect();
            assert_eq!(beginning(&bytes), Some(known));
            for length in [2.min(begins.len() - 1), begins.len() - 1] {
                assert_eq!(said(&bytes[..length]), "short", "{bytes:?}");
            }
            assert!(begins.len() <= LONGEST);
        }
        for text in ["1 2\n", "ORC 7\n", "PAR1\n", "PAR12", "BZh9 1", "PK 3", "7zip", "Objects", "Q\n", "\n"]
        {
            assert_eq!(said(text.as_bytes()), "text", "{text:?}");
        }
        // A skippable frame of zstd begins with one of P to _.
        assert_eq!((said(b"PAR1"), said(b"Q")), ("short", "short"));
        // UTF-16 begins with letters; other text may begin with the same bytes.
        assert_eq!((said(b"\xFF\xFEx\0,\0"), said(b"\xFF\xFEx\0,y")), ("UTF-16", "text"));
    }
}
