//! How long each dispatch takes on a device, and the whole sort beside it.

use super::Measured;
use crate::bench::SpinUp;
use crate::bench::statistics::median;
use crate::device::Kind;
use crate::error::Error;
use crate::gpu::{Buffers, Gpu, execute, time_passes};
use crate::plan::Plan;
use crate::timing::milliseconds;
use crate::words::Words;

/// Runs of the plan with timestamps, and as many without; medians count.
const RUNS: usize = 11;

/// The same on the processor, which is slow and has no frequency of its own.
const RUNS_IN_SOFTWARE: usize = 3;

/// Times a plan for these keys.
///
/// # Errors
///
/// A device without timestamps, or with too little memory; another failure of it.
pub fn measure(gpu: &Gpu, plan: &Plan, keys: &Words) -> Result<Measured, Error> {
    let copy = gpu.copy_bandwidth()?;
    gpu.prepare(plan)?;
    let buffers = Buffers::new(gpu, plan)?;
    let is_software = gpu.info().kind == Kind::Software;
    // An idle device is slow at first.
    let spin_up = (!is_software).then(|| SpinUp::new(gpu)).transpose()?;
    let runs = if is_software { RUNS_IN_SOFTWARE } else { RUNS };
    let begin = || -> Result<(), Error> {
        let mut upload = buffers.begin_upload(gpu)?;
        keys.bytes().into_iter().try_for_each(|bytes| upload.push(bytes))?;
        upload.finish()?;
        spin_up.as_ref().map_or(Ok(()), |spin_up| spin_up.again(gpu))
    };
    let (mut sorts, mut passes) = (Vec::new(), vec![Vec::new(); plan.dispatch_count() as usize]);
    // The first of each is left out: a driver may do something once.
    for run in 0..=runs {
        begin()?;
        let sort = execute(gpu, plan, &buffers, |_| {})?.0.time;
        begin()?;
        let times = time_passes(gpu, plan, &buffers)?;
        if run > 0 {
            sorts.push(milliseconds(sort));
            passes.iter_mut().zip(times).for_each(|(all, time)| all.push(milliseconds(time)));
        }
    }
    Ok(Measured {
        device: gpu.info().clone(),
        passes: passes.iter().map(|all| median(all)).collect(),
        sort: median(&sorts),
        runs,
        copy,
    })
}
