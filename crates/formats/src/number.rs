//! Tokens of text and the numbers they spell.
//!
//! A number is `[+-]`, then digits with an optional point (a digit on at least one side of it) and
//! an optional exponent, or `inf`, `infinity` or `nan` in any case.

use gpusort_values::digit_words::{ZEROS, eight};
use gpusort_values::number::{POWERS, parse_short};

/// Returns true if this byte separates tokens.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns true if this byte ends a line of text: LF, or CR on its own or before LF.
#[inline]
pub(super) fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the token at offset `start`.
pub(super) fn token_at(bytes: &[u8], start: usize) -> &[u8] {
    const ONES: u64 = u64::MAX / 255;
    let rest = &bytes[start..];
    let mut from = 0;
    for word in rest.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*word);
        // The top bit of the lowest byte up to a blank: no borrow from a byte below reaches it.
        let low = word.wrapping_sub(ONES * u64::from(b' ' + 1)) & !word & (ONES << 7);
        if low != 0 {
            from += low.trailing_zeros() as usize / 8;
            break;
        }
        from += 8;
    }
    let length = rest[from..].iter().position(|&byte| is_space(byte)).unwrap_or(rest.len() - from);
    &rest[..from + length]
}

/// Returns true if a token, which is a number, is the number's spelling without redundant zeros: in digits
/// and a point, or, below 0.0001, with an exponent of at least two digits, as Python prints it.
#[inline]
pub(super) fn is_plain(token: &[u8]) -> bool {
    let ([b'-', digits @ ..] | digits) = token;
    // A letter, or another byte from `@` on.
    if digits.iter().fold(0, |all, byte| all | byte) >= b'@' {
        return is_plain_exponential(digits);
    }
    match digits {
        [] | [b'.' | b'+', ..] | [.., b'.'] | [b'0', b'.', b'0', b'0', b'0', b'0', ..] => false,
        [b'0'] => digits.len() == token.len(),
        [b'0', next, ..] if *next != b'.' => false,
        [.., last] => *last != b'0' || !digits.contains(&b'.'),
    }
}

#[inline(never)]
fn is_plain_exponential(digits: &[u8]) -> bool {
    let mut parts = digits.split(|&byte| byte == b'e');
    let (mantissa, exponent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    matches!(mantissa, [b'1'..=b'9'] | [b'1'..=b'9', b'.', .., b'1'..=b'9'])
        && matches!(exponent, [b'-', b'0', b'5'..=b'9'] | [b'-', b'1'..=b'9', b'0'..=b'9', ..])
}

/// The numbers that a line of text may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerLine {
    /// Any number of tokens.
    #[default]
    Any,
    /// One number, with or without surrounding blanks.
    One,
    /// One number and nothing else, so that the line consists of the number's spelling and LF.
    Whole,
}

/// The tokens of a piece of text that starts with a line, and their offsets.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    next: usize,
    per_line: PerLine,
    /// The offset that ended the iteration early, if a line has more than it may have.
    pub(super) excess: Option<usize>,
}

impl<'a> Tokens<'a> {
    /// Creates an iterator that ends early at a line with more tokens than `per_line` allows. The piece
    /// begins with a line, unless `per_line` allows any number of tokens.
    pub(super) fn new(bytes: &'a [u8], per_line: PerLine) -> Self {
        Self { bytes, next: 0, per_line, excess: None }
    }

    /// Returns the offset of the next token, without consuming the token. Returns `None` at the end or
    /// at an excess, whose offset is then in `excess`.
    #[inline]
    pub(super) fn find(&mut self) -> Option<usize> {
        let from = self.next;
        while self.bytes.get(self.next).is_some_and(|&byte| is_space(byte)) {
            self.next += 1;
        }
        if self.per_line != PerLine::Any {
            self.excess = self.excess(from, self.next);
        }
        (self.excess.is_none() && self.next < self.bytes.len()).then_some(self.next)
    }

    /// Returns the offset of an excess between `from`, the end of the last token, and `start`, the next
    /// token or the end. A blank line is an excess, and so is a token that its line may not have.
    #[inline]
    fn excess(&self, from: usize, start: usize) -> Option<usize> {
        if self.per_line == PerLine::Whole {
            let is_next = start == from + 1 && from > 0 && self.bytes[from] == b'\n';
            return (start != from && !is_next).then_some(start);
        }
        let gap = &self.bytes[from..start];
        let is_end = |&at: &usize| gap[at] == b'\n' || gap[at] == b'\r' && gap.get(at + 1) != Some(&b'\n');
        let mut ends = memchr::memchr2_iter(b'\n', b'\r', gap).filter(is_end).map(|at| from + at + 1);
        if from == 0 {
            return ends.next().map(|_| 0);
        }
        match (ends.next(), ends.next()) {
            (Some(end), Some(_)) => Some(end),
            (None, _) if start < self.bytes.len() => Some(start),
            _ => None,
        }
    }

    /// Advances past the current token, which has this length.
    #[inline]
    pub(super) fn pass(&mut self, length: usize) {
        self.next += length;
    }

