//! `gpusort sort`: from what was typed to what is meant, then read, sort, write, tell.

mod each;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gpusort::io::records::{write_records, write_text};
use gpusort::io::{Input, Output, Records, Spelling, Start, Starts, Text, binary, text};
use gpusort::key::{ElementType, Incoming, Order, Pieces};
use gpusort::plan::Shape;
use gpusort::timing::{Timing, milliseconds};
use gpusort::{Method, Report, Sorter};

use super::args::{FormatArg, SortArgs, TimingArg};
use super::device::{Device, Devices, Expected};
use super::format::{self, Extension, Format, name_of};
use super::progress::{Progress, Unit};

/// Bytes of a number in text with what separates it from the next, about.
const BYTES_OF_TOKEN: u64 = 10;

/// Bytes that a number is printed in, at least: a digit and what ends its line.
const LEAST_PRINTED: usize = 2;

/// What is meant: every option resolved against the others, nothing opened yet.
struct Options {
    inputs: Vec<Input>,
    format: Format,
    /// The type asked for, or known from the extension.
    element: Option<ElementType>,
    /// Whether the type is that of `.bin`, which nobody named.
    type_assumed: bool,
    descending: bool,
    method: Method,
    device: Device,
    /// `None` is standard output.
    output: Option<PathBuf>,
    output_format: Format,
    /// The type that the output's extension promises.
    output_element: Option<ElementType>,
    timing: Option<TimingTo>,
    json: bool,
    quiet: bool,
    progress: super::args::Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimingTo {
    Stdout,
    /// On standard output below text data, as a comment.
    StdoutComment,
    Stderr,
}

impl Options {
    fn new(args: SortArgs) -> anyhow::Result<Self> {
        let inputs: Vec<Input> = if args.files.is_empty() {
            vec![Input::Stdin]
        } else {
            let input =
                |file: PathBuf| if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file) };
            args.files.into_iter().map(input).collect()
        };
        let format = input_format(args.from, &inputs)?;
        let (element, type_assumed) = match (args.element.0, format) {
            (None, Format::Binary) => binary_element(&inputs)?,
            (element, _) => (element, false),
        };

        let method = Method { algorithm: args.algo.0, variant: args.variant };
        if let (None, Some(variant)) = (method.algorithm, method.variant) {
            bail!("--variant {variant} needs --algo, which it is a variant of");
        }
        method.on_gpu()?;

        let output = format::unless_stdout(args.output);
        let (mut output_format, output_element) =
            format::of_output(args.to, output.as_deref())?.unwrap_or((format, None));
        let to_stdout = output.is_none();
        if to_stdout && io::stdout().is_terminal() {
            output_format = Format::Text;
        }

        let timing = match args.timing {
            TimingArg::Off => None,
            _ if args.quiet && !args.json && !args.timing_typed => None,
            // A default of the environment's must not make an error of what is none without it.
            TimingArg::Stdout if !args.timing_typed && to_stdout && output_format == Format::Binary => {
                Some(TimingTo::Stderr)
            }
            TimingArg::Stderr => Some(TimingTo::Stderr),
            TimingArg::Auto if to_stdout && !io::stdout().is_terminal() => Some(TimingTo::Stderr),
            TimingArg::Auto | TimingArg::Stdout if !to_stdout => Some(TimingTo::Stdout),
            TimingArg::Auto | TimingArg::Stdout if output_format == Format::Text => {
                Some(TimingTo::StdoutComment)
            }
            TimingArg::Auto | TimingArg::Stdout => {
                bail!("--timing stdout would mix with the binary data there; write that to a file with -o")
            }
        };
        Ok(Self {
            inputs,
            format,
            element,
            type_assumed,
            descending: args.reverse,
            method,
            device: Device::named(&args.device)?,
            output,
            output_format,
            output_element,
            timing,
            json: args.json,
            quiet: args.quiet,
            progress: if args.quiet && !args.progress_typed {
                super::args::Progress::Never
            } else {
                args.progress.progress
            },
        })
    }

    /// The order of binary data.
    fn order(&self) -> Order {
        Order { element: self.element.unwrap_or(ElementType::U32), descending: self.descending }
    }

    fn devices(&self) -> Devices {
        Devices::new(self.device.clone(), self.method, !self.quiet)
    }

    /// What the files tell of the input; `None` if it is not all in files.
    fn expected(&self) -> Option<Expected> {
        let bytes = self.inputs.iter().map(Input::size).sum::<Option<u64>>()?;
        let element = self.element.unwrap_or(ElementType::U32);
        let text = self.format == Format::Text;
        // As if all were integers: numbers that turn out to be decimals are longer, but dearer to sort too.
        let n = bytes / if text { BYTES_OF_TOKEN } else { element.bytes() as u64 };
        let shape = Shape { key_words: element.bytes() as u32 / 4, positions: text && element.is_float() };
        Some(Expected { n, shape, bytes, text })
    }
}

