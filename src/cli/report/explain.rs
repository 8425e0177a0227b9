//! `--explain`: the decisions about the input, namely its format, header and keys.

use gpusort::Format;
use gpusort::files::{Explained, ExplainedKey};
use gpusort_base::human;
use serde_json::{Value, json};

/// The version of the JSON objects, which `docs/report.schema.json` describes.
pub(in crate::cli) const SCHEMA: u64 = 1;

/// Formats the decisions in lines for a human reader.
pub(in crate::cli) fn lines(explained: &Explained) -> String {
    let mut lines = format!("format  {}\n", format(explained));
    if explained.header > 0 {
        let rows = human::counted(explained.header as u64, "row", "rows");
        lines += &format!("header  {rows}\n");
    }
    for key in &explained.keys {
        lines += &format!("key     {}\n", of_key(key));
    }
    lines
}

/// Names the format, with the reason if no option and no extension sets it.
pub(in crate::cli) fn format(explained: &Explained) -> String {
    let name = explained.format.name();
    match explained.why {
        "default" | "named" => name.to_owned(),
        why => format!("{name}, because {why}"),
    }
}

fn of_key(key: &ExplainedKey) -> String {
    let column = match &key.column[..] {
        _ if key.is_last_resort => "the whole line, if the keys above are equal".to_owned(),
        "0" => "the whole record".to_owned(),
        column => format!("column '{}'", human::quoted(column)),
    };
    let direction = if key.descending { "largest first" } else { "smallest first" };
    let found = if key.is_found { ", found in its fields" } else { "" };
    format!("{column}: {}, {direction}{found}", key.kind)
}

/// Describes the order in words for the middle of a line.
pub(in crate::cli) fn by(explained: &Explained) -> String {
    let keys = explained.keys.iter().filter(|key| !key.is_last_resort);
    let direction = |key: &ExplainedKey| if key.descending { ", largest first" } else { "" };
    let keys: Vec<String> = match (explained.format, &explained.keys[..]) {
        (Format::Text, _) | (_, []) => return String::new(),
        (Format::Lines, [key]) if key.column == "0" => vec![format!("the whole line{}", direction(key))],
        (Format::Lines, [key, rest]) if rest.is_last_resort => vec![key.kind.clone() + direction(key)],
        _ => keys
            .map(|key| format!("'{}' ({}{})", human::quoted(&key.column), key.kind, direction(key)))
            .collect(),
    };
    format!(" by {}", keys.join(", "))
}

/// Returns the decisions as JSON.
pub(in crate::cli) fn object(explained: &Explained) -> Value {
    let key = |key: &ExplainedKey| {
        json!({
            "column": key.column,
            "kind": key.kind,
            "descending": key.descending,
            "found": key.is_found,
            "last_resort": key.is_last_resort,
        })
    };
    json!({
        "format": explained.format.name(),
        "format_reason": explained.why,
        "header": explained.header,
        "keys": explained.keys.iter().map(key).collect::<Vec<_>>(),
    })
}
