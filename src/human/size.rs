//! Human-readable sizes: `1M`, `64K`, `1_000_000`.

use crate::human;

/// Parses digits, with optional `_` between them and an optional suffix `K`, `M`, `G` or `T`, a
/// power of 1024.
///
/// # Errors
///
/// Any other text; a size of 2^64 or more.
pub fn parse(text: &str) -> Result<u64, String> {
    let refused = || {
        let text = human::quoted(text);
        format!(
            "'{text}' is not a size: digits, with _ between them and K, M, G or T (powers of 1024) after them"
        )
    };
    let (digits, unit_log2) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
        None => (text, 0),
        Some(digits) => match &text[digits.len()..] {
            "K" | "k" => (digits, 10),
            "M" | "m" => (digits, 20),
            "G" | "g" => (digits, 30),
            "T" | "t" => (digits, 40),
            _ => return Err(refused()),
        },
    };
    let between_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits.split('_').all(between_digits) {
        return Err(refused());
    }
    let number: u64 = digits.replace('_', "").parse().map_err(|_| refused())?;
    number.checked_mul(1 << unit_log2).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::parse;

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
        ] {
            assert_eq!(parse(text), Ok(size), "{text}");
        }
        assert_eq!(parse("1_000_000"), Ok(1_000_000));
        assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn what_is_no_size_is_refused_by_name() {
        let large = ["18446744073709551616", "17179869184G"];
        let wrong = ["", "K", "-1", "1.5K", "1KB", "1 K", "_1", "1_", "1__0", "1P", "0x10"];
        for text in wrong.into_iter().chain(large) {
            let message = parse(text).unwrap_err();
            assert!(message.starts_with(&format!("'{text}' is not a size")), "{message}");
        }
    }
}
