//! A kind of text: a test for its texts, and bytes that compare as its texts do.

/// A kind of text.
pub struct TextKind {
    /// The name of the kind.
    pub name: &'static str,
    /// A text of this kind, with the article, for messages.
    pub noun: &'static str,
    /// Returns true for a text of this kind.
    pub holds: fn(&[u8]) -> bool,
    /// Appends bytes that compare as the texts do.
    pub push: fn(&[u8], &mut Vec<u8>),
}
