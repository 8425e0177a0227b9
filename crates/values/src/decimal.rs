//! Decimals of any length, and keys that compare exactly as they do.
//!
//! # Keys
//!
//! The key of a magnitude has two halves of 64 bits: the bits of the nearest `f64`, and the distance of the
//! decimal from the reference decimal of this `f64`, counted around [`MID`]:
//!
//! | nearest `f64` | reference | unit of the distance |
//! |---|---|---|
//! | integer from 2^53 to 2^64, inclusive | the integer | 10^-15 |
//! | other normal number | the shortest decimal that reads as this `f64` | the reference's 34th digit |
//! | subnormal, zero, or overflow | the shortest decimal | none: below, equal or above |
//!
//! The distance is rounded down. If digits remain, the key is odd and these digits are its tail:
//!
//! | decimal | nearest `f64` | reference | lower half | tail |
//! |---|---|---|---|---|
//! | `0.1` | 0.1 | `0.1` | `MID` | |
//! | `0.100000000000000001` | 0.1 | `0.1` | `MID` + 2 · 10^16 | |
//! | `0.1`, 39 zeros, `5` | 0.1 | `0.1` | `MID` + 1 | `0000005` |
//! | `9007199254740993` | 2^53 | `9007199254740992` | `MID` + 2 · 10^15 | |
//!
//! A decimal of up to 15 digits is its own reference, and so is an `f64` printed with the fewest digits. The word
//! of a number is its key added to 2^127, or subtracted from 2^127. Both keep the lowest bit.

use std::cmp::Ordering;

use crate::digit_words::{eight, load8, load16, sixteen};
use crate::digits::split_exponent;

/// The lower half of the key of a decimal that equals its reference.
pub const MID: u64 = 1 << 63;

/// The key of zero.
pub(crate) const ZERO: u128 = MID as u128;

/// The least integer with 16 digits. A decimal with fewer digits is the shortest of its `f64`.
const SURE: u64 = 1_000_000_000_000_000;

/// The digits of a reference decimal down to the unit of distance, filled up with zeros.
const PRECISION: u32 = 34;

/// The decimals of the unit of distance between integers.
const INTEGER_DECIMALS: usize = 15;

/// The word of a number is its key above or below this word.
const ORIGIN: u128 = 1 << 127;

/// The greatest exponent that a number may be written with.
const MOST_EXPONENT: i64 = 1_000_000_000_000_000_000;

/// Powers of ten. An `f64` holds them exactly up to 10^22.
pub const POWERS: [f64; 28] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27,
];

/// Integer powers of ten.
const TENS: [i128; 38] = powers(10);

/// Integer powers of five.
const FIVES: [i128; 28] = powers(5);

const fn powers<const N: usize>(base: i128) -> [i128; N] {
    let mut powers = [1; N];
    let mut at = 1;
    while at < N {
        powers[at] = powers[at - 1] * base;
        at += 1;
    }
    powers
}

/// The word of an `f64` other than NaN.
#[inline]
pub fn of_float(float: f64, descending: bool) -> u128 {
    word(middle(float.abs()), (float < 0.0) != descending)
}

/// The word of a magnitude's key. `negative` turns the order.
#[inline]
pub(crate) fn word(key: u128, negative: bool) -> u128 {
    if negative { ORIGIN - key } else { ORIGIN + key }
}

/// The key of the reference decimal of a positive `f64` or zero.
#[inline]
pub(crate) fn middle(nearest: f64) -> u128 {
    u128::from(nearest.to_bits()) << 64 | u128::from(MID)
}

/// The key of a decimal at this distance from its reference.
///
/// The decimal and its reference both read as `nearest`, so less than one step of `f64` is between them: at most
/// 2^-52 of a number below 10^34 units, or 2048 · 10^15 units. Twice the distance is less than 2^63.
fn beside(nearest: f64, distance: i128) -> u128 {
    middle(nearest).wrapping_add_signed(2 * distance)
}

