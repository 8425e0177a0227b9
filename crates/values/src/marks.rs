//! The decimal sign and the thousands separator of numbers in text, as in `1.234.567,89`.
//!
//! A field is respelled with a point and without separators, and then read like any other field:
//!
//! ```text
//! 1.234.567,89 -> 1234567.89     1,5K -> 1.5K     45,5% -> 45.5%     -0,5e3 -> -0.5e3
//! ```
//!
//! Only the number at the beginning is respelled, since a unit may follow. One to three digits are in front of
//! the first separator, then come groups of three. India has groups of two and a last group of three
//! (`12,34,567`). Other groups are refused. A point in another role is refused, too: `1.5` is 1.5 to some readers
//! and 15 to other readers.

use crate::digits::split_digits;

/// The text behind a character.
pub(crate) fn strip_char(text: &[u8], c: char) -> Option<&[u8]> {
    text.strip_prefix(c.encode_utf8(&mut [0; 4]).as_bytes())
}

/// The decimal sign and the thousands separator of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    decimal: char,
    thousands: Option<char>,
}

impl Marks {
    /// Numbers with this decimal sign, and with this separator or without one.
    ///
    /// # Errors
    ///
    /// The error says why a character cannot be the sign or the separator.
    pub fn new(decimal: char, thousands: Option<char>) -> Result<Self, String> {
        for (role, mark) in [("decimal separator", Some(decimal)), ("thousands separator", thousands)] {
            let is_refused =
                |mark: &char| mark.is_alphanumeric() || mark.is_control() || "+-\"".contains(*mark);
            if let Some(mark) = mark.filter(is_refused) {
                return Err(format!("{mark:?} cannot be the {role}"));
            }
        }
        if thousands == Some(decimal) {
            return Err(format!("{decimal:?} cannot be both the decimal and the thousands separator"));
        }
        Ok(Self { decimal, thousands })
    }

