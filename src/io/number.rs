//! Tokens of text and the numbers they spell.
//!
//! A number is `[+-]`, then digits with an optional point (a digit on at least one side of it) and
//! an optional exponent, or `inf`, `infinity` or `nan` in any case.

use gpusort_order::key::ElementType;

use crate::error::{Error, Hint};

/// Whether this byte separates tokens.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether this byte ends a line of text: LF, or CR, which does so alone as well as before LF.
#[inline]
pub(super) fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The token that starts at `start`.
pub(super) fn token_at(bytes: &[u8], start: usize) -> &[u8] {
    let rest = &bytes[start..];
    let length = rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
    &rest[..length]
}

/// How many numbers a line of text may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerLine {
    /// Any number of them.
    #[default]
    Any,
    /// One, with or without blanks around it.
    One,
    /// One and nothing else, so that the line is the number's spelling and LF.
    Whole,
}

/// The tokens of a piece of text that starts with a line, and their offsets.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    next: usize,
    per_line: PerLine,
    /// Whether the piece starts within a line, after a token.
    begun: bool,
    /// The offset of what a line may not have, where they end.
    pub(super) excess: Option<usize>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self::per_line(bytes, PerLine::Any, false)
    }

    /// Tokens of which a line has no more than this many. With `begun`, a token of the first line
    /// comes before the piece.
    pub(super) fn per_line(bytes: &'a [u8], per_line: PerLine, begun: bool) -> Self {
        Self { bytes, next: 0, per_line, begun, excess: None }
    }

    /// The offset of the next token, without consuming it. `None` at the end, or where there is an
    /// `excess`.
    #[inline]
    pub(super) fn find(&mut self) -> Option<usize> {
        let from = self.next;
        loop {
            let start = self.next;
            match self.bytes.get(start) {
                Some(&byte) if is_space(byte) => self.next += 1,
                found => {
                    if self.per_line != PerLine::Any
                        && let Some(excess) = self.excess(from, start)
                    {
                        self.excess = Some(excess);
                        return None;
                    }
                    return found.map(|_| start);
                }
            }
        }
    }

    /// The same, and faster where the next token begins the next line. A line that begins the piece
    /// may be blank.
    #[inline]
    pub(super) fn find_next(&mut self) -> Option<usize> {
        if self.next > 0
            && let Some(&[b'\n', first]) = self.bytes.get(self.next..self.next + 2)
            && first > b' '
        {
            self.next += 1;
            return Some(self.next);
        }
        self.find()
    }

    /// The offset of what no line may have from `from`, where the last token ends, up to a token or
    /// the end at `start`: a blank line, or that token.
    #[inline]
    fn excess(&self, from: usize, start: usize) -> Option<usize> {
        if self.per_line == PerLine::Whole {
            let is_next = start == from + 1 && from > 0 && self.bytes[from] == b'\n';
            return (start != from && !is_next).then_some(start);
        }
        let gap = &self.bytes[from..start];
        let is_end = |&at: &usize| gap[at] == b'\n' || gap[at] == b'\r' && gap.get(at + 1) != Some(&b'\n');
        let mut ends = memchr::memchr2_iter(b'\n', b'\r', gap).filter(is_end).map(|at| from + at + 1);
        if from == 0 && !self.begun {
            return ends.next().map(|_| 0);
        }
        match (ends.next(), ends.next()) {
            (Some(end), Some(_)) => Some(end),
            (None, _) if start < self.bytes.len() => Some(start),
            _ => None,
        }
    }

    /// Advances past the current token if it has this length.
    #[inline]
    pub(super) fn pass(&mut self, length: usize) -> bool {
        let end = self.next + length;
        let ends = self.bytes.get(end).is_none_or(|&byte| is_space(byte));
        if ends {
            self.next = end;
        }
        ends
    }

    /// The current token, if it is a short integer.
    #[inline]
    pub(super) fn short_integer(&self) -> Option<ShortInteger> {
        short_integer(&self.bytes[self.next..])
    }

    /// The current token; advances past it.
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

/// The kind of number that a token spells.
#[cfg(any(test, feature = "arrow"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelled {
    /// Sign and digits.
    Integer,
    /// With a point or an exponent.
    Decimal,
    /// `inf` or `infinity`.
    Infinity,
    /// `nan`.
    Nan,
}

