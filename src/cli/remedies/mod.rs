//! Suggests the intended command for an invalid command line, or one with a likely mistake.

pub(super) mod hints;
pub(super) mod usage;

use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{anyhow, bail};
use clap::error::{ContextKind, ContextValue};
use gpusort::{Error, Hint};
use gpusort_base::human;
use gpusort_files::{Compression, Extension};

use crate::cli::args::{OrderArgs, SORTS};

/// Options of other programs, with the equivalent arguments here.
const ELSEWHERE: [(&[&str], &str); 24] = [
    (&["--desc", "--descending"], "-r"),
    (&["--limit", "--head", "--first", "--nsmallest", "--lines"], "--top"),
    (&["--tail", "--last", "--nlargest"], "-r --top"),
    (&["--by", "--sort-by", "--order-by", "--column", "--columns", "--col", "--field", "--select"], "-k"),
    (&["--output-format", "--out-format"], "--to"),
    (&["--format", "--input-format"], "--from"),
    (&["--csv"], "--from csv"),
    (&["--tsv", "--tabs"], "--from tsv"),
    (&["--field-separator", "--separator", "--sep"], "--delimiter"),
    (&["--no-headers", "--no-header-row"], "--no-header"),
    (&["--has-header", "--headers"], "--header"),
    (&["--uniq", "--distinct", "--dedup", "--drop-duplicates"], "--unique"),
    (&["--na-position"], "--empty"),
    (&["--nulls-first"], "--empty first"),
    (&["--nulls-last"], "--empty last"),
    (&["--out", "--outfile", "--output-file"], "-o"),
    (&["--inplace", "--overwrite"], "--each --in-place"),
    (&["--threads", "--jobs", "--workers"], "--parallel"),
    (&["--tmp-dir", "--tmpdir", "--tempdir"], "--temp-dir"),
    (&["--max-memory", "--memory-limit", "--mem"], "--memory"),
    (&["--cpu"], "-d cpu"),
    (&["--gpu"], "-d gpu"),
    (&["--algorithm"], "--algo"),
    // Needless: these name the default order.
    (&["--asc", "--ascending", "--numeric"], ""),
];

/// Options of `sort` that gpusort lacks, with the advice for each.
const OF_SORT: [(&[&str], &str); 7] = [
    (&["-M", "--month-sort"], "is not an option; use -t month, or -k 2:month for field 2"),
    (&["-R", "--random-sort"], "is not supported; use 'gpusort shuffle'"),
    (
        &["-i", "--ignore-nonprinting", "--dictionary-order"],
        "is not supported: every byte of text counts; leave it out",
    ),
    (&["--batch-size"], "is not needed: gpusort chooses how many runs it merges at once; leave it out"),
    (&["--compress-program"], "is not supported: temporary files are not compressed; leave it out"),
    (&["--sort"], "is not supported; use -n, -g, -h or -V"),
    (&["--debug"], "is not supported; -v reports how the input was read"),
];

/// Quotes an argument for a shell.
pub(super) fn shell(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// Formats these arguments as a command to type.
fn command<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    let words = arguments.into_iter().filter(|word| !word.is_empty()).map(shell);
    human::said(format!("gpusort {}", words.collect::<Vec<_>>().join(" ")))
}

/// Returns true if the command line is valid.
fn is_command(arguments: &[&str]) -> bool {
    crate::cli::command().try_get_matches_from(["gpusort"].iter().chain(arguments)).is_ok()
}

/// Returns the arguments of this process from the command on; none if one of them is not Unicode.
fn typed() -> Vec<&'static str> {
    let all: Option<Vec<&str>> =
        crate::cli::ARGUMENTS.iter().skip(1).map(|argument| argument.to_str()).collect();
    all.unwrap_or_default()
}

/// Refuses a mistyped command: a first word that names no file, but resembles a command.
pub(super) fn check_command() -> anyhow::Result<()> {
    let all = typed();
    // If `sort` was inserted, the first typed word is now the second.
    let first = std::env::args_os().nth(1).and_then(|first| first.into_string().ok());
    let Some(first) = first.filter(|first| all.get(1) == Some(&&**first)) else { return Ok(()) };
    if first.starts_with('-') || Path::new(&first).exists() {
        return Ok(());
    }
    let unknown = crate::cli::command().try_get_matches_from(["gpusort", &first]).err();
    let similar = unknown.as_ref().and_then(|error| error.get(ContextKind::SuggestedSubcommand));
    if let Some(ContextValue::Strings(names)) = similar
        && let Some(name) = names.first()
    {
        let meant = command([&[&**name], &all[2..]].concat());
        bail!("{}: no such file or command; use: {meant}, or {}", human::quoted(&first), command(all));
    }
    Ok(())
}

/// Suggests a replacement for the argument `unknown`.
pub(super) fn by_arguments(unknown: &str) -> Option<String> {
    let all = typed();
    if !SORTS.contains(all.first()?) {
        return None;
    }
    if let Some((name, other, meant)) = elsewhere(&all, unknown) {
        let problem = if other.is_empty() { "is not needed" } else { "is not an option" };
        return Some(match other {
            _ if is_command(&meant) => format!("{name} {problem}; use: {}", command(meant)),
            "" => format!("{name} {problem}; leave it out"),
            other => format!("{name} {problem}; use {other}"),
        });
    }
    // The counts of `head`, -5 or -n5; `unknown` is the first digit.
    let count = |argument: &str| {
        let digits = argument.strip_prefix("-n").or_else(|| argument.strip_prefix('-'))?.to_owned();
        (digits.parse::<u64>().is_ok() && digits.starts_with(unknown.strip_prefix('-')?)).then_some(digits)
    };
    let found = all.iter().enumerate().find_map(|(at, argument)| Some((at, count(argument)?)));
    if let Some((at, digits)) = found {
        let meant = [&all[..at], &["--top", &digits], &all[at + 1..]].concat();
        return is_command(&meant).then(|| {
            format!("{} is not an option; for the first {digits} use: {}", all[at], command(meant))
        });
    }
    let name = unknown.split('=').next()?;
    let (_, hint) = OF_SORT.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!("{name} {hint}"))
}

