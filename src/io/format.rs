//! Formats and file extensions.

use std::path::Path;

use super::compression::Compression;
use crate::key::ElementType;
use crate::names::named;

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
}

named!(Format, "format", {
    Text => "text",
    Lines => "lines",
    Binary => "bin",
    Csv => "csv",
    Tsv => "tsv",
    Npy => "npy",
});

impl Format {
    /// Whether it is text with rows and columns, or lines and fields.
    #[must_use]
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Lines)
    }

    /// Whether it holds elements as binary.
    #[must_use]
    pub fn is_bits(self) -> bool {
        matches!(self, Self::Binary | Self::Npy)
    }
}

/// The format and the element type that a file extension implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The format, if the extension is known.
    pub format: Option<Format>,
    /// The element type, if the extension is the name of one.
    pub element: Option<ElementType>,
}

impl Extension {
    /// The extension of this path, ignoring case; if that is one for compressed files, the one before it.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let path = Compression::of_name(path).map_or(path, |(_, name)| name);
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        let element: Option<ElementType> = extension.parse().ok();
        let format = match extension.as_str() {
            "bin" => Some(Format::Binary),
            "txt" => Some(Format::Text),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "npy" => Some(Format::Npy),
            _ => element.map(|_| Format::Binary),
        };
        Self { format, element }
    }
}