/// The kind of number that the token spells; `None` if it is no number.
#[cfg(any(test, feature = "arrow"))]
pub(super) fn spelled(token: &[u8]) -> Option<Spelled> {
    let ([b'+' | b'-', unsigned @ ..] | unsigned) = token;
    let word = |word: &str| unsigned.eq_ignore_ascii_case(word.as_bytes());
    match leading(token) {
        Some(number) if !token.is_empty() && number.len() == token.len() => {
            Some(if unsigned.iter().all(u8::is_ascii_digit) { Spelled::Integer } else { Spelled::Decimal })
        }
        None if word("inf") || word("infinity") => Some(Spelled::Infinity),
        None if word("nan") => Some(Spelled::Nan),
        _ => None,
    }
}

/// An integer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Integer {
    /// Its value; `None` if neither u64 nor i64 holds it.
    pub(super) value: Option<i128>,
    /// Whether the token is the value's canonical form, as it would be printed.
    pub(super) canonical: bool,
}

/// The integer that the token spells; `None` if it is not sign and digits.
#[inline]
pub(super) fn integer(token: &[u8]) -> Option<Integer> {
    let (sign, digits) = match token {
        [sign @ (b'+' | b'-'), digits @ ..] => (Some(*sign), digits),
        digits => (None, digits),
    };
    if digits.is_empty() {
        return None;
    }
    // No nineteen digits exceed a u64, so overflow checks start after them.
    let (safe, checked) = digits.split_at(digits.len().min(19));
    let mut value: u64 = 0;
    for byte in safe {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    if !checked.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = checked
        .iter()
        .try_fold(value, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')));
    let leading_zero = digits[0] == b'0' && digits.len() > 1;
    let negative = sign == Some(b'-') && magnitude != Some(0);
    let canonical = !leading_zero && (sign.is_none() || negative);
    let value = magnitude.map(|magnitude| if negative { -i128::from(magnitude) } else { magnitude.into() });
    Some(Integer { value: value.filter(|&value| value >= i64::MIN.into()), canonical })
}

/// An integer of up to sixteen digits without a plus sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortInteger {
    /// Its value; 0 for −0.
    pub(super) value: i64,
    /// Whether the token is the value's canonical form, as it would be printed.
    pub(super) canonical: bool,
    /// Length of the token in bytes.
    pub(super) length: usize,
}

/// The token at the start of `rest`, if it is a short integer and not at the very end; `None` is
/// inconclusive.
///
/// Eight digits are found and converted at once, as bytes of one word, and without a branch on the
/// sign, which processors mispredict.
#[inline(always)]
fn short_integer(rest: &[u8]) -> Option<ShortInteger> {
    const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    // A sign, sixteen digits and the byte after them.
    let window: &[u8; 18] = rest.first_chunk()?;
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

/// The value of the digits at the start of eight bytes (the first in the lowest byte), and their
/// number.
#[inline]
fn leading_digits(bytes: u64) -> (u64, usize) {
    const ONES: u64 = u64::MAX / 255;
    let values = bytes ^ (ONES * u64::from(b'0'));
    // The top bit of the lowest byte above 9: no carry from a byte below reaches it.
    let others = (values.wrapping_add(ONES * (0x80 - 10)) | values) & (ONES << 7);
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // Pads to eight digits with leading zeros, then combines digits to pairs, pairs to fours, fours
    // to eight.
    let eight = values << (64 - 8 * count);
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    let eights = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF;
    (eights, count)
}

/// The number of sign, digits, point and exponent that these bytes begin with; all of them if they
/// are none, so that nothing is there; `None` if they begin with no number.
#[cfg(any(test, feature = "arrow"))]
pub(super) fn leading(bytes: &[u8]) -> Option<&[u8]> {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if end == sign {
        return if bytes.is_empty() { Some(bytes) } else { None };
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(&bytes[..end])
}

/// The number at the start of these bytes as a float of this type, and its length. f32 is rounded
/// once.
#[inline]
pub(super) fn float(bytes: &[u8], element: ElementType) -> Option<(f64, usize)> {
    if element == ElementType::F32 {
        fast_float2::parse_partial::<f32, _>(bytes).ok().map(|(value, length)| (value.into(), length))
    } else {
        fast_float2::parse_partial(bytes).ok()
    }
}

/// A number of digits, point and exponent, in its parts.
#[cfg(feature = "arrow")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal<'a> {
    /// The digits before the point.
    pub(super) whole: &'a [u8],
    /// The digits after it.
    pub(super) fraction: &'a [u8],
    /// No larger in size than any that matters.
    pub(super) exponent: i64,
}

#[cfg(feature = "arrow")]
impl<'a> Decimal<'a> {
    /// Those of a number that [`leading`] found.
    pub(super) fn of(number: &'a [u8]) -> Self {
        /// More digits than any number has.
        const FAR: i64 = 1 << 40;
        let ([b'+' | b'-', rest @ ..] | rest) = number;
        let cut = |bytes: &'a [u8], end: Option<usize>| match end {
            Some(end) => (&bytes[..end], &bytes[end + 1..]),
            None => (bytes, &[][..]),
        };
        let (digits, exponent) = cut(rest, rest.iter().position(|byte| matches!(byte, b'e' | b'E')));
        let (whole, fraction) = cut(digits, digits.iter().position(|&byte| byte == b'.'));
        let (is_small, exponent) = match exponent {
            [b'-', exponent @ ..] => (true, exponent),
            [b'+', exponent @ ..] | exponent => (false, exponent),
        };
        let exponent =
            exponent.iter().fold(0, |value, digit| (10 * value + i64::from(digit - b'0')).min(FAR));
        Self { whole, fraction, exponent: if is_small { -exponent } else { exponent } }
    }
}

/// Powers of ten, which f64 holds exactly.
pub(super) const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The decimal at the beginning of these bytes, the digits after its point, and its length: digits
/// on both sides of the point, 15 at most, and no zero before others. So few digits are the only
/// ones for their value in f64, which is the exact quotient of an integer and a power of ten,
/// rounded once.
#[inline]
pub(super) fn fixed(bytes: &[u8]) -> Option<(f64, u8, usize)> {
    const MOST: usize = 15;
    let is_negative = bytes.first() == Some(&b'-');
    let digits = &bytes[usize::from(is_negative)..];
    let (mut units, mut length, mut whole) = (0, 0, None);
    while let Some(&byte) = digits.get(length) {
        match byte {
            b'0'..=b'9' => units = units * 10 + u64::from(byte - b'0'),
            b'.' if whole.is_none() => whole = Some(length),
            _ => break,
        }
        length += 1;
        if length > MOST + 1 {
            return None;
        }
    }
    let whole = whole.filter(|&whole| whole == 1 || whole > 1 && digits[0] != b'0')?;
    let fraction = length - whole - 1;
    if fraction == 0 {
        return None;
    }
    // The sign of a zero is no part of its value.
    if is_negative && units == 0 {
        return None;
    }
    let value = units as f64 / POWERS[fraction];
    let value = if is_negative { -value } else { value };
    Some((value, fraction as u8, length + usize::from(is_negative)))
}

/// The error that a line has several tokens, and may have one.
pub(super) fn several(place: String) -> Error {
    Error::input(place, "this line is not one number, as binary output needs").hinting(Hint::Several)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::records::push_fixed;
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
            assert!(Tokens::new(text.as_bytes()).eq(expected), "{text:?}");
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
        ] {
            assert_eq!(fixed(token.as_bytes()), None, "{token}");
        }
        // What follows is not looked at.
        assert_eq!(fixed(b"1.25e3"), Some((1.25, 2, 4)));
        assert_eq!(fixed(b"-0.50.1"), Some((-0.5, 2, 5)));
    }

    #[test]
    fn numbers_that_fields_begin_with() {
        for (field, expected) in [
            ("", Some("")),
            ("45%", Some("45")),
            ("-12ms", Some("-12")),
            ("+1.5e3x", Some("+1.5e3")),
            ("1e", Some("1")),
            ("1e+", Some("1")),
            ("1E-2.5", Some("1E-2")),
            ("3.", Some("3.")),
            (".5s", Some(".5")),
            ("7..8", Some("7.")),
            ("10:30", Some("10")),
            ("1,234", Some("1")),
            (".", None),
            ("-", None),
            ("-.e1", None),
            ("info", None),
            ("-inf", None),
            ("nan", None),
            ("e5", None),
            ("x1", None),
        ] {
            assert_eq!(leading(field.as_bytes()), expected.map(str::as_bytes), "{field}");
            if let Some(number) = expected.filter(|number| !number.is_empty()) {
                assert!(spelled(number.as_bytes()).is_some(), "{field}");
            }
        }
    }

    #[test]
    fn what_tokens_spell() {
        use Spelled::*;
        for (token, expected) in [
            ("0", Some(Integer)),
            ("-007", Some(Integer)),
            ("+5", Some(Integer)),
            ("1.", Some(Decimal)),
            (".5", Some(Decimal)),
            ("-1.5e-3", Some(Decimal)),
            ("1E+9", Some(Decimal)),
            ("iNf", Some(Infinity)),
            ("-Infinity", Some(Infinity)),
            ("+NaN", Some(Nan)),
            ("", None),
            ("-", None),
            (".", None),
            ("-.", None),
            (".e1", None),
            ("1e", None),
            ("1e+", None),
            ("1e5.", None),
            ("1_000", None),
            ("1,000", None),
            ("0x10", None),
            ("--1", None),
            ("infinit", None),
            ("nan1", None),
            ("١", None),
        ] {
            assert_eq!(spelled(token.as_bytes()), expected, "{token}");
        }
    }

    #[test]
    fn integers_and_their_canonical_spelling() {
        let case = |token: &str| integer(token.as_bytes()).map(|i| (i.value, i.canonical));
        assert_eq!(case("0"), Some((Some(0), true)));
        assert_eq!(case("-0"), Some((Some(0), false)));
        assert_eq!(case("+5"), Some((Some(5), false)));
        assert_eq!(case("007"), Some((Some(7), false)));
        assert_eq!(case("-12"), Some((Some(-12), true)));
        assert_eq!(case("18446744073709551615"), Some((Some(u64::MAX.into()), true)));
        assert_eq!(case("18446744073709551616"), Some((None, true)));
        assert_eq!(case("-9223372036854775808"), Some((Some(i64::MIN.into()), true)));
        assert_eq!(case("-9223372036854775809"), Some((None, true)));
        assert_eq!(case("000000000000000000000000000000000000042"), Some((Some(42), false)));
        assert_eq!(case("1234567890123456789x"), None);
        assert_eq!(case("12345678901234567890x"), None);
        assert_eq!(case(""), None);
        assert_eq!(case("-"), None);
        assert_eq!(case("1.0"), None);
    }

    /// The float parser agrees with the standard library on this token.
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
            let (value, count, length) = fixed(token.as_bytes()).unwrap();
            prop_assert_eq!((usize::from(count), length), (fraction, token.len()));
            prop_assert_eq!(value.to_bits(), token.parse::<f64>().unwrap().to_bits());
            let mut printed = Vec::new();
            push_fixed(value, count, &mut printed);
            prop_assert_eq!(String::from_utf8(printed).unwrap(), token + "\n");
        }

        #[test]
        fn agrees_with_the_standard_library_on_integers(value: i128) {
            let value = value >> (value.unsigned_abs() % 128) as u32;
            let token = value.to_string();
            let parsed = integer(token.as_bytes()).unwrap();
            prop_assert_eq!(parsed.value, (i64::MIN.into()..=u64::MAX.into()).contains(&value).then_some(value));
            prop_assert!(parsed.canonical);
            prop_assert_eq!(spelled(token.as_bytes()), Some(Spelled::Integer));
        }

        #[test]
        fn integers_are_read_alike_short_and_long(text in "[-+]?[0-9]{0,20}[ \n\t.e:/x#é-]?[0-9a# \n]{0,30}") {
            let mut tokens = Tokens::new(text.as_bytes());
            while let Some(start) = tokens.find() {
                let short = tokens.short_integer();
                let token = tokens.take_token();
                if let Some(short) = short {
                    let long = integer(token).expect("a short integer is one");
                    prop_assert_eq!(Some(i128::from(short.value)), long.value, "{}", text);
                    prop_assert_eq!((short.canonical, short.length), (long.canonical, token.len()), "{}", text);
                } else {
                    let read_short = integer(token).is_some() && token.len() <= 16 && token[0] != b'+';
                    prop_assert!(!read_short || start + 18 > text.len(), "{}", text);
                }
            }
        }

        #[test]
        fn whatever_is_spelled_the_standard_library_reads(token in "[+-]?[0-9.eEinfaty+-]{0,9}") {
            if spelled(token.as_bytes()).is_some() {
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
