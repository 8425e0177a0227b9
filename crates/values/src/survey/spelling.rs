//! The spelling of fields that options set: words that count as empty, the marks of numbers, and the
//! format of times.

use crate::marks::Marks;
use crate::time::format::TimeFormat;
use crate::time::{self, Time};

/// The spelling of fields, as far as options set it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spelling {
    /// Fields of exactly these bytes count as empty.
    pub empty: Vec<Vec<u8>>,
    /// The marks of numbers.
    pub marks: Option<Marks>,
    /// A pattern of times beside the known forms.
    pub times: Option<TimeFormat>,
}

impl Spelling {
    /// Returns true if no option sets any spelling.
    pub fn is_default(&self) -> bool {
        self.empty.is_empty() && self.marks.is_none() && self.times.is_none()
    }

    /// Returns the time in a field. With `spans`, the time may end before the field does.
    #[inline]
    pub fn time(&self, field: &[u8], spans: bool) -> Option<Time> {
        if spans {
            return self.time_at(field).map(|(time, _)| time);
        }
        time::time(field).or_else(|| self.times.as_ref()?.time(field))
    }

    /// Returns the longest time at the beginning of a text, and its length.
    #[inline]
    pub fn time_at(&self, text: &[u8]) -> Option<(Time, usize)> {
        let other = self.times.as_ref().and_then(|times| times.time_at(text));
        other.into_iter().chain(time::time_at(text)).max_by_key(|(_, length)| *length)
    }
}
