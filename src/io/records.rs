//! What was read: keys, and where each record's bytes are if they must come out as they went in.

use std::hint::black_box;
use std::io::{self, Write};

use half::f16;

use super::number::token_at;
use super::print;
use super::source::Text;
use crate::key::{ElementType, KeyMap, Word};
use crate::words::{Words, by_width, in_one};

/// The records of an input and their keys, in input order.
#[derive(Debug)]
pub struct Records {
    /// The map that made the keys.
    pub order: KeyMap,
    /// One key a record.
    pub keys: Words<'static>,
    /// How each record was spelled, where printing its number would not give the same bytes.
    pub spelling: Option<Spelling>,
}

/// The text that records came from, and where in it each begins.
#[derive(Debug)]
pub struct Spelling {
    /// The text.
    pub text: Text,
    /// Where records begin, in blocks as long as those of their keys; of 64 bits where the text is longer than 32 bits can tell.
    pub starts: Words<'static>,
}

/// Writes the records that begin at these places of the text, in this order, a line each.
///
/// # Errors
///
/// What the system says.
pub fn write_records(
    text: &Text,
    starts: &Words,
    to: &mut impl Write,
    progress: impl FnMut(u64),
) -> io::Result<()> {
    let expected = text.bytes.len() / starts.len().max(1) + 1;
    by_width!(starts.borrowed(), starts => {
        print::write(&in_one(starts), expected, to, progress, |starts, lines| gather(&text.bytes, starts, lines))
    })
}

/// Prints the records that begin at these places, a line each.
fn gather<S: Word>(text: &[u8], starts: &[S], lines: &mut Vec<u8>) {
    touch(text, starts.iter().map(|start| start.as_usize()), |start| push_line(text, start, lines));
}

/// Gives these places of the text to `take`, in order.
///
/// They are all over the text, so each costs a miss of the caches, and many of them must be under way at
/// once: first each of a batch is touched, and then they are taken.
#[inline]
pub(super) fn touch(text: &[u8], places: impl Iterator<Item = usize>, mut take: impl FnMut(usize)) {
    const BATCH: usize = 64;
    let mut places = places.peekable();
    let mut batch = [0; BATCH];
    while places.peek().is_some() {
        let mut touched = 0;
        let mut count = 0;
        for (kept, place) in batch.iter_mut().zip(&mut places) {
            *kept = place;
            touched ^= text[place];
            count += 1;
        }
        black_box(touched);
        batch[..count].iter().for_each(|&place| take(place));
    }
}

/// Appends the number that begins at `start`, and ends the line.
#[inline]
fn push_line(text: &[u8], start: usize, lines: &mut Vec<u8>) {
    // Most numbers are shorter than this, and so much at once is copied by a few instructions.
    const WINDOW: usize = 32;
    if let Some(window) = text[start..].first_chunk::<WINDOW>()
        && let Some(length) = number_length(window)
    {
        let end = lines.len() + length;
        lines.extend_from_slice(window);
        lines.truncate(end);
    } else {
        lines.extend_from_slice(token_at(text, start));
    }
    lines.push(b'\n');
}

/// How long the number at the beginning of the window is, if it ends there. No byte of a number is a space or
/// below, and what ends it is.
#[inline]
fn number_length(window: &[u8; 32]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    window.as_chunks::<8>().0.iter().zip((0..).step_by(8)).find_map(|(&word, offset)| {
        let word = u64::from_le_bytes(word);
        // The top bit of each byte below 0x21, if it is the lowest such byte.
        let ends = word.wrapping_sub(ONES * 0x21) & !word & (ONES << 7);
        (ends != 0).then(|| offset + ends.trailing_zeros() as usize / 8)
    })
}

impl Records {
    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// Prints the elements that these keys stand for, a line each: integers in decimal, floats in the
/// shortest form that reads back the same.
///
/// # Errors
///
/// What the system says.
pub fn write_text(
    keys: Words,
    order: KeyMap,
    to: &mut impl Write,
    progress: impl FnMut(u64),
) -> io::Result<()> {
    match keys {
        Words::Narrow(keys) => {
            let keys = &*in_one(keys);
            match order.element {
                ElementType::I32 => integers(keys, to, progress, |key| key.bits(order).cast_signed()),
                ElementType::I8 => integers(keys, to, progress, |key| key.bits(order) as i8),
                ElementType::I16 => integers(keys, to, progress, |key| key.bits(order) as i16),
                ElementType::F32 => floats(keys, to, progress, |key| f32::from_bits(key.bits(order))),
                ElementType::F16 => print::write(keys, 8, to, progress, |keys, lines| {
                    keys.iter().for_each(|&key| push_half(f16::from_bits(key.bits(order) as u16), lines));
                }),
                _ => integers(keys, to, progress, |key| key.bits(order)),
            }
        }
        Words::Wide(keys) => {
            let keys = &*in_one(keys);
            match order.element {
                ElementType::I64 => integers(keys, to, progress, |key| key.bits(order).cast_signed()),
                ElementType::F64 => floats(keys, to, progress, |key| f64::from_bits(key.bits(order))),
                _ => integers(keys, to, progress, |key| key.bits(order)),
            }
        }
    }
}

fn integers<W: Word, I: itoa::Integer>(
    keys: &[W],
    to: &mut impl Write,
    progress: impl FnMut(u64),
    value: impl Fn(W) -> I + Sync,
) -> io::Result<()> {
    print::write(keys, 12, to, progress, |keys, lines| {
        for &key in keys {
            lines.extend_from_slice(itoa::Buffer::new().format(value(key)).as_bytes());
            lines.push(b'\n');
        }
    })
}

fn floats<W: Word, F: zmij::Float + Into<f64> + Copy>(
    keys: &[W],
    to: &mut impl Write,
    progress: impl FnMut(u64),
    value: impl Fn(W) -> F + Sync,
) -> io::Result<()> {
    print::write(keys, 20, to, progress, |keys, lines| {
        keys.iter().for_each(|&key| push_float(value(key), lines));
    })
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

/// Appends a float of half precision in the shortest form that reads back the same, and ends the line.
fn push_half(number: f16, lines: &mut Vec<u8>) {
    if number.is_nan() {
        return push_float(f32::NAN.copysign(if number.is_sign_negative() { -1.0 } else { 1.0 }), lines);
    }
    // Five digits tell all of them apart. Those of the shortest form are a f32 whose shortest form they are, too.
    let wide = number.to_f32();
    let shortest = (0..5).map(|digits| format!("{wide:.digits$e}").parse().unwrap_or(wide));
    let same = |&other: &f32| f16::from_f32(other).to_bits() == number.to_bits();
    push_float(shortest.into_iter().find(same).unwrap_or(wide), lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_places_gather_alike() {
        let text = b"5 40 300 2000 10000 -6e300 0.1 22222222222222222222222222222222222 ";
        let starts: Vec<usize> = (0..text.len()).filter(|&i| i == 0 || text[i - 1] == b' ').collect();
        // More than a batch of them.
        let positions: Vec<usize> = (0..200).map(|i| i * 7 % starts.len()).collect();
        let (short, long): (Vec<u32>, Vec<u64>) =
            positions.iter().map(|&i| (starts[i] as u32, starts[i] as u64)).unzip();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        gather(text, &short, &mut a);
        gather(text, &long, &mut b);
        let tokens: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
        let expected: Vec<u8> = positions.iter().flat_map(|&i| [tokens[i], b"\n"].concat()).collect();
        assert_eq!(a, expected);
        assert_eq!(b, expected);
    }
}
