//! Text or lines: which of the two an input is that no option and no extension names.

use gpusort::unstable::io::{FirstLine, Format, Input, PerLine, first_line};
use gpusort::unstable::runs::Budget;

use super::options::Surroundings;
use crate::cli::args::{OrderArgs, TypeArg};

/// What plain inputs are.
pub(super) struct Plain {
    pub(super) format: Format,
    /// How many numbers a line of text may have.
    pub(super) per_line: PerLine,
    /// What decided, if nobody said which it is.
    pub(super) why: Option<String>,
    /// What is to be noted about that.
    pub(super) note: Option<&'static str>,
}

impl Plain {
    /// What somebody said, or an extension.
    pub(super) fn known(format: Format) -> Self {
        Self { format, per_line: PerLine::Any, why: None, note: None }
    }

    fn new(format: Format, per_line: PerLine, why: impl Into<String>) -> Self {
        Self { per_line, why: Some(why.into()), ..Self::known(format) }
    }
}

/// Decides what these inputs are. Those that cannot be read again are replaced by what gives them from the beginning.
pub(super) fn decide(
    args: &OrderArgs,
    inputs: &mut [Input],
    around: Surroundings,
) -> Result<Plain, gpusort::Error> {
    if let Some(option) = says_lines(args) {
        return Ok(Plain::new(Format::Lines, PerLine::Any, format!("lines, as {option} says")));
    }
    if around.of_numbers {
        return Ok(Plain::new(Format::Text, PerLine::Any, "text, as the output is binary"));
    }
    let is_stdin = matches!(&*inputs, [input] if input.is_stdin());
    // A quarter of the memory that is taken without a limit of its own.
    let most = || around.memory.unwrap_or_else(|| Budget::default().total() / 2) / 2;
    // What cannot be replaced, or read, is told of one of many files when it is its turn.
    let is_refused = around.in_place && inputs.iter().any(|input| !input.can_be_read_again());
    let first = match first_line(if is_refused { &mut [] } else { inputs }, is_stdin, &most) {
        Err(_) if around.each => FirstLine::Missing,
        first => first?,
    };
    Ok(match first {
        FirstLine::Missing => Plain::new(Format::Text, PerLine::Any, "text, as there are no records"),
        FirstLine::One => Plain::new(Format::Text, PerLine::One, "text, as the first line is one number"),
        FirstLine::Several => {
            Plain::new(Format::Lines, PerLine::Any, "lines, as the first one has several fields")
        }
        FirstLine::Numbers => Plain {
            note: Some(
                "standard input is one line of numbers, which are sorted; --from lines keeps the line",
            ),
            ..Plain::new(Format::Text, PerLine::Any, "numbers, as standard input is one line of them")
        },
    })
}

/// The first option that is about lines or their fields.
fn says_lines(args: &OrderArgs) -> Option<&'static str> {
    let options = [
        (!args.key.is_empty(), "--key"),
        (args.header, "--header"),
        (args.comments, "--comments"),
        (args.leading, "--leading"),
        (args.zero_terminated, "--zero-terminated"),
        (args.sizes, "-h"),
        (args.numeric_sort, "-n"),
        (args.general_numeric_sort, "-g"),
        (args.delimiter.is_some(), "--delimiter"),
        (args.empty.is_some(), "--empty"),
        (args.invalid.is_some(), "--invalid"),
    ];
    let of_type = match args.element {
        TypeArg::Separator(_) => Some("-t with a character"),
        TypeArg::Reading(_) => Some("--type"),
        TypeArg::Auto | TypeArg::Element(_) => None,
    };
    options.into_iter().find_map(|(is_given, option)| is_given.then_some(option)).or(of_type)
}
