//! `gpusort sort`: from what was typed to what is meant, then read, sort, write, tell.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gpusort::gpu::{Gpu, Select};
use gpusort::io::records::{write_binary, write_text};
use gpusort::io::{Input, Output, Records, Text, binary, text};
use gpusort::key::{ElementType, Keys, Order};
use gpusort::plan::{Plan, Shape};
use gpusort::timing::{Timing, milliseconds};
use gpusort::{ErrorKind, Method, Report, Sorter};

use super::args::{FormatArg, SortArgs, TimingArg};
use super::device::Device;
use super::format::{self, Extension, Format, name_of};
use super::progress::{Progress, Unit};

/// From this many elements on, a GPU that starts while they are read sorts them sooner than the CPU,
/// the way there and back counted. Measured with u32 on an H100 beside 16 cores: at 2^26, 60 ms
/// against 116 ms.
const GPU_PAYS: u64 = 1 << 26;

/// The same where it is known only after the input was read, so that the start (0.15 to 0.2 s) counts
/// too. There, at 2^28, 0.37 s against 0.47 s; at 2^27, 0.28 s against 0.21 s.
const GPU_PAYS_WITH_START: u64 = 1 << 28;

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
                args.progress
            },
        })
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

/// A device that is being started while the input is read.
struct Starting(Option<JoinHandle<(Result<Gpu, gpusort::Error>, Duration)>>);

impl Starting {
    fn new(select: Select) -> Self {
        Self(Some(std::thread::spawn(move || {
            let start = Instant::now();
            let gpu = Gpu::start(&select);
            (gpu, start.elapsed())
        })))
    }

    fn wait(mut self) -> (Result<Gpu, gpusort::Error>, Duration) {
        let thread = self.0.take().expect("taken here only, and by drop");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Starting {
    /// A process that ends while a driver is starting up may crash in it.
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Its result is no longer wanted.
            let _ = thread.join();
        }
    }
}

pub(super) fn run(args: SortArgs) -> anyhow::Result<()> {
    let begin = Instant::now();
    let options = Options::new(args)?;
    let progress = Progress::new(options.progress);
    let starting = starts_early(&options).map(Starting::new);
    // Opened before the work, so that a place that can't be written to is found out now.
    let mut output = options.output.as_deref().map_or_else(Output::stdout, Output::file)?;

    let (records, bytes, read, parse) = read(&options, &progress)?;
    let order = records.order;
    if let Some(promised) = options.output_element
        && promised != order.element
        && !records.is_empty()
    {
        let output = options.output.unwrap_or_default();
        bail!(
            "{}: the data is {}, not {promised}; --to bin writes it all the same",
            output.display(),
            order.element
        );
    }

    let positions = options.output_format == Format::Text && records.spelling.is_some();
    let shape = Shape { key_words: records.keys.words(), positions };
    let chosen = choose(&options, records.len() as u64, shape, starting, &progress)?;
    let n = records.len();
    let (report, write) = sort_and_write(&options, records, &chosen.sorter, &mut output, &progress)?;
    let start = Instant::now();
    output.finish()?;
    drop(progress);

    if let Some(to) = options.timing {
        let mut timing = Timing::new(n, order.element, &chosen.sorter, &report, chosen.why);
        timing.bytes = bytes;
        timing.type_assumed = options.type_assumed;
        if options.type_assumed {
            timing.why.push_str("; the type is assumed");
        }
        timing.ms.read = milliseconds(read);
        timing.ms.parse = milliseconds(parse);
        timing.ms.device += milliseconds(chosen.started);
        timing.ms.write = milliseconds(write + start.elapsed());
        timing.ms.total = milliseconds(begin.elapsed());
        tell(&timing, to, options.json)?;
    }
    Ok(())
}

/// The device to start before the input is read: one that was asked for, or that will pay.
fn starts_early(options: &Options) -> Option<Select> {
    match &options.device {
        Device::Cpu => None,
        Device::Gpu(select) => Some(select.clone()),
        Device::Auto => {
            let pays = options.method.algorithm.is_some() || options.expected_elements() >= Some(GPU_PAYS);
            pays.then_some(Select::Hardware)
        }
    }
}

