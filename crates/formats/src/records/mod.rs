//! Numbers that a sort keeps without their text, and prints again.

pub mod print;
pub mod range;

use std::io::{self, Write};

use gpusort_order::key::{Encoding, KeyMap, Word};
use gpusort_values::number::POWERS;
use half::f16;

use crate::key_buf::{KeyBuf, by_width, in_one};
use crate::memory::prefetch;

/// Numbers in input order; printing them reproduces the input.
#[derive(Debug)]
pub struct PrintedNumbers {
    /// The map from elements to keys.
    pub order: KeyMap,
    /// One key per record.
    pub keys: KeyBuf<'static>,
    /// The printed form of the numbers.
    pub print: Print,
}

/// The printed form of numbers; integers are always decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// Floats in their shortest form.
    Shortest,
    /// Numbers of f64 with this number of digits after the point: at least one, with at most 15 digits
    /// in total.
    Fixed(u8),
}

/// More than the number of memory accesses that a core has in flight.
const AHEAD: usize = 32;

/// Delays items, so that their prefetched memory arrives before their turn.
#[inline]
pub(super) fn ahead<T: Copy>(items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut items = items.fuse();
    let mut ring: [Option<T>; AHEAD] = std::array::from_fn(|_| items.next());
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = std::mem::replace(&mut ring[at], items.next());
        at = (at + 1) % AHEAD;
        first
    })
}

/// Passes the item of each place to `take`, in order.
///
/// The places are spread over the text, so about `length` bytes from each place are prefetched some
/// time before the turn of its item.
#[inline]
pub(super) fn touch<T: Copy>(
    text: &[u8],
    length: usize,
    places: impl Iterator<Item = (usize, T)>,
    take: impl FnMut(T),
) {
    const LINE: usize = 64;
    // Short records are copied together with the bytes after them. In long records, the hardware
    // prefetches adjacent lines.
    let last = length.clamp(LINE / 2, 4 * LINE) - 1;
    let places = places.map(|(place, of_place)| {
        (0..last).step_by(LINE).chain([last]).for_each(|offset| prefetch(text, place + offset));
        of_place
    });
    ahead(places).for_each(take);
}

/// Writes the elements of these keys, one per line.
///
/// # Errors
///
/// I/O errors.
pub fn write_text(
    keys: KeyBuf,
    order: KeyMap,
    form: Print,
    to: &mut impl Write,
    progress: impl FnMut(u64),
) -> io::Result<()> {
    let expected = if order.element.is_float() && form == Print::Shortest { 20 } else { 12 };
    by_width!(keys, keys => {
        let map = Word::map(order);
        print::write(&in_one(keys), expected, to, progress, |keys, lines| {
            let elements = keys.iter().map(|key| key.bits(map));
            let bits = elements.clone().map(wide);
            match (order.element.layout(), form) {
                ((16, Encoding::Float { exponent: 5 }), _) => {
                    bits.for_each(|bits| push_half(f16::from_bits(bits as u16), lines));
                }
                ((32, Encoding::Float { .. }), _) => {
                    bits.for_each(|bits| push_float(f32::from_bits(bits as u32), lines));
                }
                ((16, Encoding::Float { .. }), _) => unreachable!("f16 is the only float of 16 bits"),
                ((_, Encoding::Float { .. }), Print::Shortest) => {
                    bits.for_each(|bits| push_float(f64::from_bits(bits), lines));
                }
                ((_, Encoding::Float { .. }), Print::Fixed(digits)) => {
                    bits.for_each(|bits| push_fixed(f64::from_bits(bits), digits, lines));
                }
                ((width, Encoding::Signed), _) => bits.for_each(|bits| {
                    push_integer(bits.cast_signed() << (64 - width) >> (64 - width), lines);
                }),
                ((_, Encoding::Unsigned), _) => elements.for_each(|element| push_integer(element, lines)),
            }
        })
    })
}

/// Returns a word of either width in 64 bits.
pub(super) fn wide(word: impl Into<u64>) -> u64 {
    word.into()
}

/// Appends an integer, and ends the line.
pub fn push_integer(integer: impl itoa::Integer, lines: &mut Vec<u8>) {
    lines.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
    lines.push(b'\n');
}

/// Appends a float with this number of digits after the point, and ends the line. The float must be the
/// nearest one to such a decimal with at most 15 digits: then the float times the power of ten is less
/// than a quarter from the decimal's integer.
pub(super) fn push_fixed(number: f64, digits: u8, lines: &mut Vec<u8>) {
    let digits = usize::from(digits);
    if number.is_sign_negative() {
        lines.push(b'-');
    }
    let units = (number.abs() * POWERS[digits]).round() as u64;
    let mut buffer = itoa::Buffer::new();
    let printed = buffer.format(units).as_bytes();
    let whole = printed.len().saturating_sub(digits);
    lines.extend_from_slice(if whole == 0 { b"0" } else { &printed[..whole] });
    lines.push(b'.');
    lines.resize(lines.len() + digits.saturating_sub(printed.len()), b'0');
    lines.extend_from_slice(&printed[whole..]);
    lines.push(b'\n');
}

/// Appends a float in the shortest form that reads back the same, and ends the line.
fn push_float<F: zmij::Float + Into<f64> + Copy>(number: F, lines: &mut Vec<u8>) {
    let wide: f64 = number.into();
    if wide.is_nan() {
        lines.extend_from_slice(if wide.is_sign_negative() { b"-nan" } else { b"nan" });
    } else {
        let mut buffer = zmij::Buffer::new();
        let printed = buffer.format(number);
        let (mantissa, exponent) = printed.split_once("e+").unwrap_or((printed, ""));
        lines.extend_from_slice(mantissa.strip_suffix(".0").unwrap_or(mantissa).as_bytes());
        if !exponent.is_empty() {
            lines.push(b'e');
            lines.extend_from_slice(exponent.as_bytes());
        }
    }
    lines.push(b'\n');
}

/// Appends a float of half precision, and ends the line.
fn push_half(number: f16, lines: &mut Vec<u8>) {
    if number.is_nan() {
        return push_float(f32::NAN.copysign(if number.is_sign_negative() { -1.0 } else { 1.0 }), lines);
    }
    // Five digits distinguish all halves. The shortest form of a half is also the shortest form of an f32.
    let wide = number.to_f32();
    let shortest = (0..5).map(|digits| format!("{wide:.digits$e}").parse().unwrap_or(wide));
    let same = |&other: &f32| f16::from_f32(other).to_bits() == number.to_bits();
    push_float(shortest.into_iter().find(same).unwrap_or(wide), lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_in_their_order() {
        let text = vec![b'7'; 200];
        for count in [0, 1, 31, 32, 33, 64, 100] {
            for length in [0, 1, 64, 65, 1000] {
                let places: Vec<usize> = (0..count).map(|number| number * 7 % 200).collect();
                let mut taken = Vec::new();
                let items = places.iter().map(|&place| (place, place));
                touch(&text, length, items, |place| taken.push(place));
                assert_eq!(taken, places);
            }
        }
    }
}
