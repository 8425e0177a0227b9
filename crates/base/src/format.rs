//! Formats of files, by name.

use gpusort_order::named;

/// A data format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Numbers separated by white space.
    Text,
    /// Elements as their bits, in little-endian order.
    Binary,
    /// `NumPy` files with one array.
    Npy,
    /// Rows of fields separated by commas.
    Csv,
    /// Rows of fields separated by tabs.
    Tsv,
    /// Lines of any number of fields, separated by blanks.
    Lines,
    /// Lines with one JSON value each, usually an object.
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
    /// Returns true for text with rows and columns, or with lines and fields.
    #[must_use]
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Lines | Self::JsonLines)
    }

    /// Returns true for a table whose columns declare their types.
    #[must_use]
    pub fn has_columns(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Returns true for formats with elements in binary.
    #[must_use]
    pub fn is_bits(self) -> bool {
        matches!(self, Self::Binary | Self::Npy)
    }
}
