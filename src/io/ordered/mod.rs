//! Sorted inputs: checking and merging them in little memory.

mod elements;
mod records;

use std::{fmt, thread};

use gpusort_order::key::KeyWords;

use super::batch::{Batches, InputKind, InputSpec, Stretches};
use super::binary::{self, BinaryInput};
use super::counts::Counts;
use super::output::Output;
use super::records::Print;
use super::source::{Input, Opened, may_be_open};
use crate::error::{Error, Hint};
use crate::io::piece::Piece;
use crate::memory;
use crate::order::{KeyOrder, Selection};
use crate::parallel;
use crate::runs::Budget;

#[cfg(feature = "distributed")]
pub(crate) use self::records::partition;
pub(crate) use self::records::{BESIDE_BYTES, Emit, Records, merge as merge_records};

/// A violation of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// The record: `file:line`, with the column if there are several keys, or the file and an index from 0.
    pub place: String,
    /// The key of the record, as written.
    pub value: String,
    /// The key of the previous record, as written.
    pub before: String,
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: out of order: {} after {}", self.place, self.value, self.before)
    }
}

/// The number of bytes read at once from all inputs together, on a machine with few cores.
const BLOCKS: usize = 8 << 20;

/// Returns an error if standard input is named more than once.
fn check_stdin(inputs: &[Input]) -> Result<(), Error> {
    if inputs.iter().filter(|input| input.is_stdin()).count() > 1 {
        return Err(Error::input(Input::Stdin.name(), "is named twice, but can be read only once"));
    }
    Ok(())
}

/// The last record of a sequence: its keys, and their form in messages.
#[derive(Default)]
struct Last {
    key: Option<Vec<u8>>,
    shown: Vec<String>,
}

impl Last {
    /// Returns the first violation of the order among the records after this one, with the number of
    /// its piece and its number in the piece. Then the last of these records replaces this one.
    fn follow(
        &mut self,
        batches: &Batches,
        pieces: &[Piece],
        unique: Option<&[KeyOrder]>,
    ) -> Option<(usize, usize, Disorder)> {
        let mut before = self.key.take();
        let befores: Vec<Option<Vec<u8>>> = pieces
            .iter()
            .map(|piece| {
                let last = piece.len().checked_sub(1).map(|last| piece.keys.key(last));
                if last.is_some() { std::mem::replace(&mut before, last) } else { before.clone() }
            })
            .collect();
        let found = parallel::map_parts(pieces.iter().zip(&befores), |(piece, before)| {
            piece.keys.first_broken(before.as_deref(), piece.len(), unique)
        });
        let found = found.into_iter().enumerate().find_map(|(number, found)| Some((number, found?)));
        self.key = before;
        let last = pieces.iter().rfind(|piece| piece.len() > 0);
        let Some((number, record)) = found else {
            if let Some(last) = last {
                self.shown = batches.shown(last, last.len() - 1, None).1;
            }
            return None;
        };
        let piece = &pieces[number];
        let earlier = pieces[..number].iter().rfind(|piece| piece.len() > 0);
        let shown_before = match (record.checked_sub(1), earlier) {
            (Some(before), _) => batches.shown(piece, before, None).1,
            (None, Some(earlier)) => batches.shown(earlier, earlier.len() - 1, None).1,
            (None, None) => std::mem::take(&mut self.shown),
        };
        let of_before = match record.checked_sub(1) {
            Some(before) => Some(piece.keys.key(before)),
            None => befores[number].clone(),
        };
        let key = of_before.map_or(0, |before| piece.keys.first_difference(record, &before));
        let (place, mut shown) = batches.shown(piece, record, Some(key));
        let value = shown.swap_remove(key);
        let before = shown_before[key].clone();
        Some((number, record, Disorder { place, value, before }))
    }
}

