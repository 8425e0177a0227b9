//! Numbers: decimals of any length, compared exactly.
//!
//! A number is `[+-]`, then digits with an optional point (a digit on at least one side of the point) and an
//! optional exponent, or `inf`, `infinity` or `nan` in any case.
//!
//! # Keys
//!
//! Each finite `f64` has a shortest decimal that reads as this `f64`. The word of a number is the greatest
//! `f64` whose shortest decimal is not above the number, so the word rises with the number:
//!
//! ```text
//! shortest decimals   ──┬───────────┬───────────┬──
//!                      0.1          │          0.10000000000000002
//! numbers              0.1   0.10000000000000001 …
//! word                 [0.1      ] [0.10000000000000002
//! ```
//!
//! A shortest decimal needs no further bytes. Numbers of up to 15 digits are shortest decimals, and so is each
//! `f64` that a program printed. The further bytes of other numbers are their exponent and all digits.

use std::cmp::Ordering;

/// The most digits whose decimal is the shortest of its `f64`, if this is a normal number.
const SURE_DIGITS: u64 = 15;

/// Powers of ten. An `f64` holds them exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The greatest exponent that a number may be written with.
const MOST_EXPONENT: u64 = 1_000_000_000_000_000_000;

/// A number in text.
#[derive(Clone, Copy, Debug)]
pub enum Number<'a> {
    /// A decimal.
    Finite(Decimal<'a>),
    /// An infinity; true for the negative one.
    Infinite(bool),
    /// Not a number.
    Nan,
}

/// A decimal of any length.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    /// The text without its sign.
    text: &'a [u8],
    /// The length of the digits with their point, from the beginning of the text.
    length: usize,
    /// The number of digits without zeros in front.
    count: u64,
    /// The digits as an integer, if there are at most 19.
    integer: u64,
    /// The power of ten of the last digit.
    scale: i64,
}

impl<'a> Number<'a> {
    /// Reads a number that fills the whole field.
    #[must_use]
    pub fn parse(field: &'a [u8]) -> Option<Self> {
        let (negative, unsigned) = match field {
            [sign @ (b'+' | b'-'), unsigned @ ..] => (*sign == b'-', unsigned),
            _ => (false, field),
        };
        match unsigned.first()? {
            b'0'..=b'9' | b'.' => Decimal::parse(negative, unsigned).map(Self::Finite),
            b'i' | b'I' | b'n' | b'N' => {
                let is = |name: &str| unsigned.eq_ignore_ascii_case(name.as_bytes());
                match () {
                    () if is("inf") || is("infinity") => Some(Self::Infinite(negative)),
                    () if is("nan") => Some(Self::Nan),
                    () => None,
                }
            }
            _ => None,
        }
    }

    /// The word of the key; the further bytes are appended to `rest`. `None` is NaN, which has no place among
    /// numbers.
    #[inline]
    pub fn key(&self, rest: &mut Vec<u8>) -> Option<u64> {
        match self {
            Self::Finite(decimal) => Some(decimal.key(rest)),
            Self::Infinite(negative) => Some(word(if *negative { f64::NEG_INFINITY } else { f64::INFINITY })),
            Self::Nan => None,
        }
    }
}

impl std::ops::Neg for Number<'_> {
    type Output = Self;

    /// The number with the other sign, whose key falls as the number rises.
    fn neg(self) -> Self {
        match self {
            Self::Finite(decimal) => Self::Finite(Decimal { negative: !decimal.negative, ..decimal }),
            Self::Infinite(negative) => Self::Infinite(!negative),
            Self::Nan => Self::Nan,
        }
    }
}

