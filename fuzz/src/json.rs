//! Lines of JSON that are sorted by values in them, beside a twin that lets `serde_json` read them.

use std::cmp::Ordering;
use std::collections::HashMap;

use gpusort::Format;
use gpusort::files::{Input, Invalid, Key, Kind, Nulls, Options};
use serde_json::value::RawValue;

use crate::choices::{Choices, inputs};
use crate::library;
use crate::pipeline::Ask;
use crate::{Shown, Spoil, same};

/// Bytes of options.
const OPTIONS: usize = 6;

/// How a key is written, and the steps that it takes, of which a number is one into an array.
const PATHS: [(&str, &[&str]); 7] = [
    ("a", &["a"]),
    ("b.c", &["b", "c"]),
    (".a[0]", &["a", "0"]),
    ("[1].a", &["1", "a"]),
    (".", &[]),
    ("[\"b.c\"]", &["b.c"]),
    ("\"\\u0061\".b", &["a", "b"]),
];

#[derive(Clone, Debug)]
struct Asked {
    path: usize,
    kind: Option<Kind>,
    descending: bool,
    empty: Nulls,
    invalid: Invalid,
    first: Option<u64>,
}

/// # Errors
///
/// How the library and its twin differ.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let asked = Asked {
        path: choices.below(PATHS.len()),
        kind: choices.of(&[None, None, Some(Kind::Text), Some(Kind::Number)]),
        descending: choices.below(2) == 1,
        empty: choices.of(&[Nulls::Last, Nulls::First]),
        invalid: choices.of(&[Invalid::Error, Invalid::Error, Invalid::Last, Invalid::First, Invalid::Skip]),
        first: choices.of(&[None, None, Some(0), Some(2)]),
    };
    // Invalid fields are of numbers, unless a kind is said.
    let asked = Asked { invalid: asked.kind.map_or(Invalid::Error, |_| asked.invalid), ..asked };
    let inputs = inputs(data, 2);
    if !inputs.iter().all(|input| is_plain(input)) {
        return Ok(());
    }
    let options = || options(&asked, &inputs);
    let ask = Ask { first: asked.first, ..Ask::default() };
    let sorted = library::sort(options(), ask);
    let case = (&asked, Shown(&inputs));
    library::same_in_parts(&case, &options, inputs.len() > 1, ask, &sorted)?;
    let Some(twin) = sort(&inputs, &asked) else { return Ok(()) };
    let mut library = sorted.map(|sorted| sorted.bytes);
    spoil(&mut library);
    same(&case, &library, &twin)
}

fn options(asked: &Asked, inputs: &[&[u8]]) -> Options {
    let files: Vec<Input> = library::files(inputs);
    let options = files.into_iter().fold(Options::new(), Options::input).format(Format::JsonLines);
    let options = options.key(Key::parse(PATHS[asked.path].0)).empty(asked.empty);
    let options = asked.kind.into_iter().fold(options, Options::kind);
    let options = if asked.descending { options.descending() } else { options };
    // That what is invalid is an error is said by nobody: it would make keys numbers.
    if asked.invalid == Invalid::Error { options } else { options.invalid(asked.invalid) }
}

/// Whether `serde_json` reads the same of these lines: it takes no other text than UTF-8 without
/// halves of surrogates, nothing deep, and no NaN.
fn is_plain(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let lower = text.to_lowercase();
    let is_deep = text.bytes().filter(|byte| b"[{".contains(byte)).count() > 100;
    !(is_deep || lower.contains("\\ud") || text.contains("NaN") || text.contains("Infinity"))
}

/// What a record is ordered by.
#[derive(Clone, Debug)]
enum Value {
    Empty,
    Number(f64),
    Text(Vec<u8>),
    Invalid,
}