fn input_format(from: FormatArg, inputs: &[Input]) -> anyhow::Result<Format> {
    match from {
        FormatArg::Text => return Ok(Format::Text),
        FormatArg::Bin => return Ok(Format::Binary),
        FormatArg::Auto => {}
        other => bail!("--from {} is not supported yet; text and bin are", name_of(&other)),
    }
    let mut formats = Vec::with_capacity(inputs.len());
    for input in inputs {
        formats.push(match input.path().map_or(Extension::Unknown, Extension::of) {
            Extension::Binary(_) => Format::Binary,
            Extension::Text | Extension::Unknown => Format::Text,
            Extension::Unsupported => {
                bail!(
                    "{}: this format is not supported yet; --from text or --from bin reads it as that",
                    input.name()
                )
            }
        });
    }
    match formats.iter().position(|format| *format != formats[0]) {
        None => Ok(formats[0]),
        Some(other) => {
            let (binary, text) = match formats[0] {
                Format::Binary => (0, other),
                Format::Text => (other, 0),
            };
            let name = |index: usize| inputs[index].name();
            bail!("{} is binary and {} is text; --from says which they all are", name(binary), name(text))
        }
    }
}

/// The type of binary files by their extensions, and whether it is only assumed.
fn binary_element(inputs: &[Input]) -> anyhow::Result<(Option<ElementType>, bool)> {
    let named: Vec<(&Input, Option<ElementType>)> = inputs
        .iter()
        .map(|input| (input, input.path().and_then(|path| Extension::of(path).element())))
        .collect();
    let (first, element) = named[0];
    if let Some((other, _)) = named.iter().find(|(_, other)| *other != element) {
        bail!(
            "{} and {} may be of different types; --type says which they all are",
            first.name(),
            other.name()
        );
    }
    Ok((Some(element.unwrap_or(ElementType::U32)), element.is_none()))
}

pub(super) fn run(args: SortArgs) -> anyhow::Result<()> {
    if args.each {
        return each::run(&args);
    }
    let begin = Instant::now();
    let options = Options::new(args)?;
    let progress = Progress::new(options.progress);
    let mut devices = options.devices();
    let expected = options.expected();
    devices.expect(expected);
    // Opened before the work, so that a place that can't be written to is found out now.
    let output = options.output.as_deref().map_or_else(Output::stdout, Output::file)?;
    let timing = match expected {
        Some(expected) if options.format == Format::Binary && devices.is_starting() => {
            sort_while_reading(&options, expected, output, &mut devices, &progress, begin)?
        }
        _ => {
            let input = read(&options, &progress)?;
            sort_one(&options, input, output, &mut devices, &progress, begin)?
        }
    };
    if let Some(timing) = timing {
        drop(progress);
        tell(&timing, &options)?;
    }
    Ok(())
}

/// What was read, or is coming, and how long that took.
struct Read<'a> {
    order: Order,
    keys: Incoming<'a>,
    spelling: Option<Spelling>,
    bytes: u64,
    /// Bytes that are still to be read.
    unread: u64,
    reading: Duration,
    parsing: Duration,
}

