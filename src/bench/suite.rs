//! The suite of cases, and the measurement.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::contender::{Contender, OnCpu, OnGpu, OneCore, Sample};
use super::report::{ALL_CORES, CPU, Case, DeviceReport, Measurement, ONE_CORE, Skipped};
use super::sizes::Sizes;
use super::spin_up::SpinUp;
use super::verify::verify;
use crate::device::Kind;
use crate::error::{Error, ErrorKind};
use crate::generate::{Distribution, Sequence};
use crate::gpu::Gpu;
use crate::human;
use crate::key::ElementType;
use crate::plan::{Algorithm, Plan, Shape, Variant};
use crate::sorter::Method;
use crate::timing::milliseconds;
use crate::words::Words;

/// How often each case is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Timed runs.
    pub runs: usize,
    /// Untimed runs before them.
    pub warm_up: usize,
    /// Limit for all runs of a case, without generating and verifying keys. A case that would not complete
    /// three runs within it is skipped; others make fewer runs than requested, but at least three.
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

    /// Whether runs this long exceed the limit.
    fn is_exceeded_by(&self, run: Duration) -> bool {
        run.mul_f64(self.least() as f64) > self.limit
    }
}

/// The result of measuring a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All runs.
    Measured(Vec<Sample>),
    /// One run, which took this long and would exceed the limit.
    TooLong(Duration),
}

/// A sort this long needs no further warm-up.
const LONG: Duration = Duration::from_secs(1);

/// Measures a contender on keys generated anew for each run, and verifies every result. Calls `ran` with the
/// number of runs done, including warm-up.
///
/// # Errors
///
/// A wrong result; a failure of the device.
pub fn measure(
    contender: &mut dyn Contender,
    keys: &dyn Fn(u64) -> Words<'static>,
    pace: &Pace,
    ran: &mut dyn FnMut(usize),
) -> Result<Outcome, Error> {
    let mut samples: Vec<Sample> = Vec::new();
    let (mut spent, mut warm_up) = (Duration::ZERO, pace.warm_up);
    for run in 0.. {
        let seed = pace.seed.wrapping_add(run);
        let input = keys(seed);
        let sample = verified(contender, &input, seed)?;
        ran(run as usize + 1);
        spent += sample.end_to_end;
        if samples.is_empty() && pace.is_exceeded_by(sample.end_to_end) {
            return Ok(Outcome::TooLong(sample.end_to_end));
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

/// Sorts, and fails if the result is wrong.
fn verified(contender: &mut dyn Contender, input: &Words<'static>, seed: u64) -> Result<Sample, Error> {
    let (sample, sorted) = contender.sort(input)?;
    match verify(input, sorted) {
        Ok(()) => Ok(sample),
        Err(problem) => Err(Error::new(ErrorKind::WrongResult { seed, problem })),
    }
}

impl Suite {
    /// Least memory needed, in bytes: for the largest input, the sorted copy and the result.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let n = self.sizes.0.iter().copied().max().unwrap_or(0) as u64;
        let key =
            self.elements.iter().map(|element| 4 * u64::from(element.key_words().count())).max().unwrap_or(0);
        n.saturating_mul(3 * key + if self.positions { 3 * 4 } else { 0 })
    }
}

/// A device that is ready to be measured.
pub struct Device {
    report: DeviceReport,
    /// `None` for the CPU.
    gpu: Option<(Gpu, Option<SpinUp>)>,
}

impl Device {
    /// The CPU, which also performs the networks.
    #[must_use]
    pub fn cpu() -> Self {
        let report = DeviceReport {
            name: CPU_NAME.to_owned(),
            backend: CPU.to_owned(),
            kind: CPU,
            driver: None,
            start_ms: None,
            copy_bytes_per_s: None,
        };
        Self { report, gpu: None }
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
            name: info.name.clone(),
            backend: info.backend.to_owned(),
            kind: info.kind.name(),
            driver: Some(info.driver.clone()),
            start_ms: Some(milliseconds(start)),
            copy_bytes_per_s: match gpu.copy_bandwidth() {
                // A device too full for this can still sort.
                Err(error) if refuses(&error) => None,
                bandwidth => Some(bandwidth?),
            },
        };
        Ok(Self { report, gpu: Some((gpu, spin_up)) })
    }

    /// The device's entry in reports.
    #[must_use]
    pub fn report(&self) -> &DeviceReport {
        &self.report
    }

    /// Whether it is a GPU, including software ones.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// Numbers devices that share a name.
    pub fn number(devices: &mut [Self]) {
        let names: Vec<String> = devices.iter().map(|device| device.report.name.clone()).collect();
        for (index, device) in devices.iter_mut().enumerate() {
            let before = names[..index].iter().filter(|name| **name == names[index]).count();
            if names.iter().filter(|name| **name == names[index]).count() > 1 {
                device.report.name.push_str(&format!(" #{}", before + 1));
            }
        }
    }
}

/// The name of the CPU as a device.
const CPU_NAME: &str = "CPU";

/// The cases to measure: every combination of these.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Numbers of elements.
    pub sizes: Sizes,
    /// Algorithms and variants; on the CPU the variant makes no difference.
    pub methods: Vec<(Algorithm, Variant)>,
    /// Element types.
    pub elements: Vec<ElementType>,
    /// Distributions of the elements.
    pub distributions: Vec<Distribution>,
    /// Whether positions are carried as payloads.
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

/// A sorter in the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Entrant {
    AllCores,
    OneCore,
    Network { device: usize, algorithm: Algorithm, variant: Variant },
}

