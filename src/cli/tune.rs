//! `gpusort tune`: measures this machine once, so that `auto` chooses well.
//!
//! Each sort that includes the start of the program is a separate process, whose phases are read from its
//! `--json` timing.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use gpusort::{AdapterInfo, Format, Kind, Select, files};
use gpusort_base::human::{self, grouped, time, wrapped};
use gpusort_bench::generate::{Distribution, Type};
use gpusort_bench::statistics::{self, median};
use gpusort_bench::table::WIDTH;
use gpusort_bench::{self as bench, Event, Measurement, Pace, Sizes, Suite};
use gpusort_engine::cost::{self, Costs, CpuCosts, Crossover, Curve, GpuCosts, LineCosts};
use gpusort_engine::gpu::{Gpu, adapter};
use gpusort_engine::report::timing::milliseconds;
use gpusort_files::Temporary;
use gpusort_order::key::ElementType;
use gpusort_planner::plan::{Algorithm, CANDIDATES, Crossovers, Shape};
use serde_json::Value;

use super::args::TuneArgs;
use super::device::Device;
use super::digits;
use super::report::progress::{Progress, Unit};

/// Sorts per case, for their median; a single sort from [`MANY`] elements on.
const RUNS: usize = 3;
const MANY: u64 = 1 << 28;

/// Elements of the largest sort without --largest, and bytes of memory for each element.
const LARGEST: u64 = 1 << 30;
const BYTES: u64 = 64;

/// Runs of each algorithm at each size, on the GPU alone.
const TIMED_RUNS: usize = 5;

/// If a size takes longer than this in total, larger ones are not measured.
const PATIENCE: Duration = Duration::from_secs(6);

/// A kind of sort.
struct Case {
    element: ElementType,
    /// Text, sorted as records with its spelling, or binary keys.
    format: Format,
}

const CASES: [Case; 4] = [
    Case { element: ElementType::U32, format: Format::Binary },
    Case { element: ElementType::U64, format: Format::Binary },
    Case { element: ElementType::F32, format: Format::Text },
    Case { element: ElementType::F64, format: Format::Text },
];

/// Divides the sizes of text: an element takes several times its binary bytes.
const TEXT_SHARE: u64 = 8;

pub(super) fn run(args: &TuneArgs) -> anyhow::Result<()> {
    let file = Costs::file().context("no folder for settings; set HOME")?;
    // Created before the work, to detect a bad path early.
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| {
        let [folder, error] = [human::path(folder), human::system(&error)];
        anyhow!("{folder}: no folder for settings: {error}")
    })?;
    let mut output = files::Output::file(&file)?;
    // The GPU that `gpusort sort` with this device uses.
    let gpu = match Device::named(&args.device)? {
        Device::Cpu => None,
        Device::Auto => adapter(&Select::Hardware).ok(),
        Device::Gpu(select) => Some(adapter(&select)?),
    };
    let progress = Progress::new(args.progress.progress);
    let machine = super::machine();
    let largest = args.largest.unwrap_or(LARGEST.min(machine.memory_bytes / BYTES));
    // Closer together at the end, since the last two sizes predict larger ones.
    let next = |size: &u64| size.checked_mul(if *size < 1 << 24 { 16 } else { 4 });
    let rising = std::iter::successors(Some(cost::FEWEST), next);
    let mut sizes: Vec<u64> = rising.take_while(|&size| size < largest).collect();
    sizes.push(largest.max(cost::FEWEST));

    // An unnamed file, which disappears however the process ends.
    let data = tempfile::tempfile().context("no temporary file for data; set TMPDIR to a writable folder")?;
    let mut costs = Costs {
        measured_here: true,
        gpu: None,
        cpus: vec![CpuCosts {
            name: machine.cpu,
            cores: machine.cores,
            sorts: Vec::new(),
            by_digits: None,
            lines: None,
        }],
        binary_bytes_per_ms: 0.0,
        text_bytes_per_ms: 0.0,
    };
    if let Some((number, info)) = &gpu {
        let started = [bench::Device::gpu(Gpu::start(&Select::Index(*number))?, Duration::ZERO)?];
        let mut crossovers = Vec::new();
        for shape in Shape::ALL {
            let what = described(shape.key_words(), shape.payload);
            let both = CANDIDATES.map(Algorithm::name).join(" and ");
            progress.phase(format!("{both} sort of {what}"), Unit::Time, None);
            crossovers.extend(crossover(shape, &started, info.kind, largest)?);
        }
        costs.gpu = Some(GpuCosts { name: info.name.clone(), start_ms: 0.0, sorts: Vec::new(), crossovers });
    }
    progress.phase("radix sort and quicksort of keys on the CPU".to_owned(), Unit::Time, None);
    costs.cpus[0].by_digits = digits::measured(largest, machine.cores);
    let mut starts = Vec::new();
    for case in &CASES {
        starts.extend(measure(&mut costs, case, &sizes, gpu.as_ref(), &data, &progress)?);
    }
    costs.gpu.iter_mut().for_each(|gpu| gpu.start_ms = median(&starts));
    if let Some((number, _)) = &gpu {
        costs.cpus[0].lines = measure_lines(&sizes, *number, &data, &progress);
    }
    progress.end();
    writeln!(output, "{}", costs.to_json()?).map_err(|error| output.failed(error))?;
    output.finish_as(true)?;
    super::print(&shown(&costs, &file))
}

