//! Counts of nulls and of left-out records, and what else is told of inputs.

use crate::order::Class;

/// Counts of the records and lines that are not numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// NaN.
    pub nan: u64,
    /// Empty fields.
    pub empty: u64,
    /// Fields that are not numbers.
    pub invalid: u64,
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
}

impl Counts {
    /// The sum of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            nan: self.nan + other.nan,
            empty: self.empty + other.empty,
            invalid: self.invalid + other.invalid,
            skipped: self.skipped + other.skipped,
            blank: self.blank + other.blank,
            comments: self.comments + other.comments,
            rounded: self.rounded + other.rounded,
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
