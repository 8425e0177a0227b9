//! Read, order, write: what `gpusort sort` does, with bytes in memory for its output. The tests, and the fuzz targets, which
//! include this file, go through the library's parts here and nowhere else.

use gpusort::io::binary::{self, Source};
use gpusort::io::csv::{self, By, Dialect};
use gpusort::io::records::{write_records, write_text};
use gpusort::io::{Counts, Direction, Records, Spelling, Start, Starts, Text, text};
use gpusort::key::{ElementType, Keys, KeysRef, Order, Pieces};
use gpusort::{Error, Method, Sorter, Wanted};

/// How elements of known width are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Binary,
    Text,
}

/// A table that was sorted.
#[derive(Clone, Debug)]
pub struct SortedTable {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    pub repeated: usize,
    /// The positions of the rows that were written, among all that are no blank lines.
    pub positions: Vec<u32>,
}

/// Sorts the numbers in a text.
///
/// # Errors
///
/// A token that cannot be sorted; a device that fails.
pub fn sort_text(
    sorter: &Sorter,
    text: Text,
    element: Option<ElementType>,
    direction: Direction,
    wanted: Wanted,
) -> Result<Vec<u8>, Error> {
    let Records { order, keys, spelling } = text::parse(text, element, direction)?;
    match spelling {
        None => Ok(write(sorted_keys(sorter, keys, wanted)?.borrowed(), order, Form::Text)),
        Some(Spelling { text, starts: Starts::Short(starts) }) => {
            sort_tokens(sorter, &text, keys, starts, wanted)
        }
        Some(Spelling { text, starts: Starts::Long(starts) }) => {
            sort_tokens(sorter, &text, keys, starts, wanted)
        }
    }
}

/// Sorts the rows of tables.
///
/// # Errors
///
/// A field that cannot be sorted; a device that fails.
pub fn sort_table(
    sorter: &Sorter,
    text: Text,
    dialect: Dialect,
    by: &By,
    wanted: Wanted,
) -> Result<SortedTable, Error> {
    let (table, words) = csv::read(text, dialect, by)?;
    let ranking = sorter.rank(words, wanted, Method::default(), &mut |_, _| {})?;
    let mut bytes = Vec::new();
    table.write(&ranking.positions, &mut bytes, |_| {}).expect("memory takes all");
    let positions = table.numbers(ranking.positions);
    Ok(SortedTable { bytes, counts: table.counts, repeated: ranking.repeated, positions })
}

/// Sorts the elements of binary sources of one type.
///
/// # Errors
///
/// A source that cannot be read; a device that fails.
pub fn sort_binary(
    sorter: &Sorter,
    sources: &[Source],
    direction: Direction,
    wanted: Wanted,
    form: Form,
) -> Result<Vec<u8>, Error> {
    let keys = read_keys(sources, direction)?;
    let order = direction.of(sources[0].element());
    Ok(write(sorted_keys(sorter, keys, wanted)?.borrowed(), order, form))
}

/// The positions of the elements of binary sources in the order of those.
///
/// # Errors
///
/// As for [`sort_binary`].
pub fn argsort_binary(
    sorter: &Sorter,
    sources: &[Source],
    direction: Direction,
    wanted: Wanted,
) -> Result<Vec<u32>, Error> {
    let keys = read_keys(sources, direction)?;
    Ok(sorter.rank(vec![keys], wanted, Method::default(), &mut |_, _| {})?.positions)
}

/// Positions, as `--argsort` writes them.
#[must_use]
pub fn write_positions(positions: &[u32], form: Form) -> Vec<u8> {
    write(KeysRef::One(positions), Order::ascending(ElementType::U32), form)
}

/// The elements that have these keys.
#[must_use]
pub fn write(keys: KeysRef, order: Order, form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    let written = match form {
        Form::Text => write_text(keys, order, &mut out, |_| {}),
        Form::Binary => binary::write(keys, order, &mut out, |_| {}),
    };
    written.expect("memory takes all");
    out
}

fn read_keys(sources: &[Source], direction: Direction) -> Result<Pieces, Error> {
    let mut keys = Pieces::new(sources[0].element());
    let take = |piece| {
        keys.push(piece);
        Ok(())
    };
    binary::read(sources, direction, |_| {}, take)?;
    Ok(keys)
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

fn sort_tokens<S: Start>(
    sorter: &Sorter,
    text: &Text,
    keys: Pieces,
    starts: Vec<Vec<S>>,
    wanted: Wanted,
) -> Result<Vec<u8>, Error> {
    let starts = if wanted == Wanted::default() {
        sorter.sort_records(keys, starts, Method::default(), &mut |_, _| {})?.0
    } else {
        let ranking = sorter.rank(vec![keys], wanted, Method::default(), &mut |_, _| {})?;
        let starts = starts.concat();
        ranking.positions.iter().map(|&position| starts[position as usize]).collect()
    };
    let mut out = Vec::new();
    write_records(text, &starts, &mut out, |_| {}).expect("memory takes all");
    Ok(out)
}
