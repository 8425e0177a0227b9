//! Sizes in the syntax of options: `1000`, `1_000`, `1e6`, `64K`.

/// The error for text other than a size; clap quotes the text before this error.
const EXPECTED: &str = "expected a number such as 1000, 1_000, 1e6 or 64K";

/// Parses digits, with optional `_` between them, followed by nothing, by `K`, `M`, `G` or `T`
/// (powers of 1024), or by an exponent of ten. Decimals are allowed only before an exponent, and
/// the number must be whole: `1.5e3`.
///
/// # Errors
///
/// Any other text; a size of 2^64 or more.
pub fn parse(text: &str) -> Result<u64, String> {
    let (mantissa, suffix) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
    let unit = ["", "K", "M", "G", "T"].iter().position(|unit| suffix.eq_ignore_ascii_case(unit));
    let size = if let Some(unit) = unit {
        scaled(&digits(mantissa)?, 1 << (10 * unit))
    } else {
        let exponent = suffix.strip_prefix(['e', 'E']).ok_or(EXPECTED)?;
        let exponent: usize = digits(exponent.strip_prefix('+').unwrap_or(exponent))?.parse().unwrap_or(99);
        let (whole, decimals) = match mantissa.split_once('.') {
            Some((whole, decimals)) => (digits(whole)?, digits(decimals)?),
            None => (digits(mantissa)?, String::new()),
        };
        let decimals = decimals.trim_end_matches('0');
        // The remaining power of ten after the decimals move before the point.
        let power = exponent.checked_sub(decimals.len()).ok_or("expected a whole number")?;
        10_u64.checked_pow(power.min(99) as u32).and_then(|unit| scaled(&(whole + decimals), unit))
    };
    size.ok_or_else(|| "expected a number below 2^64".to_owned())
}

/// Returns the digits without the `_` between them.
fn digits(text: &str) -> Result<String, &'static str> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if text.split('_').all(is_digits) { Ok(text.replace('_', "")) } else { Err(EXPECTED) }
}

fn scaled(digits: &str, unit: u64) -> Option<u64> {
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::{EXPECTED, parse};

    #[test]
    fn sizes_are_read_as_written() {
        for (text, size) in [
            ("0", 0),
            ("256", 256),
            ("1K", 1024),
            ("64k", 65_536),
            ("1M", 1 << 20),
            ("3G", 3 << 30),
            ("2T", 2 << 40),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1E+3", 1_000),
            ("1.5e3", 1_500),
            ("1.50e1", 15),
            ("2.0e0", 2),
            ("1_234.5e2", 123_450),
            ("1e19", 10_000_000_000_000_000_000),
            ("1.8446744073709551615e19", u64::MAX),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(size), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "", "K", "-1", "1.5", "1.5K", "1KB", "1 K", "_1", "1_", "1__0", "1P", "0x10", "e6", "1e", "1e-3",
            ".5e1", "1.e3", "1e6K", "1e1.5", "1e++1", "µ", "1µ", "1,000",
        ] {
            assert_eq!(parse(text), Err(EXPECTED.to_owned()), "{text}");
        }
        for text in ["1.5e0", "1.23e1"] {
            assert_eq!(parse(text).unwrap_err(), "expected a whole number", "{text}");
        }
        for text in ["18446744073709551616", "17179869184G", "2e19", "1e20", "1e99999999999999999999"] {
            assert_eq!(parse(text).unwrap_err(), "expected a number below 2^64", "{text}");
        }
    }
}
