//! Sizes in text: numbers with units, such as `4.0K`, `1.5GiB`, `300MB`, `12` and `7B`.
//!
//! `K M G T P E` are powers of 1024, in either case, with or without `i` and `B` after them; but `kB MB GB TB PB EB` are powers of
//! 1000. `B` alone is bytes.

use super::number::leading;

/// A size that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// An integer that 64 bits hold.
    Integer(i128),
    /// Another integer.
    TooLarge(i128),
    /// The nearest float of what is no integer; not finite if there is none.
    Float(f64),
}

/// The size at the start of these bytes, and its length; `None` if there is no number. What follows is not looked at.
pub(super) fn size(bytes: &[u8]) -> Option<(Size, usize)> {
    let number = leading(bytes).filter(|number| !number.is_empty())?;
    let (base, power, unit) = unit(&bytes[number.len()..]);
    Some((value(number, base, power)?, number.len() + unit))
}

/// The base and the power of the unit at the start of these bytes, and its length.
fn unit(bytes: &[u8]) -> (u128, u32, usize) {
    let Some(first) = bytes.first() else { return (1024, 0, 0) };
    let Some(power) = b"KMGTPE".iter().position(|unit| unit == &first.to_ascii_uppercase()) else {
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
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(i32::MAX)),
        None => (text, 0),
    };
    let unit = base.pow(power);
    if let Some(value) = integer(mantissa, exponent, unit) {
        let is_held = (i64::MIN.into()..=u64::MAX.into()).contains(&value);
        return Some(if is_held { Size::Integer(value) } else { Size::TooLarge(value) });
    }
    // Rounded once: powers of two are exact, and those of ten are added to the exponent.
    let float = if base == 1024 {
        fast_float2::parse::<f64, _>(text).ok()? * (unit as f64)
    } else {
        let exponent = i64::from(exponent) + 3 * i64::from(power);
        fast_float2::parse(format!("{mantissa}e{exponent}")).ok()?
    };
    Some(Size::Float(float))
}

/// The number times the unit, if that is an integer of up to 127 bits.
fn integer(mantissa: &str, exponent: i32, unit: u128) -> Option<i128> {
    let (sign, digits) = match mantissa.as_bytes() {
        [b'-', ..] => (-1, &mantissa[1..]),
        [b'+', ..] => (1, &mantissa[1..]),
        _ => (1, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let units = whole
        .bytes()
        .chain(fraction.bytes())
        .try_fold(0_u128, |value, digit| value.checked_mul(10)?.checked_add(u128::from(digit - b'0')))?;
    if units == 0 {
        return Some(0);
    }
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(shift.unsigned_abs())?;
    let value = if shift < 0 {
        let value = units.checked_mul(unit)?;
        if value % power > 0 {
            return None;
        }
        value / power
    } else {
        units.checked_mul(power)?.checked_mul(unit)?
    };
    Some(sign * i128::try_from(value).ok()?)
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
            ("15.9999999E", (159_999_999 << 60) / 10_000_000, 0),
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
                Some((Size::Float(_), _)) => assert_eq!(length, 0, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in ["", "K", "x1", "inf", "-", ".K"] {
            assert_eq!(size(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_no_integer_of_64_bits_is() {
        let float = |text: &str| match size(text.as_bytes()) {
            Some((Size::Float(value), _)) => value.to_bits(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(float("1.1K"), (1.1_f64 * 1024.0).to_bits());
        assert_eq!(float("1.2345kB"), 1234.5_f64.to_bits());
        assert_eq!(float("0.1B"), 0.1_f64.to_bits());
        assert_eq!(float("-2.3456789KB"), (-2345.6789_f64).to_bits());
        assert_eq!([float("1e999K"), float("1e999kB")], [f64::INFINITY.to_bits(); 2]);
        for text in ["16E", "18446744073709551616", "-9E", "1e11G", "100000000000000000000K"] {
            assert!(
                matches!(size(text.as_bytes()), Some((Size::TooLarge(value), _)) if value.abs() > 1 << 63),
                "{text}"
            );
        }
        assert_eq!(size(b"18446744073709551615"), Some((Size::Integer(u64::MAX.into()), 20)));
    }
}
