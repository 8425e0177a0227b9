//! The decision about the kind of a column.

use crate::number::Sign;
use crate::time::TimeForm;
use crate::time::day_month::DayMonth;

/// A field as an example of its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The place of the field. Places ascend with the fields.
    pub at: u64,
    /// The field.
    pub text: Vec<u8>,
}

/// A kind that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Numbers, all with this sign of a currency or percent.
    Number(Option<Sign>),
    /// Times in this form.
    Time(TimeForm),
    /// Numbers, at least one with a unit.
    Size,
    /// Durations.
    Duration,
    /// Versions and addresses.
    Version,
    /// Text.
    Text,
}

/// The result of a survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// All fields fit this kind.
    Kind(Found, Option<Note>),
    /// Numbers or times stand beside words.
    Mixed {
        /// The kind of the column if other fields are invalid: number if any field is one.
        kind: Found,
        /// The common kind of two fields; number if either field is a number.
        between: Found,
        /// The first field.
        first: Example,
        /// The first field of another class.
        misfit: Example,
        /// True if `misfit` is the word.
        is_word: bool,
    },
    /// Times with and without a zone or a year, or clocks of two and of three numbers.
    Apart {
        /// The difference.
        what: Apart,
        /// The first field of one form.
        first: Example,
        /// The first field of the other form.
        misfit: Example,
    },
}

/// Forms that fit no common order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Times with and without a zone.
    Zones,
    /// Times with and without a year.
    Years,
    /// Clocks of two and of three numbers.
    Clocks,
}

/// A hint at another kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Numbers with one point, such as 3.9 and 3.10, may be versions.
    Versions,
    /// All fields fit these patterns of day, month and year.
    DayMonth(DayMonth),
    /// All fields consist of digits, signs, points and commas; a comma occurs.
    Commas,
    /// Most fields fit this kind; the first field that does not.
    Most(Found, Example),
    /// Times without a year in December and in January.
    YearEnds,
}
