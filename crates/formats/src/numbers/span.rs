//! The range of integers, and the integer types that hold it.

use gpusort_order::key::ElementType;

use crate::error::{Error, Hint};
use crate::keys;

/// The integer types of text, in order of preference.
const INTEGERS: [ElementType; 4] = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];

/// The range of some integers and 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub(super) least: i128,
    pub(super) greatest: i128,
}

impl Span {
    /// Extends the range to an integer.
    #[inline]
    pub fn push(&mut self, value: i128) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// Returns the range of both.
    pub fn merge(mut self, other: Self) -> Self {
        self.push(other.least);
        self.push(other.greatest);
        self
    }

    /// Returns true if the type holds all integers.
    pub fn fits(self, element: ElementType) -> bool {
        let (least, greatest) = element.limits();
        least <= self.least && self.greatest <= greatest
    }

    /// Returns the first integer type that holds all integers.
    pub fn element(self) -> Option<ElementType> {
        INTEGERS.into_iter().find(|&element| self.fits(element))
    }
}

/// The numbers of a text, for the type of the elements that they become.
#[derive(Clone, Copy, Debug, Default)]
pub struct Census {
    span: Span,
    /// True if a number is not an integer of 64 bits.
    has_others: bool,
    /// True if f64 rounds an integer, or a decimal as large as the integers that f64 rounds.
    is_inexact: bool,
}

impl Census {
    /// Adds the number of a word.
    #[inline]
    pub fn push(&mut self, word: u128, descending: bool) {
        if let Some(integer) = keys::integer(word, descending) {
            self.span.push(integer);
            self.is_inexact |= integer as f64 as i128 != integer;
        } else {
            // From this value on, every f64 is an integer.
            const INTEGERS: f64 = (1_u64 << 53) as f64;
            self.has_others = true;
            self.is_inexact |=
                word as u64 != keys::EXACT && keys::nearest(word, descending).abs() >= INTEGERS;
        }
    }

    /// Returns the census of the numbers of both.
    pub fn merge(self, other: Self) -> Self {
        Self {
            span: self.span.merge(other.span),
            has_others: self.has_others || other.has_others,
            is_inexact: self.is_inexact || other.is_inexact,
        }
    }

    /// Returns the first type that holds all numbers: `u32`, `i32`, `u64`, `i64`, or else `f64`, which
    /// rounds decimals.
    ///
    /// # Errors
    ///
    /// An integer that `f64` does not hold, where no integer type holds all numbers.
    pub fn element(self) -> Result<ElementType, Error> {
        match self.span.element().filter(|_| !self.has_others) {
            Some(element) => Ok(element),
            None if self.is_inexact => {
                let problem = "no element type holds all numbers: f64 rounds the largest integers";
                Err(Error::options(problem).hinting(Hint::Rounding))
            }
            None => Ok(ElementType::F64),
        }
    }
}
