//! The kinds of values of JSON.

/// The kind of a value, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Json {
    /// A null, or a value that a record lacks.
    Null,
    /// A number.
    Number,
    /// A string.
    String,
    /// True or false.
    Bool,
    /// An object or an array.
    Other,
}

impl Json {
    /// Returns the kind of a value; `Null` if missing.
    #[inline]
    pub fn of(token: &[u8]) -> Self {
        match token.first() {
            None | Some(b'n') => Self::Null,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Bool,
            Some(b'{' | b'[') => Self::Other,
            Some(_) => Self::Number,
        }
    }
}
