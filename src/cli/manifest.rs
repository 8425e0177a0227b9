//! `gpusort check manifest.json`: whether what a sort of many processes wrote is still there, in
//! order, and all of it.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Component, Path};

use anyhow::{Context, bail};
use clap::FromArgMatches;
use gpusort::ErrorKind;
use gpusort::files::Sort;
use gpusort::unstable::human;
use serde::Deserialize;

use super::args::{CheckArgs, Cli, Command, OrderArgs};
use super::sort::options;

/// What is read of a manifest.
#[derive(Deserialize)]
pub(super) struct Manifest {
    /// Options of `gpusort check` for the parts.
    check: Vec<String>,
    /// Rows that were left out because their keys were repeated.
    repeated: u64,
    parts: Vec<Part>,
    inputs: Vec<Source>,
}

#[derive(Deserialize)]
struct Part {
    name: String,
    bytes: u64,
    rows: u64,
    checksum: String,
    first: Vec<String>,
    last: Vec<String>,
}

#[derive(Deserialize)]
struct Source {
    checksum: String,
}

/// A sum of checksums as a manifest has it.
fn sum<'a>(checksums: impl Iterator<Item = &'a String>) -> anyhow::Result<u64> {
    checksums
        .map(|digits| Ok(u64::from_str_radix(digits, 16)?))
        .try_fold(0_u64, |sum, checksum| checksum.map(|checksum: u64| sum.wrapping_add(checksum)))
}

impl Manifest {
    /// The only file that is to be checked, if it is a manifest and nothing says what else it is.
    pub(super) fn of(order: &OrderArgs) -> anyhow::Result<Option<(Self, &Path)>> {
        let [path] = &order.files[..] else { return Ok(None) };
        let is_named = path.file_name().is_some_and(|name| name == "manifest.json");
        if !is_named || order.from.is_some() || !order.key.is_empty() {
            return Ok(None);
        }
        let name = || human::path(path);
        let mut file = BufReader::new(File::open(path).with_context(name)?);
        let mut begin = Vec::new();
        file.by_ref().take(64).read_to_end(&mut begin).with_context(name)?;
        if !String::from_utf8_lossy(&begin).contains("\"gpusort\"") {
            return Ok(None);
        }
        let manifest = serde_json::from_reader(begin.chain(file));
        Ok(Some((manifest.with_context(|| format!("{} is not a manifest", name()))?, path)))
    }

    /// What is wrong with the parts, each a line; if that is nothing, these arguments check their order.
    pub(super) fn differences(&self, path: &Path) -> anyhow::Result<(Vec<String>, CheckArgs)> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut args = self.arguments()?;
        let (mut problems, mut files) = (Vec::new(), Vec::new());
        let mut tell =
            |file: &Path, problem: &str| problems.push(format!("{}: {problem}", human::path(file)));
        for part in &self.parts {
            let name = Path::new(&part.name);
            let [Component::Normal(_)] = name.components().collect::<Vec<_>>()[..] else {
                bail!("{}: {:?} is no name of a part", human::path(path), part.name);
            };
            let file = folder.join(name);
            args.order.files = vec![file.clone()];
            if let Some(problem) = part.difference(&file, &args.order)? {
                tell(&file, &problem);
            }
            files.push(file);
        }
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            if name.to_string_lossy().starts_with("part-")
                && !self.parts.iter().any(|part| *part.name == *name)
            {
                tell(&folder.join(name), "is not in the manifest");
            }
        }
        let of_parts = sum(self.parts.iter().map(|part| &part.checksum))?;
        if self.repeated == 0 && of_parts != sum(self.inputs.iter().map(|input| &input.checksum))? {
            tell(path, "the parts have other records than the inputs");
        }
        args.order.files = files;
        Ok((problems, args))
    }

    /// The arguments of a check of parts, without these.
    fn arguments(&self) -> anyhow::Result<CheckArgs> {
        let all = ["gpusort", "check"].into_iter().chain(self.check.iter().map(String::as_str));
        let matches = super::command()
            .try_get_matches_from(all)
            .context("manifest.json has options that are none of check")?;
        match Cli::from_arg_matches(&matches)?.command {
            Command::Check(args) => Ok(args),
            _ => bail!("a manifest has options of another command"),
        }
    }
}

impl Part {
    /// What is wrong with this part, which is read as these say.
    fn difference(&self, file: &Path, order: &OrderArgs) -> anyhow::Result<Option<String>> {
        let Ok(metadata) = fs::metadata(file) else { return Ok(Some("is missing".to_owned())) };
        if metadata.len() != self.bytes {
            let now = human::counted(metadata.len(), "byte", "bytes");
            return Ok(Some(format!("has {now}, of {} that were written", self.bytes)));
        }
        let tally = match Sort::new().options(options::of(order)?).tally() {
            Err(error) if !matches!(error.kind(), ErrorKind::Io { .. }) => {
                return Ok(Some(error.to_string()));
            }
            tally => tally?,
        };
        let is_same = tally.records == self.rows
            && tally.checksum == u64::from_str_radix(&self.checksum, 16)?
            && (&tally.first, &tally.last) == (&self.first, &self.last);
        Ok((!is_same).then(|| "has other records than were written".to_owned()))
    }
}
