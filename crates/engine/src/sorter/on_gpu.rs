//! Sorts on a GPU: uploads keys as they come while pipelines compile, executes the plan, downloads
//! the result.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use gpusort_order::{Algorithm, Item, KeyWords};
use gpusort_planner::plan::{Crossovers, Plan, Shape};

use super::planned::{PlannedSort, Task, first_that_fits};
use super::{DeviceJob, Incoming, Method, Ordered, Place, Progress, Remote, partitions};
use crate::gpu::{Buffers, Gpu, ResidentRun, TextKernels, execute};
use crate::key_buf::{KeyBuf, KeyWidth, by_width};
use crate::report::{Form, Ran, Report};
use gpusort_base::clock::{Clock, Elapsed, Instant};
use gpusort_base::error::Error;
use gpusort_base::memory;
use gpusort_base::parallel::{self, lock};
use gpusort_cpu as cpu;

/// A GPU and the buffers of the last sorts, which later sorts use if the buffers are large enough.
pub(super) struct OnGpu {
    gpu: Gpu,
    crossovers: Crossovers,
    buffers: Mutex<Vec<Buffers>>,
    /// The kernels of lines sorted so far.
    text_kernels: Mutex<Vec<(KeyWords, TextKernels)>>,
}

/// The first of several GPUs sorts any smaller number of keys alone.
const FEW: usize = 1 << 20;

impl OnGpu {
    pub(super) fn new(gpu: Gpu) -> Self {
        let crossovers = Crossovers::of_kind(gpu.info().kind);
        Self { gpu, crossovers, buffers: Mutex::default(), text_kernels: Mutex::default() }
    }