/// Returns the first violation of the order in the concatenated inputs; with `unique`, repeated keys
/// violate the order, too. Calls `progress` with the bytes read so far.
///
/// # Errors
///
/// I/O errors, and any error of a sort that occurs before the first violation.
pub fn check(
    inputs: &[Input],
    how: &InputSpec,
    unique: bool,
    stretches: Stretches,
    progress: impl Fn(u64),
) -> Result<Option<Disorder>, Error> {
    if let InputKind::Bits(sources) = &how.kind {
        let found = binary::first_disorder(sources, how.by.order, unique, progress)?;
        return Ok(found.map(|(number, element, keys)| {
            let order = how.by.order.map(sources[number].element());
            let [before, value] = keys.map(|key| binary::shown(key, order));
            Disorder { place: format!("{}, element {element}", inputs[number].name()), value, before }
        }));
    }
    check_stdin(inputs)?;
    let budget = Budget::unlimited();
    let mut batches = Batches::new(inputs, how, &budget, stretches);
    // With more cores, larger batches.
    let most = stretches.most.max((parallel::threads() << 20).min(2 * stretches.most));
    let most = within_limits(4 * most as u64) as usize / 4;
    let mut last = Last::default();
    let orders = how.orders();
    let unique = unique.then_some(&orders[..]);
    while let Some(pieces) = batches.next(most)? {
        if let Some((.., disorder)) = last.follow(&batches, &pieces, unique) {
            return Ok(Some(disorder));
        }
        progress(batches.chunks.bytes);
    }
    Ok(None)
}

/// The output format of binary elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Unchanged: tokens one per line, rows, the bits of elements.
    AsRead,
    /// Elements as text, printed in this form.
    InText(Print),
}

/// Results of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Records read.
    pub read: u64,
    /// Records written.
    pub written: u64,
    /// Records left out as repetitions of the previous key.
    pub repeated: u64,
    /// The types of the keys.
    pub types: String,
    /// The numbers of null fields and of left-out records.
    pub counts: Counts,
}

/// Merges sorted inputs and writes the selected records. Equal records keep the order of the inputs.
///
/// # Errors
///
/// I/O errors; an unsorted input; any error of a sort.
pub fn merge(
    inputs: &[Input],
    how: &InputSpec,
    selection: Selection,
    written: Written,
    to: &mut Output,
    mut progress: impl FnMut(u64),
) -> Result<Merged, Error> {
    check_stdin(inputs)?;
    let shut = !may_be_open(inputs.len());
    if let InputKind::Bits(sources) = &how.kind {
        let opened = inputs.iter().map(|input| input.open_as(shut));
        let runs = sources.iter().zip(opened.collect::<Result<Vec<_>, _>>()?).collect();
        let memory = within_limits(elements::MEMORY);
        let elements = Elements { runs, direction: how.by.order, selection, written, memory };
        return merge_elements(elements, to, &mut progress);
    }
    let blocks = (parallel::threads() << 21).clamp(BLOCKS, 3 * BLOCKS);
    let bytes = (within_limits(blocks as u64 * TIMES) / TIMES) as usize;
    let budget = Budget::unlimited();
    let most = records::stretch_of(inputs.len(), bytes);
    let new = |(number, input)| {
        let mut batches =
            Batches::new(std::slice::from_ref(input), how, &budget, Stretches { most, piece: None });
        (batches.shut, batches.has_ranges, batches.known.is_later) = (shut, true, number > 0);
        batches
    };
    let sources: Vec<Batches> = inputs.iter().enumerate().map(new).collect();
    records::merge_inputs(sources, how, selection, bytes, to, &mut progress)
}

/// Binary elements of a common type, and how to merge them.
pub(crate) struct Elements<'a> {
    pub(crate) runs: Vec<(&'a BinaryInput, Opened)>,
    pub(crate) direction: KeyOrder,
    pub(crate) selection: Selection,
    pub(crate) written: Written,
    /// The approximate memory limit.
    pub(crate) memory: u64,
}

/// Merges runs of elements.
pub(crate) fn merge_elements(
    elements: Elements,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let merge = match elements.runs.first().map(|(source, _)| source.element().key_words()) {
        Some(KeyWords::Two) => elements::merge::<u64>,
        _ => elements::merge::<u32>,
    };
    merge(elements, to, progress)
}

/// A source of records or elements in order, with a buffer.
trait MergeSource: Send {
    /// Returns the approximate number of unmerged bytes in memory.
    fn held(&self) -> usize;

    /// Returns true if reads never wait for another process.
    fn is_ready(&self) -> bool;

    /// Reads about `most` bytes, and sets `wrong` to the error that follows them. Returns true if the
    /// source goes on.
    fn read(&mut self, most: usize, wrong: &mut Option<Error>) -> Result<bool, Error>;
}

/// An input or a run to be merged. Its error is returned after all records before the error are merged.
struct Run<S> {
    source: S,
    /// The approximate number of bytes read at once.
    most: usize,
    wrong: Option<Error>,
    is_over: bool,
}

impl<S: MergeSource> Run<S> {
    fn new(source: S, most: usize) -> Self {
        Self { source, most, wrong: None, is_over: false }
    }

    /// Returns true if an unread record or a pending error may follow.
    fn is_open(&self) -> bool {
        !self.is_over || self.wrong.is_some()
    }

