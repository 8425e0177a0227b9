//! Input records: their keys, and the bytes of each where output must preserve them.

use std::io::{self, Write};

use half::f16;

use super::counts::Counts;
use super::infer::Spot;
use super::number::{POWERS, Spelled, spelled, token_at};
use super::print;
use super::source::Text;
use crate::key::{ElementType, KeyMap, Word};
use crate::memory::prefetch;
use crate::words::{Words, by_width, in_one};

/// The records of an input with their keys, in input order.
#[derive(Debug)]
pub struct Records {
    /// The map from elements to keys.
    pub order: KeyMap,
    /// One key per record.
    pub keys: Words<'static>,
    /// How their bytes come about.
    pub spelling: Spelling,
    /// Nulls, and what was left out.
    pub counts: Counts,
}

impl Records {
    /// The first of them that is no NaN, as a token of this input or another one.
    pub(crate) fn first_number(&self, input: &str) -> Option<Spot> {
        let (place, token) = match &self.spelling {
            Spelling::Printed(print) => {
                let mut line = Vec::new();
                // Writing into memory does not fail.
                let first = self.keys.range(0..self.keys.len().min(1));
                write_text(first, self.order, *print, &mut line, |_| {}).ok()?;
                (format!("{input}:1"), line.strip_suffix(b"\n")?.to_vec())
            }
            Spelling::AsRead { text, starts } => by_width!(starts, blocks => {
                let mut starts = blocks.iter().flat_map(|block| block.iter()).map(|start| start.as_usize());
                let start = starts.find(|&start| spelled(token_at(&text.bytes, start)) != Some(Spelled::Nan))?;
                (text.place(start), token_at(&text.bytes, start).to_vec())
            }),
        };
        Some(Spot { place, column: Some("1".to_owned()), token })
    }
}

/// How the bytes of records come about.
#[derive(Debug)]
pub enum Spelling {
    /// Printing the numbers so reproduces them.
    Printed(Print),
    /// They are tokens.
    AsRead {
        /// The source text.
        text: Text,
        /// Record offsets, in blocks of the same lengths as the keys'; 64-bit if 32 bits do not suffice.
        starts: Words<'static>,
    },
}

/// How numbers are printed: integers in decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// Floats in their shortest form.
    Shortest,
    /// Numbers of f64 as decimals with this number of digits after the point, at least one, and 15 in all at most.
    Fixed(u8),
}

/// Writes the records at these offsets in the text, in this order, one per line.
///
/// # Errors
///
/// I/O errors.
pub fn write_records(
    text: &Text,
    starts: &Words,
    to: &mut impl Write,
    progress: impl FnMut(u64),
) -> io::Result<()> {
    let expected = text.bytes.len() / starts.len().max(1) + 1;
    by_width!(starts.borrowed(), starts => {
        print::write(&in_one(starts), expected, to, progress, |starts, lines| gather(&text.bytes, expected, starts, lines))
    })
}

/// Appends the records at these offsets, of about this length, one per line.
fn gather<S: Word>(text: &[u8], length: usize, starts: &[S], lines: &mut Vec<u8>) {
    touch(text, length, starts.iter().map(|start| start.as_usize()), |start| push_line(text, start, lines));
}

/// Passes these offsets to `take`, in order.
///
/// They are spread over the text, so that about `length` bytes from each on are asked for some time before it is its turn.
#[inline]
pub(super) fn touch(
    text: &[u8],
    length: usize,
    places: impl Iterator<Item = usize>,
    mut take: impl FnMut(usize),
) {
    /// As many as a core waits for at once, and some.
    const AHEAD: usize = 32;
    const LINE: usize = 64;
    // Of long records those that follow each other are found by the hardware.
    let last = length.min(4 * LINE).saturating_sub(1);
    let (mut ring, mut count) = ([0; AHEAD], 0);
    for place in places {
        (0..last).step_by(LINE).chain([last]).for_each(|offset| prefetch(text, place + offset));
        let before = std::mem::replace(&mut ring[count % AHEAD], place);
        if count >= AHEAD {
            take(before);
        }
        count += 1;
    }
    (count.saturating_sub(AHEAD)..count).for_each(|number| take(ring[number % AHEAD]));
}

