//! Sizes in text: numbers with units, such as `4.0K`, `1.5GiB`, `300MB`, `12` and `7B`.
//!
//! `K M G T P E Z Y R Q` are powers of 1024, in either case, with or without `i` and `B` after
//! them; but `kB MB GB TB PB EB ZB YB RB QB` are powers of 1000. `B` alone is bytes.
//!
//! Integers are ordered exactly, as far as 127 bits hold them, and decimals among them; only
//! decimals may be rounded to the same. Most columns have sizes that 64-bit integers hold, or f64,
//! and are ordered as these. Others are ordered by [`place`].

use super::number::{Decimal, leading};

/// A size that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// An integer, up to [`MOST`].
    Integer(i128),
    /// The integer part of a decimal, up to [`MOST`], which is so large that f64 has no fractions
    /// there.
    Cut(i128),
    /// The nearest float of another decimal; not finite if there is none.
    Float(f64),
    /// A larger number, in digits alone.
    TooLarge,
}

/// About 2^127, and a float: what is larger, and rounded, is not less than it.
const MOST: u128 = (1 << 127) - (1 << 102);

/// From here on all floats are integers.
const FRACTIONS_END: u128 = 1 << 52;

/// The size at the start of these bytes, and its length; `None` if there is no number. What follows
/// is not looked at.
pub(super) fn size(bytes: &[u8]) -> Option<(Size, usize)> {
    let number = leading(bytes).filter(|number| !number.is_empty())?;
    let (base, power, unit) = unit(&bytes[number.len()..]);
    Some((value(number, base, power)?, number.len() + unit))
}

/// The base and the power of the unit at the start of these bytes, and its length.
fn unit(bytes: &[u8]) -> (u128, u32, usize) {
    let Some(first) = bytes.first() else { return (1024, 0, 0) };
    let Some(power) = b"KMGTPEZYRQ".iter().position(|unit| unit == &first.to_ascii_uppercase()) else {
        return (1024, 0, usize::from(matches!(first, b'B' | b'b')));
    };
    let power = power as u32 + 1;
    match bytes.get(1) {
        Some(b'i' | b'I') => (1024, power, 2 + usize::from(matches!(bytes.get(2), Some(b'B' | b'b')))),
        Some(b'B' | b'b') => (1000, power, 2),
        _ => (1024, power, 1),
    }
}

/// What this number of units comes to.
fn value(number: &[u8], base: u128, power: u32) -> Option<Size> {
    let text = std::str::from_utf8(number).ok()?;
    let decimal = Decimal::of(number);
    let Decimal { is_negative, whole, fraction, exponent } = decimal;
    let sign = if is_negative { -1 } else { 1 };
    let unit = base.pow(power);
    let held = |value: u128| (value <= MOST).then(|| sign * value.cast_signed());
    if let Some(value) = decimal.times(unit).and_then(held) {
        return Some(Size::Integer(value));
    }
    // Rounded once: powers of two are exact, and those of ten are added to the exponent.
    let float = if base == 1024 {
        fast_float2::parse::<f64, _>(text).ok()? * (unit as f64)
    } else {
        let mantissa = text.split(['e', 'E']).next()?;
        fast_float2::parse(format!("{mantissa}e{}", exponent + 3 * i64::from(power))).ok()?
    };
    if float.abs() < FRACTIONS_END as f64 {
        return Some(Size::Float(float));
    }
    Some(match integer_part(whole, fraction, exponent, base, power) {
        Some((value, is_all)) if (FRACTIONS_END..=MOST).contains(&value) => {
            let value = sign * value.cast_signed();
            if is_all { Size::Integer(value) } else { Size::Cut(value) }
        }
        None | Some((MOST.., _)) if number.iter().all(|byte| !b".eE".contains(byte)) => Size::TooLarge,
        _ => Size::Float(float),
    })
}

