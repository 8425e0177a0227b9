//! Records that one core read together, with their keys and bytes.

use std::sync::Arc;

#[cfg(feature = "arrow")]
use arrow_array::RecordBatch;
use gpusort_order::key::{KeyMap, Word};

use super::keys::{self, Keys};
use super::records::range::Range;
use super::records::{Print, wide};
use super::text::Text;
use crate::key_buf::{KeyBuf, by_width};
use crate::order::KeyOrder;
use crate::parallel::map_parts;

/// Records read together, in the order of their input.
pub struct Piece {
    /// The keys of the records.
    pub keys: Keys,
    /// The number of the first unmerged record.
    pub at: usize,
    /// A number kept with each record, if any: its position in the input, or how many records it stands for.
    pub positions: Vec<u64>,
    /// The records whose number is not in canonical form, so that an equal number may be spelled differently; `None` if
    /// that is unknown.
    pub respelled: Option<Vec<u32>>,
    /// A hash of each record's key fields as written; 0 if an equal key can have no other spelling. Empty unless
    /// requested; zeros at the end are left out.
    pub spellings: Vec<u32>,
    /// The bytes of the records.
    pub bytes: Bytes,
}

/// The bytes of records.
pub enum Bytes {
    /// No bytes: only the keys are needed.
    None,
    /// The number of the key in this printed form; true if the key is descending.
    Printed(Print, bool),
    /// Ranges of this text, relative to `start`.
    Of {
        /// The text.
        text: Arc<Text>,
        /// The offset of the first record.
        start: usize,
        /// The offset after the last record.
        until: usize,
        /// The ranges of the records.
        ranges: Arc<Vec<Range>>,
        /// The end of the input, and the line end to append to a last record without one. All tokens
        /// need a line end.
        end: (usize, &'static [u8]),
        /// True for tokens, which need a line end each.
        are_tokens: bool,
    },
    /// The rows of a batch of Arrow.
    #[cfg(feature = "arrow")]
    Rows {
        /// The batch.
        batch: RecordBatch,
        /// The number of its first row in its input.
        first: u64,
        /// The approximate memory of a row, with its keys.
        row: usize,
    },
}

impl Piece {
    /// Returns the number of bytes of the unmerged records.
    pub fn rest(&self) -> usize {
        self.length(self.at, self.len())
    }

    /// Makes records of numbers: of numbers in text that printing reproduces, or of elements of binary inputs, which are
    /// never printed. The second order, if any, orders the printed lines.
    pub fn of_numbers(
        keys: &KeyBuf,
        map: KeyMap,
        print: Print,
        orders: &[KeyOrder],
        is_text: bool,
    ) -> Vec<Self> {
        /// The number of keys that justifies a parallel task.
        const PART: usize = 1 << 16;
        by_width!(keys, blocks => {
            let of_word = Word::map(map);
            map_parts(blocks.iter().flat_map(|block| block.chunks(PART)), |block| {
                let mut keys = Keys::of_words(block.iter().map(|&key| match is_text {
                    true => keys::of_bits(wide(key.bits(of_word)), map.element, map.descending, orders[0]),
                    false => keys::whole(wide(key)),
                }));
                if let Some(&order) = orders.get(1) {
                    keys = keys.with_lines(order, map.descending, print);
                }
                let (respelled, bytes) = (Some(Vec::new()), Bytes::Printed(print, map.descending));
                Self { respelled, bytes, ..Self::of(keys) }
            })
        })
    }

    /// Returns keys without bytes.
    pub fn of(keys: Keys) -> Self {
        let (positions, spellings) = (Vec::new(), Vec::new());
        Self { keys, at: 0, positions, respelled: None, spellings, bytes: Bytes::None }
    }

    /// Returns the rows of a batch and their keys. The first row is number `first` of its input, and a row takes
    /// about `row` bytes of memory without its keys.
    #[cfg(feature = "arrow")]
    pub fn of_rows(keys: Keys, batch: RecordBatch, first: u64, row: usize) -> Self {
        /// The bytes that a merge adds to a row: two copies of its key with its place, and its place.
        const MERGED: usize = 48;
        let row = row + keys.bytes() / keys.len().max(1) + MERGED;
        Self { bytes: Bytes::Rows { batch, first, row }, ..Self::of(keys) }
    }

