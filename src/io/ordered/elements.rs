//! Merging binary elements: a block of each input is in memory, and all cores merge what is certain of the blocks.
//!
//! ```text
//! input 0   ───────────|─ ─ ─ ▸
//! input 1   ──────|────── ─ ─ ▸     up to the least last key in memory, nothing unread comes first
//! input 2   ────────|─────── ▸
//! ```

use crate::cpu::Pair;
use crate::error::Error;
use crate::io::binary::{self, Source};
use crate::io::output::Output;
use crate::io::records::write_text;
use crate::io::source::Opened;
use crate::key::{KeyMap, Word};
use crate::order::KeyOrder;
use crate::parallel;
use crate::runs;
use crate::words::Width;

use super::{Elements, Merged, PositionReader, Positions, Written, write_positions};

/// An input, as far as it is read.
struct Run<'a, W> {
    source: &'a Source,
    opened: Opened,
    order: KeyMap,
    refuses_nan: bool,
    /// Keys in order that are not merged yet, from `at` on.
    keys: Vec<W>,
    at: usize,
    /// The positions of those keys, and of what comes after them, if they are merged with them.
    positions: Vec<u64>,
    further: Option<PositionReader>,
    /// The last key, of this or an earlier block.
    last: Option<W>,
    /// Bytes of an element that is not complete.
    part: Vec<u8>,
    /// Bytes and elements read.
    bytes: u64,
    number: u64,
    end: End,
}

/// What comes after the keys in memory.
enum End {
    /// What is not read yet.
    Unread,
    /// An error.
    Wrong(Error),
    /// Nothing.
    Nothing,
}

