//! The suite of cases, and the measurement.

use std::time::{Duration, Instant};

use gpusort_order::{KeyWords, Kind, Method};
use gpusort_planner::plan::{self, Algorithm, Plan, Shape, Variant};

use crate::contender::{Contender, Sample, on_cpu, on_gpu};
use crate::generate::{Distribution, Sequence, Type};
use crate::machine::cpu_name;
use crate::report::{ALL_CORES, CPU, Case, DeviceReport, Measurement, ONE_CORE, Skipped};
use crate::sizes::Sizes;
use crate::spin_up::SpinUp;
use crate::texts;
use crate::verify::verify;
use gpusort_base::error::{Error, ErrorKind};
use gpusort_base::human;
use gpusort_engine::gpu::Gpu;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::report::timing::{self, milliseconds};
use gpusort_engine::sorter::Sorter;

/// Number of runs of each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Timed runs.
    pub runs: usize,
    /// Untimed runs before them.
    pub warm_up: usize,
    /// Limit for all runs of a case, without generating and verifying keys. A case that would not
    /// complete three runs within it is skipped; others make fewer runs than requested, but at
    /// least three.
    pub limit: Duration,
    /// The seed of the first run's keys, incremented for each later run.
    pub seed: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { runs: 15, warm_up: 2, limit: Duration::from_secs(5), seed: 1 }
    }
}

impl Pace {
    /// The least number of meaningful runs.
    fn least(&self) -> usize {
        self.runs.min(3)
    }

    /// True if runs this long exceed the limit.
    fn is_exceeded_by(&self, run: Duration) -> bool {
        run.mul_f64(self.least() as f64) > self.limit
    }
}

/// The result of measuring a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All runs.
    Measured(Vec<Sample>),
    /// The second run took this long, so that all runs would exceed the limit.
    TooLong(Duration),
}

/// A sort this long needs no further warm-up.
const LONG: Duration = Duration::from_secs(1);

/// Sorts and verifies the keys of a seed; fails if the result is wrong or the device fails.
pub type Run<'a> = dyn FnMut(u64) -> Result<Sample, Error> + 'a;

/// Measures a sort on the keys of a new seed for each run. Calls `ran` with the number of runs done, including
/// warm-up.
///
/// # Errors
///
/// A wrong result; a failure of the device.
pub fn measure(sort: &mut Run, pace: &Pace, ran: &mut dyn FnMut(usize)) -> Result<Outcome, Error> {
    let mut samples: Vec<Sample> = Vec::new();
    let (mut spent, mut warm_up) = (Duration::ZERO, pace.warm_up);
    for run in 0.. {
        let seed = pace.seed.wrapping_add(run);
        let sample = sort(seed)?;
        ran(run as usize + 1);
        spent += sample.end_to_end;
        if samples.is_empty() && pace.is_exceeded_by(sample.end_to_end) {
            if run > 0 {
                return Ok(Outcome::TooLong(sample.end_to_end));
            }
            // The first run may have compiled kernels, so the limit excludes it.
            spent = Duration::ZERO;
            warm_up = warm_up.saturating_sub(1);
            continue;
        }
        // While enough time remains for the timed runs.
        let is_free = spent + sample.end_to_end.mul_f64(pace.least() as f64) < pace.limit;
        if warm_up > 0 && sample.end_to_end < LONG && is_free {
            warm_up -= 1;
            continue;
        }
        warm_up = 0;
        samples.push(sample);
        let is_over = spent + sample.end_to_end > pace.limit && samples.len() >= pace.least();
        if samples.len() >= pace.runs || is_over {
            break;
        }
    }
    Ok(Outcome::Measured(samples))
}

/// The time of a run after a first one, which may compile kernels.
fn warm(sort: &mut Run, seed: u64) -> Result<Duration, Error> {
    sort(seed)?;
    Ok(sort(seed)?.end_to_end)
}

/// Sorts keys of this seed, and verifies the result.
///
/// # Errors
///
/// A wrong result; a failure of the device.
pub fn verified(contender: &mut Contender, input: &KeyBuf<'static>, seed: u64) -> Result<Sample, Error> {
    let (sample, sorted) = contender(input)?;
    verify(input, &sorted).map_err(|problem| Error::new(ErrorKind::WrongResult { seed, problem }))?;
    Ok(Sample { bytes: input.bytes().iter().map(|block| block.len() as u64).sum(), ..sample })
}

