//! Generated texts and tables: mostly in order, with what is odd among it.

use gpusort::files::{Invalid, Key, Nulls, Options};
use gpusort::{ElementType, Format};
use proptest::prelude::*;

use super::pipeline::input;

/// Texts or tables, and how they are read.
#[derive(Clone, Debug)]
pub struct Case {
    /// The content of each input, and in which pieces it comes.
    texts: Vec<String>,
    reads: Vec<usize>,
    /// What separates the fields of rows, if there are such.
    rows: Option<Fields>,
    pub options: Options,
}

/// What separates the fields of rows.
#[derive(Clone, Copy, Debug)]
pub enum Fields {
    /// Commas, but not in quotes.
    Quoted,
    /// Commas; lines end in NUL, if that is so.
    Split(bool),
    /// Blanks.
    Blanks(bool),
}

impl Case {
    pub fn is_table(&self) -> bool {
        self.rows.is_some()
    }

    /// The options with the inputs, which can be read once.
    pub fn options(&self) -> Options {
        let inputs = self.texts.iter().enumerate();
        let inputs = inputs.map(|(at, text)| input(&format!("input {at}"), text.as_bytes(), &self.reads));
        inputs.fold(self.options.clone(), Options::input)
    }

    /// Whether it depends on memory which error is told first.
    pub fn may_differ(&self) -> bool {
        self.is_table() && self.texts.len() > 1
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
        let texts = texts(&inputs, rows, header, &separators);
        let (keys, element, (mut options, empty, invalid)) = by;
        if let Some(fields) = rows {
            options = options.header(header).empty(empty).invalid(invalid);
            options = keys.iter().map(|key| Key::parse(key)).fold(options, Options::key);
            options = match fields {
                Fields::Quoted => options.format(Format::Csv),
                Fields::Split(_) => options.format(Format::Lines).delimiter(b','),
                Fields::Blanks(_) => options.format(Format::Lines),
            };
            if let Fields::Split(true) | Fields::Blanks(true) = fields {
                options = options.zero_terminated();
            }
        } else {
            options = options.format(Format::Text);
        }
        if let Some(element) = element {
            options = options.element(element);
        }
        let options = if unique { options.unique() } else { options };
        Case { texts, reads, rows, options: options.kind(gpusort::files::Kind::Number) }
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

/// A direction, and places for all nulls.
fn order() -> impl Strategy<Value = (Options, Nulls, Invalid)> {
    let nulls = prop::sample::select(vec![Nulls::Last, Nulls::First, Nulls::Error]);
    let invalid = prop::sample::select(vec![Invalid::Error, Invalid::Last, Invalid::Skip]);
    (direction(), nulls, invalid)
}

/// A direction, and a place for NaN.
pub fn direction() -> impl Strategy<Value = Options> {
    let nulls = prop::sample::select(vec![Nulls::Last, Nulls::First, Nulls::Error]);
    (any::<bool>(), nulls).prop_map(|(descending, nan)| {
        let options = Options::new().nan(nan);
        if descending { options.descending() } else { options }
    })
}

/// Text, or what separates the fields of rows.
fn forms() -> impl Strategy<Value = Option<Fields>> {
    let rows = [
        Fields::Quoted,
        Fields::Quoted,
        Fields::Split(false),
        Fields::Blanks(false),
        Fields::Split(true),
        Fields::Blanks(true),
    ];
    let forms: Vec<_> = [None; 5].into_iter().chain(rows.map(Some)).collect();
    prop::sample::select(forms)
}

/// What comes between tokens, or between rows.
fn separators() -> impl Strategy<Value = Vec<&'static str>> {
    let some = vec!["\n", "\n", "\n", "\r\n", "\n\n", "\r", "\n \n", " ", ",\"\n\"\n", ",\"\"\"\n"];
    prop::collection::vec(prop::sample::select(some), 1..5)
}

/// Inputs of these tokens, or of rows with one in the first column.
fn texts(inputs: &[Vec<String>], rows: Option<Fields>, header: bool, separators: &[&str]) -> Vec<String> {
    let comma = if matches!(rows, Some(Fields::Blanks(_))) { " " } else { "," };
    let has_nul = matches!(rows, Some(Fields::Blanks(true) | Fields::Split(true)));
    let rows = rows.is_some();
    let fits = |separator: &&str| rows == separator.contains(',') || *separator == "\n";
    let separators: Vec<&str> = separators.iter().copied().filter(fits).collect();
    let separators = if separators.is_empty() { vec!["\n"] } else { separators };
    let text = |tokens: &Vec<String>| {
        let mut text = if rows && header { "a,b\n".to_owned() } else { String::new() };
        for (at, token) in tokens.iter().enumerate() {
            text += token;
            text += match separators[at % separators.len()] {
                "\n" if rows => ",7\n",
                separator => separator,
            };
        }
        let text = if rows { text.replace(',', comma) } else { text };
        if has_nul { text.replace('\n', "\0") } else { text }
    };
    inputs.iter().map(text).collect()
}
