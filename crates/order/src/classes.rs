//! Classes of nulls: the end where each class goes, and its rank there.

use crate::order::{Invalid, KeyOrder, Nulls};

impl KeyOrder {
    /// Returns the place of a class of nulls.
    pub fn place(self, class: Class) -> Nulls {
        match class {
            Class::Nan => self.nan,
            Class::Empty => self.empty,
            Class::Invalid => match self.invalid {
                Invalid::First => Nulls::First,
                Invalid::Last => Nulls::Last,
                // Skipped records are gone before anyone asks.
                Invalid::Error | Invalid::Skip => Nulls::Error,
            },
        }
    }

    /// Returns true if records with an invalid field are left out.
    pub fn skips_invalid(self) -> bool {
        self.invalid == Invalid::Skip
    }

    /// Returns the number of classes before the numbers and the number after them.
    pub fn beside_numbers(self) -> (u64, u64) {
        let at = |end| Class::ALL.into_iter().filter(|&class| self.place(class) == end).count() as u64;
        (at(Nulls::First), at(Nulls::Last))
    }

    /// Returns the rank of a class within its end, from the least.
    pub fn rank(self, class: Class) -> u64 {
        let end = self.place(class);
        let inner = Class::ALL.into_iter().take_while(|&other| other != class);
        let inner = inner.filter(|&other| self.place(other) == end).count() as u64;
        let (first, _) = self.beside_numbers();
        if end == Nulls::First { first - 1 - inner } else { inner }
    }
}

/// A class of nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Not a number.
    Nan,
    /// An empty field.
    Empty,
    /// A field that its kind does not allow.
    Invalid,
}

impl Class {
    /// All classes, from the numbers outwards.
    pub const ALL: [Self; 3] = [Self::Nan, Self::Empty, Self::Invalid];

    /// Returns the class with this number; `None` if no class has this number.
    pub fn of(number: usize) -> Option<Self> {
        Self::ALL.get(number).copied()
    }
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
}
