//! Checks formats and names of outputs.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpusort_base::human;

use gpusort::Format;
use gpusort_files::{Compression, Extension};

use super::args::OrderArgs;
use super::remedies::hints::BUILD;
use super::remedies::shell;

/// Returns the output file; `None` for standard output under any name.
pub(super) fn unless_stdout(output: Option<PathBuf>) -> Option<PathBuf> {
    let stdout = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].map(Path::new);
    output.filter(|output| !stdout.contains(&output.as_path()))
}

/// Extensions of archives, which gpusort does not write.
const ARCHIVES: &str = "zip 7z rar tar tgz jar";

/// Extensions of other formats that gpusort does not write.
const OTHERS: &str = "xlsx xls xlsm xlsb ods orc avro db sqlite sqlite3 duckdb h5 hdf5 nc zarr npz pkl pickle mat \
     rds rda dta sav xml html htm yaml yml toml pdf doc docx odt rtf png jpg jpeg gif webp svg svgz bmp tiff";

fn extension_of(path: &Path) -> String {
    path.extension().map(|it| it.to_ascii_lowercase().to_string_lossy().into_owned()).unwrap_or_default()
}

/// Refuses an output whose name promises a format or a compression that gpusort does not write. With `--to`,
/// only the compression and archives matter.
pub(super) fn check_output(
    output: Option<&Path>,
    to: Option<Format>,
    order: Option<&OrderArgs>,
) -> anyhow::Result<()> {
    let Some(output) = output else { return Ok(()) };
    let plain = Compression::of_name(output).map_or(output, |(_, name)| name);
    let extension = extension_of(plain);
    let is_of = |names: &str| names.split(' ').any(|name| name == extension);
    let name = human::path(output);
    if let Some(program) = Compression::program_of_name(plain) {
        let output = human::said(shell(&output.to_string_lossy()));
        let command = if order.is_some() { "sort" } else { "gen" };
        bail!("{name}: cannot write {program}; use: gpusort {command} ... | {program} > {output}");
    }
    let beside = output.with_file_name(plain.file_name().unwrap_or_default());
    if let Some(format) = Extension::of(output).format.filter(|format| format.has_columns()) {
        let is_written = cfg!(feature = "arrow") || to.is_some();
        let (is_packed, plain) = (plain != output, human::said(shell(&beside.to_string_lossy())));
        anyhow::ensure!(is_written, "{name}: this build does not write {}; {BUILD}", format.name());
        anyhow::ensure!(!is_packed, "{name}: {} is compressed internally; use -o {plain}", format.name());
        return Ok(());
    }
    if !is_of(ARCHIVES) && (to.is_some() || !is_of(OTHERS)) {
        return Ok(());
    }
    let input = order.and_then(|order| order.files.first()).map(|file| extension_of(file));
    let from = order.and_then(|order| order.from).map(Format::name);
    let is_table = |name: &&str| ["csv", "tsv", "jsonl", "parquet", "arrow"].contains(name);
    let other = [input.as_deref(), from].into_iter().flatten().find(is_table).unwrap_or("txt");
    let meant = human::said(shell(&beside.with_extension(other).to_string_lossy()));
    bail!("{name}: cannot write {extension}; use -o {meant}")
}

/// Refuses a file for a picture whose name promises another kind of picture than SVG.
pub(super) fn check_picture(path: &Path, option: &str) -> anyhow::Result<()> {
    let extension = extension_of(Compression::of_name(path).map_or(path, |(_, name)| name));
    if !extension.is_empty() && extension != "svg" {
        let svg = human::said(shell(&path.with_extension("svg").to_string_lossy()));
        bail!(
            "{}: pictures are SVG; use {option} {svg}, and convert it with rsvg-convert",
            human::path(path)
        );
    }
    Ok(())
}
