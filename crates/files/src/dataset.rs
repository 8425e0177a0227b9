//! Reads inputs, orders their records and writes an output.
//!
//! ```text
//! inputs ── read ──> Dataset ── order ──> Outcome ── write ──> output
//!                    keys and payload     words on a device
//! ```
//!
//! A dataset has keys and a payload. The payload is numbers to print, tokens of a text in their original
//! spelling, or rows of a table. Reading a binary file overlaps with the transfer of its first elements
//! to a device, and writing overlaps with the transfer of sorted elements back.

use std::sync::mpsc;
use std::thread::Scope;
use std::time::Duration;
use std::{io, mem};

use gpusort_order::{ElementType, KeyMap, KeyWords, Method, Selection, Shape};

use super::progress::{Phase, Watch};
use super::report::{Phases, Report};
use crate::columns::order_words;
use gpusort_base::clock::{Instant, timed};
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_base::parallel::{self, Meanwhile};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::{self, Incoming, Ordered, Request, Sorted, Sorter};
use gpusort_external::ElementForm;
use gpusort_formats::batch::KeyedBatch;
use gpusort_formats::binary::{self, BinaryInput};
use gpusort_formats::numbers::span::Census;
use gpusort_formats::{Counts, InputKind, InputSpec, Output, Print, Ties, Words};

/// The requested order and output of a dataset.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputSpec {
    /// The records to write.
    pub(super) selection: Selection,
    /// If true, writes positions in the input, from 0, instead of records.
    pub(super) positions: bool,
    /// The answer to write instead of all records.
    pub(super) answer: Option<Answer>,
    pub(super) method: Method,
    /// The format of the output.
    pub(super) format: Format,
}

/// An answer about the records of each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The first record, after the number of records.
    Counts,
    /// The fields of the keys, after the number of records.
    CountsOfKeys,
    /// The first record, in the order of the input.
    InputOrder,
    /// The first few records of each value of a column.
    Per,
}

impl Answer {
    /// Returns true if records are counted.
    pub(super) fn is_counted(self) -> bool {
        matches!(self, Self::Counts | Self::CountsOfKeys)
    }

    /// Returns true if all invalid fields of a key count as equal.
    pub(super) fn merges_invalid(self) -> bool {
        self == Self::CountsOfKeys
    }

    /// Gives each counted record the number of records that it stands for.
    pub(super) fn with_counts(self, records: KeyedBatch, how: &InputSpec) -> KeyedBatch {
        let are_groups = self == Self::CountsOfKeys && matches!(how.kind, InputKind::Table(_));
        if are_groups || !self.is_counted() { records } else { records.with_counts(None) }
    }
}

/// Records of an input; elements of binary files may still be being read.
pub(super) struct Dataset<'a> {
    pub(super) content: Content<'a>,
    /// The nulls among numbers of text that became elements.
    pub(super) counts: Counts,
    /// Bytes of input.
    pub(super) bytes: u64,
    /// The thread that reads; it returns the time taken.
    pub(super) reading: Meanwhile<'a, Duration>,
    /// The time taken to make keys from text.
    pub(super) parsing: Duration,
}

/// Keys and their payload.
#[allow(clippy::large_enum_variant, reason = "there are few of them")]
pub(super) enum Content<'a> {
    /// Elements, or numbers to print as they were read.
    Numbers { keys: Incoming<'a>, map: KeyMap, print: Print },
    /// Records, with the words that order them once these are made of their keys.
    Records { records: KeyedBatch, words: Option<Words<'static>> },
}

impl Content<'_> {
    /// The records with their keys; numbers become the records that print them.
    ///
    /// # Errors
    ///
    /// Errors from reading the remaining input.
    pub(super) fn into_records(self, how: &InputSpec) -> Result<KeyedBatch, Error> {
        Ok(match self {
            Content::Records { records, .. } => records,
            Content::Numbers { keys, map, print } => {
                KeyedBatch::of_numbers(&keys.collect()?, map, print, how)
            }
        })
    }
}

