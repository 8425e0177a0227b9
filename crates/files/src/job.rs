//! A sort with all decisions made except the device: it reads, orders and writes.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[cfg(feature = "arrow")]
use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::dataset::{self, Content, Dataset, Outcome, OutputSpec};
use super::decide::Decisions;
use super::parts::Parts;
use super::progress::{Phase, Watch};
use super::report::{Explained, Phases, Report};
use super::runs::Runs;
use gpusort_base::cancel::Cancel;
use gpusort_base::clock::{Instant, timed};
use gpusort_base::error::{Error, Hint};
use gpusort_base::format::Format;
use gpusort_base::{human, memory, parallel};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::{Lines, Sorter};
use gpusort_external::Folders;
use gpusort_formats::budget::Budget;
use gpusort_formats::numbers::IntegerFiles;
use gpusort_formats::{Compression, Input, InputSpec, Output, ParquetLayout, Stretches};
use gpusort_order::{ElementType, KeyMap, Kind, Selection, Shape};

/// Approximate bytes of a number in text, with its separator.
const BYTES_OF_TOKEN: u64 = 10;

/// Approximate bytes of a row of a table.
const BYTES_OF_ROW: u64 = 50;

/// The least bytes of a printed number: a digit and the line end.
const LEAST_PRINTED: u64 = 2;

/// Within a smaller budget, a sort in parts uses one thread: its parts are too small for more.
pub(super) const LITTLE: u64 = 1 << 20;

/// The least memory for transfers to a GPU, and for its driver.
const LEAST_FOR_GPU: u64 = 1 << 29;

/// Estimates of an unread input.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The exact or approximate number of elements.
    pub n: u64,
    /// The shape of an element.
    pub shape: Shape,
    /// Bytes of all inputs.
    pub bytes: u64,
    /// True if the inputs are text, in any format.
    pub text: bool,
}

/// The device for a sort, and the reason for the choice.
pub struct Chosen<'a> {
    /// The sorter of the device.
    pub sorter: &'a Sorter,
    /// The startup time, if the device was started for this sort.
    pub started: Duration,
    /// The reason for the choice.
    pub why: String,
}

impl Chosen<'_> {
    /// Adds the choice to a report.
    pub(super) fn reported(self, report: Report) -> Report {
        let devices = self.sorter.devices().cloned().collect();
        let phases = Phases { device: self.started, ..report.phases };
        Report { devices, phases, why: self.why, ..report }
    }

    /// Adds to the reason that the input is sorted in parts.
    pub(super) fn with_budget(self, budget: &Budget) -> Self {
        let budget = human::bytes(budget.total());
        let why = format!("{}; in parts, within a memory budget of {budget}", self.why);
        Self { why, ..self }
    }
}

/// Chooses the device for a sort.
pub trait ChooseSorter {
    /// Announces a sort; `expected` is known if all inputs are files. Returns true if a device is being
    /// started.
    fn expect(&mut self, _expected: Option<Expected>) -> bool {
        false
    }

    /// Announces that the input is sorted in parts, within this much memory.
    fn in_parts(&mut self, _memory: u64) {}

    /// Returns true if a GPU is expected to sort lines of integers sooner than the CPU when it reads and writes their
    /// text itself.
    fn prefers_lines(&mut self, _expected: Expected) -> bool {
        false
    }

    /// Starts the GPU for lines, and calls `meanwhile` during its start. Returns `None` if it does not start.
    ///
    /// # Errors
    ///
    /// The requested device does not start.
    fn for_lines(
        &mut self,
        _expected: Expected,
        _meanwhile: &mut dyn FnMut(),
    ) -> Result<Option<Chosen<'_>>, Error> {
        Ok(None)
    }

    /// Chooses for `n` elements of this shape, with `unread` bytes not yet read.
    ///
    /// # Errors
    ///
    /// The requested device does not start.
    fn choose(&mut self, n: u64, shape: Shape, unread: u64) -> Result<Chosen<'_>, Error>;
}