    /// Parses the current token as a short integer. `None` is inconclusive: the token may be something else,
    /// or too near the end of the piece.
    ///
    /// Finds and converts eight digits at once, as the bytes of one word. Avoids a branch on the sign, which
    /// processors would mispredict.
    #[inline(always)]
    pub(super) fn short_integer(&self) -> Option<ShortInteger> {
        const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
        // A sign, sixteen digits and the byte after them.
        let window: &[u8; 18] = self.bytes[self.next..].first_chunk()?;
        let minus = window[0] == b'-';
        let digits = &window[usize::from(minus)..];
        let word = |first: usize| u64::from_le_bytes(digits[first..first + 8].try_into().unwrap_or_default());
        let (mut value, mut count) = leading_digits(word(0));
        if count == 8 {
            let (more, digits) = leading_digits(word(8));
            (value, count) = (value * POWERS[digits] + more, 8 + digits);
        }
        if count == 0 || !is_space(digits[count]) {
            return None;
        }
        let leading_zero = digits[0] == b'0' && count > 1;
        let canonical = !(leading_zero || minus && value == 0);
        let sign = i64::from(minus);
        // Negation by inverting all bits and adding one.
        let value = (value.cast_signed() ^ -sign) + sign;
        Some(ShortInteger { value, canonical, length: usize::from(minus) + count })
    }

    /// Returns the current token and advances past it.
    #[inline]
    pub(super) fn take_token(&mut self) -> &'a [u8] {
        let token = token_at(self.bytes, self.next);
        self.next += token.len();
        token
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.find()?, self.take_token()))
    }
}

/// Returns the integer of a token in canonical form, equal to the printed value; `None` for other tokens,
/// and for integers that neither u64 nor i64 holds.
#[inline]
pub(super) fn integer(token: &[u8]) -> Option<i128> {
    let ([b'-', digits @ ..] | digits) = token;
    if !matches!(digits, [b'1'..=b'9', ..]) {
        return (token == b"0").then_some(0);
    }
    let (eights, rest) = digits.as_chunks::<8>();
    let value =
        eights.iter().try_fold(0_u64, |value, eight| match leading_digits(u64::from_le_bytes(*eight)) {
            (more, 8) => value.checked_mul(100_000_000)?.checked_add(more),
            _ => None,
        })?;
    let value = rest.iter().try_fold(value, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })?;
    let value = if digits.len() < token.len() { -i128::from(value) } else { value.into() };
    (value >= i64::MIN.into()).then_some(value)
}

/// An integer of up to sixteen digits without a plus sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortInteger {
    /// The value; 0 for −0.
    pub(super) value: i64,
    /// True if the token is the canonical form of the value, equal to the printed value.
    pub(super) canonical: bool,
    /// The length of the token in bytes.
    pub(super) length: usize,
}

/// Returns the value and the number of the digits at the start of eight bytes, the first of them in the
/// lowest byte.
#[inline]
fn leading_digits(bytes: u64) -> (u64, usize) {
    let values = bytes ^ ZEROS;
    let count = eight::others(values).trailing_zeros() as usize / 8;
    // Pads to eight digits with leading zeros.
    (if count == 0 { 0 } else { eight::integer(values << (64 - 8 * count)) }, count)
}

/// Parses a decimal of at most 15 digits, on both sides of the point, without redundant leading zeros. Returns the
/// value, and the number of digits after the point.
///
/// The value is the exact quotient of an integer and a power of ten, rounded once. With at most 15 digits,
/// different decimals have different values.
#[inline]
pub(super) fn fixed(token: &[u8]) -> Option<(f64, u8)> {
    const MOST: usize = 15;
    let ([b'-', digits @ ..] | digits) = token;
    if digits.len() > MOST + 1 || !matches!(digits, [b'0', b'.', ..] | [b'1'..=b'9', ..]) {
        return None;
    }
    let (units, scale) = parse_short(digits)?;
    let is_negative = digits.len() < token.len();
    // A negative zero would lose its sign.
    if scale == 0 || is_negative && units == 0 {
        return None;
    }
    let fraction = scale.unsigned_abs() as usize;
    let value = units as f64 / POWERS[fraction];
    Some((if is_negative { -value } else { value }, fraction as u8))
}

#[cfg(test)]
mod tests {
    use gpusort_values::number::{Notation, Reader};

    use super::*;
    use crate::records::push_fixed;
    use proptest::prelude::*;

    #[test]
    fn tokens_between_blanks_and_lines() {
        for (text, expected) in [
            (
                " 3\t4\r\n\n#5\n6 # 7\x0b8",
                &[(1, "3"), (3, "4"), (7, "#5"), (10, "6"), (12, "#"), (14, "7"), (16, "8")][..],
            ),
            // Lines that end in CR alone.
            ("3\r#4\r\r5 #6", &[(0, "3"), (2, "#4"), (6, "5"), (8, "#6")]),
        ] {
            let expected = expected.iter().map(|&(start, token)| (start, token.as_bytes()));
            assert!(Tokens::new(text.as_bytes(), PerLine::Any).eq(expected), "{text:?}");
        }
    }

