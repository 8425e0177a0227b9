//! Hints on errors in terms of options, which the library does not know.

use gpusort::unstable::human;
use gpusort::{Error, ErrorKind, Format, Hint};

use super::meant;

/// An error with all its causes, and the option that helps.
pub(super) fn shown(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<Error>().and_then(hint).unwrap_or_default();
    let of_library = error.downcast_ref::<Error>().map(Error::kind);
    let is_option = matches!(of_library, Some(ErrorKind::Options { option: Some(_), .. }));
    format!("{}{error:#}{hint}", if is_option { "--" } else { "" })
}

/// The text appended to the message of an error.
fn hint(error: &Error) -> Option<String> {
    if let ErrorKind::NoDevice { adapters, .. } = error.kind() {
        return Some(match adapters {
            Some(adapters) if !adapters.is_empty() => {
                "; name one with --device N or --device NAME, install another's driver, or sort with --device cpu"
            }
            _ => ", or sort with --device cpu",
        }.to_owned());
    }
    let is_token = matches!(error.kind(), ErrorKind::Token { .. });
    Some(match error.hint()? {
        Hint::Rounding if is_token => "; --type f64 sorts it, rounded".to_owned(),
        Hint::Rounding => "; --type f64 sorts them, rounded".to_owned(),
        Hint::Type => "; --type says which it is".to_owned(),
        Hint::Format(format) => {
            let what = match format {
                Format::Npy => "NumPy's files",
                _ if format.is_table() => "tables",
                _ => "binary",
            };
            format!("; --from {} reads {what}", format.name())
        }
        Hint::Nan if is_token => " by --nan error".to_owned(),
        Hint::Nan => ", and --nan is error".to_owned(),
        Hint::Empty => ", and --empty is error".to_owned(),
        Hint::Kind(kind) => format!("; use :{kind} after the key instead of --leading"),
        Hint::Text => "; :text after the key sorts all fields as text".to_owned(),
        Hint::Words => "; --invalid puts rows with words last or first, or skips them; :text after the key \
                        sorts all fields as text"
            .to_owned(),
        Hint::Invalid => "; --invalid puts such rows last or first, or skips them".to_owned(),
        Hint::Comments => {
            "; --comments keeps such lines on top, and --invalid first puts them before the numbers"
                .to_owned()
        }
        Hint::Column => "; --key says by which column to sort".to_owned(),
        Hint::ColumnNumber => "; --key takes a number".to_owned(),
        Hint::Delimiter('\t') => "; --delimiter 'tab' if that separates them".to_owned(),
        Hint::Delimiter(separator) => format!("; --delimiter '{separator}' if that separates them"),
        Hint::Marks => {
            "; --delimiter says what separates fields, --decimal and --thousands what is in numbers"
                .to_owned()
        }
        Hint::Header => "; --header takes names from the first line, and --from csv reads tables".to_owned(),
        Hint::Several => "; --from lines sorts the lines, --from text all numbers in them".to_owned(),
        Hint::Lines => "; -k 1 sorts lines by their first field".to_owned(),
        Hint::Through(command) => {
            let to =
                if command.contains("csv") { "gpusort sort -f csv -k COLUMN" } else { "gpusort sort ..." };
            format!("; {command} | {to}")
        }
        Hint::Keys(keys) => {
            // After a question it is the answer.
            let before = if error.to_string().ends_with('?') { "" } else { ";" };
            keys.iter()
                .fold(before.to_owned(), |all, key| format!("{all} -k {}", human::quoted(meant::shell(key))))
        }
        Hint::BlankHeader => "; tail -n +2 FILE | gpusort sort --header ... leaves it out".to_owned(),
        Hint::Sort => "; without --merge it will be".to_owned(),
        Hint::Table(Format::Text) => {
            "; --from csv reads it as one, and -k N sorts its lines by a field".to_owned()
        }
        Hint::Table(_) => "; --from csv reads it as one".to_owned(),
        Hint::FormatOfAll => "; --from says which they all are".to_owned(),
        Hint::TypeOfAll => "; --type says which they all are".to_owned(),
        Hint::OtherType(asked) => format!(", and --type is {asked}"),
        Hint::Promised { promised, element } => {
            format!("; --type {promised} reads it so, --to bin writes {element} there")
        }
        Hint::NumbersOfLines => "; --from text sorts all numbers in them".to_owned(),
        Hint::ToNumbers => "; --to text, bin or npy writes them".to_owned(),
        Hint::To(format) => format!("; --to {} writes them so", format.name()),
        Hint::ToBinary => "; --to bin".to_owned(),
        Hint::Memory => "; --memory allows more".to_owned(),
        Hint::Replace => "; -o replaces it when all is merged".to_owned(),
        _ => return None,
    })
}
