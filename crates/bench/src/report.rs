//! The results of a benchmark, and figures derived from them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::contender::Sample;
use crate::generate::{Distribution, Type};
use crate::machine::Machine;
use crate::statistics::{self, Crossover};
use gpusort_base::human::counted;
use gpusort_base::parallel;
use gpusort_engine::report::timing::{Device, milliseconds};

/// The `algo` of the CPU's own sorts, the baseline for networks.
pub(crate) const CPU: &str = "cpu";
/// The `variant` of the sort that `--device cpu` uses: by vectors or digits on all cores, less for
/// easy inputs.
pub(crate) const ALL_CORES: &str = "auto";
/// The `variant` of the standard library's sort on one core.
pub(crate) const ONE_CORE: &str = "sort_unstable";

/// Growth of the time per element for twice the elements, above which a size is marked.
pub(crate) const GROWTH: f64 = 1.3;

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
    /// Numbers carry positions as payloads, which makes the sort stable. Texts always do,
    /// and are not marked.
    pub positions: bool,
    /// Distribution of the elements.
    pub distribution: Distribution,
    /// Number of elements.
    pub n: usize,
}

impl Case {
    /// The type in reports: `u32`, or with positions `u32+p`.
    pub fn type_name(&self) -> String {
        format!("{}{}", self.element.name(), if self.positions { "+p" } else { "" })
    }

    /// The algorithm and variant, or the name of a CPU sort and its number of cores.
    pub fn method(&self) -> String {
        match self.variant {
            ALL_CORES if self.is_baseline() => {
                format!("gpusort, {}", counted(parallel::cores() as u64, "core", "cores"))
            }
            ONE_CORE => format!("{ONE_CORE}, 1 core"),
            _ => format!("{} {}", self.algorithm, self.variant),
        }
    }

    /// True for the CPU's own sorts.
    pub(crate) fn is_baseline(&self) -> bool {
        self.algorithm == CPU
    }

    /// True if both cases sort keys of the same kind.
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
    pub(crate) fn each_ms(&self, time: fn(&Sample) -> Duration) -> Vec<f64> {
        self.samples.iter().map(|sample| milliseconds(time(sample))).collect()
    }

    /// The median of a time over the runs, in ms.
    pub(crate) fn median_ms(&self, time: fn(&Sample) -> Duration) -> f64 {
        statistics::median(&self.each_ms(time))
    }

    /// The median times of the sorts and end to end, in ms.
    pub fn medians(&self) -> [f64; 2] {
        [self.median_ms(|sample| sample.sort.time), self.median_ms(|sample| sample.end_to_end)]
    }

    /// The largest number of passes of any run, or of bytes that they read and write.
    pub fn most(&self, number: fn(&Sample) -> u64) -> u64 {
        self.samples.iter().map(number).max().unwrap_or_default()
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
    /// The device; results refer to it by its name.
    #[serde(flatten)]
    pub device: Device,
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
    /// Nanoseconds per element, by the median.
    pub ns_per_element: f64,
    /// Bytes of elements per second, by the median.
    pub bytes_per_s: f64,
    /// Speed relative to the faster of the CPU's own sorts, by the medians.
    pub vs_cpu: Option<f64>,
}

impl Report {
    /// The row of a result.
    pub(crate) fn row(&self, result: &Measurement) -> Row {
        let (case, times) = (&result.case, result.each_ms(|sample| sample.sort.time));
        let [median_ms, end_to_end_ms] = result.medians();
        let cpu = self.baseline(case).filter(|_| !self.is_nothing(result));
        let vs_cpu = cpu.map(|cpu| cpu[0] / median_ms);
        // A coarse clock may measure 0.
        // Texts differ between runs.
        let bytes = result.samples.iter().map(|sample| sample.bytes as f64).sum::<f64>() / times.len() as f64;
        let per_second = |of: f64| if median_ms > 0.0 { (of / median_ms * 1e3).round() } else { 0.0 };
        Row {
            device: case.device.clone(),
            algo: case.algorithm,
            variant: case.variant,
            element: case.type_name(),
            dist: case.distribution.name(),
            n: case.n,
            runs: times.len(),
            dispatches: result.most(|sample| sample.dispatches),
            bytes_moved: result.most(|sample| sample.bytes_moved),
            median_ms,
            min_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
            max_ms: times.iter().copied().fold(0.0, f64::max),
            end_to_end_ms,
            keys_per_s: per_second(case.n as f64),
            ns_per_element: median_ms * 1e6 / case.n as f64,
            bytes_per_s: per_second(bytes),
            vs_cpu: vs_cpu.filter(|ratio| ratio.is_finite()),
        }
    }