/// Appends the number that begins at `start`, and ends the line.
#[inline]
fn push_line(text: &[u8], start: usize, lines: &mut Vec<u8>) {
    // Most numbers are shorter than this, which a few instructions copy.
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

/// The length of the number at the start of the window, if its end, a byte up to a space, is inside.
#[inline]
fn number_length(window: &[u8; 32]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    window.as_chunks::<8>().0.iter().zip((0..).step_by(8)).find_map(|(&word, offset)| {
        let word = u64::from_le_bytes(word);
        // The top bit of the lowest byte below 0x21.
        let ends = word.wrapping_sub(ONES * 0x21) & !word & (ONES << 7);
        (ends != 0).then(|| offset + ends.trailing_zeros() as usize / 8)
    })
}

/// Writes the elements of these keys, one per line.
///
/// # Errors
///
/// I/O errors.
pub fn write_text(
    keys: Words,
    order: KeyMap,
    print: Print,
    to: &mut impl Write,
    progress: impl FnMut(u64),
) -> io::Result<()> {
    match (print, keys) {
        (Print::Fixed(digits), Words::Wide(keys)) => {
            let map = u64::map(order);
            print::write(&in_one(keys), 12, to, progress, |keys, lines| {
                keys.iter().for_each(|&key| push_fixed(f64::from_bits(key.bits(map)), digits, lines));
            })
        }
        (_, keys) => by_width!(keys, keys => elements(&in_one(keys), order, to, progress)),
    }
}

fn elements<W: Word + itoa::Integer>(
    keys: &[W],
    order: KeyMap,
    to: &mut impl Write,
    progress: impl FnMut(u64),
) -> io::Result<()> {
    let map = W::map(order);
    let bits = |key: W| -> u64 { key.bits(map).into() };
    match order.element {
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
            integers(keys, to, progress, |key| key.bits(map))
        }
        ElementType::I8 => integers(keys, to, progress, |key| bits(key) as i8),
        ElementType::I16 => integers(keys, to, progress, |key| bits(key) as i16),
        ElementType::I32 => integers(keys, to, progress, |key| bits(key) as i32),
        ElementType::I64 => integers(keys, to, progress, |key| bits(key) as i64),
        ElementType::F16 => print::write(keys, 8, to, progress, |keys, lines| {
            keys.iter().for_each(|&key| push_half(f16::from_bits(bits(key) as u16), lines));
        }),
        ElementType::F32 => floats(keys, to, progress, |key| f32::from_bits(bits(key) as u32)),
        ElementType::F64 => floats(keys, to, progress, |key| f64::from_bits(bits(key))),
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

/// Appends a float with this number of digits after the point, and ends the line. It is the one nearest to such a decimal, which
/// has 15 digits at most: then its product with a power of ten is less than a quarter from their integer.
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

/// As [`push_float`], in half precision.
fn push_half(number: f16, lines: &mut Vec<u8>) {
    if number.is_nan() {
        return push_float(f32::NAN.copysign(if number.is_sign_negative() { -1.0 } else { 1.0 }), lines);
    }
    // Five digits distinguish all of them. The shortest form of a half is also that of an f32.
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
                touch(&text, length, places.iter().copied(), |place| taken.push(place));
                assert_eq!(taken, places);
            }
        }
    }

    #[test]
    fn short_and_long_places_gather_alike() {
        let text = b"5 40 300 2000 10000 -6e300 0.1 22222222222222222222222222222222222 ";
        let starts: Vec<usize> = (0..text.len()).filter(|&i| i == 0 || text[i - 1] == b' ').collect();
        // More than a batch.
        let positions: Vec<usize> = (0..200).map(|i| i * 7 % starts.len()).collect();
        let (short, long): (Vec<u32>, Vec<u64>) =
            positions.iter().map(|&i| (starts[i] as u32, starts[i] as u64)).unzip();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        gather(text, 9, &short, &mut a);
        gather(text, 9, &long, &mut b);
        let tokens: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
        let expected: Vec<u8> = positions.iter().flat_map(|&i| [tokens[i], b"\n"].concat()).collect();
        assert_eq!(a, expected);
        assert_eq!(b, expected);
    }
}
