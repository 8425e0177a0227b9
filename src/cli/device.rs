//! Resolves `--device`, and chooses the device for a sort.

use std::cell::OnceCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gpusort::unstable::cost::{self, Choice, Costs};
use gpusort::unstable::gpu::Gpu;
use gpusort::unstable::human::{grouped, quoted};
use gpusort::unstable::order::Selection;
use gpusort::unstable::parallel;
use gpusort::unstable::plan::{Limits, Plan, Shape};
use gpusort::{ErrorKind, Method, Sorter};
use gpusort::{Kind, Select};

use super::costs;
use super::progress::{Progress, Unit};

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
            "" => bail!("--device needs auto, cpu, gpu, a number or a part of a name"),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let index = digits.parse().map_err(|_| anyhow!("no GPU has the number {digits}"))?;
                Self::Gpu(Select::Index(index))
            }
            _ if !name.contains(|c: char| c.is_alphanumeric()) => {
                let name = quoted(name);
                bail!("'{name}' is a part of no device's name; what separates fields is --delimiter")
            }
            _ => Self::Gpu(Select::Name(name.to_owned())),
        })
    }
}

/// A device that starts while the input is read.
struct Starting {
    /// The starting thread, or the result where the system refused a thread; `None` once it was taken.
    device: Option<Result<JoinHandle<Begun>, Box<Begun>>>,
    since: Instant,
}

/// A device and its startup time.
type Begun = (Result<Gpu, gpusort::Error>, Duration);

impl Starting {
    fn new(select: Select) -> Self {
        let since = Instant::now();
        let device = parallel::background(move || {
            let gpu = Gpu::start(&select);
            (gpu, since.elapsed())
        });
        Self { device: Some(device.map_err(Box::new)), since }
    }

    /// The remaining part of a startup that takes `of` in total.
    fn left(&self, of: Duration) -> Duration {
        let done =
            self.device.as_ref().is_none_or(|device| device.as_ref().map_or(true, JoinHandle::is_finished));
        if done { Duration::ZERO } else { of.saturating_sub(self.since.elapsed()) }
    }

    fn wait(mut self) -> (Result<Gpu, gpusort::Error>, Duration) {
        match self.device.take().expect("taken here only, and by drop") {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(begun) => *begun,
        }
    }
}

impl Drop for Starting {
    /// Waits, since a process that ends during a driver's startup may crash in it.
    fn drop(&mut self) {
        if let Some(Ok(thread)) = self.device.take() {
            // The result is no longer needed.
            let _ = thread.join();
        }
    }
}

/// The devices of one command, which keep a started GPU for further inputs.
pub(super) struct Devices {
    wanted: Device,
    method: Method,
    selection: Selection,
    /// Whether to report that there is no GPU.
    notes: bool,
    gpu: Started,
    /// Loaded on first use.
    costs: OnceCell<Costs>,
}

/// The known properties of an input before it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The exact or approximate number of elements.
    pub(super) n: u64,
    pub(super) shape: Shape,
    pub(super) bytes: u64,
    pub(super) text: bool,
}

enum Started {
    No,
    Soon(Starting),
    Yes(Rc<Sorter>),
    /// It failed to start, for this reason.
    Never(String),
}

/// The device for a sort, and the reason for the choice.
pub(super) struct Chosen {
    pub(super) sorter: Rc<Sorter>,
    /// The startup time, if it was started for this sort.
    pub(super) started: Duration,
    pub(super) why: String,
}

impl Devices {
    pub(super) fn new(wanted: Device, method: Method, notes: bool) -> Self {
        Self { wanted, method, selection: Selection::ALL, notes, gpu: Started::No, costs: OnceCell::new() }
    }