/// Integers of this size have distances in decimals, because their shortest decimals are not themselves.
#[inline]
fn is_long_integer(nearest: f64) -> bool {
    (9_007_199_254_740_992.0..=18_446_744_073_709_551_616.0).contains(&nearest)
}

/// The key of an integer near this long integer.
fn long_integer_key(integer: i128, nearest: f64) -> u128 {
    beside(nearest, (integer - nearest as i128) * TENS[INTEGER_DECIMALS])
}

/// The word of an integer of 64 bits.
///
/// # Panics
///
/// Panics for another integer.
#[inline]
pub fn of_integer(integer: i128, descending: bool) -> u128 {
    // Conversions of 128-bit integers are function calls.
    let magnitude = u64::try_from(integer.unsigned_abs()).expect("the integer has 64 bits");
    let nearest = magnitude as f64;
    let key =
        if is_long_integer(nearest) { long_integer_key(magnitude.into(), nearest) } else { middle(nearest) };
    word(key, (integer < 0) != descending)
}

/// The integer of the word of a number, if the number is an integer of 64 bits.
#[inline]
pub fn integer(word: u128, descending: bool) -> Option<i128> {
    const UNIT: i64 = 2 * TENS[INTEGER_DECIMALS] as i64;
    let key = word.abs_diff(ORIGIN);
    let (nearest, distance) =
        (f64::from_bits((key >> 64) as u64), (key as u64).wrapping_sub(MID).cast_signed());
    let magnitude = if is_long_integer(nearest) {
        (distance % UNIT == 0).then(|| nearest as i128 + i128::from(distance / UNIT))?
    } else {
        let integer = nearest as i64;
        #[allow(clippy::float_cmp, reason = "the conversion is exact, or it is not")]
        (distance == 0 && integer as f64 == nearest).then_some(integer.into())?
    };
    let integer = if (word < ORIGIN) == descending { magnitude } else { -magnitude };
    (i64::MIN.into()..=u64::MAX.into()).contains(&integer).then_some(integer)
}

/// A decimal without a sign.
pub(crate) enum Decimal {
    /// An integer, and the power of ten to multiply it with.
    Short(u64, i64),
    Long(Digits),
}

impl Decimal {
    /// Reads a decimal that fills the whole text.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let end = memchr::memchr2(b'e', b'E', text).unwrap_or(text.len());
        let (mantissa, rest) = text.split_at(end);
        let (exponent, rest) = if rest.is_empty() { (0, rest) } else { split_exponent(rest)? };
        if !rest.is_empty() || exponent.abs() > MOST_EXPONENT {
            return None;
        }
        match parse_short(mantissa) {
            Some((integer, scale)) => Some(Self::Short(integer, scale + exponent)),
            None => Digits::parse(mantissa, exponent).map(Self::Long),
        }
    }

    /// The decimal times 10^`power`.
    pub(crate) fn shifted(self, power: i64) -> Self {
        match self {
            Self::Short(integer, scale) => Self::Short(integer, scale + power),
            Self::Long(digits) => Self::Long(Digits { exponent: digits.exponent + power, ..digits }),
        }
    }

    /// The decimal times 2^`power`; at most 100.
    pub(crate) fn doubled(self, power: u32) -> Self {
        if let Self::Short(integer, scale) = self
            && integer.leading_zeros() >= power
        {
            return Self::Short(integer << power, scale);
        }
        let Digits { mut digits, exponent } = self.into_digits();
        let mut carry = 0;
        for digit in digits.iter_mut().rev() {
            carry += u128::from(*digit - b'0') << power;
            *digit = b'0' + (carry % 10) as u8;
            carry /= 10;
        }
        let carried = carry.to_string().into_bytes();
        let exponent = exponent + carried.len() as i64;
        Self::Long(Digits::new([carried, digits].concat(), exponent))
    }

    /// The key of the magnitude. A tail is appended if the key is odd.
    pub(crate) fn key(self, tail: &mut Vec<u8>) -> u128 {
        if let Self::Short(integer, scale) = self
            && let Some(key) = short_key(integer, scale)
        {
            return key;
        }
        self.into_digits().key(tail)
    }

    fn into_digits(self) -> Digits {
        match self {
            Self::Short(integer, scale) => {
                let digits = integer.to_string().into_bytes();
                let exponent = scale + digits.len() as i64;
                Digits::new(digits, exponent)
            }
            Self::Long(digits) => digits,
        }
    }
}

