//! Resolves `--device`, and chooses the device for a sort.

use std::cell::OnceCell;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gpusort::{ErrorKind, Kind, Method, Select, Sorter};
use gpusort_base::human::{counted, quoted};
use gpusort_base::parallel::{self, Meanwhile};
use gpusort_engine::cost::{self, Choice, Costs};
use gpusort_engine::gpu::{Gpu, adapters};
use gpusort_files::{ChooseSorter, Chosen, Expected};
use gpusort_order::Selection;
use gpusort_planner::plan::{Algorithm, Crossovers, Shape};

use super::args::SortArgs;
use super::report::progress::{Progress, Unit};

/// The requested device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Auto,
    Cpu,
    Gpu(Select),
}

impl Device {
    pub(super) fn named(name: &str) -> anyhow::Result<Self> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu(Select::Hardware),
            "" => bail!("--device expects auto, cpu, gpu, a number or part of a name"),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let index = digits.parse().map_err(|_| anyhow!("no GPU has number {digits}"))?;
                Self::Gpu(Select::Index(index))
            }
            _ => Self::Gpu(Select::Name(name.to_owned())),
        })
    }
}

/// The devices that a sort may use.
enum Wanted {
    /// The CPU or a GPU, by the expected time.
    Fastest,
    /// A hardware GPU or, without one, the CPU, for this algorithm.
    For(Algorithm),
    Cpu,
    /// These GPUs share the work; if empty, all hardware GPUs.
    Gpus(Vec<Select>),
}

impl Wanted {
    fn named(name: &str, algorithm: Option<Algorithm>) -> anyhow::Result<Self> {
        let numbers = name.split(',').map(|number| number.trim().parse().ok().map(Select::Index));
        let is_list = name.contains(',');
        Ok(match numbers.clone().collect() {
            Some(numbers) if is_list => Self::Gpus(numbers),
            _ if is_list && numbers.flatten().next().is_some() => {
                bail!("--device {}: only GPUs share the work; list their numbers, as in 0,1", quoted(name))
            }
            _ if name.eq_ignore_ascii_case("all") => Self::Gpus(Vec::new()),
            _ => match (Device::named(name)?, algorithm) {
                (Device::Auto, None) => Self::Fastest,
                (Device::Auto, Some(algorithm)) => Self::For(algorithm),
                (Device::Cpu, _) => Self::Cpu,
                (Device::Gpu(select), _) => Self::Gpus(vec![select]),
            },
        })
    }
}

/// The costs of other machines, of their CPUs alone if Linux has no file of a GPU: a driver takes 40 ms to find none.
fn costs_of_others() -> Costs {
    let may_have_gpu =
        || ["dri", "nvidiactl", "dxg"].iter().any(|name| Path::new("/dev").join(name).exists());
    let costs = Costs::built_in();
    Costs { gpu: costs.gpu.filter(|_| !cfg!(target_os = "linux") || may_have_gpu()), ..costs }
}

/// Starts these GPUs, or if empty all hardware GPUs, in parallel.
fn start(mut selects: Vec<Select>) -> Result<Vec<Gpu>, gpusort::Error> {
    if selects.is_empty() {
        let hardware = adapters().into_iter().enumerate().filter(|(_, info)| info.kind != Kind::Software);
        selects.extend(hardware.map(|(number, _)| Select::Index(number)));
    }
    if let [] | [_] = selects[..] {
        // Without a GPU this call fails.
        return Ok(vec![Gpu::start(selects.first().unwrap_or(&Select::Hardware))?]);
    }
    thread::scope(|scope| {
        let start = |select| parallel::meanwhile(scope, move || Gpu::start(select));
        let starting: Vec<_> = selects.iter().map(start).collect();
        starting.into_iter().map(Meanwhile::wait).collect()
    })
}

/// Devices that start while the input is read.
struct Starting {
    /// The starting thread, or the result if the system refused a thread.
    device: Result<JoinHandle<Begun>, Box<Begun>>,
    since: Instant,
}

/// Devices and their startup time.
type Begun = (Result<Vec<Gpu>, gpusort::Error>, Duration);

impl Starting {
    fn new(selects: Vec<Select>) -> Self {
        let since = Instant::now();
        let device = parallel::background(move || {
            let gpus = start(selects);
            (gpus, since.elapsed())
        });
        Self { device: device.map_err(Box::new), since }
    }

    /// The remaining time of a startup that takes `of` in total.
    fn left(&self, of: Duration) -> Duration {
        let is_done = self.device.as_ref().map_or(true, JoinHandle::is_finished);
        if is_done { Duration::ZERO } else { of.saturating_sub(self.since.elapsed()) }
    }

    fn wait(self) -> Begun {
        match self.device {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(begun) => *begun,
        }
    }
}

