//! Sorted inputs: checking and merging them in little memory.

mod elements;
mod positions;
mod records;

use std::collections::VecDeque;
use std::io::Write;

pub(crate) use self::positions::{PositionReader, Positions, type_among, write as write_positions};
use super::binary::{self, Source};
use super::counts::Counts;
use super::csv::Dialect;
use super::number::PerLine;
use super::output::Output;
use super::records::Print;
use super::source::{Input, MARK, Opened, may_be_open};
use super::stream::cell::Typing;
use super::stream::{Expected, How, Keys, Kind, Model, Stream, Stretches};
use crate::error::{Error, Hint};
use crate::key::KeyWords;
use crate::memory;
use crate::order::{KeyOrder, Reading, Selection};
use crate::parallel;

/// A violation of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// The record: `file:line`, with the column if there are several keys; or the file and an index from 0.
    pub place: String,
    /// Its key as it is spelled there.
    pub value: String,
    /// That of the record before it.
    pub before: String,
}

/// Inputs, with their types and columns as far as known.
struct Inputs<'a> {
    how: &'a How,
    all: &'a [Input],
    typings: Vec<Typing>,
    /// The columns of tables without a header.
    model: Option<Model>,
    /// Bytes read from an input at once.
    block: usize,
    /// Whether there are too many inputs to keep open, so that files are open only during reads.
    shut: bool,
}

/// Bytes read at once from all inputs together, and the range for one.
const BLOCKS: usize = 8 << 20;
const ONE_BLOCK: std::ops::Range<usize> = 1 << 12..1 << 18;

impl<'a> Inputs<'a> {
    /// Inputs of which `together` are read at the same time.
    ///
    /// # Errors
    ///
    /// Standard input is named more than once.
    fn new(all: &'a [Input], how: &'a How, together: usize) -> Result<Self, Error> {
        if all.iter().filter(|input| input.is_stdin()).count() > 1 {
            return Err(Error::input(Input::Stdin.name(), "is named twice, and can be read once"));
        }
        let block = (BLOCKS / together.max(1)).clamp(ONE_BLOCK.start, ONE_BLOCK.end);
        let shut = !may_be_open(together);
        Ok(Self { how, all, typings: Vec::new(), model: None, block, shut })
    }

    fn opened(&self, number: usize) -> Result<Opened, Error> {
        let input = &self.all[number];
        if self.shut { input.open_to_read() } else { input.open() }
    }

    fn open(&mut self, number: usize) -> Result<Stream, Error> {
        let opened = self.opened(number)?;
        // Elements of binary inputs are read in blocks, not here.
        let Kind::Table(dialect) = &self.how.kind else {
            let per_line = if let Kind::Text(per_line) = self.how.kind { per_line } else { PerLine::Any };
            let stream = Stream::text(opened, self.block, per_line)?;
            self.expect(&stream);
            return Ok(stream);
        };
        let stream = Stream::table(opened, self.block, *dialect, &self.how.by, self.model.as_ref())?;
        if !dialect.header && self.model.is_none() {
            self.model = stream.columns().map(|columns| columns.model.clone());
        }
        self.expect(&stream);
        Ok(stream)
    }

    /// Adds the state of the types of the stream's keys.
    fn expect(&mut self, stream: &Stream) {
        let keys = self.typings.len().max(stream.keys());
        self.typings.resize_with(keys, || Typing::new(self.how.by.element, self.how.by.order));
    }

    /// Sets the columns of streams that have only blank lines so far, once no later input can determine them.
    fn settle<'s>(&mut self, streams: impl IntoIterator<Item = &'s mut Stream>) -> Result<(), Error> {
        let Kind::Table(dialect) = self.how.kind else { return Ok(()) };
        for stream in streams.into_iter().filter(|stream| stream.is_open()) {
            let model = match self.model.take() {
                Some(model) => model,
                None => Model::of_blank_lines(&self.how.by, stream.name())?,
            };
            stream.settle(&model, dialect, &self.how.by);
            self.model = Some(model);
            self.expect(stream);
        }
        Ok(())
    }

    /// Advances to the next record of the stream; false at its end.
    fn advance(&mut self, stream: &mut Stream) -> Result<bool, Error> {
        if !stream.find()? {
            return Ok(false);
        }
        while !stream.read(&mut self.typings)? {
            // The keys before the undecided one are read again.
            self.typings.iter_mut().zip(&stream.cells).for_each(|(typing, &cell)| typing.uncount(cell));
            self.look_ahead()?;
        }
        Ok(true)
    }

    /// Finds the columns that have decimals, by reading all inputs from the beginning.
    fn look_ahead(&mut self) -> Result<(), Error> {
        if let Some(stdin) = self.all.iter().find(|input| !input.can_be_read_again()) {
            let problem = "there is -0, which is 0 among integers and less than 0 among decimals, and this input \
                           cannot be read twice";
            let error = Error::input(stdin.name(), problem);
            // A type would not say that they are sizes.
            let is_size = self.how.by.order.reading == Reading::Sizes;
            return Err(if is_size { error } else { error.hinting(Hint::Type) });
        }
        let mut ahead = Self { typings: Vec::new(), model: self.model.clone(), ..*self };
        for number in 0..self.all.len() {
            let mut stream = ahead.open(number)?;
            ahead.settle([&mut stream])?;
            while stream.find()? {
                stream.look_at(&mut ahead.typings);
            }
        }
        let mut pairs = self.typings.iter_mut().zip(&ahead.typings);
        pairs.try_for_each(|(typing, ahead)| typing.decide(ahead.is_float()))
    }

    /// Any error about the types, after all inputs were read.
    fn end(&self) -> Result<(), Error> {
        self.typings.iter().try_for_each(Typing::end)
    }

    /// The types of the keys, separated by commas.
    fn types(&self) -> String {
        self.typings.iter().map(Typing::name).collect::<Vec<_>>().join(",")
    }
}

