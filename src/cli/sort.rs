//! `gpusort sort`: read, sort, write, tell.

mod each;
mod merge;
pub(super) mod options;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use gpusort::human;
use gpusort::io::binary::{self, Source};
use gpusort::io::npy;
use gpusort::io::records::{write_records, write_text};
use gpusort::io::{Input, Output, Records, Spelling, Start, Starts, Table, Text, csv, text};
use gpusort::key::{ElementType, Incoming, KeysRef, Order, Pieces};
use gpusort::memory;
use gpusort::parallel;
use gpusort::plan::Shape;
use gpusort::timing::{LeftOut, Timing, milliseconds};
use gpusort::{Report, Sorter, Wanted};

use self::options::{Options, TimingTo};
use super::args::{CheckArg, CheckArgs, SortArgs};
use super::device::{Devices, Expected};
use super::format::Format;
use super::progress::{Progress, Unit};
use super::{check, usage};

/// Bytes of a number in text with what separates it from the next, about.
const BYTES_OF_TOKEN: u64 = 10;

/// Bytes of a row of a table, about.
const BYTES_OF_ROW: u64 = 50;

/// Bytes that a number is printed in, at least: a digit and what ends its line.
const LEAST_PRINTED: usize = 2;

/// What was read, or is coming, and how long that took.
struct Read<'a> {
    content: Content<'a>,
    bytes: u64,
    /// Bytes that are still to be read.
    unread: u64,
    reading: Duration,
    parsing: Duration,
}

/// What is sorted.
enum Content<'a> {
    /// Numbers, which are printed anew.
    Numbers { order: Order, keys: Incoming<'a> },
    /// Numbers in text, which come out as they were spelled.
    Tokens { order: Order, keys: Pieces, spelling: Spelling },
    /// Rows of a table, and the words that order them.
    Rows { table: Box<Table>, words: Vec<Pieces> },
}

impl Content<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Numbers { keys, .. } => keys.len(),
            Self::Tokens { keys, .. } => keys.len(),
            Self::Rows { table, .. } => table.len(),
        }
    }

    /// What the sort's elements are made of.
    fn shape(&self, options: &Options) -> Result<Shape, gpusort::Error> {
        let positions = options.argsort || !matches!(self, Self::Numbers { .. });
        let key_words = match self {
            Self::Numbers { keys, .. } => keys.words(),
            Self::Tokens { keys, .. } => keys.words(),
            Self::Rows { words, .. } => words.iter().map(Pieces::words).max().unwrap_or(1),
        };
        Shape::new(key_words, positions)
    }

    /// The type of the numbers; of a table, those of the columns.
    fn types(&self) -> String {
        match self {
            Self::Numbers { order, .. } | Self::Tokens { order, .. } => order.element.to_string(),
            Self::Rows { table, .. } if table.elements.is_empty() => ElementType::U32.to_string(),
            Self::Rows { table, .. } => {
                table.elements.iter().map(ElementType::to_string).collect::<Vec<_>>().join(",")
            }
        }
    }

    /// What was left out of it when it was read.
    fn left_out(&self) -> LeftOut {
        match self {
            Self::Rows { table, .. } => LeftOut { counts: table.counts, ..LeftOut::default() },
            _ => LeftOut::default(),
        }
    }

    /// The type of the elements that are written, if any are.
    fn written(&self, options: &Options) -> Option<ElementType> {
        match self {
            _ if options.argsort => Some(ElementType::U32),
            Self::Numbers { order, .. } | Self::Tokens { order, .. } => Some(order.element),
            Self::Rows { .. } => None,
        }
    }
}

/// What became of it.
struct Done {
    report: Report,
    writing: Duration,
    /// Records that were left out since one of the same key was before them.
    repeated: usize,
    /// Records that were written.
    written: usize,
}

