//! Measures each dispatch of a plan by timestamps.
//!
//! ```text
//! begin ┊ dispatch 1 ┊ dispatch 2 ┊ dispatch 3 ┊   a dispatch lasts between the timestamps around it,
//!       t0           t1           t2           t3  so the times add up to the whole
//! ```
//!
//! If the device can write timestamps inside a pass, each submit is one pass, as in an untimed
//! sort. Otherwise each dispatch is a pass of its own, with a timestamp at its end.
//!
//! A timestamp takes time itself, on some devices as long as a short dispatch. To show this cost,
//! the same submits can be timed by their first and last timestamps alone.

use std::time::Duration;

use gpusort_order::Kind;
use gpusort_planner::plan::Plan;

use super::device::Gpu;
use super::plan_buffers::Buffers;
use super::recording::Recording;
use super::timestamps::Timestamps;
use gpusort_base::error::Error;

/// Runs `plan` on the elements in `buffers` and waits for it. Returns the time of each dispatch if `each` is true,
/// otherwise of each submit, from timestamps at its beginning and end. All dispatches run, even if the elements are
/// in order earlier.
///
/// # Errors
///
/// If the device has no timestamps; errors of the device or its driver.
///
/// # Panics
///
/// If the plan's size or shape differs from the buffers'.
pub fn time_passes(gpu: &Gpu, plan: &Plan, buffers: &Buffers, each: bool) -> Result<Vec<Duration>, Error> {
    assert!(buffers.fit(plan) && buffers.n() == plan.n(), "the plan is for other buffers");
    let context = &gpu.context;
    let inside = context.device.features().contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);
    let total = plan.dispatch_count();
    // The limit of a query set; fewer on a software driver, to keep submits short.
    let most = if gpu.info().kind == Kind::Software { 256 } else { wgpu::QUERY_SET_MAX_QUERIES };
    let count = (total + 1).min(most.into()).max(2) as u32;
    let lacks = || Error::lacks("timestamps to time passes with");
    let timestamps = Timestamps::new(context, count)?.ok_or_else(lacks)?;

    let mut recording = None;
    let mut times: Vec<Duration> = Vec::new();
    let mut done = 0;
    while done < total {
        let mut encoder = context.encoder("timed passes");
        let recording = recording.get_or_insert_with(|| Recording::begin(gpu, plan, buffers, &mut encoder));
        let fits = (total - done).min(u64::from(count) - 1) as u32;
        done += u64::from(fits);
        let last = if each { fits } else { 1 };
        // The timestamp to write after a dispatch.
        let after = |number| if each { Some(number) } else { (number == fits).then_some(last) };
        let mut record_next = |pass: &mut wgpu::ComputePass<'_>| {
            let mut takes = true;
            recording.record(pass, |_| std::mem::take(&mut takes))
        };
        if inside {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            timestamps.write(&mut pass, 0);
            for number in 1..=fits {
                record_next(&mut pass)?;
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
                record_next(&mut pass)?;
            }
        }
        times.extend(timestamps.read(context, encoder, last + 1)?);
    }
    context.check()?;
    Ok(times)
}
