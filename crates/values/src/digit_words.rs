//! Digits of a text as words, with the value of one digit in each byte.

/// Eight digits 0.
pub const ZEROS: u64 = b'0' as u64 * (u64::MAX / 255);

/// The values of 1 to 8 digits, one in each byte, the last digit in the highest byte. Other bytes have values
/// above 9.
#[inline]
pub(crate) fn load8(text: &[u8]) -> u64 {
    if let Some(all) = text.first_chunk() {
        return u64::from_le_bytes(*all) ^ ZEROS;
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        // Two shifts, because all 32 bits cannot be shifted out at once.
        let unused = 4 * (8 - text.len());
        let first = (u32::from_le_bytes(*first) ^ ZEROS as u32) << unused << unused;
        return u64::from(u32::from_le_bytes(*last) ^ ZEROS as u32) << 32 | u64::from(first);
    }
    let digit = |at: usize| u64::from(text[at] ^ b'0');
    match text.len() {
        1 => digit(0) << 56,
        2 => digit(1) << 56 | digit(0) << 48,
        _ => digit(2) << 56 | digit(1) << 48 | digit(0) << 40,
    }
}

/// [`load8`] of 1 to 16 digits.
#[inline]
pub(crate) fn load16(text: &[u8]) -> u128 {
    let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) else {
        return u128::from(load8(text)) << 64;
    };
    let unused = 4 * (16 - text.len());
    let first = (u64::from_le_bytes(*first) ^ ZEROS) << unused << unused;
    u128::from(u64::from_le_bytes(*last) ^ ZEROS) << 64 | u128::from(first)
}

/// Defines functions of words with the value of one digit in each byte.
macro_rules! digits_in_words {
    ($name:ident, $word:ident, $integer:expr) => {
        /// Words of this width.
        pub mod $name {
            const BYTES: $word = $word::MAX / 255;

            /// The highest bit of each byte without a digit.
            #[inline]
            pub fn others(word: $word) -> $word {
                ((word & (BYTES * 0x7F)) + BYTES * (0x80 - 10) | word) & (BYTES << 7)
            }

            /// True for a point and no other byte without a digit.
            #[inline]
            pub(crate) fn is_only_point(word: $word, others: $word) -> bool {
                const POINT: $word = (b'.' ^ b'0') as $word;
                let lowest = others >> 7;
                others & (others - 1) == 0 && word & (lowest << 8).wrapping_sub(lowest) == lowest * POINT
            }

            /// Moves the bytes below the point up by one byte.
            #[inline]
            pub(crate) fn close_gap(word: $word, point: $word) -> $word {
                word & !(point << 1).wrapping_sub(1) | (word & ((point >> 7) - 1)) << 8
            }

            /// The number of bytes below the point.
            #[inline]
            pub(crate) fn place(point: $word) -> i64 {
                i64::from(point.trailing_zeros() / 8)
            }

            /// The integer of all digits.
            #[inline]
            pub fn integer(digits: $word) -> u64 {
                $integer(digits)
            }
        }
    };
}

digits_in_words!(eight, u64, |digits: u64| {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF
});
digits_in_words!(sixteen, u128, |digits: u128| {
    let (high, low) = (super::eight::integer(digits as u64), super::eight::integer((digits >> 64) as u64));
    high * 100_000_000 + low
});
