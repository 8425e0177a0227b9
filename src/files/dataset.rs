//! From inputs to an output: read, order, write.
//!
//! ```text
//! inputs ── read ──> Dataset ── order ──> Outcome ── write ──> output
//!                    keys and payload     words on a device
//! ```
//!
//! A dataset is keys and a payload, which says what the keys stand for: numbers that are printed
//! anew, tokens of a text that keep their spelling, or rows of a table. Elements of binary files
//! may still be read while the first of them are on their way to a device, and blocks of sorted
//! keys are written while later ones are on their way back.

use std::io;
use std::sync::mpsc;
use std::thread::Scope;
use std::time::Duration;

use gpusort_planner::key::{ElementType, KeyMap, KeyWords};
use gpusort_planner::plan::Shape;

use super::progress::{Phase, Watch};
use crate::clock::Instant;
use crate::error::Error;
use crate::format::Format;
use crate::io::Ties;
use crate::io::batch::Keyed;
use crate::io::binary::{self, BinaryInput};
use crate::io::records::{Print, write_text};
use crate::io::{Counts, Doubt, InputKind, InputSpec, Output};
use crate::key_buf::KeyBuf;
use crate::method::Method;
use crate::order::Selection;
use crate::parallel::{self, Meanwhile};
use crate::report::Report;
use crate::sorter::{self, Incoming, Ordered, Request, Sorted, Sorter};

/// What is requested of a dataset.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputSpec {
    /// The records to be written.
    pub(super) selection: Selection,
    /// Whether to write their positions in the input, from 0, instead of the records.
    pub(super) positions: bool,
    /// The method of sorting.
    pub(super) method: Method,
    /// The format of the output.
    pub(super) format: Format,
}

/// Records that were read, or are being read.
pub(super) struct Dataset<'a> {
    pub(super) content: Content<'a>,
    /// Bytes of input.
    pub(super) bytes: u64,
    /// The thread that still reads, or has read, and the time it took.
    pub(super) reading: Meanwhile<'a, Duration>,
    /// The time it took to make keys of text.
    pub(super) parsing: Duration,
    /// The names of the types of the keys, separated by commas; of one of several parts, those so
    /// far.
    pub(super) types: String,
    /// The map of numbers, once all are read; rows have none.
    pub(super) map: Option<KeyMap>,
}

/// Keys and what they stand for.
pub(super) enum Content<'a> {
    /// Elements, or numbers that are printed as they were read.
    Numbers { keys: Incoming<'a>, map: KeyMap, print: Print, comments: u64 },
    /// Records, by words of which the next decides where those before it are equal, once these are
    /// made of the keys. Records of several parts keep their keys.
    Records { words: Vec<KeyBuf<'a>>, ties: Option<Ties>, records: Keyed, are_all: bool },
}

impl Content<'_> {
    /// Elements of binary files.
    pub(super) fn of_elements(keys: Incoming, map: KeyMap) -> Content {
        Content::Numbers { keys, map, print: Print::Shortest, comments: 0 }
    }
}

/// The number of records of binary inputs, where their sizes are known.
pub(super) fn count(how: &InputSpec) -> Option<u64> {
    let InputKind::Bits(sources) = &how.kind else { return None };
    let bytes = sources.iter().map(BinaryInput::size).sum::<Option<u64>>()?;
    Some(bytes / element_of(sources).bytes() as u64)
}

