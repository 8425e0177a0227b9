//! What `--device` names, and which of the devices sorts.

use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gpusort::gpu::{Gpu, Select};
use gpusort::plan::{Plan, Shape};
use gpusort::{ErrorKind, Method, Sorter};

use super::progress::{Progress, Unit};

/// From this many elements on, a GPU that starts while they are read sorts them sooner than the CPU,
/// the way there and back counted. Measured with u32 on an H100 beside 16 cores: at 2^26, 60 ms
/// against 116 ms.
const GPU_PAYS: u64 = 1 << 26;

/// The same where it is known only after the input was read, so that the start (0.15 to 0.2 s) counts
/// too. There, at 2^28, 0.37 s against 0.47 s; at 2^27, 0.28 s against 0.21 s.
const GPU_PAYS_WITH_START: u64 = 1 << 28;

/// Where to sort.
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
            "" => bail!("--device needs auto, cpu, gpu, a number or a part of a name"),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let index = digits.parse().map_err(|_| anyhow!("no GPU has the number {digits}"))?;
                Self::Gpu(Select::Index(index))
            }
            _ => Self::Gpu(Select::Name(name.to_owned())),
        })
    }
}

/// A device that is being started while the input is read.
struct Starting(Option<JoinHandle<(Result<Gpu, gpusort::Error>, Duration)>>);

impl Starting {
    fn new(select: Select) -> Self {
        Self(Some(std::thread::spawn(move || {
            let start = Instant::now();
            let gpu = Gpu::start(&select);
            (gpu, start.elapsed())
        })))
    }

    fn wait(mut self) -> (Result<Gpu, gpusort::Error>, Duration) {
        let thread = self.0.take().expect("taken here only, and by drop");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Starting {
    /// A process that ends while a driver is starting up may crash in it.
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Its result is no longer wanted.
            let _ = thread.join();
        }
    }
}

/// The devices that one command sorts on: what was started for one input is there for the next.
pub(super) struct Devices {
    wanted: Device,
    method: Method,
    /// Whether to say that there is no GPU.
    notes: bool,
    gpu: Started,
}

enum Started {
    No,
    Soon(Starting),
    Yes(Rc<Sorter>),
    /// And never will be, because of this.
    Never(String),
}

/// Where a sort will run, and why there.
pub(super) struct Chosen {
    pub(super) sorter: Rc<Sorter>,
    /// How long it took to start, if it was started for this sort.
    pub(super) started: Duration,
    pub(super) why: String,
}

impl Devices {
    pub(super) fn new(wanted: Device, method: Method, notes: bool) -> Self {
        Self { wanted, method, notes, gpu: Started::No }
    }

    /// Begins to start the device that so many elements will be sorted on, if that is known already: one that was
    /// asked for, or that will pay.
    pub(super) fn expect(&mut self, elements: Option<u64>) {
        let pays = self.method.algorithm.is_some() || elements >= Some(GPU_PAYS);
        match (&self.gpu, &self.wanted) {
            (Started::No, Device::Gpu(select)) => self.gpu = Started::Soon(Starting::new(select.clone())),
            (Started::No, Device::Auto) if pays => {
                self.gpu = Started::Soon(Starting::new(Select::Hardware));
            }
            _ => {}
        }
    }

    /// Chooses a device for `n` elements, and waits until it has started.
    pub(super) fn choose(&mut self, n: u64, shape: Shape, progress: &Progress) -> anyhow::Result<Chosen> {
        let on_cpu =
            |why: String| Ok(Chosen { sorter: Rc::new(Sorter::cpu()), started: Duration::ZERO, why });
        if self.wanted == Device::Cpu {
            return on_cpu("--device cpu".to_owned());
        }
        let named = self.wanted != Device::Auto;
        let algorithm = self.method.algorithm;
        let least = match &self.gpu {
            _ if named || algorithm.is_some() => 0,
            Started::Soon(_) | Started::Yes(_) => GPU_PAYS,
            Started::No | Started::Never(_) => GPU_PAYS_WITH_START,
        };
        if n < least {
            return on_cpu(format!("{n} elements: the CPU is done before a GPU would be"));
        }
        let (sorter, started) = match std::mem::replace(&mut self.gpu, Started::No) {
            Started::Yes(sorter) => (sorter, Duration::ZERO),
            Started::Never(why) => {
                self.gpu = Started::Never(why.clone());
                return on_cpu(why);
            }
            other => {
                let starting = match other {
                    Started::Soon(starting) => starting,
                    _ => Starting::new(self.select()),
                };
                progress.phase("device", Unit::Time, None);
                match starting.wait() {
                    (Ok(gpu), started) => (Rc::new(Sorter::gpu(gpu)), started),
                    (Err(error), _) => {
                        let none = matches!(error.kind(), ErrorKind::NoDevice { .. });
                        if named || algorithm.is_some() && !none {
                            return Err(error.into());
                        }
                        if let Some(algorithm) = algorithm
                            && self.notes
                        {
                            let what = format!("the {algorithm} network runs on the CPU");
                            progress.note(&format!("no hardware GPU found; {what}"));
                        }
                        // Nobody asked for a GPU, so nobody need hear more of one that does not start.
                        let why = if none { "no hardware GPU found".to_owned() } else { error.to_string() };
                        self.gpu = Started::Never(why.clone());
                        return on_cpu(why);
                    }
                }
            }
        };
        self.gpu = Started::Yes(Rc::clone(&sorter));
        let is_free = !named && algorithm.is_none();
        if is_free && sorter.device().is_some_and(|gpu| !takes(gpu, self.method, n, shape)) {
            return on_cpu(format!("{n} elements: more than the GPU takes at once"));
        }
        let why = match algorithm {
            _ if named => "--device names it".to_owned(),
            Some(algorithm) => format!("--algo {algorithm} is named and there is a hardware GPU"),
            None => format!("{n} elements: a GPU is done before the CPU would be"),
        };
        Ok(Chosen { sorter, started, why })
    }

    fn select(&self) -> Select {
        match &self.wanted {
            Device::Gpu(select) => select.clone(),
            Device::Auto | Device::Cpu => Select::Hardware,
        }
    }
}

/// Whether the GPU takes so many elements in one sort.
fn takes(gpu: &Gpu, method: Method, n: u64, shape: Shape) -> bool {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let plan = |(algorithm, variant)| Plan::new(algorithm, variant, n, shape, &gpu.info().limits);
    method.on_gpu().and_then(plan).is_ok()
}
