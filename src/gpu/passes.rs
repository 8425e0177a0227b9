//! The time of each dispatch of a plan, by timestamps between them.
//!
//! ```text
//! begin ┊ dispatch 1 ┊ dispatch 2 ┊ dispatch 3 ┊      a dispatch takes from the timestamp before it to the one after it,
//!       t0           t1           t2           t3     so that all times together are those of the whole
//! ```
//!
//! Where the device can write timestamps inside a pass, all dispatches of a submit are one pass, as
//! when nobody asks for times. Elsewhere each is a pass of its own, and a timestamp is written
//! where it ends.
//!
//! Timestamps take time, too: on some devices each as much as a short dispatch. So the same submits
//! can be timed without those between, which shows how much.

use std::time::Duration;

use gpusort_planner::Kind;
use gpusort_planner::plan::Plan;

use super::buffers::Buffers;
use super::device::Gpu;
use super::recording::Recording;
use super::timestamps::Timestamps;
use crate::error::Error;

/// The timestamps of one submit: as many as a set of queries may have, and less on a driver that
/// runs on the processor, so that a submit stays short.
fn most(kind: Kind) -> u32 {
    if kind == Kind::Software { 256 } else { wgpu::QUERY_SET_MAX_QUERIES }
}

/// Performs `plan` on the elements in `buffers` and waits for it. Returns how long `each` dispatch
/// took; else, in the same submits but with timestamps only where these begin and end, how long
/// each submit took. All dispatches are made, also those after which nothing is left to do.
///
/// # Errors
///
/// A device without timestamps; whatever it or its driver reports.
///
/// # Panics
///
/// When the plan is for another size or shape than the buffers.
pub fn time_passes(gpu: &Gpu, plan: &Plan, buffers: &Buffers, each: bool) -> Result<Vec<Duration>, Error> {
    assert!(buffers.fit(plan) && buffers.n() == plan.n(), "the plan is for other buffers");
    let context = &gpu.context;
    let inside = context.device.features().contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);
    let total = plan.dispatch_count();
    let count = (total + 1).min(most(gpu.info().kind).into()).max(2) as u32;
    let lacks = || Error::lacks("timestamps to time passes with");
    let timestamps = Timestamps::new(context, count)?.ok_or_else(lacks)?;

    let mut recording = None;
    let mut times: Vec<Duration> = Vec::new();
    let mut done = 0;
    while done < total {
        let mut encoder = context.encoder("timed passes");
        let recording =
            recording.get_or_insert_with(|| Recording::begin(gpu, plan, &buffers.arrays, &mut encoder));
        let fits = (total - done).min(u64::from(count) - 1) as u32;
        done += u64::from(fits);
        let last = if each { fits } else { 1 };
        // The timestamp after a dispatch.
        let after = |number| if each { Some(number) } else { (number == fits).then_some(last) };
        if inside {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            timestamps.write(&mut pass, 0);
            for number in 1..=fits {
                let mut takes = true;
                recording.record(&mut pass, |_| std::mem::take(&mut takes))?;
                if let Some(after) = after(number) {
                    timestamps.write(&mut pass, after);
                }
            }
        } else {
            for number in 1..=fits {
                let (before, after) = ((number == 1).then_some(0), after(number));
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some("gpusort timed pass"),
                    timestamp_writes: before.or(after).map(|_| timestamps.writes(before, after)),
                });
                let mut takes = true;
                recording.record(&mut pass, |_| std::mem::take(&mut takes))?;
            }
        }
        buffers.side.set(recording.side);
        times.extend(timestamps.read(context, encoder, last + 1)?);
    }
    context.check()?;
    Ok(times)
}