/// Reads digits with or without a point: up to 32 bytes, whose digits are an integer of 64 bits. The scale of
/// the integer is minus the number of decimals.
#[inline]
pub fn parse_short(text: &[u8]) -> Option<(u64, i64)> {
    match text.len() {
        1..=8 => {
            let digits = load8(text);
            let others = eight::others(digits);
            if others == 0 {
                return Some((eight::integer(digits), 0));
            }
            let has_point = eight::is_only_point(digits, others) && text.len() > 1;
            has_point.then(|| (eight::integer(eight::close_gap(digits, others)), eight::place(others) - 7))
        }
        9..=16 => {
            let digits = load16(text);
            let others = sixteen::others(digits);
            if others == 0 {
                return Some((sixteen::integer(digits), 0));
            }
            sixteen::is_only_point(digits, others)
                .then(|| (sixteen::integer(sixteen::close_gap(digits, others)), sixteen::place(others) - 15))
        }
        _ => parse_longer(text),
    }
}

/// [`parse_short`] of 17 to 32 bytes.
fn parse_longer(text: &[u8]) -> Option<(u64, i64)> {
    if !(17..=32).contains(&text.len()) {
        return None;
    }
    if let [b'0', b'.', decimals @ ..] = text
        && (16..=19).contains(&decimals.len())
        && let (first, rest) = decimals.split_at(16)
        && let digits = load16(first)
        && sixteen::others(digits) == 0
    {
        let digit =
            |integer: u64, byte: &u8| byte.is_ascii_digit().then(|| integer * 10 + u64::from(byte - b'0'));
        let integer = rest.iter().try_fold(sixteen::integer(digits), digit)?;
        return Some((integer, -(decimals.len() as i64)));
    }
    let (head, tail) = text.split_at(text.len() - 16);
    let (mut head, mut tail) = (load16(head), load16(tail));
    let (in_head, in_tail) = (sixteen::others(head), sixteen::others(tail));
    let mut scale = 0;
    if in_tail != 0 {
        if in_head != 0 || !sixteen::is_only_point(tail, in_tail) {
            return None;
        }
        scale = sixteen::place(in_tail) - 15;
        tail = sixteen::close_gap(tail, in_tail) | head >> 120;
        head <<= 8;
    } else if in_head != 0 {
        if !sixteen::is_only_point(head, in_head) {
            return None;
        }
        scale = sixteen::place(in_head) - 31;
        head = sixteen::close_gap(head, in_head);
    }
    let high = sixteen::integer(head).checked_mul(10 * SURE)?;
    Some((high.checked_add(sixteen::integer(tail))?, scale))
}

/// The key of an integer times 10^`scale`. `None` is inconclusive.
#[inline]
pub(crate) fn short_key(integer: u64, scale: i64) -> Option<u128> {
    if integer < SURE && (-22..=0).contains(&scale) {
        return Some(middle(integer.cast_signed() as f64 / POWERS[scale.unsigned_abs() as usize]));
    }
    middling_key(integer, scale)
}

/// [`short_key`] of more digits, or of larger numbers.
fn middling_key(mut integer: u64, mut scale: i64) -> Option<u128> {
    if integer == 0 {
        return Some(ZERO);
    }
    while scale < 0 && integer.is_multiple_of(10) {
        (integer, scale) = (integer / 10, scale + 1);
    }
    match scale {
        0..=22 if integer < SURE || scale == 0 => {
            let nearest = integer as f64 * POWERS[scale as usize];
            if is_long_integer(nearest) {
                return Some(long_integer_key(i128::from(integer) * TENS[scale as usize], nearest));
            }
            (integer < 1 << 53).then(|| middle(nearest))
        }
        -22..0 if integer < SURE => Some(middle(integer as f64 / POWERS[scale.unsigned_abs() as usize])),
        -27..0 => fraction_key(integer, scale.unsigned_abs() as usize),
        _ => None,
    }
}