/// Reads binary files of known sizes on another thread, so that keys are on their way to a device
/// before the last are read; `None` for other formats and for pipes.
pub(super) fn read_meanwhile<'a>(
    how: &'a InputSpec,
    watch: &'a Watch<'a>,
    scope: &'a Scope<'a, '_>,
) -> Option<Dataset<'a>> {
    let InputKind::Bits(sources) = &how.kind else { return None };
    let map = how.by.order.map(element_of(sources));
    let n = count(how)?;
    let bytes = n * map.element.bytes() as u64;
    let (sender, receiver) = mpsc::channel();
    watch.phase(Phase::Read, Some(bytes));
    let reading = parallel::meanwhile(scope, move || {
        let start = Instant::now();
        let mut reader = binary::Reader::new(sources, how.by.order);
        while let Some(keys) = reader.read().transpose() {
            watch.set(reader.bytes);
            let is_last = keys.is_err();
            // If nobody receives them, another error has ended the sort.
            if sender.send(keys).is_err() || is_last {
                break;
            }
        }
        start.elapsed()
    });
    let keys = Incoming::new(usize::try_from(n).ok()?, map.element.key_words(), receiver.into_iter());
    Some(Dataset {
        content: Content::of_elements(keys, map),
        bytes,
        reading,
        parsing: Duration::ZERO,
        types: map.element.name().to_owned(),
        map: Some(map),
    })
}

/// The type of all sources, of which there is at least one.
pub(super) fn element_of(sources: &[BinaryInput]) -> ElementType {
    sources.first().map_or(ElementType::U32, BinaryInput::element)
}

