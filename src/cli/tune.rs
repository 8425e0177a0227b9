//! `gpusort tune`: measures this machine once, so that `auto` chooses well; and where the result is kept.
//!
//! What is measured is what will be run: each sort is a process of its own, with the phases that `--json` tells.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use etcetera::BaseStrategy;
use gpusort::bench::machine::Machine;
use gpusort::cost::{self, Costs, CpuCosts, Curve, GpuCosts};
use gpusort::gpu::{AdapterInfo, Kind, Select, adapters};
use gpusort::human::{grouped, time};
use gpusort::io::Output;
use gpusort::key::ElementType;
use serde_json::Value;

use super::args::TuneArgs;
use super::device::Device;
use super::progress::{Progress, Unit};

/// Sorts of each case; the median counts.
const RUNS: usize = 3;

/// What takes longer than this in all is not measured with more elements.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the costs of this machine are kept.
pub(super) fn file() -> anyhow::Result<PathBuf> {
    let folders = etcetera::choose_base_strategy().context("no folder for settings")?;
    Ok(folders.config_dir().join("gpusort").join("costs.json"))
}

/// The costs that were measured here, if there are any.
pub(super) fn kept() -> anyhow::Result<Option<Costs>> {
    let Ok(file) = file() else { return Ok(None) };
    let json = match fs::read_to_string(&file) {
        Ok(json) => json,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => bail!("{}: {}", file.display(), error.kind()),
    };
    let costs = Costs::from_json(&json);
    costs.map(Some).with_context(|| format!("{}: made anew by gpusort tune", file.display()))
}

/// A kind of sort.
struct Case {
    element: ElementType,
    /// From text with its spelling, which makes it a sort of records; else from binary.
    text: bool,
}

const CASES: [Case; 4] = [
    Case { element: ElementType::U32, text: false },
    Case { element: ElementType::U64, text: false },
    Case { element: ElementType::F32, text: true },
    Case { element: ElementType::F64, text: true },
];

/// Elements of text are several times as many bytes.
const TEXT_SHARE: u64 = 8;

pub(super) fn run(args: &TuneArgs) -> anyhow::Result<()> {
    let file = file()?;
    let gpu = find_gpu(&Device::named(&args.device)?)?;
    let progress = Progress::new(args.progress.progress);
    let mut sizes = Vec::new();
    let mut size = cost::FEWEST;
    while size < args.largest {
        sizes.push(size);
        size = size.saturating_mul(16);
    }
    sizes.push(args.largest.max(cost::FEWEST));

    let folder = tempfile::Builder::new().prefix("gpusort-tune-").tempdir().context("a folder for data")?;
    let mut measured = Measured::default();
    for case in &CASES {
        measured.case(case, &sizes, gpu.as_ref(), folder.path(), &progress)?;
    }
    progress.end();

    let machine = Machine::here();
    let costs = Costs {
        measured_here: true,
        gpu: gpu.map(|(_, info)| GpuCosts {
            name: info.name,
            start_ms: median(&mut measured.starts),
            sorts: measured.gpu,
        }),
        cpus: vec![CpuCosts { name: machine.cpu, cores: machine.cores, sorts: measured.cpu }],
        binary_bytes_per_ms: measured.binary_bytes_per_ms,
        text_bytes_per_ms: measured.text_bytes_per_ms,
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("{}: no folder for settings", folder.display()))?;
    let mut output = Output::file(&file)?;
    writeln!(output, "{}", costs.to_json()?).map_err(|error| output.failed(error))?;
    output.finish()?;
    show(&costs, &file).context("standard output")
}

/// The GPU to measure and its number, if there is one.
fn find_gpu(device: &Device) -> anyhow::Result<Option<(usize, AdapterInfo)>> {
    let mut all = adapters().into_iter().enumerate();
    Ok(match device {
        Device::Cpu => None,
        Device::Auto | Device::Gpu(Select::Hardware) => all.find(|(_, info)| info.kind != Kind::Software),
        Device::Gpu(Select::Index(wanted)) => {
            let found = all.find(|(number, _)| number == wanted);
            Some(found.with_context(|| format!("no GPU has the number {wanted}"))?)
        }
        Device::Gpu(Select::Name(name)) => {
            let found = all.find(|(_, info)| info.name.to_lowercase().contains(&name.to_lowercase()));
            Some(found.with_context(|| format!("no GPU has '{name}' in its name"))?)
        }
    })
}

#[derive(Default)]
struct Measured {
    cpu: Vec<Curve>,
    gpu: Vec<Curve>,
    /// Milliseconds from each start of the GPU until it had its kernels.
    starts: Vec<f64>,
    /// Of the largest inputs.
    binary_bytes_per_ms: f64,
    text_bytes_per_ms: f64,
}