/// [`short_key`] of an integer divided by 10^`decimals`.
///
/// All distances are integers in units of 2^-(`shift` + `decimals`).
fn fraction_key(integer: u64, decimals: usize) -> Option<u128> {
    const SIGNIFICAND: u64 = (1 << 52) - 1;
    let bits = (integer as f64 / POWERS[decimals]).to_bits();
    let mut significand = bits & SIGNIFICAND | 1 << 52;
    let shift = 1075 - (bits >> 52) as i64 - decimals as i64;
    if !(0..64 + 52).contains(&shift) {
        return None;
    }
    // From one `f64` to the next, and from one integer to the next.
    let (step, unit) = (FIVES[decimals], 1 << shift);
    // One multiplication of 64 bits.
    let product = u128::from(significand) * u128::from(step as u64);
    let mut error = (i128::from(integer) << shift) - product.cast_signed();
    // The quotient and its operands were rounded, so the significand may be one or two steps off.
    while 2 * error > step {
        (significand, error) = (significand + 1, error - step);
    }
    while 2 * error < -step {
        (significand, error) = (significand - 1, error + step);
    }
    // The step changes at a power of two, and a tie goes to the even significand.
    if significand <= 1 << 52 || significand >= 1 << 53 || 2 * error.abs() == step {
        return None;
    }
    let nearest = f64::from_bits(bits & !SIGNIFICAND | significand & SIGNIFICAND);
    // The usual case: the integer has 17 digits, and no decimal with fewer digits reads as this `f64`.
    let last = i128::from(integer % 10);
    let (below, above) = ((last << shift) - error, ((10 - last) << shift) + error);
    if 2 * below.min(above) > step && 2 * error.abs() < unit {
        return Some(middle(nearest));
    }
    let reference = shortest(integer, error, step, unit)?;
    let zeros = PRECISION - 1 - reference.ilog10();
    let distance = i128::from(integer) - i128::from(reference);
    Some(beside(nearest, distance * TENS[zeros as usize]))
}

/// The shortest decimal of an `f64`, near an integer. The `f64` is `error` below the integer. `None` is
/// inconclusive.
fn shortest(integer: u64, error: i128, step: i128, unit: i128) -> Option<u64> {
    // The multiple of a power of ten nearest to the `f64`, and twice their distance.
    let nearest_multiple = |power: u64| {
        let rest = i128::from(integer % power);
        let (mut multiple, mut distance) = (i128::from(integer) - rest, rest * unit - error);
        let (power, stride) = (i128::from(power), i128::from(power) * unit);
        while 2 * distance > stride {
            (multiple, distance) = (multiple + power, distance - stride);
        }
        while 2 * distance < -stride {
            (multiple, distance) = (multiple - power, distance + stride);
        }
        (u64::try_from(multiple).ok(), 2 * distance.abs(), stride)
    };
    let mut power = 10;
    while i128::from(power) * unit <= step {
        power *= 10;
    }
    // At most one multiple of this power reads as the `f64`, and at least one of the next lower power.
    let (multiple, distance, _) = nearest_multiple(power);
    match distance.cmp(&step) {
        Ordering::Less => multiple,
        Ordering::Equal => None,
        Ordering::Greater => {
            let (multiple, distance, stride) = nearest_multiple(power / 10);
            multiple.filter(|_| distance != stride)
        }
    }
}

/// The digits of a decimal, without zeros at both ends: 0.d₁d₂d₃… · 10^`exponent`.
pub(crate) struct Digits {
    /// In ASCII.
    digits: Vec<u8>,
    exponent: i64,
}

