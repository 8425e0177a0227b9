//! Recognizes unsupported data by its first bytes: other compression, archives, and formats of
//! other programs.

use std::{error, fmt};

use super::kind::Compression;
use crate::format::Format;

/// The form of data, as its first bytes tell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    Of(Compression),
    /// An unsupported format.
    Foreign(&'static Foreign),
    Other,
    /// More bytes are needed to decide.
    Short,
}

impl Beginning {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let begins = |magic: &[u8]| bytes.iter().zip(magic).all(|(byte, magic)| byte == magic);
        // The first byte of a skippable frame of zstd is any of sixteen.
        let after_first = bytes.get(1..).unwrap_or_default();
        let is_skippable = bytes.first().is_none_or(|first| first & 0xf0 == 0x50)
            && after_first.iter().zip([0x2a, 0x4d, 0x18]).all(|(&byte, magic)| byte == magic);
        let forms = [
            (begins(&[0x1f, 0x8b]), 2, Compression::Gzip),
            (begins(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skippable, 4, Compression::Zstd),
        ];
        match forms.iter().find(|(begins, ..)| *begins) {
            Some(&(_, length, compression)) if bytes.len() >= length => Self::Of(compression),
            Some(_) => Self::Short,
            None => says(bytes),
        }
    }
}

/// A kind of such data.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    begins: &'static [u8],
    /// True if text may begin with these bytes, so that the next byte decides.
    is_like_text: bool,
    pub what: &'static str,
    pub remedy: Remedy,
}

/// The way to read it.
#[derive(Debug, PartialEq, Eq)]
pub enum Remedy {
    /// gpusort, when this is the format of the input.
    Format(Format),
    /// This command, which prints it as text.
    Command(&'static str),
}

const fn begins(begins: &'static [u8], what: &'static str, command: &'static str) -> Foreign {
    Foreign { begins, is_like_text: false, what, remedy: Remedy::Command(command) }
}

const fn begins_like_text(begins: &'static [u8], what: &'static str, command: &'static str) -> Foreign {
    Foreign { is_like_text: true, ..self::begins(begins, what, command) }
}

/// Returns the entry of a format that some builds read; other builds name a command.
const fn read_as(format: Format, is_read: bool, other: Foreign) -> Foreign {
    if is_read { Foreign { remedy: Remedy::Format(format), ..other } } else { other }
}

const DUCKDB: &str = "duckdb -csv -c \"from 'FILE'\"";
const PANDAS: &str = "python3 -c \"import pandas; print(pandas.read_orc('FILE').to_csv(index=False))\"";
const FEATHER: &str = "python3 -c \"import pandas; print(pandas.read_feather('FILE').to_csv(index=False))\"";

const HAS_COLUMNS: bool = cfg!(feature = "arrow");

static ALL: [Foreign; 19] = [
    begins(b"\xFD7zXZ\0", "compressed with xz", "xz -dc FILE"),
    begins(b"BZh\x001AY&SY", "compressed with bzip2", "bzip2 -dc FILE"),
    begins(b"BZh\0\x17\x72\x45\x38\x50\x90", "compressed with bzip2", "bzip2 -dc FILE"),
    begins(b"\x04\x22\x4D\x18", "compressed with lz4", "lz4 -dc FILE"),
    begins(b"LZIP\x01", "compressed with lzip", "lzip -dc FILE"),
    begins(b"PK\x03\x04", "a zip archive or a spreadsheet", "unzip -p FILE"),
    begins(b"7z\xBC\xAF\x27\x1C", "a 7z archive", "7z x -so FILE"),
    read_as(Format::Parquet, HAS_COLUMNS, begins_like_text(b"PAR1", "Parquet", DUCKDB)),
    read_as(Format::Arrow, HAS_COLUMNS, begins(b"ARROW1\0", "Arrow", FEATHER)),
    begins_like_text(b"FEA1", "Feather", FEATHER),
    begins_like_text(b"ORC", "ORC", PANDAS),
    begins(b"Obj\x01", "Avro", DUCKDB),
    begins(b"SQLite format 3\0", "an SQLite database", "sqlite3 -csv -header FILE 'select * from TABLE'"),
    begins(b"\x89HDF\r\n\x1A\n", "HDF5", "h5dump FILE"),
    begins(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Excel spreadsheet", "in2csv FILE"),
    begins(b"%PDF-", "PDF", "pdftotext FILE -"),
    read_as(Format::Npy, true, begins(b"\x93NUMPY", "a .npy file", "")),
    begins(b"\xFF\xFEa\0b\0", "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"),
    begins(b"\xFE\xFF\0a\0b", "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"),
];

/// The number of first bytes that always decide.
pub(crate) const LONGEST: usize = 16;

/// Returns the format of data with these first bytes, unless gpusort reads the format.
pub(super) fn says(bytes: &[u8]) -> Beginning {
    let mut is_short = false;
    for foreign in &ALL {
        let mut known = foreign.begins.iter().zip(bytes).enumerate();
        // bzip2 has the digit of its level there, and UTF-16 any letters.
        let is_level = |at, byte: &u8| foreign.begins.starts_with(b"BZh") && at == 3 && byte.is_ascii_digit();
        let is_letter = |begins: &u8, byte: &u8| {
            foreign.what == "UTF-16" && begins.is_ascii_alphabetic() && byte.is_ascii() && *byte != 0
        };
        if !known.all(|(at, (begins, byte))| begins == byte || is_level(at, byte) || is_letter(begins, byte))
        {
            continue;
        }
        match bytes.get(foreign.begins.len()) {
            Some(b' ' | b'!'..=b'~' | b'\t'..=b'\r') if foreign.is_like_text => {}
            None if foreign.is_like_text || bytes.len() < foreign.begins.len() => is_short = true,
            _ => return Beginning::Foreign(foreign),
        }
    }
    if is_short { Beginning::Short } else { Beginning::Other }
}

/// The failure to read such data.
impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is {}, which is not supported", self.what)
    }
}

impl error::Error for Foreign {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_what_is_no_text() {
        let said = |bytes: &[u8]| match says(bytes) {
            Beginning::Foreign(foreign) => foreign.what,
            Beginning::Short => "short",
            _ => "text",
        };
        for foreign in &ALL {
            let bytes = [foreign.begins, b"\x15\x04"].concat();
            let bytes = if bytes.starts_with(b"BZh") { [b"BZh9", &bytes[4..]].concat() } else { bytes };
            assert_eq!(said(&bytes), foreign.what);
            assert_eq!(said(&bytes[..2]), "short", "{foreign:?}");
            assert!(foreign.begins.len() < LONGEST + usize::from(!foreign.is_like_text));
        }
        for text in ["1 2\n", "ORC 7\n", "PAR1\n", "PAR12", "BZh9 1", "PK 3", "7zip", "Objects", "Q", "\n"] {
            assert_eq!(said(text.as_bytes()), "text", "{text:?}");
        }
        assert_eq!(said(b"PAR1"), "short");
        // UTF-16 begins with letters; other text may begin with the same bytes.
        assert_eq!((said(b"\xFF\xFEx\0,\0"), said(b"\xFF\xFEx\0,y")), ("UTF-16", "text"));
    }
}
