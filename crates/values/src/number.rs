//! Numbers in text, with the notation of their column.
//!
//! A number is `[+-]`, then digits with an optional point (a digit on at least one side of the point) and an
//! optional exponent, or `inf`, `infinity` or `nan` in any case. A column may have a decimal sign and a thousands
//! separator ([`Marks`]), units of sizes ([`Units`]), and a currency or percent sign ([`Sign`]).
//!
//! Numbers are compared exactly: no decimal is rounded, and none overflows. Zero has no sign.

use std::fmt;

use crate::decimal::{self, Decimal, ZERO};
pub use crate::decimal::{MID, POWERS, integer, of_float, of_integer, parse_short};
use crate::digits::{self, split_sign};
use crate::marks::{Marks, strip_char};
use crate::size::{Units, parse_unit};

/// The notation of the numbers of a column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notation {
    /// Other marks than a point.
    pub marks: Option<Marks>,
    /// The sign of all numbers.
    pub sign: Option<Sign>,
    /// The units behind numbers. A number with a sign has no unit.
    pub units: Units,
    /// Ignores the text behind the number of a field.
    pub leading: bool,
}

/// The key of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word that compares as the number does. An odd word has a tail, which decides between equal words.
    Word(u128),
    /// Not a number.
    Nan,
}

/// Reads the numbers of a column.
#[derive(Clone, Debug)]
pub struct Reader {
    notation: Notation,
    /// True for numbers of digits, a point, an exponent and a unit, with nothing else in their fields.
    is_plain: bool,
    respelled: Vec<u8>,
}

impl Reader {
    /// A reader of numbers in this notation.
    pub fn new(mut notation: Notation) -> Self {
        if notation.sign.is_some() {
            notation.units = Units::Refused;
        }
        let is_plain = notation.marks.is_none() && notation.sign.is_none() && !notation.leading;
        Self { notation, is_plain, respelled: Vec::new() }
    }

    /// The key of the number in a field without blanks around it; of the number with the other sign, if
    /// `descending`. The tail of an odd word is appended to `tail`.
    #[inline]
    pub fn key(&mut self, field: &[u8], descending: bool, tail: &mut Vec<u8>) -> Option<Value> {
        if self.is_plain {
            // Processors would mispredict a branch on the sign.
            let minus = field.first() == Some(&b'-');
            if let Some((integer, scale)) = decimal::parse_short(&field[usize::from(minus)..])
                && let Some(key) = decimal::short_key(integer, scale)
            {
                let negative = minus && key != ZERO;
                return Some(Value::Word(decimal::word(key, negative != descending)));
            }
        }
        self.any_key(field, descending, tail)
    }

