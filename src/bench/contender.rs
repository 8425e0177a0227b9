//! The contenders: sorters, each with the memory that it needs besides input and result.

use std::time::{Duration, Instant};

use gpusort_order::item::Pair;
use gpusort_order::key::Word;
use gpusort_planner::plan::Plan;

use super::spin_up::SpinUp;
use crate::clock::{Clock, Elapsed};
use crate::error::Error;
use crate::gpu::{Buffers, Gpu, execute};
use crate::key_buf::{KeyBuf, by_width, in_one};
use crate::report::Report;
use crate::sorter::{Request, Sorter};
use gpusort_order::Method;

/// Something that sorts.
pub trait Contender {
    /// Sorts a copy of `input`, timed.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    fn sort(&mut self, input: &KeyBuf<'static>) -> Result<(Sample, Sorted), Error>;
}

/// A result to be verified.
#[derive(Clone, Debug)]
pub enum Sorted {
    /// The sorted keys.
    Keys(KeyBuf<'static>),
    /// The input positions of the sorted keys.
    Positions(Vec<u32>),
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

/// The CPU: its fast sort, a network, or the standard library's `sort_unstable` on one core.
pub struct OnCpu {
    /// `None` for the standard library's sort on one core.
    pub method: Option<Method>,
    /// Argsorts.
    pub positions: bool,
}

/// Sorts keys or, with positions, pairs.
fn sort_on_one_core(mut keys: KeyBuf<'static>, positions: bool) -> Sorted {
    fn positions_of<W: Word>(keys: &[W]) -> Vec<u32> {
        let mut pairs: Vec<_> = keys.iter().zip(0..).map(|(&key, position)| Pair { key, position }).collect();
        pairs.sort_unstable();
        pairs.iter().map(|pair| pair.position).collect()
    }
    if positions {
        return Sorted::Positions(by_width!(keys.borrowed(), blocks => positions_of(&in_one(blocks))));
    }
    by_width!(&mut keys, blocks => blocks.iter_mut().for_each(|keys| keys.to_mut().sort_unstable()));
    Sorted::Keys(keys)
}

impl Contender for OnCpu {
    fn sort(&mut self, input: &KeyBuf<'static>) -> Result<(Sample, Sorted), Error> {
        let keys = input.clone();
        let start = Instant::now();
        let Some(method) = self.method else {
            let sorted = sort_on_one_core(keys, self.positions);
            return Ok((Sample::on_cpu(start.elapsed()), sorted));
        };
        let request = if self.positions { Request::positions } else { Request::keys };
        let done = Sorter::cpu().run(request(keys).by(method), &mut |_, _| {})?;
        let Report { sort, dispatches, bytes_moved, .. } = done.report;
        let sample = Sample { sort, dispatches, bytes_moved, ..Sample::on_cpu(start.elapsed()) };
        Ok(match self.positions {
            true => (sample, Sorted::Positions(done.words.into_vec().expect("positions have 32 bits"))),
            false => (sample, Sorted::Keys(done.words)),
        })
    }
}

/// A plan on a GPU.
pub struct OnGpu<'a> {
    gpu: &'a Gpu,
    spin_up: Option<&'a SpinUp>,
    plan: Plan,
    buffers: Buffers,
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
        Ok(Self { gpu, spin_up, plan, buffers })
    }
}

impl Contender for OnGpu<'_> {
    fn sort(&mut self, input: &KeyBuf<'static>) -> Result<(Sample, Sorted), Error> {
        // Touched memory, so that no download causes page faults.
        let mut sorted = match self.plan.shape().payload {
            true => Sorted::Positions(vec![u32::MAX; input.len()]),
            false => Sorted::Keys(input.clone()),
        };
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
        match &mut sorted {
            Sorted::Keys(keys) => {
                let mut blocks = keys.bytes_mut().into_iter();
                blocks.try_for_each(|block| self.buffers.download_keys(self.gpu, block))?;
            }
            Sorted::Positions(positions) => self.buffers.download_positions(self.gpu, positions)?,
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
        Ok((sample, sorted))
    }
}
