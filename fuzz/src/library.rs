//! The library, called as the command calls it, with bytes in memory for its files.

use gpusort::files::{Input, Options};
use gpusort::{Error, Format, Sorter};

use crate::pipeline::{self, Ask, Sorted};

/// An answer of the library: bytes, or an error.
pub type Said<T = Vec<u8>> = Result<T, Refusal>;

/// An error of the library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refusal {
    pub message: String,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { message: error.to_string() }
    }
}

/// Inputs from memory, with the behaviour of files.
pub fn files<T: AsRef<[u8]>>(inputs: &[T]) -> Vec<Input> {
    inputs.iter().enumerate().map(|(number, bytes)| memory(number, bytes.as_ref(), &[])).collect()
}

/// An input with the behaviour of a file, or a pipe that returns pieces of these sizes.
pub fn memory(number: usize, bytes: &[u8], pieces: &[usize]) -> Input {
    pipeline::input(&format!("i{number}"), bytes, pieces)
}

/// `gpusort sort`.
///
/// # Errors
///
/// Errors of the library.
pub fn sort(options: Options, ask: Ask) -> Said<Sorted> {
    Ok(pipeline::sort(&Sorter::cpu(), options, ask)?)
}

/// `gpusort sort --argsort`, to text: a position a line.
///
/// # Errors
///
/// Errors of the library.
pub fn argsort(options: Options) -> Said {
    let ask = Ask { positions: true, to: Some(Format::Text), ..Ask::default() };
    Ok(pipeline::sort(&Sorter::cpu(), options, ask)?.bytes)
}

/// The limit of a selection.
pub fn first(selection: gpusort_order::Selection) -> Option<u64> {
    selection.first.map(|first| first as u64)
}