/// The number of records of binary inputs, if their sizes are known.
pub(super) fn count(how: &InputSpec) -> Option<u64> {
    let element = how.element()?;
    let bytes = how.bits()?.iter().map(BinaryInput::size).sum::<Option<u64>>()?;
    Some(bytes / element.bytes() as u64)
}

/// Reads binary files of known sizes on another thread, so that the first keys reach a device
/// before the last are read. Returns `None` for other formats and for pipes.
pub(super) fn read_meanwhile<'a>(
    how: &'a InputSpec,
    watch: &'a Watch<'a>,
    scope: &'a Scope<'a, '_>,
) -> Option<Dataset<'a>> {
    let sources = how.bits()?;
    let map = how.by.order.map(how.element()?);
    let n = count(how)?;
    let bytes = n * map.element.bytes() as u64;
    let (sender, receiver) = mpsc::channel();
    watch.phase(Phase::Read, Some(bytes));
    let reading = parallel::meanwhile(scope, move || {
        let start = Instant::now();
        let mut reader = binary::Reader::new(sources, how.by.order, u64::MAX);
        while let Some(keys) = reader.read().transpose() {
            watch.set(reader.bytes);
            let is_last = keys.is_err();
            // If nobody receives the keys, another error has ended the sort.
            if sender.send(keys).is_err() || is_last {
                break;
            }
        }
        start.elapsed()
    });
    let keys = Incoming::new(usize::try_from(n).ok()?, map.element.key_words(), receiver.into_iter());
    let content = Content::Numbers { keys, map, print: Print::Shortest };
    Some(Dataset { content, counts: Counts::default(), bytes, reading, parsing: Duration::ZERO })
}

impl<'a> Dataset<'a> {
    /// The number of records.
    pub(super) fn len(&self) -> usize {
        match &self.content {
            Content::Numbers { keys, .. } => keys.n,
            Content::Records { records, .. } => records.len(),
        }
    }

    /// Bytes not yet read.
    pub(super) fn unread(&self) -> u64 {
        if self.reading.is_done() { 0 } else { self.bytes }
    }

    /// The shape of the elements to sort.
    pub(super) fn shape(&self, ask: &OutputSpec) -> Shape {
        match &self.content {
            Content::Numbers { keys, .. } => Shape { key: keys.width, payload: ask.positions },
            Content::Records { words, .. } => {
                let widths = words.iter().flat_map(|words| &words.words).map(KeyBuf::width);
                Shape { key: widths.max().unwrap_or(KeyWords::Two), payload: true }
            }
        }
    }

    /// The type of the elements to write; `None` for rows.
    pub(super) fn written(&self, ask: &OutputSpec) -> Option<ElementType> {
        match &self.content {
            _ if ask.positions => Some(ElementType::U32),
            Content::Numbers { map, .. } => Some(map.element),
            Content::Records { .. } => None,
        }
    }

    /// Numbers of text as elements of the first type that holds all of them: `u32`, `i32`, `u64`, `i64`,
    /// else `f64`.
    ///
    /// # Errors
    ///
    /// An integer beside decimals that `f64` does not hold.
    pub(super) fn into_elements(self, how: &InputSpec) -> Result<Self, Error> {
        if let Content::Numbers { print, .. } = self.content
            && (how.by.element.is_some() || !matches!(print, Print::Fixed(_)))
        {
            return Ok(self);
        }
        let records = self.content.into_records(how)?;
        let (counts, (keys, map)) = (records.counts.clone(), records.elements(how)?);
        let content = Content::Numbers { keys: keys.into(), map, print: Print::Shortest };
        Ok(Self { content, counts, ..self })
    }

    /// Returns the census of the numbers, which decides the type of elements.
    ///
    /// # Errors
    ///
    /// Errors from reading the remaining input.
    pub(super) fn census(&mut self, how: &InputSpec) -> Result<Census, Error> {
        Ok(match &mut self.content {
            Content::Numbers { keys, map, print } => {
                let all = std::mem::replace(keys, KeyBuf::new(KeyWords::One).into()).collect()?;
                let census = KeyedBatch::of_numbers(&all, *map, *print, how).census();
                *keys = all.into();
                census
            }
            Content::Records { records, .. } => records.census(),
        })
    }

