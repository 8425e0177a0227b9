//! Units of sizes, as in `4.0K`, `1.5GiB`, `300MB` and `7B`.
//!
//! `K M G T P E Z Y R Q` are powers of 1024, in either case, with or without `i` or `iB` behind them. `kB MB GB TB
//! PB EB ZB YB RB QB` are powers of 1000. `B` alone is bytes.

use crate::decimal::Decimal;

/// The units that numbers of a column may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// A number has no unit.
    #[default]
    Refused,
    /// Units of sizes without a doubt: upper case or `k`, and no exponent in front.
    Clear,
    /// All units.
    All,
}

/// The prefix of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// 1024, or else 1000.
    is_binary: bool,
    power: u32,
}

/// Reads the unit at the beginning of these bytes. The length is 0 if the column does not have this unit.
pub(crate) fn parse_unit(bytes: &[u8], units: Units) -> (Unit, usize) {
    let is_prefix = |prefix: &u8| bytes.first().is_some_and(|first| first.eq_ignore_ascii_case(prefix));
    let power = b"KMGTPEZYRQ".iter().position(is_prefix).map_or(0, |prefix| prefix as u32 + 1);
    let begin = usize::from(power > 0);
    let (is_binary, length) = match &bytes[begin..] {
        [b'I' | b'i', b'B' | b'b', ..] if power > 0 => (true, 3),
        [b'I' | b'i', ..] if power > 0 => (true, 2),
        [b'B' | b'b', ..] => (false, begin + 1),
        _ => (true, begin),
    };
    let is_clear = matches!(bytes.first(), Some(b'k' | b'A'..=b'Z'))
        && matches!(&bytes[length.min(1)..length], b"" | b"B" | b"i" | b"iB");
    let is_known = units == Units::All || units == Units::Clear && is_clear;
    if is_known { (Unit { is_binary, power }, length) } else { (Unit { is_binary: true, power: 0 }, 0) }
}

impl Unit {
    /// The number of units as a number of bytes.
    pub(crate) fn times(self, decimal: Decimal) -> Decimal {
        if self.is_binary {
            decimal.doubled(10 * self.power)
        } else {
            decimal.shifted(3 * i64::from(self.power))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::{Notation, Reader, Value};

    fn key(text: &str, units: Units) -> Option<(Value, Vec<u8>)> {
        let mut tail = Vec::new();
        let mut reader = Reader::new(Notation { units, ..Notation::default() });
        reader.key(text.as_bytes(), false, &mut tail).map(|value| (value, tail))
    }

    #[test]
    fn sizes_are_numbers_of_bytes() {
        for (text, expected) in [
            ("12", "12"),
            ("7B", "7"),
            ("-3b", "-3"),
            ("4.0K", "4096"),
            ("4K", "4096.0"),
            ("4k", "4096"),
            ("1.5KiB", "1536"),
            ("1KIB", "1024"),
            ("1Ki", "1024"),
            ("1kB", "1000"),
            ("1KB", "1e3"),
            ("1.5mb", "1500000"),
            ("0.001GB", "1000000"),
            ("1.1K", "1126.4"),
            ("2M", "2097152"),
            ("3G", "3221225472"),
            ("1T", "1099511627776"),
            ("1PB", "1000000000000000"),
            ("7E", "8070450532247928832"),
            ("7e", "8070450532247928832"),
            ("16E", "18446744073709551616"),
            ("1e23", "100000000000000000000000"),
            ("2Z", "2361183241434822606848"),
            ("2yib", "2417851639229258349412352"),
            ("1.5RB", "1500000000000000000000000000"),
            ("1.1Q", "1394415660251052341646373525913.6"),
            ("1Q", "1267650600228229401496703205376"),
            ("0.000000000000000000000000000000000000001e39QB", "1e30"),
            ("1e3K", "1024000"),
            ("5E2B", "500"),
            ("+0.5K", "512"),
            ("-0K", "0"),
            (".5M", "524288"),
            ("1e1000000000000000000Q", "1267650600228229401496703205376e1000000000000000000"),
            ("1e-1000000000000000000QB", "1e-999999999999999970"),
        ] {
            assert!(key(expected, Units::Refused).is_some(), "{expected}");
            assert_eq!(key(text, Units::All), key(expected, Units::Refused), "{text}");
        }
        for text in ["", "K", "x1", "-", ".K", "1K ", "12Kb/s", "12ms", "1KK", "infK", "1iB", "1 K"] {
            assert_eq!(key(text, Units::All), None, "{text}");
        }
    }

    #[test]
    fn clear_units_are_in_upper_case_or_k() {
        for (text, is_clear) in [
            ("1K", true),
            ("1k", true),
            ("1MiB", true),
            ("1Mi", true),
            ("1kB", true),
            ("1B", true),
            ("1", true),
            ("1e5", true),
            ("1E5", true),
            ("1E", true),
            ("1m", false),
            ("1b", false),
            ("1Mb", false),
            ("1MIB", false),
            ("1e3K", false),
            ("1E2B", false),
        ] {
            assert_eq!(key(text, Units::Clear).is_some(), is_clear, "{text}");
            assert!(key(text, Units::All).is_some(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn products_are_exact(
            digits in "[0-9]{1,50}", point in 0_usize..51, power in 0_usize..11, form in 0_usize..4, exponent in -20_i32..20,
        ) {
            let prefix = ["", "K", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"][power];
            let unit = if power == 0 { ["", "B", "b", ""][form] } else { ["", "i", "iB", "B"][form] };
            let (whole, fraction) = digits.split_at(point.min(digits.len()));
            let doublings = if unit == "B" { 0 } else { 10 * power };
            let shift = if power > 0 && unit == "B" { 3 * power } else { 0 };
            let mut product = format!("0000000000000000000000000000000{digits}").into_bytes();
            for _ in 0..doublings {
                let mut carry = 0;
                for digit in product.iter_mut().rev() {
                    let doubled = 2 * (*digit - b'0') + carry;
                    (*digit, carry) = (b'0' + doubled % 10, doubled / 10);
                }
            }
            let product = String::from_utf8(product).unwrap();
            let expected = format!("{product}e{}", exponent - fraction.len() as i32 + shift as i32);
            let text = format!("{whole}.{fraction}e{exponent}{prefix}{unit}");
            prop_assert_eq!(key(&text, Units::All), key(&expected, Units::Refused), "{}", text);
        }
    }
}
