//! How fields are written, where that is said: words that count as empty, the marks of numbers, and
//! the format of times.

use gpusort_values::marks::Marks;
use gpusort_values::time_format::TimeFormat;

/// How fields are written, as far as it is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spelling {
    /// Fields of exactly these bytes count as empty.
    pub(crate) empty: Vec<Vec<u8>>,
    pub(crate) marks: Option<Marks>,
    pub(crate) times: Option<TimeFormat>,
}

impl Spelling {
    /// Whether anything is said.
    pub(super) fn is_said(&self) -> bool {
        *self != Self::default()
    }

    /// Whether a field counts as empty.
    pub(super) fn is_empty(&self, field: &[u8]) -> bool {
        self.empty.iter().any(|word| word == field)
    }
}
