//! The library, called as the command calls it, with bytes in memory for its files.

use std::fmt::Write;

use gpusort::io::binary::{self, Source};
use gpusort::io::csv::{self, By, Dialect};
use gpusort::io::records::{write_records, write_text};
use gpusort::io::{Counts, Direction, Input, Memory, Records, Spelling, Start, Starts, Text, text};
use gpusort::key::{ElementType, Keys, Pieces};
use gpusort::{Error, ErrorKind, Method, Sorter, Wanted};

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
    direction: Direction,
    wanted: Wanted,
) -> Said {
    let text = Text::read(inputs, |_| {})?;
    let Records { order, keys, spelling } = text::parse(text, element, direction)?;
    let sorter = Sorter::cpu();
    let mut out = Vec::new();
    let Some(Spelling { text, starts }) = spelling else {
        let keys = sorted_keys(&sorter, keys, wanted)?;
        write_text(keys.borrowed(), order, &mut out, |_| {}).expect("memory takes all");
        return Ok(out);
    };
    match starts {
        Starts::Short(starts) => write_tokens(&sorter, &text, keys, starts, wanted, &mut out)?,
        Starts::Long(starts) => write_tokens(&sorter, &text, keys, starts, wanted, &mut out)?,
    }
    Ok(out)
}

fn sorted_keys(sorter: &Sorter, keys: Pieces, wanted: Wanted) -> Result<Keys, Error> {
    let (mut keys, _) = match wanted {
        Wanted { unique: false, top: Some(top) } => {
            sorter.top(keys, top, Method::default(), &mut |_, _| {})?
        }
        _ => sorter.sort(keys, Method::default(), &mut |_, _| {})?,
    };
    if wanted.unique {
        keys.dedup();
    }
    keys.truncate(wanted.top.unwrap_or(usize::MAX));
    Ok(keys)
}

fn write_tokens<S: Start>(
    sorter: &Sorter,
    text: &Text,
    keys: Pieces,
    starts: Vec<Vec<S>>,
    wanted: Wanted,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let starts = if wanted == Wanted::default() {
        sorter.sort_records(keys, starts, Method::default(), &mut |_, _| {})?.0
    } else {
        let ranking = sorter.rank(vec![keys], wanted, Method::default(), &mut |_, _| {})?;
        let starts = starts.concat();
        ranking.positions.iter().map(|&position| starts[position as usize]).collect()
    };
    write_records(text, &starts, out, |_| {}).expect("memory takes all");
    Ok(())
}

/// A table that was sorted.
#[derive(Clone, Debug)]
pub struct Sorted {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    pub repeated: usize,
    /// The positions of the rows that were written, among all that are no blank lines.
    pub positions: Vec<u32>,
}

/// `gpusort sort` of tables.
pub fn sort_table(inputs: &[Input], dialect: Dialect, by: &By, wanted: Wanted) -> Said<Sorted> {
    let text = Text::read(inputs, |_| {})?;
    let (table, words) = csv::read(text, dialect, by)?;
    let ranking = Sorter::cpu().rank(words, wanted, Method::default(), &mut |_, _| {})?;
    let mut bytes = Vec::new();
    table.write(&ranking.positions, &mut bytes, |_| {}).expect("memory takes all");
    let positions = table.numbers(ranking.positions);
    Ok(Sorted { bytes, counts: table.counts, repeated: ranking.repeated, positions })
}

/// `gpusort sort` of binary files of one type, to such a file or to text.
pub fn sort_bits(sources: &[Source], direction: Direction, wanted: Wanted, to_text: bool) -> Said {
    let order = direction.of(sources[0].element());
    let mut keys = Pieces::new(order.element);
    let take = |piece| {
        keys.push(piece);
        Ok(())
    };
    binary::read(sources, direction, |_| {}, take)?;
    let keys = sorted_keys(&Sorter::cpu(), keys, wanted)?;
    let mut out = Vec::new();
    let written = if to_text {
        write_text(keys.borrowed(), order, &mut out, |_| {})
    } else {
        binary::write(keys.borrowed(), order, &mut out, |_| {})
    };
    written.expect("memory takes all");
    Ok(out)
}
