//! Generated texts and tables: mostly in order, with what is odd among it.

use gpusort::ElementType;
use gpusort::unstable::io::LineEnd::{Lf, Nul};
use gpusort::unstable::io::csv::{By, Dialect, Fields};
use gpusort::unstable::io::{How, Kind};
use gpusort::unstable::io::{Input, Memory, PerLine};
use gpusort::unstable::order::{Invalid, KeyOrder, Nulls, Reading};
use proptest::prelude::*;

/// Texts or tables, and how they are read.
#[derive(Clone, Debug)]
pub struct Case {
    pub inputs: Vec<Input>,
    pub how: How,
    pub unique: bool,
}

impl Case {
    pub fn is_table(&self) -> bool {
        matches!(self.how.kind, Kind::Table(_))
    }
}

/// Up to three inputs, by one of these lists of keys.
pub fn cases(keys: &'static [&'static [&'static str]]) -> impl Strategy<Value = Case> {
    let inputs = (
        prop::collection::vec(tokens(), 1..4),
        forms(),
        any::<bool>(),
        separators(),
        prop::collection::vec(1..50_usize, 0..3),
    );
    let types = [None, None, None, Some(ElementType::I32), Some(ElementType::F32), Some(ElementType::U64)];
    let by = (prop::sample::select(keys), prop::sample::select(types.to_vec()), order());
    (inputs, by, any::<bool>()).prop_map(|((inputs, rows, header, separators, reads), by, unique)| {
        let inputs = texts(&inputs, rows, header, &separators, &reads);
        let kind = rows.map_or(Kind::Text(PerLine::Any), |fields| {
            Kind::Table(Dialect { fields, header, comments: false })
        });
        let rows = rows.is_some();
        let (keys, element, order) = by;
        // Text has no other nulls.
        let text = KeyOrder { empty: Nulls::Last, invalid: Invalid::Error, ..order };
        let columns = keys.iter().map(|&key| key.to_owned()).collect();
        let by = By { columns, element, order: if rows { order } else { text } };
        Case { inputs, how: How { kind, by }, unique }
    })
}

/// Tokens, most of them in order.
fn tokens() -> impl Strategy<Value = Vec<String>> {
    let integers = |range: std::ops::Range<i64>| {
        prop::collection::vec(range, 0..40).prop_map(|mut values| {
            values.sort_unstable();
            values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>()
        })
    };
    let wide = prop::collection::vec(any::<u64>(), 0..40).prop_map(|mut values| {
        values.sort_unstable();
        values.into_iter().map(|value| value.to_string()).collect()
    });
    let floats = prop::collection::vec(-3000..3000_i32, 0..40).prop_map(|mut values| {
        values.sort_unstable();
        values.into_iter().map(|value| format!("{:?}", f64::from(value) / 8.0)).collect()
    });
    // As many digits after the point everywhere, as prices have.
    let fixed =
        (1..5_usize, prop::collection::vec(-3000..3000_i32, 0..40)).prop_map(|(digits, mut values)| {
            values.sort_unstable();
            let power = 10_f64.powi(digits as i32);
            values.into_iter().map(|value| format!("{:.digits$}", f64::from(value) / power)).collect()
        });
    let base = prop_oneof![
        4 => integers(-20..20),
        2 => integers(i64::MIN..i64::MAX),
        2 => integers(-(1 << 55)..1 << 55),
        1 => wide,
        4 => floats,
        3 => fixed,
    ];
    let odd = [
        "-0",
        "+0",
        "00",
        "0",
        "nan",
        "-inf",
        "inf",
        "1e400",
        "x",
        "",
        "1.5",
        "99999999999999999999",
        "-7",
        "9007199254740993",
    ];
    let odds =
        prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(odd.to_vec())), 0..3);
    (base, odds, any::<bool>(), any::<bool>()).prop_map(|(mut tokens, odds, reversed, nulls_last)| {
        if reversed {
            tokens.reverse();
        }
        for (place, odd) in odds {
            let place = if nulls_last { tokens.len() } else { place.index(tokens.len() + 1) };
            tokens.insert(place, odd.to_owned());
        }
        tokens
    })
}

pub fn order() -> impl Strategy<Value = KeyOrder> {
    let nulls = || prop::sample::select(vec![Nulls::Last, Nulls::First, Nulls::Error]);
    let invalid = prop::sample::select(vec![Invalid::Error, Invalid::Last, Invalid::Skip]);
    (any::<bool>(), nulls(), nulls(), invalid).prop_map(|(descending, nan, empty, invalid)| KeyOrder {
        descending,
        nan,
        empty,
        invalid,
        leading: false,
        reading: Reading::Numbers,
    })
}

/// Text, or what separates the fields of rows.
fn forms() -> impl Strategy<Value = Option<Fields>> {
    let rows = [
        Fields::Quoted(b','),
        Fields::Quoted(b','),
        Fields::Split(b',', Lf),
        Fields::Blanks(Lf),
        Fields::Split(b',', Nul),
        Fields::Blanks(Nul),
    ];
    let forms: Vec<_> = [None; 5].into_iter().chain(rows.map(Some)).collect();
    prop::sample::select(forms)
}

/// What comes between tokens, or between rows.
fn separators() -> impl Strategy<Value = Vec<&'static str>> {
    let some = vec!["\n", "\n", "\n", "\r\n", "\n\n", "\r", "\n# 1\n", " ", ",\"\n\"\n", ",\"\"\"\n"];
    prop::collection::vec(prop::sample::select(some), 1..5)
}

/// Inputs of these tokens, or of rows with one in the first column, that are like files, or come in these pieces.
fn texts(
    inputs: &[Vec<String>],
    rows: Option<Fields>,
    header: bool,
    separators: &[&str],
    reads: &[usize],
) -> Vec<Input> {
    let comma = if matches!(rows, Some(Fields::Blanks(_))) { " " } else { "," };
    let has_nul = matches!(rows, Some(Fields::Blanks(Nul) | Fields::Split(_, Nul)));
    let rows = rows.is_some();
    let fits = |separator: &&str| rows == separator.contains(',') || *separator == "\n";
    let separators: Vec<&str> = separators.iter().copied().filter(fits).collect();
    let separators = if separators.is_empty() { vec!["\n"] } else { separators };
    let text = |(number, tokens): (usize, &Vec<String>)| {
        let mut text = if rows && header { "a,b\n".to_owned() } else { String::new() };
        for (at, token) in tokens.iter().enumerate() {
            text += token;
            text += match separators[at % separators.len()] {
                "\n" if rows => ",7\n",
                separator => separator,
            };
        }
        let text = if rows { text.replace(',', comma) } else { text };
        let text = if has_nul { text.replace('\n', "\0") } else { text };
        Input::Memory(Memory::new(&format!("input {number}"), text.as_bytes(), reads))
    };
    inputs.iter().enumerate().map(text).collect()
}