impl Digits {
    /// Reads digits with or without a point that fill the whole text.
    fn parse(mantissa: &[u8], exponent: i64) -> Option<Self> {
        let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
        let parts = [&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default()];
        let is_decimal = parts != [b""; 2] && parts.iter().all(|part| part.iter().all(u8::is_ascii_digit));
        is_decimal.then(|| Self::new(parts.concat(), exponent + point as i64))
    }

    /// The digits without the zeros at both ends.
    fn new(mut digits: Vec<u8>, exponent: i64) -> Self {
        digits.truncate(digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1));
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        Self { digits, exponent: exponent - zeros as i64 }
    }

    /// The key of the magnitude. A tail is appended if the key is odd.
    #[cold]
    fn key(&self, tail: &mut Vec<u8>) -> u128 {
        if self.digits.is_empty() {
            return ZERO;
        }
        let nearest = self.nearest();
        if !nearest.is_normal() {
            return self.outer_key(nearest, tail);
        }
        // A decimal of up to 15 digits is its own reference, except near a long integer.
        if self.digits.len() <= 15 && !is_long_integer(nearest) {
            return middle(nearest);
        }
        let (reference, place) = reference(nearest);
        let (units, rest) = self.digits.split_at(self.digits.len().min((self.exponent - place) as usize));
        let zeros = (self.exponent - place) as usize - units.len();
        let push = |units, part: &[u8]| units * TENS[part.len()] + i128::from(sixteen::integer(load16(part)));
        let units = units.chunks(16).fold(0, push);
        let key = beside(nearest, units * TENS[zeros] - reference);
        if rest.is_empty() {
            return key;
        }
        push_digits(rest, tail);
        key | 1
    }

    /// The key of a magnitude without a normal `f64`.
    fn outer_key(&self, nearest: f64, tail: &mut Vec<u8>) -> u128 {
        let held = nearest.min(f64::MAX);
        let shortest = shortest_decimal(held).into_digits();
        let order = if nearest.is_finite() && nearest > 0.0 {
            self.exponent.cmp(&shortest.exponent).then_with(|| self.digits.cmp(&shortest.digits))
        } else {
            Ordering::Greater
        };
        let low = match order {
            Ordering::Equal => return middle(held),
            Ordering::Less => 1,
            Ordering::Greater => u64::MAX,
        };
        tail.extend((self.exponent.cast_unsigned() ^ 1 << 63).to_be_bytes());
        push_digits(&self.digits, tail);
        u128::from(held.to_bits()) << 64 | u128::from(low)
    }

    /// The nearest `f64`.
    fn nearest(&self) -> f64 {
        if self.exponent.abs() > 400 {
            return if self.exponent > 0 { f64::INFINITY } else { 0.0 };
        }
        let sign = if self.exponent < 0 { b'-' } else { b'+' };
        let digit = |power: i64| b'0' + (self.exponent.abs() / power % 10) as u8;
        let text = [b".", &self.digits[..], &[b'e', sign, digit(100), digit(10), digit(1)]].concat();
        fast_float2::parse(text).expect("the parser reads all decimals")
    }
}

/// The shortest decimal that reads as this `f64`.
fn shortest_decimal(float: f64) -> Decimal {
    Decimal::parse(zmij::Buffer::new().format_finite(float).as_bytes()).expect("a float prints as a decimal")
}

/// The reference decimal of a normal `f64`, in units of 10 to a power; and this power.
fn reference(nearest: f64) -> (i128, i64) {
    if is_long_integer(nearest) {
        return (nearest as i128 * TENS[INTEGER_DECIMALS], -(INTEGER_DECIMALS as i64));
    }
    let Decimal::Short(integer, scale) = shortest_decimal(nearest) else {
        panic!("17 digits are an integer")
    };
    let zeros = PRECISION - 1 - integer.ilog10();
    (i128::from(integer) * TENS[zeros as usize], scale - i64::from(zeros))
}

/// Appends digits so that bytes compare as the digits do.
fn push_digits(digits: &[u8], tail: &mut Vec<u8>) {
    let value = |digit: Option<&u8>| digit.map_or(0, |digit| digit - b'0');
    tail.extend(digits.chunks(2).map(|pair| 1 + 10 * value(pair.first()) + value(pair.get(1))));
    tail.push(0);
}