impl<'a> Decimal<'a> {
    /// Reads digits, a point and an exponent, without a sign.
    #[inline]
    fn parse(negative: bool, text: &'a [u8]) -> Option<Self> {
        let mut integer = 0;
        let whole = read_digits(text, &mut integer);
        let (fraction, length) = match text.get(whole) {
            Some(b'.') => {
                let fraction = read_digits(&text[whole + 1..], &mut integer);
                (fraction, whole + 1 + fraction)
            }
            _ => (0, whole),
        };
        if whole + fraction == 0 {
            return None;
        }
        let exponent = match &text[length..] {
            [] => 0,
            [b'e' | b'E', exponent @ ..] => parse_exponent(exponent)?,
            _ => return None,
        };
        let zeros = if matches!(text[0], b'1'..=b'9') { 0 } else { leading_zeros(&text[..length]) };
        let count = (whole + fraction - zeros) as u64;
        Some(Self { negative, text, length, count, integer, scale: exponent - fraction as i64 })
    }

    /// The word of the key; the further bytes are appended to `rest`.
    #[inline]
    fn key(&self, rest: &mut Vec<u8>) -> u64 {
        if self.count > SURE_DIGITS || self.scale.unsigned_abs() >= POWERS.len() as u64 {
            return self.long_key(rest);
        }
        let (integer, power) = (self.integer as f64, POWERS[self.scale.unsigned_abs() as usize]);
        let nearest = if self.scale < 0 { integer / power } else { integer * power };
        // Zero has no sign.
        word(if self.negative && self.count > 0 { -nearest } else { nearest })
    }

    /// [`Self::key`] of any decimal.
    fn long_key(&self, rest: &mut Vec<u8>) -> u64 {
        if self.count == 0 {
            return word(0.0);
        }
        let nearest: f64 = fast_float2::parse(self.text).expect("a number is read by all");
        let nearest = if self.negative { -nearest } else { nearest };
        if self.count <= SURE_DIGITS && nearest.is_normal() {
            return word(nearest);
        }
        let (below, order) = self.below(nearest);
        if order != Ordering::Equal {
            self.push_digits(rest);
        }
        word(below)
    }

    /// The greatest `f64` whose shortest decimal is not above this one, and how this one compares with that
    /// decimal.
    fn below(&self, nearest: f64) -> (f64, Ordering) {
        let order = self.compare_shortest(nearest);
        if order != Ordering::Less {
            return (nearest, order);
        }
        // Zero has no sign, so no word stands for the negative zero.
        let below = if nearest == 0.0 { -f64::from_bits(1) } else { nearest.next_down() };
        (below, Ordering::Greater)
    }

    /// Compares this decimal, which is not zero, with the shortest one of its nearest `f64`.
    fn compare_shortest(&self, nearest: f64) -> Ordering {
        if nearest == 0.0 {
            return if self.negative { Ordering::Less } else { Ordering::Greater };
        }
        if nearest.is_infinite() {
            return if self.negative { Ordering::Greater } else { Ordering::Less };
        }
        let mut buffer = zmij::Buffer::new();
        let shortest = buffer.format_finite(nearest.abs()).as_bytes();
        if shortest == self.text {
            return Ordering::Equal;
        }
        let shortest = Decimal::parse(false, shortest).expect("a number is printed as one");
        let digits = || self.each_digit().cmp(shortest.each_digit());
        let magnitudes = self.exponent().cmp(&shortest.exponent()).then_with(digits);
        if self.negative { magnitudes.reverse() } else { magnitudes }
    }

    /// The exponent e of 0.d₁d₂d₃… · 10^e, where the first digit is not 0.
    fn exponent(&self) -> i64 {
        self.scale + self.count as i64
    }

    /// The values of the digits, without zeros at both ends.
    fn each_digit(&self) -> impl Iterator<Item = u8> + 'a {
        let is_zero = |byte: &u8| matches!(byte, b'0' | b'.');
        let digits = &self.text[..self.length];
        let end = digits.iter().rposition(|byte| !is_zero(byte)).map_or(0, |last| last + 1);
        digits[..end]
            .iter()
            .skip_while(move |byte| is_zero(byte))
            .filter(|&&byte| byte != b'.')
            .map(|byte| byte - b'0')
    }

    /// Appends the exponent and all digits so that bytes compare as decimals of this sign do.
    fn push_digits(&self, rest: &mut Vec<u8>) {
        let start = rest.len();
        rest.extend_from_slice(&(self.exponent() as u64 ^ 1 << 63).to_be_bytes());
        let mut digits = self.each_digit();
        while let Some(tens) = digits.next() {
            rest.push(1 + 10 * tens + digits.next().unwrap_or(0));
        }
        if self.negative {
            rest[start..].iter_mut().for_each(|byte| *byte = !*byte);
            // More digits make a negative decimal less, and their bytes are less than this one.
            rest.push(u8::MAX);
        }
    }
}