    /// Restricts the sort to a selection of its records.
    pub(super) fn selecting(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// Whether neither a device nor an algorithm is named.
    fn is_free(&self) -> bool {
        self.wanted == Device::Auto && self.method.algorithm.is_none()
    }

    /// Begins to start the GPU for this input if it will be used: because it was requested, or because it is
    /// expected to finish sooner, given that it starts while the input is read.
    pub(super) fn expect(&mut self, input: Option<Expected>) {
        let pays = |input: Expected| {
            let left = |start: Duration| start.saturating_sub(self.costs().reading(input.bytes, input.text));
            input.n >= cost::FEWEST
                && !self.selection.is_few(input.n)
                && self.compare(input.n, input.shape, left).is_gpu()
        };
        let starts = match (&self.gpu, &self.wanted) {
            (Started::No, Device::Auto) if self.is_free() => input.is_some_and(pays),
            (Started::No, Device::Auto | Device::Gpu(_)) => true,
            _ => false,
        };
        if starts {
            self.gpu = Started::Soon(Starting::new(self.select()));
        }
    }

    /// The costs of sorting on this machine.
    fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| {
            costs::kept()
                .unwrap_or_else(|error| {
                    if self.notes {
                        // Even if the choice does not depend on it, since the error will persist.
                        let _ = writeln!(io::stderr(), "gpusort: {error:#}");
                    }
                    None
                })
                .unwrap_or_else(Costs::built_in)
        })
    }

    /// Compares the devices for `n` elements; `left` maps the GPU's startup time to its remaining part.
    fn compare(&self, n: u64, shape: Shape, left: impl Fn(Duration) -> Duration) -> Choice {
        let costs = self.costs();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        costs.choose(n, shape, cores, costs.start().map_or(Duration::ZERO, left))
    }

    /// Whether a device is being started.
    pub(super) fn is_starting(&self) -> bool {
        matches!(self.gpu, Started::Soon(_))
    }

    /// Chooses a device for `n` elements, with `unread` bytes still to be read, and waits for its start.
    pub(super) fn choose(
        &mut self,
        n: u64,
        shape: Shape,
        unread: u64,
        progress: &Progress,
    ) -> anyhow::Result<Chosen> {
        let on_cpu =
            |why: String| Ok(Chosen { sorter: Rc::new(Sorter::cpu()), started: Duration::ZERO, why });
        if self.wanted == Device::Cpu {
            return on_cpu("--device cpu".to_owned());
        }
        let named = self.wanted != Device::Auto;
        let algorithm = self.method.algorithm;
        let is_free = self.is_free();
        let mut why = match algorithm {
            _ if named => "--device names it".to_owned(),
            Some(algorithm) => format!("--algo {algorithm} is named and there is a hardware GPU"),
            None => String::new(),
        };
        if is_free {
            if n < cost::FEWEST {
                return on_cpu(format!(
                    "{} {} too few for a GPU",
                    counted(n),
                    if n == 1 { "is" } else { "are" }
                ));
            }
            if self.selection.is_few(n) {
                return on_cpu("the first few are found sooner than all are brought to a GPU".to_owned());
            }
            let choice = self.compare(n, shape, |start| match &self.gpu {
                Started::Yes(_) => Duration::ZERO,
                Started::Soon(starting) => {
                    starting.left(start).saturating_sub(self.costs().reading(unread, false))
                }
                Started::No | Started::Never(_) => start,
            });
            why = choice.to_string();
            if !choice.is_gpu() {
                return on_cpu(why);
            }
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
                    (Ok(gpu), started) => (Rc::new(Sorter::on(gpu)), started),
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
                        // The GPU was not requested, so the failure is only mentioned as the reason.
                        let said = || error.to_string().replace('\n', "; ");
                        let why = if none { "no hardware GPU found".to_owned() } else { said() };
                        self.gpu = Started::Never(why.clone());
                        return on_cpu(why);
                    }
                }
            }
        };
        self.gpu = Started::Yes(Rc::clone(&sorter));
        // It has started by now, so the startup time counts in any case.
        let on_cpu = |why: String| Ok(Chosen { sorter: Rc::new(Sorter::cpu()), started, why });
        if let Some(info) = sorter.device().filter(|_| is_free) {
            if !takes(&info.limits, self.method, n, shape) {
                return on_cpu(format!("{} elements are more than the GPU takes at once", grouped(n)));
            }
            let costs = self.costs();
            if !costs.measured_here && info.kind != Kind::Discrete {
                return on_cpu(
                    "nothing is known of such a GPU's speed before gpusort tune has measured it".to_owned(),
                );
            }
        }
        Ok(Chosen { sorter, started, why })
    }

    fn select(&self) -> Select {
        match &self.wanted {
            Device::Gpu(select) => select.clone(),
            // The measured GPU may not be the first.
            Device::Auto if self.is_free() && self.costs().measured_here => {
                self.costs().gpu.as_ref().map_or(Select::Hardware, |gpu| Select::Name(gpu.name.clone()))
            }
            Device::Auto | Device::Cpu => Select::Hardware,
        }
    }
}

/// A number of elements in words.
fn counted(n: u64) -> String {
    if n == 1 { "1 element".to_owned() } else { format!("{} elements", grouped(n)) }
}

/// Whether the GPU can sort this many elements at once.
fn takes(limits: &Limits, method: Method, n: u64, shape: Shape) -> bool {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let plan = |(algorithm, variant)| Plan::new(algorithm, variant, n, shape, limits);
    method.on_gpu().and_then(plan).is_ok()
}
