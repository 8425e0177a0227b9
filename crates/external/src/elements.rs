//! Merges binary elements. Memory holds a block of each input, and all cores merge the elements that no
//! unread element can precede.
//!
//! ```text
//! input 0   ───────────|─ ─ ─ ▸
//! input 1   ──────|────── ─ ─ ▸     no unread element can precede the least last key in memory
//! input 2   ────────|─────── ▸
//! ```

use std::io::{self, Write};

use gpusort_formats::binary::{self, BinaryInput};
use gpusort_formats::input::opened::Opened;
use gpusort_formats::output::Output;
use gpusort_formats::records::{Print, write_text};
use gpusort_order::key::{KeyMap, Word};

use super::differences::{self, KeyReader};
use super::disorder::{Disorder, not_sorted};
use super::steps::{self, MergeSource, Merged, Step, merge_runs, share};
use crate::error::Error;
use crate::frames::SortedRun;
use crate::key_buf::{KeyBuf, KeyWidth, by_width};
use crate::memory;
use crate::order::{KeyOrder, Selection};
use crate::parallel;

/// An input or a run with its buffered keys.
struct ElementSource<'a, W> {
    origin: Origin<'a, W>,
    order: KeyMap,
    /// The keys in memory, in order; keys before `at` are merged.
    keys: Vec<W>,
    at: usize,
}

enum Origin<'a, W> {
    Input(Box<ElementInput<'a, W>>),
    /// A run, with its name.
    Run(KeyReader, String),
}

/// An input of a merge.
struct ElementInput<'a, W> {
    source: &'a BinaryInput,
    opened: Opened,
    refuses_nan: bool,
    /// The last key of this or an earlier block.
    last: Option<W>,
    /// The bytes of an incomplete element.
    part: Vec<u8>,
    /// The number of bytes and elements read.
    bytes: u64,
    number: u64,
}

/// Elements of a common type, and how to merge them.
pub struct Elements<'a> {
    /// The inputs or runs.
    pub sources: Vec<Source<'a>>,
    /// The order of the elements.
    pub order: KeyMap,
    /// The elements to write.
    pub selection: Selection,
    /// The form of the output.
    pub form: ElementForm,
    /// The approximate memory limit.
    pub memory: u64,
}

/// A source of elements.
pub enum Source<'a> {
    /// A binary input; true if a NaN is an error.
    Input(&'a BinaryInput, Opened, bool),
    /// A run that [`write`](super::differences::write) wrote.
    Run(SortedRun),
}

/// The form of merged elements.
#[derive(Clone, Copy)]
pub enum ElementForm {
    /// Their bits.
    Binary,
    /// Text.
    Text(Print),
    /// A run.
    Run,
}

impl ElementForm {
    /// Writes the elements of these keys, and passes the number of elements written so far to `progress`.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn write(
        self,
        keys: &KeyBuf,
        order: KeyMap,
        to: &mut impl Write,
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        match self {
            Self::Binary => binary::write(keys, order, to, progress),
            Self::Text(print) => write_text(keys.borrowed(), order, print, to, progress),
            Self::Run => differences::write(keys, to).map(drop),
        }
    }
}

type Run<'a, W> = steps::RunCursor<ElementSource<'a, W>>;

impl<'a, W: KeyWidth> ElementSource<'a, W> {
    fn new(source: Source<'a>, order: KeyMap) -> Result<Self, Error> {
        let origin = match source {
            Source::Run(run) => Origin::Run(KeyReader::new(run.reader, run.records), run.name),
            Source::Input(source, opened, refuses_nan) => {
                // For a .npy file, the check of the header included this one.
                if source.count.is_none() {
                    source.check_file()?;
                }
                let opened = source.opened(opened)?;
                let part = Vec::new();
                let input =
                    ElementInput { source, opened, refuses_nan, last: None, part, bytes: 0, number: 0 };
                Origin::Input(Box::new(input))
            }
        };
        Ok(Self { origin, order, keys: Vec::new(), at: 0 })
    }

    /// Returns the unmerged keys in memory.
    fn rest(&self) -> &[W] {
        &self.keys[self.at..]
    }
}

