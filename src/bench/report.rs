//! The results of a benchmark, and figures derived from them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::contender::Sample;
use super::machine::Machine;
use super::statistics::{self, Crossover};
use crate::generate::{Distribution, Type};
use crate::report::timing::milliseconds;

/// The `algo` of the CPU's own sorts, the baseline for networks.
pub(super) const CPU: &str = "cpu";
/// The `variant` of the sort that `--device cpu` uses: by vectors or digits on all cores, less for
/// easy inputs.
pub(super) const ALL_CORES: &str = "auto";
/// The `variant` of the standard library's sort on one core.
pub(super) const ONE_CORE: &str = "sort_unstable";

/// A benchmark case: device, method and keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The device's name, with a number if several share it.
    pub device: String,
    /// The algorithm; `cpu` for the CPU's own sorts.
    pub algorithm: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// The type of the elements.
    pub element: Type,
    /// Whether numbers carry positions as payloads, which makes the sort stable. Texts always do,
    /// and are not marked.
    pub positions: bool,
    /// How the elements are distributed.
    pub distribution: Distribution,
    /// Number of elements.
    pub n: usize,
}

impl Case {
    /// The type in reports: `u32`, or with positions `u32+p`.
    pub fn type_name(&self) -> String {
        format!("{}{}", self.element.name(), if self.positions { "+p" } else { "" })
    }

    /// The algorithm and variant.
    pub fn method(&self) -> String {
        format!("{} {}", self.algorithm, self.variant)
    }

    /// The method as a table or a plot names it: the CPU's own sorts by their number of cores.
    pub fn shown(&self) -> String {
        match self.variant {
            ALL_CORES if self.is_baseline() => "cpu, all cores".to_owned(),
            ONE_CORE => "cpu, 1 core".to_owned(),
            _ => self.method(),
        }
    }

    /// Whether this is one of the CPU's own sorts.
    pub(super) fn is_baseline(&self) -> bool {
        self.algorithm == CPU
    }

    /// Whether both cases sort keys of the same kind.
    pub fn same_kind(&self, other: &Self) -> bool {
        let kind = |case: &Self| (case.element, case.positions, case.distribution);
        kind(self) == kind(other)
    }
}

/// A measured case.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The case.
    pub case: Case,
    /// Every timed run, in order; at least one.
    pub samples: Vec<Sample>,
    /// Time to build the kernels and allocate device memory before the first run, in ms.
    pub prepare_ms: f64,
}

impl Measurement {
    /// A time of each run, in ms.
    pub(super) fn each_ms(&self, time: fn(&Sample) -> Duration) -> Vec<f64> {
        self.samples.iter().map(|sample| milliseconds(time(sample))).collect()
    }

    /// The median of a time over the runs, in ms.
    pub(super) fn median_ms(&self, time: fn(&Sample) -> Duration) -> f64 {
        statistics::median(&self.each_ms(time))
    }

    /// The median times of the sorts and end to end, in ms.
    pub(super) fn medians(&self) -> [f64; 2] {
        [self.median_ms(|sample| sample.sort.time), self.median_ms(|sample| sample.end_to_end)]
    }

    /// The largest number of passes of any run.
    pub fn dispatches(&self) -> u64 {
        self.samples.iter().map(|sample| sample.dispatches).max().unwrap_or_default()
    }

    /// Bytes read and written by those passes.
    pub fn bytes_moved(&self) -> u64 {
        self.samples.iter().map(|sample| sample.bytes_moved).max().unwrap_or_default()
    }
}

/// A skipped case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The case.
    pub case: Case,
    /// The reason.
    pub why: String,
}

/// A device in the benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceReport {
    /// Its name, as in the results.
    pub name: String,
    /// `vulkan`, `metal`, `dx12` or `cpu`.
    pub backend: &'static str,
    /// `discrete`, `integrated`, `virtual`, `software` or `cpu`.
    pub kind: &'static str,
    /// The driver's name and version.
    pub driver: Option<String>,
    /// Its startup time, measured once.
    pub start_ms: Option<f64>,
    /// The bandwidth of copies within its memory in bytes per second, reads and writes both
    /// counted.
    pub copy_bytes_per_s: Option<f64>,
}