impl Measured {
    fn case(
        &mut self,
        case: &Case,
        sizes: &[u64],
        gpu: Option<&(usize, AdapterInfo)>,
        folder: &Path,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        let name =
            if case.text { format!("{} records", case.element) } else { format!("{} keys", case.element) };
        let key_words = case.element.key_words();
        let curve = || Curve { key_words, records: case.text, times: Vec::new() };
        let (mut cpu, mut on_gpu) = (curve(), curve());
        for &size in sizes {
            let begin = Instant::now();
            let size = if case.text { (size / TEXT_SHARE).max(cost::FEWEST) } else { size };
            if cpu.times.last().is_some_and(|&(last, _)| last >= size) {
                continue;
            }
            progress.phase(format!("{} {name}", grouped(size)), Unit::Time, None);
            let file = folder.join("data");
            generate(case, size, &file)?;
            let runs = repeat(case, &file, "cpu")?;
            cpu.times.push((size, median_of(&runs, |run| run.sort)));
            let rate = median_of(&runs, |run| run.bytes / run.input);
            *(if case.text { &mut self.text_bytes_per_ms } else { &mut self.binary_bytes_per_ms }) = rate;
            if let Some((number, _)) = gpu {
                let runs = repeat(case, &file, &number.to_string())?;
                on_gpu.times.push((size, median_of(&runs, |run| run.sort)));
                self.starts.extend(runs.iter().map(|run| run.start));
            }
            if begin.elapsed() > PATIENCE {
                break;
            }
        }
        self.cpu.push(cpu);
        if gpu.is_some() {
            self.gpu.push(on_gpu);
        }
        Ok(())
    }
}

/// Sorts on this device, after one sort that makes the driver know the kernels and the system the file.
fn repeat(case: &Case, file: &Path, device: &str) -> anyhow::Result<Vec<Run>> {
    sort(case, file, device)?;
    (0..RUNS).map(|_| sort(case, file, device)).collect()
}

/// What one process told, in milliseconds.
struct Run {
    bytes: f64,
    /// Reading and parsing.
    input: f64,
    start: f64,
    /// The sort, with the way there and back.
    sort: f64,
}

fn this_command() -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("this program's own file")?);
    for name in super::ENVIRONMENT {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    Ok(command)
}

fn generate(case: &Case, size: u64, file: &Path) -> anyhow::Result<()> {
    let mut command = this_command()?;
    command.args(["gen", "-q", "-c", &size.to_string(), "-t", case.element.name()]);
    command.args(["--to", if case.text { "text" } else { "bin" }, "-o"]).arg(file);
    let status = command.status().context("gpusort gen")?;
    ensure!(status.success(), "no data to sort: gpusort gen ended with {status}");
    Ok(())
}

fn sort(case: &Case, file: &Path, device: &str) -> anyhow::Result<Run> {
    let mut command = this_command()?;
    command.args(["sort", "-q", "--json", "--timing", "stderr", "-t", case.element.name(), "-d", device]);
    command.args(["-f", if case.text { "text" } else { "bin" }]).arg(file);
    let output = command.stdout(Stdio::null()).output().context("gpusort sort")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", told.trim());
    let timing: Value = serde_json::from_str(&told).with_context(|| format!("gpusort sort said: {told}"))?;
    let ms = |phase: &str| timing["ms"][phase].as_f64().unwrap_or_default();
    Ok(Run {
        bytes: timing["bytes"].as_f64().unwrap_or_default(),
        // Never nothing, as it is divided by.
        input: (ms("read") + ms("parse")).max(1e-6),
        start: ms("device"),
        sort: (ms("upload") + ms("sort") + ms("download")).max(1e-6),
    })
}

fn median_of(runs: &[Run], value: impl Fn(&Run) -> f64) -> f64 {
    median(&mut runs.iter().map(value).collect::<Vec<_>>())
}

/// The middle one; there is at least one.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn show(costs: &Costs, file: &Path) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for cpu in &costs.cpus {
        writeln!(out, "CPU: {}, {} cores", cpu.name, cpu.cores)?;
    }
    match &costs.gpu {
        Some(gpu) => writeln!(out, "GPU: {}, starts in {}", gpu.name, time(gpu.start_ms))?,
        None => writeln!(out, "GPU: none")?,
    }
    writeln!(out, "\n{:>13}  {:<18}{:>10}{:>10}", "n", "sort", "CPU", "GPU")?;
    for (index, curve) in costs.cpus.iter().flat_map(|cpu| &cpu.sorts).enumerate() {
        let what = if curve.records { "records" } else { "keys" };
        for (row, &(n, ms)) in curve.times.iter().enumerate() {
            let gpu = costs.gpu.as_ref().and_then(|gpu| gpu.sorts.get(index)?.times.get(row));
            let gpu = gpu.map_or_else(|| "-".to_owned(), |&(_, ms)| time(ms));
            let sort = format!("{}-bit {what}", 32 * curve.key_words);
            writeln!(out, "{:>13}  {sort:<18}{:>10}{gpu:>10}", grouped(n), time(ms))?;
        }
    }
    writeln!(out, "\nkept in {}", file.display())
}
