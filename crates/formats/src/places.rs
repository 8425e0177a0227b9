//! Finds records by their numbers.

use super::piece::{Bytes, Piece};
use super::records::{ahead, touch};
use crate::memory::prefetch;

/// Finds records by their numbers across several pieces.
pub struct Places<'a> {
    pieces: &'a [Piece],
    /// The number of the first record of each piece.
    begins: Vec<u32>,
    /// The piece of each [`STEP`]th record.
    steps: Vec<u32>,
    count: usize,
}

/// The step of the index: smaller than most pieces.
const STEP: usize = 1 << 10;

impl<'a> Places<'a> {
    /// Creates an index of the records of these pieces.
    pub fn of(pieces: &'a [Piece]) -> Self {
        let (mut begins, mut steps, mut count) = (Vec::with_capacity(pieces.len()), Vec::new(), 0);
        for (number, piece) in (0..).zip(pieces) {
            begins.push(count as u32);
            count += piece.records();
            while steps.len() * STEP < count {
                steps.push(number);
            }
        }
        Self { pieces, begins, steps, count }
    }

    /// Returns the piece of a record and the record's number in the piece.
    #[inline]
    pub fn find(&self, number: u32) -> (&'a Piece, usize) {
        let (piece, record) = self.at(number);
        (&self.pieces[piece], record)
    }

    /// Returns the number of the piece of a record and the record's number in the piece.
    #[inline]
    pub(super) fn at(&self, number: u32) -> (usize, usize) {
        let mut piece = self.steps[number as usize / STEP] as usize;
        while self.begins.get(piece + 1).is_some_and(|&next| next <= number) {
            piece += 1;
        }
        (piece, (number - self.begins[piece]) as usize)
    }

    /// Passes these records to `take`: the piece of each record, its number in the piece, and its
    /// number across all pieces. The key and the bytes of a record are prefetched some time before.
    pub fn each(&self, order: &[u32], mut take: impl FnMut(&'a Piece, usize, u32)) {
        let found = ahead(order.iter().map(|&number| {
            let (piece, record) = self.find(number);
            prefetch(piece.ranges(), record);
            piece.keys.prefetch(record);
            (piece, record, number)
        }));
        let Some(Piece { bytes: Bytes::Of { text, .. }, .. }) = self.pieces.first() else {
            return found.for_each(|(piece, record, number)| take(piece, record, number));
        };
        let places = found.map(|found| (found.0.range(found.1)[0], found));
        touch(&text.bytes, self.length(), places, |(piece, record, number)| take(piece, record, number));
    }

    /// Returns the approximate length of a record in bytes.
    pub fn length(&self) -> usize {
        let all = self.pieces.iter().map(|piece| piece.length(0, piece.records())).sum::<usize>();
        all / self.count.max(1) + 1
    }
}
