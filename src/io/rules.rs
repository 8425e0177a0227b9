//! Where records stand that have no number to be ordered by.

use serde::Serialize;

use crate::key::{ElementType, Order};
use crate::timing::is_none;

/// Where records of a class stand, whatever the direction of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before all numbers.
    First,
    /// Behind them.
    Last,
    /// Nowhere: the first one is an error.
    Error,
    /// Nowhere: its record is left out.
    Skip,
}

/// What becomes of what is no number, by class.
///
/// Of several classes at one end, NaN stands nearest to the numbers, and what is invalid farthest from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// NaN, of either sign.
    pub nan: Place,
    /// Fields with nothing in them.
    pub empty: Place,
    /// Fields that spell no number.
    pub invalid: Place,
}

impl Default for Rules {
    fn default() -> Self {
        Self { nan: Place::Last, empty: Place::Last, invalid: Place::Error }
    }
}

/// The direction of numbers, and where NaN stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Largest first.
    pub descending: bool,
    /// Where NaN stands, whatever the direction.
    pub nan: Place,
}

impl Direction {
    /// Smallest first, NaN last.
    pub const ASCENDING: Self = Self { descending: false, nan: Place::Last };

    /// The order of elements of this type.
    #[must_use]
    pub fn of(self, element: ElementType) -> Order {
        Order { element, descending: self.descending, nan_first: self.nan == Place::First }
    }
}

/// A class of what is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Nan,
    Empty,
    Invalid,
}

impl Class {
    /// Every class, outwards from the numbers.
    pub(super) const ALL: [Self; 3] = [Self::Nan, Self::Empty, Self::Invalid];
}

impl Rules {
    /// Where a class stands.
    pub(super) fn place(self, class: Class) -> Place {
        match class {
            Class::Nan => self.nan,
            Class::Empty => self.empty,
            Class::Invalid => self.invalid,
        }
    }

    /// How many classes stand before the numbers, and how many behind them.
    pub(super) fn beside_numbers(self) -> (u64, u64) {
        let at = |end| Class::ALL.into_iter().filter(|&class| self.place(class) == end).count() as u64;
        (at(Place::First), at(Place::Last))
    }

    /// The rank of a class among those that stand at the same end, from the least.
    pub(super) fn rank(self, class: Class) -> u64 {
        let end = self.place(class);
        let inner = Class::ALL.into_iter().take_while(|&other| other != class);
        let inner = inner.filter(|&other| self.place(other) == end).count() as u64;
        let (first, _) = self.beside_numbers();
        if end == Place::First { first - 1 - inner } else { inner }
    }
}

/// How many of what there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// NaN.
    #[serde(skip_serializing_if = "is_none")]
    pub nan: u64,
    /// Fields with nothing in them.
    #[serde(skip_serializing_if = "is_none")]
    pub empty: u64,
    /// Fields that spell no number.
    #[serde(skip_serializing_if = "is_none")]
    pub invalid: u64,
    /// Records left out because of such a field.
    #[serde(skip_serializing_if = "is_none")]
    pub skipped: u64,
    /// Lines with nothing on them, which are no rows.
    #[serde(skip_serializing_if = "is_none")]
    pub blank: u64,
}

impl Counts {
    /// Of both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            nan: self.nan + other.nan,
            empty: self.empty + other.empty,
            invalid: self.invalid + other.invalid,
            skipped: self.skipped + other.skipped,
            blank: self.blank + other.blank,
        }
    }

    pub(super) fn add(&mut self, class: Class) {
        *self.of(class) += 1;
    }

    pub(super) fn remove(&mut self, class: Class) {
        *self.of(class) -= 1;
    }

    fn of(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Nan => &mut self.nan,
            Class::Empty => &mut self.empty,
            Class::Invalid => &mut self.invalid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_stand_outwards_from_the_numbers() {
        let all = |place| Rules { nan: place, empty: place, invalid: place };
        let ranks = |rules: Rules| Class::ALL.map(|class| rules.rank(class));
        assert_eq!(ranks(all(Place::Last)), [0, 1, 2]);
        assert_eq!(ranks(all(Place::First)), [2, 1, 0]);
        let mixed = Rules { nan: Place::First, empty: Place::Last, invalid: Place::First };
        assert_eq!(ranks(mixed), [1, 0, 0]);
        assert_eq!(mixed.beside_numbers(), (2, 1));
    }
}