/// Appends the digits at the beginning of a text to an integer, and returns their number. An integer that
/// overflows wraps around.
#[inline]
fn read_digits(text: &[u8], integer: &mut u64) -> usize {
    let mut end = 0;
    while let Some(digit) = text.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        *integer = integer.wrapping_mul(10).wrapping_add(digit.into());
        end += 1;
    }
    end
}

/// The zeros before all other digits.
fn leading_zeros(digits: &[u8]) -> usize {
    let before = digits.iter().take_while(|byte| matches!(byte, b'0' | b'.'));
    before.filter(|&&byte| byte == b'0').count()
}

/// The digits of an exponent, with their sign.
fn parse_exponent(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [sign @ (b'+' | b'-'), digits @ ..] => (*sign == b'-', digits),
        _ => (false, bytes),
    };
    if digits.is_empty() {
        return None;
    }
    let mut exponent = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        exponent = (exponent * 10 + u64::from(digit)).min(MOST_EXPONENT + 1);
    }
    (exponent <= MOST_EXPONENT).then_some(if negative { -(exponent as i64) } else { exponent as i64 })
}

/// The bits of an `f64` as a word that rises with the `f64`. NaN has no such word.
fn word(float: f64) -> u64 {
    let bits = float.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> (u64, Vec<u8>) {
        let mut rest = Vec::new();
        let word = Number::parse(text.as_bytes()).expect(text).key(&mut rest).expect(text);
        (word, rest)
    }

    /// A number as its sign, and digits before and behind a point, without zeros at both ends.
    fn plain(text: &str) -> (bool, Vec<u8>, Vec<u8>) {
        let (negative, text) = match text.split_at_checked(1) {
            Some(("-", text)) => (true, text),
            Some(("+", text)) => (false, text),
            _ => (false, text),
        };
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (mut whole, mut fraction) = (whole.as_bytes().to_vec(), fraction.as_bytes().to_vec());
        let exponent: i64 = exponent.parse().unwrap();
        for _ in 0..exponent {
            whole.push(if fraction.is_empty() { b'0' } else { fraction.remove(0) });
        }
        for _ in exponent..0 {
            fraction.insert(0, whole.pop().unwrap_or(b'0'));
        }
        let whole: Vec<u8> = whole.into_iter().skip_while(|&digit| digit == b'0').collect();
        let zeros = fraction.iter().rev().take_while(|&&digit| digit == b'0').count();
        fraction.truncate(fraction.len() - zeros);
        (negative && !(whole.is_empty() && fraction.is_empty()), whole, fraction)
    }

    /// Compares numbers digit by digit.
    fn compare(a: &str, b: &str) -> Ordering {
        let (a, b) = (plain(a), plain(b));
        let magnitudes = |a: &(bool, Vec<u8>, Vec<u8>), b: &(bool, Vec<u8>, Vec<u8>)| {
            a.1.len().cmp(&b.1.len()).then_with(|| a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2))
        };
        match (a.0, b.0) {
            (false, false) => magnitudes(&a, &b),
            (true, true) => magnitudes(&b, &a),
            (a, b) => b.cmp(&a),
        }
    }

    /// Numbers near each other, numbers near the limits of `f64`, and other spellings of these.
    const NUMBERS: [&str; 64] = [
        "0",
        "-0",
        "0.0",
        "+0e5",
        ".0",
        "0.",
        "1",
        "1.0",
        "01",
        "1e0",
        "10e-1",
        "0.1e1",
        "-1",
        "-1.000",
        "9007199254740992",
        "9007199254740993",
        "9007199254740994",
        "9007199254740992.5",
        "-9007199254740993",
        "0.1",
        "0.10000000000000001",
        "0.1000000000000000055511151231257827",
        "0.10000000000000002",
        "0.30000000000000004",
        "0.3",
        "1e-350",
        "2e-350",
        "-1e-350",
        "-2e-350",
        "5e-324",
        "4.9e-324",
        "4.94065645841246544e-324",
        "-5e-324",
        "-3e-324",
        "2e-324",
        "1e-310",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.79769313486231580793e308",
        "1e309",
        "2e309",
        "1e400",
        "-1e309",
        "-1.7976931348623157e308",
        "-1e400",
        "123456789012345678901234567890",
        "123456789012345678901234567891",
        "100000000000000000000000",
        "1e23",
        "99999999999999991611392",
        "9.999999999999999e22",
        "999999999999999",
        "999999999999999.5",
        "1000000000000000",
        "1732060800.1234567890",
        "1732060800.1234567891",
        "1732060800.12345678905",
        "-1732060800.1234567890",
        "-1732060800.1234567891",
        "-1732060800.123456789",
        "1.10",
    ];

    #[test]
    fn keys_compare_as_numbers_do() {
        for a in NUMBERS {
            for b in NUMBERS {
                assert_eq!(key(a).cmp(&key(b)), compare(a, b), "{a} {b}");
            }
        }
        // The comparison must be able to fail.
        assert_ne!(key("0.1").0.cmp(&key("0.10000000000000001").0), compare("0.1", "0.10000000000000001"));
    }

    #[test]
    fn infinities_are_at_the_ends_and_nan_has_no_key() {
        for number in NUMBERS {
            assert!(key("-inf") < key(number) && key(number) < key("Infinity"), "{number}");
        }
        assert!(key("-1e999999999999999999") > key("-inf") && key("1e1000000000000000000") < key("+INF"));
        assert!(Number::parse(b"-NaN").unwrap().key(&mut Vec::new()).is_none());
    }

    #[test]
    fn what_programs_print_needs_no_further_bytes() {
        for text in [
            "1",
            "-12.50",
            "9007199254740993e0",
            "0.1",
            "5e-324",
            "1.7976931348623157e308",
            "123456789012345",
        ] {
            let has_rest = !key(text).1.is_empty();
            assert_eq!(has_rest, text.starts_with("9007199254740993"), "{text}");
        }
        let mut bits = 1_u64;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let float = f64::from_bits(bits);
            if float.is_finite() {
                let mut buffer = zmij::Buffer::new();
                assert_eq!(key(buffer.format_finite(float)), (word(float), vec![]), "{float:e}");
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "-.",
            "e5",
            "1e",
            "1e+",
            "1e5.0",
            "1.2.3",
            "1,5",
            "1 ",
            " 1",
            "0x10",
            "1_000",
            "--1",
            "in",
            "infinit",
            "na",
            "nano",
            "1e1000000000000000001",
            "1e-1000000000000000001",
            "\u{661}",
        ] {
            assert!(Number::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn near_numbers_compare_exactly(
            digits in "[0-9]{0,40}", point in 0_usize..41, tail in "[0-9]{0,6}", other in "[0-9]{0,6}",
            exponent in -400_i64..400, negative: bool,
        ) {
            let (whole, fraction) = digits.split_at(point.min(digits.len()));
            let sign = if negative { "-" } else { "" };
            let number = |tail: &str| format!("{sign}{whole}0.{fraction}{tail}e{exponent}");
            let (a, b) = (number(&tail), number(&other));
            prop_assert_eq!(key(&a).cmp(&key(&b)), compare(&a, &b), "{} {}", a, b);
            let negated = |text: &str| {
                let mut rest = Vec::new();
                (Number::parse(text.as_bytes()).map(|number| -number).unwrap().key(&mut rest), rest)
            };
            prop_assert_eq!(negated(&b).cmp(&negated(&a)), compare(&a, &b), "{} {}", a, b);
        }
    }
}
