//! Runs a plan on a device and waits for it: records dispatches into command buffers, and submits them.
//!
//! This module knows no algorithm. One submit holds the whole sort, unless the device would be busy
//! long enough for a watchdog to reset it or for a user to wonder. Then the duration of each submit
//! sizes the next one, to about a tenth of a second.

use std::time::Duration;

use gpusort_order::Kind;
use gpusort_planner::kernels::LAST_SWAP;
use gpusort_planner::plan::Plan;

use super::device::Gpu;
use super::plan_buffers::Buffers;
use super::recording::Recording;
use gpusort_base::clock::{Clock, Elapsed, Instant};
use gpusort_base::error::Error;

/// Runs `plan` on the elements in `buffers` and waits for it. Calls `progress` after each submit
/// with the number of dispatches done. Returns the time taken and the number of dispatches made;
/// plans of phases stop early once the elements are in order.
///
/// # Errors
///
/// Errors of the device or its driver.
///
/// # Panics
///
/// If the plan's size or shape differs from the buffers'.
pub fn execute(
    gpu: &Gpu,
    plan: &Plan,
    buffers: &Buffers,
    mut progress: impl FnMut(u64),
) -> Result<(Elapsed, u64), Error> {
    assert!(buffers.fit(plan) && buffers.n() == plan.n(), "the plan is for other buffers");
    let context = &gpu.context;
    let total = plan.dispatch_count();
    let timestamps = buffers.timestamps.as_ref();
    let mut most = Submit::first(gpu.info().kind);
    let mut recording = None;
    let mut done = 0;
    let mut over = false;
    let start = Instant::now();
    while done < total && !over {
        let submitted = Instant::now();
        let mut encoder = context.encoder("sort");
        let recording = recording.get_or_insert_with(|| Recording::begin(gpu, plan, buffers, &mut encoder));
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("gpusort sort"),
            // Any submit may be the last, so each one overwrites the closing timestamp.
            timestamp_writes: timestamps.map(|all| all.writes((done == 0).then_some(0), Some(1))),
        });
        let mut batch = Submit::default();
        recording.record(&mut pass, |dispatch| {
            let takes = batch.bytes < most.bytes && batch.dispatches < most.dispatches;
            if takes {
                batch.dispatches += 1;
                batch.bytes += dispatch.bytes_moved();
            }
            takes
        })?;
        drop(pass);
        done += batch.dispatches;
        context.queue.submit([encoder.finish()]);
        if plan.ends_early() && done < total {
            // One more than the number of the last phase that swapped something.
            let last_swap = buffers.aux(gpu, LAST_SWAP.name)?;
            over = last_swap.is_some_and(|last_swap| u64::from(last_swap[0]) + 2 <= done);
        }
        context.wait()?;
        most.adjust(&batch, submitted.elapsed());
        progress(done);
    }
    let elapsed = match timestamps {
        Some(timestamps) if total > 0 => {
            let times = timestamps.read(context, context.encoder("timestamps"), 2)?;
            Elapsed { time: times[0], clock: Clock::Gpu }
        }
        _ => Elapsed { time: start.elapsed(), clock: Clock::Host },
    };
    Ok((elapsed, done))
}

/// The work in one submit.
#[derive(Default)]
struct Submit {
    dispatches: u64,
    bytes: u64,
}

/// The target duration of a submit once the device's speed is known.
const TARGET: Duration = Duration::from_millis(100);

impl Submit {
    /// The most work of the first submit: it takes a slow device of this kind well under a second.
    fn first(kind: Kind) -> Self {
        let bytes = match kind {
            Kind::Discrete => 16 << 30,
            Kind::Integrated | Kind::Virtual => 2 << 30,
            Kind::Software => 64 << 20,
        };
        Self { bytes, dispatches: 4096 }
    }

    /// Adjusts these limits after a submit: `batch` is its work, `took` its time.
    fn adjust(&mut self, batch: &Self, took: Duration) {
        let scale = (TARGET.as_secs_f64() / took.as_secs_f64()).clamp(0.1, 4.0);
        if batch.bytes >= self.bytes {
            self.bytes = ((self.bytes as f64 * scale) as u64).max(1);
        }
        if batch.dispatches >= self.dispatches {
            self.dispatches = ((self.dispatches as f64 * scale) as u64).clamp(1, 1 << 16);
        }
    }
}
