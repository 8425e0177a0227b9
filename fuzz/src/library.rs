//! The library, called as the command calls it, with bytes in memory for its files.

use std::fmt::{Debug, Write};

use gpusort::unstable::io::How;
use gpusort::unstable::io::{Format, Input, Memory};
use gpusort::unstable::order::Selection;
use gpusort::unstable::runs::Budget;
use gpusort::{Error, ErrorKind, Hint, Sorter};

use crate::pipeline::{self, Sorted};

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
    Input::Memory(Memory::new(&name(number), bytes, pieces))
}

/// `gpusort sort`.
///
/// # Errors
///
/// What the library refuses.
pub fn sort(inputs: &[Input], how: &How, selection: Selection, format: Format) -> Said<Sorted> {
    Ok(pipeline::sort(&Sorter::cpu(), inputs, how, selection, false, format)?)
}

/// That in as little memory as there may be the same comes out as `whole`, and the same positions as with all memory.
///
/// # Errors
///
/// How it differs.
pub fn same_in_parts(
    case: &dyn Debug,
    inputs: &[Input],
    how: &How,
    selection: Selection,
    format: Format,
    whole: &Said<Sorted>,
) -> Result<(), String> {
    let whole = whole.as_ref().map_err(|refusal| refusal.message.as_str());
    let positions = pipeline::sort(&Sorter::cpu(), inputs, how, selection, true, Format::Text);
    let positions = positions.map_err(|error| error.to_string());
    let positions = positions.as_ref().map_err(String::as_str);
    let asks = [
        (pipeline::ask(selection, false, format), whole),
        (pipeline::ask(selection, true, Format::Text), positions),
    ];
    let differ = |(ask, whole)| pipeline::differs_in_parts(inputs, how, ask, &Budget::of(0), whole);
    let problem = asks.into_iter().find_map(differ);
    problem.map_or(Ok(()), |problem| Err(format!("{problem}\n   case: {case:?}")))
}

/// `gpusort sort --argsort`, to text: a position a line.
///
/// # Errors
///
/// What the library refuses.
pub fn argsort(inputs: &[Input], how: &How) -> Said {
    Ok(pipeline::sort(&Sorter::cpu(), inputs, how, Selection::ALL, true, Format::Text)?.bytes)
}