impl Entrant {
    /// The approximate exponent of n in its running time.
    fn exponent(self) -> i32 {
        match self {
            Self::Network { algorithm: Algorithm::OddEven, .. } => 2,
            _ => 1,
        }
    }
}

/// A size and the time of a run at that size.
type Known = (usize, Duration);

impl Suite {
    /// The cases of one size and one kind of keys, in the order of measurement.
    #[must_use]
    pub fn cases(
        &self,
        devices: &[Device],
        element: ElementType,
        distribution: Distribution,
        n: usize,
    ) -> Vec<Case> {
        let case = |entrant| self.case(entrant, devices, element, distribution, n);
        self.entrants(devices).into_iter().map(case).collect()
    }

    fn entrants(&self, devices: &[Device]) -> Vec<Entrant> {
        // The baselines first, so that all others can be compared with them.
        let mut entrants = vec![Entrant::AllCores, Entrant::OneCore];
        for (number, device) in devices.iter().enumerate() {
            for &(algorithm, variant) in &self.methods {
                // Variants make no difference on the CPU.
                let variant = if device.gpu.is_some() { variant } else { algorithm.variants()[0] };
                let entrant = Entrant::Network { device: number, algorithm, variant };
                if !entrants.contains(&entrant) {
                    entrants.push(entrant);
                }
            }
        }
        entrants
    }

    fn case(
        &self,
        entrant: Entrant,
        devices: &[Device],
        element: ElementType,
        distribution: Distribution,
        n: usize,
    ) -> Case {
        let (device, algorithm, variant) = match entrant {
            Entrant::AllCores => (CPU_NAME, CPU, ALL_CORES),
            Entrant::OneCore => (CPU_NAME, CPU, ONE_CORE),
            Entrant::Network { device, algorithm, variant } => {
                let device = &devices[device];
                let variant = if device.gpu.is_some() { variant.name() } else { "network" };
                (device.report.name.as_str(), algorithm.name(), variant)
            }
        };
        let (device, positions) = (device.to_owned(), self.positions);
        Case { device, algorithm, variant, element, positions, distribution, n }
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
        for &element in &self.elements {
            for &distribution in &self.distributions {
                let mut known: HashMap<Entrant, Known> = HashMap::new();
                for &n in &self.sizes.0 {
                    for entrant in self.entrants(devices) {
                        let case = self.case(entrant, devices, element, distribution, n);
                        self.run_case(entrant, devices, case, &mut known, tell)?;
                    }
                    tell(Event::SizeDone)?;
                }
            }
        }
        Ok(())
    }

    fn run_case<E: From<Error>>(
        &self,
        entrant: Entrant,
        devices: &[Device],
        case: Case,
        known: &mut HashMap<Entrant, Known>,
        tell: &mut dyn FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        tell(Event::Begins(&case, self.pace.warm_up.saturating_add(self.pace.runs)))?;
        let mut ran = |runs| {
            // A failure to show progress is ignored.
            let _ = tell(Event::Ran(runs));
        };
        match self.outcome(entrant, devices, &case, known, &mut ran) {
            Ok((Outcome::Measured(samples), prepare)) => {
                let prepare_ms = milliseconds(prepare);
                tell(Event::Measured(Measurement { case, samples, prepare_ms }))
            }
            Ok((Outcome::TooLong(run), _)) => {
                let runs = if self.pace.least() == 1 { "it" } else { "three" };
                let [run, limit] = [run, self.pace.limit].map(|time| human::time(milliseconds(time)));
                let by = known.get(&entrant).map(|&(n, _)| n).filter(|&n| n != case.n);
                let by = by.map_or_else(String::new, |n| format!(" by one of {}", human::grouped(n)));
                let why = format!("about {run} a run{by}, and {runs} must fit into {limit}");
                tell(Event::Skipped(Skipped { case, why }))
            }
            Err(error) if refuses(&error) => tell(Event::Skipped(Skipped { case, why: error.to_string() })),
            Err(error) => Err(named(error, &case).into()),
        }
    }