/// A sorter is always the choice.
impl ChooseSorter for &Sorter {
    fn choose(&mut self, _: u64, _: Shape, _: u64) -> Result<Chosen<'_>, Error> {
        Ok(Chosen { sorter: self, started: Duration::ZERO, why: "chosen by the caller".to_owned() })
    }

    fn prefers_lines(&mut self, _: Expected) -> bool {
        self.device().is_some()
    }

    fn for_lines(
        &mut self,
        Expected { n, shape, .. }: Expected,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Option<Chosen<'_>>, Error> {
        meanwhile();
        self.choose(n, shape, 0).map(Some)
    }
}

/// The destination of a result.
pub enum To<'a> {
    /// Standard output.
    Stdout,
    /// A file, replaced once the result is complete.
    File(&'a Path),
    /// A writer.
    Writer(&'a mut (dyn io::Write + Send)),
}

/// A sort with all decisions made except the device.
pub struct Job<'a> {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The decisions about the inputs.
    pub decisions: Decisions,
    /// The sizes of reads of a check.
    pub(super) stretches: Stretches,
    pub(super) ask: OutputSpec,
    /// The type that the output's name promises.
    pub(super) promised: Option<ElementType>,
    pub(super) watch: Watch<'a>,
    pub(super) cancel: Cancel,
    /// Folders for temporary files; empty for the default.
    pub(super) folders: Vec<PathBuf>,
    pub(super) budget: Budget,
    /// The compression of the output, unless its name decides.
    pub(super) compression: Option<Compression>,
    /// True for the last work of the process: a signal after the output is complete then ends the process with
    /// success.
    pub is_last: bool,
    /// The format into which sorted text is converted. Without feature `arrow` always `None`.
    pub(super) converted: Option<Format>,
    /// The column whose values have a number of records each.
    pub(super) per: Option<InputSpec>,
    /// The seed of a permutation.
    pub(super) shuffle: Option<u64>,
    pub(super) layout: ParquetLayout,
    /// The compression of Parquet, unless it follows the input.
    #[cfg(feature = "arrow")]
    pub(super) parquet: Option<parquet::basic::Compression>,
    /// The keys of tables, once these are open.
    #[cfg(feature = "arrow")]
    pub(super) table_keys: std::sync::OnceLock<Vec<super::report::ExplainedKey>>,
}

