//! The library, called as the command calls it, with bytes in memory for its files.

use std::fmt::Write;

use gpusort::unstable::io::binary::Source;
use gpusort::unstable::io::csv::{By, Dialect};
use gpusort::unstable::io::{KeyOrder, Input, Memory, Text};
use gpusort::unstable::key::ElementType;
use gpusort::{Error, ErrorKind, Sorter, Wanted};

use crate::pipeline::{self, Form, SortedTable};

/// What becomes of an input: bytes, or what the library says is wrong.
pub type Said<T = Vec<u8>> = Result<T, Refusal>;

/// What the library says is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub message: String,
    /// Where the token is that is refused, if it is one.
    pub token: Option<String>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let token = match error.kind() {
            ErrorKind::Token { place, .. } => Some(place.clone()),
            _ => None,
        };
        Self { message: error.to_string(), token }
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

/// `gpusort sort` of text.
pub fn sort_text(
    inputs: &[Input],
    element: Option<ElementType>,
    direction: KeyOrder,
    wanted: Wanted,
) -> Said {
    let text = Text::read(inputs, |_| {})?;
    Ok(pipeline::sort_text(&Sorter::cpu(), text, element, direction, wanted)?)
}

/// `gpusort sort` of tables.
pub fn sort_table(inputs: &[Input], dialect: Dialect, by: &By, wanted: Wanted) -> Said<SortedTable> {
    let text = Text::read(inputs, |_| {})?;
    Ok(pipeline::sort_table(&Sorter::cpu(), text, dialect, by, wanted)?)
}

/// `gpusort sort` of binary files of one type, to such a file or to text.
pub fn sort_bits(sources: &[Source], direction: KeyOrder, wanted: Wanted, to_text: bool) -> Said {
    let form = if to_text { Form::Text } else { Form::Binary };
    Ok(pipeline::sort_binary(&Sorter::cpu(), sources, direction, wanted, form)?)
}
