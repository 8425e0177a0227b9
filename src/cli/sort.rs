//! `gpusort sort`: reads, sorts, writes and reports.

mod each;
mod merge;
pub(super) mod options;
mod plain;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use anyhow::bail;
use gpusort::unstable::io::{Format, Input, Output};
use gpusort::unstable::key::ElementType;
use gpusort::unstable::order::Selection;
use gpusort::unstable::pipeline::{self, Dataset, Parts, Phase, Runs, Watch};
use gpusort::unstable::plan::Shape;
use gpusort::unstable::timing::{LeftOut, Timing, milliseconds};
use gpusort::unstable::{human, memory, parallel};

use self::options::{Options, TimingForm, TimingTo};
use super::args::{CheckArgs, SortArgs};
use super::device::{Devices, Expected};
use super::meant::{self, FileAsKey};
use super::progress::{Progress, Unit};
use super::{check, format, usage};

/// Approximate bytes of a number in text, with its separator.
const BYTES_OF_TOKEN: u64 = 10;

/// Approximate bytes of a row of a table.
const BYTES_OF_ROW: u64 = 50;

/// The least bytes of a printed number: a digit and the line end.
const LEAST_PRINTED: usize = 2;

/// Shows the phases on the progress bar.
struct Watched<'a> {
    progress: &'a Progress,
    /// Whether data goes to the terminal that may show the bar.
    to_terminal: bool,
}

impl Watch for Watched<'_> {
    fn phase(&self, phase: Phase, total: Option<u64>) {
        match (phase, total) {
            (Phase::Read, _) => self.progress.phase("read", Unit::Bytes, total),
            (Phase::Order, Some(_)) => self.progress.phase("sort", Unit::Passes, total),
            (Phase::Order, None) => self.progress.phase("sort", Unit::Time, None),
            (Phase::Write | Phase::Merge, _) => {
                // The bar must not appear between records.
                if self.to_terminal {
                    self.progress.end();
                }
                let name = if phase == Phase::Merge { "merge" } else { "write" };
                self.progress.phase(name, Unit::Records, total);
            }
            _ => self.progress.phase("parse", Unit::Time, None),
        }
    }

    fn set(&self, done: u64) {
        self.progress.set(done);
    }
}

impl Options {
    fn watched<'a>(&self, progress: &'a Progress) -> Watched<'a> {
        Watched { progress, to_terminal: self.output.is_none() && io::stdout().is_terminal() }
    }

    /// An estimate of the input from file sizes; `None` unless all inputs are files.
    fn expected(&self) -> Option<Expected> {
        let bytes = self.input.inputs.iter().map(Input::size).sum::<Option<u64>>()?;
        let element = self.input.by.element.unwrap_or(ElementType::U32);
        let format = self.input.format;
        let n = match format {
            // Assumes integers: decimals are longer, but also cost more to sort.
            Format::Text => bytes / BYTES_OF_TOKEN,
            _ if format.is_table() => bytes / BYTES_OF_ROW,
            _ => bytes / element.bytes() as u64,
        };
        let is_spelled = self.input.has_rows() || format == Format::Text && element.is_float();
        let positions = self.ask.positions || is_spelled;
        let shape = Shape::of(element, positions);
        Some(Expected { n, shape, bytes, text: !format.is_bits() })
    }

    fn finish(&self, output: Output) -> Result<(), gpusort::Error> {
        if self.each { output.finish() } else { output.finish_last() }
    }

    /// Why it was sorted so, with what the input was taken for.
    fn why(&self, why: String) -> String {
        match &self.input.why {
            Some(taken) => format!("{why}; {taken}"),
            None => why,
        }
    }

    /// A note where a table's header may be data.
    fn doubt(&self, input: &Dataset, progress: &Progress) {
        if let Some(header) = input.doubtful_header().filter(|_| !self.quiet) {
            progress.note(&format!("the header is '{header}', a number; --no-header sorts it too"));
        }
    }

    /// Checks that the elements to be written are of the type that the output's name promises.
    fn check_promise(&self, element: Option<ElementType>) -> anyhow::Result<()> {
        if let (Some(promised), Some(element)) = (self.output_element, element)
            && promised != element
        {
            bail!(
                "{}: the data is {element}, not {promised}; --type {promised} reads it so, --to bin writes {element} there",
                human::path(self.output.as_deref().unwrap_or(Path::new(""))),
            );
        }
        Ok(())
    }
}