impl Options {
    /// What the files tell of the input; `None` if it is not all in files.
    fn expected(&self, sources: &[Source]) -> Option<Expected> {
        let bytes = self.input.inputs.iter().map(Input::size).sum::<Option<u64>>()?;
        let element = sources.first().map(Source::element).or(self.input.element).unwrap_or(ElementType::U32);
        let format = self.input.format;
        let n = match format {
            Format::Binary | Format::Npy => {
                sources.iter().map(Source::size).sum::<Option<u64>>()? / element.bytes() as u64
            }
            // As if all were integers: numbers that turn out to be decimals are longer, but dearer to sort too.
            Format::Text => bytes / BYTES_OF_TOKEN,
            Format::Csv | Format::Tsv => bytes / BYTES_OF_ROW,
        };
        let positions = self.argsort || format.is_table() || format == Format::Text && element.is_float();
        let shape = Shape::of(element, positions);
        Some(Expected { n, shape, bytes, text: !format.is_bits() })
    }

    /// Bytes of memory that it takes at least to sort what is expected.
    fn least_memory(&self, expected: &Expected) -> u64 {
        let key = 4 * u64::from(expected.shape.key_words());
        match self.input.format {
            // Twice what the keys take: as they are read, and sorted.
            Format::Binary | Format::Npy if self.wanted == Wanted::default() => {
                expected.n.saturating_mul(2 * key)
            }
            Format::Binary | Format::Npy => expected.n.saturating_mul(key),
            // Integers whose text is not kept: 64 bits twice for 21 bytes, or half of that for 11.
            Format::Text => expected.bytes / 4 * 3,
            Format::Csv | Format::Tsv => expected.bytes,
        }
    }
}

/// # Errors
///
/// More memory is needed than there is.
fn ensure_memory(bytes: u64) -> anyhow::Result<()> {
    Ok(memory::ensure("this sort", bytes)?)
}

