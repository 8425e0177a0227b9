//! Checks the order of keys as they come.

use std::borrow::Cow;

use gpusort_planner::key::Word;

use super::sort::all;

/// Whether keys that come piece by piece are in order.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    is_lost: bool,
    last: u64,
}

impl InOrder {
    /// Checks the next piece.
    pub(crate) fn goes_on_with<W: Word>(&mut self, keys: &[W]) {
        let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else { return };
        self.is_lost =
            self.is_lost || self.last > first.into() || !all(&[Cow::Borrowed(keys)], |a, b| a <= b);
        self.last = last.into();
    }

    /// Whether all pieces so far were in order.
    pub(crate) fn holds(&self) -> bool {
        !self.is_lost
    }
}
