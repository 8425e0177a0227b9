//! Performs a plan on a device and waits for it: recorded dispatches into command buffers, command
//! buffers into submits.
//!
//! It knows no algorithm. One submit does the whole sort unless that would keep the device busy for
//! so long that a watchdog might step in or a person might wonder; then each submit is sized to
//! about a tenth of a second by how long the one before took.

use std::time::Duration;

use gpusort_planner::Kind;
use gpusort_planner::plan::Plan;

use super::buffers::Buffers;
use super::device::Gpu;
use super::recording::Recording;
use crate::clock::{Clock, Elapsed, Instant};
use crate::error::Error;

/// Performs `plan` on the elements in `buffers` and waits for it, calling `progress` after each
/// submit with the number of dispatches done so far. Returns how long it took and how many
/// dispatches were made: fewer than planned if phases found everything in order.
///
/// # Errors
///
/// Whatever the device or its driver reports.
///
/// # Panics
///
/// When the plan is for another size or shape than the buffers.
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
    let mut pace = Pace::new(gpu.info().kind);
    let mut recording = None;
    let mut done = 0;
    let mut over = false;
    let start = Instant::now();
    while done < total && !over {
        let submitted = Instant::now();
        let mut encoder = context.encoder("sort");
        let recording =
            recording.get_or_insert_with(|| Recording::begin(gpu, plan, &buffers.arrays, &mut encoder));
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("gpusort sort"),
            // Which submit will be the last is not known yet, so each ends with a timestamp; the
            // last one stays.
            timestamp_writes: timestamps.map(|all| all.writes((done == 0).then_some(0), Some(1))),
        });
        let mut batch = Submit::default();
        recording.record(&mut pass, |dispatch| {
            let takes = !pace.is_full(&batch);
            if takes {
                batch.dispatches += 1;
                batch.bytes += dispatch.bytes_moved();
            }
            takes
        })?;
        drop(pass);
        buffers.side.set(recording.side);
        done += batch.dispatches;
        context.queue.submit([encoder.finish()]);
        if plan.ends_early() && done < total {
            over = buffers.last_swap(context)?.is_some_and(|last_swap| u64::from(last_swap) + 2 <= done);
        }
        context.wait()?;
        pace.adjust(&batch, submitted.elapsed());
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

/// What one submit holds.
#[derive(Default)]
struct Submit {
    dispatches: u64,
    bytes: u64,
}

/// How much work to put into one submit.
struct Pace {
    bytes: u64,
    dispatches: u64,
}

impl Pace {
    /// What a submit should take once its device's speed is known.
    const TARGET: Duration = Duration::from_millis(100);

    /// A start that a slow device of this kind does in well under a second.
    fn new(kind: Kind) -> Self {
        let bytes = match kind {
            Kind::Discrete => 16 << 30,
            Kind::Integrated | Kind::Virtual => 2 << 30,
            Kind::Software => 64 << 20,
        };
        Self { bytes, dispatches: 4096 }
    }

    fn is_full(&self, batch: &Submit) -> bool {
        batch.bytes >= self.bytes || batch.dispatches >= self.dispatches
    }

    fn adjust(&mut self, batch: &Submit, took: Duration) {
        let scale = (Self::TARGET.as_secs_f64() / took.as_secs_f64()).clamp(0.1, 4.0);
        if batch.bytes >= self.bytes {
            self.bytes = ((self.bytes as f64 * scale) as u64).max(1);
        }
        if batch.dispatches >= self.dispatches {
            self.dispatches = ((self.dispatches as f64 * scale) as u64).clamp(1, 1 << 16);
        }
    }
}