    /// Respells the number at the beginning of a field. The result is in `buffer` if it differs from the field.
    ///
    /// `None` refuses a field whose groups or point are wrong. A field without a number comes back unchanged.
    pub(crate) fn respell<'a>(self, field: &'a [u8], buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let first_byte = |mark: char| mark.encode_utf8(&mut [0; 4]).as_bytes()[0];
        let (decimal, thousands) = (first_byte(self.decimal), self.thousands.map(first_byte));
        let is_mark = |&byte: &u8| byte == b'.' || byte == decimal || Some(byte) == thousands;
        if !field.iter().any(is_mark) {
            return Some(field);
        }
        let start = usize::from(matches!(field.first(), Some(b'+' | b'-')));
        let (whole, rest) = field.split_at(start + self.whole_length(&field[start..])?);
        let fraction = strip_char(rest, self.decimal);
        if fraction.is_none() && rest.first() == Some(&b'.') {
            return None;
        }
        buffer.clear();
        buffer.extend(whole.iter().filter(|byte| matches!(byte, b'+' | b'-' | b'0'..=b'9')));
        if fraction.is_some() {
            buffer.push(b'.');
        }
        buffer.extend(fraction.unwrap_or(rest));
        Some(buffer)
    }

    /// The length of the digits and separators in front of the decimal sign. `None` refuses wrong groups.
    fn whole_length(self, bytes: &[u8]) -> Option<usize> {
        let digits = |from: usize| split_digits(&bytes[from..]).0.len();
        let first = digits(0);
        // The length of the groups between the first and the last, and of the last group.
        let (mut end, mut middle, mut last) = (first, None, None);
        // A mark without a digit behind it ends the number.
        while end > 0
            && let Some(mark) = self.thousands
            && let Some(rest @ [b'0'..=b'9', ..]) = strip_char(&bytes[end..], mark)
        {
            let start = bytes.len() - rest.len();
            if last.is_some_and(|last| *middle.get_or_insert(last) != last) {
                return None;
            }
            end = start + *last.insert(digits(start));
        }
        let size = middle.unwrap_or(3);
        let is_grouped = last.is_none_or(|last| last == 3 && matches!(size, 2 | 3) && first <= size);
        is_grouped.then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::look;

    fn respelled(marks: Marks, field: &str) -> Option<String> {
        let mut buffer = b"another field".to_vec();
        marks.respell(field.as_bytes(), &mut buffer).map(|field| String::from_utf8(field.to_vec()).unwrap())
    }

    #[test]
    fn spellings() {
        let marks = |decimal, thousands| Marks::new(decimal, thousands).unwrap();
        let german = marks(',', Some('.'));
        for (marks, field, expected) in [
            (german, "1.234.567,89", "1234567.89"),
            (german, "-1.234", "-1234"),
            (german, "+12.345,6e-3", "+12345.6e-3"),
            (german, "0,5", "0.5"),
            (german, ",5", ".5"),
            (german, "5,", "5."),
            (german, "1234567", "1234567"),
            (german, "1234567,8", "1234567.8"),
            (german, "001.234", "001234"),
            (german, "1.234,5 EUR", "1234.5 EUR"),
            (german, "1,5K", "1.5K"),
            (german, "45,5%", "45.5%"),
            (german, "1,5,6", "1.5,6"),
            (german, "inf", "inf"),
            (german, "", ""),
            (german, "-", "-"),
            (german, "x.y,z", "x.y,z"),
            (marks(',', None), "1234,5", "1234.5"),
            (marks('.', Some(',')), "1,234,567.89", "1234567.89"),
            (marks('.', Some(',')), "12,34,567.8", "1234567.8"),
            (marks('.', Some(',')), "1,23,45,678", "12345678"),
            (marks('.', Some(',')), "12, 13", "12, 13"),
            (marks('.', Some(',')), "1,234,", "1234,"),
            (marks('.', Some('\'')), "1'234.5", "1234.5"),
            (marks(',', Some(' ')), "1 234 567,8", "1234567.8"),
            (marks(',', Some('\u{202F}')), "1\u{202F}234,5", "1234.5"),
            (marks('\u{66B}', Some('\u{66C}')), "1\u{66C}234\u{66B}5", "1234.5"),
            (marks('.', None), "1.5", "1.5"),
            (marks('.', None), "1,5", "1,5"),
        ] {
            assert_eq!(respelled(marks, field).as_deref(), Some(expected), "{field}");
        }
        for (marks, field) in [
            (german, "1.5"),
            (german, "1.23"),
            (german, "1.2345"),
            (german, "1234.567"),
            (german, "1.23.456.789"),
            (german, "123.45.678"),
            (german, "1.234.56"),
            (german, "1.234.56.789"),
            (german, "1.234.567."),
            (german, "5."),
            (german, ".5"),
            (german, "-.5"),
            (german, "10.0.0.1"),
            (german, "21.11.2026"),
            (marks(',', None), "1.5"),
            (marks(',', None), "-1234.5"),
            (marks(',', None), ".5"),
            (marks('.', Some(',')), "1,5"),
            (marks('.', Some(',')), "1,2345.6"),
            (marks('.', Some(' ')), "1 2"),
        ] {
            assert_eq!(respelled(marks, field), None, "{field}");
        }
    }

    #[test]
    fn marks_that_are_refused() {
        for (decimal, thousands) in [
            ('5', None),
            ('e', None),
            ('-', None),
            ('\n', None),
            (',', Some('0')),
            (',', Some('+')),
            (',', Some('"')),
            (',', Some(',')),
            ('.', Some('.')),
        ] {
            let error = Marks::new(decimal, thousands).unwrap_err();
            assert!(error.contains(thousands.unwrap_or(decimal)) || decimal == '\n', "{error}");
        }
    }

    /// The digits in groups of three, or of two before the last three.
    fn grouped(digits: &str, mark: char, is_indian: bool) -> String {
        let mut text = String::new();
        for (at, digit) in digits.chars().enumerate() {
            let left = digits.len() - at;
            let is_start =
                if is_indian && left > 3 { (left - 3).is_multiple_of(2) } else { left.is_multiple_of(3) };
            if at > 0 && is_start {
                text.push(mark);
            }
            text.push(digit);
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn grouped_numbers_are_read(
            sign in "[-+]?",
            digits in "[0-9]{1,20}",
            rest in "(\\.[0-9]{0,5})?([eE][-+]?[0-9]{1,2})?",
            decimal in prop::sample::select([',', '.'].as_slice()),
            thousands in prop::sample::select([' ', '\'', '_', '\u{A0}'].as_slice()),
            is_point: bool,
            is_indian: bool,
        ) {
            let other = if decimal == '.' { ',' } else { '.' };
            let thousands = if is_point { other } else { thousands };
            let whole = grouped(&digits, thousands, is_indian);
            let text = format!("{sign}{whole}{}", rest.replace('.', &decimal.to_string()));
            let marks = Marks::new(decimal, Some(thousands)).unwrap();
            prop_assert_eq!(respelled(marks, &text), Some(format!("{sign}{digits}{rest}")), "{}", text);
        }

        #[test]
        fn each_comma_becomes_a_point(field in "[-+]?[0-9.,]{0,12}[eK%]?") {
            for thousands in [None, Some('.')] {
                let marks = Marks::new(',', thousands).unwrap();
                let Some(respelled) = respelled(marks, &field) else { continue };
                let whole = respelled.split(['.', ',', 'e', 'K', '%']).next().unwrap_or_default();
                let expected = field.split([',', 'e', 'K', '%']).next().unwrap_or_default().replace('.', "");
                prop_assert_eq!(whole, expected, "{}", field);
                if look(respelled.as_bytes(), None).is_some() {
                    let counts = [field.matches(',').count(), respelled.matches('.').count()];
                    prop_assert_eq!(counts[0], counts[1], "{} {}", field, respelled);
                }
            }
        }
    }
}