    /// The report on reading.
    pub(super) fn report(&self, format: Format) -> Report {
        let counts = match &self.content {
            Content::Numbers { .. } => self.counts.clone(),
            Content::Records { records, .. } => records.counts.clone(),
        };
        Report {
            records: self.len() as u64,
            counts,
            bytes: self.bytes,
            phases: Phases { parse: self.parsing, ..Phases::default() },
            ..Report::new(format)
        }
    }

    /// Orders the records as records, with numbers for an answer. Returns the selected records in order, and the report.
    ///
    /// # Errors
    ///
    /// Errors from reading the remaining input; see [`Sorter::run`].
    pub(super) fn into_order(
        self,
        how: &InputSpec,
        sorter: &Sorter,
        ask: &OutputSpec,
        progress: sorter::Progress,
    ) -> Result<(KeyedBatch, Vec<u32>, Report), Error> {
        let mut report = self.report(ask.format);
        let mut records = self.content.into_records(how)?;
        if let Some(answer) = ask.answer {
            records = answer.with_counts(records, how);
        }
        let words = records.words(ask.selection.unique);
        let done = order_records(&records, words, sorter, ask, progress)?;
        let order: Vec<u32> = done.words.into_vec().expect("positions have 32 bits");
        report.counts.respelled = records.respelled.get().cloned();
        report.phases.read = self.reading.wait();
        let report = report.with_sort(done.report, done.repeated, order.len());
        Ok((records, order, report))
    }

    /// Orders the records, whose words are made, up to the requested selection.
    ///
    /// # Errors
    ///
    /// See [`Sorter::order`].
    pub(super) fn order<'s>(
        self,
        sorter: &'s Sorter,
        ask: OutputSpec,
        watch: &Watch,
    ) -> Result<Outcome<'s, 'a>, Error> {
        let passes = &mut watch.passes();
        let (mut report, reading) = (self.report(ask.format), self.reading);
        let form = |print| if ask.format.is_bits() { ElementForm::Binary } else { ElementForm::Text(print) };
        let positions = Written::Elements(POSITIONS, form(Print::Shortest));
        let (ordered, written) = match self.content {
            Content::Numbers { keys, map, print } => {
                let (request, written) = match ask.positions {
                    true => (Request::positions(keys), positions),
                    false => (Request::keys(keys), Written::Elements(map, form(print))),
                };
                (sorter.order(request.select(ask.selection).by(ask.method), passes)?, written)
            }
            Content::Records { mut records, words } => {
                let Words { mut words, ties } = words.expect("the words are made");
                let are_places = !ask.positions && (ties.is_none() || ask.selection == Selection::ALL);
                let places = if are_places { records.take_places(&words, ties.as_ref()) } else { None };
                let done = if let Some(places) = places {
                    let request = Request::records(words.remove(0), places).select(ask.selection);
                    let mut done = sorter.run(request.by(ask.method), passes)?;
                    let mut places = done.words.into_vec().expect("places have 64 bits");
                    timed(&mut done.report.sort.time, || records.settle_places(&mut places));
                    Sorted { words: places.into(), ..done }
                } else {
                    let done = order_records(&records, Words { words, ties }, sorter, &ask, passes)?;
                    report.counts.respelled = records.respelled.get().cloned();
                    done
                };
                if ask.positions {
                    let order = done.words.into_vec().expect("positions have 32 bits");
                    (Sorted { words: records.positions(order).into(), ..done }.into(), positions)
                } else {
                    (done.into(), Written::Records(records))
                }
            }
        };
        Ok(Outcome { ordered, written, report, reading })
    }
}

/// Orders records by these words of their keys, and by the keys where words are equal. Returns the indices
/// of the selected records in order.
///
/// # Errors
///
/// See [`Sorter::run`].
fn order_records(
    records: &KeyedBatch,
    words: Words,
    sorter: &Sorter,
    ask: &OutputSpec,
    progress: sorter::Progress,
) -> Result<Sorted, Error> {
    let settle = |ties: &Ties, order: &mut Vec<u32>, words: &[KeyBuf]| {
        records.settle(ties, order, words, ask.selection.unique);
    };
    order_words(words, settle, sorter, ask.selection, ask.method, progress)
}

