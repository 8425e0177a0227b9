//! Merging binary elements: a block of each input is in memory, and all cores merge what is certain of the blocks.
//!
//! ```text
//! input 0   ───────────|─ ─ ─ ▸
//! input 1   ──────|────── ─ ─ ▸     up to the least last key in memory, nothing unread comes first
//! input 2   ────────|─────── ▸
//! ```

use std::thread;

use crate::error::Error;
use crate::io::binary::{self, Source};
use crate::io::output::Output;
use crate::io::records::write_text;
use crate::io::source::Opened;
use crate::key::{KeyMap, Word};
use crate::order::KeyOrder;
use crate::order::Selection;
use crate::parallel::{self, WriteBehind};
use crate::runs;
use crate::words::Width;

use super::{Elements, LITTLE, Merged, Written};

/// An input, as far as it is read.
struct Run<'a, W> {
    source: &'a Source,
    opened: Opened,
    order: KeyMap,
    refuses_nan: bool,
    /// Keys in order that are not merged yet, from `at` on.
    keys: Vec<W>,
    at: usize,
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
    fn new((source, opened): (&'a Source, Opened), direction: KeyOrder) -> Result<Self, Error> {
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

    /// Whether more should be read before the next merge, as far as that does not wait for others.
    fn is_low(&self, room: usize) -> bool {
        let rest = self.rest().len();
        matches!(self.end, End::Unread) && (rest == 0 || self.opened.is_ready() && rest < room / 2)
    }

    /// Whether more comes of others, who may wait for what comes of it.
    fn may_wait(&self) -> bool {
        matches!(self.end, End::Unread) && !self.opened.is_ready()
    }

    /// Reads as many keys as there is room for, as far as bytes are there, up to what is wrong.
    fn read(&mut self, room: usize) -> Result<(), Error> {
        let size = self.source.element().bytes();
        self.keys.drain(..self.at);
        self.at = 0;
        let room = room.saturating_sub(self.keys.len()).max(1) * size;
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
        let (mut keys, _) = binary::read_keys(room, self.source, self.order, fill)?;
        self.bytes += read as u64;
        // No more than the header promises, since its reader may rely on that number.
        let most = self.source.count().map_or(u64::MAX, |count| count - self.number);
        let is_over = keys.len() as u64 > most || keys.len() as u64 == most && !self.part.is_empty();
        if keys.is_empty() || is_over {
            keys.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            self.end = self.source.check(self.bytes).map_or_else(End::Wrong, |()| End::Nothing);
        }
        self.find_wrong(&mut keys);
        self.number += keys.len() as u64;
        self.last = keys.last().copied().or(self.last);
        self.keys.append(&mut keys);
        Ok(())
    }

    /// Ends the keys that were read before the first that is refused or out of order.
    fn find_wrong(&mut self, keys: &mut Vec<W>) {
        let map = W::map(self.order);
        if self.refuses_nan
            && let Some(at) = keys.iter().position(|key| key.is_nan(map))
        {
            self.end = End::Wrong(self.source.is_nan(self.number + at as u64));
            keys.truncate(at);
        }
        let last = self.last.map(W::into);
        if let Some((at, pair)) = binary::first_broken(keys, last, false) {
            let place = format!("{}, element {}", self.opened.name, self.number + at as u64);
            let [before, value] = pair.map(|key| binary::shown(key, self.order));
            self.end = End::Wrong(super::not_sorted(place, &value, &before));
            keys.truncate(at);
        }
    }
}

/// Memory for inputs that nobody has set a budget for: blocks are few enough for the caches.
pub(super) const MEMORY: u64 = 96 << 20;

/// The most keys of each run in memory.
fn room<W: Word>(elements: &Elements, size: usize) -> usize {
    // As read, if that is not what is kept; in the order of the input, of the result twice, and as they are written.
    let word = size_of::<W>();
    let key = if size < word { size } else { 0 } + 4 * word;
    let keys = elements.memory / (key * elements.runs.len().max(1)) as u64;
    let bytes = keys.saturating_mul(size as u64).clamp(1 << 8, 8 << 20);
    bytes as usize / size
}

/// Merges the elements of binary inputs.
pub(super) fn merge<W: Width + itoa::Integer>(
    elements: Elements,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let Some((source, _)) = elements.runs.first() else { return Ok(Merged::default()) };
    let order = elements.direction.map(source.element());
    let room = room::<W>(&elements, order.element.bytes());
    let Elements { runs, direction, selection, written, .. } = elements;
    let mut runs =
        runs.into_iter().map(|run| Run::<W>::new(run, direction)).collect::<Result<Vec<_>, _>>()?;
    let write = |keys: &[W]| {
        let keys = keys.into();
        let result = match written {
            Written::AsRead => binary::write(&keys, order, to, |_| {}),
            Written::InText(print) => write_text(keys, order, print, to, |_| {}),
        };
        result.map_err(|error| to.failed(error))
    };
    let mut merged = thread::scope(|scope| {
        let mut writing = WriteBehind::new(scope, write);
        let mut give = |keys: Vec<W>, at_once: bool| {
            let is_little = size_of_val(&keys[..]) < LITTLE;
            writing.then(at_once || is_little, move |write| write(&keys))
        };
        let merged = merge_to(&mut runs, room, selection, &mut give, progress);
        // A failure to write comes first.
        writing.wait()?;
        merged
    })?;
    if selection.first.is_some() {
        // What else was read depends on the blocks.
        merged.read = merged.written + merged.repeated;
    }
    order.element.name().clone_into(&mut merged.types);
    Ok(merged)
}

/// Gives the merged keys to `give`, and whether they are to be written before more is read.
fn merge_to<W: Width>(
    runs: &mut [Run<W>],
    room: usize,
    selection: Selection,
    give: &mut impl FnMut(Vec<W>, bool) -> Result<(), Error>,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let top = selection.first.map_or(u64::MAX, |first| first as u64);
    let (mut merged, mut last) = (Merged::default(), None);
    while merged.written < top {
        let low: Vec<&mut Run<W>> = runs.iter_mut().filter(|run| run.is_low(room)).collect();
        let (ready, waiting): (Vec<_>, Vec<_>) = low.into_iter().partition(|run| run.opened.is_ready());
        parallel::map_parts(ready, |run| run.read(room)).into_iter().collect::<Result<(), _>>()?;
        waiting.into_iter().try_for_each(|run| run.read(room))?;
        for run in &mut *runs {
            while run.rest().is_empty() && matches!(run.end, End::Unread) {
                run.read(room)?;
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
        let count = counts.iter().sum();
        if count == 0 {
            break;
        }
        merged.read += count as u64;
        let slices: Vec<&[W]> = runs.iter().zip(&counts).map(|(run, &count)| &run.rest()[..count]).collect();
        let mut keys = vec![W::default(); count];
        runs::merge(&slices, &mut keys);
        runs.iter_mut().zip(&counts).for_each(|(run, count)| run.at += count);
        let left = usize::try_from(top - merged.written).unwrap_or(usize::MAX);
        if selection.unique {
            merged.repeated += drop_repeated(&mut keys, &mut last, left);
        }
        keys.truncate(left);
        merged.written += keys.len() as u64;
        give(keys, runs.iter().any(Run::may_wait))?;
        progress(merged.read);
    }
    Ok(merged)
}

/// Drops keys that repeat the one before them, which for the first is `last`, until there are `most`. Returns how many were
/// dropped before that.
fn drop_repeated<W: Word>(keys: &mut Vec<W>, last: &mut Option<W>, most: usize) -> u64 {
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
            kept += 1;
        }
    }
    keys.truncate(kept);
    repeated
}
