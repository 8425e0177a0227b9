//! What was measured, and what follows from it.

use serde::Serialize;

use super::contender::Sample;
use super::machine::Machine;
use super::statistics::{self, Crossover};
use crate::generate::Distribution;
use crate::key::ElementType;
use crate::timing::milliseconds;

/// The `algo` of the CPU's own sorts, which networks are compared with.
pub(super) const CPU: &str = "cpu";
/// The `variant` of what `--device cpu` sorts with: by radixes on all cores, or as few elements and those in order
/// allow.
pub(super) const ALL_CORES: &str = "auto";
/// The `variant` of the standard library's sort on one.
pub(super) const ONE_CORE: &str = "sort_unstable";

/// What is sorted: on which device, by what, and which keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The device's name; several of one name are told apart by a number.
    pub device: String,
    /// The algorithm; `cpu` for the CPU's own sorts.
    pub algorithm: &'static str,
    /// Its variant.
    pub variant: &'static str,
    /// The type of the elements.
    pub element: ElementType,
    /// Whether positions travel along, which makes the sort stable.
    pub positions: bool,
    /// How the elements are distributed.
    pub distribution: Distribution,
    /// How many there are.
    pub n: usize,
}

impl Case {
    /// The type as reports have it: `u32`, or with positions `u32+p`.
    #[must_use]
    pub fn type_name(&self) -> String {
        format!("{}{}", self.element, if self.positions { "+p" } else { "" })
    }

    /// The algorithm and variant.
    #[must_use]
    pub fn method(&self) -> String {
        format!("{} {}", self.algorithm, self.variant)
    }

    /// Whether this is one of the CPU's own sorts.
    #[must_use]
    pub fn is_baseline(&self) -> bool {
        self.algorithm == CPU
    }

    /// Whether the same keys are sorted.
    fn same_keys(&self, other: &Self) -> bool {
        self.n == other.n && self.same_kind(other)
    }

    /// Whether keys of one kind are sorted.
    #[must_use]
    pub fn same_kind(&self, other: &Self) -> bool {
        let kind = |case: &Self| (case.element, case.positions, case.distribution);
        kind(self) == kind(other)
    }
}

/// One case, timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What was sorted.
    pub case: Case,
    /// Every run after those of warm-up, in the order in which they were made; at least one.
    pub samples: Vec<Sample>,
    /// What making the kernels and the device's memory took before the first run, in ms.
    pub prepare_ms: f64,
}

impl Measurement {
    fn of_samples(&self, value: impl Fn(&Sample) -> f64) -> Vec<f64> {
        self.samples.iter().map(value).collect()
    }

    /// The time of each sort, in ms.
    #[must_use]
    pub fn sort_ms(&self) -> Vec<f64> {
        self.of_samples(|sample| milliseconds(sample.sort.time))
    }

    /// The time of each from keys in the host's memory to the result there, in ms.
    #[must_use]
    pub fn end_to_end_ms(&self) -> Vec<f64> {
        self.of_samples(|sample| milliseconds(sample.end_to_end))
    }

    /// The medians of the way to the device and back, in ms.
    #[must_use]
    pub fn transfer_ms(&self) -> (f64, f64) {
        let median = |value: fn(&Sample) -> f64| statistics::median(&self.of_samples(value));
        (median(|sample| milliseconds(sample.upload)), median(|sample| milliseconds(sample.download)))
    }

    /// The median of the sorts, in ms.
    #[must_use]
    pub fn median_ms(&self) -> f64 {
        statistics::median(&self.sort_ms())
    }

    /// The medians of the sorts and of the times from end to end, in ms.
    fn medians(&self) -> [f64; 2] {
        [self.median_ms(), statistics::median(&self.end_to_end_ms())]
    }

    /// The most passes that a run made.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        self.samples.iter().map(|sample| sample.dispatches).max().unwrap_or_default()
    }

    /// The bytes that they read and wrote.
    #[must_use]
    pub fn bytes_moved(&self) -> u64 {
        self.samples.iter().map(|sample| sample.bytes_moved).max().unwrap_or_default()
    }
}

/// One case that was not timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What would have been sorted.
    pub case: Case,
    /// Why not.
    pub why: String,
}

/// A device that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceReport {
    /// Its name, as the results have it.
    pub name: String,
    /// `vulkan`, `metal`, `dx12` or `cpu`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `cpu`.
    pub kind: &'static str,
    /// The driver's name and version.
    pub driver: Option<String>,
    /// How long it took to start, once.
    pub start_ms: Option<f64>,
    /// Bytes a second of copies within its memory, read and written ones counted.
    pub copy_bytes_per_s: Option<f64>,
}

/// A whole benchmark, as far as it has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// The devices.
    pub devices: Vec<DeviceReport>,
    /// What was timed, in that order.
    pub results: Vec<Measurement>,
    /// What was not.
    pub skipped: Vec<Skipped>,
}