/// The map of positions: a position is its own key.
const POSITIONS: KeyMap = KeyMap { element: ElementType::U32, descending: false, nan_first: false };

/// Records in order.
pub(super) struct Outcome<'s, 'a> {
    pub(super) ordered: Ordered<'s>,
    written: Written,
    /// The report so far.
    pub(super) report: Report,
    reading: Meanwhile<'a, Duration>,
}

/// Writes the elements of these keys as text, one per line, or as binary.
///
/// # Errors
///
/// I/O errors.
pub fn write_keys(keys: &KeyBuf, map: KeyMap, as_text: bool, to: &mut impl io::Write) -> io::Result<()> {
    let form = if as_text { ElementForm::Text(Print::Shortest) } else { ElementForm::Binary };
    form.write(keys, map, to, |_| {})
}

/// The output, and the meaning of the ordered words.
#[allow(clippy::large_enum_variant, reason = "there are few of them")]
enum Written {
    /// Writes elements or positions in this form; the words are their keys with this map.
    Elements(KeyMap, ElementForm),
    /// Writes these records; words of 32 bits are their indices, words of 64 bits their places (see
    /// `KeyedBatch::take_places`).
    Records(KeyedBatch),
}

impl<'a> Outcome<'_, 'a> {
    /// Moves the result into memory, so that the device is free.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    pub(super) fn brought(self) -> Result<Outcome<'static, 'a>, Error> {
        let Self { ordered, written, report, reading } = self;
        Ok(Outcome { ordered: ordered.bring()?.into(), written, report, reading })
    }

    /// Makes this outcome of elements write a run.
    pub(super) fn into_run(self) -> Self {
        let Written::Elements(map, _) = self.written else { panic!("only elements have runs of their own") };
        Self { written: Written::Elements(map, ElementForm::Run), ..self }
    }

    /// Writes the records. The caller finishes the output.
    ///
    /// # Errors
    ///
    /// I/O errors; a failure of the device.
    pub(super) fn write(self, output: &mut Output, watch: &Watch) -> Result<Report, Error> {
        let Self { ordered, written, mut report, reading } = self;
        let len = ordered.count();
        let (repeated, sort) = match written {
            Written::Records(records) => {
                let Sorted { words, repeated, report: sort } = ordered.bring()?;
                watch.phase(Phase::Write, Some(len as u64));
                let progress = |done| watch.set(done);
                let done = timed(&mut report.phases.write, || match words.width() {
                    KeyWords::One => {
                        let order = words.into_vec().expect("positions have 32 bits");
                        records.write(&order, output, progress)
                    }
                    KeyWords::Two => {
                        let places = words.into_vec().expect("places have 64 bits");
                        records.write_places(&places, output, progress)
                    }
                });
                done.map_err(|error| output.failed(error))?;
                (repeated, sort)
            }
            Written::Elements(map, form) => {
                let has_header = report.format == Format::Npy && !matches!(form, ElementForm::Run);
                let (mut is_begun, mut before) = (false, 0);
                let mut write = |block: KeyBuf| {
                    // Nothing is written before the device has a result.
                    if !mem::replace(&mut is_begun, true) {
                        watch.phase(Phase::Write, Some(len as u64));
                        if has_header {
                            output.write_header(map.element, len as u64)?;
                        }
                    }
                    let progress = |done| watch.set(before + done);
                    let done = timed(&mut report.phases.write, || form.write(&block, map, output, progress));
                    done.map_err(|error| output.failed(error))?;
                    before += block.len() as u64;
                    Ok(())
                };
                let done = ordered.take(&mut write)?;
                // A device gives no block of an empty result.
                write(KeyBuf::new(map.element.key_words()))?;
                done
            }
        };
        report.phases.read = reading.wait();
        Ok(report.with_sort(sort, repeated, len))
    }
}
