//! Counts of nulls and of left-out records, and what else is told of inputs.

use super::csv::Kind;
use crate::order::Class;

/// Counts of the records and lines that are not numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// NaN.
    pub nan: u64,
    /// Empty fields.
    pub empty: u64,
    /// Fields that are not numbers.
    pub invalid: u64,
    /// The first few different ones of them.
    pub invalid_fields: Vec<Vec<u8>>,
    /// Records left out because of an invalid field.
    pub skipped: u64,
    /// Blank lines that are not rows.
    pub blank: u64,
    /// Comments that are no records, and are not written.
    pub comments: u64,
    /// Integers that the requested type of floats does not hold exactly.
    pub rounded: u64,
}

/// What may not be meant as it was understood, by the first records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// The column of this name of a table's header is a number, so that it may be data.
    Header(String),
    /// Lines that begin with `#` are sorted among others, by text.
    Comments,
    /// Lines have many commas, and are sorted by the text before the first blank.
    Commas,
    /// The fields of this key, which is a key of `sort`, are numbers, and are sorted as text.
    Numbers(String),
    /// The fields of this key are sorted as text, and each seems to be of this kind: a number where
    /// it is a percentage, a time in an order of its own.
    Kind(String, Kind),
}

impl Counts {
    /// Adds the others.
    pub(crate) fn add_all(&mut self, others: &Self) {
        let Self { nan, empty, invalid, invalid_fields, skipped, blank, comments, rounded } = others;
        self.nan += nan;
        self.empty += empty;
        self.invalid += invalid;
        invalid_fields.iter().for_each(|field| self.note_invalid(field));
        self.skipped += skipped;
        self.blank += blank;
        self.comments += comments;
        self.rounded += rounded;
    }

    /// Notes an invalid field, if it is one of the first few different ones.
    pub(super) fn note_invalid(&mut self, field: &[u8]) {
        const FEW: usize = 3;
        if self.invalid_fields.len() < FEW && !self.invalid_fields.iter().any(|other| other == field) {
            self.invalid_fields.push(field.to_vec());
        }
    }

    pub(super) fn add(&mut self, class: Class) {
        *match class {
            Class::Nan => &mut self.nan,
            Class::Empty => &mut self.empty,
            Class::Invalid => &mut self.invalid,
        } += 1;
    }
}