    /// True if the time per element grows by more than [`GROWTH`] from one power of two to the next,
    /// by the median and by the fastest run. The reference is the next smaller size of the same
    /// method: over several doublings, a mean growth above `GROWTH` proves it for at least one.
    pub(crate) fn grows(&self, result: &Measurement) -> bool {
        let is_same = |other: &Case| Case { n: result.case.n, ..other.clone() } == result.case;
        let smaller =
            self.results.iter().filter(|other| other.case.n < result.case.n && is_same(&other.case));
        let Some(before) = smaller.max_by_key(|other| other.case.n) else { return false };
        let (before, row) = (self.row(before), self.row(result));
        let times = row.n as f64 / before.n as f64;
        let most = times * GROWTH.powf(times.log2().max(1.0));
        row.median_ms > most * before.median_ms && row.min_ms > most * before.min_ms && before.min_ms > 0.0
    }

    /// The times of the faster of the CPU's own sorts on the same keys: of the sort alone, and end
    /// to end.
    fn baseline(&self, case: &Case) -> Option<[f64; 2]> {
        let of_cpu = |result: &&Measurement| result.case.is_baseline() && result.case.n == case.n;
        self.of_kind(case).filter(of_cpu).map(Measurement::medians).reduce(least)
    }

    /// True if a GPU had no work, so that its time means nothing.
    fn is_nothing(&self, result: &Measurement) -> bool {
        result.most(|sample| sample.dispatches) == 0
            && self.gpus().any(|gpu| gpu.device.name == result.case.device)
    }

    /// The GPUs, including software ones.
    pub(crate) fn gpus(&self) -> impl Iterator<Item = &DeviceReport> {
        self.devices.iter().filter(|device| device.is_gpu())
    }

    /// Bandwidth of the passes relative to the device's copies.
    pub(crate) fn part_of_copy(&self, result: &Measurement) -> Option<f64> {
        let device = self.devices.iter().find(|it| it.device.name == result.case.device)?;
        Some(
            result.most(|sample| sample.bytes_moved) as f64 / result.medians()[0] * 1e3
                / device.copy_bytes_per_s?,
        )
    }

    /// The measured kinds of keys, each by its first case: a suite measures one after another.
    pub(crate) fn kinds(&self) -> Vec<&Case> {
        let kinds = self.results.chunk_by(|a, b| a.case.same_kind(&b.case));
        kinds.map(|of_kind| &of_kind[0].case).collect()
    }

    /// The results of this kind of keys, in the order of measurement.
    pub(crate) fn of_kind<'a>(&'a self, kind: &'a Case) -> impl Iterator<Item = &'a Measurement> {
        self.results.iter().filter(|result| result.case.same_kind(kind))
    }

    /// For each kind of keys and each GPU, where the best of its sorts overtakes the faster of the CPU's:
    /// by the sort itself, and end to end.
    pub(crate) fn crossovers(&self) -> Vec<(&Case, &DeviceReport, [Crossover; 2])> {
        let all = self.kinds().into_iter().flat_map(|kind| self.gpus().map(move |gpu| (kind, gpu)));
        all.filter_map(|(kind, gpu)| Some((kind, gpu, self.crossover(kind, &gpu.device.name)?))).collect()
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
pub(crate) fn least(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].min(b[1])]
}

impl DeviceReport {
    /// True for GPUs, including software ones.
    pub fn is_gpu(&self) -> bool {
        self.device.kind != CPU
    }
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Device { name, backend, kind } = &self.device;
        write!(f, "{name} ({backend}, {kind})")?;
        self.driver.iter().try_for_each(|driver| write!(f, ", driver {driver}"))
    }
}

#[cfg(test)]
pub(crate) use tests::example;

#[cfg(test)]
mod tests {
    use gpusort_order::key::ElementType;
    use gpusort_planner::plan::Algorithm;

    use super::*;
    use crate::table::Table;
    use crate::{export, plot};