/// What must come out, or that it must be refused; `None` where the twin does not know.
fn sort(inputs: &[&[u8]], asked: &Asked) -> Option<Result<Vec<u8>, &'static str>> {
    let path = PATHS[asked.path].1;
    let (mut records, mut has_value, mut refused) = (Vec::new(), false, None);
    for input in inputs {
        // What has a mark comes first, with it.
        if input.starts_with(b"\xEF\xBB\xBF") {
            return None;
        }
        let first = input.split_inclusive(|&byte| byte == b'\n').find(|line| !is_blank(line));
        // A last line without an end gets that of the first one of its input.
        let end = if first.is_some_and(|line| line.ends_with(b"\r\n")) { &b"\r\n"[..] } else { b"\n" };
        for line in input.split_inclusive(|&byte| byte == b'\n').filter(|line| !is_blank(line)) {
            let whole = line.strip_suffix(b"\n").unwrap_or(line);
            let token = value(whole, path);
            has_value |= token.as_ref().is_none_or(Option::is_some);
            let value = classed(token, asked.kind)?;
            if matches!(value, Value::Invalid) && asked.invalid == Invalid::Error {
                refused.get_or_insert("invalid");
            }
            let mut record = line.to_vec();
            if !line.ends_with(b"\n") {
                if end == b"\r\n" && line.ends_with(b"\r") {
                    return None;
                }
                record.extend_from_slice(end);
            }
            records.push((value, record));
        }
    }
    if refused.is_none() && !records.is_empty() && !has_value {
        refused = Some("no record has it");
    }
    let numbers = records.iter().filter(|(value, _)| matches!(value, Value::Number(_))).count();
    let texts = records.iter().filter(|(value, _)| matches!(value, Value::Text(_))).count();
    if numbers > 0 && texts > 0 {
        refused.get_or_insert("numbers and texts");
    }
    if let Some(refused) = refused {
        return Some(Err(refused));
    }
    if asked.invalid == Invalid::Skip {
        records.retain(|(value, _)| !matches!(value, Value::Invalid));
    }
    let place = |value: &Value| match value {
        Value::Empty if asked.empty == Nulls::First => -1,
        Value::Empty => 1,
        Value::Invalid if asked.invalid == Invalid::First => -2,
        Value::Invalid => 2,
        _ => 0,
    };
    records.sort_by(|(one, _), (other, _)| {
        let values = match (one, other) {
            (Value::Number(one), Value::Number(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
            (Value::Text(one), Value::Text(other)) => one.cmp(other),
            _ => return place(one).cmp(&place(other)),
        };
        if asked.descending { values.reverse() } else { values }
    });
    let most = asked.first.map_or(usize::MAX, |first| first as usize);
    Some(Ok(records.into_iter().take(most).flat_map(|(_, record)| record).collect()))
}

fn is_blank(line: &[u8]) -> bool {
    // The last of an input may lack LF.
    matches!(line, b"\n" | b"\r\n" | b"\r")
}

/// The value at a path of a line, if there is one; `None` where the line is damaged.
fn value(line: &[u8], path: &[&str]) -> Option<Option<String>> {
    let line = std::str::from_utf8(line).ok()?;
    let mut value: Box<RawValue> = serde_json::from_str(line).ok()?;
    for step in path {
        let inner = match (value.get().as_bytes().first(), step.parse::<usize>()) {
            (Some(b'{'), Err(_)) => {
                let members: HashMap<String, Box<RawValue>> = serde_json::from_str(value.get()).ok()?;
                members.get(*step).cloned()
            }
            (Some(b'['), Ok(index)) => {
                let elements: Vec<Box<RawValue>> = serde_json::from_str(value.get()).ok()?;
                elements.get(index).cloned()
            }
            _ => None,
        };
        let Some(inner) = inner else { return Some(None) };
        value = inner;
    }
    Some(Some(value.get().to_owned()))
}

/// What a value counts as; `None` where the twin does not know.
fn classed(token: Option<Option<String>>, kind: Option<Kind>) -> Option<Value> {
    let Some(token) = token else { return Some(Value::Invalid) };
    let Some(token) = token else { return Some(Value::Empty) };
    Some(match (token.as_bytes()[0], kind) {
        (b'n', _) => Value::Empty,
        (b'{' | b'[', _) => Value::Invalid,
        (b'"', Some(Kind::Number)) => {
            let text: String = serde_json::from_str(&token).ok()?;
            // What may be a number is not looked at here.
            if text.bytes().any(|byte| byte.is_ascii_digit() || b"iInN".contains(&byte)) {
                return None;
            }
            if text.is_empty() {
                Value::Empty
            } else if text.trim_matches([' ', '\t']).is_empty() {
                return None;
            } else {
                Value::Invalid
            }
        }
        (b'"', _) => Value::Text(serde_json::from_str::<String>(&token).ok()?.into_bytes()),
        (b't' | b'f', Some(Kind::Number)) => Value::Invalid,
        (b't' | b'f', _) | (_, Some(Kind::Text)) => Value::Text(token.into_bytes()),
        _ => {
            // Those of more digits may have no common type.
            let digits = token.bytes().filter(u8::is_ascii_digit).count();
            let value: f64 = token.parse().ok()?;
            if digits > 12 || !value.is_finite() || value == 0.0 && token.starts_with('-') {
                return None;
            }
            Value::Number(value)
        }
    })
}