    /// Returns the batch of rows, and the number of its first row in its input.
    ///
    /// # Panics
    ///
    /// Panics for records other than rows of a batch.
    #[cfg(feature = "arrow")]
    pub fn rows(&self) -> (&RecordBatch, u64) {
        let Bytes::Rows { batch, first, .. } = &self.bytes else { panic!("the records are rows of a batch") };
        (batch, *first)
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of records, with or without keys.
    pub(super) fn records(&self) -> usize {
        self.keys.len().max(self.ranges().len())
    }

    pub(super) fn ranges(&self) -> &[Range] {
        if let Bytes::Of { ranges, .. } = &self.bytes { ranges } else { &[] }
    }

    /// Returns the end of its input.
    pub(super) fn end(&self) -> Option<usize> {
        if let Bytes::Of { end, .. } = &self.bytes { Some(end.0) } else { None }
    }

    /// Returns the range of a record in its text.
    #[inline]
    pub(super) fn range(&self, record: usize) -> [usize; 2] {
        let Bytes::Of { start, ranges, .. } = &self.bytes else { return [0; 2] };
        [start + ranges[record].begin(), start + ranges[record].end()]
    }

    /// Returns the start of a record, on the same scale as the places of its texts.
    pub fn begin(&self, record: usize) -> usize {
        self.ranges().get(record).map_or(0, |range| range.begin())
    }

    /// Appends the bytes of a record and its line end.
    ///
    /// # Panics
    ///
    /// Panics for the rows of a batch.
    #[inline]
    pub fn push(&self, record: usize, to: &mut Vec<u8>) {
        match &self.bytes {
            Bytes::Of { text, .. } => self.push_range(text, self.range(record), to),
            Bytes::Printed(print, descending) => {
                keys::push_text(self.keys.word(record, 0), *descending, *print, to);
            }
            Bytes::None => {}
            #[cfg(feature = "arrow")]
            Bytes::Rows { .. } => panic!("rows of a batch cannot be written as bytes"),
        }
    }

    /// Appends the bytes of the record in this range of the text, and its line end.
    #[inline]
    pub(super) fn push_range(&self, text: &Text, [begin, after]: [usize; 2], to: &mut Vec<u8>) {
        let Bytes::Of { end, are_tokens, .. } = &self.bytes else { return };
        if *are_tokens {
            push_bytes(&text.bytes, [begin, after], to);
            to.push(b'\n');
        } else if after > end.0 {
            // The line end after the input only served to find the end of the row.
            let row = &text.bytes[begin..after - 1];
            to.extend_from_slice(row);
            // After a CR, only the LF is missing.
            let has_cr = row.ends_with(b"\r") && end.1.ends_with(b"\n");
            to.extend_from_slice(if has_cr { b"\n" } else { end.1 });
        } else {
            push_bytes(&text.bytes, [begin, after], to);
        }
    }

    /// Returns the approximate size of these records in bytes.
    pub fn length(&self, from: usize, to: usize) -> usize {
        match &self.bytes {
            _ if from == to => 0,
            Bytes::Of { ranges, .. } => ranges[to - 1].end() - ranges[from].begin() + to - from,
            Bytes::None | Bytes::Printed(..) => 8 * (to - from),
            #[cfg(feature = "arrow")]
            Bytes::Rows { row, .. } => row * (to - from),
        }
    }
}

/// Appends a range of a text.
#[inline(always)]
fn push_bytes(text: &[u8], [begin, end]: [usize; 2], to: &mut Vec<u8>) {
    /// Most records are shorter; a few instructions copy them.
    const WINDOW: usize = 32;
    let length = to.len() + end - begin;
    if end - begin <= WINDOW
        && let Some(window) = text[begin..].first_chunk::<WINDOW>()
    {
        to.extend_from_slice(window);
        to.truncate(length);
    } else {
        to.extend_from_slice(&text[begin..end]);
    }
}
