//! Remedies, worded in one place for all interfaces.

use super::{Error, ErrorKind, Hint, Remedy};
use crate::format::Format;

impl Error {
    /// Returns the remedy in calls of `files::Options`, unless the message names the remedy:
    /// `use invalid(last) …` means that a sort with `.invalid(Invalid::Last)` goes on.
    ///
    /// ```
    /// # #[cfg(feature = "files")] {
    /// use gpusort::files::{Input, Sort};
    ///
    /// let input = Input::bytes("n.csv", b"n\n1\n-\n2\n");
    /// let error = Sort::new().input(input).key("n").write_to(&mut Vec::new()).unwrap_err();
    /// assert_eq!(error.advice().unwrap(), "use na(\"-\") to count it as empty");
    /// # }
    /// ```
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        if matches!(self.kind, ErrorKind::NoDevice { .. }) {
            return Some("use Sorter::cpu()".to_owned());
        }
        self.advice_by(&|option, value| match option {
            "key" | "na" => format!("{option}({value:?})"),
            "type" => format!("element({value})"),
            "from" => format!("format({value})"),
            "no-header" => "header(false)".to_owned(),
            _ => format!("{}({value})", option.replace('-', "_")),
        })
    }

    /// Returns the remedy, with options and their values as `say` spells them.
    #[doc(hidden)]
    #[must_use]
    pub fn advice_by(&self, say: &dyn Fn(&str, &str) -> String) -> Option<String> {
        // Braces enclose options with their values.
        let said = |text: &str| -> String {
            let option = |part: &str| {
                part.split_once(' ').map_or_else(|| say(part, ""), |(option, value)| say(option, value))
            };
            let parts = text.split(['{', '}']).enumerate();
            parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { option(part) }).collect()
        };
        let key = |key: &str| say("key", key);
        Some(match self.hint.as_ref()? {
            Hint::Rounding => said("use {type f64} to round"),
            Hint::Format(Format::Npy) => said("use {from npy} for NumPy files"),
            Hint::Format(Format::Parquet) => said("use {from parquet}"),
            Hint::Format(Format::Arrow) => said("use {from arrow}"),
            Hint::Format(format) if format.is_table() => said("use {from csv} for tables"),
            Hint::Format(_) => said("use {from bin} for raw binary"),
            Hint::Nan => said("use {nan last}"),
            Hint::Empty => said("use {empty last}"),
            Hint::Marks => said("change {delimiter}, {decimal} or {thousands}"),
            Hint::Header => said("use {header} for names from the first line, or {from csv} for a table"),
            Hint::Several => said("use {from text} to sort every number"),
            Hint::BlankHeader => "remove the blank line".to_owned(),
            Hint::Sort => "sort it instead of merging it".to_owned(),
            Hint::Table(Format::Text) => {
                said("use {from csv} for a table, or {key N} to sort lines by a field")
            }
            Hint::Table(_) => "leave it out".to_owned(),
            Hint::FormatOfAll => said("name one format with {from}, or sort each file by itself"),
            Hint::EachFile => "convert one of them, or sort each file by itself".to_owned(),
            Hint::TypeOfAll => said("if both have one type, name it with {type}"),
            Hint::NumbersOfLines => said("use {from text} to sort every number in them"),
            Hint::ToNumbers => said("use {to text}, bin or npy"),
            Hint::ToBinary => said("use {to bin}"),
            Hint::Memory => said("raise {memory}"),
            Hint::Build => "build it with the feature arrow".to_owned(),
            Hint::Path => "paths are written as user.id, tags[0] or '[\"a.b\"].c'".to_owned(),
            Hint::Replace => said("use {output}, which replaces the file when the merge is complete"),
            Hint::OtherType(_) => said("leave out {type}"),
            Hint::Delimiter('\t') => said("if tabs separate fields, use {delimiter tab}"),
            Hint::Invalid => said("use {invalid last} (or first, or skip) for such rows"),
            Hint::Remedies(remedies) => {
                let one = |remedy: &Remedy| match remedy {
                    Remedy::Key(column) => key(column),
                    Remedy::Invalid(column) if column.is_empty() => said("{invalid last}"),
                    Remedy::Invalid(column) => format!("{} {}", key(column), said("{invalid last}")),
                    Remedy::Na(word) => say("na", word),
                    Remedy::Leading => said("{leading}"),
                    Remedy::Header => said("{header}"),
                    Remedy::NoHeader => said("{no-header}"),
                    Remedy::Decimal(mark) => say("decimal", &mark.to_string()),
                    Remedy::Thousands(mark) => say("thousands", &mark.to_string()),
                    Remedy::Record => key("0"),
                };
                let all: Vec<String> = remedies.iter().map(one).collect();
                match &all[..] {
                    [] => return None,
                    [only] => format!("use {only}"),
                    [first, second] => format!("use {first} or {second}"),
                    [others @ .., last] => format!("use {}, or {last}", others.join(", ")),
                }
            }
            Hint::Separator => said("use {delimiter} for another separator"),
            Hint::NumbersOrKey => said("use {numeric}, or name a key"),
            Hint::Ragged => "correct the row".to_owned(),
            Hint::ColumnNumber(a, b) => format!("use {} or {}", key(&a.to_string()), key(&b.to_string())),
            Hint::Keys(keys) => keys.iter().fold("use".to_owned(), |all, one| all + " " + &key(one)),
            Hint::Delimiter(mark) => {
                said(&format!("if '{mark}' separates fields, use {{delimiter '{mark}'}}"))
            }
            Hint::Through(command) => format!("convert it first: {command}"),
            Hint::Promised { promised, element } => {
                format!("use an output name that ends in .{element}, not .{promised}")
            }
            Hint::To(format) => said(&format!("use {{to {}}}", format.name())),
            Hint::NoColumn | Hint::StartWith(_) => return None,
        })
    }
}
