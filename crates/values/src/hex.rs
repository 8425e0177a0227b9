//! Hexadecimal numbers of any length, such as hashes, addresses and identifiers.
//!
//! The bytes of two keys compare as the numbers do:
//!
//! ```text
//! 0x1F    01 1f         the count of bytes of the value, then these bytes
//! 0100    02 01 00
//! 0       00
//! ```

use crate::digits::split_while;

/// True if the field is a hexadecimal number without a sign, with or without `0x`, in either case. Spaces and tabs
/// around the number do not count.
pub(crate) fn is_hex(field: &[u8]) -> bool {
    let digits = digits(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
}

fn digits(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    let ([b'0', b'x' | b'X', digits @ ..] | digits) = field;
    digits
}

/// Appends the key of a field that [`is_hex`] accepts. Leading zeros do not count.
pub(crate) fn push_hex(field: &[u8], to: &mut Vec<u8>) {
    let (_, digits) = split_while(digits(field), |&digit| digit == b'0');
    push_count(digits.len().div_ceil(2), to);
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    to.extend(odd.iter().map(|&digit| value(digit)));
    to.extend(pairs.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
}

/// The value of a hexadecimal digit.
fn value(digit: u8) -> u8 {
    if digit.is_ascii_digit() { digit - b'0' } else { (digit | 0x20) - b'a' + 10 }
}

/// Appends a count so that bytes compare as counts do: a byte 255 for each full 255, then a byte for the rest.
/// The bytes of a count never begin the bytes of another count.
pub(crate) fn push_count(count: usize, to: &mut Vec<u8>) {
    const FULL: u8 = u8::MAX;
    to.extend(std::iter::repeat_n(FULL, count / usize::from(FULL)));
    to.push((count % usize::from(FULL)) as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(field: &str) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        is_hex(field.as_bytes()).then(|| push_hex(field.as_bytes(), &mut key))?;
        Some(key)
    }

    #[test]
    fn forms_of_hexadecimal_numbers() {
        for (field, expected) in [
            ("0", &[0][..]),
            ("0x0", &[0]),
            ("0000", &[0]),
            ("1", &[1, 1]),
            ("0x1F", &[1, 0x1F]),
            ("0X001f", &[1, 0x1F]),
            ("1f", &[1, 0x1F]),
            ("100", &[2, 1, 0]),
            ("DeadBeef", &[4, 0xDE, 0xAD, 0xBE, 0xEF]),
            (" 1\t", &[1, 1]),
        ] {
            assert_eq!(key(field).as_deref(), Some(expected), "{field}");
        }
        for field in
            ["", "x", "0x", "0xg", "x1", "-1", "+1", "-0x1", "1 1", "1_0", "0x0x1", "00x1", "1h", "#ff"]
        {
            assert_eq!(key(field), None, "{field}");
        }
    }

    #[test]
    fn more_digits_are_more() {
        let mut keys: Vec<_> = (0..2000).map(|length| key(&format!("1{}", "0".repeat(length)))).collect();
        keys.insert(0, key("0"));
        assert!(keys.is_sorted_by(|a, b| a < b));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn keys_are_in_order_of_value(
            values: [u128; 2],
            shifts in [0..128_u32, 0..128],
            zeros in 0..40_usize,
        ) {
            let values = [values[0] >> shifts[0], values[1] >> shifts[1]];
            let keys = [
                key(&format!("0x{:0>zeros$x}", values[0])).unwrap(),
                key(&format!("{:X}", values[1])).unwrap(),
            ];
            prop_assert_eq!(keys[0].cmp(&keys[1]), values[0].cmp(&values[1]));
        }

        #[test]
        fn long_ones_too(
            digit in "[0-9a-f]",
            lengths in [0..1400_usize, 0..1400],
            ends in ["[0-9a-f]{1,3}", "[0-9a-f]{1,3}"],
        ) {
            let digits: [_; 2] = std::array::from_fn(|side| digit.repeat(lengths[side]) + &ends[side]);
            let numbers = digits.each_ref().map(|digits| digits.trim_start_matches('0'));
            let expected = numbers[0].len().cmp(&numbers[1].len()).then(numbers[0].cmp(numbers[1]));
            prop_assert_eq!(key(&digits[0]).cmp(&key(&digits[1])), expected);
        }
    }
}
