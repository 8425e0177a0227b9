//! Formats as named by flags.

use std::path::{Path, PathBuf};

use gpusort::unstable::io::{Extension, Format};
use gpusort::unstable::key::ElementType;

/// The output file, or `None` if it is another name of standard output.
pub(super) fn unless_stdout(output: Option<PathBuf>) -> Option<PathBuf> {
    let stdout = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].map(Path::new);
    output.filter(|output| !stdout.contains(&output.as_path()))
}

/// The format of the output and the element type implied by its extension, as far as determined.
pub(super) fn of_output(to: Option<Format>, output: Option<&Path>) -> Option<(Format, Option<ElementType>)> {
    let extension = output.map(Extension::of);
    // An explicit format overrides the extension.
    to.map(|format| (format, None)).or_else(|| {
        let Extension { format, element } = extension?;
        Some((format?, element))
    })
}
