//! Hints on errors in terms of options, which the library does not know.

use gpusort::unstable::human;
use gpusort::{Error, ErrorKind, Format, Hint, Select};

use super::meant;

/// What helps where a build lacks Parquet and Arrow.
pub(super) const BUILD: &str = "build it with --features arrow";

/// An error with all its causes, and the option that helps.
pub(super) fn shown(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<Error>().and_then(hint).unwrap_or_default();
    let of_library = error.downcast_ref::<Error>().map(Error::kind);
    let is_option = matches!(of_library, Some(ErrorKind::Options { option: Some(_), .. }));
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
    let is_token = matches!(error.kind(), ErrorKind::Token { .. });
    let fixed = match error.hint()? {
        Hint::Rounding => "; use --type f64 to round",
        Hint::Type => "; set the type with --type",
        Hint::Format(Format::Npy) => "; use --from npy for NumPy files",
        Hint::Format(Format::Parquet) => "; use --from parquet",
        Hint::Format(Format::Arrow) => "; use --from arrow",
        Hint::Format(format) if format.is_table() => "; use --from csv for tables",
        Hint::Format(_) => "; use --from bin for raw binary",
        Hint::Nan if is_token => " by --nan error",
        Hint::Nan => ", not allowed by --nan error",
        Hint::Empty => ", not allowed by --empty error",
        Hint::FirstLine => "; use --header if line 1 is a header, or --invalid last (or first, or skip)",
        Hint::Invalid => "; use --invalid last (or first, or skip) for such rows",
        Hint::Leading => {
            "; use --leading for the number that it begins with, or --invalid last (or first, or skip)"
        }
        Hint::Thousands => "; use --thousands , if the commas separate thousands",
        Hint::DecimalComma => "; use --decimal , if it is a decimal comma",
        Hint::TimeFormat => "; use --time-format if it is a time, as in --time-format '%d/%m/%Y'",
        Hint::Comments => "; use --comments for # lines at the top, or --invalid last (or first, or skip)",
        Hint::Marks => "; change --delimiter, --decimal or --thousands",
        Hint::Header => "; use --header for names from the first line, or --from csv for a table",
        Hint::Several => "; use --from lines to sort lines, or --from text to sort every number",
        Hint::Lines => "; use -t text to sort lines as text, or --invalid last (or first, or skip)",
        Hint::BlankHeader => "; to skip it: tail -n +2 FILE | gpusort sort --header ...",
        Hint::Sort => "; leave out --merge to sort it",
        Hint::Table(Format::Text) => "; use --from csv for a table, or -k N to sort lines by a field",
        Hint::Table(_) => "; leave it out",
        Hint::FormatOfAll => "; name one format with --from, or sort each file with --each",
        Hint::EachFile => "; convert one of them, or sort each file with --each",
        Hint::TypeOfAll => "; if both have one type, name it with --type",
        Hint::NumbersOfLines => "; use --from text to sort every number in them",
        Hint::ToNumbers => "; use --to text, bin or npy",
        Hint::ToBinary => "; use --to bin",
        Hint::Memory => "; raise --memory",
        Hint::Build => return Some(format!("; {BUILD}")),
        Hint::Path => "; paths are written as user.id, tags[0] or '[\"a.b\"].c'",
        Hint::Replace => "; use -o, which replaces the file when the merge is complete",
        other => return with_values(other, error),
    };
    Some(fixed.to_owned())
}

/// The same for hints that depend on the input.
fn with_values(hint: &Hint, error: &Error) -> Option<String> {
    let key = |key: &str| format!(" -k {}", human::quoted(meant::shell(key)));
    Some(match hint {
        Hint::Text(column) => format!("; use{}:text to sort the whole column as text", key(column)),
        Hint::Words(column) => {
            let key = key(column);
            format!("; use{key}:text to sort the whole column as text, or --invalid last (or first, or skip)")
        }
        Hint::Kind(column) => format!("; use{} instead of --leading", key(column)),
        Hint::Column(example) => format!("; for example{}", key(example)),
        Hint::ColumnNumber(one, other) => format!("; use -k {one} or -k {other}"),
        Hint::Na(word) => {
            format!("; use --na {} to count it as empty", human::quoted(meant::shell(word)))
        }
        Hint::Delimiter('\t') => "; if tabs separate fields, use --delimiter tab".to_owned(),
        Hint::Delimiter(separator) => {
            format!("; if '{separator}' separates fields, use --delimiter '{separator}'")
        }
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
        Hint::Keys(keys) => {
            // After a question it is the answer.
            let before = if error.to_string().ends_with('?') { " Use" } else { "; use" };
            keys.iter().fold(before.to_owned(), |all, one| all + &key(one))
        }
        Hint::OtherType(asked) => format!(", but --type is {asked}"),
        Hint::Promised { promised, element } => {
            format!("; use an output name that ends in .{element}, not .{promised}")
        }
        Hint::To(format) => format!("; write them as {}", format.name()),
        _ => return None,
    })
}

/// The command that converts an input, with its name if it is a file.
fn command_for(command: &str, error: &Error) -> String {
    let (ErrorKind::Input { name, .. } | ErrorKind::Io { name, .. }) = error.kind() else {
        return command.to_owned();
    };
    // Both are zip archives.
    let command = match name.rsplit_once('.') {
        Some((_, "xlsx" | "ods")) => "in2csv FILE",
        Some((_, "npz")) => "unzip -p FILE NAME.npy",
        _ => command,
    };
    // Before the number of a line, and that of a column.
    let before = |name: &'_ str| name.rsplit_once(':').map_or("", |(name, _)| name).to_owned();
    let names = [name.clone(), before(name), before(&before(name))];
    let Some(name) = names.iter().find(|name| std::path::Path::new(name).exists()) else {
        return command.to_owned();
    };
    let name = human::said(meant::shell(name));
    // Within quotes of the command the name needs none of its own.
    if command.contains("'FILE'") {
        command.replace("'FILE'", &format!("'{}'", name.trim_matches('\'')))
    } else {
        command.replace("FILE", &name)
    }
}
