//! Performs a plan on a device: dispatches into command buffers, command buffers into submits.
//!
//! It knows no algorithm. One submit does the whole sort unless that would keep the device busy for so
//! long that a watchdog might step in or a person might wonder; then submits are sized to about a
//! tenth of a second by how long the one before took.

use std::time::{Duration, Instant};

use super::device::{Gpu, Kind};
use super::kernels::kernel;
use super::transfer::{Buffers, Side};
use crate::error::Error;
use crate::plan::{Dispatch, Kernel, Plan, Step, TopTuning, Work};

/// Where a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Timestamps that the device wrote before the first and after the last dispatch.
    Gpu,
    /// The host's clock, from before the first submit was put together until the device reported the last
    /// one done.
    Host,
}

impl Clock {
    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Host => "host",
        }
    }
}

/// How long something took, and by which clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// The time.
    pub time: Duration,
    /// Where it comes from.
    pub clock: Clock,
}

/// Performs `plan` on the elements in `buffers` and waits for it, calling `progress` after each submit
/// with the number of dispatches done so far. Returns how long it took and how many dispatches were
/// made: fewer than planned if phases found everything in order.
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
    assert!(buffers.fit(plan) && buffers.n() == plan.n, "the plan is for other buffers");
    assert!(keeps_inside(plan), "the plan leaves its arrays");
    let total = plan.dispatch_count();
    let timestamps = buffers.timestamps();
    let mut pace = Pace::new(gpu.info().kind);
    let mut dispatches = plan.dispatches();
    let mut done = 0;
    let mut over = false;
    let mut side = Side::Front;
    let start = Instant::now();
    while done < total && !over {
        let submitted = Instant::now();
        let mut encoder =
            gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("sort") });
        if done == 0 && plan.phases {
            encoder.clear_buffer(buffers.state(), 0, None);
        }
        let mut batch = Batch::default();
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("sort"),
            // Which submit will be the last is not known yet, so each ends with a timestamp; the last
            // one stays.
            timestamp_writes: timestamps.map(|timestamps| timestamps.writes(done == 0)),
        });
        let mut current = None;
        while !pace.is_full(&batch) {
            let Some(dispatch) = dispatches.next() else { break };
            // There are no more phases than elements.
            let ordinal = (done + batch.dispatches) as u32;
            let (key, arguments) = kernel(dispatch, ordinal, plan);
            if current != Some((key, side)) {
                pass.set_pipeline(&gpu.pipeline(key)?);
                pass.set_bind_group(0, buffers.bind_group(side, key.scratch), &[]);
                current = Some((key, side));
            }
            if key.scratch {
                side = side.other();
            }
            pass.set_immediates(0, bytemuck::bytes_of(&arguments));
            pass.dispatch_workgroups(dispatch.grid.x, dispatch.grid.y, 1);
            batch.dispatches += 1;
            batch.bytes += dispatch.bytes_moved;
        }
        drop(pass);
        done += batch.dispatches;
        gpu.queue.submit([encoder.finish()]);
        if plan.phases && done < total {
            over = u64::from(buffers.read_state(gpu)?) + 2 <= done;
        }
        gpu.wait()?;
        pace.adjust(&batch, submitted.elapsed());
        progress(done);
    }
    let elapsed = match timestamps {
        Some(timestamps) if total > 0 => Elapsed { time: timestamps.read(gpu)?, clock: Clock::Gpu },
        _ => Elapsed { time: start.elapsed(), clock: Clock::Host },
    };
    buffers.set_side(side);
    Ok((elapsed, done))
}

/// Whether every dispatch stays within the plan's arrays, which the kernels do not check.
fn keeps_inside(plan: &Plan) -> bool {
    let mut side = Side::Front;
    plan.rounds.iter().all(|round| {
        let changes = round.dispatches.iter().filter(|dispatch| dispatch.work.changes_sides()).count();
        // A round that ends on the other side begins there the next time, and here the time after that.
        let inside = (0..round.times.min(2)).all(|_| {
            round.dispatches.iter().all(|dispatch| {
                let inside = dispatch_keeps_inside(dispatch, side, plan);
                if dispatch.work.changes_sides() {
                    side = side.other();
                }
                inside
            })
        });
        if changes % 2 == 1 && round.times > 2 && round.times % 2 == 1 {
            side = side.other();
        }
        inside
    })
}

/// Whether this one stays within the array that has the elements and the one that it may write to.
fn dispatch_keeps_inside(dispatch: &Dispatch, side: Side, plan: &Plan) -> bool {
    let (here, there) = match side {
        Side::Front => (plan.padded, plan.scratch),
        Side::Back => (plan.scratch, plan.padded),
    };
    let (first, count) = (u64::from(dispatch.first), u64::from(dispatch.count));
    let all_log2 = plan.padded.max(1).ilog2();
    let is_right = match dispatch.work {
        // The other kernels on rows take the whole array for powers of two, and so for padded.
        Work::Transpose { rows_log2, columns_log2 } => {
            rows_log2 + columns_log2 == all_log2 && here.min(there) >= plan.padded
        }
        Work::RowSort { row_log2 } => row_log2 <= all_log2 && here >= plan.padded,
        Work::RowMerge { row_log2, steps, .. } => {
            row_log2 <= all_log2 && steps <= row_log2 && here >= plan.padded
        }
        Work::Pad | Work::Step(Step::Alternating { .. }) => here >= plan.padded,
        Work::TopTile { tile_log2, slots_log2, k } => {
            // The kernel goes by its tuning, which must be of the same tiles and runs, and one that a kernel has.
            let is_for = |tuning: TopTuning| {
                tuning.check_form(k).is_ok()
                    && (tuning.tile_log2(), tuning.slots_log2) == (tile_log2, slots_log2)
                    && dispatch.workgroup_size == 1 << tuning.invocations_log2
            };
            let room = count.div_ceil(1 << tile_log2) << slots_log2;
            matches!(dispatch.kernel, Kernel::Top(tuning) if is_for(tuning))
                && first == 0
                && count > 0
                && room <= u64::from(there)
        }
        _ => true,
    };
    // Kernels that know no part of the array take all of it.
    let reach = match dispatch.kernel {
        Kernel::Fused(_) | Kernel::Top(_) => first + count,
        _ => (first + count).max(plan.n.into()),
    };
    is_right && reach <= u64::from(here)
}

/// What one submit holds.
#[derive(Default)]
struct Batch {
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

    fn is_full(&self, batch: &Batch) -> bool {
        batch.bytes >= self.bytes || batch.dispatches >= self.dispatches
    }

    fn adjust(&mut self, batch: &Batch, took: Duration) {
        let scale = (Self::TARGET.as_secs_f64() / took.as_secs_f64()).clamp(0.1, 4.0);
        if batch.bytes >= self.bytes {
            self.bytes = ((self.bytes as f64 * scale) as u64).max(1);
        }
        if batch.dispatches >= self.dispatches {
            self.dispatches = ((self.dispatches as f64 * scale) as u64).clamp(1, 1 << 16);
        }
    }
}