impl Job<'_> {
    /// The decisions about the inputs.
    ///
    /// # Errors
    ///
    /// Errors of reading the schema of tables.
    pub fn explain(&self) -> Result<Explained, Error> {
        let mut explained = Explained::of(&self.decisions);
        if self.shuffle.is_some() {
            explained.keys.clear();
        }
        #[cfg(feature = "arrow")]
        if self.decisions.format.has_columns() {
            return Ok(Explained { keys: self.explain_tables()?, ..explained });
        }
        Ok(explained)
    }

    /// The format of the output.
    pub fn format(&self) -> Format {
        self.converted.unwrap_or(self.ask.format)
    }

    /// Writes text instead of binary, for a human reader.
    pub fn print(&mut self) {
        if self.ask.format.is_bits() {
            self.ask.format = Format::Text;
        }
        if self.format().has_columns() && self.converted.take().is_none() {
            self.ask.format = Format::Csv;
        }
    }

    /// The bytes of the inputs whose sizes are known.
    pub(super) fn known_size(&self) -> u64 {
        self.inputs.iter().filter_map(Input::size).sum()
    }

    /// The expected input, from file sizes; `None` unless all inputs are files.
    pub fn expected(&self) -> Option<Expected> {
        let bytes = self.inputs.iter().map(Input::size).sum::<Option<u64>>()?;
        let (how, format) = (&self.decisions.how, self.decisions.format);
        let element = how.by.element.unwrap_or(ElementType::U32);
        let n = match format {
            // Assumes integers: decimals are longer, but also cost more to sort.
            Format::Text => bytes / BYTES_OF_TOKEN,
            _ if format.is_table() => bytes / BYTES_OF_ROW,
            _ => dataset::count(how).unwrap_or(bytes / element.bytes() as u64),
        };
        let is_spelled = !format.is_bits() && (format != Format::Text || element.is_float());
        let shape = Shape::of(element, self.ask.positions || is_spelled);
        Some(Expected { n, shape, bytes, text: !format.is_bits() })
    }

    /// Sorts the inputs.
    ///
    /// # Errors
    ///
    /// Errors of an input, an output or a device.
    pub fn run(&self, devices: &mut dyn ChooseSorter, to: To) -> Result<Report, Error> {
        let begin = Instant::now();
        #[cfg(feature = "arrow")]
        if self.decisions.format.has_columns() {
            let report = match self.ask.answer {
                Some(answer) => self.answer_tables(answer, devices, to)?,
                None => self.sort_tables(devices, to)?,
            };
            return Ok(report.since(begin));
        }
        Ok(self.write_text(to, |output| self.run_text(devices, output))?.since(begin))
    }

    /// Does work that writes text or binary, and converts its output if required.
    pub(super) fn write_text(
        &self,
        to: To,
        work: impl FnOnce(Output) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        #[cfg(feature = "arrow")]
        if let Some(format) = self.converted {
            return self.convert(format, to, work);
        }
        // Opened first, to detect a bad path early.
        work(self.open(to)?)
    }

    /// Sorts text or binary.
    fn run_text(&self, devices: &mut dyn ChooseSorter, mut output: Output) -> Result<Report, Error> {
        if let Some(answer) = self.ask.answer {
            return self.answer(answer, devices, output);
        }
        if let Some(mut report) = self.sort_lines(devices, &mut output)? {
            self.close(output, &mut report.phases.write)?;
            return Ok(report);
        }
        let (how, budget) = (&self.decisions.how, &self.budget);
        let expected = self.expected();
        // A GPU may pay off for the whole input, but not for the part that fits in memory; in little
        // memory its driver may not even start.
        let at_once =
            |expected: Expected| Expected { n: budget.at_once(expected.n, expected.shape.key), ..expected };
        let is_starting = devices.expect(expected.map(at_once));
        thread::scope(|scope| {
            let fits =
                || expected.is_some_and(|expected| budget.fits_elements(expected.n, expected.shape.key));
            let coming =
                (is_starting && fits()).then(|| dataset::read_meanwhile(how, &self.watch, scope)).flatten();
            if let Some(input) = coming {
                let outcome = self.order(input, &mut output, devices)?;
                return self.write(outcome, output);
            }
            let (first, parts) = self.first_part()?;
            self.sort_all(first, parts, output, devices)
        })
    }

    /// Sorts lines of integers on a GPU that reads and writes their text. Returns `None`, with nothing written, if a line
    /// is not such an integer, if the GPU cannot take the lines, or if the CPU is expected to take less time.
    fn sort_lines(
        &self,
        devices: &mut dyn ChooseSorter,
        output: &mut Output,
    ) -> Result<Option<Report>, Error> {
        let (ask, how) = (&self.ask, &self.decisions.how);
        let is_plain = ask.selection == Selection::ALL && !ask.positions && self.shuffle.is_none();
        let is_text = ask.format == self.decisions.format && !ask.format.is_bits();
        let budget = self.budget.bytes();
        let Some(expected) = self.expected().filter(|_| is_plain && is_text && budget >= LEAST_FOR_GPU)
        else {
            return Ok(None);
        };
        if how.numbers().is_none() || !devices.prefers_lines(expected) {
            return Ok(None);
        }
        let files = IntegerFiles::open(&self.inputs, how, &self.budget)?;
        let Some(text) = files.map(IntegerFiles::for_device).transpose()?.flatten() else { return Ok(None) };
        let (bytes, shape) = (text.bytes(), Shape::of(text.map.element, false));
        let expected = Expected { n: text.estimate, shape, bytes, text: true };
        let chosen = devices.for_lines(expected, &mut || self.prepare(output, bytes))?;
        let Some(mut chosen) = chosen else { return Ok(None) };
        let is_apart = chosen.sorter.device().is_some_and(|info| info.kind == Kind::Discrete);
        let keys = 3 * text.most as u64 * shape.key_bytes();
        if !is_apart && budget < LEAST_FOR_GPU + keys {
            return Ok(None);
        }
        self.watch.phase(Phase::Read, Some(bytes));
        let read = AtomicU64::new(0);
        let fill = |place, room: &mut [u8]| {
            text.fill(place, room)?;
            let read = read.fetch_add(room.len() as u64, Ordering::Relaxed) + room.len() as u64;
            self.watch.set(read.min(bytes));
            Ok(())
        };
        let may_return = text.may_return();
        let lines = Lines { bytes, most: text.most, map: text.map, may_return, fill: &fill };
        let (mut write, mut written, count) = (Duration::ZERO, 0, Cell::new(0));
        let mut begin = |lines| {
            count.set(lines as u64);
            self.watch.phase(Phase::Write, Some(count.get()));
            text.is_unchanged().unwrap_or(false)
        };
        let mut take = |block: &[u8]| {
            timed(&mut write, || output.write_all(block)).map_err(|error| output.failed(error))?;
            written += block.len() as u64;
            self.watch.set((u128::from(count.get()) * u128::from(written) / u128::from(bytes)) as u64);
            Ok(())
        };
        let sort = chosen.sorter.sort_lines(lines, ask.method, &mut begin, &mut take)?;
        let (Some(sort), count) = (sort, count.get()) else { return Ok(None) };
        chosen.why += "; the GPU reads and writes the text";
        let (bytes, types, phases) = (text.read_bytes(), how.kinds(), Phases { write, ..Phases::default() });
        let report = Report { records: count, bytes, phases, types, ..Report::new(ask.format) };
        Ok(Some(chosen.reported(report.with_sort(sort, 0, count as usize))))
    }

    /// Prepares an output of this number of bytes while a GPU works, if the memory suffices.
    fn prepare(&self, output: &mut Output, bytes: u64) {
        output.expect(bytes, self.budget.bytes() >= LEAST_FOR_GPU + bytes);
    }

    /// The first part of the inputs, usually the whole, and the parts after it.
    fn first_part(&self) -> Result<(Dataset<'static>, Parts<'_>), Error> {
        let mut parts =
            Parts::new(&self.inputs, &self.decisions.how, &self.budget, &self.watch).shuffled(self.shuffle);
        let first = parts.next().expect("the first part may be empty")?;
        Ok((first, parts))
    }

    /// Reads the first part of the inputs, usually the whole.
    ///
    /// # Errors
    ///
    /// An error of an input.
    pub fn load(&self) -> Result<Loaded<'_>, Error> {
        let begin = Instant::now();
        let is_apart = self.decisions.format.has_columns() || self.converted.is_some();
        let read = if is_apart || self.ask.answer.is_some() { None } else { Some(self.first_part()?) };
        Ok(Loaded { read, begin })
    }

    /// Sorts inputs that [`Job::load`] has begun to read. The returned function writes the records;
    /// it runs on any thread and needs no device.
    ///
    /// # Errors
    ///
    /// See [`Job::run`].
    pub fn sort_only<'w>(
        &'w self,
        loaded: Loaded<'w>,
        devices: &mut dyn ChooseSorter,
        to: To<'w>,
    ) -> Result<Box<dyn FnOnce() -> Result<Report, Error> + Send + 'w>, Error> {
        let report = match loaded.read {
            Some((first, parts)) if parts.is_over() => {
                let mut output = self.open(to)?;
                let outcome = self.order(first, &mut output, devices)?.brought()?;
                return Ok(Box::new(move || Ok(self.write(outcome, output)?.since(loaded.begin))));
            }
            Some((first, parts)) => self.sort_all(first, parts, self.open(to)?, devices)?.since(loaded.begin),
            None => self.run(devices, to)?,
        };
        Ok(Box::new(move || Ok(report)))
    }

    /// Returns true if the results of this many bytes of input fit the memory of one sort.
    pub fn holds(&self, bytes: u64) -> bool {
        /// Memory for short records, as a multiple of their bytes.
        const TIMES: u64 = 8;
        self.budget.fits(bytes, TIMES)
    }

    /// The numbers of the inputs as keys, with their map; `None` for tables with columns, or if memory cannot hold
    /// all keys.
    ///
    /// # Errors
    ///
    /// An error of an input.
    pub fn numbers(&self) -> Result<Option<(KeyBuf<'static>, KeyMap)>, Error> {
        let read = self.load()?.read.filter(|(_, parts)| parts.is_over());
        let Some((first, _)) = read else { return Ok(None) };
        let Content::Numbers { keys, map, .. } = first.into_elements(&self.decisions.how)?.content else {
            unreachable!("elements are numbers")
        };
        Ok(Some((keys.collect()?, map)))
    }

    pub(super) fn open<'w>(&self, to: To<'w>) -> Result<Output<'w>, Error> {
        let output = match to {
            To::Stdout => Output::stdout()?,
            To::File(path) if self.layout.split.is_some() => Output::folder(path)?,
            To::File(path) => Output::file(path)?,
            To::Writer(writer) => Output::writer(writer, "the output".to_owned()),
        };
        let output = output.cancelled_by(&self.cancel).compressed_as(self.compression);
        #[cfg(feature = "arrow")]
        if self.format() != self.decisions.format && (self.format().is_table() || self.format().has_columns())
        {
            // A value that the format lacks is an error before anything is written.
            return Ok(output.held(self.spool()));
        }
        Ok(output)
    }

    /// A temporary file, in memory up to a sixteenth of the budget.
    #[cfg(feature = "arrow")]
    pub(super) fn spool(&self) -> SpooledTempFile {
        let most = usize::try_from(self.budget.bytes() / 16).unwrap_or(usize::MAX);
        spooled_tempfile_in(most, self.temp_folder())
    }

    /// The folder for temporary files.
    #[cfg(feature = "arrow")]
    pub(super) fn temp_folder(&self) -> PathBuf {
        Folders::new(self.folders.clone()).first().to_owned()
    }

    /// The folders for runs.
    pub(super) fn folders(&self) -> Folders {
        Folders::new(self.folders.clone()).within(&self.budget, &self.cancel)
    }

    /// Completes an output; the time counts for this phase.
    pub(super) fn close(&self, output: Output, phase: &mut Duration) -> Result<(), Error> {
        timed(phase, || output.finish_as(self.is_last))
    }

    /// Checks that the elements to write have the type that the output's name promises.
    pub(super) fn check_promise(&self, element: Option<ElementType>, output: &Output) -> Result<(), Error> {
        match (self.promised, element) {
            (Some(promised), Some(element)) if promised != element => {
                let problem = format!("the data is {element}, not {promised}");
                Err(Error::input(output.name(), problem).hinting(Hint::Promised { promised, element }))
            }
            _ => Ok(()),
        }
    }

    /// Sorts an input whose first part is `first`, into an output.
    fn sort_all(
        &self,
        first: Dataset<'static>,
        mut parts: Parts,
        mut output: Output,
        devices: &mut dyn ChooseSorter,
    ) -> Result<Report, Error> {
        if parts.is_over() {
            let outcome = self.order(first, &mut output, devices)?;
            return self.write(outcome, output);
        }
        let mut report = self.merge_parts(first, &mut parts, self.ask, devices, |runs, _| {
            let element = runs.written()?;
            self.check_promise(element, &output)?;
            let expected = self.bytes_of(runs.report.records, runs.report.bytes, element);
            runs.merge(&mut output, expected, &self.watch)
        })?;
        self.close(output, &mut report.phases.merge)?;
        Ok(report)
    }

    /// Sorts the parts of an input, the first of them `first`, into runs, which `merge` merges.
    pub(super) fn merge_parts(
        &self,
        first: Dataset<'static>,
        parts: &mut Parts,
        ask: OutputSpec,
        devices: &mut dyn ChooseSorter,
        merge: impl FnOnce(Runs, &Parts) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        devices.in_parts(self.budget.total());
        let chosen = devices.choose(first.len() as u64, first.shape(&ask), 0)?;
        let mut folders = self.folders();
        let sort = || merge(Runs::of(first, parts, ask, chosen.sorter, &mut folders)?, parts);
        let report = if self.budget.bytes() < LITTLE { parallel::alone(sort) } else { sort() }?;
        Ok(chosen.with_budget(&self.budget).reported(report))
    }

    /// The approximate bytes of `n` records in the output, `read` bytes in the input; 0 if the size
    /// depends on the records.
    pub(super) fn bytes_of(&self, n: u64, read: u64, element: Option<ElementType>) -> u64 {
        let (ask, Selection { unique, first }) = (&self.ask, self.ask.selection);
        let as_read = ask.format == self.decisions.format && !ask.format.is_bits() && !ask.positions;
        let kept = first.map_or(n, |first| n.min(first as u64));
        match element {
            _ if unique || as_read && kept < n => 0,
            // Text keeps its length in the input, or gets shorter.
            _ if as_read => read,
            Some(element) if ask.format.is_bits() => kept * element.bytes() as u64,
            _ => kept * LEAST_PRINTED,
        }
    }

    /// Sorts an input for this output.
    fn order<'s, 'a>(
        &self,
        mut input: Dataset<'a>,
        output: &mut Output,
        devices: &'s mut dyn ChooseSorter,
    ) -> Result<Outcome<'s, 'a>, Error> {
        let (ask, how) = (&self.ask, &self.decisions.how);
        if ask.format.is_bits() && !ask.positions {
            input = input.into_elements(how)?;
        }
        let (n, element) = (input.len(), input.written(ask));
        self.check_promise(element.filter(|_| n > 0), output)?;
        let expected = self.bytes_of(n as u64, input.bytes, element);
        if let Content::Records { records, words } = &mut input.content {
            *words = Some(timed(&mut input.parsing, || records.take_words(ask.selection.unique)));
        }
        let shape = input.shape(ask);
        let chosen = devices.choose(n as u64, shape, input.unread())?;
        if ask.format.is_bits() && chosen.sorter.device().is_some() {
            self.prepare(output, expected);
        } else {
            output.expect(expected, false);
        }
        if chosen.sorter.device().is_none() {
            // The sort and the output both need a second buffer.
            let record = shape.key_bytes() + if shape.payload { 8 } else { 0 };
            // To select a few records, each core keeps several times their number, if most keys are alike.
            let few = ask.selection.first.filter(|_| ask.selection.is_few(n as u64));
            let kept = few.map_or(n, |few| n.min(few.saturating_mul(8 * parallel::threads())));
            memory::ensure("this sort", kept as u64 * record + output.taking())?;
        }
        let named = element.filter(|_| ask.format.is_bits() && !ask.positions);
        let types = named.map_or_else(|| how.kinds(), |element| element.name().to_owned());
        let mut outcome = input.order(chosen.sorter, *ask, &self.watch)?;
        outcome.report = Report { types, ..chosen.reported(outcome.report) };
        Ok(outcome)
    }

    /// Writes records in order, and completes their output.
    fn write(&self, outcome: Outcome, mut output: Output) -> Result<Report, Error> {
        let mut report = outcome.write(&mut output, &self.watch)?;
        self.close(output, &mut report.phases.write)?;
        Ok(report)
    }
}

/// An input whose first part has been read, usually the whole.
pub struct Loaded<'a> {
    /// `None` for tables with columns and for answers, which are read otherwise.
    read: Option<(Dataset<'static>, Parts<'a>)>,
    begin: Instant,
}