impl<W: KeyWidth> ElementInput<'_, W> {
    /// Reads about `room` bytes, and appends their keys. Sets `wrong` to the error that follows them. Returns true if
    /// the input goes on.
    fn read(
        &mut self,
        room: usize,
        order: KeyMap,
        all: &mut Vec<W>,
        wrong: &mut Option<Error>,
    ) -> Result<bool, Error> {
        let size = order.element.bytes();
        let (opened, part) = (&mut self.opened, &mut self.part);
        let mut read = 0;
        let fill = |bytes: &mut [u8]| {
            let mut filled = part.len();
            bytes[..filled].copy_from_slice(part);
            part.clear();
            loop {
                let count = opened.read_some(&mut bytes[filled..])?;
                (filled, read) = (filled + count, read + count);
                // Takes only the available bytes of a pipe, since its writer may be slow, but at least
                // one element.
                if count == 0 || filled >= size {
                    break;
                }
            }
            let whole = filled - filled % size;
            part.extend_from_slice(&bytes[whole..filled]);
            Ok(whole)
        };
        let mut keys = binary::read_keys(room, self.source, order, fill)?;
        self.bytes += read as u64;
        // At most the number of elements in the header, since readers of the file rely on that number.
        let left = self.source.count.map_or(u64::MAX, |count| count - self.number);
        let is_over = keys.len() as u64 > left || keys.len() as u64 == left && !self.part.is_empty();
        let is_over = keys.is_empty() || is_over;
        if is_over {
            keys.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            *wrong = self.source.check(self.bytes).err();
        }
        *wrong = self.find_wrong(order, &mut keys).or(wrong.take());
        self.number += keys.len() as u64;
        self.last = keys.last().copied().or(self.last);
        all.append(&mut keys);
        Ok(!is_over)
    }

    /// Truncates the keys before the first refused or misplaced key, and returns the error of that key.
    fn find_wrong(&self, order: KeyMap, keys: &mut Vec<W>) -> Option<Error> {
        let (map, mut wrong) = (W::map(order), None);
        if self.refuses_nan
            && let Some(at) = keys.iter().position(|key| key.is_nan(map))
        {
            wrong = Some(self.source.is_nan(self.number + at as u64));
            keys.truncate(at);
        }
        if let Some((at, pair)) = first_broken(keys, self.last.map(W::into), false) {
            let place = format!("{}, element {}", self.opened.name, self.number + at as u64);
            let [before, value] = pair.map(|key| binary::shown(key, order));
            wrong = Some(not_sorted(Disorder { place, value, before }));
            keys.truncate(at);
        }
        wrong
    }
}

impl<W: KeyWidth> MergeSource for ElementSource<'_, W> {
    fn held(&self) -> usize {
        size_of_val(self.rest())
    }

    fn is_ready(&self) -> bool {
        if let Origin::Input(input) = &self.origin { input.opened.is_ready } else { true }
    }

    fn read(&mut self, most: usize, wrong: &mut Option<Error>) -> Result<bool, Error> {
        self.keys.drain(..self.at);
        self.at = 0;
        let room = (most / size_of::<W>()).max(1);
        match &mut self.origin {
            Origin::Input(input) => {
                input.read(room * self.order.element.bytes(), self.order, &mut self.keys, wrong)
            }
            Origin::Run(reader, name) => {
                reader.read(room, &mut self.keys).map_err(|error| Error::io(&*name, "read", error))
            }
        }
    }
}

/// The memory for inputs without a budget: small enough for the caches.
pub(crate) const MEMORY: u64 = 96 << 20;

/// Merges the elements of binary inputs.
pub(crate) fn merge<W: KeyWidth + itoa::Integer>(
    elements: Elements,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let Elements { sources, order, selection, form, memory } = elements;
    // Each key takes memory as read (if narrower than a word), in input order, in the result (twice)
    // and as written.
    let (size, word) = (order.element.bytes(), size_of::<W>());
    let key = if size < word { size } else { 0 } + 4 * word;
    let bytes = (memory / key as u64).saturating_mul(word as u64);
    // Inputs have equal shares.
    let length = |source: &Source| if let Source::Run(run) = source { run.records } else { 1 };
    let all = sources.iter().map(length).sum();
    let run = |source| {
        let share = share(length(&source), all, bytes);
        Ok(Run::new(ElementSource::<W>::new(source, order)?, share))
    };
    let mut runs = sources.into_iter().map(run).collect::<Result<Vec<_>, Error>>()?;
    let write = |keys: Vec<W>| form.write(&keys.into(), order, to, |_| {}).map_err(|error| to.failed(error));
    let mut last = None;
    let merge = |runs: &mut [Run<W>], left| Ok(merge_step(runs, selection.unique, left, &mut last));
    merge_runs(&mut runs, selection, merge, write, progress)
}

