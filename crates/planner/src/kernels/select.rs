//! The passes that bring the first k elements of the sorted order, in their original order, to the front of the other
//! array. [`crate::plan`]'s `select.rs` explains their combination.
//!
//! ```text
//! Clear       counters and known digits set to zero
//! Histogram   one digit counted, of the keys that agree with the last selected one in all higher digits
//! Choose      that digit of the last selected key, and the number of selected keys with this digit
//! Count       keys less than the last selected key, and keys equal to it, in each chunk
//! Keep        the selected elements of each chunk to their places
//! Return      the selected elements back to their original array
//! ```

use std::fmt::Write;

use gpusort_shaders::wgsl;

use super::{Access, Arguments, AuxBuffer, Kernel, KernelSpec, Keys, Launch, Module, Shape};
use crate::error::{Error, at_least, at_most};
use crate::item::Item;
use crate::limits::Limits;

/// The maximum bits of a digit: 16 KiB have room for a counter of each value.
const DIGIT_BITS: u32 = 11;

/// The maximum number of values of a digit.
const RADIX: u32 = 1 << DIGIT_BITS;

/// The digits in a word of a key, from the lowest: the first bit and the number of bits of each digit.
const DIGITS: [(u32, u32); 3] = [(0, 10), (10, DIGIT_BITS), (21, DIGIT_BITS)];

/// Elements in the registers of an invocation.
const ITEMS: u32 = 16;

/// Elements that workgroups of any size take in whole blocks.
const CHUNK_UNIT: u32 = MOST_INVOCATIONS * ITEMS;

const MOST_INVOCATIONS: u32 = 256;

/// Workgroups that keep any device busy with copying.
const MOST_RETURNING: u32 = 1 << 14;

/// The maximum number of workgroups: eight for each core of a large GPU. More only make more counts to add up.
const MOST_WORKGROUPS: u32 = 1056;

/// The work of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelectWork {
    /// Sets the counters of the other passes to zero.
    Clear,
    /// Counts a digit.
    Histogram,
    /// Finds the digit of the last selected key.
    Choose,
    /// Counts keys by the last selected key.
    Count,
    /// Brings the selected elements together.
    Keep,
    /// Brings the selected elements back.
    Return,
}

/// A pass of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Select {
    /// The work.
    pub work: SelectWork,
    /// The number of elements to select.
    pub k: u32,
    /// The digit, counted from the lowest; 0 for work without a digit.
    pub digit: u32,
    /// True if the payload is iota (the position), which passes do not read.
    pub iota: bool,
}

/// The count of each value of a digit in the keys that agree with the last selected key.
const DIGIT_COUNTS: AuxBuffer = AuxBuffer::words("digit_counts");
/// The known digits of the last selected key; the number of selected keys that agree with it; 1 if all its digits are
/// known.
const CHOSEN: AuxBuffer = AuxBuffer::words("chosen");
/// For each chunk, the number of keys less than the last selected key, and the number of keys equal to it.
const CHUNK_COUNTS: AuxBuffer = AuxBuffer::words("chunk_counts");

impl Select {
    /// Returns the number of digits in this number of bits, in one word or two.
    pub fn digits(bits: u32) -> u32 {
        let in_word = |bits: u32| DIGITS.iter().filter(|(shift, _)| *shift < bits).count() as u32;
        in_word(bits) + in_word(bits.saturating_sub(32))
    }

    /// Bytes of each auxiliary buffer, with room for any selection.
    pub const ROOM: [(&'static str, u64); 3] = [
        (DIGIT_COUNTS.name, 4 * RADIX as u64),
        (CHOSEN.name, 16),
        (CHUNK_COUNTS.name, 8 * MOST_WORKGROUPS as u64),
    ];

    /// Returns the constants of a kernel that writes the arguments of these passes if only the device knows the
    /// number of elements.
    pub fn constants() -> String {
        let mut text = super::constants(&[("CHUNK_UNIT", CHUNK_UNIT), ("MOST_WORKGROUPS", MOST_WORKGROUPS)]);
        let [(a, wide_a), (b, wide_b), (c, wide_c)] = DIGITS;
        let _ = writeln!(text, "const SHIFTS = array<u32, 3>({a}u, {b}u, {c}u);");
        let _ = writeln!(text, "const WIDTHS = array<u32, 3>({wide_a}u, {wide_b}u, {wide_c}u);");
        text
    }

    /// Returns the digit's word of the key, its lowest bit in this word, and its number of bits.
    fn place(&self) -> (u32, u32, u32) {
        let count = DIGITS.len() as u32;
        let (shift, width) = DIGITS[(self.digit % count) as usize];
        (self.digit / count, shift, width)
    }

    /// Returns the elements in a chunk of an array with `count` elements, and the number of chunks.
    fn chunks(count: u32) -> (u32, u32) {
        let units = count.div_ceil(CHUNK_UNIT);
        let chunk = units.div_ceil(MOST_WORKGROUPS).max(1).saturating_mul(CHUNK_UNIT);
        (chunk, count.div_ceil(chunk))
    }
}

impl KernelSpec for Select {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        at_least([
            // A mask has a bit for each of 32 elements, the elements of two invocations.
            ("invocations in a workgroup", limits.invocations.into(), 2),
            ("elements to select", self.k.into(), 1),
        ])?;
        let digits = Self::digits(32 * shape.key_words());
        at_most([
            ("bytes of workgroup memory", u64::from(RADIX) * 4, limits.workgroup_bytes),
            ("digits before the last", self.digit.into(), (digits - 1).into()),
        ])
    }

    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch {
        let workgroup_size = 1 << limits.invocations.clamp(1, MOST_INVOCATIONS).ilog2();
        let (_, chunks) = Self::chunks(count);
        // An upper bound: once the last key is known whole, histograms read nothing.
        let read = u64::from(count) * shape.key_bytes();
        let (workgroups, bytes_moved) = match self.work {
            SelectWork::Clear => (RADIX.div_ceil(workgroup_size), u64::from(RADIX) * 4),
            SelectWork::Choose => (1, 2 * u64::from(RADIX) * 4),
            SelectWork::Histogram => (count.div_ceil(workgroup_size * ITEMS).min(MOST_WORKGROUPS), read),
            SelectWork::Count => (chunks, read),
            SelectWork::Keep => {
                let words_read = if shape.payload && !self.iota { 4 } else { 0 };
                (chunks, read + u64::from(self.k) * (shape.bytes() + words_read))
            }
            SelectWork::Return => {
                (self.k.div_ceil(workgroup_size).min(MOST_RETURNING), 2 * u64::from(self.k) * shape.bytes())
            }
        };
        Launch { workgroup_size, workgroups: workgroups.into(), bytes_moved }
    }

