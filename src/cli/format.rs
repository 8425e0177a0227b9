//! Formats, as flags and extensions name them.

use std::path::{Path, PathBuf};

use gpusort::key::ElementType;

use super::args::OutputFormatArg;

/// How data is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary,
    Npy,
    Csv,
    Tsv,
}

impl Format {
    /// The name that flags give it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Binary => "bin",
            Self::Npy => "npy",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
        }
    }

    /// Whether it is text of rows and columns.
    pub(super) fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Whether it holds elements as their bits.
    pub(super) fn is_bits(self) -> bool {
        matches!(self, Self::Binary | Self::Npy)
    }
}

/// What a file's extension says of it: the format, and the element type that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extension {
    pub(super) format: Option<Format>,
    pub(super) element: Option<ElementType>,
}

impl Extension {
    pub(super) fn of(path: &Path) -> Self {
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

/// The output file, or `None` where it is standard output under another name.
pub(super) fn unless_stdout(output: Option<PathBuf>) -> Option<PathBuf> {
    let stdout = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].map(Path::new);
    output.filter(|output| !stdout.contains(&output.as_path()))
}

/// The format of the output and the element type that its extension promises, where `--to` or the
/// extension tells.
pub(super) fn of_output(
    to: Option<OutputFormatArg>,
    output: Option<&Path>,
) -> Option<(Format, Option<ElementType>)> {
    let named = to.map(|to| match to {
        OutputFormatArg::Text => Format::Text,
        OutputFormatArg::Bin => Format::Binary,
        OutputFormatArg::Csv => Format::Csv,
        OutputFormatArg::Tsv => Format::Tsv,
        OutputFormatArg::Npy => Format::Npy,
    });
    let extension = output.map(Extension::of);
    // What is asked for by name is written, whatever the extension would promise.
    named.map(|format| (format, None)).or_else(|| {
        let Extension { format, element } = extension?;
        Some((format?, element))
    })
}