/// A started device.
pub struct Device {
    /// Its entry in reports.
    pub report: DeviceReport,
    sorter: Sorter,
    /// Only for hardware.
    spin_up: Option<SpinUp>,
}

impl Device {
    /// The CPU, which also performs the networks.
    pub fn cpu() -> Self {
        let device = timing::Device { name: cpu_name(), backend: CPU, kind: CPU };
        let report = DeviceReport { device, driver: None, start_ms: None, copy_bytes_per_s: None };
        Self { report, sorter: Sorter::cpu(), spin_up: None }
    }

    /// A GPU that took `start` to start. Spins it up and measures its copy bandwidth.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    pub fn gpu(gpu: Gpu, start: Duration) -> Result<Self, Error> {
        let info = gpu.info();
        // A software driver has no clock frequency.
        let spin_up = (info.kind != Kind::Software).then(|| SpinUp::new(&gpu)).transpose()?;
        let report = DeviceReport {
            device: timing::Device::of(info),
            driver: Some(info.driver.clone()),
            start_ms: Some(milliseconds(start)),
            copy_bytes_per_s: match gpu.copy_bandwidth() {
                // A device too full for this can still sort.
                Err(error) if error.is_too_much() => None,
                bandwidth => Some(bandwidth?),
            },
        };
        Ok(Self { report, sorter: Sorter::on(gpu), spin_up })
    }

    /// Numbers devices that share a name.
    pub fn number(devices: &mut [Self]) {
        let names: Vec<String> = devices.iter().map(|device| device.report.device.name.clone()).collect();
        for (index, device) in devices.iter_mut().enumerate() {
            let before = names[..index].iter().filter(|name| **name == names[index]).count();
            if names.iter().filter(|name| **name == names[index]).count() > 1 {
                device.report.device.name.push_str(&format!(" #{}", before + 1));
            }
        }
    }
}

/// The cases to measure: every combination of these.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Numbers of elements.
    pub sizes: Sizes,
    /// Algorithms and variants, `None` for a device's default; on the CPU the variant makes no
    /// difference.
    pub methods: Vec<(Algorithm, Option<Variant>)>,
    /// Types of the elements.
    pub types: Vec<Type>,
    /// Distributions of the elements.
    pub distributions: Vec<Distribution>,
    /// Carry positions as payloads of numbers.
    pub positions: bool,
    /// Number of runs and time limit.
    pub pace: Pace,
}

/// An event during a suite.
#[derive(Debug)]
pub enum Event<'a> {
    /// A case begins, with this many runs including warm-up.
    Begins(&'a Case, usize),
    /// This many of its runs are done.
    Ran(usize),
    /// A case is measured.
    Measured(Measurement),
    /// A case is skipped.
    Skipped(Skipped),
    /// All cases of a size are done.
    SizeDone,
}

impl Suite {
    /// Least memory needed, in bytes: for the largest input, the sorted copy and the result.
    pub fn memory(&self) -> u64 {
        let n = self.sizes.0.last().copied().unwrap_or(0) as u64;
        let positions = if self.positions { 3 * 4 } else { 0 };
        let bytes = |&of: &Type| match of {
            Type::Number(element) => 3 * 4 * u64::from(element.key_words().count()) + positions,
            // The lines twice, and their slices, places, words and positions.
            Type::Text => 2 * 28 + 16 + 8 + 3 * 8 + 3 * 4,
        };
        n.saturating_mul(self.types.iter().map(bytes).max().unwrap_or(0))
    }

    /// The cases of the first kind of keys, in the order of measurement, of no size yet.
    pub fn cases(&self, devices: &[Device]) -> Vec<Case> {
        let entrants = self.entrants(devices, self.types[0], self.distributions[0]);
        entrants.into_iter().map(|entrant| entrant.case).collect()
    }

