//! The tasks of a sort by several processes; `gpusort::files::distributed` has the picture.

use std::cmp::Ordering;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;

use gpusort_order::ElementType;
use serde::{Deserialize, Serialize};

use super::dataset::{Content, Dataset};
use super::job::{Job, To};
use super::parts::Parts;
use super::report::Report;
use super::runs::{Runs, write_frames};
use super::sort::Sort;
pub use super::tally::Tally;
use super::tally::sum_of_elements;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_engine::sorter::{Request, Sorter};
use gpusort_external::frames::{FramePayload, RunFormat, SortedRun};
use gpusort_external::{differences, partition};
use gpusort_formats::batch::KeyedBatch;
use gpusort_formats::binary::BinaryInput;
use gpusort_formats::fields::{self, Dialect, Head, Known};
use gpusort_formats::{Compression, Input, InputKind, InputSpec, Output, Print, Text};

/// A task of a sort by several processes.
pub struct Task<'a> {
    job: Job<'a>,
    /// The state of reading after the header.
    known: Known,
    /// The bytes before the records.
    head: Head,
}

/// The number of first bytes of all inputs together that decisions use.
pub const LOOKED: usize = super::decide::FIRST;

/// The beginning of an input, decompressed.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// The name, by whose extension the format is known.
    pub name: String,
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// True if these are all bytes of the input.
    pub is_all: bool,
}

/// A range of an input that begins and ends with a record.
pub struct Stretch {
    /// The bytes; only a whole input may be compressed.
    pub input: Input,
    /// The lines before the stretch; `None` if it begins its file, possibly with a header.
    pub before: Option<Before>,
}

/// The lines before a stretch in its file.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// The number of lines, for messages.
    pub lines: u64,
    /// True if the first line ends with CR LF; an unfinished last line then gets the same line end.
    pub is_crlf: bool,
}

/// The beginning of a part of the output. Records before the splitter belong to earlier parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Splitter {
    /// A key, in bytes that compare like keys.
    key: Vec<u8>,
    /// A location among the records with this key: the task that reads them, its run, and the
    /// fraction of that run's records before it, in units of 2^−32.
    task: u64,
    run: u64,
    share: u32,
}

/// A range of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RunRange {
    /// The offset in the task's output.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The number of records.
    pub records: u64,
    /// The sum of the records' checksums, modulo 2^64. A checksum is the xxh3 of a record's written bytes.
    pub checksum: u64,
}

/// A run, with a range for each part of the output.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct MappedRun {
    /// The element type; `None` for records with their keys.
    pub element: Option<String>,
    /// One range for each part.
    pub ranges: Vec<RunRange>,
}

/// The result of mapping.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Mapped {
    /// The runs.
    pub runs: Vec<MappedRun>,
    /// Records skipped because a field is invalid.
    pub skipped: u64,
    /// Records omitted because their keys repeat.
    pub repeated: u64,
    /// The sum of the records' checksums, for each stretch; it includes omitted repeated records.
    pub sums: Vec<u64>,
}

/// A range of a run, to be merged into a part of the output.
pub struct Source {
    /// The name in messages.
    pub name: String,
    /// The element type; see [`MappedRun`].
    pub element: Option<String>,
    /// The range of the run.
    pub range: RunRange,
    /// Supplies the bytes.
    pub reader: Box<dyn Read + Send + Sync>,
}

impl Splitter {
    /// The key, in bytes that compare like keys.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

impl<'a> Sort<'a> {
    /// Makes a task of this sort from the bytes that decisions use: the beginnings of the inputs, one after
    /// another, [`LOOKED`] bytes in all, or all of them.
    ///
    /// # Errors
    ///
    /// An invalid option; fields that do not fit one kind; a format that tasks do not write; a first record
    /// that is longer than its beginning.
    pub fn task(mut self, looked: Vec<Looked>) -> Result<Task<'a>, Error> {
        let first = looked.iter().find(|looked| !looked.bytes.is_empty()).or(looked.first()).cloned();
        for Looked { name, bytes, is_all } in looked {
            let input = Input::bytes(&name, &bytes);
            self = self.input(if is_all { input } else { input.beginning() });
        }
        let mut job = self.resolve(None)?;
        if job.ask.selection.first.is_some() {
            return Err(Error::options("a sort by several processes cannot keep the first records only"));
        }
        let (from, to) = (job.decisions.format, job.format());
        let is_same = from == to || from == Format::Binary && to.is_bits();
        if !is_same || from == Format::Npy || from.has_columns() || job.ask.positions {
            let problem =
                format!("a sort by several processes cannot read {} and write {}", from.name(), to.name());
            return Err(Error::options(problem));
        }
        let dialect = job.decisions.how.kind.dialect();
        if dialect.comments {
            return Err(Error::options("a sort by several processes cannot keep comments on top"));
        }
        let Looked { name, bytes, .. } = first.unwrap_or_default();
        // Each task reads inputs of its own.
        job.inputs.clear();
        let (mut known, mut head) = (Known::default(), Head::default());
        if job.decisions.how.bits().is_none() {
            let end = fields::end_of_first_row(&bytes, dialect).unwrap_or(bytes.len());
            let text = Text::of_one(&name, bytes[..end].to_vec(), None, dialect.fields.line_end());
            head = KeyedBatch::read(text, &job.decisions.how, &mut known)?.head;
        }
        Ok(Task { job, known, head })
    }
}

