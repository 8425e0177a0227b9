//! The spelling of fields that options set: words that count as empty, the marks of numbers, and the
//! format of times.

use gpusort_values::marks::Marks;
use gpusort_values::time_format::TimeFormat;

/// The spelling of fields, as far as options set it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spelling {
    /// Fields of exactly these bytes count as empty.
    pub empty: Vec<Vec<u8>>,
    /// The marks of numbers.
    pub marks: Option<Marks>,
    /// The format of times.
    pub times: Option<TimeFormat>,
}
