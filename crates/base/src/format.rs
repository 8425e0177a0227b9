//! Formats of files, by name.

use gpusort_order::named;

/// A data format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Numbers separated by white space.
    Text,
    /// Elements as their bits, little-endian.
    Binary,
    /// `NumPy` files with one array.
    Npy,
    /// Rows of fields separated by commas.
    Csv,
    /// Rows of fields separated by tabs.
    Tsv,
    /// Lines of any number of fields, separated by blanks.
    Lines,
    /// Lines that are a JSON value each, mostly an object.
    JsonLines,
    /// Parquet: a table of columns.
    Parquet,
    /// Arrow's files and streams: a table of columns.
    Arrow,
}

named!(Format, "format", {
    Text => "text",
    Lines => "lines",
    Binary => "bin",
    Csv => "csv",
    Tsv => "tsv",
    Npy => "npy",
    JsonLines => "jsonl",
    Parquet => "parquet",
    Arrow => "arrow",
});

impl Format {
    /// Whether it is text with rows and columns, or lines and fields.
    #[must_use]
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Lines | Self::JsonLines)
    }

    /// Whether it is a table of columns of types that are said.
    #[must_use]
    pub fn has_columns(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Whether it holds elements as binary.
    #[must_use]
    pub fn is_bits(self) -> bool {
        matches!(self, Self::Binary | Self::Npy)
    }
}
