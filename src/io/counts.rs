//! How many nulls were read, and how many records were left out.

use crate::order::Class;

/// How many of what there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize))]
pub struct Counts {
    /// NaN.
    #[cfg_attr(feature = "cli", serde(skip_serializing_if = "crate::timing::is_none"))]
    pub nan: u64,
    /// Fields with nothing in them.
    #[cfg_attr(feature = "cli", serde(skip_serializing_if = "crate::timing::is_none"))]
    pub empty: u64,
    /// Fields that spell no number.
    #[cfg_attr(feature = "cli", serde(skip_serializing_if = "crate::timing::is_none"))]
    pub invalid: u64,
    /// Records left out because of such a field.
    #[cfg_attr(feature = "cli", serde(skip_serializing_if = "crate::timing::is_none"))]
    pub skipped: u64,
    /// Lines with nothing on them, which are no rows.
    #[cfg_attr(feature = "cli", serde(skip_serializing_if = "crate::timing::is_none"))]
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
