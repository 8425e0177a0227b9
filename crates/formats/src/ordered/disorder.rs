//! Violations of the order.

use std::fmt;

use crate::batch::Batches;
use crate::error::{Error, Hint};
use crate::order::KeyOrder;
use crate::parallel;
use crate::piece::Piece;

/// A violation of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// The record: `file:line`, with the column if there are several keys, or the file and an index from 0.
    pub place: String,
    /// The key of the record, as written.
    pub value: String,
    /// The key of the previous record, as written.
    pub before: String,
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: out of order: {} after {}", self.place, self.value, self.before)
    }
}

/// The last record of a sequence: its keys, and their form in messages.
#[derive(Default)]
pub(super) struct Last {
    key: Option<Vec<u8>>,
    shown: Vec<String>,
}

impl Last {
    /// Returns the first violation of the order among the records after this one, with the number of
    /// its piece and its number in the piece. Then the last of these records replaces this one.
    pub(super) fn follow(
        &mut self,
        batches: &Batches,
        pieces: &[Piece],
        unique: Option<&[KeyOrder]>,
    ) -> Option<(usize, usize, Disorder)> {
        let mut before = self.key.take();
        let befores: Vec<Option<Vec<u8>>> = pieces
            .iter()
            .map(|piece| {
                let last = piece.len().checked_sub(1).map(|last| piece.keys.key(last));
                if last.is_some() { std::mem::replace(&mut before, last) } else { before.clone() }
            })
            .collect();
        let found = parallel::map_parts(pieces.iter().zip(&befores), |(piece, before)| {
            piece.keys.first_broken(before.as_deref(), unique)
        });
        let found = found.into_iter().enumerate().find_map(|(number, found)| Some((number, found?)));
        self.key = before;
        let last = pieces.iter().rfind(|piece| piece.len() > 0);
        let Some((number, record)) = found else {
            if let Some(last) = last {
                self.shown = batches.shown(last, last.len() - 1, None).1;
            }
            return None;
        };
        let piece = &pieces[number];
        let earlier = pieces[..number].iter().rfind(|piece| piece.len() > 0);
        let shown_before = match (record.checked_sub(1), earlier) {
            (Some(before), _) => batches.shown(piece, before, None).1,
            (None, Some(earlier)) => batches.shown(earlier, earlier.len() - 1, None).1,
            (None, None) => std::mem::take(&mut self.shown),
        };
        let of_before = match record.checked_sub(1) {
            Some(before) => Some(piece.keys.key(before)),
            None => befores[number].clone(),
        };
        let key = of_before.map_or(0, |before| piece.keys.first_difference(record, &before));
        let (place, mut shown) = batches.shown(piece, record, Some(key));
        let value = shown.swap_remove(key);
        let before = shown_before[key].clone();
        Some((number, record, Disorder { place, value, before }))
    }
}

/// Returns the error of an unsorted input of a merge.
pub fn not_sorted(Disorder { place, value, before }: Disorder) -> Error {
    Error::input(place, format!("out of order: {value} after {before}")).hinting(Hint::Sort)
}
