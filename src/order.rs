//! What is asked of a sort: the order of keys, and which records of the result.

use crate::key::{ElementType, KeyMap};

/// The order of one key, in which no state is wrong: the direction of numbers, and the place of each class of nulls, which
/// does not depend on the direction.
///
/// Of several classes at one end, NaN is nearest to the numbers and invalid fields are farthest from them. The default
/// is ascending, with NaN and empty fields last and invalid ones refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyOrder {
    /// Largest first.
    pub descending: bool,
    /// NaN, of either sign.
    pub nan: Nulls,
    /// Fields with nothing in them.
    pub empty: Nulls,
    /// Fields that spell no number.
    pub invalid: Invalid,
    /// Of a field only the number counts that it begins with, of digits, a point and an exponent, and of sizes with a unit; one
    /// that begins with none is invalid.
    pub leading: bool,
    /// What fields are read as.
    pub reading: Reading,
}

/// What a field, or a token of text, is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Numbers.
    #[default]
    Numbers,
    /// Numbers or times, as they come, if no type is requested: never both.
    NumbersOrTimes,
    /// Sizes: numbers with units.
    Sizes,
    /// Times alone.
    Times,
}

/// Where nulls of a class go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// After all numbers.
    #[default]
    Last,
    /// Before all numbers.
    First,
    /// Nowhere: the first one is an error.
    Error,
}

/// Where invalid fields go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Invalid {
    /// Nowhere: the first one is an error.
    #[default]
    Error,
    /// After all numbers and other nulls.
    Last,
    /// Before them all.
    First,
    /// Nowhere: its record is left out.
    Skip,
}

impl KeyOrder {
    /// Smallest first; NaN and empty fields last, invalid ones refused.
    pub const ASCENDING: Self = Self {
        descending: false,
        nan: Nulls::Last,
        empty: Nulls::Last,
        invalid: Invalid::Error,
        leading: false,
        reading: Reading::Numbers,
    };

    /// The bijection that makes keys of this order from elements of this type.
    #[must_use]
    pub fn map(self, element: ElementType) -> KeyMap {
        KeyMap { element, descending: self.descending, nan_first: self.nan == Nulls::First }
    }

    /// Where a class of nulls goes.
    pub(crate) fn place(self, class: Class) -> Nulls {
        match class {
            Class::Nan => self.nan,
            Class::Empty => self.empty,
            Class::Invalid => match self.invalid {
                Invalid::First => Nulls::First,
                Invalid::Last => Nulls::Last,
                // Those skipped are gone before anybody asks.
                Invalid::Error | Invalid::Skip => Nulls::Error,
            },
        }
    }

    /// Whether records with an invalid field are left out.
    pub(crate) fn skips_invalid(self) -> bool {
        self.invalid == Invalid::Skip
    }

    /// How many classes are before the numbers, and how many after them.
    pub(crate) fn beside_numbers(self) -> (u64, u64) {
        let at = |end| Class::ALL.into_iter().filter(|&class| self.place(class) == end).count() as u64;
        (at(Nulls::First), at(Nulls::Last))
    }

    /// The rank of a class among those at the same end, from the least.
    pub(crate) fn rank(self, class: Class) -> u64 {
        let end = self.place(class);
        let inner = Class::ALL.into_iter().take_while(|&other| other != class);
        let inner = inner.filter(|&other| self.place(other) == end).count() as u64;
        let (first, _) = self.beside_numbers();
        if end == Nulls::First { first - 1 - inner } else { inner }
    }
}

/// A class of nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Nan,
    Empty,
    Invalid,
}

impl Class {
    /// Every class, outwards from the numbers.
    pub(crate) const ALL: [Self; 3] = [Self::Nan, Self::Empty, Self::Invalid];
}

/// Which of the records, once they are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Of records with equal keys only the first.
    pub unique: bool,
    /// Of what remains, only this many from the first.
    pub first: Option<usize>,
}

impl Selection {
    /// All records.
    pub const ALL: Self = Self { unique: false, first: None };

    /// Whether it is so few of `n` records that the others need not be sorted.
    #[must_use]
    pub fn is_few(self, n: u64) -> bool {
        let first = self.first.filter(|_| !self.unique);
        first.is_some_and(|first| is_few(first, usize::try_from(n).unwrap_or(usize::MAX)))
    }
}

/// Whether finding the first `k` of `n` elements is sooner done than a sort.
pub(crate) fn is_few(k: usize, n: usize) -> bool {
    k <= n / 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ranked_outwards_from_the_numbers() {
        let ranks = |order: KeyOrder| Class::ALL.map(|class| order.rank(class));
        let ascending = KeyOrder::ASCENDING;
        let last = KeyOrder { invalid: Invalid::Last, ..ascending };
        assert_eq!(ranks(last), [0, 1, 2]);
        let first = KeyOrder { nan: Nulls::First, empty: Nulls::First, invalid: Invalid::First, ..ascending };
        assert_eq!(ranks(first), [2, 1, 0]);
        let mixed = KeyOrder { nan: Nulls::First, invalid: Invalid::First, ..ascending };
        assert_eq!(ranks(mixed), [1, 0, 0]);
        assert_eq!(mixed.beside_numbers(), (2, 1));
        assert_eq!(KeyOrder::default(), ascending);
    }

    #[test]
    fn what_is_few_is_a_part_of_all() {
        assert!(is_few(0, 0) && is_few(1, 16) && is_few(100, 1600));
        assert!(!is_few(1, 15) && !is_few(101, 1600));
    }
}