pub(super) fn run(mut args: SortArgs) -> anyhow::Result<ExitCode> {
    if args.order.sizes && usage::asks_for_help(std::env::args_os().len()) {
        return usage::help_of("sort");
    }
    if let Some(threads) = args.parallel {
        parallel::limit(usize::try_from(threads)?);
    }
    options::expand(&mut args.order)?;
    meant::check_habits(&args.device, &args.order)?;
    let checks = args.check.is_some() || args.check_quietly;
    if let Some(option) = args.how_typed.filter(|_| checks || args.merge) {
        let does = if checks { "--check" } else { "--merge" };
        bail!("--{option} is of no use to {does}, which sorts nothing");
    }
    if checks {
        let quiet = args.quiet || args.check_quietly || args.check.unwrap_or(false);
        return check::run(CheckArgs { order: args.order, progress: args.progress, quiet, help: None });
    }
    if args.each {
        each::run(&args)?;
        return Ok(ExitCode::SUCCESS);
    }
    format::check_output(args.output.as_deref(), args.to, Some(&args.order))?;
    let (file, is_typed_in, merges) = (FileAsKey::of(&args.order), args.order.files.is_empty(), args.merge);
    file.check()?;
    if is_typed_in {
        meant::tell_of_terminal(args.quiet);
    }
    let options = Options::new(args)?;
    let done = if merges { merge::run(&options) } else { sort(&options, &file) };
    done.map_err(|error| file.explain(error))?;
    Ok(ExitCode::SUCCESS)
}

fn sort(options: &Options, file: &FileAsKey) -> anyhow::Result<()> {
    let begin = Instant::now();
    let progress = Progress::new(options.progress);
    options.note().into_iter().for_each(|note| progress.note(note));
    let mut devices = options.devices();
    let how = options.input.how()?;
    let mut expected = options.expected();
    if let (Some(expected), Some(n)) = (&mut expected, pipeline::count(&how)) {
        expected.n = n;
    }
    let budget = options.budget();
    // A GPU that pays for all of them may not for as many as there is memory for, in which its driver may not start.
    let at_once =
        |expected: Expected| Expected { n: budget.at_once(expected.n, expected.shape.key), ..expected };
    devices.expect(expected.map(at_once));
    // Opened before the work, to detect a bad path early.
    let output = options.output.as_deref().map_or_else(Output::stdout, Output::file)?;
    let watched = options.watched(&progress);
    let timing = thread::scope(|scope| {
        let fits = || expected.is_some_and(|expected| budget.fits_elements(expected.n, expected.shape.key));
        let coming = (devices.is_starting() && fits())
            .then(|| pipeline::read_meanwhile(&how, &watched, scope))
            .flatten();
        if let Some(input) = coming {
            return sort_one(options, input, output, &mut devices, &progress, begin);
        }
        let mut parts = Parts::new(&options.input.inputs, &how, &budget, &watched);
        let first = parts.next_part()?;
        if first.bytes == 0 && parts.is_over() {
            file.refuse()?;
        }
        sort_all(options, first, parts, output, &mut devices, &progress, begin)
    })?;
    drop(progress);
    timing.map_or(Ok(()), |timing| tell(&timing, options))
}