fn read(options: &Options, progress: &Progress) -> anyhow::Result<(Records, u64, Duration, Duration)> {
    let size: Option<u64> = options.inputs.iter().map(Input::size).sum();
    progress.phase("read", Unit::Bytes, size);
    let start = Instant::now();
    match (options.format, options.element) {
        (Format::Binary, element) => {
            let element = element.unwrap_or(ElementType::U32);
            let elements = binary::Elements::read(&options.inputs, element, |done| progress.set(done))?;
            let (read, start) = (start.elapsed(), Instant::now());
            let records = elements.into_records(Order { element, descending: options.descending });
            let bytes = (records.len() * element.bytes()) as u64;
            Ok((records, bytes, read, start.elapsed()))
        }
        (Format::Text, element) => {
            let text = Text::read(&options.inputs, |done| progress.set(done))?;
            let (bytes, read, start) = (text.len(), start.elapsed(), Instant::now());
            progress.phase("parse", Unit::Time, None);
            let records = text::parse(text, element, options.descending)?;
            Ok((records, bytes, read, start.elapsed()))
        }
    }
}

/// Where the sort will run, and why there.
struct Chosen {
    sorter: Sorter,
    started: Duration,
    why: String,
}

/// Whether the GPU takes so many elements in one sort.
fn takes(gpu: &Gpu, method: Method, n: u64, shape: Shape) -> bool {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let plan = |(algorithm, variant)| Plan::new(algorithm, variant, n, shape, &gpu.info().limits);
    method.on_gpu().and_then(plan).is_ok()
}

fn choose(
    options: &Options,
    n: u64,
    shape: Shape,
    starting: Option<Starting>,
    progress: &Progress,
) -> anyhow::Result<Chosen> {
    let on_cpu = |why: String| Chosen { sorter: Sorter::cpu(), started: Duration::ZERO, why };
    let named = options.device != Device::Auto;
    let starting = match (&options.device, starting) {
        (Device::Cpu, _) => return Ok(on_cpu("--device cpu".to_owned())),
        (_, Some(starting)) => starting,
        _ if n >= GPU_PAYS_WITH_START => Starting::new(Select::Hardware),
        _ => return Ok(on_cpu(format!("{n} elements: the CPU is done before a GPU would be"))),
    };
    progress.phase("device", Unit::Time, None);
    match (starting.wait(), options.method.algorithm) {
        ((Ok(gpu), _), None) if !named && !takes(&gpu, options.method, n, shape) => {
            Ok(on_cpu(format!("{n} elements: more than the GPU takes at once")))
        }
        ((Ok(gpu), started), algorithm) => {
            let why = match algorithm {
                _ if named => "--device names it".to_owned(),
                Some(algorithm) => format!("--algo {algorithm} is named and there is a hardware GPU"),
                None => format!("{n} elements: a GPU is done before the CPU would be"),
            };
            Ok(Chosen { sorter: Sorter::gpu(gpu), started, why })
        }
        ((Err(error), _), algorithm) if !named && matches!(error.kind(), ErrorKind::NoDevice { .. }) => {
            if let Some(algorithm) = algorithm
                && !options.quiet
            {
                progress.note(&format!("no hardware GPU found; the {algorithm} network runs on the CPU"));
            }
            Ok(on_cpu("no hardware GPU found".to_owned()))
        }
        // Nobody asked for a GPU, so nobody need hear of one that does not start.
        ((Err(error), _), None) if !named => Ok(on_cpu(error.to_string())),
        ((Err(error), _), _) => Err(error.into()),
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
        (Format::Text, Some(spelling)) => {
            let (positions, report) = sorter.argsort(records.keys, options.method, &mut passes)?;
            start = Instant::now();
            before_writing(options, progress);
            progress.phase("write", Unit::Records, Some(positions.len() as u64));
            (report, spelling.write(&positions, output, |done| progress.set(done)))
        }
        (format, _) => {
            let report = sorter.sort(&mut records.keys, options.method, &mut passes)?;
            start = Instant::now();
            before_writing(options, progress);
            (report, write_keys(format, records.keys, records.order, output, progress))
        }
    };
    written.map_err(|error| output.failed(error))?;
    Ok((report, start.elapsed()))
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

fn tell(timing: &Timing, to: TimingTo, json: bool) -> anyhow::Result<()> {
    let line = if json { timing.to_json()? } else { timing.to_string() };
    match to {
        TimingTo::Stdout => writeln!(io::stdout(), "{line}").context("standard output"),
        TimingTo::StdoutComment => writeln!(io::stdout(), "# {line}").context("standard output"),
        TimingTo::Stderr => {
            let _ = writeln!(io::stderr(), "{line}");
            Ok(())
        }
    }
}
