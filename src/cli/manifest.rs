//! `gpusort check manifest.json`: checks that the files of a folder are complete, unchanged and in order.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::FromArgMatches;
use gpusort::files::{Key, Options};
use gpusort_base::human;
use gpusort_files::checksum;
use serde::Deserialize;

use super::args::{CheckArgs, Cli, Command, OrderArgs};
use super::sort::options;

/// A manifest.
#[derive(Deserialize)]
struct Manifest {
    /// The options of `gpusort check` for the parts. The next fields cannot be written as options.
    check: Vec<String>,
    keys: Vec<(String, Option<bool>)>,
    na: Vec<String>,
    ignore_case: bool,
    rows: u64,
    /// `None` for rows of columns.
    checksum: Option<String>,
    /// The number of rows left out because their keys were repeated.
    #[serde(default)]
    repeated: u64,
    parts: Vec<Part>,
    #[serde(default)]
    inputs: Vec<Source>,
}

#[derive(Deserialize)]
struct Part {
    name: String,
    bytes: u64,
    /// The checksum of the whole file.
    xxh3: String,
    rows: u64,
    /// The checksum of the records; `None` for rows of columns.
    checksum: Option<String>,
}

#[derive(Deserialize)]
struct Source {
    checksum: String,
}

/// The options of a check of the order of the parts, or `None` without parts; descriptions of problems if the
/// folder differs from its manifest, a line each.
pub(super) type Found = Result<Option<Options>, Vec<String>>;

fn parsed(digits: &str) -> anyhow::Result<u64> {
    u64::from_str_radix(digits, 16).with_context(|| format!("{digits:?} is not a checksum"))
}

/// The sum of checksums as a manifest has them.
fn sum<'a>(checksums: impl Iterator<Item = &'a String>) -> anyhow::Result<u64> {
    checksums.map(|digits| parsed(digits)).try_fold(0_u64, |sum, checksum| Ok(sum.wrapping_add(checksum?)))
}

/// Compares the only file to check with its folder, if the file is a manifest and no option names another
/// format or key.
pub(super) fn find(order: &OrderArgs) -> anyhow::Result<Option<Found>> {
    let [path] = &order.files[..] else { return Ok(None) };
    let is_named = path.file_name().is_some_and(|name| name == "manifest.json");
    if !is_named || order.from.is_some() || !order.key.is_empty() {
        return Ok(None);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut begin = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(64).read_to_end(&mut begin))
        .with_context(|| human::path(path))?;
    // One that was cut off, or emptied, is still one where a sort has ended.
    if !String::from_utf8_lossy(&begin).contains("\"gpusort\"") && !folder.join("_SUCCESS").exists() {
        return Ok(None);
    }
    let text = fs::read(path).with_context(|| human::path(path))?;
    let found = serde_json::from_slice(&text)
        .map_err(anyhow::Error::new)
        .and_then(|manifest: Manifest| manifest.compared(folder));
    Ok(Some(
        found
            .unwrap_or_else(|problem| Err(vec![format!("{}: not a manifest: {problem}", human::path(path))])),
    ))
}

impl Manifest {
    fn compared(&self, folder: &Path) -> anyhow::Result<Found> {
        let mut problems = Vec::new();
        let mut tell = |name: &str, problem: &str| {
            problems.push(format!("{}: {problem}", human::path(&folder.join(name))));
        };
        if !folder.join("_SUCCESS").exists() {
            tell("_SUCCESS", "is missing: the sort did not finish, or the copy is incomplete");
        }
        let mut files = Vec::new();
        for part in &self.parts {
            let components: Vec<Component> = Path::new(&part.name).components().collect();
            let [Component::Normal(_)] = components[..] else {
                anyhow::bail!("{:?} is not the name of a part", part.name)
            };
            let file = folder.join(&part.name);
            if let Some(problem) = part.difference(&file)? {
                tell(&part.name, &problem);
            }
            files.push(file);
        }
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.starts_with("part-") && !self.parts.iter().any(|part| part.name == name) {
                tell(&name, "is not in the manifest");
            }
        }
        let rows: u64 = self.parts.iter().map(|part| part.rows).sum();
        let of_parts = sum(self.parts.iter().filter_map(|part| part.checksum.as_ref()))?;
        if rows != self.rows || of_parts != sum(self.checksum.iter())? {
            tell("manifest.json", "the totals do not match the parts");
        }
        if self.repeated == 0 && of_parts != sum(self.inputs.iter().map(|input| &input.checksum))? {
            tell("manifest.json", "the parts do not contain exactly the input records");
        }
        // Rows of columns without keys are in an order that Parquet cannot tell.
        let has_order = self.checksum.is_some() || !self.keys.is_empty();
        let options = (!files.is_empty() && has_order).then(|| self.options(files)).transpose()?;
        Ok(if problems.is_empty() { Ok(options) } else { Err(problems) })
    }

    /// The options of a check of these files.
    fn options(&self, files: Vec<PathBuf>) -> anyhow::Result<Options> {
        let all = ["gpusort", "check"].into_iter().chain(self.check.iter().map(String::as_str));
        let matches = super::command().try_get_matches_from(all);
        let Command::Check(CheckArgs { mut order, .. }) =
            Cli::from_arg_matches(&matches.context("it names options that check does not have")?)?.command
        else {
            anyhow::bail!("it names another command")
        };
        order.files = files;
        let mut options = options::of(&order)?;
        for (name, descending) in &self.keys {
            options = options.key(match descending {
                None => Key::parse(name),
                Some(true) => Key::column(name.clone()).descending(),
                Some(false) => Key::column(name.clone()).ascending(),
            });
        }
        options = self.na.iter().fold(options, Options::na);
        Ok(if self.ignore_case { options.ignore_case() } else { options })
    }
}

impl Part {
    /// Describes how the file differs from this part.
    fn difference(&self, file: &Path) -> anyhow::Result<Option<String>> {
        let Ok(metadata) = fs::metadata(file) else { return Ok(Some("is missing".to_owned())) };
        if metadata.len() != self.bytes {
            let now = human::counted(metadata.len(), "byte", "bytes");
            let then = human::counted(self.bytes, "byte", "bytes");
            return Ok(Some(format!("has {now}, but {then} were written")));
        }
        let is_same = checksum(file).with_context(|| human::path(file))? == parsed(&self.xxh3)?;
        Ok((!is_same).then(|| "differs from what was written".to_owned()))
    }
}
