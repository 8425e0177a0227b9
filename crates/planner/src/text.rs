//! Integers of text on a GPU: the kernels that read and write them, and the layout of sorted lines.
//!
//! ```text
//! text ── parse ──> keys ── sort ──> keys ── search ──> ends of classes ── print ──> text
//! ```
//!
//! Sorted integers of one sign and one number of digits are neighbours: a class. Its lines have one length. So the
//! numbers of keys in all classes give the place of every line.

use gpusort_shaders::wgsl;

use crate::kernels::constants;
use crate::key::{KeyMap, KeyWords, Word};

/// Invocations in a workgroup of these kernels.
pub const WORKGROUP: u32 = 256;
/// Bytes before the text of a window, for the beginning of its first line.
pub const HALO: u32 = 32;
/// Bytes of text that a workgroup reads.
pub const PARSED: u32 = 16 * WORKGROUP;
/// Bytes of text that a workgroup writes.
pub const PRINTED: u32 = 8192;

/// Returns the module of a kernel, whose entry point has its name: `parse`, `search` or `print`.
pub fn module(name: &str, key: KeyWords) -> String {
    let text = constants(&[("WORKGROUP_SIZE", WORKGROUP), ("HALO", HALO / 4), ("WORDS", key.count())]);
    [&text, wgsl("common"), wgsl(&format!("text/{name}"))].concat()
}

/// The bits that differ between an integer and its key.
pub fn flipped(map: KeyMap) -> u64 {
    key(0, map)
}

/// The key of an integer that the map's type holds.
fn key(integer: i128, map: KeyMap) -> u64 {
    match map.element.key_words() {
        KeyWords::One => (integer as u32).key(u32::map(map)).into(),
        KeyWords::Two => (integer as u64).key(u64::map(map)),
    }
}

/// Integers of one sign and one number of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The first key.
    pub first: u64,
    negative: bool,
    /// The length of a line, with its line end.
    length: u32,
}

/// Returns the classes of the integers of the map's type, in the order of their keys.
pub fn classes(map: KeyMap) -> Vec<Class> {
    let (least, greatest) = map.element.limits();
    let class = |negative: bool, digits: u32| {
        let lowest = if digits == 1 && !negative { 0 } else { 10_i128.pow(digits - 1) };
        let highest = 10_i128.pow(digits) - 1;
        let (from, to) = if negative { (-highest, -lowest) } else { (lowest, highest) };
        let (from, to) = (from.max(least), to.min(greatest));
        let first = key(if map.descending { to } else { from }, map);
        (from <= to).then_some(Class { first, negative, length: digits + u32::from(negative) + 1 })
    };
    let digits = 1..=20;
    let negative = digits.clone().rev().filter_map(|digits| class(true, digits));
    let mut all: Vec<_> = negative.chain(digits.filter_map(|digits| class(false, digits))).collect();
    if map.descending {
        all.reverse();
    }
    all
}

/// The places of the lines of a sorted text.
#[derive(Debug)]
pub struct Layout {
    /// Classes with the number of the first line, the number of lines, and the place of the first line.
    classes: Vec<(Class, u32, u32, u64)>,
    /// Bytes of the text.
    pub bytes: u64,
}

/// Lines of one length in a window: the number of the first line, its place relative to the window, the
/// length of a line, and 1 for negative integers.
pub type Segment = [u32; 4];

impl Layout {
    /// Returns the layout of `n` lines. `below` has the number of keys below the first key of each class.
    pub fn new(classes: &[Class], below: &[u32], n: u32) -> Self {
        let ends = below.iter().skip(1).copied().chain([n]);
        let mut bytes = 0;
        let classes = classes.iter().zip(below).zip(ends).map(|((&class, &first), end)| {
            let begin = bytes;
            bytes += u64::from(end - first) * u64::from(class.length);
            (class, first, end - first, begin)
        });
        let classes = classes.filter(|(_, _, lines, _)| *lines > 0).collect();
        Self { classes, bytes }
    }

    /// Returns the segments of the window of `bytes` bytes from `begin` on.
    pub fn segments(&self, begin: u64, bytes: u32) -> Vec<Segment> {
        let end = begin + u64::from(bytes);
        let segment = |&(class, first, lines, place): &(Class, u32, u32, u64)| {
            let length = u64::from(class.length);
            let is_there = place < end && place + u64::from(lines) * length > begin;
            // The number of lines before the window is less than the number of lines.
            let skipped = begin.saturating_sub(place) / length;
            let relative = (place + skipped * length).wrapping_sub(begin) as u32;
            is_there.then(|| [first + skipped as u32, relative, class.length, class.negative.into()])
        };
        self.classes.iter().filter_map(segment).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ElementType;

    const TYPES: [ElementType; 4] = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];

    #[test]
    fn every_line_has_its_place_in_every_window() {
        for element in TYPES {
            let (least, greatest) = element.limits();
            for descending in [false, true] {
                let map = KeyMap { element, descending, nan_first: false };
                let powers = (0..20).flat_map(|log10| [-1, 0, 1].map(|near| 10_i128.pow(log10) + near));
                let near = powers.flat_map(|value| [value, value, -value]).chain([0, 7, least, greatest]);
                let mut values: Vec<i128> = near.filter(|value| (least..=greatest).contains(value)).collect();
                values.sort_by_key(|&value| key(value, map));
                assert!(values.is_sorted_by(|a, b| if descending { a >= b } else { a <= b }), "{element}");
                let all = classes(map);
                assert!(all.is_sorted_by(|a, b| a.first < b.first), "{element}");
                let below =
                    |class: &Class| values.partition_point(|&value| key(value, map) < class.first) as u32;
                let below: Vec<u32> = all.iter().map(below).collect();
                let layout = Layout::new(&all, &below, values.len() as u32);
                let lines: Vec<String> = values.iter().map(|value| format!("{value}\n")).collect();
                let text = lines.concat();
                assert_eq!(layout.bytes, text.len() as u64);
                for window in [1, 7, 64, 1 << 20] {
                    for begin in (0..text.len()).step_by(window) {
                        let bytes = window.min(text.len() - begin);
                        let segments = layout.segments(begin as u64, bytes as u32);
                        assert_eq!(written(&segments, &lines, bytes), text.as_bytes()[begin..begin + bytes]);
                    }
                }
            }
        }
    }

    /// The bytes of a window with these segments.
    fn written(segments: &[Segment], lines: &[String], bytes: usize) -> Vec<u8> {
        let mut window = vec![0; bytes];
        for (number, &[first, begin, length, negative]) in segments.iter().enumerate() {
            let end = segments.get(number + 1).map_or(lines.len() as u32, |next| next[0]);
            for line in first..end {
                let place = begin.cast_signed() + ((line - first) * length).cast_signed();
                if place >= bytes as i32 {
                    break;
                }
                let text = lines[line as usize].as_bytes();
                assert_eq!((text.len() as u32, u32::from(text[0] == b'-')), (length, negative));
                for (at, byte) in (place..).zip(text) {
                    if let Some(there) = usize::try_from(at).ok().and_then(|at| window.get_mut(at)) {
                        *there = *byte;
                    }
                }
            }
        }
        window
    }
}
