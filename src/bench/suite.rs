//! What is to be measured, and the measuring.

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
    /// Runs that count.
    pub runs: usize,
    /// Runs before them that do not.
    pub warm_up: usize,
    /// What all runs of a case may take together, making and verifying keys apart. A case that would not
    /// get three runs done in that is skipped; others make fewer runs than asked for, but three.
    pub limit: Duration,
    /// The seed of the first run's keys; later runs have those that follow.
    pub seed: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { runs: 15, warm_up: 2, limit: Duration::from_secs(5), seed: 1 }
    }
}

impl Pace {
    /// The fewest runs that tell something.
    fn least(&self) -> usize {
        self.runs.min(3)
    }

    /// Whether runs of this length exceed the limit.
    fn is_exceeded_by(&self, run: Duration) -> bool {
        run.mul_f64(self.least() as f64) > self.limit
    }
}

/// How measuring a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With these runs.
    Measured(Vec<Sample>),
    /// With one run, which took so long.
    TooLong(Duration),
}

/// A sort this long needs no others to warm up.
const LONG: Duration = Duration::from_secs(1);

/// Measures a contender on keys that are made anew for each run, from a seed, and verifies every result.
/// `ran` is told how many runs are done, those of warm-up among them.
///
/// # Errors
///
/// A wrong result, a failure of the device.
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
        // As long as there is time for the runs that count.
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
    /// Bytes of memory that it takes at least: for the largest input, the copy that is sorted and the result.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let n = self.sizes.0.iter().copied().max().unwrap_or(0) as u64;
        let key =
            self.elements.iter().map(|element| 4 * u64::from(element.key_words().count())).max().unwrap_or(0);
        n.saturating_mul(3 * key + if self.positions { 3 * 4 } else { 0 })
    }
}

/// A device to measure, ready for it.
pub struct Device {
    report: DeviceReport,
    /// `None` is the CPU.
    gpu: Option<(Gpu, Option<SpinUp>)>,
}

impl Device {
    /// The CPU, which performs the networks itself.
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

    /// A GPU that took `start` to start. Its clock is raised and its copies are timed.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    pub fn gpu(gpu: Gpu, start: Duration) -> Result<Self, Error> {
        let info = gpu.info();
        // A software driver has no clock of its own.
        let spin_up = (info.kind != Kind::Software).then(|| SpinUp::new(&gpu)).transpose()?;
        let report = DeviceReport {
            name: info.name.clone(),
            backend: info.backend.to_owned(),
            kind: info.kind.name(),
            driver: Some(info.driver.clone()),
            start_ms: Some(milliseconds(start)),
            copy_bytes_per_s: match gpu.copy_bandwidth() {
                // A device that is full can sort all the same.
                Err(error) if refuses(&error) => None,
                bandwidth => Some(bandwidth?),
            },
        };
        Ok(Self { report, gpu: Some((gpu, spin_up)) })
    }

    /// What reports say of it.
    #[must_use]
    pub fn report(&self) -> &DeviceReport {
        &self.report
    }

    /// Whether it is a GPU, be it of software.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// Tells devices of one name apart.
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

/// What is to be measured: everything with everything.
#[derive(Clone, Debug)]
pub struct Suite {
    /// How many elements.
    pub sizes: Sizes,
    /// By what; on the CPU the variant makes no difference.
    pub methods: Vec<(Algorithm, Variant)>,
    /// Types of elements.
    pub elements: Vec<ElementType>,
    /// How they are distributed.
    pub distributions: Vec<Distribution>,
    /// Whether positions travel along.
    pub positions: bool,
    /// How often.
    pub pace: Pace,
}

/// What happens while a suite is measured.
#[derive(Debug)]
pub enum Event<'a> {
    /// A case is begun, and so many runs will be made, those of warm-up counted.
    Begins(&'a Case, usize),
    /// So many of them are done.
    Ran(usize),
    /// A case is done.
    Measured(Measurement),
    /// A case is left out.
    Skipped(Skipped),
    /// All cases of a size are done.
    SizeDone,
}

/// Who sorts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Entrant {
    AllCores,
    OneCore,
    Network { device: usize, algorithm: Algorithm, variant: Variant },
}

impl Entrant {
    /// With which power of n its time grows, nearly.
    fn exponent(self) -> i32 {
        match self {
            Self::Network { algorithm: Algorithm::OddEven, .. } => 2,
            _ => 1,
        }
    }
}

/// A size, and what a run took there.
type Known = (usize, Duration);

impl Suite {
    /// The cases of one size and one kind of keys, in the order in which they are measured.
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
        // First, so that all others can be compared with them.
        let mut entrants = vec![Entrant::AllCores, Entrant::OneCore];
        for (number, device) in devices.iter().enumerate() {
            for &(algorithm, variant) in &self.methods {
                // On the CPU a network is a network.
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

    /// Measures everything, size by size.
    ///
    /// # Errors
    ///
    /// A wrong result, a failure of a device, and whatever `tell` returns. What a device or the time does not
    /// allow is no error.
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
            // Progress that cannot be told is no reason to stop.
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

    /// Measures a case unless that would take too long; says also how long making the contender took.
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

    /// Finds out what a run takes at no less than a quarter of the size, or at the size from which on it is
    /// certain to take too long: by going there in steps of four, so that no step takes long. `None` if
    /// the size is so small that there is nothing to find out.
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

    /// What a GPU would do, if it takes so many.
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

/// Words<'static> of a case's kind, `n` of them.
fn keys(case: &Case, n: usize, seed: u64) -> Words<'static> {
    let (element, distribution) = (case.element, case.distribution);
    Sequence { element, distribution, count: n as u64, seed }.keys(0, n)
}

/// What a run will take at another size.
fn grown((n, run): Known, entrant: Entrant, size: usize) -> Duration {
    let times = (size as f64 / n as f64).powi(entrant.exponent());
    // A year is as good as whatever exceeds what a duration holds.
    Duration::from_secs_f64((run.as_secs_f64() * times).min(3e7))
}

/// Whether a device refuses the size, which is no failure.
fn refuses(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. } | ErrorKind::NoMemory { .. })
}

/// The error with the case that it is about.
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
