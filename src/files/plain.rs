//! Decides between text and lines where no option and no extension does.

use super::options::Options;
use crate::error::Error;
use crate::format::Format;
use crate::io::{FirstLine, Input, PerLine, first_line};
use crate::order::Reading;
use crate::runs::Budget;

/// What decided between text and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Taken {
    /// Lines, as an option is about them or their fields.
    Option,
    /// Text, as the output is binary.
    Output,
    /// Text with one number a line if the first one has one token, lines if it has several, and
    /// else just numbers.
    First(FirstLine),
}

impl Taken {
    /// The format.
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Self::Option | Self::First(FirstLine::Several) => Format::Lines,
            Self::Output | Self::First(_) => Format::Text,
        }
    }

    /// How many numbers a line of text may have.
    pub(super) fn per_line(self) -> PerLine {
        if self == Self::First(FirstLine::One) { PerLine::One } else { PerLine::Any }
    }

    /// Decides what these inputs are; `of_numbers` where only numbers can be written. Those that
    /// cannot be read again are replaced by what gives them from the beginning.
    pub(super) fn of(options: &Options, inputs: &mut [Input], of_numbers: bool) -> Result<Self, Error> {
        if options.says_lines() {
            return Ok(Self::Option);
        }
        if of_numbers {
            return Ok(Self::Output);
        }
        let is_stdin = matches!(&*inputs, [input] if input.is_stdin());
        // A quarter of the memory that is taken without a limit of its own.
        let most = || options.memory.unwrap_or_else(|| Budget::default().total() / 2) / 2;
        // What cannot be replaced, or read, is told of one of many files when it is its turn.
        let is_refused = options.in_place && inputs.iter().any(|input| !input.can_be_read_again());
        match first_line(if is_refused { &mut [] } else { inputs }, is_stdin, &most) {
            Err(_) if options.one_of_many => Ok(Self::First(FirstLine::Missing)),
            first => first.map(Self::First),
        }
    }
}

impl Options {
    /// Whether anything is asked that is about lines or their fields.
    fn says_lines(&self) -> bool {
        let reads_more = !matches!(self.reading, None | Some(Reading::Numbers));
        self.as_lines
            || !self.keys.is_empty()
            || self.header == Some(true)
            || self.comments
            || self.leading
            || self.zero_terminated
            || reads_more
            || self.delimiter.is_some()
            || self.empty.is_some()
            || self.invalid.is_some()
    }
}
