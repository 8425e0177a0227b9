//! The contenders: sorters, each with the memory that it needs besides input and result.

use std::time::{Duration, Instant};

use gpusort_order::{Method, Pair, Word};
use gpusort_planner::plan::Plan;

use crate::spin_up::SpinUp;
use gpusort_base::clock::{Clock, Elapsed};
use gpusort_base::error::Error;
use gpusort_engine::gpu::{Buffers, Gpu, execute};
use gpusort_engine::key_buf::{KeyBuf, by_width, in_one};
use gpusort_engine::report::Report;
use gpusort_engine::sorter::{Request, Sorter};

/// Sorts a copy of these keys, timed; fails if the device fails.
pub type Contender<'a> = dyn FnMut(&KeyBuf<'static>) -> Result<(Sample, Sorted), Error> + 'a;

/// A result to be verified.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The sorted keys, or their input positions.
    pub words: KeyBuf<'static>,
    /// True for positions.
    pub positions: bool,
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

/// Sorts keys or, with positions, pairs.
fn sort_on_one_core(mut keys: KeyBuf<'static>, positions: bool) -> KeyBuf<'static> {
    fn positions_of<W: Word>(keys: &[W]) -> Vec<u32> {
        let mut pairs: Vec<_> = keys.iter().zip(0..).map(|(&key, payload)| Pair { key, payload }).collect();
        pairs.sort_unstable();
        pairs.iter().map(|pair| pair.payload).collect()
    }
    if positions {
        return by_width!(keys, blocks => positions_of(&in_one(blocks)).into());
    }
    by_width!(&mut keys, blocks => blocks.iter_mut().for_each(|keys| keys.to_mut().sort_unstable()));
    keys
}

/// The CPU: its fast sort, a network or, without a method, the standard library's `sort_unstable` on one core.
pub fn on_cpu(method: Option<Method>, positions: bool) -> Box<Contender<'static>> {
    Box::new(move |input| {
        let keys = input.clone();
        let start = Instant::now();
        let Some(method) = method else {
            let words = sort_on_one_core(keys, positions);
            return Ok((Sample::on_cpu(start.elapsed()), Sorted { words, positions }));
        };
        let request = if positions { Request::positions } else { Request::keys };
        let done = Sorter::cpu().run(request(keys).by(method), &mut |_, _| {})?;
        let Report { sort, dispatches, bytes_moved, .. } = done.report;
        let sample = Sample { sort, dispatches, bytes_moved, ..Sample::on_cpu(start.elapsed()) };
        Ok((sample, Sorted { words: done.words, positions }))
    })
}

/// A plan on a GPU, with its kernels and the memory that it needs.
///
/// # Errors
///
/// Insufficient memory on the device, or another failure of it.
pub fn on_gpu<'a>(
    gpu: &'a Gpu,
    spin_up: Option<&'a SpinUp>,
    plan: Plan,
) -> Result<Box<Contender<'a>>, Error> {
    gpu.prepare(&plan)?;
    let buffers = Buffers::new(gpu, &plan)?;
    Ok(Box::new(move |input| {
        // Touched memory, so that no download causes page faults.
        let positions = plan.shape().payload;
        let mut words = if positions { vec![u32::MAX; input.len()].into() } else { input.clone() };
        let start = Instant::now();
        buffers.upload(gpu, input.bytes())?;
        let upload = start.elapsed();
        if let Some(spin_up) = spin_up {
            spin_up.again(gpu)?;
        }
        let start = Instant::now();
        let (sort, dispatches) = execute(gpu, &plan, &buffers, |_| {})?;
        let executed = start.elapsed();
        let start = Instant::now();
        for block in words.bytes_mut() {
            match positions {
                true => buffers.download_positions(gpu, bytemuck::cast_slice_mut(block))?,
                false => buffers.download_keys(gpu, block)?,
            }
        }
        let download = start.elapsed();
        let sample = Sample {
            sort,
            upload,
            download,
            dispatches,
            bytes_moved: plan.bytes_moved_by(dispatches),
            ..Sample::on_cpu(upload + executed + download)
        };
        Ok((sample, Sorted { words, positions }))
    }))
}
