//! Formats, as flags and extensions name them.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpusort::key::ElementType;

use super::args::OutputFormatArg;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary,
}

/// What a file's extension says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    Binary(Option<ElementType>),
    Text,
    /// Known, but not to be read or written yet.
    Unsupported,
    Unknown,
}

impl Extension {
    pub(super) fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "bin" => Self::Binary(None),
            "txt" => Self::Text,
            "csv" | "tsv" | "npy" | "u8" | "i8" | "u16" | "i16" | "f16" => Self::Unsupported,
            other => other.parse().map_or(Self::Unknown, |element| Self::Binary(Some(element))),
        }
    }

    /// The element type that it names.
    pub(super) fn element(self) -> Option<ElementType> {
        match self {
            Self::Binary(element) => element,
            Self::Text | Self::Unsupported | Self::Unknown => None,
        }
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
) -> anyhow::Result<Option<(Format, Option<ElementType>)>> {
    Ok(match (to, output.map_or(Extension::Unknown, Extension::of)) {
        (Some(OutputFormatArg::Text), _) | (None, Extension::Text) => Some((Format::Text, None)),
        (Some(OutputFormatArg::Bin), _) => Some((Format::Binary, None)),
        (Some(to), _) => bail!("--to {} is not supported yet; text and bin are", name_of(&to)),
        (None, Extension::Binary(element)) => Some((Format::Binary, element)),
        (None, Extension::Unsupported) => {
            let output = output.unwrap_or(Path::new(""));
            bail!("{}: this output format is not supported yet; --to text or --to bin are", output.display());
        }
        (None, Extension::Unknown) => None,
    })
}

/// The name of a flag's value.
pub(super) fn name_of(value: &impl clap::ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
