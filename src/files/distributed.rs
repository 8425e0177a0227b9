//! A sort that several processes do, on one machine or many: what each of them does. Who runs
//! them, where, and moves bytes from one to another, is somebody else.
//!
//! ```text
//! inputs ── sample ──> splitters ┐
//! stretches of inputs ── map ──> runs, with an index by splitter ┐
//!                        facts ── join ──> types, tasks to be done again
//!                                    the same range of all runs ── reduce ──> a part of the output
//! ```
//!
//! A splitter is a key, and a place among the records that have it: the task that reads a record,
//! and about where in its input. So the parts, one after another, are what one process would have
//! written, and records of one key may be in several of them.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::slice;

use gpusort_planner::key::ElementType;
use serde::{Deserialize, Serialize};

use super::dataset::{Content, Dataset, OutputSpec, element_of, order_records};
use super::job::{Job, To};
use super::parts::Parts;
use super::report::Report;
use super::runs::{Run, Runs, StoredRun, write_frames};
use super::sort::Sort;
pub use super::tally::Tally;
use super::tally::{RUN, each_part, is_bits, keyed, keyed_records, write_elements};
use crate::error::Error;
use crate::format::Format;
use crate::io::binary::BinaryInput;
use crate::io::csv::{self, Dialect, Facts, Known, Settled};
use crate::io::frames::RunFormat;
use crate::io::records::Print;
use crate::io::{Compression, Input, InputKind, InputSpec, Output, Words};
use crate::order::Selection;
use crate::runs::Folders;
use crate::sorter::{Request, Sorter};

/// One process's part in a sort of several.
pub struct Task<'a> {
    job: Job<'a>,
    /// The names of columns, and what they are read as.
    known: Known,
    /// What comes before the records.
    head: Vec<u8>,
}

/// Bytes of an input that begin and end with a record.
pub struct Stretch {
    /// The bytes; a whole input may be compressed.
    pub input: Input,
    /// What comes before it in its file; `None` if it begins there, maybe with a header.
    pub before: Option<Before>,
}

/// What comes before a stretch in its file.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// How many lines, for messages.
    pub lines: u64,
    /// Whether the first of them ends with CR LF, as a last one without an end then does, too.
    pub is_crlf: bool,
}

/// Where a part of the output begins: at the first record that is not before this.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Splitter {
    /// A key, as bytes that compare as keys do.
    key: Vec<u8>,
    /// Of the records that have this key, which task reads them, which run of that task they are
    /// in, and the share of its records that come before, of 2^32.
    task: u64,
    run: u64,
    share: u32,
}

/// A range of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RunRange {
    /// Where it begins in what the task wrote.
    pub offset: u64,
    /// Its bytes there.
    pub bytes: u64,
    /// Its records.
    pub records: u64,
    /// The sum of the checksums of these, modulo 2^64: xxh3 of the bytes of each as it is written.
    pub checksum: u64,
}

/// A run, and where each part of the output has its records.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct MappedRun {
    /// What it holds: an element type, or nothing for records with their keys.
    pub element: Option<String>,
    /// One range for each part.
    pub ranges: Vec<RunRange>,
}

/// What a task mapped.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Mapped {
    /// Its runs.
    pub runs: Vec<MappedRun>,
    /// Records that were left out because a field is invalid.
    pub skipped: u64,
    /// Records that were left out because their keys are repeated.
    pub repeated: u64,
    /// The sum of the checksums of the records of each stretch, with those that are left out as
    /// repeated.
    pub sums: Vec<u64>,
    /// What it found of the columns.
    facts: Facts,
    /// The keys that have integers −0.
    zeros: Vec<bool>,
}

/// What all tasks know together.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Joined {
    /// The tasks, by their places in what was joined, that are to map again, since what others
    /// found changes what they read.
    pub again: Vec<usize>,
    facts: Facts,
}

/// A range of a run that a part of the output is merged of.
pub struct Source {
    /// Its name in messages.
    pub name: String,
    /// As in [`MappedRun`].
    pub element: Option<String>,
    /// Its bytes and records.
    pub range: RunRange,
    /// Gives the bytes.
    pub reader: Box<dyn Read + Send + Sync>,
}

