//! The order of keys, and the selection of records from the result.

use crate::key::{ElementType, KeyMap};

/// The order of one key, in which no state is wrong: the direction of numbers, and the place of
/// each class of nulls, which does not depend on the direction.
///
/// Of several classes at one end, NaN is nearest to the numbers and invalid fields are farthest
/// from them. The default is ascending, with NaN and empty fields last and invalid ones refused.
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
    /// Of a field only the number counts that it begins with, of digits, a point and an exponent,
    /// and of sizes with a unit; one that begins with none is invalid.
    pub leading: bool,
    /// What fields are read as.
    pub reading: Reading,
    /// Whether small letters of ASCII count as capital ones, in what is found to be text.
    pub nocase: bool,
    /// The whole record, which decides only where all other keys are equal.
    pub is_last_resort: bool,
}

/// What a field, or a token of text, is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Numbers.
    #[default]
    Numbers,
    /// What the fields fit.
    Any,
    /// Sizes: numbers with units.
    Sizes,
    /// Times alone.
    Times,
    /// Durations.
    Durations,
    /// Text, in this form.
    Text(TextForm),
}

/// How texts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextForm {
    /// What of them is compared.
    pub order: TextOrder,
    /// Whether small letters of ASCII count as capital ones.
    pub nocase: bool,
}

/// What of a text is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextOrder {
    /// Its bytes, which for UTF-8 is the order of code points.
    #[default]
    Bytes,
    /// The numbers in it as such, and what is between them, as `sort -V` does.
    Version,
    /// The hexadecimal number that it is, of any length.
    Hex,
}

impl TextForm {
    /// Returns true if the bytes of a text are compared, with or without case.
    pub fn is_bytes(self) -> bool {
        self.order == TextOrder::Bytes
    }
}

impl Reading {
    /// Returns true if a field of a line may go on in the next fields, as times do.
    pub fn may_span(self) -> bool {
        matches!(self, Self::Any | Self::Times)
    }

    /// Returns true for times and durations.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Times | Self::Durations)
    }

    /// The same; text ignores the case of letters if `nocase`.
    #[must_use]
    pub fn ignoring_case(self, nocase: bool) -> Self {
        match self {
            Self::Text(form) => Self::Text(TextForm { nocase: form.nocase || nocase, ..form }),
            other => other,
        }
    }

    /// The form of text, where that is known before any field is read.
    pub fn text(self) -> Option<TextForm> {
        if let Self::Text(form) = self { Some(form) } else { None }
    }
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

impl Nulls {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("last", Self::Last), ("first", Self::First), ("error", Self::Error)];
}

impl Invalid {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("error", Self::Error), ("last", Self::Last), ("first", Self::First), ("skip", Self::Skip)];
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
        nocase: false,
        is_last_resort: false,
    };

    /// The bijection that makes keys of this order from elements of this type.
    pub fn map(self, element: ElementType) -> KeyMap {
        KeyMap { element, descending: self.descending, nan_first: self.nan == Nulls::First }
    }
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
    pub fn is_few(self, n: u64) -> bool {
        let first = self.first.filter(|_| !self.unique);
        first.is_some_and(|first| is_few(first, usize::try_from(n).unwrap_or(usize::MAX)))
    }
}

/// Whether finding the first `k` of `n` elements is sooner done than a sort.
pub fn is_few(k: usize, n: usize) -> bool {
    k <= n / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_few_is_a_part_of_all() {
        assert!(is_few(0, 0) && is_few(1, 4) && is_few(100, 400));
        assert!(!is_few(1, 3) && !is_few(101, 400));
    }
}
