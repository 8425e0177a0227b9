//! Digits at the beginning of a text.

/// Splits behind the first bytes with a property.
#[inline]
pub(crate) fn split_while(text: &[u8], holds: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !holds(byte)).unwrap_or(text.len()))
}

/// The digits at the beginning of a text, and the text behind the digits.
#[inline]
pub(crate) fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    split_while(text, u8::is_ascii_digit)
}

/// Splits a plus or minus, true for minus, from a field.
pub(crate) fn split_sign(field: &[u8]) -> (Option<bool>, &[u8]) {
    match field {
        [sign @ (b'+' | b'-'), rest @ ..] => (Some(*sign == b'-'), rest),
        _ => (None, field),
    }
}

/// The exponent with its letter at the beginning of a text, and the text behind the exponent.
pub(crate) fn split_exponent(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'e' | b'E', after @ ..] = text else { return None };
    let (minus, after) = split_sign(after);
    let (digits, rest) = split_digits(after);
    let add = |size: i64, digit: &u8| size.saturating_mul(10).saturating_add((digit - b'0').into());
    let size = digits.iter().fold(0, add);
    (!digits.is_empty()).then_some((if minus == Some(true) { -size } else { size }, rest))
}

/// A decimal without a sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Decimal<'a> {
    pub(crate) fn new(whole: &'a [u8], fraction: &'a [u8]) -> Self {
        Self { whole, fraction, exponent: 0 }
    }

    /// The longest decimal at the beginning of a text, and the text behind the decimal.
    pub(crate) fn split(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (whole, mut rest) = split_digits(text);
        let mut fraction = &[][..];
        if let [b'.', after @ ..] = rest {
            (fraction, rest) = split_digits(after);
        }
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (exponent, rest) = split_exponent(rest).unwrap_or((0, rest));
        Some((Self { whole, fraction, exponent }, rest))
    }

    /// The product with a unit, unless the product has a fraction or exceeds 128 bits.
    pub(crate) fn times(&self, mut unit: u128) -> Option<u128> {
        let end = self.fraction.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        let mut digits = self.whole.iter().chain(&self.fraction[..end]);
        let value = digits
            .try_fold(0_u128, |value, digit| value.checked_mul(10)?.checked_add((digit - b'0').into()))?;
        if value == 0 {
            return Some(0);
        }
        let mut shift = self.exponent.saturating_sub_unsigned(end as u64);
        while shift < 0 && unit.is_multiple_of(10) {
            (unit, shift) = (unit / 10, shift + 1);
        }
        let power = 10_u128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?)?;
        let product = value.checked_mul(unit)?;
        if shift < 0 {
            product.is_multiple_of(power).then(|| product / power)
        } else {
            product.checked_mul(power)
        }
    }
}
