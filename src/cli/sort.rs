//! `gpusort sort`: from what was typed to what is meant, then read, sort, write, tell.

mod each;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gpusort::io::records::{write_binary, write_records, write_text};
use gpusort::io::{Input, Output, Records, Spelling, Start, Starts, Text, binary, text};
use gpusort::key::{ElementType, Keys, Order};
use gpusort::plan::Shape;
use gpusort::timing::{Timing, milliseconds};
use gpusort::{Method, Report, Sorter};

use super::args::{FormatArg, SortArgs, TimingArg};
use super::device::{Device, Devices};
use super::format::{self, Extension, Format, name_of};
use super::progress::{Progress, Unit};

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

    fn devices(&self) -> Devices {
        Devices::new(self.device.clone(), self.method, !self.quiet)
    }

    /// How many elements there will be, where the files tell.
    fn expected_elements(&self) -> Option<u64> {
        let element = self.element.filter(|_| self.format == Format::Binary)?;
        let sizes: Option<u64> = self.inputs.iter().map(Input::size).sum();
        Some(sizes? / element.bytes() as u64)
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
    devices.expect(options.expected_elements());
    // Opened before the work, so that a place that can't be written to is found out now.
    let output = options.output.as_deref().map_or_else(Output::stdout, Output::file)?;
    let input = read(&options, &progress)?;
    if let Some(timing) = sort_one(&options, input, output, &mut devices, &progress, begin)? {
        drop(progress);
        tell(&timing, &options)?;
    }
    Ok(())
}

/// What was read, and how long that took.
struct Read {
    records: Records,
    bytes: u64,
    reading: Duration,
    parsing: Duration,
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
    let Read { records, bytes, reading, parsing } = input;
    let order = records.order;
    if let Some(promised) = options.output_element
        && promised != order.element
        && !records.is_empty()
    {
        bail!(
            "{}: the data is {}, not {promised}; --to bin writes it all the same",
            options.output.as_deref().unwrap_or(Path::new("")).display(),
            order.element
        );
    }

    let positions = options.output_format == Format::Text && records.spelling.is_some();
    let shape = Shape { key_words: records.keys.words(), positions };
    let n = records.len();
    let chosen = devices.choose(n as u64, shape, progress)?;
    let (report, write) = sort_and_write(options, records, &chosen.sorter, &mut output, progress)?;
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

fn read(options: &Options, progress: &Progress) -> anyhow::Result<Read> {
    let size: Option<u64> = options.inputs.iter().map(Input::size).sum();
    progress.phase("read", Unit::Bytes, size);
    let start = Instant::now();
    match (options.format, options.element) {
        (Format::Binary, element) => {
            let element = element.unwrap_or(ElementType::U32);
            let elements = binary::Elements::read(&options.inputs, element, |done| progress.set(done))?;
            let (reading, start) = (start.elapsed(), Instant::now());
            let records = elements.into_records(Order { element, descending: options.descending });
            let bytes = (records.len() * element.bytes()) as u64;
            Ok(Read { records, bytes, reading, parsing: start.elapsed() })
        }
        (Format::Text, element) => {
            let read = text::integers_from_files(&options.inputs, element, options.descending, |done| {
                progress.set(done);
            })?;
            if let Some(text::FromFiles { records, bytes, reading }) = read {
                let parsing = start.elapsed().saturating_sub(reading);
                return Ok(Read { records, bytes, reading, parsing });
            }
            let text = Text::read(&options.inputs, |done| progress.set(done))?;
            let (bytes, reading, start) = (text.len(), start.elapsed(), Instant::now());
            progress.phase("parse", Unit::Time, None);
            let records = text::parse(text, element, options.descending)?;
            Ok(Read { records, bytes, reading, parsing: start.elapsed() })
        }
    }
}

/// Sorts, and writes what comes of it; returns also how long the writing took.
fn sort_and_write(
    options: &Options,
    mut records: Records,
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
    let start;
    let (report, written) = match (options.output_format, records.spelling.take()) {
        (Format::Text, Some(Spelling { text, starts: Starts::Short(starts) })) => {
            let (starts, report) = sorter.sort_records(records.keys, starts, options.method, &mut passes)?;
            start = Instant::now();
            (report, write_lines(&text, &starts, options, output, progress))
        }
        (Format::Text, Some(Spelling { text, starts: Starts::Long(starts) })) => {
            let (starts, report) = sorter.sort_records(records.keys, starts, options.method, &mut passes)?;
            start = Instant::now();
            (report, write_lines(&text, &starts, options, output, progress))
        }
        (format, _) => {
            let (keys, report) = sorter.sort(records.keys, options.method, &mut passes)?;
            start = Instant::now();
            before_writing(options, progress);
            (report, write_keys(format, keys, records.order, output, progress))
        }
    };
    written.map_err(|error| output.failed(error))?;
    Ok((report, start.elapsed()))
}

fn write_lines<S: Start>(
    text: &Text,
    starts: &[S],
    options: &Options,
    output: &mut Output,
    progress: &Progress,
) -> io::Result<()> {
    before_writing(options, progress);
    progress.phase("write", Unit::Records, Some(starts.len() as u64));
    write_records(text, starts, output, |done| progress.set(done))
}

/// The bar must not come between numbers on a terminal.
fn before_writing(options: &Options, progress: &Progress) {
    if options.output.is_none() && io::stdout().is_terminal() {
        progress.end();
    }
}

fn write_keys(
    format: Format,
    keys: Keys,
    order: Order,
    output: &mut Output,
    progress: &Progress,
) -> io::Result<()> {
    match format {
        Format::Text => {
            progress.phase("write", Unit::Records, Some(keys.len() as u64));
            write_text(&keys, order, output, |done| progress.set(done))
        }
        Format::Binary => {
            progress.phase("write", Unit::Bytes, Some(keys.as_bytes().len() as u64));
            write_binary(keys, order, output, |done| progress.set(done))
        }
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