/// The devices of one command, which keep a started GPU for further inputs.
pub(super) struct Devices {
    wanted: Wanted,
    method: Method,
    selection: Selection,
    /// Enables notes, e.g. on a missing GPU.
    notes: bool,
    starting: Option<Starting>,
    /// The started GPU, or why none started.
    gpu: Option<Result<Sorter, String>>,
    cpu: Sorter,
    /// Loaded on first use.
    costs: OnceCell<Costs>,
    progress: Progress,
}

impl Drop for Devices {
    /// Waits, since a process that ends during a driver's startup may crash in it.
    fn drop(&mut self) {
        if let Some(Starting { device: Ok(thread), .. }) = self.starting.take() {
            // The result is unused.
            let _ = thread.join();
        }
    }
}

impl Devices {
    /// The devices for these arguments; notes go above the bar.
    pub(super) fn new(args: &SortArgs, progress: &Progress) -> anyhow::Result<Self> {
        let first = args.top.map(|top| usize::try_from(top).unwrap_or(usize::MAX));
        Ok(Self {
            wanted: Wanted::named(&args.device, args.algo)?,
            method: Method { algorithm: args.algo, variant: args.variant },
            selection: Selection { unique: args.order.unique, first },
            notes: !args.quiet,
            starting: None,
            gpu: None,
            cpu: Sorter::cpu(),
            costs: OnceCell::new(),
            progress: progress.clone(),
        })
    }

    /// The costs of sorting on this machine.
    fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| {
            Costs::kept()
                .unwrap_or_else(|error| {
                    if self.notes {
                        // Even if the choice does not depend on it, since the error will persist.
                        super::say(format_args!("{error:#}"));
                    }
                    None
                })
                .inspect(|costs| costs.prefer_digits(parallel::cores()))
                .unwrap_or_else(costs_of_others)
        })
    }

    /// Compares the devices for `n` elements; `left` maps the GPU's startup time to its remaining
    /// part.
    fn compare(&self, n: u64, shape: Shape, left: impl Fn(Duration) -> Duration) -> Choice {
        let costs = self.costs();
        costs.choose(n, shape, parallel::cores(), costs.start().map_or(Duration::ZERO, left))
    }

    /// Compares the devices for lines of integers whose text the GPU reads and writes, after this time.
    fn compare_lines(&self, n: u64, bytes: u64, start: Duration) -> Choice {
        self.costs().choose_for_lines(n, bytes, parallel::cores(), start)
    }

    /// Begins the start of the GPU, unless the GPU has started or is starting.
    fn begin(&mut self) {
        if self.gpu.is_none() && self.starting.is_none() {
            self.starting = Some(Starting::new(self.selects()));
        }
    }

    /// The reason for a GPU, or against one; `left` is as for [`Self::compare`].
    fn reason(&self, n: u64, shape: Shape, left: impl Fn(Duration) -> Duration) -> Result<String, String> {
        match self.wanted {
            Wanted::Cpu => return Err("--device cpu".to_owned()),
            Wanted::Gpus(_) => return Ok("chosen by --device".to_owned()),
            Wanted::For(algorithm) => return Ok(format!("--algo {algorithm} with a hardware GPU")),
            Wanted::Fastest => {}
        }
        if n < cost::FEWEST {
            return Err(counted(n, "element is", "elements are") + " too few for a GPU");
        }
        if self.selection.is_few(n) {
            return Err("selecting the first few takes less time than a transfer to a GPU".to_owned());
        }
        let choice = self.compare(n, shape, left);
        if choice.is_gpu() { Ok(choice.to_string()) } else { Err(choice.to_string()) }
    }

    /// Sets `gpu` and returns the startup time, which is zero if no GPU was started for this sort.
    fn start(&mut self) -> Result<Duration, gpusort::Error> {
        if self.gpu.is_some() {
            return Ok(Duration::ZERO);
        }
        let starting = self.starting.take().unwrap_or_else(|| Starting::new(self.selects()));
        self.progress.phase("device", Unit::Time, None);
        let (gpu, time) = match starting.wait() {
            (Ok(gpus), time) => (Ok(self.sorter(gpus)), time),
            (Err(error), _) => (Err(self.reason_for_none(error)?), Duration::ZERO),
        };
        self.gpu = Some(gpu);
        Ok(time)
    }

    /// A sorter that uses the measured crossovers of these GPUs, if known.
    fn sorter(&self, gpus: Vec<Gpu>) -> Sorter {
        let sorter = Sorter::on_all(gpus);
        // A named algorithm needs no costs, and no note about them.
        if self.method.algorithm.is_none()
            && let Costs { measured_here: true, gpu: Some(seen), .. } = self.costs()
            && let Some(info) = sorter.device().filter(|info| info.name == seen.name)
        {
            let crossovers = cost::crossovers(&seen.crossovers, Crossovers::of_kind(info.kind));
            return sorter.with_crossovers(&crossovers);
        }
        sorter
    }

    /// The reason for no GPU; an error only if a GPU was requested.
    fn reason_for_none(&self, error: gpusort::Error) -> Result<String, gpusort::Error> {
        let is_none = matches!(error.kind(), ErrorKind::NoDevice { .. });
        match self.wanted {
            Wanted::Fastest => {}
            Wanted::For(algorithm) if is_none => {
                if self.notes {
                    let kind = if algorithm.is_network() { "network" } else { "sort" };
                    self.progress
                        .note(&format!("no hardware GPU found; the {algorithm} {kind} runs on the CPU"));
                }
            }
            _ => return Err(error),
        }
        let why = if is_none { "no hardware GPU found".to_owned() } else { error.to_string() };
        Ok(why.replace('\n', "; "))
    }

    /// The GPU with the reason for it, which was `why` before it started; the error is a reason against it.
    fn started(&self, n: u64, shape: Shape, why: String) -> Result<(&Sorter, String), String> {
        let sorter = self.gpu.as_ref().expect("`start` sets it").as_ref().map_err(Clone::clone)?;
        let (Wanted::Fastest, Some(info)) = (&self.wanted, sorter.device()) else { return Ok((sorter, why)) };
        if !self.costs().measured_here && info.kind != Kind::Discrete {
            return Err("the speed of this GPU is not known; gpusort tune measures it".to_owned());
        }
        let elements = usize::try_from(n).unwrap_or(usize::MAX);
        if sorter.takes(elements, shape, self.method) {
            return Ok((sorter, why));
        }
        let choice = self.compare(n, shape, |_| Duration::ZERO).in_shares();
        if choice.is_gpu() { Ok((sorter, choice.to_string())) } else { Err(choice.to_string()) }
    }

    /// The GPUs to start; empty for all hardware GPUs.
    fn selects(&self) -> Vec<Select> {
        match &self.wanted {
            Wanted::Gpus(selects) => selects.clone(),
            // The measured GPU may not be the first.
            Wanted::Fastest if self.costs().measured_here => {
                let measured = self.costs().gpu.as_ref();
                vec![measured.map_or(Select::Hardware, |gpu| Select::Name(gpu.name.clone()))]
            }
            _ => vec![Select::Hardware],
        }
    }
}