impl<'a, W: Width> Run<'a, W> {
    fn new(
        (source, opened): (&'a Source, Opened),
        further: Option<PositionReader>,
        direction: KeyOrder,
    ) -> Result<Self, Error> {
        // That of a .npy file was checked with its header.
        if source.count().is_none() {
            source.check_file()?;
        }
        Ok(Self {
            source,
            opened: source.opened(opened)?,
            order: direction.map(source.element()),
            refuses_nan: source.refuses_nan(direction),
            keys: Vec::new(),
            at: 0,
            positions: Vec::new(),
            further,
            last: None,
            part: Vec::new(),
            bytes: 0,
            number: 0,
            end: End::Unread,
        })
    }

    /// The keys in memory that are not merged.
    fn rest(&self) -> &[W] {
        &self.keys[self.at..]
    }

    /// Reads a block, as far as bytes are there, up to what is wrong.
    fn read(&mut self, block: usize) -> Result<(), Error> {
        let size = self.source.element().bytes();
        let room = (block / size).max(1) * size;
        self.at = 0;
        self.keys.clear();
        let (opened, part) = (&mut self.opened, &mut self.part);
        let mut read = 0;
        let fill = |bytes: &mut [u8]| {
            let mut filled = part.len();
            bytes[..filled].copy_from_slice(part);
            part.clear();
            loop {
                let count = opened.read_some(&mut bytes[filled..])?;
                (filled, read) = (filled + count, read + count);
                // Only what a pipe has, since its writer may be slow; but at least an element.
                if count == 0 || filled >= size {
                    break;
                }
            }
            let whole = filled - filled % size;
            part.extend_from_slice(&bytes[whole..filled]);
            Ok(whole)
        };
        (self.keys, _) = binary::read_keys(room, self.source, self.order, fill)?;
        self.bytes += read as u64;
        // No more than the header promises, since its reader may rely on that number.
        let most = self.source.count().map_or(u64::MAX, |count| count - self.number);
        let is_over =
            self.keys.len() as u64 > most || self.keys.len() as u64 == most && !self.part.is_empty();
        if self.keys.is_empty() || is_over {
            self.keys.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            self.end = self.source.check(self.bytes).map_or_else(End::Wrong, |()| End::Nothing);
        }
        self.find_wrong();
        if let Some(further) = &mut self.further {
            self.positions = further.take(self.keys.len())?;
        }
        self.number += self.keys.len() as u64;
        self.last = self.keys.last().copied().or(self.last);
        Ok(())
    }

    /// Ends the keys in memory before the first that is refused or out of order.
    fn find_wrong(&mut self) {
        let map = W::map(self.order);
        if self.refuses_nan
            && let Some(at) = self.keys.iter().position(|key| key.is_nan(map))
        {
            self.end = End::Wrong(self.source.is_nan(self.number + at as u64));
            self.keys.truncate(at);
        }
        let last = self.last.map(W::into);
        if let Some((at, pair)) = binary::first_broken(&self.keys, last, false) {
            let place = format!("{}, element {}", self.opened.name, self.number + at as u64);
            let [before, value] = pair.map(|key| binary::shown(key, self.order));
            self.end = End::Wrong(super::not_sorted(place, &value, &before));
            self.keys.truncate(at);
        }
    }
}

/// Memory for inputs that nobody has set a budget for: blocks are few enough for the caches.
pub(super) const MEMORY: u64 = 96 << 20;

/// Bytes read at once of each of this many runs.
fn block<W: Word>(elements: &Elements, size: usize) -> usize {
    // As read, if that is not what is kept; in the order of the input, of the result, and as they are written.
    let word = size_of::<W>();
    let key = if size < word { size } else { 0 } + 3 * word;
    let position = size_of::<u64>();
    // In the order of the input, in pairs on both sides and in between, and as they are written.
    let all = key + if elements.positions.is_some() { 3 * (word + position) + 3 * position } else { 0 };
    let keys = elements.memory / (all * elements.runs.len().max(1)) as u64;
    keys.saturating_mul(size as u64).clamp(1 << 8, 8 << 20) as usize
}

/// Merges pairs of keys and positions, which come from runs like these.
fn merge_pairs<W: Width>(runs: &[(&[W], &[u64])], keys: &mut Vec<W>, positions: &mut Vec<u64>) {
    let pair = |(&key, &position): (&W, &u64)| Pair { key, position };
    let of_run = |(keys, positions): (&[W], &[u64])| keys.iter().zip(positions).map(pair).collect::<Vec<_>>();
    let pairs: Vec<Vec<Pair<W, u64>>> = parallel::map_parts(runs.to_vec(), of_run);
    let mut merged = vec![Pair { key: W::default(), position: 0 }; pairs.iter().map(Vec::len).sum()];
    runs::merge(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut merged);
    *keys = parallel::map(&merged, |pair| pair.key);
    *positions = parallel::map(&merged, |pair| pair.position);
}

/// Merges the elements of binary inputs.
pub(super) fn merge<W: Width + itoa::Integer>(
    elements: Elements,
    mut to: Option<&mut Output>,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let Some((source, _)) = elements.runs.first() else { return Ok(Merged::default()) };
    let order = elements.direction.map(source.element());
    let block = block::<W>(&elements, order.element.bytes());
    let Elements { runs, direction, selection, written, positions: mut numbers, .. } = elements;
    let mut further = numbers.as_mut().map(|numbers| std::mem::take(&mut numbers.runs).into_iter());
    let run = |run| Run::<W>::new(run, further.as_mut().and_then(Iterator::next), direction);
    let mut runs = runs.into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let top = selection.first.map_or(u64::MAX, |first| first as u64);
    let mut merged = Merged { types: order.element.name().to_owned(), ..Merged::default() };
    let (mut all, mut positions, mut last) = (Vec::new(), Vec::new(), None);
    loop {
        for run in &mut runs {
            while run.rest().is_empty() && matches!(run.end, End::Unread) {
                let before = run.number;
                run.read(block)?;
                merged.read += run.number - before;
            }
            if run.rest().is_empty()
                && let End::Wrong(error) = std::mem::replace(&mut run.end, End::Nothing)
            {
                return Err(error);
            }
        }
        // The least key, of the first such run, after which more may come that is not in memory.
        let open = runs.iter().enumerate().filter(|(_, run)| !matches!(run.end, End::Nothing));
        let limit = open.filter_map(|(number, run)| Some((*run.rest().last()?, number))).min();
        let certain = |(number, run): (usize, &Run<W>)| match limit {
            None => run.rest().len(),
            Some(limit) => run.rest().partition_point(|&key| (key, number) <= limit),
        };
        let counts: Vec<usize> = runs.iter().enumerate().map(certain).collect();
        let slices: Vec<&[W]> = runs.iter().zip(&counts).map(|(run, &count)| &run.rest()[..count]).collect();
        let count = counts.iter().sum();
        if count == 0 || top == 0 {
            break;
        }
        if numbers.is_some() {
            let positions_of =
                runs.iter().zip(&counts).map(|(run, &count)| &run.positions[run.at..][..count]);
            let pairs: Vec<(&[W], &[u64])> = slices.iter().copied().zip(positions_of).collect();
            merge_pairs(&pairs, &mut all, &mut positions);
        } else {
            all.clear();
            all.resize(count, W::default());
            runs::merge(&slices, &mut all);
        }
        runs.iter_mut().zip(&counts).for_each(|(run, count)| run.at += count);
        let left = usize::try_from(top - merged.written).unwrap_or(usize::MAX);
        if selection.unique {
            merged.repeated += drop_repeated(&mut all, &mut positions, &mut last, left);
        }
        all.truncate(left);
        merged.written += all.len() as u64;
        if let Some(to) = &mut to {
            let keys = (&all[..]).into();
            let result = match written {
                Written::AsRead => binary::write(&keys, order, to, |_| {}),
                Written::InText => write_text(keys, order, to, |_| {}),
            };
            result.map_err(|error| to.failed(error))?;
        }
        if let Some(Positions { to, written, element, .. }) = &mut numbers {
            positions.truncate(left);
            write_positions(std::mem::take(&mut positions), *element, *written, to)?;
        }
        progress(merged.read);
        if merged.written == top {
            break;
        }
    }
    if selection.first.is_some() {
        // What else was read depends on the blocks.
        merged.read = merged.written + merged.repeated;
    }
    Ok(merged)
}

/// Drops keys that repeat the one before them, which for the first is `last`, until there are `most`, and their positions
/// if there are any. Returns how many were dropped before that.
fn drop_repeated<W: Word>(
    keys: &mut Vec<W>,
    positions: &mut Vec<u64>,
    last: &mut Option<W>,
    most: usize,
) -> u64 {
    let (mut kept, mut repeated) = (0, 0);
    for at in 0..keys.len() {
        if kept == most {
            break;
        }
        if *last == Some(keys[at]) {
            repeated += 1;
        } else {
            *last = Some(keys[at]);
            keys[kept] = keys[at];
            if let Some(&position) = positions.get(at) {
                positions[kept] = position;
            }
            kept += 1;
        }
    }
    keys.truncate(kept);
    positions.truncate(kept);
    repeated
}
