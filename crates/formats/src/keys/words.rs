//! Keys of numbers and times as 128-bit words, which compare as the numbers do.
//!
//! ```text
//! number             the nearest f64, in total order   ┊ the distance from it, around the middle
//!                    64 bits, usually sufficient       ┊ 64 bits; then a tail, if the last bit is 1
//! time, duration     seconds                           ┊ attoseconds, above the middle
//! null               beyond all of them, at either end ┊ the middle
//! ```

use gpusort_order::key::ElementType;
use gpusort_values::number;
pub use gpusort_values::number::{integer, of_float, of_integer};

use crate::order::{Class, KeyOrder, Nulls, Reading};
use crate::records::{Print, push_fixed, push_integer};

/// The lower half of the word of a number that f64 represents exactly, and of whole seconds.
pub const EXACT: u64 = number::MID;

/// The width of the ranges of higher halves reserved for nulls, one at each end; more than the
/// classes of nulls. Only NaN would fall into these ranges.
const CLASSES: u64 = 8;

/// The number of attoseconds in a second.
pub const SECOND: i64 = 1_000_000_000_000_000_000;

/// Returns the word of a time in nanoseconds.
#[inline]
pub fn of_nanoseconds(nanoseconds: i128, descending: bool) -> u128 {
    /// The number of nanoseconds in a second.
    const NANOSECONDS: i64 = 1_000_000_000;
    let Ok(few) = i64::try_from(nanoseconds) else {
        return of_attoseconds(nanoseconds * i128::from(SECOND / NANOSECONDS), descending);
    };
    let (seconds, fraction) = (few.div_euclid(NANOSECONDS), few.rem_euclid(NANOSECONDS));
    of_seconds(seconds, fraction * (SECOND / NANOSECONDS), descending)
}

/// Returns the word of a duration in attoseconds.
///
/// # Panics
///
/// Panics for 2^63 seconds or more.
#[inline(never)]
pub fn of_attoseconds(attoseconds: i128, descending: bool) -> u128 {
    let seconds =
        i64::try_from(attoseconds.div_euclid(SECOND.into())).expect("the duration is within limits");
    of_seconds(seconds, attoseconds.rem_euclid(SECOND.into()) as i64, descending)
}

fn of_seconds(seconds: i64, attoseconds: i64, descending: bool) -> u128 {
    let low = EXACT + attoseconds.cast_unsigned();
    let word = u128::from(seconds.cast_unsigned() ^ 1 << 63) << 64 | u128::from(low);
    if descending { word.wrapping_neg() } else { word }
}

/// Returns the seconds and attoseconds of the word of a time or a duration; both increase with the
/// word. In a descending word, attoseconds are negative.
#[inline]
pub fn seconds(word: u128) -> (i64, i64) {
    let seconds = ((word >> 64) as u64 ^ 1 << 63).cast_signed();
    (seconds, (word as u64).wrapping_sub(EXACT).cast_signed())
}

/// Returns the word of a null.
pub fn of_null(class: Class, rules: KeyOrder) -> u128 {
    let (rank, (before, _)) = (rules.rank(class), rules.beside_numbers());
    let is_first = rules.place(class) == Nulls::First;
    whole(if is_first { CLASSES + rank - before } else { u64::MAX - CLASSES + rank + 1 })
}

/// Returns true for the word of a null.
pub fn is_null(word: u128) -> bool {
    rank(word).is_some()
}

/// Returns the rank of a null, counted outwards from the numbers, and true if nulls of this class come
/// first; `None` for a number.
#[inline]
pub fn rank(word: u128) -> Option<(u64, bool)> {
    match (word >> 64) as u64 {
        high @ 0..=CLASSES => Some((CLASSES - high, true)),
        high => high.checked_sub(u64::MAX - CLASSES + 1).map(|rank| (rank, false)),
    }
}

/// Returns the word with this higher half, for a float, whole seconds or a null.
#[inline]
pub fn whole(high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(EXACT)
}

/// Returns true if bytes after the word decide between keys with this word.
#[inline]
pub fn has_tail(word: u128, reading: Reading) -> bool {
    word & 1 == 1 && matches!(reading, Reading::Numbers | Reading::Sizes)
}

/// Returns the word of the element with these bits.
pub fn of_bits(bits: u64, element: ElementType, descending: bool, rules: KeyOrder) -> u128 {
    let float = match element {
        ElementType::F32 => f32::from_bits(bits as u32).into(),
        ElementType::F64 => f64::from_bits(bits),
        ElementType::I32 => return of_integer((bits as i32).into(), descending),
        ElementType::I64 => return of_integer(bits.cast_signed().into(), descending),
        _ => return of_integer(bits.into(), descending),
    };
    if float.is_nan() { of_null(Class::Nan, rules) } else { of_float(float, descending) }
}

/// Returns the float nearest to the number of a word, or NaN for a null.
#[inline]
pub fn nearest(word: u128, descending: bool) -> f64 {
    if is_null(word) {
        return f64::NAN;
    }
    let high = ((if descending { !word } else { word }) >> 64) as u64;
    f64::from_bits(if high >> 63 == 1 { high & !(1 << 63) } else { !high })
}

/// Returns the bits of a word's number as an element of this type. An integer type must hold the number.
///
/// # Panics
///
/// Panics if an integer type does not hold the number.
pub fn bits(word: u128, descending: bool, element: ElementType) -> u64 {
    match element {
        ElementType::F32 => {
            let float = nearest(word, descending);
            if float.is_nan() { f32::NAN.to_bits().into() } else { (float as f32).to_bits().into() }
        }
        ElementType::F64 => nearest(word, descending).to_bits(),
        ElementType::U32 | ElementType::I32 => {
            (integer(word, descending).expect("an integer of this type") as u32).into()
        }
        _ => integer(word, descending).expect("an integer of this type") as u64,
    }
}

/// Appends the number of a word as an element of this type.
pub fn push_element(word: u128, descending: bool, element: ElementType, to: &mut Vec<u8>) {
    to.extend_from_slice(&bits(word, descending, element).to_le_bytes()[..element.bytes()]);
}

/// Appends the number of a word as text, and ends the line.
///
/// # Panics
///
/// Panics if an integer type does not hold the number.
pub fn push_text(word: u128, descending: bool, print: Print, to: &mut Vec<u8>) {
    match print {
        Print::Fixed(digits) => push_fixed(nearest(word, descending), digits, to),
        Print::Shortest => push_integer(integer(word, descending).expect("integers are printed"), to),
    }
}