/// One result as reports give it: a line of CSV, and what a JSON object begins with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The device's name.
    pub device: String,
    /// The algorithm; `cpu` for the CPU's own sorts.
    pub algo: &'static str,
    /// Its variant.
    pub variant: &'static str,
    /// The type of the elements; with positions, `+p` after it.
    #[serde(rename = "type")]
    pub element: String,
    /// How they are distributed.
    pub dist: &'static str,
    /// How many there are.
    pub n: usize,
    /// How many sorts were timed.
    pub runs: usize,
    /// Passes over the data.
    pub dispatches: u64,
    /// Bytes of memory that they read and wrote.
    pub bytes_moved: u64,
    /// The median of the sorts' times.
    pub median_ms: f64,
    /// The shortest.
    pub min_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// The median of the times with the keys' way to the device and back.
    pub end_to_end_ms: f64,
    /// Elements by the median.
    pub keys_per_s: f64,
    /// How many times as fast as the faster of the CPU's own sorts, by the medians.
    pub vs_cpu: Option<f64>,
}

impl Report {
    /// A result as reports give it.
    #[must_use]
    pub fn row(&self, result: &Measurement) -> Row {
        let (case, times) = (&result.case, result.sort_ms());
        let median_ms = result.median_ms();
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
            end_to_end_ms: statistics::median(&result.end_to_end_ms()),
            // A clock may be too coarse to see anything.
            keys_per_s: if median_ms > 0.0 { (case.n as f64 / median_ms * 1e3).round() } else { 0.0 },
            vs_cpu: vs_cpu.filter(|ratio| ratio.is_finite()).map(four_digits),
        }
    }

    /// The times of the faster of the CPU's own sorts of the same keys: of the sort alone, and from end to end.
    fn baseline(&self, case: &Case) -> Option<[f64; 2]> {
        let of_cpu = |result: &&Measurement| result.case.is_baseline() && result.case.same_keys(case);
        self.results.iter().filter(of_cpu).map(Measurement::medians).reduce(least)
    }

    /// Whether a GPU had nothing to do, which is no time to compare with.
    fn is_nothing(&self, result: &Measurement) -> bool {
        let is_gpu = |device: &DeviceReport| device.is_gpu() && device.name == result.case.device;
        result.dispatches() == 0 && self.devices.iter().any(is_gpu)
    }

    /// The bandwidth that the passes reached as a part of what the device's copies reach.
    #[must_use]
    pub fn part_of_copy(&self, result: &Measurement) -> Option<f64> {
        let device = self.devices.iter().find(|device| device.name == result.case.device)?;
        Some(result.bytes_moved() as f64 / result.median_ms() * 1e3 / device.copy_bytes_per_s?)
    }

    /// The cases that were measured of each kind of keys, the first of each.
    #[must_use]
    pub fn kinds(&self) -> Vec<&Case> {
        let mut kinds: Vec<&Case> = Vec::new();
        for Measurement { case, .. } in &self.results {
            if !kinds.iter().any(|kind| kind.same_kind(case)) {
                kinds.push(case);
            }
        }
        kinds
    }

    /// The results of such keys, in the order in which they were measured.
    pub fn of_kind<'a>(&'a self, kind: &'a Case) -> impl Iterator<Item = &'a Measurement> {
        self.results.iter().filter(|result| result.case.same_kind(kind))
    }

    /// From which size on the best of a GPU's sorts of such keys is faster than the faster of the CPU's: by the time of
    /// the sort itself, and by that from end to end.
    #[must_use]
    pub fn crossovers(&self, kind: &Case, device: &str) -> Option<[Crossover; 2]> {
        let mut points: Vec<(usize, [f64; 2], [f64; 2])> = Vec::new();
        let of_device = |result: &&Measurement| {
            result.case.device == device && !result.case.is_baseline() && !self.is_nothing(result)
        };
        for result in self.of_kind(kind).filter(of_device) {
            let Some(cpu) = self.baseline(&result.case) else { continue };
            match points.iter_mut().find(|(n, ..)| *n == result.case.n) {
                Some((_, best, _)) => *best = least(*best, result.medians()),
                None => points.push((result.case.n, result.medians(), cpu)),
            }
        }
        points.sort_by_key(|(n, ..)| *n);
        let crossover = |which: usize| {
            let points: Vec<_> = points.iter().map(|&(n, gpu, cpu)| (n, gpu[which], cpu[which])).collect();
            statistics::crossover(&points)
        };
        Some([crossover(0)?, crossover(1)?])
    }
}

/// The smaller of each.
fn least(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].min(b[1])]
}

/// More digits than were measured help nobody.
fn four_digits(ratio: f64) -> f64 {
    if ratio <= 0.0 {
        return ratio;
    }
    let unit = 10_f64.powi(3 - ratio.log10().floor() as i32);
    (ratio * unit).round() / unit
}

impl DeviceReport {
    /// Whether it is a GPU, be it of software.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.kind != CPU
    }
}