    /// Measures a case unless it would take too long; also returns the preparation time of the contender.
    fn outcome(
        &self,
        entrant: Entrant,
        devices: &[Device],
        case: &Case,
        known: &mut HashMap<Entrant, Known>,
        ran: &mut dyn FnMut(usize),
    ) -> Result<(Outcome, Duration), Error> {
        self.plan(entrant, devices, case.element, case.n)?;
        if let Some(found) = self.expect(entrant, devices, case, known.get(&entrant).copied())? {
            known.insert(entrant, found);
            let run = grown(found, entrant, case.n);
            if self.pace.is_exceeded_by(run) {
                return Ok((Outcome::TooLong(run), Duration::ZERO));
            }
        }
        let start = Instant::now();
        let mut contender = self.contender(entrant, devices, case.element, case.n)?;
        let prepare = start.elapsed();
        let keys = |seed| keys(case, case.n, seed);
        let outcome = measure(contender.as_mut(), &keys, &self.pace, ran)?;
        let run = match &outcome {
            Outcome::Measured(samples) => {
                samples.iter().map(|sample| sample.end_to_end).min().unwrap_or_default()
            }
            Outcome::TooLong(run) => *run,
        };
        known.insert(entrant, (case.n, run));
        Ok((outcome, prepare))
    }

    /// Estimates the time of a run by measuring smaller sizes in steps of four, up to a quarter of this size
    /// or to a size from which on it is certain to take too long; so no step takes long. `None` if the size
    /// is too small to need an estimate.
    fn expect(
        &self,
        entrant: Entrant,
        devices: &[Device],
        case: &Case,
        known: Option<Known>,
    ) -> Result<Option<Known>, Error> {
        const STEP: usize = 4;
        const SMALL: usize = 1 << 12;
        let (mut last, mut n) = match known {
            Some(known) => (Some(known), known.0),
            None if case.n <= SMALL => return Ok(None),
            None => (None, SMALL / STEP),
        };
        while n < case.n.div_ceil(STEP) {
            n = n.saturating_mul(STEP).min(case.n);
            if last.is_some_and(|last| self.pace.is_exceeded_by(grown(last, entrant, n))) {
                break;
            }
            let input = keys(case, n, self.pace.seed);
            let mut contender = self.contender(entrant, devices, case.element, n)?;
            let sample = verified(contender.as_mut(), &input, self.pace.seed)?;
            last = Some((n, sample.end_to_end));
        }
        Ok(last)
    }

    /// The plan of a GPU, if its limits permit.
    fn plan(
        &self,
        entrant: Entrant,
        devices: &[Device],
        element: ElementType,
        n: usize,
    ) -> Result<Option<Plan>, Error> {
        let Entrant::Network { device, algorithm, variant } = entrant else { return Ok(None) };
        let Some((gpu, _)) = &devices[device].gpu else { return Ok(None) };
        let shape = Shape::of(element, self.positions);
        Plan::new(algorithm, variant, n, shape, &gpu.info().limits).map(Some)
    }

    fn contender<'a>(
        &self,
        entrant: Entrant,
        devices: &'a [Device],
        element: ElementType,
        n: usize,
    ) -> Result<Box<dyn Contender + 'a>, Error> {
        let on_cpu = |method| Box::new(OnCpu::new(method, self.positions));
        let plan = self.plan(entrant, devices, element, n)?;
        Ok(match entrant {
            Entrant::AllCores => on_cpu(Method::default()),
            Entrant::OneCore => Box::new(OneCore::new(self.positions)),
            Entrant::Network { device, algorithm, .. } => match (&devices[device].gpu, plan) {
                (Some((gpu, spin_up)), Some(plan)) => Box::new(OnGpu::new(gpu, spin_up.as_ref(), plan)?),
                _ => on_cpu(Method { algorithm: Some(algorithm), variant: None }),
            },
        })
    }
}

/// `n` keys of a case's kind.
fn keys(case: &Case, n: usize, seed: u64) -> Words<'static> {
    let (element, distribution) = (case.element, case.distribution);
    Sequence { element, distribution, count: n as u64, seed }.keys(0, n)
}

/// The estimated time of a run at another size.
fn grown((n, run): Known, entrant: Entrant, size: usize) -> Duration {
    let times = (size as f64 / n as f64).powi(entrant.exponent());
    // Clamped to a year, since a Duration could overflow.
    Duration::from_secs_f64((run.as_secs_f64() * times).min(3e7))
}

/// Whether the device does not support the size, which is no failure.
fn refuses(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. } | ErrorKind::NoMemory { .. })
}

/// Adds the case to an error.
fn named(error: Error, case: &Case) -> Error {
    let what = format!(
        "{} on {}, {} {} {}",
        case.method(),
        case.device,
        human::grouped(case.n),
        case.distribution,
        case.type_name()
    );
    error.about(what)
}