/// A whole benchmark, complete or in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The machine and the program.
    pub machine: Machine,
    /// The devices.
    pub devices: Vec<DeviceReport>,
    /// The measured cases, in order.
    pub results: Vec<Measurement>,
    /// The skipped cases.
    pub skipped: Vec<Skipped>,
}

/// One result in reports: a line of CSV, and the first fields of a JSON object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The device's name.
    pub device: String,
    /// The algorithm; `cpu` for the CPU's own sorts.
    pub algo: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// The type of the elements; with positions, followed by `+p`.
    #[serde(rename = "type")]
    pub element: String,
    /// The distribution of the elements.
    pub dist: &'static str,
    /// Number of elements.
    pub n: usize,
    /// Number of timed sorts.
    pub runs: usize,
    /// Number of passes over the data.
    pub dispatches: u64,
    /// Bytes of memory read and written by the passes.
    pub bytes_moved: u64,
    /// The median time of the sorts.
    pub median_ms: f64,
    /// The shortest time.
    pub min_ms: f64,
    /// The longest time.
    pub max_ms: f64,
    /// The median time including both transfers.
    pub end_to_end_ms: f64,
    /// Elements per second, by the median.
    pub keys_per_s: f64,
    /// Speed relative to the faster of the CPU's own sorts, by the medians.
    pub vs_cpu: Option<f64>,
}

impl Report {
    /// The row of a result.
    pub(super) fn row(&self, result: &Measurement) -> Row {
        let (case, times) = (&result.case, result.each_ms(|sample| sample.sort.time));
        let [median_ms, end_to_end_ms] = result.medians();
        let cpu = self.baseline(case).filter(|_| !self.is_nothing(result));
        let vs_cpu = cpu.map(|cpu| cpu[0] / median_ms);
        Row {
            device: case.device.clone(),
            algo: case.algorithm,
            variant: case.variant,
            element: case.type_name(),
            dist: case.distribution.name(),
            n: case.n,
            runs: times.len(),
            dispatches: result.dispatches(),
            bytes_moved: result.bytes_moved(),
            median_ms,
            min_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
            max_ms: times.iter().copied().fold(0.0, f64::max),
            end_to_end_ms,
            // A coarse clock may measure 0.
            keys_per_s: if median_ms > 0.0 { (case.n as f64 / median_ms * 1e3).round() } else { 0.0 },
            vs_cpu: vs_cpu.filter(|ratio| ratio.is_finite()).map(four_digits),
        }
    }

    /// The times of the faster of the CPU's own sorts on the same keys: of the sort alone, and end
    /// to end.
    fn baseline(&self, case: &Case) -> Option<[f64; 2]> {
        let of_cpu = |result: &&Measurement| result.case.is_baseline() && result.case.n == case.n;
        self.of_kind(case).filter(of_cpu).map(Measurement::medians).reduce(least)
    }

    /// Whether a GPU had no work, so that its time is no comparison.
    fn is_nothing(&self, result: &Measurement) -> bool {
        result.dispatches() == 0 && self.gpus().any(|gpu| gpu.name == result.case.device)
    }

    /// The GPUs, including software ones.
    pub(super) fn gpus(&self) -> impl Iterator<Item = &DeviceReport> {
        self.devices.iter().filter(|device| device.is_gpu())
    }

    /// The bandwidth of the passes relative to that of the device's copies.
    pub(super) fn part_of_copy(&self, result: &Measurement) -> Option<f64> {
        let device = self.devices.iter().find(|device| device.name == result.case.device)?;
        Some(result.bytes_moved() as f64 / result.medians()[0] * 1e3 / device.copy_bytes_per_s?)
    }

    /// The measured kinds of keys, each by its first case.
    pub(super) fn kinds(&self) -> Vec<&Case> {
        let mut kinds: Vec<&Case> = Vec::new();
        for Measurement { case, .. } in &self.results {
            if !kinds.iter().any(|kind| kind.same_kind(case)) {
                kinds.push(case);
            }
        }
        kinds
    }

    /// The results of this kind of keys, in the order of measurement.
    pub(super) fn of_kind<'a>(&'a self, kind: &'a Case) -> impl Iterator<Item = &'a Measurement> {
        self.results.iter().filter(|result| result.case.same_kind(kind))
    }

