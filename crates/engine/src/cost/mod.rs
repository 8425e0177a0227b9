//! The cost model of sorting on the CPU and on a GPU; `auto` chooses the cheaper device.
//!
//! [`Costs`] has measured times of sorts of several sizes on both devices, and the startup time of the GPU. A
//! time counts from the moment when the input is read and the GPU has started to the end of the process.
//! `gpusort tune` measures them on a machine; otherwise, [`Costs::built_in`] has times of other machines. Sizes
//! in between are interpolated; beyond the largest size, each element takes as long as between the last two.
//!
//! Startup takes longer than most sorts, but overlaps with reading the input: only its remainder counts.

use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, fs, io};

use etcetera::BaseStrategy;
use gpusort_order::Algorithm;
use gpusort_planner::plan::{Crossovers, Shape};
use serde::{Deserialize, Serialize};

use crate::report::timing::milliseconds;
use gpusort_base::error::Error;
use gpusort_base::human::{self, grouped, short};
use gpusort_cpu::{self as cpu, Digits};

/// The CPU sorts any smaller number of elements before a transfer to any GPU would end.
pub const FEWEST: u64 = 1 << 16;

/// The costs of sorting on some machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// True if the costs were measured on this machine.
    #[serde(skip)]
    pub measured_here: bool,
    /// The GPU; `None` without one.
    pub gpu: Option<GpuCosts>,
    /// CPUs with different numbers of cores, in ascending order; at least one.
    pub cpus: Vec<CpuCosts>,
    /// Reading speed of cached raw binary.
    pub binary_bytes_per_ms: f64,
    /// Reading speed of cached text.
    pub text_bytes_per_ms: f64,
}

/// The costs of sorting on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuCosts {
    /// The GPU's name.
    pub name: String,
    /// Startup time, with kernels that the driver has cached.
    pub start_ms: f64,
    /// Times of sorts, with both transfers.
    pub sorts: Vec<Curve>,
    /// The smallest sizes where an algorithm is the fastest, as far as measured.
    #[serde(default)]
    pub crossovers: Vec<Crossover>,
}

/// The smallest size where an algorithm is the fastest for elements of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crossover {
    /// The algorithm.
    #[serde(with = "by_name")]
    pub algorithm: Algorithm,
    /// 32-bit words per key.
    pub key_words: u32,
    /// True for records, false for keys alone.
    pub records: bool,
    /// The number of elements.
    pub elements: usize,
}

/// Returns the crossovers `others`; the measured crossovers in `seen` replace them.
pub fn crossovers(seen: &[Crossover], others: Crossovers) -> Crossovers {
    let shape = |seen: &Crossover| {
        Shape::ALL.into_iter().find(|its| (its.key_words(), its.payload) == (seen.key_words, seen.records))
    };
    seen.iter().fold(others, |all, seen| match shape(seen) {
        Some(shape) => all.with(seen.algorithm, shape, seen.elements),
        None => all,
    })
}

/// Serialises algorithms by name.
mod by_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use gpusort_order::Algorithm;

    // serde prescribes the signature.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(algorithm: &Algorithm, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(algorithm.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Algorithm, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The costs of sorting on a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuCosts {
    /// The CPU's name.
    pub name: String,
    /// Cores available to threads.
    pub cores: usize,
    /// Times of sorts.
    pub sorts: Vec<Curve>,
    /// The key counts that digits sort faster than vectors.
    #[serde(default)]
    pub by_digits: Option<ByDigits>,
    /// Times of sorts of lines of integers from file to file.
    #[serde(default)]
    pub lines: Option<LineCosts>,
}

/// The times of sorts of lines of integers, from file to file. A GPU reads and writes their text itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineCosts {
    /// Bytes of text, ascending, each with the milliseconds of a process on this CPU.
    pub cpu: Vec<(u64, f64)>,
    /// The same on the GPU, after its start.
    pub gpu: Vec<(u64, f64)>,
}