    pub(super) fn with_crossovers(self, crossovers: Crossovers) -> Self {
        Self { crossovers, ..self }
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Returns the kernels of lines for keys with this number of words.
    pub(super) fn text_kernels(&self, key: KeyWords) -> TextKernels {
        let mut made = lock(&self.text_kernels);
        if let Some((_, kernels)) = made.iter().find(|(other, _)| *other == key) {
            return kernels.clone();
        }
        let kernels = TextKernels::new(&self.gpu, key);
        made.push((key, kernels.clone()));
        kernels
    }

    pub(super) fn crossovers(&self) -> &Crossovers {
        &self.crossovers
    }

    /// Returns true if a plan exists for this number of elements.
    pub(super) fn takes(&self, n: usize, shape: Shape, method: Method) -> bool {
        let task = Task { n, first: None, shape, method };
        task.plans(&self.gpu.info().limits, &self.crossovers).any(|plan| plan.is_ok())
    }

    /// Returns buffers of the last sorts if they are large enough for this plan, else new buffers.
    pub(super) fn buffers(&self, plan: &Plan) -> Result<Buffers, Error> {
        let mut kept = lock(&self.buffers);
        let fitting = kept.iter().position(|buffers| buffers.fit(plan));
        let fitting = fitting.map(|found| kept.swap_remove(found));
        if fitting.is_none() {
            kept.clear();
        }
        drop(kept);
        let mut buffers = fitting.map_or_else(|| Buffers::new(&self.gpu, plan), Ok)?;
        buffers.resize(plan, 0);
        Ok(buffers)
    }

    /// Leaves buffers to the next sort.
    pub(super) fn keep(&self, buffers: Buffers) {
        lock(&self.buffers).push(buffers);
    }

    /// Uploads the keys as they come. Returns the time without waits for keys, and true if the keys are in
    /// order already.
    fn upload(&self, keys: Incoming, buffers: &Buffers) -> Result<(Duration, bool), Error> {
        let start = Instant::now();
        let mut upload = buffers.begin_upload(&self.gpu)?;
        let (mut left, mut waiting) = (keys.n, Duration::ZERO);
        let (mut in_order, mut last) = (true, 0_u64);
        let changed = || Error::input("input", "its size changed while it was read");
        let mut blocks = keys.blocks;
        loop {
            let asked = Instant::now();
            let Some(words) = blocks.next().transpose()? else { break };
            waiting += asked.elapsed();
            left = left.checked_sub(words.len()).ok_or_else(changed)?;
            by_width!(&words, blocks => for block in blocks {
                let (Some(&first), Some(&end)) = (block.first(), block.last()) else { continue };
                in_order = in_order && last <= first.key() && cpu::is_in_order(block, |a, b| a <= b);
                last = end.key();
            });
            words.bytes().into_iter().try_for_each(|bytes| upload.push(bytes))?;
        }
        if left > 0 {
            return Err(changed());
        }
        upload.finish()?;
        Ok((start.elapsed().saturating_sub(waiting), in_order))
    }

    /// Returns the maximum number of elements with a plan, at most `n`.
    pub(super) fn most(&self, n: usize, shape: Shape, method: Method) -> usize {
        if self.takes(n, shape, method) {
            return n;
        }
        let (mut least, mut too_many) = (0, n);
        while too_many - least > 1 {
            let middle = least + (too_many - least) / 2;
            if self.takes(middle, shape, method) { least = middle } else { too_many = middle }
        }
        least
    }

    /// Finds a plan for a task, and allocates its buffers.
    ///
    /// # Errors
    ///
    /// Returns the error of the last plan.
    pub(super) fn place(&self, task: Task) -> Result<Placed, Error> {
        let start = Instant::now();
        let task = Task { first: task.first.map(|first| first.min(task.n)), ..task };
        let plans = task.plans(&self.gpu.info().limits, &self.crossovers);
        let (planned, buffers, lacked) = first_that_fits(plans, |plan| self.buffers(plan))?;
        Ok(Placed { task, planned, buffers, lacked, allocating: start.elapsed() })
    }

    /// Does a job on `all` GPUs, whose first is this GPU, or on this GPU alone, and leaves the result on the device.
    pub(super) fn perform<'s>(
        &'s self,
        all: &'s [Self],
        job: DeviceJob,
        progress: Progress,
    ) -> Result<Ordered<'s>, Error> {
        if all.len() > 1 && job.keys.n >= FEW {
            return partitions::sort(all, job, progress);
        }
        let task = Task { n: job.keys.n, first: job.first, shape: job.shape(), method: job.method };
        match self.place(task) {
            Ok(placed) => {
                let DeviceJob { keys, result, .. } = job;
                let n = keys.n;
                let (sorted, report) = self.sort_from(keys, placed, None, progress)?;
                let (count, place) = (sorted.count, Place::Device(Box::new(sorted), result.records(n)));
                Ok(Ordered { count, place, repeated: 0, report })
            }
            Err(error) if error.is_of_size() => partitions::sort(all, job, progress),
            Err(error) => Err(error),
        }
    }

    /// Does a placed task with these keys. For a partition that begins at this position, if any, positions count from the
    /// first of all elements, and keys stay beside them.
    pub(super) fn sort_from(
        &self,
        keys: Incoming,
        placed: Placed,
        begin: Option<u32>,
        progress: Progress,
    ) -> Result<(OnDevice<'_>, Report), Error> {
        let Placed { task, planned, mut buffers, lacked, allocating } = placed;
        let Task { n, first, shape, method } = task;
        let PlannedSort { plan, algorithm, variant } = planned;
        let why = task.why(algorithm, &self.crossovers, lacked.as_ref());
        let plan = match begin {
            Some(begin) => {
                let plan = plan.after_iota();
                buffers.resize(&plan, begin);
                plan
            }
            // The host reads positions without their keys.
            None if shape.payload => plan.without_keys(),
            None => plan,
        };
        let planned = plan.dispatch_count();
        let ((upload, in_order), prepare) = std::thread::scope(|scope| {
            let preparing = parallel::meanwhile(scope, || {
                let start = Instant::now();
                self.gpu.prepare(&plan).map(|()| start.elapsed())
            });
            let uploaded = self.upload(keys, &buffers);
            Ok::<_, Error>((uploaded?, preparing.wait()?))
        })?;
        // A caller who names an algorithm wants to see it at work.
        let skip = in_order && method.algorithm.is_none();
        if skip && shape.payload && !plan.needs_iota() {
            // The skipped plan would have written the positions.
            buffers.run_iota(&self.gpu)?;
        }
        let (form, (sort, dispatches)) = if skip {
            (Form::InOrder, (Elapsed { time: Duration::ZERO, clock: Clock::Host }, 0))
        } else {
            let form = if plan.reduces() { Form::Top } else { Form::Variant(variant) };
            (form, execute(&self.gpu, &plan, &buffers, |done| progress(done, planned))?)
        };
        let times = [prepare, allocating + upload];
        let report = report(&plan, (algorithm, form), (sort, dispatches), times, why.filter(|_| !skip));
        let count = first.unwrap_or(n);
        Ok((OnDevice { of: self, buffers, shape, count }, report))
    }

    /// Returns the result of a task in these buffers.
    pub(super) fn on_device(&self, buffers: Buffers, Task { n, shape, .. }: Task) -> OnDevice<'_> {
        OnDevice { of: self, count: n, buffers, shape }
    }

    /// Merges slices of runs of this shape.
    pub(super) fn merge(
        &self,
        slices: &[(&ResidentRun, Range<usize>)],
        shape: Shape,
    ) -> Result<OnDevice<'_>, Error> {
        let lengths: Vec<u32> = slices.iter().map(|(_, slice)| slice.len() as u32).collect();
        let plan = Plan::merge(&lengths, shape, &self.gpu.info().limits)?;
        let buffers = self.buffers(&plan)?;
        buffers.gather(&self.gpu, slices);
        execute(&self.gpu, &plan, &buffers, |_| {})?;
        Ok(OnDevice { of: self, count: plan.n() as usize, buffers, shape })
    }
}