/// The previous record of a sequence.
#[derive(Default)]
struct Last(Option<Keys>);

impl Last {
    /// The violation, if the record that comes next is one. Replaces the last record.
    fn follow(&mut self, stream: &Stream, expected: Expected) -> Option<Disorder> {
        let Some(before) = &mut self.0 else {
            stream.copy_keys(self.0.insert(Keys::default()));
            return None;
        };
        let (order, key) = stream.compare(&before.cells, &stream.cells, expected.order);
        let disorder = (!expected.allows(order)).then(|| Disorder {
            place: stream.place(key),
            value: stream.cells[key].shown(&stream.token(key)),
            before: before.cells[key].shown(&before.tokens[key]),
        });
        stream.copy_keys(before);
        disorder
    }
}

/// The first violation of the order in the concatenated inputs; with `unique`, repeated keys violate it too. Calls
/// `progress` with the bytes read so far.
///
/// # Errors
///
/// I/O errors, and any error of a sort that occurs before the first violation.
pub fn check(
    inputs: &[Input],
    how: &How,
    unique: bool,
    stretches: &Stretches,
    progress: impl Fn(u64),
) -> Result<Option<Disorder>, Error> {
    if let Kind::Bits(sources) = &how.kind {
        let found = binary::first_disorder(sources, how.by.order, unique, progress)?;
        return Ok(found.map(|(number, element, keys)| {
            let order = how.by.order.map(sources[number].element());
            let [before, value] = keys.map(|key| binary::shown(key, order));
            Disorder { place: format!("{}, element {element}", inputs[number].name()), value, before }
        }));
    }
    let mut inputs = Inputs::new(inputs, how, 1)?;
    let mut last = Last::default();
    let mut first: Option<Stream> = None;
    let mut opened: VecDeque<Stream> = VecDeque::new();
    let mut passed = 0;
    let expected = Expected { order: how.by.order, unique };
    for number in 0..inputs.all.len() {
        if opened.is_empty() {
            opened.push_back(inputs.open(number)?);
        }
        // A later input may determine whether blank lines are rows.
        while inputs.model.is_none() && opened[0].is_open() && number + opened.len() < inputs.all.len() {
            let next = inputs.open(number + opened.len())?;
            opened.push_back(next);
        }
        inputs.settle(&mut opened)?;
        let Some(mut stream) = opened.pop_front() else { break };
        same_columns(first.as_ref(), &stream)?;
        loop {
            let progress = &mut |done| progress(passed + done);
            stream.pass_ordered(&mut inputs.typings, &mut last.0, expected, stretches, progress)?;
            if !inputs.advance(&mut stream)? {
                break;
            }
            if let Some(disorder) = last.follow(&stream, expected) {
                return Ok(Some(disorder));
            }
        }
        passed += stream.passed();
        if first.as_ref().is_none_or(|first| first.columns().is_none()) {
            first = Some(stream);
        }
    }
    inputs.end()?;
    Ok(None)
}

fn same_columns(first: Option<&Stream>, other: &Stream) -> Result<(), Error> {
    match first.filter(|first| !first.is_like(other)) {
        Some(first) => Err(Error::input(other.name(), format!("has another header than {}", first.name()))),
        None => Ok(()),
    }
}

/// How elements of binary inputs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Unchanged: tokens one per line, rows, the bits of elements.
    AsRead,
    /// Elements as text.
    InText(Print),
}

/// Results of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Records read.
    pub read: u64,
    /// Records written.
    pub written: u64,
    /// Records left out as repetitions of the key before them.
    pub repeated: u64,
    /// The types of the keys.
    pub types: String,
    /// Nulls and left-out records.
    pub counts: Counts,
}