    fn entrants<'a>(
        &self,
        devices: &'a [Device],
        element: Type,
        distribution: Distribution,
    ) -> Vec<Entrant<'a>> {
        let mut entrants: Vec<Entrant> = Vec::new();
        let mut add = |device: &str, algorithm, variant, gpu, method| {
            let (device, positions) = (device.to_owned(), self.positions && element != Type::Text);
            let case = Case { device, algorithm, variant, element, positions, distribution, n: 0 };
            if entrants.iter().all(|other| other.case != case) {
                entrants.push(Entrant { case, gpu, method, known: None });
            }
        };
        let shape = match element {
            Type::Number(element) => Shape::of(element, self.positions),
            Type::Text => Shape { key: KeyWords::Two, payload: true },
        };
        // The baselines first, so that all others can be compared with them.
        let cpu = cpu_name();
        add(&cpu, CPU, ALL_CORES, None, Some(Method::default()));
        add(&cpu, CPU, ONE_CORE, None, None);
        for device in devices {
            for &(algorithm, variant) in &self.methods {
                let name = &device.report.device.name;
                let method = |variant| Some(Method { algorithm: Some(algorithm), variant });
                let Some(gpu) = device.sorter.started() else {
                    // Variants make no difference on the CPU, and its radix sort is the baseline.
                    if algorithm.is_network() {
                        add(name, algorithm.name(), "network", None, method(None));
                    }
                    continue;
                };
                // The best for the fewest elements, and for the most.
                let best = |n: &usize| plan::best_variant(algorithm, *n, shape, &gpu.info().limits);
                let sizes = [self.sizes.0.first(), self.sizes.0.last()];
                let best = sizes.into_iter().flatten().map(best);
                for variant in variant.map_or_else(|| best.collect(), |variant| vec![variant]) {
                    let gpu = Some((gpu, device));
                    add(name, algorithm.name(), variant.name(), gpu, method(Some(variant)));
                }
            }
        }
        entrants
    }

    /// Measures all cases, size by size.
    ///
    /// # Errors
    ///
    /// A wrong result; a failure of a device; any error of `tell`. Exceeding a limit is no error.
    pub fn run<E: From<Error>>(
        &self,
        devices: &[Device],
        tell: &mut dyn FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        for &element in &self.types {
            for &distribution in &self.distributions {
                let mut entrants = self.entrants(devices, element, distribution);
                for &n in &self.sizes.0 {
                    for entrant in &mut entrants {
                        entrant.case.n = n;
                        entrant.run(&self.pace, tell)?;
                    }
                    tell(Event::SizeDone)?;
                }
            }
        }
        Ok(())
    }
}

/// A sorter in the comparison, which goes from size to size.
struct Entrant<'a> {
    /// The case of the current size.
    case: Case,
    /// The GPU and its device; `None` for a sort on the CPU.
    gpu: Option<(&'a Gpu, &'a Device)>,
    /// `None` for the standard library's sort on one core.
    method: Option<Method>,
    /// A size and the time of a run at that size.
    known: Option<(usize, Duration)>,
}

impl<'a> Entrant<'a> {
    fn run<E: From<Error>>(
        &mut self,
        pace: &Pace,
        tell: &mut dyn FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        tell(Event::Begins(&self.case, pace.warm_up.saturating_add(pace.runs)))?;
        let mut ran = |runs| {
            // A failure to show progress is ignored.
            let _ = tell(Event::Ran(runs));
        };
        let outcome = self.outcome(pace, &mut ran);
        let case = self.case.clone();
        let why = match outcome {
            Ok((Outcome::Measured(samples), prepare)) => {
                let prepare_ms = milliseconds(prepare);
                return tell(Event::Measured(Measurement { case, samples, prepare_ms }));
            }
            Ok((Outcome::TooLong(run), _)) => {
                let runs = human::counted(pace.least() as u64, "run", "runs");
                let [run, limit] = [run, pace.limit].map(|time| human::time(milliseconds(time)));
                let by = self.known.map(|(n, _)| n).filter(|&n| n != case.n);
                let by = by.map(|n| format!(" (estimated at {})", human::grouped(n))).unwrap_or_default();
                format!("{runs} of about {run}{by}: more than {limit}; raise --time-limit")
            }
            Err(error) if error.is_too_much() => error.to_string(),
            Err(error) => {
                let (method, n, type_name) = (case.method(), human::grouped(case.n), case.type_name());
                let what = format!("{method} on {}, {n} {} {type_name}", case.device, case.distribution);
                return Err(error.about(what).into());
            }
        };
        tell(Event::Skipped(Skipped { case, why }))
    }

