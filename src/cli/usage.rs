//! Answers to requests for help and to invalid arguments.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use anyhow::bail;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use gpusort::files::Input;
use gpusort::unstable::human;

use super::meant;

/// Prints help if requested, else the error.
pub(super) fn answer(error: clap::Error) -> anyhow::Result<ExitCode> {
    if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        if let Some(hint) = hint(&error) {
            bail!(hint);
        }
        // If this cannot be written, the exit code remains.
        let _ = quoted(error).print();
        return Ok(ExitCode::from(2));
    }
    if io::stdout().is_terminal() {
        // In colours.
        error.print()?;
    } else {
        super::print(&error.render().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether `sort -h` or `check -h` asks for help: alone, where nothing comes on standard input.
/// Otherwise it is as in coreutils.
pub(super) fn asks_for_help(arguments: usize) -> bool {
    let alone = ["gpusort", "sort", "-h"].len();
    arguments <= alone && (io::stdin().is_terminal() || Input::Stdin.is_nothing())
}

/// Prints the short help of a command.
pub(super) fn help_of(name: &str) -> anyhow::Result<ExitCode> {
    let mut command = super::command();
    command.build();
    let help = command.find_subcommand_mut(name).map(clap::Command::render_help);
    super::print(&help.map(|help| help.to_string()).unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

/// The error with arguments escaped for display, and with the environment variable that caused it.
fn quoted(mut error: clap::Error) -> clap::Error {
    let shown = |text: &String| human::path(text.as_ref());
    let escaped = |(kind, value): (ContextKind, &ContextValue)| {
        let escaped = match value {
            ContextValue::String(text) => ContextValue::String(shown(text)),
            ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(shown).collect()),
            _ => return None,
        };
        (escaped != *value).then_some((kind, escaped))
    };
    let escaped: Vec<(ContextKind, ContextValue)> = error.context().filter_map(escaped).collect();
    let variable = variable(&error);
    if !escaped.is_empty() {
        // It would be printed unescaped.
        error.insert(ContextKind::Suggested, ContextValue::None);
    }
    for (kind, value) in escaped {
        error.insert(kind, value);
    }
    if let Some(variable) = variable {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable.to_owned()));
    }
    error
}

/// A context value, if it is a text.
fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// The environment variable that an invalid value came from, if it was not typed.
fn variable(error: &clap::Error) -> Option<&'static str> {
    let option = text(error, ContextKind::InvalidArg)?.split(' ').next()?;
    let value = text(error, ContextKind::InvalidValue)?;
    let name = option.strip_prefix("--")?.to_ascii_uppercase();
    let variable =
        super::ENVIRONMENT.into_iter().find(|variable| variable.strip_prefix("GPUSORT_") == Some(&name))?;
    let is_set = std::env::var(variable).is_ok_and(|set| set == value);
    // Without the environment it is not there.
    let typed = super::command().mut_subcommands(|command| command.mut_args(|argument| argument.env(None)));
    let typed = typed.try_get_matches_from(super::arguments()).err();
    let same = |kind| typed.as_ref().is_some_and(|typed| text(typed, kind) == text(error, kind));
    let is_typed = same(ContextKind::InvalidArg) && same(ContextKind::InvalidValue);
    (is_set && !is_typed).then_some(variable)
}

/// Equivalents of options of `sort` that have another name here or are not needed.
const OF_SORT: [(&[&str], &str); 7] = [
    (&["-V", "--version-sort"], "versions are no numbers; sort -V sorts them"),
    (&["-M", "--month-sort"], "names of months are no numbers; sort -M sorts them"),
    (&["-R", "--random-sort"], "nothing is put in random order here; shuf does that"),
    (&["-i", "--ignore-nonprinting"], "only numbers are compared here; leave it out"),
    (
        &["--batch-size", "--compress-program"],
        "all runs are merged at once, and none is compressed; leave it out",
    ),
    (&["--sort"], "all sorting is numeric here; sort --sort has other kinds"),
    (&["--debug"], "nothing but numbers is compared here; leave it out"),
];

/// A hint for users of `sort` and other programs.
fn hint(error: &clap::Error) -> Option<String> {
    let argument = match error.kind() {
        ErrorKind::InvalidSubcommand => text(error, ContextKind::InvalidSubcommand)?,
        _ => text(error, ContextKind::InvalidArg)?,
    };
    if matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument)
        && let Some(meant) = meant::by_arguments(argument)
    {
        return Some(meant);
    }
    // Other commands do not share these options.
    std::env::args().nth(1).filter(|command| command == "sort" || command == "check")?;
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = argument.split('=').next()?;
            let (_, hint) = OF_SORT.iter().find(|(names, _)| names.contains(&name))?;
            Some(format!("{name}: {hint}"))
        }
        _ => None,
    }
}
