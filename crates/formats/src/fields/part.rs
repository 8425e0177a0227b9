//! Rows that one core reads together.

use std::ops::Range;

use super::column::Column;
use crate::counts::Counts;
use crate::range;

/// Rows read by one core.
#[derive(Default)]
pub(super) struct RowPart {
    /// The ranges of the rows in this part; for numbers only if requested.
    pub(super) ranges: Vec<range::Range>,
    /// The numbers, within this part, of the rows left out.
    pub(super) skipped: Vec<u32>,
    /// The ranges in this part of lines that go on top.
    pub(super) comments: Vec<Range<usize>>,
    pub(super) counts: Counts,
    /// One column per key.
    pub(super) columns: Vec<Column>,
    /// The rows whose numbers have other spellings, too; `None` if any row may be one.
    pub(super) respelled: Option<Vec<u32>>,
    /// A hash of the key fields of each row, if asked for; 0 for fields that all equal fields are spelled like. Zeros
    /// at the end are left out.
    pub(super) spellings: Vec<u32>,
}

impl RowPart {
    /// Adds the hash of the key fields of a row; later rows have none yet.
    pub(super) fn set_spelling(&mut self, row: usize, hash: u64) {
        if hash != 0 {
            self.spellings.resize(row, 0);
            self.spellings.push(hash as u32);
        }
    }

    /// Returns the number of rows, including rows left out.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.words.len()) + self.skipped.len()
    }
}

/// The range of an input's rows, and the line end of its first row.
pub type Body = (Range<usize>, &'static [u8]);