    #[test]
    fn decimals_of_other_forms_are_not_fixed() {
        for token in [
            "",
            "-",
            "5",
            "5.",
            ".5",
            "+1.5",
            "00.5",
            "01.5",
            "-01.5",
            "1..5",
            "-.5",
            "-0.0",
            "1234567890.123456",
            "x",
            "1.25e3",
            "-0.50.1",
            "1.5x",
        ] {
            assert_eq!(fixed(token.as_bytes()), None, "{token}");
        }
    }

    #[test]
    fn integers_and_their_canonical_spelling() {
        let case = |token: &str| integer(token.as_bytes());
        assert_eq!(case("0"), Some(0));
        assert_eq!(case("-12"), Some(-12));
        assert_eq!(case("18446744073709551615"), Some(u64::MAX.into()));
        assert_eq!(case("-9223372036854775808"), Some(i64::MIN.into()));
        for other in [
            "-0",
            "+5",
            "007",
            "18446744073709551616",
            "-9223372036854775809",
            "000000000000000000000000000000000000042",
            "1234567890123456789x",
            "12345678901234567890x",
            "",
            "-",
            "1.0",
        ] {
            assert_eq!(case(other), None, "{other}");
        }
    }

    /// Checks that the float parser and the standard library agree on a token.
    fn read_alike(token: &str) -> Result<(), TestCaseError> {
        let [double, standard] =
            [fast_float2::parse::<f64, _>(token).ok(), token.parse().ok()].map(|it| it.map(f64::to_bits));
        prop_assert_eq!(double, standard, "{}", token);
        let [single, standard] =
            [fast_float2::parse::<f32, _>(token).ok(), token.parse().ok()].map(|it| it.map(f32::to_bits));
        prop_assert_eq!(single, standard, "{}", token);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn floats_are_read_as_the_standard_library_reads_them(
            bits: u64,
            digits in "[0-9]{1,40}\\.?[0-9]{0,40}",
            exponent in -400..400,
        ) {
            let number = f64::from_bits(bits);
            prop_assume!(!number.is_nan());
            read_alike(&format!("{number}"))?;
            read_alike(&format!("{number:.17e}"))?;
            read_alike(&format!("{digits}e{exponent}"))?;
        }

        #[test]
        fn few_digits_are_printed_as_they_were_read(
            sign in "-?",
            units in 0..1_000_000_000_000_000_u64,
            fewer in 0..15_u32,
            fraction in 1..=14_usize,
        ) {
            let units = units / 10_u64.pow(fewer);
            let digits = format!("{units:0>width$}", width = fraction + 1);
            let (whole, rest) = digits.split_at(digits.len() - fraction);
            let token = format!("{sign}{whole}.{rest}");
            if units == 0 && sign == "-" {
                prop_assert_eq!(fixed(token.as_bytes()), None);
                return Ok(());
            }
            let (value, count) = fixed(token.as_bytes()).unwrap();
            prop_assert_eq!(usize::from(count), fraction);
            prop_assert_eq!(value.to_bits(), token.parse::<f64>().unwrap().to_bits());
            let mut printed = Vec::new();
            push_fixed(value, count, &mut printed);
            prop_assert_eq!(String::from_utf8(printed).unwrap(), token + "\n");
        }

        #[test]
        fn agrees_with_the_standard_library_on_integers(value: i128) {
            let value = value >> (value.unsigned_abs() % 128) as u32;
            let token = value.to_string();
            let expected = (i64::MIN.into()..=u64::MAX.into()).contains(&value).then_some(value);
            prop_assert_eq!(integer(token.as_bytes()), expected);
        }

        #[test]
        fn integers_are_read_alike_short_and_long(text in "[-+]?[0-9]{0,20}[ \n\t.e:/x#é-]?[0-9a# \n]{0,30}") {
            let mut tokens = Tokens::new(text.as_bytes(), PerLine::Any);
            while let Some(start) = tokens.find() {
                let short = tokens.short_integer();
                let token = tokens.take_token();
                if let Some(short) = short {
                    let long = short.canonical.then_some(i128::from(short.value));
                    prop_assert_eq!((long, token.len()), (integer(token), short.length), "{}", text);
                    prop_assert_eq!(str::from_utf8(token).unwrap().parse(), Ok(short.value), "{}", text);
                } else {
                    let read_short = integer(token).is_some() && token.len() <= 16;
                    prop_assert!(!read_short || start + 18 > text.len(), "{}", text);
                }
            }
        }

        #[test]
        fn numbers_are_those_of_the_standard_library(token in "[+-]?[0-9.eEinfaty+-]{0,9}") {
            let mut reader = Reader::new(Notation::default());
            if reader.key(token.as_bytes(), false, &mut Vec::new()).is_some() {
                prop_assert!(token.parse::<f64>().is_ok(), "{}", token);
                read_alike(&token)?;
            } else {
                prop_assert!(token.parse::<f64>().is_err(), "{}", token);
                prop_assert!(fast_float2::parse::<f64, _>(&token).is_err(), "{}", token);
                prop_assert!(fast_float2::parse::<f32, _>(&token).is_err(), "{}", token);
            }
        }
    }
}