/// The measured numbers of keys that digits sort faster than vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByDigits {
    /// The instruction set that the vectors used.
    pub instructions: String,
    /// The key counts for keys of four and of eight bytes.
    pub digits: [Digits; 2],
}

/// The time of sorting elements of one shape, by size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// 32-bit words per key.
    pub key_words: u32,
    /// True for records, false for keys alone.
    pub records: bool,
    /// Numbers of elements, ascending, each with the milliseconds of a sort; at least one.
    pub times: Vec<(u64, f64)>,
}

/// Returns the time of a sort of this size. The smallest size stands for all smaller sizes, where fixed costs dominate.
/// Beyond the largest size, each element or byte takes as long as between the last two, without fixed costs.
fn time_at(times: &[(u64, f64)], n: u64) -> f64 {
    let before = times.iter().rev().nth(1).copied().unwrap_or((0, 0.0));
    match times.last() {
        Some(&(size, time)) if n > size => {
            let each = (time - before.1).max(0.0) / (size - before.0) as f64;
            time + each * (n - size) as f64
        }
        _ => interpolated(times, n).unwrap_or(f64::INFINITY),
    }
}

/// Returns the time at `n`, from times at ascending numbers: linear on logarithmic scales between two numbers,
/// and the nearest time outside of them. Returns `None` without any times.
fn interpolated(times: &[(u64, f64)], n: u64) -> Option<f64> {
    let after = times.partition_point(|&(number, _)| number < n);
    match (times[..after].last(), times.get(after)) {
        (Some(a), Some(b)) if b.0 != n => {
            let [log_n, log_a, log_b] = [n, a.0, b.0].map(|number| (number as f64).ln());
            let part = (log_n - log_a) / (log_b - log_a);
            Some((a.1.ln() * (1.0 - part) + b.1.ln() * part).exp())
        }
        (before, after) => after.or(before).map(|&(_, time)| time),
    }
}

/// Returns the time of sorting `n` elements of this shape, if measured.
fn sorting(curves: &[Curve], n: u64, shape: Shape) -> Option<f64> {
    let kind = (shape.key_words(), shape.payload);
    curves.iter().find(|curve| (curve.key_words, curve.records) == kind).map(|curve| time_at(&curve.times, n))
}

impl Costs {
    /// Returns the costs of a machine with a large GPU and 16 cores, and of another CPU with 2 cores.
    ///
    /// # Panics
    ///
    /// Never: a test parses the costs.
    pub fn built_in() -> Self {
        let costs = Self::from_json(include_str!("built-in.json")).expect("a test reads them");
        Self { measured_here: false, ..costs }
    }

    /// Returns the file of this machine's costs; `None` if no folder for settings is known.
    pub fn file() -> Option<PathBuf> {
        let folders = etcetera::choose_base_strategy().ok()?;
        Some(folders.config_dir().join("gpusort").join("costs.json"))
    }

