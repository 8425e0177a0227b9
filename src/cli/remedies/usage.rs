//! Answers to requests for help and to invalid arguments.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use anyhow::bail;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use gpusort_base::human;

use crate::cli::remedies;

/// Prints help if requested, else the error.
pub(in crate::cli) fn answer(error: clap::Error) -> anyhow::Result<ExitCode> {
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
        crate::cli::print(&error.render().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Escapes the arguments in an error for display, and names the environment variable that caused it.
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
        // Clap would print the suggestion unescaped.
        error.insert(ContextKind::Suggested, ContextValue::None);
    }
    escaped.into_iter().for_each(|(kind, value)| drop(error.insert(kind, value)));
    if let Some(variable) = variable {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable));
    }
    error
}

/// Returns the context value of this kind; `None` unless it holds one string.
fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    if let Some(ContextValue::String(text)) = error.get(kind) { Some(text) } else { None }
}

/// Returns the environment variable that set an invalid value; `None` for a typed value.
fn variable(error: &clap::Error) -> Option<String> {
    let option = text(error, ContextKind::InvalidArg)?.split(' ').next()?.strip_prefix("--")?;
    let name = format!("GPUSORT_{}", option.replace('-', "_").to_uppercase());
    let variable = crate::cli::variables().find(|variable| *variable == *name)?.into_string().ok()?;
    // An error from a variable disappears when the environment is ignored.
    let typed =
        crate::cli::command().mut_subcommands(|command| command.mut_args(|argument| argument.env(None)));
    let typed = typed.try_get_matches_from(&*crate::cli::ARGUMENTS).err();
    let same = |kind| typed.as_ref().is_some_and(|typed| text(typed, kind) == text(error, kind));
    (!(same(ContextKind::InvalidArg) && same(ContextKind::InvalidValue))).then_some(variable)
}

/// Returns a hint for users of `sort` and other programs.
fn hint(error: &clap::Error) -> Option<String> {
    let argument = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    remedies::by_arguments(text(error, argument)?)
}