    /// [`Self::key`] of any number.
    #[inline(never)]
    fn any_key(&mut self, field: &[u8], descending: bool, tail: &mut Vec<u8>) -> Option<Value> {
        let Notation { marks, sign, units, leading } = &self.notation;
        if let Some(special) = parse_special(field) {
            return Some(match special.is_nan() {
                true => Value::Nan,
                false => Value::Word(of_float(special, descending)),
            });
        }
        let (negative, text) =
            if let Some(sign) = sign { sign.strip(field, *leading)? } else { split_sign(field) };
        let text = if let Some(marks) = marks { marks.respell(text, &mut self.respelled)? } else { text };
        let start = tail.len();
        // Building a `Decimal` would double the time.
        let short = if self.is_plain { None } else { decimal::parse_short(text) };
        let short = short.and_then(|(integer, scale)| decimal::short_key(integer, scale));
        let key =
            if let Some(key) = short { key } else { parse_decimal(text, *units, *leading)?.0.key(tail) };
        let turns = (negative == Some(true) && key != ZERO) != descending;
        if turns {
            tail[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Some(Value::Word(decimal::word(key, turns)))
    }
}

/// Reads a number without digits.
fn parse_special(field: &[u8]) -> Option<f64> {
    let (_, name) = split_sign(field);
    if !matches!(name.len(), 3 | 8) || !name[0].is_ascii_alphabetic() {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Reads the decimal, and the unit behind it, that fill a text, or that a text begins with. The last value is the
/// length of the unit.
fn parse_decimal(text: &[u8], units: Units, leading: bool) -> Option<(Decimal, usize)> {
    let is_whole = || text.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !leading && (units == Units::Refused || is_whole()) {
        return Decimal::parse(text).map(|decimal| (decimal, 0));
    }
    let (_, rest) = digits::Decimal::split(text)?;
    let number = &text[..text.len() - rest.len()];
    let (unit, length) = parse_unit(rest, units);
    if !leading && length < rest.len() {
        return None;
    }
    let decimal = Decimal::parse(number)?;
    let has_exponent = || number.iter().any(u8::is_ascii_alphabetic);
    if length > 0 && units == Units::Clear && has_exponent() {
        return leading.then_some((decimal, 0));
    }
    Some((unit.times(decimal), length))
}

/// A currency or percent sign in front of all numbers of a column, or behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign(char);

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Sign {
    /// The sign that a character is.
    pub fn new(c: char) -> Option<Self> {
        /// The characters of the Unicode category Sc, without the block of currency symbols.
        const CURRENCIES: &str = "$\u{A2}\u{A3}\u{A4}\u{A5}\u{58F}\u{60B}\u{7FE}\u{7FF}\u{9F2}\u{9F3}\u{9FB}\
            \u{AF1}\u{BF9}\u{E3F}\u{17DB}\u{A838}\u{FDFC}\u{FE69}\u{FF04}\u{FFE0}\u{FFE1}\u{FFE5}\u{FFE6}\
            \u{11FDD}\u{11FDE}\u{11FDF}\u{11FE0}\u{1E2FF}\u{1ECB0}";
        let is_sign = c == '%' || matches!(c, '\u{20A0}'..='\u{20C0}') || CURRENCIES.contains(c);
        is_sign.then_some(Self(c))
    }

    /// The sign at either end of a field without plus or minus.
    fn find(field: &[u8]) -> Option<Self> {
        let ends = [*field.first()?, *field.last()?];
        if ends.is_ascii() {
            return ends.into_iter().find(|end| matches!(end, b'$' | b'%')).map(|end| Self(end.into()));
        }
        let first = field.chunks(4).next()?.utf8_chunks().next()?.valid().chars().next();
        let last = field.rchunks(4).next()?.utf8_chunks().last()?;
        let last = if last.invalid().is_empty() { last.valid().chars().next_back() } else { None };
        [first, last].into_iter().flatten().find_map(Self::new)
    }

    /// Splits a plus or minus, true for minus, from a field, and removes this sign and a blank beside this sign.
    /// With `leading`, the sign may be missing.
    fn strip(self, field: &[u8], leading: bool) -> Option<(Option<bool>, &[u8])> {
        let (outer, text) = split_sign(field);
        if let Some(text) = strip_char(text, self.0) {
            let text = BLANKS.iter().find_map(|blank| text.strip_prefix(blank.as_bytes())).unwrap_or(text);
            let (inner, text) = split_sign(text);
            return (outer.is_none() || inner.is_none()).then_some((outer.or(inner), text));
        }
        if leading {
            return Some((outer, text));
        }
        let text = text.strip_suffix(self.0.encode_utf8(&mut [0; 4]).as_bytes())?;
        let text = BLANKS.iter().find_map(|blank| text.strip_suffix(blank.as_bytes())).unwrap_or(text);
        Some((outer, text))
    }
}

/// The blanks that may be between a number and its sign.
const BLANKS: [&str; 4] = [" ", "\t", "\u{A0}", "\u{202F}"];

/// The look of a number, which decides about the kind of its column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The currency or percent sign.
    pub sign: Option<Sign>,
    /// True for a size with a unit.
    pub has_unit: bool,
    /// False for `inf` and `nan`.
    pub has_digit: bool,
}

/// Looks at a field without blanks around it: a number, or a size with a clear unit, with any currency or percent
/// sign. `None` is any other field.
pub fn look(field: &[u8], marks: Option<&Marks>) -> Option<Seen> {
    if parse_special(field).is_some() {
        return Some(Seen::default());
    }
    let (minus, text) = split_sign(field);
    let sign = Sign::find(text);
    let (_, text) = sign.map_or(Some((minus, text)), |sign| sign.strip(field, false))?;
    let mut respelled = Vec::new();
    let text = marks.map_or(Some(text), |marks| marks.respell(text, &mut respelled))?;
    let units = if sign.is_some() { Units::Refused } else { Units::Clear };
    let (_, unit) = parse_decimal(text, units, false)?;
    Some(Seen { sign, has_unit: unit > 0, has_digit: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_in(notation: Notation, text: &str, descending: bool) -> Option<(Value, Vec<u8>)> {
        let mut tail = Vec::new();
        Reader::new(notation).key(text.as_bytes(), descending, &mut tail).map(|value| (value, tail))
    }

    fn key(text: &str) -> Option<(Value, Vec<u8>)> {
        key_in(Notation::default(), text, false)
    }

    const NO_NUMBERS: [&str; 36] = [
        "",
        "+",
        "-",
        ".",
        "-.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e5.0",
        "1e5e5",
        "1.2.3",
        "1..2",
        "1,5",
        "1 ",
        " 1",
        "0x10",
        "1_000",
        "--1",
        "+-1",
        "1-",
        "1/2",
        "1:2",
        "in",
        "infinit",
        "na",
        "nano",
        "--inf",
        "1K",
        "$1",
        "1e1000000000000000001",
        "1e-1000000000000000001",
        "1e99999999999999999999999999999999999999999",
        "12345678901234567x",
        "1234567890.1234567.1",
        "123456789012345678901234567890.123.",
    ];

    #[test]
    fn numbers_and_others() {
        for text in NO_NUMBERS {
            assert_eq!(key(text), None, "{text}");
        }
        for text in ["\u{661}", "1\u{A0}", "\u{FF11}"] {
            assert_eq!(key(text), None, "{text}");
        }
        let mut bytes = b"1234567890123456.7890".to_vec();
        for at in 0..bytes.len() {
            for byte in
                (0..=255).filter(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E'))
            {
                let held = std::mem::replace(&mut bytes[at], byte);
                for text in [&bytes[..], &bytes[at..], &bytes[..=at]] {
                    assert_eq!(Reader::new(Notation::default()).key(text, false, &mut Vec::new()), None);
                }
                bytes[at] = held;
            }
        }
        for text in ["nan", "NaN", "-nan", "+NAN"] {
            assert_eq!(key(text), Some((Value::Nan, vec![])), "{text}");
        }
        for (a, b) in [
            ("1", "+1"),
            ("5.", "5"),
            (".5", "0.5"),
            ("-0", "0"),
            ("1E5", "100000"),
            ("1e+05", "1e5"),
            ("1e00000000000000000000000000000000005", "1e5"),
            ("0e1000000000000000000", "0"),
            ("inf", "+Infinity"),
            ("-INF", "-infinity"),
        ] {
            assert!(key(a).is_some(), "{a}");
            assert_eq!(key(a), key(b), "{a} {b}");
        }
    }

    #[test]
    fn a_sign_stands_in_front_or_behind() {
        let dollar = Notation { sign: Sign::new('$'), units: Units::All, ..Notation::default() };
        for (text, expected) in [
            ("$3", Some("3")),
            ("-$3", Some("-3")),
            ("$-3", Some("-3")),
            ("+$3", Some("3")),
            ("$ 3", Some("3")),
            ("-$ 3", Some("-3")),
            ("$ -3", Some("-3")),
            ("$\u{A0}3", Some("3")),
            ("3$", Some("3")),
            ("3 $", Some("3")),
            ("-3\u{202F}$", Some("-3")),
            ("inf", Some("inf")),
            ("$12345678901234567890123.5", Some("12345678901234567890123.5")),
            ("3", None),
            ("3%", None),
            ("$3$", None),
            ("-$-3", None),
            ("$", None),
            ("$  3", None),
            ("$inf", None),
            ("3 EUR", None),
            ("$4K", None),
        ] {
            for descending in [false, true] {
                let expected = expected.and_then(|text| key_in(Notation::default(), text, descending));
                assert_eq!(key_in(dollar, text, descending), expected, "{text}");
            }
        }
        let signs = ['%', '€', '£', '¥', '₿', '\u{20C0}', '\u{1ECB0}'];
        assert!(signs.into_iter().all(|c| Sign::new(c).is_some()));
        assert!(['E', '#', '\u{20C1}', '*'].into_iter().all(|c| Sign::new(c).is_none()));
    }

    #[test]
    fn leading_numbers_count_alone() {
        for (text, expected) in [
            ("45%", Some("45")),
            ("12ms", Some("12")),
            ("1.5.3", Some("1.5")),
            ("5.x", Some("5")),
            ("-1e5x", Some("-1e5")),
            ("1e", Some("1")),
            ("1e-x", Some("1")),
            ("3 4", Some("3")),
            ("nan", Some("nan")),
            ("$4", None),
            ("x4", None),
            ("infinite", None),
            ("-", None),
            (".x", None),
            ("", None),
        ] {
            let leading = Notation { leading: true, ..Notation::default() };
            assert_eq!(key_in(leading, text, false), expected.and_then(key), "{text}");
        }
        let leading = |units, sign| Notation { leading: true, units, sign, ..Notation::default() };
        for (text, units, sign, expected) in [
            ("12Kb/s", Units::All, None, "12000"),
            ("12ms", Units::All, None, "12582912"),
            ("12ms", Units::Clear, None, "12"),
            ("1e3K", Units::Clear, None, "1000"),
            ("-$4 each", Units::Refused, Sign::new('$'), "-4"),
            ("4% or so", Units::Refused, Sign::new('%'), "4"),
        ] {
            assert_eq!(key_in(leading(units, sign), text, false), key(expected), "{text}");
        }
    }

    #[test]
    fn marks_are_read() {
        let marks = Marks::new(',', Some('.')).ok();
        let notation = |sign, units| Notation { marks, sign, units, leading: false };
        for (text, sign, units, expected) in [
            ("1.234,5", None, Units::Refused, Some("1234.5")),
            ("-1.234.567", None, Units::Refused, Some("-1234567")),
            ("+,5", None, Units::Refused, Some(".5")),
            ("1.234,50 €", Sign::new('€'), Units::Refused, Some("1234.5")),
            ("-€ 1.234,50", Sign::new('€'), Units::Refused, Some("-1234.5")),
            ("1,5K", None, Units::All, Some("1536")),
            ("1,0000000000000000000001e3", None, Units::All, Some("1000.0000000000000000001")),
            ("1.5", None, Units::Refused, None),
            ("1,5,5", None, Units::Refused, None),
        ] {
            assert_eq!(key_in(notation(sign, units), text, false), expected.and_then(key), "{text}");
        }
    }

    #[test]
    fn looks() {
        let seen = |sign, has_unit| Some(Seen { sign, has_unit, has_digit: true });
        for (text, expected) in [
            ("3", seen(None, false)),
            ("-30", seen(None, false)),
            ("3.9", seen(None, false)),
            ("3.10", seen(None, false)),
            ("3.", seen(None, false)),
            ("1.5e10", seen(None, false)),
            ("$3.50", seen(Sign::new('$'), false)),
            ("$-3", seen(Sign::new('$'), false)),
            ("-3 %", seen(Sign::new('%'), false)),
            ("€\u{A0}3", seen(Sign::new('€'), false)),
            ("4.0K", seen(None, true)),
            ("7B", seen(None, true)),
            ("$4K", None),
            ("4m", None),
            ("$3€", None),
            ("$", None),
            ("$inf", None),
            ("x", None),
            ("\u{20AC}", None),
        ] {
            assert_eq!(look(text.as_bytes(), None), expected, "{text}");
        }
        assert!(look(b"-inf", None).is_some_and(|seen| !seen.has_digit));
        assert_eq!(look(b"\xFF3", None), None);
        assert_eq!(look(b"3\xE2\x82", None), None);
        let marks = Marks::new(',', Some('.')).ok();
        assert_eq!(look("1.234,50 €".as_bytes(), marks.as_ref()), seen(Sign::new('€'), false));
        assert!(
            NO_NUMBERS
                .into_iter()
                .all(|text| look(text.as_bytes(), None).is_none() || "1K $1".contains(text))
        );
    }
}
