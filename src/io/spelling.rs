//! The spelling of fields that options set: words that count as empty, the marks of numbers, and the
//! format of times.

use gpusort_values::marks::Marks;
use gpusort_values::time_format::TimeFormat;

/// The spelling of fields, as far as options set it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spelling {
    /// Fields of exactly these bytes count as empty.
    pub(crate) empty: Vec<Vec<u8>>,
    pub(crate) marks: Option<Marks>,
    pub(crate) times: Option<TimeFormat>,
}

impl Spelling {
    /// Returns true if a field counts as empty.
    pub(super) fn is_empty(&self, field: &[u8]) -> bool {
        self.empty.iter().any(|word| word == field)
    }
}