    /// For each kind of keys and each GPU the size from which on the best of its sorts is faster
    /// than the faster of the CPU's: by the sort itself, and end to end.
    pub(super) fn crossovers(&self) -> Vec<(&Case, &DeviceReport, [Crossover; 2])> {
        let all = self.kinds().into_iter().flat_map(|kind| self.gpus().map(move |gpu| (kind, gpu)));
        all.filter_map(|(kind, gpu)| Some((kind, gpu, self.crossover(kind, &gpu.name)?))).collect()
    }

    fn crossover(&self, kind: &Case, device: &str) -> Option<[Crossover; 2]> {
        // By size, the times of the device and of the CPU.
        let mut points: BTreeMap<usize, ([f64; 2], [f64; 2])> = BTreeMap::new();
        let of_device = |result: &&Measurement| {
            result.case.device == device && !result.case.is_baseline() && !self.is_nothing(result)
        };
        for result in self.of_kind(kind).filter(of_device) {
            if let Some(cpu) = self.baseline(&result.case) {
                let (best, _) = points.entry(result.case.n).or_insert((result.medians(), cpu));
                *best = least(*best, result.medians());
            }
        }
        let crossover = |which: usize| {
            let points: Vec<_> = points.iter().map(|(&n, &(gpu, cpu))| (n, gpu[which], cpu[which])).collect();
            statistics::crossover(&points)
        };
        Some([crossover(0)?, crossover(1)?])
    }
}

/// The element-wise minimum.
fn least(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].min(b[1])]
}

/// More digits would exceed the precision of the measurement.
fn four_digits(ratio: f64) -> f64 {
    if ratio <= 0.0 {
        return ratio;
    }
    let unit = 10_f64.powi(3 - ratio.log10().floor() as i32);
    (ratio * unit).round() / unit
}

impl DeviceReport {
    /// Whether it is a GPU, including software ones.
    pub fn is_gpu(&self) -> bool {
        self.kind != CPU
    }
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.backend, self.kind)?;
        self.driver.iter().try_for_each(|driver| write!(f, ", driver {driver}"))
    }
}

/// A report of sorts that took these times, in ms, at sizes from 16 on in factors of 16: on the CPU,
/// and by each variant on each of these GPUs.
#[cfg(test)]
pub(super) fn example(gpus: usize, element: Type, times: &[f64]) -> Report {
    use gpusort_planner::plan::Algorithm;

    let machine = Machine { cpu: "A CPU with a long name ".repeat(4), ..Machine::here() };
    let device = |number| DeviceReport {
        name: format!("NVIDIA GeForce RTX 4090 Laptop GPU with a long name #{number}"),
        backend: "vulkan",
        kind: "discrete",
        driver: Some("NVIDIA 580.159.03 and more that a driver says of itself".to_owned()),
        start_ms: Some(123.4),
        copy_bytes_per_s: Some(2.9e12),
    };
    let devices: Vec<_> = (0..gpus).map(device).collect();
    let mut methods = vec![("CPU".to_owned(), CPU, ALL_CORES), ("CPU".to_owned(), CPU, ONE_CORE)];
    for device in &devices {
        for algorithm in Algorithm::ALL {
            let variants = algorithm.variants().iter();
            methods.extend(variants.map(|its| (device.name.clone(), algorithm.name(), its.name())));
        }
    }
    let mut results = Vec::new();
    for (size, ms) in times.iter().enumerate() {
        for (place, (device, algorithm, variant)) in methods.iter().enumerate() {
            let time = Duration::from_secs_f64(ms * (1.0 + place as f64 / 10.0) / 1e3);
            let positions = element != Type::Text;
            let (device, n) = (device.clone(), 16_usize << (4 * size));
            let case = Case {
                device,
                algorithm,
                variant,
                element,
                positions,
                distribution: Distribution::NearlySorted,
                n,
            };
            let sample = Sample { dispatches: 16_777_216, bytes_moved: 1 << 40, ..Sample::on_cpu(time) };
            let samples = vec![sample, Sample::on_cpu(time * 100), sample];
            results.push(Measurement { case, samples, prepare_ms: 0.0 });
        }
    }
    Report { machine, devices, results, skipped: Vec::new() }
}