    /// Measures the case unless it would take too long; also returns the preparation time of the
    /// contender.
    fn outcome(&mut self, pace: &Pace, ran: &mut dyn FnMut(usize)) -> Result<(Outcome, Duration), Error> {
        let n = self.case.n;
        // A size that the device refuses needs no estimate.
        self.plan(n)?;
        if let Some(run) = self.estimate(pace)?.filter(|&run| pace.is_exceeded_by(run)) {
            return Ok((Outcome::TooLong(run), Duration::ZERO));
        }
        let start = Instant::now();
        let mut sort = self.sort(n)?;
        let prepare = start.elapsed();
        let outcome = measure(sort.as_mut(), pace, ran)?;
        let run = match &outcome {
            Outcome::Measured(samples) => {
                samples.iter().map(|sample| sample.end_to_end).min().unwrap_or_default()
            }
            Outcome::TooLong(run) => *run,
        };
        self.known = Some((n, run));
        Ok((outcome, prepare))
    }

    /// Estimates the time of a run by measuring smaller sizes in steps of four, up to a quarter of
    /// this size or until a size is certain to take too long; so no step takes long.
    /// `None` if the size is too small to need an estimate.
    fn estimate(&mut self, pace: &Pace) -> Result<Option<Duration>, Error> {
        const STEP: usize = 4;
        const FIRST: usize = 1 << 10;
        let size = self.case.n;
        let mut n = self.known.map_or(FIRST, |(n, _)| n);
        while n < size.div_ceil(STEP) {
            n = n.saturating_mul(STEP).min(size);
            if self.grown(n).is_some_and(|run| pace.is_exceeded_by(run)) {
                break;
            }
            self.known = Some((n, warm(self.sort(n)?.as_mut(), pace.seed)?));
        }
        Ok(self.grown(size))
    }

    /// The time of a run at another size, by the known one.
    fn grown(&self, size: usize) -> Option<Duration> {
        let (n, run) = self.known?;
        let exponent = if self.case.algorithm == Algorithm::OddEven.name() { 2 } else { 1 };
        let times = (size as f64 / n as f64).powi(exponent);
        // Clamped to a year, since a Duration could overflow.
        Some(Duration::from_secs_f64((run.as_secs_f64() * times).min(3e7)))
    }

    /// The plan of a GPU for numbers; an error if its limits do not permit it.
    fn plan(&self, n: usize) -> Result<Option<Plan>, Error> {
        let (Some((gpu, _)), Type::Number(element)) = (self.gpu, self.case.element) else { return Ok(None) };
        let Some(Method { algorithm: Some(algorithm), variant: Some(variant) }) = self.method else {
            unreachable!("a GPU sorts by a variant");
        };
        let shape = Shape::of(element, self.case.positions);
        Ok(Some(Plan::new(algorithm, variant, n, shape, &gpu.info().limits)?))
    }

    /// Runs of this many elements, ready to be measured.
    fn sort(&self, n: usize) -> Result<Box<Run<'a>>, Error> {
        let Case { element, distribution, positions, .. } = self.case;
        let (gpu, method) = (self.gpu, self.method);
        let sequence =
            move |seed| Sequence { element: element.numbers(), distribution, count: n as u64, seed };
        if element == Type::Text {
            let sorter = gpu.map(|(_, device)| &device.sorter);
            return Ok(Box::new(move |seed| texts::sample(sorter, method, &sequence(seed))));
        }
        let mut contender: Box<Contender<'a>> = match gpu.zip(self.plan(n)?) {
            Some(((gpu, device), plan)) => on_gpu(gpu, device.spin_up.as_ref(), plan)?,
            None => on_cpu(method, positions),
        };
        Ok(Box::new(move |seed| verified(contender.as_mut(), &sequence(seed).keys(0, n), seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_of_a_second_run() {
        let mut times = [60, 1].into_iter();
        let mut sort = |_| Ok(Sample::on_cpu(Duration::from_secs(times.next().unwrap())));
        assert_eq!(warm(&mut sort, 1).unwrap(), Duration::from_secs(1));
    }
}