/// Merges at most `left` keys in memory that no unread key can precede. With `unique`, drops keys that
/// repeat the key before; `last` is the key before the first one.
fn merge_step<W: KeyWidth>(
    runs: &mut [Run<W>],
    unique: bool,
    left: u64,
    last: &mut Option<W>,
) -> Option<Step<Vec<W>>> {
    // The least last key of the runs that may go on, and the first run with that key.
    let open = runs.iter().enumerate().filter(|(_, run)| run.is_open());
    let limit = open.filter_map(|(number, run)| Some((*run.source.rest().last()?, number))).min();
    let certain = |(number, run): (usize, &Run<W>)| match limit {
        None => run.source.rest().len(),
        Some(limit) => run.source.rest().partition_point(|&key| (key, number) <= limit),
    };
    let counts: Vec<usize> = runs.iter().enumerate().map(certain).collect();
    let count = counts.iter().sum();
    if count == 0 {
        return None;
    }
    let slices: Vec<&[W]> =
        runs.iter().zip(&counts).map(|(run, &count)| &run.source.rest()[..count]).collect();
    let mut merged = vec![W::default(); count];
    gpusort_cpu::merge(&slices, &mut merged);
    runs.iter_mut().zip(&counts).for_each(|(run, count)| run.source.at += count);
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let repeated = if unique { drop_repeated(&mut merged, last, left) } else { 0 };
    merged.truncate(left);
    let (bytes, written) = (size_of_val(&merged[..]), merged.len() as u64);
    Some(Step { merged, read: count as u64, written, repeated, bytes })
}

/// Drops keys that repeat the key before; `last` is the key before the first one. Returns the number of repetitions
/// before `most` keys are kept.
fn drop_repeated<W: Word>(keys: &mut Vec<W>, last: &mut Option<W>, most: usize) -> u64 {
    let (mut kept, mut repeated) = (0, 0);
    keys.retain(|&key| {
        let repeats = last.replace(key) == Some(key);
        if kept < most {
            kept += usize::from(!repeats);
            repeated += u64::from(repeats);
        }
        !repeats
    });
    repeated
}

/// Finds the first key less than the key before it, or with `unique` equal to it. Returns its index and the two keys.
/// `last` precedes the first key.
pub(crate) fn first_broken<W: Word>(
    keys: &[W],
    last: Option<u64>,
    unique: bool,
) -> Option<(usize, [u64; 2])> {
    /// The number of keys that a core compares at once.
    const PART: usize = 1 << 16;
    let broken = |a: u64, b: u64| a > b || unique && a == b;
    let first = last.zip(keys.first()).map(|(last, &first)| [last, first.into()]);
    if let Some(pair) = first.filter(|&[last, first]| broken(last, first)) {
        return Some((0, pair));
    }
    let is_broken = |pair: &[W]| broken(pair[0].into(), pair[1].into());
    let piece = |number: usize| &keys[number * PART..keys.len().min((number + 1) * PART + 1)];
    let in_piece = |number| piece(number).windows(2).position(is_broken).map(|at| number * PART + at);
    let pieces = keys.len().saturating_sub(1).div_ceil(PART);
    let at = parallel::map_parts(0..pieces, in_piece).into_iter().flatten().next();
    at.map(|at| (at + 1, [keys[at].into(), keys[at + 1].into()]))
}

/// The first element out of order, if any: the source, the element's index in it, and the keys of
/// the element before and of this one. With `unique`, a repeated key is out of order too.
pub(crate) fn first_disorder(
    sources: &[BinaryInput],
    direction: KeyOrder,
    unique: bool,
    progress: impl Fn(u64),
) -> Result<Option<(usize, u64, [u64; 2])>, Error> {
    // A key may have four times the size of its element, and no key is kept.
    let most = memory::available().map_or(u64::MAX, |bytes| bytes / 16);
    let mut last: Option<u64> = None;
    let mut passed = 0;
    for (number, source) in sources.iter().enumerate() {
        let mut before = 0;
        let mut reader = binary::Reader::new(std::slice::from_ref(source), direction, most);
        while let Some(keys) = reader.read()? {
            progress(passed + reader.bytes);
            // The reader returns one block.
            if let Some((place, pair)) = by_width!(&keys, blocks => first_broken(&blocks[0], last, unique)) {
                return Ok(Some((number, before + place as u64, pair)));
            }
            last = keys.ends().map(|[_, last]| last);
            before += keys.len() as u64;
        }
        passed += reader.bytes;
    }
    Ok(None)
}
