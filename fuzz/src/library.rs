//! The library, called as the command calls it, with bytes in memory for its files.

use std::fmt::{Debug, Write};

use gpusort::files::{Input, Options};
use gpusort::{Error, ErrorKind, Format, Hint, Sorter};

use crate::pipeline::{self, Ask, Sorted};

/// The answer to an input: bytes, or what the library says is wrong.
pub type Said<T = Vec<u8>> = Result<T, Refusal>;

/// What the library says is wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refusal {
    pub message: String,
    /// Where the token is that is refused, if it is one.
    pub token: Option<String>,
    /// What would help, where the library knows.
    pub hint: Option<Hint>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let token = match error.kind() {
            ErrorKind::Token { place, .. } => Some(place.clone()),
            _ => None,
        };
        Self { message: error.to_string(), token, hint: error.hint().cloned() }
    }
}

/// The name of an input.
pub fn name(number: usize) -> String {
    let mut name = "i".to_owned();
    write!(name, "{number}").expect("a string grows");
    name
}

/// Inputs that are like files.
pub fn files<T: AsRef<[u8]>>(inputs: &[T]) -> Vec<Input> {
    inputs.iter().enumerate().map(|(number, bytes)| memory(number, bytes.as_ref(), &[])).collect()
}

/// An input that is like a file, or comes in these pieces.
pub fn memory(number: usize, bytes: &[u8], pieces: &[usize]) -> Input {
    pipeline::input(&name(number), bytes, pieces)
}

/// `gpusort sort`.
///
/// # Errors
///
/// What the library refuses.
pub fn sort(options: Options, ask: Ask) -> Said<Sorted> {
    Ok(pipeline::sort(&Sorter::cpu(), options, ask)?)
}

/// That in as little memory as there may be the same comes out as `whole`, and the same positions
/// as with all memory. It may depend on memory which error is told.
///
/// # Errors
///
/// How it differs.
pub fn same_in_parts(
    case: &dyn Debug,
    options: &dyn Fn() -> Options,
    may_differ: bool,
    ask: Ask,
    whole: &Said<Sorted>,
) -> Result<(), String> {
    let whole = whole.as_ref().map_err(|refusal| refusal.message.as_str());
    let of_positions = Ask { positions: true, to: Some(Format::Text), ..ask };
    let positions = pipeline::sort(&Sorter::cpu(), options(), of_positions);
    let positions = positions.map_err(|error| error.to_string());
    let positions = positions.as_ref().map_err(String::as_str);
    let differ = |(ask, whole)| pipeline::differs_in_parts(options(), may_differ, ask, 0, whole);
    let problem = [(ask, whole), (of_positions, positions)].into_iter().find_map(differ);
    problem.map_or(Ok(()), |problem| Err(format!("{problem}\n   case: {case:?}")))
}

/// `gpusort sort --argsort`, to text: a position a line.
///
/// # Errors
///
/// What the library refuses.
pub fn argsort(options: Options) -> Said {
    let ask = Ask { positions: true, to: Some(Format::Text), ..Ask::default() };
    Ok(pipeline::sort(&Sorter::cpu(), options, ask)?.bytes)
}

/// The first so many, as the library counts them.
pub fn first(selection: gpusort_order::Selection) -> Option<u64> {
    selection.first.map(|first| first as u64)
}