#[cfg(test)]
mod tests {
    #[test]
    fn integers_have_the_keys_of_their_text() {
        let near = |edge: i128| (-3..=3).map(move |more| edge + more);
        let edges =
            [0, 1 << 53, -(1 << 53), 1 << 62, i64::MIN.into(), i64::MAX.into(), u64::MAX.into(), 123 << 56];
        for integer in edges.into_iter().flat_map(near) {
            if !(i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&integer) {
                continue;
            }
            for descending in [false, true] {
                let (word, tail) = key_in(&integer.to_string(), descending);
                assert_eq!((super::of_integer(integer, descending), tail.len()), (word, 0), "{integer}");
                assert_eq!(super::integer(word, descending), Some(integer));
            }
        }
        for text in ["0.5", "1e300", "18446744073709551616", "9007199254740993.5", "1e-350", "inf"] {
            assert_eq!(super::integer(key_in(text, false).0, false), None, "{text}");
        }
    }

    use proptest::prelude::*;

    use super::*;
    use crate::number::{Notation, Reader, Value};

    fn key_in(text: &str, descending: bool) -> (u128, Vec<u8>) {
        let mut tail = Vec::new();
        match Reader::new(Notation::default()).key(text.as_bytes(), descending, &mut tail) {
            Some(Value::Word(word)) => {
                assert_eq!(word & 1 == 1, !tail.is_empty(), "{text}");
                (word, tail)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    fn key(text: &str) -> (u128, Vec<u8>) {
        key_in(text, false)
    }

    /// Compares numbers digit by digit.
    fn compare(a: &str, b: &str) -> Ordering {
        let split = |text: &str| {
            let digits = text.trim_start_matches(['+', '-']);
            let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits = format!("{whole}{fraction}");
            let significant = digits.trim_start_matches('0');
            let exponent: i128 = exponent.parse().unwrap();
            let exponent = exponent + whole.len() as i128 - (digits.len() - significant.len()) as i128;
            let sign = i32::from(!significant.is_empty()) * if text.starts_with('-') { -1 } else { 1 };
            (sign, exponent, significant.trim_end_matches('0').to_owned())
        };
        let (a, b) = (split(a), split(b));
        match (a.0.cmp(&b.0), a.0) {
            (Ordering::Equal, 1) => (a.1, a.2).cmp(&(b.1, b.2)),
            (Ordering::Equal, -1) => (b.1, b.2).cmp(&(a.1, a.2)),
            (order, _) => order,
        }
    }

    /// Asserts that the keys of numbers compare as the numbers do, also where other bytes follow.
    fn assert_order(a: &str, b: &str) {
        let expected = compare(a, b);
        for (descending, expected) in [(false, expected), (true, expected.reverse())] {
            let (a_key, b_key) = (key_in(a, descending), key_in(b, descending));
            assert_eq!(a_key.cmp(&b_key), expected, "{a} {b} {descending}");
            if expected != Ordering::Equal && a_key.0 == b_key.0 {
                let concatenated = |tail: &[u8], other: u8| [tail, &[other]].concat();
                for others in [(0, 0), (0, 255), (255, 0)] {
                    let (a_tail, b_tail) =
                        (concatenated(&a_key.1, others.0), concatenated(&b_key.1, others.1));
                    assert_eq!(a_tail.cmp(&b_tail), expected, "{a} {b} {descending}");
                }
            }
        }
    }

    /// Numbers near each other, numbers near the limits of `f64`, and other spellings of these.
    const NUMBERS: [&str; 72] = [
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
        "9007199254740991.5",
        "9007199254740992",
        "9007199254740993",
        "9007199254740994",
        "9007199254740992.5",
        "9007199254740992.0000000000000001",
        "9007199254740992.0000000000000002",
        "-9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551615.5",
        "18446744073709550592",
        "18446744073709550591",
        "0.1",
        "0.10000000000000001",
        "0.1000000000000000055511151231257827",
        "0.10000000000000002",
        "0.30000000000000004",
        "0.3",
        "1e-350",
        "2e-350",
        "-1e-350",
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
        "-1e309",
        "-1.7976931348623157e308",
        "-1e400",
        "1e1000000000000000000",
        "10e999999999999999999",
        "1e-1000000000000000000",
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
        "-1732060800.123456789012345678901234567890",
        "-1732060800.123456789012345678901234567891",
        "-1732060800.123456789",
        "1.10",
    ];

    #[test]
    fn keys_compare_as_numbers_do() {
        for a in NUMBERS {
            for b in NUMBERS {
                assert_order(a, b);
            }
            for descending in [false, true] {
                let infinities = ["-inf", "Infinity"].map(|text| key_in(text, descending).0);
                let [least, most] = [infinities.iter().min(), infinities.iter().max()].map(Option::unwrap);
                let word = key_in(a, descending).0;
                assert!(*least < word && word < *most, "{a}");
            }
        }
    }

    #[test]
    fn the_comparison_can_fail() {
        let (a, b) = ("0.1", "0.10000000000000001");
        let as_floats = [a, b].map(|text| text.parse::<f64>().unwrap());
        assert_ne!(as_floats[0].total_cmp(&as_floats[1]), compare(a, b));
        let (a, b) = (NUMBERS[57], NUMBERS[56]);
        assert_eq!(
            (compare(a, b), compare(b, a), compare(a, a)),
            (Ordering::Greater, Ordering::Less, Ordering::Equal)
        );
    }

    #[test]
    fn words_have_their_form() {
        for (text, nearest, distance) in [
            ("0", 0.0, 0),
            ("-0", 0.0, 0),
            ("0.1", 0.1, 0),
            ("0.10000000000000001", 0.1, 100_000_000_000_000_000),
            ("0.09999999999999999999", 0.1, -100_000_000_000_000),
            ("12.34", 12.34, 0),
            ("9007199254740993", 9_007_199_254_740_992.0, 1_000_000_000_000_000),
            ("9223372036854775807", 9_223_372_036_854_775_808.0, -1_000_000_000_000_000),
            ("123e16", 1.23e18, 0),
            ("5e-324", 5e-324, 0),
            ("1.7976931348623157e308", f64::MAX, 0),
            ("1.7976931348623158e308", f64::MAX, 100_000_000_000_000_000),
        ] {
            let magnitude =
                u128::from(nearest.to_bits()) << 64 | u128::from(MID.wrapping_add_signed(2 * distance));
            assert_eq!(key(text), ((1 << 127) + magnitude, vec![]), "{text}");
            assert_eq!(key_in(text, true), ((1 << 127) - magnitude, vec![]), "{text}");
        }
        assert_eq!(
            key("0.1000000000000000000000000000000000123"),
            (of_float(0.1, false) + 1, vec![13, 31, 0])
        );
        for float in [0.0, 1.5, -1.5, f64::MAX, -5e-324, f64::INFINITY, f64::NEG_INFINITY] {
            for descending in [false, true] {
                let word = of_float(float, descending);
                assert_eq!(key_in(&format!("{float:e}"), descending), (word, vec![]), "{float}");
            }
        }
    }

    #[test]
    fn what_programs_print_has_no_tail() {
        let mut bits = 1_u64;
        for round in 0..200_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Each second number is between 2^-32 and 2^32.
            let float =
                f64::from_bits(if round % 2 == 0 { bits } else { bits >> 6 & !(0x3F << 58) | 0x3E << 56 });
            if float.is_finite() && !is_long_integer(float.abs()) {
                let word = of_float(float, false);
                let mut buffer = zmij::Buffer::new();
                assert_eq!(key(buffer.format_finite(float)), (word, vec![]), "{float:e}");
            }
        }
    }

    /// The digits of a decimal without zeros at both ends, and their scale.
    fn digits_and_scale(text: &str) -> (u128, i64) {
        let digits = Decimal::parse(text.as_bytes()).unwrap().into_digits();
        // 128 bits hold 38 digits.
        let first = &digits.digits[..digits.digits.len().min(38)];
        let integer = first.iter().fold(0, |integer, digit| integer * 10 + u128::from(digit - b'0'));
        (integer, digits.exponent - first.len() as i64)
    }

    /// The digits and the scale of a decimal near a limit.
    fn anchor() -> impl Strategy<Value = (u128, i64)> {
        let limits: Vec<_> =
            NUMBERS.iter().map(|text| digits_and_scale(text.trim_start_matches(['+', '-']))).collect();
        prop_oneof![
            prop::sample::select(limits),
            // Between two integers of `f64`, and between two fractions.
            (1_u128 << 52..1 << 53, 0_u32..21).prop_map(|(significand, power)| (
                (2 * significand + 1) * 5_u128.pow(power),
                -i64::from(power)
            )),
            (1_u128 << 52..1 << 53, 0_u32..70)
                .prop_map(|(significand, power)| ((2 * significand + 1) << power, 0)),
            (0..u128::MAX >> 1, -400_i64..400),
            (0..1_u128 << 64, -30_i64..10),
            (0_u32..38, -345_i64..310).prop_map(|(power, scale)| (10_u128.pow(power), scale)),
            any::<f64>()
                .prop_filter("finite", |float| float.is_finite())
                .prop_map(|float| digits_and_scale(&format!("{:e}", float.abs()))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn near_numbers_compare_exactly(
            (integer, scale) in anchor(), difference in -12_i128..13, tails in ["[0-9]{0,3}", "[0-9]{0,3}"],
            long in "[0-9]{0,90}", is_negative: bool, is_far in 0_u8..10,
        ) {
            let sign = if is_negative { "-" } else { "" };
            let far = match is_far { 0 => MOST_EXPONENT - 500, 1 => 500 - MOST_EXPONENT, _ => 0 };
            let long = if is_far % 2 == 0 { &long } else { "" };
            let number = |integer: u128, tail: &str| {
                let exponent = (scale + far - tail.len() as i64).clamp(-MOST_EXPONENT, MOST_EXPONENT);
                format!("{sign}{integer}{tail}e{exponent}")
            };
            let other = integer.saturating_add_signed(difference);
            let (a, b) = (number(integer, &format!("{long}{}", tails[0])), number(other, &tails[1]));
            assert_order(&a, &b);
            let b = number(integer, &format!("{long}{}", tails[1]));
            assert_order(&a, &b);
        }

        #[test]
        fn short_and_long_keys_are_the_same((integer, scale) in anchor(), difference in -12_i64..13) {
            let integer = (integer as u64).wrapping_add_signed(difference);
            let text = format!("{integer}e{scale}");
            let mut tail = Vec::new();
            let expected = Decimal::Short(integer, scale).into_digits().key(&mut tail);
            if let Some(key) = short_key(integer, scale) {
                prop_assert_eq!((key, &tail[..]), (expected, &[][..]), "{}", text);
            }
            prop_assert_eq!(Decimal::parse(text.as_bytes()).unwrap().key(&mut Vec::new()), expected, "{}", text);
        }

        #[test]
        fn spellings_of_one_number_have_one_key(
            digits in "[0-9]{1,45}", point in 0_usize..46, zeros in [0_usize..20, 0_usize..20], exponent in -360_i64..360,
        ) {
            let (whole, fraction) = digits.split_at(point.min(digits.len()));
            let plain = format!("{digits}e{}", exponent - fraction.len() as i64);
            let padded = format!(
                "+{}{whole}.{fraction}{}E{exponent:+04}", "0".repeat(zeros[0]), "0".repeat(zeros[1])
            );
            prop_assert_eq!(key(&plain), key(&padded), "{} {}", plain, padded);
            let text = format!("{whole}.{fraction}");
            prop_assert_eq!(key(&text), key(&format!("{text}e0")), "{}", text);
        }
    }
}