    /// A report of sorts that took these times, in ms, at sizes from 16 on in factors of 16: on the CPU,
    /// and by each variant on each of these GPUs.
    pub(crate) fn example(gpus: usize, element: Type, times: &[f64]) -> Report {
        let machine = Machine { cpu: "A CPU with a long name ".repeat(4), ..Machine::here(None, "") };
        let device = |number| {
            let name = format!("NVIDIA GeForce RTX 4090 Laptop GPU with a long name #{number}");
            let driver = Some("NVIDIA 580.159.03 and more that a driver says of itself".to_owned());
            let device = Device { name, backend: "vulkan", kind: "discrete" };
            DeviceReport { device, driver, start_ms: Some(123.4), copy_bytes_per_s: Some(2.9e12) }
        };
        let devices: Vec<_> = (0..gpus).map(device).collect();
        let mut methods = vec![("CPU".to_owned(), CPU, ALL_CORES), ("CPU".to_owned(), CPU, ONE_CORE)];
        for device in &devices {
            for algorithm in Algorithm::ALL {
                let variants = algorithm.variants().iter();
                methods
                    .extend(variants.map(|its| (device.device.name.clone(), algorithm.name(), its.name())));
            }
        }
        let mut results = Vec::new();
        for (size, ms) in times.iter().enumerate() {
            for (place, (device, algorithm, variant)) in methods.iter().enumerate() {
                let time = Duration::from_secs_f64(ms * (1.0 + place as f64 / 10.0) / 1e3);
                let (positions, distribution) = (element != Type::Text, Distribution::NearlySorted);
                let (device, n) = (device.clone(), 16_usize << (4 * size));
                let case = Case { device, algorithm, variant, element, positions, distribution, n };
                let (bytes, dispatches, bytes_moved) = (4 * n as u64, 16_777_216, 1 << 40);
                let sample = Sample { bytes, dispatches, bytes_moved, ..Sample::on_cpu(time) };
                let samples = vec![sample, Sample { bytes, ..Sample::on_cpu(time * 100) }, sample];
                results.push(Measurement { case, samples, prepare_ms: 0.0 });
            }
        }
        Report { machine, devices, results, skipped: Vec::new() }
    }

    #[test]
    fn growing_time_per_element_is_marked_everywhere() {
        let marks = |times: &[f64]| {
            // Sizes grow by 16; steady time per element means times that grow alike.
            let times: Vec<f64> =
                times.iter().zip(0..).map(|(each, size)| each * 16_f64.powi(size)).collect();
            let report = example(0, Type::Number(ElementType::U32), &times);
            let cases: Vec<Case> = report.results.iter().map(|result| result.case.clone()).collect();
            let table = Table::new(&report, &cases, 1 << 20, 80, false);
            assert!(table.introduction(&report).contains("\nns/elem "));
            let table = table.group(&report, &report.results, &[]);
            let text = export::markdown(&report);
            let svg = plot::svg(&report).unwrap();
            let terminal = plot::terminal(&report, 80, 40).unwrap();
            let terminal = console::strip_ansi_codes(&terminal);
            let counts = [
                table.matches("! ").count(),
                text.matches("! |").count(),
                svg.matches("stroke=\"#ff0000\"").count(),
                // One more in the legend.
                terminal.matches('!').count().saturating_sub(1),
            ];
            assert_eq!(text.contains("`!`: "), counts[1] > 0, "{text}");
            assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}\n{table}\n{terminal}\n{svg}");
            counts[0]
        };
        assert_eq!(marks(&[1.0, 1.0, 0.5, 0.6]), 0, "steady");
        let limit = GROWTH.powi(4);
        assert_eq!(marks(&[1.0, 1.0, 1.01 * limit, 1.0]), 2, "both sorts of the CPU, once");
        assert_eq!(marks(&[1.0, 1.0, 0.99 * limit]), 0, "no doubling need be longer");
        assert_eq!(marks(&[0.0, 1.0]), 0, "a clock too coarse");
    }

    #[test]
    fn throughput_is_of_elements_and_of_their_bytes() {
        let report = example(0, Type::Number(ElementType::U32), &[2.0]);
        let row = report.row(&report.results[0]);
        assert_eq!((row.n, row.ns_per_element, row.bytes_per_s), (16, 125_000.0, 32_000.0));
    }
}