impl<'a> Dataset<'a> {
    /// The number of records.
    pub(super) fn len(&self) -> usize {
        match &self.content {
            Content::Numbers { keys, .. } => keys.n,
            Content::Records { records, .. } => records.len(),
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are still to be read.
    pub(super) fn unread(&self) -> u64 {
        if self.reading.is_done() { 0 } else { self.bytes }
    }

    /// The shape of the sort's elements.
    ///
    /// # Errors
    ///
    /// Texts that are too long.
    pub(super) fn shape(&mut self, ask: &OutputSpec) -> Result<Shape, Error> {
        let start = Instant::now();
        let elements = self.map.filter(|_| ask.format.is_bits() && !ask.positions);
        let shape = match (&mut self.content, elements) {
            (Content::Numbers { keys, .. }, _) => Shape { key: keys.width, payload: ask.positions },
            (_, Some(map)) => Shape { key: map.element.key_words(), payload: false },
            (Content::Records { words, ties, records, are_all }, None) => {
                if *are_all && words.is_empty() {
                    let taken = records.take_words()?;
                    (*words, *ties) = (taken.words, taken.ties);
                }
                Shape { key: words.iter().map(KeyBuf::width).max().unwrap_or(KeyWords::Two), payload: true }
            }
        };
        self.parsing += start.elapsed();
        Ok(shape)
    }

    /// The type of the elements to be written; `None` for rows.
    pub(super) fn written(&self, ask: &OutputSpec) -> Option<ElementType> {
        match (&self.content, self.map) {
            _ if ask.positions => Some(ElementType::U32),
            (Content::Numbers { map, .. }, _) => Some(map.element),
            (Content::Records { .. }, map) => map.map(|map| map.element),
        }
    }

    /// The keys of numbers, all of them, and the map that they are by; `None` for rows.
    ///
    /// # Errors
    ///
    /// What goes wrong with reading the rest.
    pub(super) fn into_keys(self) -> Result<Option<(KeyBuf<'a>, KeyMap)>, Error> {
        Ok(match (self.content, self.map) {
            (Content::Numbers { keys, map, .. }, _) => Some((keys.collect()?, map)),
            (Content::Records { records, .. }, Some(map)) => Some((records.elements(map), map)),
            (Content::Records { .. }, None) => None,
        })
    }

    /// Counts of nulls and of left-out records.
    pub(super) fn counts(&self) -> Counts {
        match &self.content {
            Content::Numbers { comments, .. } => Counts { comments: *comments, ..Counts::default() },
            Content::Records { records, .. } => records.counts.clone(),
        }
    }

    /// What may not be meant.
    pub(super) fn doubts(&self) -> &[Doubt] {
        match &self.content {
            Content::Records { records, .. } => &records.doubts,
            Content::Numbers { .. } => &[],
        }
    }

    /// Orders the records, as far as requested.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::order`].
    pub(super) fn order<'s>(
        mut self,
        sorter: &'s Sorter,
        ask: OutputSpec,
        watch: &Watch,
    ) -> Result<Outcome<'s, 'a>, Error> {
        watch.phase(Phase::Order, None);
        let mut counted = false;
        let mut passes = |done, total| {
            if !std::mem::replace(&mut counted, true) {
                watch.phase(Phase::Order, Some(total));
            }
            watch.set(done);
        };
        let n = self.len();
        let _ = self.shape(&ask)?;
        let (map, request, form) = match self.content {
            Content::Numbers { keys, .. } if ask.positions => {
                (POSITIONS, Request::positions(keys), Written::Numbers(Print::Shortest))
            }
            Content::Numbers { keys, map, print, .. } => (map, Request::keys(keys), Written::Numbers(print)),
            Content::Records { words, ties: Some(ties), records, .. } => {
                let done = order_records(&records, words, Some(&ties), sorter, &ask, &mut passes)?;
                let form =
                    if ask.positions { Written::Positions(records) } else { Written::Records(records) };
                let Self { reading, parsing, .. } = self;
                let ordered = Ordered::in_memory(done.words, done.repeated, done.report);
                return Ok(Outcome {
                    ordered,
                    map: POSITIONS,
                    form,
                    n,
                    format: ask.format,
                    reading,
                    parsing,
                });
            }
            Content::Records { mut words, mut records, .. } => {
                match self.map.filter(|_| ask.format.is_bits()) {
                    Some(map) if !ask.positions => {
                        let request = Request::keys(records.elements(map));
                        (map, request, Written::Numbers(Print::Shortest))
                    }
                    _ if ask.positions => {
                        (POSITIONS, Request::positions_by(words), Written::Positions(records))
                    }
                    _ => match records.take_places(&words) {
                        Some(places) => {
                            (POSITIONS, Request::records(words.remove(0), places), Written::Places(records))
                        }
                        None => (POSITIONS, Request::positions_by(words), Written::Records(records)),
                    },
                }
            }
        };
        let ordered = sorter.order(request.select(ask.selection).by(ask.method), &mut passes)?;
        let Self { reading, parsing, .. } = self;
        Ok(Outcome { ordered, map, form, n, format: ask.format, reading, parsing })
    }
}

/// Orders records by these words, and by their keys where words tie: their numbers, as far as they
/// are asked for.
///
/// # Errors
///
/// As for [`Sorter::run`].
pub(super) fn order_records(
    records: &Keyed,
    words: Vec<KeyBuf>,
    ties: Option<&Ties>,
    sorter: &Sorter,
    ask: &OutputSpec,
    progress: sorter::Progress,
) -> Result<Sorted, Error> {
    let Some(ties) = ties else {
        return sorter.run(Request::positions_by(words).select(ask.selection).by(ask.method), progress);
    };
    let request = Request::positions_by(words.iter().map(KeyBuf::borrowed).collect());
    let Sorted { words: order, mut report, .. } = sorter.run(request.by(ask.method), progress)?;
    let mut order = order.into_vec::<u32>().unwrap_or_default();
    let (start, all) = (Instant::now(), order.len());
    records.settle(ties, &mut order, &words, ask.selection.unique);
    let repeated = all - order.len();
    order.truncate(ask.selection.first.unwrap_or(usize::MAX));
    report.sort.time += start.elapsed();
    Ok(Sorted { words: order.into(), repeated, report })
}

/// The map of positions, which are their own keys.
const POSITIONS: KeyMap = KeyMap { element: ElementType::U32, descending: false, nan_first: false };

/// Records in order.
pub(super) struct Outcome<'s, 'a> {
    ordered: Ordered<'s>,
    /// The map of the ordered words, if they are keys or positions.
    map: KeyMap,
    form: Written,
    /// The number of records read.
    n: usize,
    format: Format,
    reading: Meanwhile<'a, Duration>,
    parsing: Duration,
}

/// What is written, and what the ordered words are.
enum Written {
    /// Elements: their keys.
    Numbers(Print),
    /// These records: their numbers.
    Records(Keyed),
    /// These records: their places.
    Places(Keyed),
    /// The positions of these records among all that were read: their numbers.
    Positions(Keyed),
}

/// The report on a pipeline.
#[derive(Debug)]
pub(super) struct Done {
    /// The report on the sort.
    pub(super) report: Report,
    /// The time it took to read the input.
    pub(super) reading: Duration,
    /// The time it took to make keys of it.
    pub(super) parsing: Duration,
    /// The time it took to write.
    pub(super) writing: Duration,
    /// Records left out because their keys were repeated.
    pub(super) repeated: usize,
    /// Records left out after the first ones.
    pub(super) cut: usize,
}

impl<'a> Outcome<'_, 'a> {
    /// The first and the last of the ordered words, if they are in memory and there are any.
    pub(super) fn ends(&self) -> Option<[u64; 2]> {
        self.ordered.ends()
    }