/// The integer part of the number times the unit, and whether that is all of it; `None` if 128 bits
/// do not hold it.
fn integer_part(
    whole: &[u8],
    fraction: &[u8],
    exponent: i64,
    base: u128,
    power: u32,
) -> Option<(u128, bool)> {
    /// Ten to this power is more than 128 bits hold, and a number so small is no whole byte in any
    /// unit.
    const FAR: i64 = 40;
    let all = || whole.iter().chain(fraction).copied();
    let zeros = all().take_while(|&digit| digit == b'0').count();
    let thousands = if base == 1000 { 3 * i64::from(power) } else { 0 };
    // Where the point is among the digits after these zeros.
    let point = whole.len() as i64 - zeros as i64 + exponent + thousands;
    if point >= FAR {
        return None;
    }
    if point < -FAR {
        return Some((0, false));
    }
    let digits = std::iter::repeat_n(b'0', usize::try_from(-point).unwrap_or(0)).chain(all().skip(zeros));
    let mut digits: Vec<u32> = digits.map(|digit| u32::from(digit - b'0')).collect();
    let before = usize::try_from(point).unwrap_or(0);
    digits.resize(digits.len().max(before), 0);
    let (before, after) = digits.split_at_mut(before);
    let mut value =
        before.iter().try_fold(0_u128, |value, &digit| value.checked_mul(10)?.checked_add(digit.into()))?;
    for _ in 0..if base == 1024 { power } else { 0 } {
        let mut carry = 0;
        for digit in after.iter_mut().rev() {
            let product = *digit * 1024 + carry;
            (*digit, carry) = (product % 10, product / 10);
        }
        value = value.checked_mul(1024)?.checked_add(carry.into())?;
    }
    Some((value, after.iter().all(|&digit| digit == 0)))
}

/// A number that rises with the sizes, and stays away from the least and the greatest: that of an
/// integer up to [`MOST`], or of a decimal that was cut to one.
pub(super) fn place(value: i128, is_cut: bool) -> u128 {
    /// There is a place after each integer up to here, for decimals.
    const APART: u128 = 1 << 100;
    let size = value.unsigned_abs();
    let code = if size < FRACTIONS_END {
        (size as f64).to_bits().into()
    } else {
        (1 << 63) + size + (size + u128::from(is_cut)).min(APART)
    };
    signed(code, value < 0)
}

/// The same of a float.
pub(super) fn place_of_float(value: f64) -> u128 {
    let size = value.abs();
    if size >= FRACTIONS_END as f64 && size <= MOST as f64 {
        return place(value as i128, false);
    }
    let bits = u128::from(size.to_bits());
    let code = if size > MOST as f64 { MOST + (1 << 101) + bits } else { bits };
    signed(code, value.is_sign_negative())
}

