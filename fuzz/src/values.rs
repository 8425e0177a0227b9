//! Values of fields by the contract (section 4): exact numbers, hexadecimal numbers, text.

use std::cmp::Ordering;

use crate::version;

/// The kind of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Number,
    Hex,
    Version,
    Text { nocase: bool },
}

/// Signs in numbers.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub decimal: u8,
    pub thousands: Option<u8>,
}

/// A field as a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nan,
    Empty,
    Invalid,
    Number(Number),
    Version(Vec<u8>),
    Text(Vec<u8>),
}

/// `sign` × 0.`digits` × base ^ `exponent`, without zeros at either end of the digits. Infinity has
/// the largest exponent; the sign of zero is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    sign: i8,
    exponent: i128,
    digits: Vec<u8>,
}

impl Number {
    fn new(is_negative: bool, digits: &[u8], exponent: i128) -> Self {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        let last = digits.iter().rposition(|&digit| digit != b'0').map_or(zeros, |last| last + 1);
        if zeros == digits.len() {
            return Self { sign: 0, exponent: 0, digits: Vec::new() };
        }
        let exponent = exponent + (digits.len() - zeros) as i128;
        Self { sign: if is_negative { -1 } else { 1 }, exponent, digits: digits[zeros..last].to_vec() }
    }

    /// The exact order.
    pub fn compare(&self, other: &Self) -> Ordering {
        let size = self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        self.sign.cmp(&other.sign).then(if self.sign < 0 { size.reverse() } else { size })
    }
}

impl Value {
    /// Reads a field; `None` is a missing one.
    pub fn read(field: Option<&[u8]>, kind: Kind, na: Option<&str>, marks: Marks) -> Self {
        let field = field.unwrap_or_default();
        let is_text = matches!(kind, Kind::Text { .. });
        let trimmed = trimmed(field);
        if na.is_some_and(|na| na.as_bytes() == trimmed) || if is_text { field } else { trimmed }.is_empty() {
            return Self::Empty;
        }
        match kind {
            Kind::Text { nocase: false } => Self::Text(field.to_vec()),
            Kind::Text { nocase: true } => Self::Text(field.to_ascii_uppercase()),
            Kind::Version => Self::Version(trimmed.to_vec()),
            Kind::Hex => hex(trimmed).map_or(Self::Invalid, Self::Number),
            Kind::Number => number(trimmed, marks).unwrap_or(Self::Invalid),
        }
    }

    /// The order of two values of one kind, without nulls.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.compare(b),
            (Self::Version(a), Self::Version(b)) => version::order(a, b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => unreachable!("a key has one kind"),
        }
    }
}

/// A field without the blanks around it, which include LF inside lines that end in NUL.
pub fn trimmed(field: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
    let start = field.iter().take_while(|byte| is_blank(byte)).count();
    let end = field.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &field[start..end]
}

fn signed(field: &[u8]) -> (bool, &[u8]) {
    match field {
        [sign @ (b'+' | b'-'), rest @ ..] => (*sign == b'-', rest),
        _ => (false, field),
    }
}

/// `[+-]digits[.digits]`, `.digits` or `digits.` with an exponent; `inf`, `infinity`, `nan`.
fn number(field: &[u8], marks: Marks) -> Option<Value> {
    let (is_negative, rest) = signed(field);
    match &rest.to_ascii_lowercase()[..] {
        b"nan" => return Some(Value::Nan),
        b"inf" | b"infinity" => {
            let sign = if is_negative { -1 } else { 1 };
            return Some(Value::Number(Number { sign, exponent: i128::MAX, digits: Vec::new() }));
        }
        _ => {}
    }
    let (mantissa, exponent) = match rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&rest[..at], exponent(&rest[at + 1..])?),
        None => (rest, 0),
    };
    let (whole, part) = match mantissa.iter().position(|&byte| byte == marks.decimal) {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &b""[..]),
    };
    let whole = ungrouped(whole, marks.thousands)?;
    let digits = [&whole[..], part].concat();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| Value::Number(Number::new(is_negative, &digits, exponent - part.len() as i128)))
}

/// Digits up to 10^18.
fn exponent(text: &[u8]) -> Option<i128> {
    let (is_negative, digits) = signed(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().try_fold(0_i128, |value, &digit| {
        let value = value * 10 + i128::from(digit - b'0');
        (value <= 10_i128.pow(18)).then_some(value)
    })?;
    Some(if is_negative { -value } else { value })
}

/// Digits without separators, which stand between groups of three.
fn ungrouped(whole: &[u8], thousands: Option<u8>) -> Option<Vec<u8>> {
    let groups: Vec<&[u8]> = whole.split(|&byte| Some(byte) == thousands).collect();
    let is_grouped = groups.len() == 1
        || (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|group| group.len() == 3);
    is_grouped.then(|| groups.concat())
}

/// Hexadecimal digits behind a sign and `0x`, both optional.
fn hex(field: &[u8]) -> Option<Number> {
    let (is_negative, rest) = signed(field);
    let digits = rest.strip_prefix(b"0x").or_else(|| rest.strip_prefix(b"0X")).unwrap_or(rest);
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    // The digits compare as bytes in lower case.
    is_hex.then(|| Number::new(is_negative, &digits.to_ascii_lowercase(), 0))
}
