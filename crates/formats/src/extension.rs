//! Formats by file extension.

use std::path::Path;

use gpusort_order::key::ElementType;

use super::compression::Compression;
use crate::format::Format;

/// The format and the element type that a file extension implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The format, if the extension is known.
    pub format: Option<Format>,
    /// The element type, if the extension is the name of one.
    pub element: Option<ElementType>,
}

impl Extension {
    /// Returns the extension of this path, in any case. Before an extension of compressed files, the extension
    /// before it counts.
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
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Format::Arrow),
            "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
            _ => element.map(|_| Format::Binary),
        };
        Self { format, element }
    }

    /// Returns the format of an output, from the requested format or from its name, and the element type that
    /// the name implies.
    pub fn of_output(to: Option<Format>, output: Option<&Path>) -> Option<(Format, Option<ElementType>)> {
        // An explicit format overrides the extension.
        to.map(|format| (format, None)).or_else(|| {
            let Self { format, element } = Self::of(output?);
            Some((format?, element))
        })
    }
}
