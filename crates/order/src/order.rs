//! The order of keys, and the selection of records from the result.

use crate::key::{ElementType, KeyMap};

/// The order of one key: the direction of numbers, and the place of each class of nulls, which does
/// not depend on the direction. Every combination of values is valid.
///
/// Where several classes share an end, NaN is nearest to the numbers and invalid fields are farthest
/// from them. The default is ascending, with NaN and empty fields last and invalid fields refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyOrder {
    /// True if the largest value comes first.
    pub descending: bool,
    /// The place of NaN of either sign.
    pub nan: Nulls,
    /// The place of empty fields.
    pub empty: Nulls,
    /// The place of invalid fields, which do not fit `reading`.
    pub invalid: Invalid,
    /// True if only the number at the start of a field counts: digits, a point and an exponent, and the
    /// unit of a size. A field that starts with anything else is invalid.
    pub leading: bool,
    /// The kind of value that fields are read as.
    pub reading: Reading,
    /// True if texts ignore ASCII case.
    pub nocase: bool,
    /// True for the whole record as the last key, which decides between records with equal other keys.
    pub is_last_resort: bool,
}

/// The kind of value that a field, or a token of text, is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Numbers.
    #[default]
    Numbers,
    /// The first kind that all fields fit.
    Any,
    /// Sizes: numbers with units.
    Sizes,
    /// Times alone.
    Times,
    /// Durations.
    Durations,
    /// Text, compared by this value.
    Text(TextOrder),
}

/// The value of a text for comparisons. In the order of `TEXT_KINDS` in `gpusort_values::text_kind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextOrder {
    /// The bytes, which in UTF-8 compare like code points.
    #[default]
    Bytes,
    /// The version: numbers by value, and the text between them, as in `sort -V`.
    Version,
    /// The hexadecimal number, of any length.
    Hex,
    /// The month, by its name.
    Month,
    /// The place in a list of names; other texts come last, by their bytes.
    List,
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

    /// Returns true if the fields are known to be text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text(_))
    }
}

/// The place of nulls of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// After all numbers.
    #[default]
    Last,
    /// Before all numbers.
    First,
    /// Nowhere: the first null is an error.
    Error,
}

/// The place of invalid fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Invalid {
    /// Nowhere: the first invalid field is an error.
    #[default]
    Error,
    /// After all numbers and other nulls.
    Last,
    /// Before all numbers and other nulls.
    First,
    /// Nowhere: its record is left out.
    Skip,
}

impl Nulls {
    /// The places by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("last", Self::Last), ("first", Self::First), ("error", Self::Error)];
}

impl Invalid {
    /// The places by name.
    pub const ALL: [(&'static str, Self); 4] =
        [("error", Self::Error), ("last", Self::Last), ("first", Self::First), ("skip", Self::Skip)];
}

impl KeyOrder {
    /// The default order: smallest first, NaN and empty fields last, invalid fields refused.
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

    /// Returns the value of a text for comparisons: its bytes, unless the reading names another value.
    pub fn text_order(self) -> TextOrder {
        if let Reading::Text(order) = self.reading { order } else { TextOrder::Bytes }
    }

    /// Returns true if texts compare as their bytes do.
    pub fn compares_bytes(self) -> bool {
        self.text_order() == TextOrder::Bytes && !self.nocase
    }

    /// Returns the bijection from elements of this type to keys that compare in this order.
    pub fn map(self, element: ElementType) -> KeyMap {
        KeyMap { element, descending: self.descending, nan_first: self.nan == Nulls::First }
    }
}

/// The records to keep after a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// True if only the first of several records with equal keys is kept.
    pub unique: bool,
    /// The most records to keep, from the start; `None` for no limit.
    pub first: Option<usize>,
}

impl Selection {
    /// All records.
    pub const ALL: Self = Self { unique: false, first: None };

    /// Returns true if the selection is a small share of `n` records, found sooner without a full sort.
    pub fn is_few(self, n: u64) -> bool {
        let first = self.first.filter(|_| !self.unique);
        first.is_some_and(|first| is_few(first, usize::try_from(n).unwrap_or(usize::MAX)))
    }
}

/// Returns true if selecting the first `k` of `n` elements takes less time than a full sort.
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
