//! Lookup of values by name.

use std::fmt;

use crate::human;

/// A name that matches none of the possible values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    name: String,
}

impl UnknownName {
    /// The element of `all` with this name; `what` describes the elements.
    pub(crate) fn unless_of<T: Copy>(
        all: &[T],
        name_of: impl Fn(T) -> &'static str,
        what: &'static str,
        name: &str,
    ) -> Result<T, Self> {
        let known = all.iter().copied().find(|&value| name_of(value) == name);
        known.ok_or_else(|| Self { what, name: name.to_owned() })
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} '{}'", self.what, human::quoted(&self.name))
    }
}

impl std::error::Error for UnknownName {}