/// Sorts an input, of which this is the first part, into an output; returns the timing if it is wanted.
fn sort_all(
    options: &Options,
    first: Dataset<'static>,
    parts: Parts,
    output: Output,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<Option<Timing>> {
    if parts.is_over() {
        return sort_one(options, first, output, devices, progress, begin);
    }
    sort_parts(options, first, parts, output, devices, progress, begin)
}

/// Sorts an input into an output; returns the timing if it is wanted.
fn sort_one(
    options: &Options,
    mut input: Dataset,
    mut output: Output,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<Option<Timing>> {
    let (n, bytes, ask) = (input.len(), input.bytes, &options.ask);
    options.doubt(&input, progress);
    let element = input.written(ask);
    options.check_promise(element.filter(|_| n > 0))?;
    if ask.selection == Selection::ALL {
        let as_read = ask.format == options.input.format && !ask.format.is_bits() && !ask.positions;
        output.expect(match element {
            // Printed as read, or shorter.
            _ if as_read => bytes,
            Some(element) if ask.format.is_bits() => (n * element.bytes()) as u64,
            _ => (n * LEAST_PRINTED) as u64,
        });
    }
    let shape = input.shape(ask);
    let chosen = devices.choose(n as u64, shape, input.unread(), progress)?;
    if chosen.sorter.device().is_none() && !ask.selection.is_few(n as u64) {
        // Both the sort and the output need a second buffer.
        let record = shape.key_bytes() + if shape.positions { 8 } else { 0 };
        memory::ensure("this sort", n as u64 * record + output.taking())?;
    }
    let types = input.types.clone();
    let counts = input.counts();
    let watched = options.watched(progress);
    let done = input.order(&chosen.sorter, *ask, &watched)?.write(&mut output, &watched)?;
    let start = Instant::now();
    options.finish(output)?;
    options.lost(counts.comments).into_iter().for_each(|note| progress.note(&note));
    if options.timing.is_none() {
        return Ok(None);
    }
    let mut timing = Timing::new(n, types, &chosen.sorter, &done.report, options.why(chosen.why));
    timing.bytes = bytes;
    timing.left_out = LeftOut { repeated: done.repeated as u64, cut: done.cut as u64, counts };
    timing.type_assumed = options.input.type_assumed;
    if timing.type_assumed {
        timing.why.push_str("; the type is assumed");
    }
    timing.ms.read = milliseconds(done.reading);
    timing.ms.parse = milliseconds(done.parsing);
    timing.ms.device += milliseconds(chosen.started);
    timing.ms.write = milliseconds(done.writing + start.elapsed());
    timing.ms.total = milliseconds(begin.elapsed());
    Ok(Some(timing))
}

/// Sorts an input in parts, of which this is the first, and merges them into an output.
fn sort_parts(
    options: &Options,
    mut first: Dataset<'static>,
    mut parts: Parts,
    mut output: Output,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<Option<Timing>> {
    /// With less memory, what the allocator keeps for later matters.
    const LITTLE: u64 = 1 << 28;
    if parts.budget().total() < LITTLE {
        crate::allocator::keep_little();
    }
    options.doubt(&first, progress);
    let chosen = devices.choose(first.len() as u64, first.shape(&options.ask), 0, progress)?;
    let mut folders = options.folders().within(parts.budget());
    let runs = Runs::of(first, &mut parts, options.ask, &chosen.sorter, &mut folders)?;
    options.check_promise(parts.written(&options.ask, runs.records()))?;
    let watched = options.watched(progress);
    let (done, report) = runs.merge(&parts, &mut output, &watched)?;
    let start = Instant::now();
    options.finish(output)?;
    options.lost(done.counts.comments).into_iter().for_each(|note| progress.note(&note));
    if options.timing.is_none() {
        return Ok(None);
    }
    let why = format!("{}; more than {} of memory", chosen.why, human::bytes(parts.budget().total()));
    let why = options.why(why);
    let mut timing = Timing::new(done.n as usize, done.types, &chosen.sorter, &report, why);
    timing.bytes = done.bytes;
    let cut = done.n - done.repeated - done.written;
    timing.left_out = LeftOut { repeated: done.repeated, cut, counts: done.counts };
    timing.type_assumed = options.input.type_assumed;
    (timing.runs, timing.spilled_bytes) = (done.runs, done.spilled_bytes);
    timing.ms.read = milliseconds(done.reading);
    timing.ms.parse = milliseconds(done.parsing);
    timing.ms.device += milliseconds(chosen.started);
    timing.ms.write = milliseconds(done.writing);
    timing.ms.merge = milliseconds(done.merging + start.elapsed());
    timing.ms.total = milliseconds(begin.elapsed());
    Ok(Some(timing))
}

fn tell(timing: &Timing, options: &Options) -> anyhow::Result<()> {
    let line = match options.form {
        TimingForm::Brief => timing.brief(),
        TimingForm::Full => timing.to_string(),
        TimingForm::Json => serde_json::to_string(timing)?,
    };
    match options.timing {
        None => {}
        Some(TimingTo::Stdout) => super::print(&format!("{line}\n"))?,
        Some(TimingTo::StdoutComment) => super::print(&format!("# {line}\n"))?,
        // At once, since others may write there, too.
        Some(TimingTo::Stderr) => drop(io::stderr().write_all(format!("{line}\n").as_bytes())),
    }
    Ok(())
}
