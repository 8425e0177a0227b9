//! The contenders: sorters, each with the memory for its input and result.

use std::time::{Duration, Instant};

use gpusort_order::item::Pair;
use gpusort_order::key::{KeyWords, Word};
use gpusort_planner::plan::Plan;

use super::spin_up::SpinUp;
use crate::clock::{Clock, Elapsed};
use crate::error::Error;
use crate::gpu::{Buffers, Gpu, execute};
use crate::key_buf::{KeyBuf, by_width};
use crate::sorter::{self, Request, Sorter};
use gpusort_order::Method;

/// Something that sorts.
pub trait Contender {
    /// Sorts a copy of `input`, timed.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    fn sort(&mut self, input: &KeyBuf<'static>) -> Result<(Sample, Sorted<'_>), Error>;
}

/// A result to be verified.
#[derive(Clone, Copy, Debug)]
pub enum Sorted<'a> {
    /// The sorted keys.
    Keys(&'a KeyBuf<'static>),
    /// The input positions of the sorted keys.
    Positions(&'a [u32]),
}

/// The measurements of one sort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The sort itself.
    pub sort: Elapsed,
    /// Transfer of the keys to the device.
    pub upload: Duration,
    /// Transfer of the result back.
    pub download: Duration,
    /// From keys in host memory to the result in host memory.
    pub end_to_end: Duration,
    /// Bytes of the elements, without positions.
    pub bytes: u64,
    /// Number of passes over the data.
    pub dispatches: u64,
    /// Bytes of memory read and written by the passes.
    pub bytes_moved: u64,
}

impl Sample {
    /// A sort on the CPU that took this long, without passes.
    pub fn on_cpu(time: Duration) -> Self {
        Self {
            sort: Elapsed { time, clock: Clock::Host },
            upload: Duration::ZERO,
            download: Duration::ZERO,
            end_to_end: time,
            bytes: 0,
            dispatches: 0,
            bytes_moved: 0,
        }
    }
}

/// The result: the sorted keys or, where they are sorted, the positions.
struct Memory {
    keys: KeyBuf<'static>,
    positions: Option<Vec<u32>>,
}

impl Memory {
    fn new(positions: bool) -> Self {
        Self { keys: KeyBuf::new(KeyWords::One), positions: positions.then(Vec::new) }
    }

    /// Copies the keys into touched memory, so that no download causes page faults.
    fn copy(&mut self, input: &KeyBuf<'static>) {
        // The copy of the run before is freed first.
        self.keys = KeyBuf::new(KeyWords::One);
        self.keys = input.clone();
    }

    fn sorted(&self) -> Sorted<'_> {
        self.positions.as_deref().map_or(Sorted::Keys(&self.keys), Sorted::Positions)
    }
}

/// The CPU: its fast sort, a network, or the standard library's `sort_unstable` on one core.
pub struct OnCpu {
    method: Option<Method>,
    result: Memory,
}

impl OnCpu {
    /// Sorts by this method, or on one core without any; argsorts with positions.
    pub fn new(method: Option<Method>, positions: bool) -> Self {
        Self { method, result: Memory::new(positions) }
    }

    /// Sorts keys or, with positions, pairs.
    fn sort_on_one_core(&mut self, input: &KeyBuf<'static>) -> Sample {
        fn sort<W: Word>(keys: &mut [W], positions: Option<&mut Vec<u32>>) {
            let Some(positions) = positions else { return keys.sort_unstable() };
            let mut pairs: Vec<_> =
                keys.iter().zip(0..).map(|(&key, position)| Pair { key, position }).collect();
            pairs.sort_unstable();
            positions.clear();
            positions.extend(pairs.iter().map(|pair| pair.position));
        }
        self.result.copy(input);
        let start = Instant::now();
        let Memory { keys, positions } = &mut self.result;
        by_width!(keys, blocks => {
            if let Some(keys) = blocks.first_mut() {
                sort(keys.to_mut(), positions.as_mut());
            }
        });
        Sample::on_cpu(start.elapsed())
    }
}

impl Contender for OnCpu {
    fn sort(&mut self, input: &KeyBuf<'static>) -> Result<(Sample, Sorted<'_>), Error> {
        let Some(method) = self.method else {
            return Ok((self.sort_on_one_core(input), self.result.sorted()));
        };
        let keys = input.clone();
        let start = Instant::now();
        let request = if self.result.positions.is_some() { Request::positions } else { Request::keys };
        let request = request(keys).by(method);
        let sorter::Sorted { words, report, .. } = Sorter::cpu().run(request, &mut |_, _| {})?;
        match &mut self.result.positions {
            None => self.result.keys = words,
            Some(positions) => *positions = words.into_vec().unwrap_or_default(),
        }
        let (sort, dispatches, bytes_moved) = (report.sort, report.dispatches, report.bytes_moved);
        let sample = Sample { sort, dispatches, bytes_moved, ..Sample::on_cpu(start.elapsed()) };
        Ok((sample, self.result.sorted()))
    }
}

/// A plan on a GPU.
pub struct OnGpu<'a> {
    gpu: &'a Gpu,
    spin_up: Option<&'a SpinUp>,
    plan: Plan,
    buffers: Buffers,
    result: Memory,
}

impl<'a> OnGpu<'a> {
    /// Builds the kernels and allocates the memory that the plan needs.
    ///
    /// # Errors
    ///
    /// Insufficient memory on the device, or another failure of it.
    pub fn new(gpu: &'a Gpu, spin_up: Option<&'a SpinUp>, plan: Plan) -> Result<Self, Error> {
        gpu.prepare(&plan)?;
        let buffers = Buffers::new(gpu, &plan)?;
        let result = Memory::new(plan.shape().payload);
        Ok(Self { gpu, spin_up, plan, buffers, result })
    }
}

impl Contender for OnGpu<'_> {
    fn sort(&mut self, input: &KeyBuf<'static>) -> Result<(Sample, Sorted<'_>), Error> {
        self.result.copy(input);
        if let Some(positions) = &mut self.result.positions {
            positions.resize(input.len(), 0);
        }
        let start = Instant::now();
        self.buffers.upload(self.gpu, input.bytes())?;
        let upload = start.elapsed();
        if let Some(spin_up) = self.spin_up {
            spin_up.again(self.gpu)?;
        }
        let start = Instant::now();
        let (sort, dispatches) = execute(self.gpu, &self.plan, &self.buffers, |_| {})?;
        let executed = start.elapsed();
        let start = Instant::now();
        match &mut self.result.positions {
            None => {
                let mut blocks = self.result.keys.bytes_mut().into_iter();
                blocks.try_for_each(|block| self.buffers.download_keys(self.gpu, block))?;
            }
            Some(positions) => self.buffers.download_positions(self.gpu, positions)?,
        }
        let download = start.elapsed();
        let sample = Sample {
            sort,
            upload,
            download,
            dispatches,
            bytes_moved: self.plan.bytes_moved_by(dispatches),
            ..Sample::on_cpu(upload + executed + download)
        };
        Ok((sample, self.result.sorted()))
    }
}