    /// In bounds since reads are below `n`. The place of a kept element is the number of kept elements before it: keys
    /// less than the last selected key, and the first equal keys that complete k. If the selection includes all keys
    /// that agree with a part of the last key, this part stands for the largest of them. Counters have room for all
    /// values of a digit, masks for the elements of a block, counts for all chunks.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        at_most([
            ("elements to select", self.k.into(), count.into()),
            // Loops count on beyond the last element by less than a block.
            ("elements to select from", count.into(), 1 << 31),
        ])?;
        let whole = Access::from_start(first, count)?;
        Ok(match self.work {
            SelectWork::Clear | SelectWork::Choose => Access { reads: 0, writes: 0, ..whole },
            SelectWork::Histogram | SelectWork::Count => Access { writes: 0, ..whole },
            SelectWork::Keep => Access { writes: self.k.into(), ..whole.to_other() },
            SelectWork::Return => Access { reads: self.k.into(), writes: self.k.into(), ..whole.to_other() },
        })
    }

    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        match self.work {
            SelectWork::Clear | SelectWork::Choose => &[DIGIT_COUNTS, CHOSEN],
            SelectWork::Histogram => const { &[DIGIT_COUNTS.added_to(), CHOSEN.read()] },
            SelectWork::Count => const { &[CHOSEN.read(), CHUNK_COUNTS] },
            SelectWork::Keep => const { &[CHOSEN.read(), CHUNK_COUNTS.read()] },
            SelectWork::Return => &[],
        }
    }

    fn aux_words(&self, aux: &AuxBuffer, count: u32) -> u64 {
        match aux.name {
            name if name == DIGIT_COUNTS.name => RADIX.into(),
            name if name == CHOSEN.name => 4,
            _ => 2 * u64::from(Self::chunks(count).1),
        }
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Select(Self { work: self.work, k: 1, digit: 0, iota: false })
    }

    fn module(&self, shape: Shape, keys: Keys) -> Module {
        let (entry_point, own): (_, &[_]) = match self.work {
            SelectWork::Clear => ("clear", &["clear"]),
            SelectWork::Histogram => ("histogram", &["chosen", "histogram"]),
            SelectWork::Choose => ("choose", &["choose"]),
            SelectWork::Count => ("count", &["chosen", "count"]),
            SelectWork::Keep => ("keep", &["chosen", "keep"]),
            SelectWork::Return => ("bring_back", &["return"]),
        };
        let moved: &[_] = match self.work {
            SelectWork::Keep | SelectWork::Return if shape.payload => &["access_payload", "payload"],
            SelectWork::Keep | SelectWork::Return => &["key"],
            _ => &[],
        };
        let text = |file: &&_| match *file {
            "access" | "access_payload" => keys.text_of(file),
            _ => wgsl(&format!("select/{file}")),
        };
        let text = ["select"].iter().chain(own).chain(&["access"]).chain(moved).map(text).collect();
        let constants = vec![("TILE_SIZE", 1), ("ITEMS", ITEMS)];
        Module { entry_point, constants, text }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        let n = first + count;
        let (word, shift, width) = self.place();
        let (chunk, chunks) = Self::chunks(n);
        [
            ("n", n),
            ("k", self.k),
            ("word", word),
            ("shift", shift),
            ("width", width),
            ("chunk", chunk),
            ("chunks", chunks),
            ("iota", self.iota.into()),
        ]
        .into()
    }

    /// The other passes only find the last selected key.
    fn interpret<T: Item>(&self, elements: &mut [T], _: &[u32], _: T) {
        if self.work == SelectWork::Keep {
            let mut order: Vec<usize> = (0..elements.len()).collect();
            order.sort_by_key(|&place| elements[place].key());
            order.truncate(self.k as usize);
            order.sort_unstable();
            order.into_iter().enumerate().for_each(|(to, from)| elements[to] = elements[from]);
        }
    }
}