/// Counts bytes on their way.
struct Counted<'a> {
    to: &'a mut (dyn Write + Send),
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Splitter {
    /// The key, as bytes that compare as keys do.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

impl<'a> Sort<'a> {
    /// A task of this sort, by the bytes that the first input begins with, or all of it; `None`
    /// where more of them decide.
    ///
    /// # Errors
    ///
    /// What is wrong with an option; a format that tasks do not write.
    pub fn task(self, name: &str, beginning: &[u8], is_all: bool) -> Result<Option<Task<'a>>, Error> {
        let mut job = self.input(Input::bytes(name, beginning)).resolve(None)?;
        let (from, to) = (job.input_format(), job.format());
        let is_same = from == to || from == Format::Binary && to.is_bits();
        if !is_same || from == Format::Npy || from.has_columns() || job.ask.positions {
            let problem =
                format!("a sort by several processes cannot read {} and write {}", from.name(), to.name());
            return Err(Error::options(problem));
        }
        let has_rows = !is_bits(&job.resolved.how);
        if has_rows {
            let (dialect, _) = job.resolved.how.kind.divided();
            let record = csv::end_of_first_row(beginning, dialect).and_then(|end| {
                // The header, and a record after it.
                if dialect.header > 0 { csv::end_of_row(beginning, end, dialect.fields) } else { Some(end) }
            });
            if record.is_none() && !is_all {
                return Ok(None);
            }
            let end = record.unwrap_or(beginning.len());
            job.resolved.inputs = vec![Input::bytes(name, &beginning[..end])];
        }
        let mut parts = Parts::new(job.inputs(), &job.resolved.how, &job.budget, &job.watch)
            .shared(Known::of_many(), Vec::new());
        let mut head = Vec::new();
        // Elements tell nothing more, and these are decompressed already, whatever their name.
        if has_rows {
            each_part(&mut parts, |_, _, part| {
                if let Content::Records { mut records, .. } = part.content {
                    head.append(&mut records.head);
                }
                Ok(())
            })?;
        }
        let known = parts.known().cloned().unwrap_or_default();
        Ok(Some(Task { job, known, head }))
    }
}

