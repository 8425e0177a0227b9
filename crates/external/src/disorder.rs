//! Violations of the order.

use std::fmt;

use gpusort_formats::piece::Piece;

use crate::error::{Error, Hint};
use crate::order::KeyOrder;
use crate::parallel;

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

/// Returns the place of a record, with the column of the given key, and the record's keys as shown in messages.
pub type Show<'a> = &'a (dyn Fn(&Piece, usize, Option<usize>) -> (String, Vec<String>) + 'a);

/// The last record of a sequence: its keys, and their form in messages.
#[derive(Default)]
pub struct Last(Option<(Vec<u8>, Vec<String>)>);

impl Last {
    /// Returns the keys of the record.
    pub fn key(&self) -> Option<&[u8]> {
        self.0.as_ref().map(|(key, _)| &key[..])
    }

    /// Returns the first violation of the order among the records after this one, with the number of
    /// its piece and its number in the piece. Otherwise, the last of these records replaces this one.
    ///
    /// # Panics
    ///
    /// Panics for an empty piece.
    pub fn follow(
        &mut self,
        show: Show,
        pieces: &[Piece],
        unique: Option<&[KeyOrder]>,
    ) -> Option<(usize, usize, Disorder)> {
        let shown = |piece: &Piece, record| show(piece, record, None).1;
        let mut lasts: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.keys.key(piece.len() - 1)).collect();
        let before = self.key();
        let befores = [before].into_iter().chain(lasts.iter().map(|key| Some(&key[..])));
        let found = parallel::map_parts(pieces.iter().zip(befores), |(piece, before)| {
            piece.keys.first_broken(before, unique)
        });
        let found = found.into_iter().enumerate().find_map(|(number, found)| Some((number, found?)));
        let Some((number, record)) = found else {
            if let Some((piece, key)) = pieces.last().zip(lasts.pop()) {
                self.0 = Some((key, shown(piece, piece.len() - 1)));
            }
            return None;
        };
        let piece = &pieces[number];
        let before = match (record.checked_sub(1), number.checked_sub(1)) {
            (Some(before), _) => Some((piece.keys.key(before), shown(piece, before))),
            (None, Some(earlier)) => {
                let piece = &pieces[earlier];
                Some((lasts.swap_remove(earlier), shown(piece, piece.len() - 1)))
            }
            (None, None) => self.0.take(),
        };
        let (key_before, shown_before) = before.expect("the first record of a sequence follows no other");
        let key = piece.keys.first_difference(record, &key_before);
        let (place, mut shown) = show(piece, record, Some(key));
        let (value, before) = (shown.swap_remove(key), shown_before[key].clone());
        Some((number, record, Disorder { place, value, before }))
    }
}

/// Returns the error of an unsorted input of a merge.
pub fn not_sorted(Disorder { place, value, before }: Disorder) -> Error {
    Error::input(place, format!("out of order: {value} after {before}")).hinting(Hint::Sort)
}
