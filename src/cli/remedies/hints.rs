//! Hints on errors in terms of options, which the library does not know.

use gpusort::{Error, ErrorKind, Hint, Select};
use gpusort_base::human;

use crate::cli::remedies;

/// The remedy for a build without Parquet and Arrow.
pub(in crate::cli) const BUILD: &str = "build it with --features arrow";

/// The message of an error with all its causes, and with the option that helps.
pub(in crate::cli) fn shown(error: &anyhow::Error) -> String {
    let Some(of_library) = error.downcast_ref::<Error>() else { return format!("{error:#}") };
    let is_option = matches!(of_library.kind(), ErrorKind::Options { option: Some(_), .. });
    let hint = hint(of_library).unwrap_or_default();
    format!("{}{error:#}{hint}", if is_option { "--" } else { "" })
}

/// The text appended to the message of an error.
fn hint(error: &Error) -> Option<String> {
    if let ErrorKind::NoDevice { adapters, wanted } = error.kind() {
        let all = adapters.as_deref().unwrap_or_default();
        let remedy = match all {
            [] => " Or use --device cpu.",
            _ if *wanted != Select::Hardware => " Use --device 0 or --device cpu.",
            _ => " Use --device 0 or --device cpu, or install your GPU's driver.",
        };
        return Some(remedy.to_owned());
    }
    let option = |option: &str, value: &str| match option {
        "key" => format!("-k {}", human::quoted(remedies::shell(value))),
        "na" => format!("--na {}", human::quoted(remedies::shell(value))),
        "kind" => format!("-t {value}"),
        "numeric" => "-n".to_owned(),
        "output" => "-o".to_owned(),
        _ if value.is_empty() => format!("--{option}"),
        _ => format!("--{option} {value}"),
    };
    Some(match error.hint()? {
        Hint::Nan => ", not allowed by --nan error".to_owned(),
        Hint::Empty => ", not allowed by --empty error".to_owned(),
        Hint::BlankHeader => "; to skip it: tail -n +2 FILE | gpusort sort --header ...".to_owned(),
        Hint::Sort => "; to sort it, use gpusort sort".to_owned(),
        Hint::FormatOfAll => "; name one format with --from, or sort each file with --each".to_owned(),
        Hint::EachFile => "; convert one of them, or sort each file with --each".to_owned(),
        Hint::Build => format!("; {BUILD}"),
        Hint::OtherType(asked) => format!(", but --type is {asked}"),
        Hint::Through(command) => {
            let command = command_for(command, error);
            let to = match &command {
                array if array.starts_with("unzip") && array.contains("NAME.npy") => "gpusort sort -f npy",
                table if table.contains("csv") => "gpusort sort -f csv -k COLUMN",
                json if json.starts_with("jq") => "gpusort sort -f jsonl ...",
                _ => "gpusort sort ...",
            };
            format!("; use: {command} | {to}")
        }
        // The advice answers the message's question.
        Hint::Keys(_) if error.to_string().ends_with('?') => {
            error.advice_by(&option)?.replacen("use", " Use", 1)
        }
        _ => format!("; {}", error.advice_by(&option)?),
    })
}

/// The command that converts an input, with the name of a file.
fn command_for(command: &str, error: &Error) -> String {
    let (ErrorKind::Input { name, .. } | ErrorKind::Io { name, .. }) = error.kind() else {
        return command.to_owned();
    };
    // These formats are zip archives.
    let command = match name.rsplit_once('.') {
        Some((_, "xlsx" | "ods")) => "in2csv FILE",
        Some((_, "npz")) => "unzip -p FILE NAME.npy",
        _ => command,
    };
    // The name without a line number or a column number at its end.
    let mut names = std::iter::successors(Some(&name[..]), |name| Some(name.rsplit_once(':')?.0));
    let Some(name) = names.find(|name| std::path::Path::new(name).exists()) else {
        return command.to_owned();
    };
    let name = human::said(remedies::shell(name));
    // The command's quotes replace the name's own quotes.
    if command.contains("'FILE'") {
        command.replace("'FILE'", &format!("'{}'", name.trim_matches('\'')))
    } else {
        command.replace("FILE", &name)
    }
}