impl ChooseSorter for Devices {
    /// Begins to start the GPU for this input if the GPU is requested, or is expected to finish sooner when
    /// it starts while the input is read.
    fn expect(&mut self, input: Option<Expected>) -> bool {
        let is_wanted = match input {
            None => matches!(self.wanted, Wanted::For(_) | Wanted::Gpus(_)),
            Some(Expected { n, shape, bytes, text }) => {
                let left = |start: Duration| start.saturating_sub(self.costs().reading(bytes, text));
                self.reason(n, shape, left).is_ok()
            }
        };
        if is_wanted {
            self.begin();
        }
        self.starting.is_some()
    }

    fn prefers_lines(&mut self, Expected { n, bytes, .. }: Expected) -> bool {
        match &self.wanted {
            Wanted::Fastest => {
                let start = if let Some(Ok(_)) = self.gpu { None } else { self.costs().start() };
                self.compare_lines(n, bytes, start.unwrap_or_default()).is_gpu()
            }
            Wanted::For(_) => true,
            Wanted::Cpu => false,
            Wanted::Gpus(selects) => selects.len() == 1,
        }
    }

    fn for_lines(
        &mut self,
        Expected { n, shape, bytes, .. }: Expected,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Option<Chosen<'_>>, gpusort::Error> {
        self.begin();
        meanwhile();
        let started = self.start()?;
        let Some(Ok(sorter)) = &self.gpu else { return Ok(None) };
        let why = match self.wanted {
            Wanted::Fastest => {
                let is_discrete = sorter.device().is_some_and(|info| info.kind == Kind::Discrete);
                if !is_discrete && !self.costs().measured_here {
                    return Ok(None);
                }
                self.compare_lines(n, bytes, Duration::ZERO).to_string()
            }
            _ => self.reason(n, shape, |left| left).expect("a GPU was requested"),
        };
        Ok(Some(Chosen { sorter, started, why }))
    }

    fn in_parts(&mut self, memory: u64) {
        super::allocator::keep_little(memory);
    }

    fn choose(&mut self, n: u64, shape: Shape, unread: u64) -> Result<Chosen<'_>, gpusort::Error> {
        if n >= cost::FEWEST && self.method.algorithm.is_none() {
            // The CPU uses costs, too.
            self.costs();
        }
        let left = |start| match (&self.gpu, &self.starting) {
            (Some(Ok(_)), _) => Duration::ZERO,
            (_, Some(starting)) => starting.left(start).saturating_sub(self.costs().reading(unread, false)),
            _ => start,
        };
        // The startup time counts in any case.
        let (started, gpu) = match self.reason(n, shape, left) {
            Ok(why) => (self.start()?, self.started(n, shape, why)),
            Err(why) => (Duration::ZERO, Err(why)),
        };
        let (sorter, why) = gpu.unwrap_or_else(|why| (&self.cpu, why));
        Ok(Chosen { sorter, started, why })
    }
}