    /// Returns the costs measured on this machine, if any.
    ///
    /// # Errors
    ///
    /// Fails if the file is unreadable or invalid.
    pub fn kept() -> Result<Option<Self>, Error> {
        let Some(file) = Self::file() else { return Ok(None) };
        let json = match fs::read_to_string(&file) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::input(human::path(&file), human::system(&error))),
        };
        let costs = Self::from_json(&json).map_err(|error| {
            Error::input(human::path(&file), format!("run 'gpusort tune' to replace it: {error}"))
        });
        costs.map(Some)
    }

    /// Parses the output of [`Costs::to_json`], as costs of this machine.
    ///
    /// # Errors
    ///
    /// Fails if the JSON or a value is invalid.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let costs: Self = serde_json::from_str(json)
            .map_err(|error| Error::input("costs", human::said(error.to_string())))?;
        let curves = costs.cpus.iter().map(|cpu| &cpu.sorts).chain(costs.gpu.iter().map(|gpu| &gpu.sorts));
        let lines = costs.cpus.iter().filter_map(|cpu| cpu.lines.as_ref());
        let lines = lines.flat_map(|lines| [&lines.cpu, &lines.gpu]);
        let rises = |times: &Vec<(u64, f64)>| {
            !times.is_empty()
                && times.is_sorted_by(|a, b| a.0 < b.0)
                && times.iter().all(|&(n, ms)| n > 0 && ms > 0.0)
        };
        let has_cores = costs.cpus.first().is_some_and(|cpu| cpu.cores > 0);
        let cores_rise = has_cores && costs.cpus.is_sorted_by(|a, b| a.cores < b.cores);
        let start = costs.gpu.as_ref().map_or(0.0, |gpu| gpu.start_ms);
        let rates = [costs.binary_bytes_per_ms, costs.text_bytes_per_ms];
        let possible = start >= 0.0 && rates.iter().all(|&rate| rate > 0.0);
        let mut seen = costs.gpu.iter().flat_map(|gpu| &gpu.crossovers);
        let seen = seen.all(|seen| (1..=2).contains(&seen.key_words) && seen.elements > 0);
        let times_rise = curves.flatten().map(|curve| &curve.times).chain(lines).all(rises);
        if !(cores_rise && possible && seen && times_rise) {
            return Err(Error::input(
                "costs",
                "cores and sizes must ascend from 1; times and rates must be above 0",
            ));
        }
        Ok(Self { measured_here: true, ..costs })
    }

    /// Writes the costs as JSON on several lines.
    ///
    /// # Errors
    ///
    /// Never in practice; the serialiser's signature demands it.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// Returns the expected time to read `bytes` bytes.
    pub fn reading(&self, bytes: u64, text: bool) -> Duration {
        let rate = if text { self.text_bytes_per_ms } else { self.binary_bytes_per_ms };
        duration(bytes as f64 / rate)
    }

    /// Returns the startup time of the GPU; `None` without a GPU.
    pub fn start(&self) -> Option<Duration> {
        self.gpu.as_ref().map(|gpu| duration(gpu.start_ms))
    }

    /// Makes the CPU sort by digits wherever measurements on this machine, with this number of cores, found
    /// digits to be faster.
    pub fn prefer_digits(&self, cores: usize) {
        let own = self.cpus.iter().find(|cpu| self.measured_here && cpu.cores == cores);
        let by_digits = own.and_then(|cpu| cpu.by_digits.as_ref());
        if let Some(own) = by_digits.filter(|own| own.instructions == cpu::instructions()) {
            cpu::prefer_digits(own.digits.clone());
        }
    }

    /// Compares sorting `n` elements on `cores` cores and on the GPU, which becomes ready after `start`.
    pub fn choose(&self, n: u64, shape: Shape, cores: usize, start: Duration) -> Choice {
        let by_cores = |cpu: &CpuCosts| Some((cpu.cores as u64, sorting(&cpu.sorts, n, shape)?));
        let cpus: Vec<(u64, f64)> = self.cpus.iter().filter_map(by_cores).collect();
        let gpu = self.gpu.as_ref().and_then(|gpu| sorting(&gpu.sorts, n, shape));
        Choice {
            n,
            cpu: duration(interpolated(&cpus, cores as u64).unwrap_or(0.0)),
            gpu: gpu.map(|time| (start, duration(time))),
            shares: false,
            measured_here: self.measured_here,
        }
    }

    /// Compares sorting `n` lines of integers, with this number of bytes, on `cores` cores and on a GPU that reads and
    /// writes their text and becomes ready after `start`.
    pub fn choose_for_lines(&self, n: u64, bytes: u64, cores: usize, start: Duration) -> Choice {
        let by_cores = |time: fn(&LineCosts) -> &[(u64, f64)]| {
            let times = self.cpus.iter().filter_map(|cpu| Some((cpu.cores as u64, cpu.lines.as_ref()?)));
            let times: Vec<_> = times.map(|(cores, lines)| (cores, time_at(time(lines), bytes))).collect();
            interpolated(&times, cores as u64).map(duration)
        };
        Choice {
            n,
            cpu: by_cores(|lines| &lines.cpu).unwrap_or(Duration::ZERO),
            gpu: by_cores(|lines| &lines.gpu).filter(|_| self.gpu.is_some()).map(|time| (start, time)),
            shares: false,
            measured_here: self.measured_here,
        }
    }
}

