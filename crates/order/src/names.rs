//! Enums whose values have names, for printing and parsing.

use std::fmt;

/// Gives an enum its names: `ALL`, in the order of this list, `name()`, and printing and parsing by
/// name.
#[macro_export]
macro_rules! named {
    ($type:ident, $what:literal, { $($value:ident => $name:literal,)+ }) => {
        impl $type {
            #[doc = concat!("Every ", $what, ".")]
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// Returns the name in flags and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let known = Self::ALL.into_iter().find(|value| value.name() == name);
                known.ok_or_else(|| $crate::UnknownName::new($what, name))
            }
        }
    };
}

/// An unknown name: it matches no possible value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    name: String,
}

impl UnknownName {
    /// Returns an error for the unknown name of a `what`.
    pub fn new(what: &'static str, name: &str) -> Self {
        Self { what, name: name.to_owned() }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cuts the name to fit on a line.
        let name: String = self.name.chars().take(48).collect();
        write!(f, "unknown {} '{}'", self.what, name.escape_debug())
    }
}

impl std::error::Error for UnknownName {}