    /// Returns true if the source has more to read.
    fn goes_on(&self) -> bool {
        !self.is_over && self.wrong.is_none()
    }

    /// Returns true if the next merge needs more of this run; a small remainder suffices if reading may
    /// wait for another process.
    fn is_low(&self) -> bool {
        let held = self.source.held();
        self.goes_on() && (held == 0 || self.source.is_ready() && held < self.most / 2)
    }

    /// Returns true if another process writes this input, and may wait for our output.
    fn may_wait(&self) -> bool {
        !self.is_over && !self.source.is_ready()
    }

    /// Reads more, and keeps any error for later.
    fn read(&mut self) {
        match self.source.read(self.most, &mut self.wrong) {
            Ok(more) => self.is_over = !more,
            Err(error) => self.wrong = Some(error),
        }
    }
}

/// The result of one merge step.
struct Step<T> {
    merged: T,
    read: u64,
    written: u64,
    repeated: u64,
    /// The number of bytes to be written.
    bytes: usize,
}

/// Merges runs: repeatedly lets `merge` merge the records in memory that no unread record can precede,
/// up to a limit, and `write` write them during the next merge.
fn merge_runs<S: MergeSource, T: Send>(
    runs: &mut [Run<S>],
    selection: Selection,
    mut merge: impl FnMut(&mut [Run<S>], u64) -> Option<Step<T>>,
    mut write: impl FnMut(T) -> Result<(), Error> + Send,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let top = selection.first.map_or(u64::MAX, |first| first as u64);
    let (mut merged, mut waiting) = (Merged::default(), None);
    loop {
        let left = top - merged.written;
        let mut next = || {
            if left == 0 {
                return Ok::<_, Error>(None);
            }
            read_more(runs)?;
            // The writer of a pipe may wait for our output.
            Ok(merge(runs, left).map(|step| (step, runs.iter().any(Run::may_wait))))
        };
        let next = match waiting.take() {
            None => next()?,
            Some(made) => thread::scope(|scope| {
                let output = parallel::meanwhile(scope, || write(made));
                let next = next();
                // An error of the output comes first.
                output.wait()?;
                next
            })?,
        };
        let Some((step, may_wait)) = next else { break };
        merged.read += step.read;
        merged.written += step.written;
        merged.repeated += step.repeated;
        if step.bytes < LITTLE || may_wait {
            write(step.merged)?;
        } else {
            waiting = Some(step.merged);
        }
        progress(merged.read);
    }
    if selection.first.is_some() {
        // The number of records read beyond the selection depends on the block size.
        merged.read = merged.written + merged.repeated;
    }
    Ok(merged)
}

/// Reads more of the runs with little left in memory.
fn read_more<S: MergeSource>(runs: &mut [Run<S>]) -> Result<(), Error> {
    let low: Vec<&mut Run<S>> = runs.iter_mut().filter(|run| run.is_low()).collect();
    let (mut ready, mut waiting): (Vec<_>, Vec<_>) = low.into_iter().partition(|run| run.source.is_ready());
    // A small read does not justify waking another thread.
    if ready.iter().map(|run| run.most).sum::<usize>() < LITTLE {
        ready.iter_mut().for_each(|run| run.read());
    } else {
        parallel::map_parts(ready.iter_mut(), |run| run.read());
    }
    waiting.iter_mut().for_each(|run| run.read());
    ready.append(&mut waiting);
    for run in ready {
        while run.source.held() == 0 && run.goes_on() {
            run.read();
        }
    }
    // An error takes effect once no record before the error remains.
    let mut empty = runs.iter_mut().filter(|run| run.source.held() == 0);
    empty.find_map(|run| run.wrong.take()).map_or(Ok(()), Err)
}

/// Returns `most` bytes, or less if little memory is available.
fn within_limits(most: u64) -> u64 {
    if memory::address_space_left().is_some() {
        // The threads take their part of the address space first.
        parallel::threads();
    }
    memory::available().map_or(most, |left| most.min(left / 8))
}

/// The memory of a short record in multiples of its bytes: as read, as kept with its key, and as written.
const TIMES: u64 = 8;

/// The number of merged bytes below which another thread is not worthwhile.
const LITTLE: usize = 1 << 16;

/// Returns the error of an input that is to be merged.
pub(crate) fn not_sorted(Disorder { place, value, before }: Disorder) -> Error {
    Error::input(place, format!("out of order: {value} after {before}")).hinting(Hint::Sort)
}