/// Merges inputs that are each in order and writes the selected records; equal ones keep the inputs' order.
///
/// # Errors
///
/// I/O errors; an input that is not in order; any error of a sort.
pub fn merge(
    inputs: &[Input],
    how: &How,
    selection: Selection,
    written: Written,
    to: &mut Output,
    mut progress: impl FnMut(u64),
) -> Result<Merged, Error> {
    let mut inputs = Inputs::new(inputs, how, inputs.len())?;
    if let Kind::Bits(sources) = &how.kind {
        let opened = (0..sources.len()).map(|number| inputs.opened(number));
        let runs = sources.iter().zip(opened.collect::<Result<Vec<_>, _>>()?).collect();
        let direction = how.by.order;
        let memory = within_limits(elements::MEMORY);
        let elements = Elements { runs, direction, selection, written, memory, positions: None };
        return merge_elements(elements, Some(to), &mut progress);
    }
    let mut streams = Vec::with_capacity(inputs.all.len());
    let mut first = None;
    for number in 0..inputs.all.len() {
        let mut stream = inputs.open(number)?;
        same_columns(first.map(|first: usize| &streams[first]), &stream)?;
        if number > 0 {
            stream.left_out.comments += stream.passed_comments();
        }
        first = first.or(stream.columns().map(|_| number));
        streams.push(stream);
    }
    inputs.settle(&mut streams)?;
    let mut head = Vec::new();
    if streams.first().is_some_and(|first| first.mark && first.has_rows()) {
        head.extend_from_slice(MARK);
    }
    if let Some(first) = streams.first_mut() {
        head.append(&mut first.comments);
    }
    if let Some(columns) = streams.iter().find_map(Stream::columns) {
        head.extend_from_slice(&columns.header);
    }
    let bytes = (within_limits(BLOCKS as u64 * TIMES) / TIMES) as usize;
    to.write_all(&head).map_err(|error| to.failed(error))?;
    records::merge(inputs, streams, selection, bytes, Some(to), None, &mut progress)
}

/// Binary elements of a common type, and what is asked of them.
pub(crate) struct Elements<'a> {
    pub(crate) runs: Vec<(&'a Source, Opened)>,
    pub(crate) direction: KeyOrder,
    pub(crate) selection: Selection,
    pub(crate) written: Written,
    /// About the most memory to take for them.
    pub(crate) memory: u64,
    pub(crate) positions: Option<Positions<'a>>,
}

/// Merges runs of elements, and writes them if there is where.
pub(crate) fn merge_elements(
    elements: Elements,
    to: Option<&mut Output>,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let merge = match elements.runs.first().map(|(source, _)| source.element().key_words()) {
        Some(KeyWords::Two) => elements::merge::<u64>,
        _ => elements::merge::<u32>,
    };
    merge(elements, to, progress)
}

/// At most this much memory, and less where there is little.
fn within_limits(most: u64) -> u64 {
    if memory::address_space_left().is_some() {
        // Threads take their part of it first.
        parallel::threads();
    }
    memory::available().map_or(most, |left| most.min(left / 8))
}

/// A short record takes this many times its bytes: as read, as it is kept with its key, and as it is written.
const TIMES: u64 = 8;

/// What is known of records in runs.
pub(crate) struct KnownRecords<'a> {
    pub(crate) how: &'a How,
    /// Whether each key is a float.
    pub(crate) are_floats: &'a [bool],
    /// The columns of rows.
    pub(crate) model: Option<Model>,
    /// The number of all records, and their bytes.
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// About the most memory to take for them.
    pub(crate) memory: u64,
    pub(crate) positions: Option<Positions<'a>>,
}

/// Merges records of runs that are in order, tokens or rows, and writes them if there is where.
pub(crate) fn merge_records(
    runs: Vec<Opened>,
    known: KnownRecords,
    selection: Selection,
    to: Option<&mut Output>,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let KnownRecords { how, are_floats, model, records, bytes, memory, positions } = known;
    let length = bytes / records.max(1) + 1;
    let times = 4 + records::BESIDE_BYTES.saturating_add(16 * are_floats.len() as u64).div_ceil(length);
    let bytes = usize::try_from(memory / times).unwrap_or(usize::MAX);
    let block = records::stretch_of(runs.len(), bytes);
    let mut streams = Vec::with_capacity(runs.len());
    for opened in runs {
        streams.push(match &how.kind {
            Kind::Table(dialect) => {
                let dialect = Dialect { header: false, comments: false, ..*dialect };
                Stream::table(opened, block, dialect, &how.by, model.as_ref())?
            }
            _ => Stream::text(opened, block, PerLine::Any)?,
        });
    }
    let mut typings = Vec::with_capacity(are_floats.len());
    for &is_float in are_floats {
        let mut typing = Typing::new(how.by.element, how.by.order);
        typing.decide(is_float)?;
        typings.push(typing);
    }
    let inputs = Inputs { how, all: &[], typings, model: None, block, shut: false };
    records::merge(inputs, streams, selection, bytes, to, positions, progress)
}

/// What is written of merged records at once that is not worth another thread's while.
const LITTLE: usize = 1 << 16;

fn not_sorted(place: String, value: &str, before: &str) -> Error {
    let problem = format!("{value} after {before}, so this input is not sorted");
    Error::input(place, problem).hinting(Hint::Sort)
}