/// Makes data of rising sizes for this kind of sort and calls `measure` with each size, until a size takes too long or
/// the folder of temporary files has no room.
fn each_size(
    case: &Case,
    sizes: &[u64],
    what: &str,
    data: &File,
    progress: &Progress,
    mut measure: impl FnMut(u64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut last = 0;
    for &size in sizes {
        let begin = Instant::now();
        let size = if case.format == Format::Text { (size / TEXT_SHARE).max(cost::FEWEST) } else { size };
        if size <= last {
            continue;
        }
        progress.phase(format!("{} {what}", grouped(size)), Unit::Time, None);
        match generate(case, size, data) {
            Err(error) if last == 0 => return Err(error),
            Err(_) => break,
            Ok(()) => measure(size)?,
        }
        last = size;
        if begin.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(())
}

/// Measures a kind of sort; returns the time of each start of the GPU.
fn measure(
    costs: &mut Costs,
    case: &Case,
    sizes: &[u64],
    gpu: Option<&(usize, AdapterInfo)>,
    data: &File,
    progress: &Progress,
) -> anyhow::Result<Vec<f64>> {
    let is_text = case.format == Format::Text;
    let key_words = case.element.key_words().count();
    let mut cpu = Curve { key_words, records: is_text, times: Vec::new() };
    let (mut on_gpu, mut starts) = (cpu.clone(), Vec::new());
    let seen = costs.gpu.as_ref().map_or(&[][..], |gpu| &gpu.crossovers);
    let crossovers = cost::crossovers(seen, Crossovers::default());
    let what = format!("{} {}", case.element, if is_text { "records" } else { "keys" });
    each_size(case, sizes, &what, data, progress, |size| {
        let runs = repeat(case, size, data, &["-d", "cpu"])?;
        cpu.times.push((size, median_of(&runs, |run| run.sort)));
        // The rate of the largest input counts.
        let rate = if is_text { &mut costs.text_bytes_per_ms } else { &mut costs.binary_bytes_per_ms };
        *rate = median_of(&runs, |run| run.bytes / run.input);
        if let Some((number, _)) = gpu {
            // The algorithm that `auto` will choose by the crossovers measured above.
            let n = usize::try_from(size).unwrap_or(usize::MAX);
            let algorithm = crossovers.fastest(n, Shape::of(case.element, is_text))[0];
            let runs = repeat(case, size, data, &["-d", &number.to_string(), "-a", algorithm.name()])?;
            on_gpu.times.push((size, median_of(&runs, |run| run.sort)));
            starts.extend(runs.iter().map(|run| run.start));
        }
        Ok(())
    })?;
    costs.cpus[0].sorts.push(cpu);
    if let Some(gpu) = &mut costs.gpu {
        gpu.sorts.push(on_gpu);
    }
    Ok(starts)
}

/// Measures sorts of lines of integers from file to file, as long as the folder of temporary files has room. Returns
/// `None` if no size has room.
fn measure_lines(sizes: &[u64], gpu: usize, data: &File, progress: &Progress) -> Option<LineCosts> {
    let case = Case { element: ElementType::I32, format: Format::Text };
    let sorted = Temporary::new(&std::env::temp_dir()).ok()?;
    let output = ["-o", sorted.path().to_str()?];
    let mut costs = LineCosts { cpu: Vec::new(), gpu: Vec::new() };
    let what = format!("lines of {}", case.element);
    let ended = each_size(&case, sizes, &what, data, progress, |size| {
        let [cpu, gpu] = ["cpu", &gpu.to_string()].map(|device| {
            let runs = repeat(&case, size, data, &[&["-d", device], &output[..]].concat())?;
            anyhow::Ok((runs[0].bytes as u64, median_of(&runs, |run| run.process - run.start)))
        });
        let (cpu, gpu) = (cpu?, gpu?);
        costs.cpu.push(cpu);
        costs.gpu.push(gpu);
        Ok(())
    });
    // Smaller sizes count where a larger one fails.
    drop(ended);
    Some(costs).filter(|costs| !costs.cpu.is_empty())
}

/// Exponents of 2: the crossovers of all GPUs measured so far lie between these powers.
const CROSSING: std::ops::RangeInclusive<u32> = 12..=20;

/// The crossover of the two algorithms, without transfers: the smallest size where the second is the faster
/// on this GPU, or a size beyond the measured ones if it never is. `None` if the GPU lacks one of them.
fn crossover(
    shape: Shape,
    gpu: &[bench::Device],
    kind: Kind,
    largest: u64,
) -> anyhow::Result<Option<Crossover>> {
    // A bitonic sort gains a stage just above each power of two, so crossovers tend to be there.
    let sizes = CROSSING.flat_map(|log2| [1 << log2, (1 << log2) + 1]);
    let sizes = sizes.filter(|&size| size as u64 <= largest.max(1 << CROSSING.start()));
    let element = if shape.key_words() == 1 { ElementType::U32 } else { ElementType::U64 };
    let suite = Suite {
        sizes: Sizes(sizes.collect()),
        methods: CANDIDATES.map(|algorithm| (algorithm, None)).to_vec(),
        types: vec![Type::Number(element)],
        distributions: vec![Distribution::Uniform],
        positions: shape.payload,
        pace: Pace { runs: TIMED_RUNS, limit: Duration::from_secs(1), ..Pace::default() },
    };
    let mut measured: Vec<Measurement> = Vec::new();
    suite.run(gpu, &mut |event| {
        if let Event::Measured(result) = event {
            measured.push(result);
        }
        anyhow::Ok(())
    })?;
    let time = |algorithm: Algorithm, n: usize| {
        let is_it = |it: &&Measurement| it.case.n == n && it.case.algorithm == algorithm.name();
        measured.iter().find(is_it).map(|it| it.medians()[0])
    };
    let [first, algorithm] = CANDIDATES;
    let times = |&n: &usize| Some((n, time(algorithm, n)?, time(first, n)?));
    let times: Vec<_> = suite.sizes.0.iter().filter_map(times).collect();
    let usual = Crossovers::of_kind(kind).of(algorithm, shape).unwrap_or(0);
    let elements = match statistics::crossover(&times) {
        None => return Ok(None),
        Some(statistics::Crossover::Always) => times[0].0,
        Some(statistics::Crossover::From(size)) => size.round() as usize,
        Some(statistics::Crossover::Never) => usual.max(2 * times[times.len() - 1].0),
    };
    Ok(Some(Crossover { algorithm, key_words: shape.key_words(), records: shape.payload, elements }))
}

fn described(key_words: u32, records: bool) -> String {
    format!("{}-bit {}", 32 * key_words, if records { "records" } else { "keys" })
}

/// Sorts with these options, after a first sort that warms the driver's kernel cache and the file
/// cache.
fn repeat(case: &Case, size: u64, data: &File, how: &[&str]) -> anyhow::Result<Vec<Timed>> {
    sort(case, data, how)?;
    (0..if size < MANY { RUNS } else { 1 }).map(|_| sort(case, data, how)).collect()
}

/// The times of one process, in milliseconds.
struct Timed {
    bytes: f64,
    /// Reading and parsing.
    input: f64,
    start: f64,
    /// The whole process.
    process: f64,
    /// From the moment when the input is read and the GPU has started to the end of the process.
    sort: f64,
}

/// Runs this program, which must succeed, and returns its stderr. On Linux the child ends with this process;
/// elsewhere Ctrl-C ends both, since they share a process group.
fn run_self(arguments: &[&str], stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> anyhow::Result<String> {
    let mut command = Command::new(std::env::current_exe().context("the path of this program")?);
    for name in super::variables() {
        command.env_remove(name);
    }
    command.args(arguments).stdin(stdin).stdout(stdout).stderr(Stdio::piped());
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let die_with_parent = || {
            let signal = Some(rustix::process::Signal::KILL);
            rustix::process::set_parent_process_death_signal(signal).map_err(std::io::Error::from)
        };
        // SAFETY:
        // - The closure makes one system call.
        // - It takes no memory or lock.
        unsafe { command.pre_exec(die_with_parent) };
    }
    let output = command.output().with_context(|| format!("gpusort {}", arguments[0]))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{}", human::said(told.trim()));
    Ok(told)
}

/// The name of standard input as a file.
const DATA: &str = if cfg!(unix) { "/dev/stdin" } else { "-" };

fn generate(case: &Case, size: u64, mut data: &File) -> anyhow::Result<()> {
    data.set_len(0)?;
    data.rewind()?;
    let count = size.to_string();
    let arguments = ["gen", "-q", "-c", &count, "-t", case.element.name(), "--to", case.format.name()];
    run_self(&arguments, Stdio::null(), data.try_clone()?).context("gpusort gen failed").map(drop)
}

fn sort(case: &Case, mut data: &File, how: &[&str]) -> anyhow::Result<Timed> {
    data.rewind()?;
    let input = ["-t", case.element.name(), "-f", case.format.name(), DATA];
    let arguments = [&["sort", "-q", "--json", "--timing", "stderr"], how, &input[..]].concat();
    let begin = Instant::now();
    let told = run_self(&arguments, data.try_clone()?, Stdio::null())?;
    let process = milliseconds(begin.elapsed());
    let timing = serde_json::from_str(&told);
    let timing: Value =
        timing.with_context(|| format!("gpusort sort wrote no timing: {}", human::said(&told)))?;
    let ms = |phase: &str| timing["ms"][phase].as_f64().unwrap_or_default();
    // Above 0, because it is a divisor.
    let (input, start) = ((ms("read") + ms("parse")).max(1e-6), ms("device"));
    let bytes = timing["bytes"].as_f64().unwrap_or_default();
    // The GPU starts while the input is read.
    Ok(Timed { bytes, input, start, process, sort: (process - input.max(start)).max(1e-6) })
}

fn median_of(runs: &[Timed], value: impl Fn(&Timed) -> f64) -> f64 {
    median(&runs.iter().map(value).collect::<Vec<_>>())
}

fn shown(costs: &Costs, file: &Path) -> String {
    let cpu = &costs.cpus[0];
    let cores = human::counted(cpu.cores as u64, "core", "cores");
    let mut text = wrapped(&format!("CPU: {}, {cores}", cpu.name), WIDTH, 5);
    text += &match &costs.gpu {
        Some(gpu) => wrapped(&format!("GPU: {}, starts in {}", gpu.name, time(gpu.start_ms)), WIDTH, 5),
        None => "GPU: none\n".to_owned(),
    };
    text += &format!("\n{:>13}  {:<18}{:>10}{:>10}\n", "n", "sort", "CPU", "GPU");
    for (index, curve) in cpu.sorts.iter().enumerate() {
        let sort = described(curve.key_words, curve.records);
        for (row, &(n, ms)) in curve.times.iter().enumerate() {
            let gpu = costs.gpu.as_ref().and_then(|gpu| gpu.sorts.get(index)?.times.get(row));
            let gpu = gpu.map_or_else(|| "-".to_owned(), |&(_, ms)| time(ms));
            text += &format!("{:>13}  {sort:<18}{:>10}{gpu:>10}\n", grouped(n), time(ms));
        }
    }
    for ((bytes, cpu), (_, gpu)) in cpu.lines.iter().flat_map(|lines| lines.cpu.iter().zip(&lines.gpu)) {
        let sort = "lines, file to file";
        text += &format!("{:>13}  {sort:<18}{:>10}{:>10}\n", human::bytes(*bytes), time(*cpu), time(*gpu));
    }
    text += &cpu.by_digits.as_ref().map(digits::shown).unwrap_or_default();
    for seen in costs.gpu.iter().flat_map(|gpu| &gpu.crossovers) {
        let sort = described(seen.key_words, seen.records);
        let (algorithm, from) = (seen.algorithm, grouped(seen.elements));
        text += &format!("\nOn the GPU, {sort}: {algorithm} from {from} elements on");
    }
    if costs.gpu.as_ref().is_some_and(|gpu| !gpu.crossovers.is_empty()) {
        text.push('\n');
    }
    text += &format!("\nsaved in {}\n", human::path(file));
    text
}