impl Task<'_> {
    /// The format of the inputs, and the size of an element if they are binary.
    #[must_use]
    pub fn format(&self) -> (Format, Option<usize>) {
        let size = match &self.job.resolved.how.kind {
            InputKind::Bits(sources) => sources.first().map(|source| source.element().bytes()),
            _ => None,
        };
        (self.job.input_format(), size)
    }

    /// Where the records of an input begin, after its header, and whether its first line ends with
    /// CR LF, by the bytes that it begins with, or all of them; `None` where more of them decide.
    #[must_use]
    pub fn records(&self, beginning: &[u8], is_all: bool) -> Option<(usize, bool)> {
        if self.is_bits() {
            return Some((0, false));
        }
        let end = csv::end_of_first_row(beginning, self.dialect());
        let end = end.or(is_all.then_some(beginning.len()))?;
        Some((end, beginning[..end].ends_with(b"\r\n")))
    }

    /// Where a record probably begins, the first after the first byte of these, which are somewhere
    /// in an input; `None` if none does. Quotes may make it wrong, which shows when the stretch
    /// before it is read: it is where [`Task::end`] says that one ends.
    #[must_use]
    pub fn begin(&self, bytes: &[u8]) -> Option<usize> {
        csv::probable_row(bytes, self.dialect().fields)
    }

    /// Where the first record begins that is not before `at`, in bytes that begin with a record;
    /// `None` if none does: the last one may go on.
    #[must_use]
    pub fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        csv::row_from(bytes, at, self.dialect().fields)
    }

    /// Keys of about so many records, evenly spread over these stretches, which are a share of a
    /// task's input: they begin after so much of it, of 2^32, and end after so much.
    ///
    /// # Errors
    ///
    /// As for [`Task::map`].
    pub fn sample(
        &self,
        stretches: Vec<Stretch>,
        many: usize,
        task: u64,
        [begin, end]: [u32; 2],
    ) -> Result<Vec<Splitter>, Error> {
        let (inputs, how) = self.inputs(stretches);
        let mut all = Vec::new();
        each_part(&mut self.parts(&inputs, &how, task, Vec::new()), |_, run, part| {
            let records = keyed_records(part, &how)?;
            let n = records.len();
            let picked = many.min(n);
            all.extend((0..picked).map(|pick| {
                let record = pick * n / picked + n / picked / 2;
                let share = (u64::from(end - begin) * record as u64 / n as u64) as u32 + begin;
                Splitter { key: records.row(record as u32), task, run, share }
            }));
            Ok(())
        })?;
        Ok(all)
    }

    /// The splitters of so many parts of about one size, or fewer, by samples that stand for as much
    /// each.
    #[must_use]
    pub fn splitters(&self, mut samples: Vec<Splitter>, parts: usize) -> Vec<Splitter> {
        samples.sort_unstable();
        let n = samples.len();
        let mut picked: Vec<Splitter> =
            (1..parts).filter_map(|part| samples.get(part * n / parts).cloned()).collect();
        picked.dedup_by(|later, first| later.key == first.key && (!self.cuts_ties() || later == first));
        picked
    }

    /// Reads and sorts what these stretches have, in runs that fit the memory, and writes the runs.
    /// `joined` is what all tasks found, if this is not the first time.
    ///
    /// # Errors
    ///
    /// I/O errors; what is wrong with a record; a failure of the device.
    pub fn map(
        &self,
        sorter: &Sorter,
        stretches: Vec<Stretch>,
        task: u64,
        splitters: &[Splitter],
        joined: Option<&Joined>,
        to: &mut (dyn Write + Send),
    ) -> Result<Mapped, Error> {
        let (inputs, how) = self.inputs(stretches);
        let settled = match joined {
            Some(joined) => self.known_to(joined)?.settled(),
            None => Vec::new(),
        };
        let mut parts = self.parts(&inputs, &how, task, settled);
        let mut to = Counted { to, bytes: 0 };
        let mut mapped = Mapped::default();
        each_part(&mut parts, |_, run, part| {
            mapped.skipped += part.counts().skipped;
            mapped.repeated += part.len() as u64;
            if !part.is_empty() {
                let cut = Cut { task, run, splitters, ties: self.cuts_ties() };
                mapped.runs.push(if self.is_bits() {
                    self.map_elements(part, &cut, sorter, &mut to)?
                } else {
                    self.map_records(part, &cut, sorter, &mut to, &mut mapped.zeros)?
                });
            }
            Ok(())
        })?;
        let ranges = || mapped.runs.iter().flat_map(|run| &run.ranges);
        mapped.repeated -= ranges().map(|range| range.records).sum::<u64>();
        mapped.sums = match &inputs[..] {
            [_] if self.cuts_ties() => vec![ranges().map(|range| range.checksum).fold(0, u64::wrapping_add)],
            // Each again: they are small, as there are several.
            _ => (0..inputs.len())
                .map(|number| self.sum_of(&inputs, &how, number))
                .collect::<Result<_, _>>()?,
        };
        mapped.facts = parts.known().map(Known::facts).unwrap_or_default();
        Ok(mapped)
    }

    /// Joins what tasks found: each with how many lines come before its stretches in inputs of
    /// these names.
    ///
    /// # Errors
    ///
    /// A column that has no type, or a key that no record has.
    pub fn join(&self, all: &[(Mapped, Vec<(String, u64)>)]) -> Result<Joined, Error> {
        let facts: Vec<Facts> = all.iter().map(|(mapped, lines)| mapped.facts.clone().after(lines)).collect();
        let mut known = self.known.clone();
        known.join_all(&facts)?;
        let settled = known.settled();
        let differs = |(number, (mapped, _)): (usize, &(Mapped, _))| {
            mapped.facts.differ_from(&settled, &mapped.zeros).then_some(number)
        };
        let again = all.iter().enumerate().filter_map(differs).collect();
        Ok(Joined { again, facts: known.facts() })
    }

    /// Merges the same range of all runs, in the order of tasks and of their runs, and writes what
    /// comes of it; with what comes before all records, if that is asked for.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn reduce(
        &self,
        joined: &Joined,
        sources: Vec<Source>,
        has_head: bool,
        to: To,
    ) -> Result<Report, Error> {
        let job = &self.job;
        let mut output = job.open(to)?;
        let run = |source: Source| {
            let form = match source.element.as_deref().map(str::parse::<ElementType>) {
                Some(Ok(element)) => RunFormat::Elements(element, Print::Shortest),
                _ => FRAMES,
            };
            let stored = StoredRun::Elsewhere(source.name, source.range.bytes, source.reader);
            Run { stored, form, count: source.range.records, zeros: BTreeSet::new() }
        };
        // Frames of records have their lengths and keys, too.
        let (n, read) = sources.iter().fold((0, 0), |(n, read), Source { range, .. }| {
            (n + range.records, read + range.bytes.saturating_sub(12 * range.records))
        });
        let runs = sources.into_iter().filter(|source| source.range.records > 0).map(run).collect();
        let head = if has_head { self.head.clone() } else { Vec::new() };
        let mut folders = Folders::new(job.folders.clone()).within(&job.budget).cancelled_by(&job.cancel);
        let how = &job.resolved.how;
        let runs = Runs::given((how, &job.budget), (runs, head), job.ask, &mut folders);
        let known = self.known_to(joined)?;
        let parts = Parts::new(&[], how, &job.budget, &job.watch).shared(known, Vec::new());
        let expected = job.bytes_of(n, read, parts.written(&job.ask, n));
        let report = runs.merge(&parts, &mut output, expected, &job.watch)?;
        job.close(output)?;
        Ok(report)
    }

    /// What a part of the output has, as it was written.
    ///
    /// # Errors
    ///
    /// I/O errors; a record that is not as it was.
    pub fn tally(&self, part: &Path) -> Result<Tally, Error> {
        let (inputs, mut how) = self.inputs(vec![Stretch { input: Input::from(part), before: None }]);
        if self.job.format() == Format::Npy {
            how.kind = InputKind::Bits(vec![BinaryInput::npy(inputs[0].clone())?]);
        }
        Tally::of(&mut self.parts(&inputs, &how, 0, Vec::new()))
    }

    /// The sum of the checksums of the records of one of these inputs.
    fn sum_of(&self, inputs: &[Input], how: &InputSpec, number: usize) -> Result<u64, Error> {
        let kind = match &how.kind {
            InputKind::Bits(sources) => InputKind::Bits(vec![sources[number].clone()]),
            kind => kind.clone(),
        };
        let how = InputSpec { kind, by: how.by.clone() };
        Ok(Tally::of(&mut self.parts(&inputs[number..=number], &how, 0, Vec::new()))?.checksum)
    }

    /// The inputs that stretches are, and how they are read.
    fn inputs(&self, stretches: Vec<Stretch>) -> (Vec<Input>, InputSpec) {
        let how = &self.job.resolved.how;
        let line_end = match &how.kind {
            InputKind::Table(dialect) => dialect.fields.line_end().bytes(),
            _ => b"\n",
        };
        let input = |stretch: Stretch| match stretch.before {
            // Elements are compressed where the name says so, since they may look like that.
            _ if self.is_bits() => match Compression::of_name(Path::new(&stretch.input.name())) {
                Some((compression, _)) => {
                    stretch.input.decompressed(Some(compression), Some(self.job.budget.total()))
                }
                None => stretch.input,
            },
            Some(Before { lines, is_crlf }) => {
                stretch.input.after(lines, if is_crlf { b"\r\n" } else { line_end })
            }
            None => stretch.input.decompressed(None, Some(self.job.budget.total())),
        };
        let inputs: Vec<Input> =
            stretches.into_iter().map(input).map(|input| input.cancelled_by(&self.job.cancel)).collect();
        let kind = match &how.kind {
            InputKind::Bits(sources) => {
                let element = element_of(sources);
                InputKind::Bits(inputs.iter().map(|it| BinaryInput::raw(it.clone(), element)).collect())
            }
            kind => kind.clone(),
        };
        (inputs, InputSpec { kind, by: how.by.clone() })
    }

    /// What a task reads; places in it are ordered as tasks are.
    fn parts<'p>(
        &'p self,
        inputs: &'p [Input],
        how: &'p InputSpec,
        task: u64,
        settled: Vec<Settled>,
    ) -> Parts<'p> {
        /// More bytes than a task reads, as a power of two.
        const MOST: u32 = 40;
        let known = self.known.shared(task << MOST);
        Parts::new(inputs, how, &self.job.budget, &self.job.watch).shared(known, settled)
    }

    /// What is known of the columns once tasks have joined what they found.
    fn known_to(&self, joined: &Joined) -> Result<Known, Error> {
        let mut known = self.known.clone();
        known.join_all(slice::from_ref(&joined.facts))?;
        Ok(known)
    }

    fn dialect(&self) -> Dialect {
        self.job.resolved.how.kind.divided().0
    }

    fn is_bits(&self) -> bool {
        is_bits(&self.job.resolved.how)
    }

    /// Sorts elements of binary and writes them.
    fn map_elements(
        &self,
        part: Dataset,
        cut: &Cut,
        sorter: &Sorter,
        to: &mut Counted,
    ) -> Result<MappedRun, Error> {
        let Content::Numbers { keys, map, .. } = part.content else { return Ok(MappedRun::default()) };
        let ask = self.job.ask;
        let request = Request::keys(keys).select(ask.selection).by(ask.method);
        let keys = sorter.run(request, &mut |_, _| {})?.words;
        let key = |at: usize| keyed(&keys.range(at..at + 1), map, &self.job.resolved.how).row(0);
        let ranges =
            cut.write(keys.len(), key, to, |range, to| write_elements(&keys.range(range), map, to))?;
        Ok(MappedRun { element: Some(map.element.name().to_owned()), ranges })
    }

    /// Sorts records and writes them with their keys.
    fn map_records(
        &self,
        part: Dataset,
        cut: &Cut,
        sorter: &Sorter,
        to: &mut Counted,
        zeros: &mut Vec<bool>,
    ) -> Result<MappedRun, Error> {
        let records = keyed_records(part, &self.job.resolved.how)?;
        // Among floats −0 and 0 are two keys: who maps again knows it.
        let selection = if records.have_minus_zeros() { Selection::ALL } else { self.job.ask.selection };
        let ask = OutputSpec { selection, ..self.job.ask };
        let Words { words, ties } = records.words()?;
        let done = order_records(&records, words, ties.as_ref(), sorter, &ask, &mut |_, _| {})?;
        let order = done.words.into_vec::<u32>().unwrap_or_default();
        let block = self.job.budget.block();
        let ranges = cut.write(
            order.len(),
            |at| records.row(order[at]),
            to,
            |range, to| {
                let mut output = Output::writer(to, RUN.to_owned());
                let framed =
                    write_frames(&records.pieces, &order[range], 0, (FRAMES, block), true, &mut output)?;
                output.finish()?;
                for found in framed.zeros {
                    zeros.resize(zeros.len().max(found.len()), false);
                    zeros.iter_mut().zip(found).for_each(|(zero, found)| *zero |= found);
                }
                Ok(framed.sum)
            },
        )?;
        Ok(MappedRun { element: None, ranges })
    }

    /// Whether records of one key may be in several parts: not where the first of them is to be
    /// found.
    fn cuts_ties(&self) -> bool {
        !self.job.ask.selection.unique
    }
}

