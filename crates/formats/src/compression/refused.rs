//! Formats that are recognized, but not read.

use std::{error, fmt};

use crate::error::Hint;
use crate::format::Format;

/// An unsupported format.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    pub what: &'static str,
    /// What to do: name the format if gpusort reads it, else convert the data.
    pub remedy: Hint,
}

pub(super) const fn through(what: &'static str, command: &'static str) -> Foreign {
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

/// Patterns of formats that are no compression.
pub(super) static OTHERS: [(&[u8], Foreign); 14] = [
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