/// Replaces an option of other programs by its equivalent. Returns the option's name, the equivalent, and the
/// new arguments.
fn elsewhere<'a>(all: &[&'a str], unknown: &str) -> Option<(&'a str, &'static str, Vec<&'a str>)> {
    let unknown = unknown.split('=').next()?;
    let &(_, other) = ELSEWHERE.iter().find(|(names, _)| names.contains(&unknown))?;
    let at = all.iter().position(|argument| argument.split('=').next() == Some(unknown))?;
    let (name, value) = all[at].split_once('=').map_or((all[at], None), |(name, value)| (name, Some(value)));
    // In other programs some of these options take a truth value.
    let next = value.or_else(|| all.get(at + 1).copied()).map(str::to_ascii_lowercase);
    let truth = next.and_then(|next| next.parse::<bool>().ok());
    let skipped = usize::from(truth.is_some() && value.is_none());
    let (other, value) = match (truth, other) {
        (Some(false), "") if name.starts_with("--asc") => ("-r", None),
        (Some(false), "-r") => ("", None),
        (Some(_), other) => (other, None),
        (None, other) => (other, value),
    };
    let meant: Vec<&str> = other.split(' ').filter(|word| !word.is_empty()).chain(value).collect();
    Some((name, other, [&all[..at], &meant, &all[at + 1 + skipped..]].concat()))
}

fn is_file(name: &str) -> bool {
    Path::new(name).is_file()
}

/// Returns true if a name has the extension of a data file.
fn seems_file(name: &str) -> bool {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    Extension::of(path).format.is_some()
        || Compression::of_name(path).is_some()
        || ["log", "dat"].contains(&extension)
}

/// A file name given as a key, by a command line without input files.
pub(super) struct FileAsKey(Option<String>);

impl FileAsKey {
    /// Refuses such a key if standard input has no data, and so no such column. Prints a note if the command
    /// waits for input from a terminal.
    pub(super) fn of(order: &OrderArgs, quiet: bool) -> anyhow::Result<Self> {
        let none = order.files.is_empty();
        let file = Self(order.key.iter().find(|key| none && (is_file(key) || seems_file(key))).cloned());
        let stdin = std::fs::metadata("/dev/stdin");
        let is_empty = stdin.is_ok_and(|stdin| stdin.is_file() && stdin.len() == 0);
        if is_empty || !crate::cli::comes_in() {
            file.refuse()?;
        }
        tell_of_terminal(quiet || !none);
        Ok(file)
    }

    /// Refuses the key, and suggests the file as the input.
    pub(super) fn refuse(&self) -> anyhow::Result<()> {
        let Some(key) = &self.0 else { return Ok(()) };
        let (all, key) = (typed(), &key[..]);
        let name = all.first().copied().unwrap_or("sort");
        let without = |at: usize| [&all[..at - 1], &all[at + 1..], &[key]].concat();
        let at = all.iter().position(|argument| *argument == key).filter(|at| *at > 0);
        let meant = at.map_or_else(|| vec![name, key], without);
        let first = command([name, "-k", "1", key]);
        bail!(
            "-k expects a column, but {} is a file; use: {}, or {first}",
            human::quoted(key),
            command(meant)
        )
    }

    /// Replaces the error of a missing column by the refusal of the key.
    pub(super) fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let hint = error.downcast_ref::<Error>().and_then(Error::hint);
        let is_missing = matches!(hint, Some(Hint::NoColumn | Hint::Header | Hint::BlankHeader));
        if is_missing { self.refuse().err().unwrap_or(error) } else { error }
    }
}

/// Refuses habits from other programs: `-d` for a delimiter or dictionary order, and `-n` with a number.
pub(super) fn check_habits(device: &str, order: &OrderArgs) -> anyhow::Result<()> {
    if let [byte] = device.as_bytes()
        && !byte.is_ascii_alphanumeric()
    {
        bail!("-d chooses the device; for the field separator use -t {0}", shell(device));
    }
    // In sort, -d is dictionary order; other letters or a file may follow.
    let are_letters = device.len() <= 3 && device.chars().all(|c| "bfinrsu".contains(c));
    if is_file(device) || are_letters && !device.is_empty() {
        bail!("-d chooses the device; dictionary order (sort -d) is not supported: leave -d out");
    }
    if let Some(key) = order.key.iter().find(|key| key.starts_with("--")) {
        bail!("-k expects a column, but {key} is an option; name the column first, as in -k 1 {key}");
    }
    if let Some(first) = order.files.first()
        && first.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        && !first.exists()
    {
        let count = human::path(first);
        return Err(anyhow!("{count}: no such file; for the first {count} records use --top {count}"));
    }
    Ok(())
}

/// Prints a note if the command waits for input from a terminal.
pub(super) fn tell_of_terminal(quiet: bool) {
    if !quiet && io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter end" } else { "Ctrl-D ends" };
        crate::cli::say(format_args!("reading standard input; {end} it"));
    }
}