/// That of a size with a sign.
fn signed(code: u128, is_negative: bool) -> u128 {
    const MIDDLE: u128 = 1 << 127;
    if is_negative { MIDDLE - 1 - code } else { MIDDLE + code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_what_follows_them() {
        for (text, expected, length) in [
            ("12", 12, 2),
            ("7B", 7, 2),
            ("-3b", -3, 3),
            ("4.0K", 4096, 4),
            ("4k", 4096, 2),
            ("1.5KiB", 1536, 6),
            ("1Ki", 1024, 3),
            ("1kB", 1000, 3),
            ("1KB", 1000, 3),
            ("1.5MB", 1_500_000, 5),
            ("0.001GB", 1_000_000, 7),
            ("2M", 2 << 20, 2),
            ("3G", 3 << 30, 2),
            ("1T", 1 << 40, 2),
            ("1PB", 1_000_000_000_000_000, 3),
            ("7E", 7 << 60, 2),
            ("7e", 7 << 60, 2),
            ("16E", 1 << 64, 3),
            ("-9e", -9 << 60, 3),
            ("18446744073709551616", 1 << 64, 20),
            ("1e11G", 100_000_000_000 << 30, 5),
            ("1e23", 10_i128.pow(23), 4),
            ("2Z", 2 << 70, 2),
            ("2yib", 2 << 80, 4),
            ("1.5RB", 15 * 10_i128.pow(26), 5),
            ("134217720q", 134_217_720 << 100, 10),
            ("0.000000000000000000000000000000000000001e39QB", 10_i128.pow(30), 46),
            ("1e3K", 1_024_000, 4),
            ("1e3", 1000, 3),
            ("5E2B", 500, 4),
            ("12Kb/s", 12_000, 4),
            ("12ms", 12 << 20, 3),
            ("+0.5K", 512, 5),
            ("-0K", 0, 3),
            (".5M", 1 << 19, 3),
        ] {
            match size(text.as_bytes()) {
                Some((Size::Integer(value), end)) => assert_eq!((value, end), (expected, length), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in ["", "K", "x1", "inf", "-", ".K"] {
            assert_eq!(size(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_no_integer_is() {
        let float = |text: &str| match size(text.as_bytes()) {
            Some((Size::Float(value), _)) => value.to_bits(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(float("1.1K"), (1.1_f64 * 1024.0).to_bits());
        assert_eq!(float("1.2345kB"), 1234.5_f64.to_bits());
        assert_eq!(float("0.1B"), 0.1_f64.to_bits());
        assert_eq!(float("-2.3456789KB"), (-2345.6789_f64).to_bits());
        assert_eq!([float("1e999K"), float("1e3000000000kB")], [f64::INFINITY.to_bits(); 2]);
        assert_eq!([float("1e-3000000000kB"), float("1e-99999999999999999999")], [0; 2]);
        assert_eq!(float("1e39"), 1e39_f64.to_bits());
        assert_eq!(float("4503599627370495.75"), (FRACTIONS_END as f64).to_bits());
        // Where floats have no fractions, the fraction is cut.
        for (text, expected) in [
            ("15.99999999E", (1_599_999_999 << 60) / 100_000_000),
            ("4503599627370496.75", 1 << 52),
            ("-9007199254740993.5", -(1 << 53) - 1),
            ("1.1Q", (11 << 100) / 10),
        ] {
            match size(text.as_bytes()) {
                Some((Size::Cut(value), _)) => assert_eq!(value, expected, "{text}"),
                Some((Size::Float(_), _)) => assert_eq!(expected, 0, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in ["134217728Q", "200000000000000000000000000000000000000"] {
            assert_eq!(size(text.as_bytes()).map(|(size, _)| size), Some(Size::TooLarge), "{text}");
        }
    }

    #[test]
    fn places_rise_with_sizes() {
        let [place, place_of_cut] = [|value| place(value, false), |value| place(value, true)];
        let most = MOST.cast_signed();
        let apart =
            [1 << 52, 1 << 99, (1 << 100) - 1].map(|size| [place(size), place_of_cut(size), place(size + 1)]);
        assert!(apart.concat().is_sorted_by(|a, b| a < b));
        assert!(place_of_cut(-(1 << 60)) < place(-(1 << 60)));
        assert_eq!(place_of_cut(1 << 100), place(1 << 100));
        let infinite = [f64::NEG_INFINITY, f64::INFINITY].map(place_of_float);
        let mut places = vec![infinite[0], place_of_float(-1e300)];
        let integers = [-most, 1 - most, -(1 << 64) - 1, -(1 << 53) - 1, -(1 << 53), 1 - (1 << 53), -1];
        places.extend(integers.map(place));
        places.extend([-0.1, -5e-324, -0.0].map(place_of_float));
        let smalls: Vec<u128> = places.iter().rev().map(|place| !place).collect();
        places.extend(smalls);
        assert!(places.is_sorted_by(|a, b| a < b));
        assert_eq!(place(0), place_of_float(0.0));
        for value in [1 << 52, 1 << 53, (1 << 53) + 2, 1 << 64, most] {
            assert_eq!(place(value), place_of_float(value as f64));
            assert_eq!(place(-value), place_of_float(-value as f64));
        }
        // There is room for nulls at both ends, and beside the floats that are no sizes.
        assert!(infinite.iter().all(|place| (9..=u64::MAX - 9).contains(&((place >> 64) as u64))));
    }
}