    /// The same in memory, so that the device is free.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    pub(super) fn brought(self) -> Result<Outcome<'static, 'a>, Error> {
        let Self { ordered, map, form, n, format, reading, parsing } = self;
        let Sorted { words, repeated, report } = ordered.bring()?;
        let ordered = Ordered::in_memory(words, repeated, report);
        Ok(Outcome { ordered, map, form, n, format, reading, parsing })
    }

    /// Writes the records; the caller finishes the output.
    ///
    /// # Errors
    ///
    /// I/O errors; a failure of the device.
    pub(super) fn write(self, output: &mut Output, watch: &Watch) -> Result<Done, Error> {
        let Self { ordered, map, form, n, format, reading, parsing } = self;
        let len = ordered.count();
        let mut writing = Duration::ZERO;
        let mut timed = |output: &mut Output, write: &mut dyn FnMut(&mut Output) -> io::Result<()>| {
            let start = Instant::now();
            write(output).map_err(|error| output.failed(error))?;
            writing += start.elapsed();
            Ok::<_, Error>(())
        };
        let announce = || watch.phase(Phase::Write, Some(len as u64));
        let progress = |done| watch.set(done);
        let (repeated, report) = match form {
            Written::Records(records) => {
                let sorted = ordered.bring()?;
                announce();
                let order = sorted.words.into_vec().unwrap_or_default();
                timed(output, &mut |output| records.write(&order, output, progress))?;
                (sorted.repeated, sorted.report)
            }
            Written::Places(records) => {
                let sorted = ordered.bring()?;
                announce();
                let places = sorted.words.into_vec().unwrap_or_default();
                timed(output, &mut |output| records.write_places(&places, output, progress))?;
                (sorted.repeated, sorted.report)
            }
            form => {
                let print = if let Written::Numbers(print) = form { print } else { Print::Shortest };
                let (mut before, mut is_begun) = (0, false);
                let mut begin = |output: &mut Output| {
                    if !std::mem::replace(&mut is_begun, true) {
                        announce();
                        if format == Format::Npy {
                            output.write_header(map.element, len as u64)?;
                        }
                    }
                    Ok::<_, Error>(())
                };
                let done = ordered.take(&mut |block| {
                    begin(output)?;
                    let block = match &form {
                        Written::Positions(records) => {
                            records.positions(block.into_vec().unwrap_or_default()).into()
                        }
                        _ => block,
                    };
                    let progress = |done| progress(before + done);
                    timed(output, &mut |output| match format {
                        format if !format.is_bits() => {
                            write_text(block.borrowed(), map, print, output, progress)
                        }
                        _ => binary::write(&block, map, output, progress),
                    })?;
                    before += block.len() as u64;
                    Ok(())
                })?;
                // Without elements there was no block.
                begin(output)?;
                done
            }
        };
        let reading = reading.wait();
        Ok(Done { report, reading, parsing, writing, repeated, cut: n - repeated - len })
    }
}