impl Task<'_> {
    /// The format of the inputs, and the element size of binary inputs.
    #[must_use]
    pub fn format(&self) -> (Format, Option<usize>) {
        let first = self.job.decisions.how.bits().and_then(<[BinaryInput]>::first);
        (self.job.decisions.format, first.map(|source| source.element.bytes()))
    }

    /// The offset of the first record, after the header, and whether the first line ends with CR
    /// LF. `beginning` is the first bytes of an input; `is_all` marks the whole input. Returns
    /// `None` if more bytes are needed.
    #[must_use]
    pub fn records(&self, beginning: &[u8], is_all: bool) -> Option<(usize, bool)> {
        if self.is_bits() {
            return Some((0, false));
        }
        let end = fields::end_of_first_row(beginning, self.dialect());
        let end = end.or(is_all.then_some(beginning.len()))?;
        Some((end, beginning[..end].ends_with(b"\r\n")))
    }

    /// The probable offset of the first record that begins after the first byte of `bytes`, which may lie
    /// anywhere in an input; `None` if no record begins there. A quoted line end may make the offset wrong.
    /// To check it, read the stretch before: [`Task::end`] must return the same offset.
    #[must_use]
    pub fn begin(&self, bytes: &[u8]) -> Option<usize> {
        fields::probable_row(bytes, self.dialect().fields)
    }

    /// The offset of the first record at or after `at`, in bytes that begin with a record; `None`
    /// if no record begins there, because the last one may continue.
    #[must_use]
    pub fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        fields::row_from(bytes, at, self.dialect().fields)
    }

    /// Keys of about `many` records, evenly spaced in these stretches. The stretches are a share of
    /// a task's input: `begin` and `end` are fractions of it, in units of 2^−32.
    ///
    /// # Errors
    ///
    /// See [`Task::map`].
    pub fn sample(
        &self,
        stretches: Vec<Stretch>,
        many: usize,
        task: u64,
        [begin, end]: [u32; 2],
    ) -> Result<Vec<Splitter>, Error> {
        let inputs = self.inputs(stretches);
        let how = self.spec(&inputs);
        let mut all = Vec::new();
        for (run, part) in (0..).zip(self.parts(&inputs, &how, task)) {
            let records = part?.content.into_records(&how)?;
            let n = records.len();
            let picked = many.min(n);
            all.extend((0..picked).map(|pick| {
                let record = pick * n / picked + n / picked / 2;
                let share = (u64::from(end - begin) * record as u64 / n as u64) as u32 + begin;
                Splitter { key: records.row(record as u32), task, run, share }
            }));
        }
        Ok(all)
    }

    /// Splitters for up to `parts` parts of about equal size. All samples have equal weight.
    #[must_use]
    pub fn splitters(&self, mut samples: Vec<Splitter>, parts: usize) -> Vec<Splitter> {
        samples.sort_unstable();
        let n = samples.len();
        let mut picked: Vec<Splitter> =
            (1..parts).filter_map(|part| samples.get(part * n / parts).cloned()).collect();
        picked.dedup_by(|later, first| later.key == first.key && (!self.cuts_ties() || later == first));
        picked
    }

    /// Reads and sorts these stretches in runs that fit the memory, and writes the runs.
    ///
    /// # Errors
    ///
    /// I/O errors; an invalid record; a failure of the device.
    pub fn map(
        &self,
        sorter: &Sorter,
        stretches: Vec<Stretch>,
        task: u64,
        splitters: &[Splitter],
        to: &mut (dyn Write + Send),
    ) -> Result<Mapped, Error> {
        let inputs = self.inputs(stretches);
        let how = self.spec(&inputs);
        let mut mapped = Mapped::default();
        let mut offset = 0;
        for (run, part) in (0..).zip(self.parts(&inputs, &how, task)) {
            let part = part?;
            let read = part.report(self.job.ask.format);
            mapped.skipped += read.counts.skipped;
            mapped.repeated += read.records;
            if read.records > 0 {
                let cut = Cut { task, run, splitters, ties: self.cuts_ties(), offset };
                let run = self.map_part(part, &cut, sorter, to)?;
                offset += run.ranges.iter().map(|range| range.bytes).sum::<u64>();
                mapped.runs.push(run);
            }
        }
        let ranges = || mapped.runs.iter().flat_map(|run| &run.ranges);
        mapped.repeated -= ranges().map(|range| range.records).sum::<u64>();
        mapped.sums = match &inputs[..] {
            [_] if self.cuts_ties() => vec![ranges().map(|range| range.checksum).fold(0, u64::wrapping_add)],
            // Reads each stretch again: several stretches are small.
            _ => inputs
                .chunks(1)
                .map(|input| Ok(Tally::of(self.parts(input, &self.spec(input), 0))?.checksum))
                .collect::<Result<_, Error>>()?,
        };
        Ok(mapped)
    }

    /// Merges one range of every run, in the order of tasks and their runs, and writes the result.
    /// If `has_head`, the bytes before all records come first.
    ///
    /// # Errors
    ///
    /// I/O errors; a damaged range; another number of records or type than the tasks wrote.
    pub fn reduce(&self, sources: Vec<Source>, has_head: bool, to: To) -> Result<Report, Error> {
        /// The most records or bytes of all ranges.
        const MOST: u64 = 1 << 56;
        let job = &self.job;
        let mut output = job.open(to)?;
        let how = &job.decisions.how;
        let run = |Source { name, element, range, reader }: Source| {
            let form = match element.as_deref().map(str::parse::<ElementType>) {
                None => RunFormat::Frames(FramePayload::Bytes),
                Some(Ok(element)) => RunFormat::Elements(how.by.order.map(element), Print::Shortest),
                Some(Err(problem)) => return Err(Error::input(name, problem.to_string())),
            };
            Ok(SortedRun { name, bytes: range.bytes, records: range.records, form, reader })
        };
        let sum = |of: fn(&RunRange) -> u64| {
            let sum = sources.iter().try_fold(0_u64, |sum, source| sum.checked_add(of(&source.range)));
            sum.filter(|&sum| sum <= MOST).ok_or_else(|| {
                Error::input(RUN.to_owned(), "the sizes of its ranges are impossible; map the inputs again")
            })
        };
        let (n, read) = (sum(|range| range.records)?, sum(|range| range.bytes)?);
        // Frames also contain lengths and keys.
        let read = read.saturating_sub(12 * n);
        let is_empty = |range: RunRange| range.records == 0 && range.bytes == 0;
        let runs = sources.into_iter().filter(|source| !is_empty(source.range)).map(run);
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let head = if has_head { self.head.clone() } else { Head::default() };
        let mut folders = job.folders();
        let runs = Runs::given((how, &job.budget), (runs, head), job.ask, &mut folders);
        let expected = job.bytes_of(n, read, how.element());
        let mut report = runs.merge(&mut output, expected, &job.watch)?;
        job.close(output, &mut report.phases.merge)?;
        Ok(report)
    }

    /// Counts and checksums the records of a written part.
    ///
    /// # Errors
    ///
    /// I/O errors; a changed record.
    pub fn tally(&self, part: &Path) -> Result<Tally, Error> {
        let inputs = self.inputs(vec![Stretch { input: Input::from(part), before: None }]);
        let mut how = self.spec(&inputs);
        if self.job.format() == Format::Npy {
            how.kind = InputKind::Bits(vec![BinaryInput::npy(inputs[0].clone())?]);
        }
        Tally::of(self.parts(&inputs, &how, 0))
    }

    /// The inputs of these stretches.
    fn inputs(&self, stretches: Vec<Stretch>) -> Vec<Input> {
        let (line_end, memory) = (self.dialect().fields.line_end().bytes(), Some(self.job.budget.total()));
        let input = |Stretch { input, before }: Stretch| match before {
            // Elements are decompressed by their names only, because raw bytes may look compressed.
            _ if self.is_bits() => match Compression::of_name(Path::new(&input.name())) {
                Some((compression, _)) => input.decompressed(Some(compression), memory),
                None => input,
            },
            Some(Before { lines, is_crlf }) => input.after(lines, if is_crlf { b"\r\n" } else { line_end }),
            None => input.decompressed(None, memory),
        };
        stretches.into_iter().map(input).map(|input| input.cancelled_by(&self.job.cancel)).collect()
    }

    /// The format of these inputs, and the order of their records.
    fn spec(&self, inputs: &[Input]) -> InputSpec {
        let mut how = self.job.decisions.how.clone();
        if let InputKind::Bits(sources) = &mut how.kind {
            let element = sources[0].element;
            *sources = inputs.iter().map(|it| BinaryInput::raw(it.clone(), element)).collect();
        }
        how
    }

    /// The parts of a task's input. Positions in them ascend with the tasks.
    fn parts<'p>(&'p self, inputs: &'p [Input], how: &'p InputSpec, task: u64) -> Parts<'p> {
        /// Limits a task's input to 2^40 bytes.
        const MOST: u32 = 40;
        let known = self.known.shared(task << MOST);
        Parts::new(inputs, how, &self.job.budget, &self.job.watch).shared(known)
    }

    fn dialect(&self) -> Dialect {
        self.job.decisions.how.kind.dialect()
    }

    fn is_bits(&self) -> bool {
        self.job.decisions.how.bits().is_some()
    }

    /// Sorts a part and writes it, cut at the splitters: elements, or records with their keys.
    fn map_part(
        &self,
        part: Dataset,
        cut: &Cut,
        sorter: &Sorter,
        to: &mut (dyn Write + Send),
    ) -> Result<MappedRun, Error> {
        let (ask, how) = (&self.job.ask, &self.job.decisions.how);
        match part {
            Dataset { content: Content::Numbers { keys, map, .. }, .. } if self.is_bits() => {
                let request = Request::keys(keys).select(ask.selection).by(ask.method);
                let keys = sorter.run(request, &mut |_, _| {})?.words;
                let key =
                    |at| KeyedBatch::of_numbers(&keys.range(at..at + 1), map, Print::Shortest, how).row(0);
                let ranges = cut.write(keys.len(), key, |range| {
                    let keys = keys.range(range);
                    let bytes =
                        differences::write(&keys, to).map_err(|error| Error::io(RUN, "write", error))?;
                    Ok((bytes, sum_of_elements(&keys, map)))
                })?;
                Ok(MappedRun { element: Some(map.element.name().to_owned()), ranges })
            }
            part => {
                let (records, order, _) = part.into_order(how, sorter, ask, &mut |_, _| {})?;
                let payload = (FramePayload::Bytes, self.job.budget.block());
                let ranges = cut.write(
                    order.len(),
                    |at| records.row(order[at]),
                    |range| {
                        let mut output = Output::writer(&mut *to, RUN.to_owned());
                        let written =
                            write_frames(&records.pieces, &order[range], 0, payload, true, &mut output)?;
                        output.finish()?;
                        Ok(written)
                    },
                )?;
                Ok(MappedRun { element: None, ranges })
            }
        }
    }

    /// Returns true if several parts may have records with one key. To find the first record of
    /// each key, one part must have all of them.
    fn cuts_ties(&self) -> bool {
        !self.job.ask.selection.unique
    }
}