/// Returns the report of a plan: its algorithm and form, the time and the number of dispatches, and the times of
/// compiling and of uploading.
pub(super) fn report(
    plan: &Plan,
    (algorithm, form): (Algorithm, Form),
    (sort, dispatches): (Elapsed, u64),
    [prepare, upload]: [Duration; 2],
    why: Option<String>,
) -> Report {
    let ran = Ran { algorithm: Some(algorithm), form };
    let bytes_moved = plan.bytes_moved_by(dispatches);
    let before = Report::on_cpu(form, Duration::ZERO);
    Report { ran, dispatches, bytes_moved, prepare, upload, sort, why, ..before }
}

/// A plan for a task, and the room for it.
pub(super) struct Placed {
    task: Task,
    pub(super) planned: PlannedSort,
    pub(super) buffers: Buffers,
    /// The error of a faster plan.
    pub(super) lacked: Option<Error>,
    pub(super) allocating: Duration,
}

/// A result in buffers of the device.
pub(super) struct OnDevice<'s> {
    of: &'s OnGpu,
    buffers: Buffers,
    shape: Shape,
    /// The number of wanted elements.
    pub(super) count: usize,
}

/// Returns the result of a sort of this shape, in memory that `fill` fills: positions if elements have them, else keys.
pub(super) fn given(
    shape: Shape,
    count: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<KeyBuf<'static>, Error> {
    let is_narrow = shape.payload || shape.key == KeyWords::One;
    let mut words: KeyBuf =
        if is_narrow { memory::zeroed::<u32>(count).into() } else { memory::zeroed::<u64>(count).into() };
    // The words have one block.
    words.bytes_mut().pop().map_or(Ok(()), fill)?;
    Ok(words)
}

impl OnDevice<'_> {
    /// Returns the buffers of the elements.
    pub(super) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// Leaves the buffers to the next sort.
    pub(super) fn keep(self) {
        self.of.keep(self.buffers);
    }

    /// Copies the positions, or the keys of elements without positions, into `to`, which has room for them.
    pub(super) fn bring_to(self, to: &mut [u8]) -> Result<(), Error> {
        if self.shape.payload {
            self.buffers.download_positions(&self.of.gpu, bytemuck::cast_slice_mut(to))?;
        } else {
            self.buffers.download_keys(&self.of.gpu, to)?;
        }
        self.of.keep(self.buffers);
        Ok(())
    }

    /// Leaves the elements in a run on the device.
    pub(super) fn stay(self, run: &ResidentRun) {
        run.copy(&self.of.gpu, &self.buffers);
        self.of.keep(self.buffers);
    }
}

impl Remote for OnDevice<'_> {
    fn bring(self: Box<Self>) -> Result<KeyBuf<'static>, Error> {
        given(self.shape, self.count, |to| self.bring_to(to))
    }

    fn take(self: Box<Self>, take: &mut dyn FnMut(KeyBuf) -> Result<(), Error>) -> Result<(), Error> {
        fn block<W: KeyWidth>(bytes: &[u8]) -> KeyBuf<'_> {
            bytemuck::cast_slice::<_, W>(bytes).into()
        }
        if self.shape.payload || self.count < self.buffers.n() as usize {
            return take(self.bring()?);
        }
        let block = if self.shape.key == KeyWords::One { block::<u32> } else { block::<u64> };
        self.buffers.take_keys(&self.of.gpu, |bytes| take(block(bytes)))?;
        self.of.keep(self.buffers);
        Ok(())
    }
}