/// The faster device, with both times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    n: u64,
    cpu: Duration,
    /// The remaining startup time and the time of the sort.
    gpu: Option<(Duration, Duration)>,
    /// True if the GPU merges shares.
    shares: bool,
    measured_here: bool,
}

impl Choice {
    /// Returns this choice for elements that the GPU sorts in shares. The GPU merges shares in a hundredth of
    /// the transfers' time. If its memory does not hold all shares, which is unknown before the sort, the CPU
    /// merges them.
    #[must_use]
    pub fn in_shares(self) -> Self {
        Self { shares: true, ..self }
    }

    /// Returns true if the GPU is faster.
    pub fn is_gpu(&self) -> bool {
        self.gpu.is_some_and(|(start, sort)| start.saturating_add(sort) < self.cpu)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |duration| short(milliseconds(duration));
        write!(f, "{} elements: about {} ms on the CPU, ", grouped(self.n), ms(self.cpu))?;
        match self.gpu {
            None => f.write_str("no GPU")?,
            Some((Duration::ZERO, sort)) => write!(f, "{} ms on the GPU", ms(sort))?,
            Some((start, sort)) => {
                write!(f, "{} ms on the GPU and {} ms to start it", ms(sort), ms(start))?;
            }
        }
        if self.shares {
            f.write_str(", in merged shares")?;
        }
        if !self.measured_here {
            f.write_str(", estimated from other machines; 'gpusort tune' measures this one")?;
        }
        Ok(())
    }
}

fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpusort_order::Kind;

    const KEYS: Shape = Shape::ALL[0];

    fn costs() -> Costs {
        let curve = |times| vec![Curve { key_words: 1, records: false, times }];
        let cpu = |cores, times| CpuCosts {
            name: String::new(),
            cores,
            sorts: curve(times),
            by_digits: None,
            lines: None,
        };
        Costs {
            measured_here: true,
            gpu: Some(GpuCosts {
                name: "G".to_owned(),
                start_ms: 100.0,
                sorts: curve(vec![(1 << 16, 1.0), (1 << 20, 2.0)]),
                crossovers: vec![Crossover {
                    algorithm: Algorithm::Radix,
                    key_words: 1,
                    records: false,
                    elements: 12_345,
                }],
            }),
            cpus: vec![
                cpu(2, vec![(1 << 16, 4.0), (1 << 20, 64.0)]),
                cpu(8, vec![(1 << 16, 1.0), (1 << 20, 16.0)]),
            ],
            binary_bytes_per_ms: 1e6,
            text_bytes_per_ms: 1e5,
        }
    }

    #[test]
    fn times_between_measured_ones_lie_between_them() {
        for (n, cores, expected) in [
            (1 << 16, 2, (4.0, 1.0)),
            (1 << 20, 2, (64.0, 2.0)),
            // Halfway on logarithmic scales.
            (1 << 18, 2, (16.0, f64::sqrt(2.0))),
            (1 << 20, 8, (16.0, 2.0)),
            (1 << 20, 4, (32.0, 2.0)),
            // Fewer cores than measured, and more.
            (1 << 20, 1, (64.0, 2.0)),
            (1 << 20, 64, (16.0, 2.0)),
            // Beyond the last size, each element takes as long as between the last two.
            ((1 << 20) + (15 << 16), 2, (124.0, 3.0)),
            (5, 2, (4.0, 1.0)),
        ] {
            let choice = costs().choose(n, KEYS, cores, Duration::ZERO);
            let (cpu, gpu) = (milliseconds(choice.cpu), milliseconds(choice.gpu.unwrap().1));
            let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
            assert!(is_near(cpu, expected.0) && is_near(gpu, expected.1), "{n} {cores}: {cpu} {gpu}");
        }
    }

    #[test]
    fn lines_have_times_of_their_own() {
        let mut costs = costs();
        let chosen = |costs: &Costs, bytes, cores, left| {
            costs.choose_for_lines(1000, bytes, cores, Duration::from_millis(left)).is_gpu()
        };
        assert!(!chosen(&costs, 1 << 40, 2, 0), "nothing is known");
        let lines =
            |cpu| LineCosts { cpu: vec![(1000, 1.0), (2000, cpu)], gpu: vec![(1000, 3.0), (2000, 5.0)] };
        (costs.cpus[0].lines, costs.cpus[1].lines) = (Some(lines(20.0)), Some(lines(4.0)));
        assert!(chosen(&costs, 2000, 2, 14) && !chosen(&costs, 2000, 2, 15) && !chosen(&costs, 1000, 2, 0));
        // Beyond the largest size: 58 ms on the CPU, 9 on the GPU.
        assert!(chosen(&costs, 4000, 2, 48) && !chosen(&costs, 4000, 2, 49));
        assert!(!chosen(&costs, 2000, 8, 0) && chosen(&costs, 4000, 8, 0));
        assert_eq!(Costs::from_json(&costs.to_json().unwrap()).unwrap(), costs);
        let none = Costs { gpu: None, ..costs.clone() };
        assert!(!chosen(&none, 4000, 2, 0));
        costs.cpus[0].lines = Some(LineCosts { cpu: Vec::new(), ..lines(20.0) });
        assert!(Costs::from_json(&costs.to_json().unwrap()).is_err());
        let built_in = Costs::built_in();
        for (cores, least, most) in
            [(2, 50 << 20, 200 << 20), (4, 100 << 20, 300 << 20), (16, 400 << 20, 1 << 30)]
        {
            let start = built_in.start().unwrap().as_millis() as u64;
            assert!(
                !chosen(&built_in, least, cores, start) && chosen(&built_in, most, cores, start),
                "{cores}"
            );
        }
    }

    #[test]
    fn measured_crossovers_replace_the_usual_ones() {
        let seen = crossovers(&costs().gpu.unwrap().crossovers, Crossovers::of_kind(Kind::Discrete));
        let other = Crossovers::of_kind(Kind::Discrete);
        let is_other = |shape| seen.of(Algorithm::Radix, shape) == other.of(Algorithm::Radix, shape);
        assert_eq!(Shape::ALL.map(is_other), [false, true, true, true]);
        assert_eq!(seen.of(Algorithm::Radix, KEYS), Some(12_345));
        let unknown = costs().to_json().unwrap().replace("\"radix\"", "\"bogo\"");
        assert!(Costs::from_json(&unknown).unwrap_err().to_string().contains("unknown algorithm 'bogo'"));
    }

    #[test]
    fn the_sooner_one_is_chosen_and_the_rest_of_the_start_counts() {
        let chosen = |n, left| costs().choose(n, KEYS, 2, Duration::from_millis(left));
        assert!(chosen(1 << 20, 0).is_gpu() && chosen(1 << 20, 61).is_gpu());
        assert!(!chosen(1 << 20, 63).is_gpu());
        assert!(chosen(1 << 23, 400).is_gpu());
        assert_eq!(
            chosen(1 << 20, 61).to_string(),
            "1,048,576 elements: about 64.0 ms on the CPU, 2.00 ms on the GPU and 61.0 ms to start it"
        );
        assert_eq!(
            Costs { measured_here: false, ..costs() }.choose(1 << 20, KEYS, 2, Duration::ZERO).to_string(),
            "1,048,576 elements: about 64.0 ms on the CPU, 2.00 ms on the GPU, estimated from other machines; \
             'gpusort tune' measures this one"
        );
        let shares = costs().choose(1 << 20, KEYS, 2, Duration::ZERO).in_shares();
        assert!(shares.is_gpu());
        assert_eq!(
            shares.to_string(),
            "1,048,576 elements: about 64.0 ms on the CPU, 2.00 ms on the GPU, in merged shares"
        );
        assert!(!costs().choose(1 << 20, KEYS, 2, Duration::from_millis(63)).in_shares().is_gpu());
        // Only CPUs with measurements of this shape count.
        let mut some = costs();
        some.cpus[0].sorts.clear();
        assert!(some.choose(1 << 20, KEYS, 8, Duration::ZERO).is_gpu());
        assert_eq!(some.choose(1 << 20, KEYS, 2, Duration::ZERO).cpu, Duration::from_millis(16));
        let mut endless = costs();
        endless.cpus[0].sorts[0].times[1].1 = f64::MAX;
        assert_eq!(endless.choose(1 << 20, KEYS, 8, Duration::ZERO).cpu, Duration::from_millis(16));
        assert_eq!(endless.choose(u64::MAX, KEYS, 8, Duration::ZERO).cpu.as_secs(), (1 << 48) / 1000);
        let none = Costs { gpu: None, ..costs() };
        assert!(!none.choose(1 << 30, KEYS, 2, Duration::ZERO).is_gpu());
        let unknown = Shape::ALL[3];
        assert!(
            !costs().choose(1 << 30, unknown, 2, Duration::ZERO).is_gpu(),
            "nothing is known of the shape"
        );
        assert_eq!(costs().reading(3_000_000, false), Duration::from_millis(3));
        assert_eq!(costs().reading(3_000_000, true), Duration::from_millis(30));
    }

    #[test]
    fn costs_are_kept_as_they_are_and_nonsense_is_refused() {
        assert_eq!(Costs::from_json(&costs().to_json().unwrap()).unwrap(), costs());
        let spoilt = |spoil: fn(&mut Costs)| {
            let mut costs = costs();
            spoil(&mut costs);
            Costs::from_json(&costs.to_json().unwrap()).unwrap_err().to_string()
        };
        assert!(spoilt(|costs| costs.cpus.clear()).contains("must ascend"));
        assert!(spoilt(|costs| costs.cpus[0].sorts[0].times.clear()).contains("must ascend"));
        assert!(spoilt(|costs| costs.cpus[1].sorts[0].times.reverse()).contains("must ascend"));
        assert!(spoilt(|costs| costs.cpus[0].sorts[0].times[0].1 = 0.0).contains("above 0"));
        assert!(spoilt(|costs| costs.cpus.reverse()).contains("must ascend"));
        assert!(spoilt(|costs| costs.cpus[0].cores = 0).contains("from 1"));
        assert!(spoilt(|costs| costs.text_bytes_per_ms = 0.0).contains("above 0"));
        assert!(spoilt(|costs| costs.gpu.as_mut().unwrap().start_ms = -1.0).contains("above 0"));
        let mut long = costs();
        long.gpu.as_mut().unwrap().start_ms = f64::MAX;
        assert!(
            !long.choose(1 << 20, KEYS, 2, long.start().unwrap()).is_gpu(),
            "an endless start does not overflow"
        );
        assert!(Costs::from_json("{}").is_err() && Costs::from_json("").is_err());
    }

    #[test]
    fn the_built_in_costs_are_of_all_shapes() {
        let costs = Costs::built_in();
        assert!(!costs.measured_here && costs.cpus.is_sorted_by(|a, b| a.cores < b.cores));
        for shape in Shape::ALL {
            assert!(sorting(&costs.gpu.as_ref().unwrap().sorts, 1, shape).is_some(), "{shape:?}");
            assert!(costs.cpus.iter().all(|cpu| sorting(&cpu.sorts, 1, shape).is_some()), "{shape:?}");
            assert!(!costs.choose(FEWEST, shape, 2, costs.start().unwrap()).is_gpu(), "{shape:?}");
            // With records of two words, the GPU and two cores are about as fast; either may win for shapes
            // with positions.
            let many = costs.choose(1 << 30, shape, 2, costs.start().unwrap());
            assert!(many.is_gpu() || shape.payload, "{shape:?}");
        }
    }
}