pub(super) fn run(args: SortArgs) -> anyhow::Result<ExitCode> {
    if args.human {
        return usage::human(std::env::args_os().len());
    }
    let checks = args.check.is_some() || args.check_quietly;
    if let Some(option) = args.how_typed.filter(|_| checks || args.merge) {
        let does = if checks { "--check" } else { "--merge" };
        bail!("--{option} is of no use to {does}, which reads one record after another");
    }
    if checks {
        let quiet = args.quiet || args.check_quietly || args.check.is_some_and(CheckArg::is_quiet);
        return check::run(CheckArgs { order: args.order, quiet });
    }
    if args.each {
        each::run(&args)?;
    } else if args.merge {
        merge::run(&Options::new(args)?)?;
    } else {
        sort(&Options::new(args)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn sort(options: &Options) -> anyhow::Result<()> {
    let begin = Instant::now();
    let progress = Progress::new(options.progress);
    let mut devices = options.devices();
    let sources = if options.input.format.is_bits() { options.input.sources()? } else { Vec::new() };
    let expected = options.expected(&sources);
    if let Some(expected) = &expected {
        ensure_memory(options.least_memory(expected))?;
    }
    devices.expect(expected);
    // Opened before the work, so that a place that can't be written to is found out now.
    let output = options.output.as_deref().map_or_else(Output::stdout, Output::file)?;
    let timing = match expected {
        Some(expected) if options.input.format.is_bits() && devices.is_starting() => {
            sort_while_reading(options, &sources, expected, output, &mut devices, &progress, begin)?
        }
        _ => {
            let input = read(options, &sources, &progress)?;
            sort_one(options, input, output, &mut devices, &progress, begin)?
        }
    };
    if let Some(timing) = timing {
        drop(progress);
        tell(&timing, options)?;
    }
    Ok(())
}

/// Sorts binary files that are read by a thread of its own, so that keys are on their way to the device before the last
/// are read.
fn sort_while_reading(
    options: &Options,
    sources: &[Source],
    expected: Expected,
    output: Output,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<Option<Timing>> {
    let direction = options.input.direction;
    // The first of them has the type of all.
    let order = direction.of(sources[0].element());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let reader = parallel::meanwhile(scope, move || {
            let start = Instant::now();
            let gone = || gpusort::Error::device("nothing more is read for it");
            let take = |keys| sender.send(Ok(keys)).map_err(|_| gone());
            if let Err(error) = binary::read(sources, direction, |done| progress.set(done), take) {
                // Where nobody receives it, another error has ended the sort.
                let _ = sender.send(Err(error));
            }
            start.elapsed()
        });
        let keys =
            Incoming::new(usize::try_from(expected.n)?, expected.shape.key_words(), receiver.into_iter());
        let input = Read {
            content: Content::Numbers { order, keys },
            bytes: expected.bytes,
            unread: expected.bytes,
            reading: Duration::ZERO,
            parsing: Duration::ZERO,
        };
        progress.phase("read", Unit::Bytes, Some(expected.bytes));
        let timing = sort_one(options, input, output, devices, progress, begin)?;
        let reading = reader.wait();
        Ok(timing.map(|mut timing| {
            timing.ms.read = milliseconds(reading);
            timing
        }))
    })
}

/// Sorts what was read into an output; returns the timing if it is wanted.
fn sort_one(
    options: &Options,
    input: Read,
    mut output: Output,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<Option<Timing>> {
    let Read { mut content, bytes, unread, reading, parsing } = input;
    let n = content.len();
    let element = content.written(options);
    if let (Some(promised), Some(element)) = (options.output_element, element)
        && promised != element
        && n > 0
    {
        bail!(
            "{}: the data is {element}, not {promised}; --type {promised} reads it so, --to bin writes {element} there",
            human::path(options.output.as_deref().unwrap_or(Path::new(""))),
        );
    }
    if options.output_format != Format::Text
        && let Content::Tokens { order, keys, .. } = content
    {
        content = Content::Numbers { order, keys: keys.into() };
    }
    if options.wanted == Wanted::default() {
        let format = options.output_format;
        let as_read = format == options.input.format && !format.is_bits() && !options.argsort;
        output.expect(match element {
            // Printed as they were, or shorter.
            _ if as_read => bytes,
            Some(element) if format.is_bits() => (n * element.bytes()) as u64,
            _ => (n * LEAST_PRINTED) as u64,
        });
    }
    let chosen = devices.choose(n as u64, content.shape(options)?, unread, progress)?;
    let (types, mut left_out) = (content.types(), content.left_out());
    if chosen.sorter.device().is_none() && !options.wanted.is_few(n as u64) {
        // What is sorted goes to another place, and so does what is written of it.
        let shape = content.shape(options)?;
        ensure_memory(n as u64 * (shape.key_bytes() + if shape.positions { 8 } else { 0 }))?;
    }
    let done = sort_and_write(options, content, &chosen.sorter, &mut output, progress)?;
    let start = Instant::now();
    if options.each { output.finish() } else { output.finish_last() }?;
    if options.timing.is_none() {
        return Ok(None);
    }
    left_out.repeated = done.repeated as u64;
    left_out.cut = (n - done.repeated - done.written) as u64;
    let mut timing = Timing::new(n, types, &chosen.sorter, &done.report, chosen.why);
    timing.bytes = bytes;
    timing.left_out = left_out;
    timing.type_assumed = options.input.type_assumed;
    if timing.type_assumed {
        timing.why.push_str("; the type is assumed");
    }
    timing.ms.read = milliseconds(reading);
    timing.ms.parse = milliseconds(parsing);
    timing.ms.device += milliseconds(chosen.started);
    timing.ms.write = milliseconds(done.writing + start.elapsed());
    timing.ms.total = milliseconds(begin.elapsed());
    Ok(Some(timing))
}

fn read<'a>(options: &Options, sources: &[Source], progress: &Progress) -> anyhow::Result<Read<'a>> {
    let input = &options.input;
    let size: Option<u64> = input.inputs.iter().map(Input::size).sum();
    progress.phase("read", Unit::Bytes, size);
    let start = Instant::now();
    let (content, bytes, reading) = match input.format {
        Format::Binary | Format::Npy => {
            // There is one at least.
            let order = input.direction.of(sources[0].element());
            let mut keys = Pieces::new(order.element);
            let take = |piece| {
                keys.push(piece);
                Ok(())
            };
            let bytes = binary::read(sources, input.direction, |done| progress.set(done), take)?;
            return Ok(Read {
                content: Content::Numbers { order, keys: keys.into() },
                bytes,
                unread: 0,
                reading: start.elapsed(),
                parsing: Duration::ZERO,
            });
        }
        Format::Text => {
            let (element, direction) = (input.element, input.direction);
            let straight =
                text::integers_from_files(&input.inputs, element, direction, |done| progress.set(done))?;
            if let Some(text::FromFiles { records, bytes, reading }) = straight {
                (records.into(), bytes, reading)
            } else {
                let text = Text::read(&input.inputs, |done| progress.set(done))?;
                let (bytes, reading) = (text.len(), start.elapsed());
                progress.phase("parse", Unit::Time, None);
                (text::parse(text, element, direction)?.into(), bytes, reading)
            }
        }
        Format::Csv | Format::Tsv => {
            let text = Text::read(&input.inputs, |done| progress.set(done))?;
            let (bytes, reading) = (text.len(), start.elapsed());
            progress.phase("parse", Unit::Time, None);
            let (table, words) = csv::read(text, input.dialect, &input.by)?;
            if let Some(header) = table.doubtful_header.as_ref().filter(|_| !options.quiet) {
                progress.note(&format!("the header is '{header}', a number; --no-header sorts it too"));
            }
            (Content::Rows { table: Box::new(table), words }, bytes, reading)
        }
    };
    let parsing = start.elapsed().saturating_sub(reading);
    Ok(Read { content, bytes, unread: 0, reading, parsing })
}

impl From<Records> for Content<'_> {
    fn from(records: Records) -> Self {
        let Records { order, keys, spelling } = records;
        match spelling {
            Some(spelling) => Self::Tokens { order, keys, spelling },
            None => Self::Numbers { order, keys: keys.into() },
        }
    }
}

/// Sorts, and writes what comes of it.
fn sort_and_write(
    options: &Options,
    content: Content,
    sorter: &Sorter,
    output: &mut Output,
    progress: &Progress,
) -> anyhow::Result<Done> {
    progress.phase("sort", Unit::Time, None);
    let mut counted = false;
    let mut passes = |done, total| {
        if !counted {
            progress.phase("sort", Unit::Passes, Some(total));
            counted = true;
        }
        progress.set(done);
    };
    let (method, wanted) = (options.method, options.wanted);
    let mut writer = Writer { options, output, progress, written: 0, writing: Duration::ZERO };
    match content {
        Content::Numbers { order, keys } if !options.argsort && wanted == Wanted::default() => {
            let n = keys.len();
            let mut begun = false;
            let report = sorter.sort_to(keys, method, &mut passes, |block| {
                if !std::mem::replace(&mut begun, true) {
                    writer.begin(order.element, n)?;
                }
                writer.numbers(block, order)
            })?;
            if !begun {
                // No block came, of no elements.
                writer.begin(order.element, n)?;
            }
            Ok(writer.done(report, 0))
        }
        Content::Numbers { order, keys } if !options.argsort => {
            let (mut keys, report) = match wanted {
                Wanted { unique: false, top: Some(top) } => sorter.top(keys, top, method, &mut passes)?,
                _ => sorter.sort(keys, method, &mut passes)?,
            };
            let n = keys.len();
            if wanted.unique {
                keys.dedup();
            }
            let repeated = n - keys.len();
            keys.truncate(wanted.top.unwrap_or(usize::MAX));
            writer.begin(order.element, keys.len())?;
            writer.numbers(keys.borrowed(), order)?;
            Ok(writer.done(report, repeated))
        }
        Content::Tokens { keys, spelling, .. } if !options.argsort && wanted == Wanted::default() => {
            let text = &spelling.text;
            match spelling.starts {
                Starts::Short(starts) => {
                    let (starts, report) = sorter.sort_records(keys, starts, method, &mut passes)?;
                    writer.tokens(text, &starts)?;
                    Ok(writer.done(report, 0))
                }
                Starts::Long(starts) => {
                    let (starts, report) = sorter.sort_records(keys, starts, method, &mut passes)?;
                    writer.tokens(text, &starts)?;
                    Ok(writer.done(report, 0))
                }
            }
        }
        content => {
            let (words, table, spelling) = match content {
                Content::Numbers { keys, .. } => (vec![keys.collect()?], None, None),
                Content::Tokens { keys, spelling, .. } => (vec![keys], None, Some(spelling)),
                Content::Rows { table, words } => (words, Some(table), None),
            };
            let ranking = sorter.rank(words, wanted, method, &mut passes)?;
            let mut rows = ranking.positions;
            if options.argsort {
                if let Some(table) = table {
                    rows = table.numbers(rows);
                }
                let order = Order::ascending(ElementType::U32);
                writer.begin(order.element, rows.len())?;
                writer.numbers(KeysRef::One(&rows), order)?;
            } else if let Some(table) = table {
                writer.rows(&table, &rows)?;
            } else if let Some(Spelling { text, starts }) = spelling {
                match starts {
                    Starts::Short(starts) => writer.tokens(&text, &pick(&starts, &rows))?,
                    Starts::Long(starts) => writer.tokens(&text, &pick(&starts, &rows))?,
                }
            }
            Ok(writer.done(ranking.report, ranking.repeated))
        }
    }
}

/// The starts at these positions.
fn pick<S: Start>(starts: &[Vec<S>], positions: &[u32]) -> Vec<S> {
    let starts = starts.concat();
    positions.iter().map(|&position| starts[position as usize]).collect()
}

/// Writes results, and takes the time of that.
struct Writer<'a> {
    options: &'a Options,
    output: &'a mut Output,
    progress: &'a Progress,
    /// Records written so far.
    written: usize,
    writing: Duration,
}

impl Writer<'_> {
    /// Begins to write so many elements of this type.
    fn begin(&mut self, element: ElementType, n: usize) -> anyhow::Result<()> {
        self.begin_records(n);
        if self.options.output_format == Format::Npy {
            let header = npy::Header::of(element, n as u64);
            self.output.write_all(&header).map_err(|error| self.output.failed(error))?;
        }
        Ok(())
    }

    fn begin_records(&self, n: usize) {
        // The bar must not come between numbers on a terminal.
        if self.options.output.is_none() && io::stdout().is_terminal() {
            self.progress.end();
        }
        self.progress.phase("write", Unit::Records, Some(n as u64));
    }

    /// Writes some elements.
    fn numbers(&mut self, keys: KeysRef, order: Order) -> anyhow::Result<()> {
        let (progress, before) = (self.progress, self.written as u64);
        let is_text = self.options.output_format == Format::Text;
        self.write(keys.len(), |output| {
            let done = |done| progress.set(before + done);
            if is_text {
                write_text(keys, order, output, done)
            } else {
                binary::write(keys, order, output, done)
            }
        })
    }

    /// Writes the tokens that begin at these places.
    fn tokens<S: Start>(&mut self, text: &Text, starts: &[S]) -> anyhow::Result<()> {
        self.begin_records(starts.len());
        let progress = self.progress;
        self.write(starts.len(), |output| write_records(text, starts, output, |done| progress.set(done)))
    }

    /// Writes these rows of a table.
    fn rows(&mut self, table: &Table, rows: &[u32]) -> anyhow::Result<()> {
        self.begin_records(rows.len());
        let progress = self.progress;
        self.write(rows.len(), |output| table.write(rows, output, |done| progress.set(done)))
    }

    fn write(&mut self, n: usize, write: impl FnOnce(&mut Output) -> io::Result<()>) -> anyhow::Result<()> {
        let start = Instant::now();
        write(self.output).map_err(|error| self.output.failed(error))?;
        self.writing += start.elapsed();
        self.written += n;
        Ok(())
    }

    fn done(self, report: Report, repeated: usize) -> Done {
        Done { report, writing: self.writing, repeated, written: self.written }
    }
}

fn tell(timing: &Timing, options: &Options) -> anyhow::Result<()> {
    let line = if options.json { timing.to_json()? } else { timing.to_string() };
    let Some(to) = options.timing else { return Ok(()) };
    match to {
        TimingTo::Stdout => super::print(&format!("{line}\n")),
        TimingTo::StdoutComment => super::print(&format!("# {line}\n")),
        TimingTo::Stderr => {
            let _ = writeln!(io::stderr(), "{line}");
            Ok(())
        }
    }
}