/// Sorts binary files that are read by a thread of its own, so that keys are on their way to the device before the last
/// are read.
fn sort_while_reading(
    options: &Options,
    expected: Expected,
    output: Output,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<Option<Timing>> {
    let order = options.order();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let reader = scope.spawn(move || {
            let start = Instant::now();
            let gone = || gpusort::Error::device("nothing more is read for it");
            let take = |keys| sender.send(Ok(keys)).map_err(|_| gone());
            if let Err(error) = binary::read(&options.inputs, order, |done| progress.set(done), take) {
                // Where nobody receives it, another error has ended the sort.
                let _ = sender.send(Err(error));
            }
            start.elapsed()
        });
        let keys =
            Incoming::new(usize::try_from(expected.n)?, expected.shape.key_words, receiver.into_iter());
        let input = Read {
            order,
            keys,
            spelling: None,
            bytes: expected.bytes,
            unread: expected.bytes,
            reading: Duration::ZERO,
            parsing: Duration::ZERO,
        };
        progress.phase("read", Unit::Bytes, Some(expected.bytes));
        let timing = sort_one(options, input, output, devices, progress, begin)?;
        let reading = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
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
    let Read { order, keys, spelling, bytes, unread, reading, parsing } = input;
    let n = keys.len();
    if let Some(promised) = options.output_element
        && promised != order.element
        && n > 0
    {
        bail!(
            "{}: the data is {}, not {promised}; --to bin writes it all the same",
            options.output.as_deref().unwrap_or(Path::new("")).display(),
            order.element
        );
    }

    let spelling = spelling.filter(|_| options.output_format == Format::Text);
    let shape = Shape { key_words: keys.words(), positions: spelling.is_some() };
    output.expect(match options.output_format {
        // Printed as they were, or shorter.
        Format::Text if options.format == Format::Text => bytes,
        Format::Text => (n * LEAST_PRINTED) as u64,
        Format::Binary => (n * order.element.bytes()) as u64,
    });
    let chosen = devices.choose(n as u64, shape, unread, progress)?;
    let (report, write) =
        sort_and_write(options, order, keys, spelling, &chosen.sorter, &mut output, progress)?;
    let start = Instant::now();
    output.finish()?;
    if options.timing.is_none() {
        return Ok(None);
    }
    let mut timing = Timing::new(n, order.element, &chosen.sorter, &report, chosen.why);
    timing.bytes = bytes;
    timing.type_assumed = options.type_assumed;
    if options.type_assumed {
        timing.why.push_str("; the type is assumed");
    }
    timing.ms.read = milliseconds(reading);
    timing.ms.parse = milliseconds(parsing);
    timing.ms.device += milliseconds(chosen.started);
    timing.ms.write = milliseconds(write + start.elapsed());
    timing.ms.total = milliseconds(begin.elapsed());
    Ok(Some(timing))
}

fn read<'a>(options: &Options, progress: &Progress) -> anyhow::Result<Read<'a>> {
    let size: Option<u64> = options.inputs.iter().map(Input::size).sum();
    progress.phase("read", Unit::Bytes, size);
    let start = Instant::now();
    let (records, bytes, reading) = match options.format {
        Format::Binary => {
            let order = options.order();
            let mut keys = Pieces::new(order.element);
            let bytes = binary::read(
                &options.inputs,
                order,
                |done| progress.set(done),
                |piece| {
                    keys.push(piece);
                    Ok(())
                },
            )?;
            (Records { order, keys, spelling: None }, bytes, start.elapsed())
        }
        Format::Text => {
            let (element, descending) = (options.element, options.descending);
            let straight =
                text::integers_from_files(&options.inputs, element, descending, |done| progress.set(done))?;
            if let Some(text::FromFiles { records, bytes, reading }) = straight {
                (records, bytes, reading)
            } else {
                let text = Text::read(&options.inputs, |done| progress.set(done))?;
                let (bytes, reading) = (text.len(), start.elapsed());
                progress.phase("parse", Unit::Time, None);
                (text::parse(text, element, descending)?, bytes, reading)
            }
        }
    };
    let Records { order, keys, spelling } = records;
    let parsing = match options.format {
        Format::Binary => Duration::ZERO,
        Format::Text => start.elapsed().saturating_sub(reading),
    };
    Ok(Read { order, keys: keys.into(), spelling, bytes, unread: 0, reading, parsing })
}

/// Sorts, and writes what comes of it; returns also how long the writing took.
fn sort_and_write(
    options: &Options,
    order: Order,
    keys: Incoming,
    spelling: Option<Spelling>,
    sorter: &Sorter,
    output: &mut Output,
    progress: &Progress,
) -> anyhow::Result<(Report, Duration)> {
    progress.phase("sort", Unit::Time, None);
    let mut counted = false;
    let mut passes = |done, total| {
        if !counted {
            progress.phase("sort", Unit::Passes, Some(total));
            counted = true;
        }
        progress.set(done);
    };
    match spelling {
        Some(Spelling { text, starts: Starts::Short(starts) }) => {
            let done = sorter.sort_records(keys.collect()?, starts, options.method, &mut passes)?;
            write_lines(&text, done, options, output, progress)
        }
        Some(Spelling { text, starts: Starts::Long(starts) }) => {
            let done = sorter.sort_records(keys.collect()?, starts, options.method, &mut passes)?;
            write_lines(&text, done, options, output, progress)
        }
        None => {
            let n = keys.len() as u64;
            let (mut written, mut writing) = (0, Duration::ZERO);
            let report = sorter.sort_to(keys, options.method, &mut passes, |block| {
                let start = Instant::now();
                if written == 0 {
                    before_writing(options, progress);
                    progress.phase("write", Unit::Records, Some(n));
                }
                let done = |done| progress.set(written + done);
                match options.output_format {
                    Format::Text => write_text(block, order, output, done),
                    Format::Binary => binary::write(block, order, output, done),
                }
                .map_err(|error| output.failed(error))?;
                written += block.len() as u64;
                writing += start.elapsed();
                Ok::<_, anyhow::Error>(())
            })?;
            Ok((report, writing))
        }
    }
}

fn write_lines<S: Start>(
    text: &Text,
    (starts, report): (Vec<S>, Report),
    options: &Options,
    output: &mut Output,
    progress: &Progress,
) -> anyhow::Result<(Report, Duration)> {
    let start = Instant::now();
    before_writing(options, progress);
    progress.phase("write", Unit::Records, Some(starts.len() as u64));
    let written = write_records(text, &starts, output, |done| progress.set(done));
    written.map_err(|error| output.failed(error))?;
    Ok((report, start.elapsed()))
}

/// The bar must not come between numbers on a terminal.
fn before_writing(options: &Options, progress: &Progress) {
    if options.output.is_none() && io::stdout().is_terminal() {
        progress.end();
    }
}

fn tell(timing: &Timing, options: &Options) -> anyhow::Result<()> {
    let line = if options.json { timing.to_json()? } else { timing.to_string() };
    let Some(to) = options.timing else { return Ok(()) };
    match to {
        TimingTo::Stdout => writeln!(io::stdout(), "{line}").context("standard output"),
        TimingTo::StdoutComment => writeln!(io::stdout(), "# {line}").context("standard output"),
        TimingTo::Stderr => {
            let _ = writeln!(io::stderr(), "{line}");
            Ok(())
        }
    }
}
