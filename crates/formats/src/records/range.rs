//! Ranges of a text in one word.

/// The start and end of a record in one word, which sorts in the order of the input, since the start is
/// the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range(pub(crate) u64);

impl Range {
    /// Creates the range from `begin` to before `end`.
    #[inline]
    pub fn new(begin: u32, end: u32) -> Self {
        Self(u64::from(begin) << 32 | u64::from(end))
    }

    /// Returns the range without its last byte.
    #[inline]
    pub fn without_last(self) -> Self {
        // The lower half is the end.
        Self(self.0 - 1)
    }

    /// Returns the offset of the first byte.
    #[inline]
    pub fn begin(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// Returns the offset after the last byte.
    #[inline]
    pub fn end(self) -> usize {
        self.0 as u32 as usize
    }
}
