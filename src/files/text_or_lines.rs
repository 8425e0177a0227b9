//! What decides between text and lines where no option and no extension does.

use crate::format::Format;
use crate::io::{FirstLine, PerLine};

/// What decided between text and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Taken {
    /// Lines, as an option is about them or their fields.
    Option,
    /// JSON Lines, as keys are names and the first line begins with `{`.
    Json,
    /// Text, as the output is binary.
    Output,
    /// Text with one number a line if the first one is a number, lines if it has several fields or
    /// is none, and else just numbers.
    First(FirstLine),
}

impl Taken {
    /// The format.
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Self::Option | Self::First(FirstLine::Several | FirstLine::Word | FirstLine::Brace) => {
                Format::Lines
            }
            Self::Json => Format::JsonLines,
            Self::Output | Self::First(_) => Format::Text,
        }
    }

    /// How many numbers a line of text may have.
    pub(super) fn per_line(self) -> PerLine {
        if self == Self::First(FirstLine::One) { PerLine::One } else { PerLine::Any }
    }
}