/// The name of a run in messages.
const RUN: &str = "a run";

/// Cuts a task's run at the splitters.
struct Cut<'a> {
    task: u64,
    run: u64,
    splitters: &'a [Splitter],
    /// If true, records with one key may be in several parts.
    ties: bool,
    /// The offset of the run in the task's output.
    offset: u64,
}

impl Cut<'_> {
    /// Writes a sorted run of `len` records range by range. `write` returns the bytes of a range, and the sum of its
    /// checksums.
    fn write(
        &self,
        len: usize,
        key: impl Fn(usize) -> Vec<u8>,
        mut write: impl FnMut(Range<usize>) -> Result<(u64, u64), Error>,
    ) -> Result<Vec<RunRange>, Error> {
        let (mut places, mut low) = (vec![0], 0);
        for splitter in self.splitters {
            low = partition(low..len, |at| key(at) < splitter.key);
            let high = if self.ties { partition(low..len, |at| key(at) <= splitter.key) } else { low };
            let within = match (self.task, self.run).cmp(&(splitter.task, splitter.run)) {
                Ordering::Less => high - low,
                Ordering::Equal => (((high - low) as u128 * u128::from(splitter.share)) >> 32) as usize,
                Ordering::Greater => 0,
            };
            places.push(low + within);
        }
        places.push(len);
        let mut end = self.offset;
        let range = |ends: &[usize]| {
            let (range, offset) = (ends[0]..ends[1], end);
            let records = range.len() as u64;
            let (bytes, checksum) = write(range)?;
            end += bytes;
            Ok(RunRange { offset, bytes, records, checksum })
        };
        places.windows(2).map(range).collect()
    }
}