const FRAMES: RunFormat = RunFormat::Frames { bytes: true, positions: false };

/// How a run of a task is cut.
struct Cut<'a> {
    task: u64,
    run: u64,
    splitters: &'a [Splitter],
    /// Whether records of one key may be in several parts.
    ties: bool,
}

impl Cut<'_> {
    /// Where a sorted run of so many records with these keys is cut, with its ends.
    fn places(&self, len: usize, key: impl Fn(usize) -> Vec<u8>) -> Vec<usize> {
        let first = |from: usize, is_before: &dyn Fn(&[u8]) -> bool| {
            let (mut low, mut high) = (from, len);
            while low < high {
                let middle = low.midpoint(high);
                if is_before(&key(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        let (mut places, mut low) = (vec![0], 0);
        for splitter in self.splitters {
            low = first(low, &|key| key < &splitter.key[..]);
            let high = if self.ties { first(low, &|key| key <= &splitter.key[..]) } else { low };
            let within = match (self.task, self.run).cmp(&(splitter.task, splitter.run)) {
                Ordering::Less => high - low,
                Ordering::Equal => (((high - low) as u128 * u128::from(splitter.share)) >> 32) as usize,
                Ordering::Greater => 0,
            };
            places.push(low + within);
        }
        places.push(len);
        places
    }

    /// Writes such a run, range by range; `write` says the sum of the checksums in each.
    fn write(
        &self,
        len: usize,
        key: impl Fn(usize) -> Vec<u8>,
        to: &mut Counted,
        mut write: impl FnMut(Range<usize>, &mut Counted) -> Result<u64, Error>,
    ) -> Result<Vec<RunRange>, Error> {
        let places = self.places(len, key);
        let range = |ends: &[usize]| {
            let (range, offset) = (ends[0]..ends[1], to.bytes);
            let records = range.len() as u64;
            let checksum = write(range, to)?;
            Ok(RunRange { offset, bytes: to.bytes - offset, records, checksum })
        };
        places.windows(2).map(range).collect()
    }
}
