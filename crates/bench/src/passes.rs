//! The time of each dispatch on a device, and of the whole sort.

use gpusort_order::Kind;
use gpusort_planner::plan::Plan;

use crate::spin_up::SpinUp;
use crate::statistics::median;
use gpusort_base::error::Error;
use gpusort_engine::gpu::{Buffers, Gpu, execute, time_passes};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::report::timing::milliseconds;
use gpusort_trace::Measured;

/// Runs of each kind: as the plan is sorted, with a timestamp after each pass, and with fewer.
/// Medians count.
const RUNS: usize = 11;

/// The same on the processor, which is slow and has no frequency of its own.
const RUNS_IN_SOFTWARE: usize = 3;

/// Times a plan for these keys.
///
/// # Errors
///
/// A device without timestamps, or with too little memory; another failure of it.
pub fn measure(gpu: &Gpu, plan: &Plan, keys: &KeyBuf) -> Result<Measured, Error> {
    let copy = gpu.copy_bandwidth()?;
    gpu.prepare(plan)?;
    let buffers = Buffers::new(gpu, plan)?;
    let is_software = gpu.info().kind == Kind::Software;
    // An idle device is slow at first.
    let spin_up = (!is_software).then(|| SpinUp::new(gpu)).transpose()?;
    let runs = if is_software { RUNS_IN_SOFTWARE } else { RUNS };
    let begin = || -> Result<(), Error> {
        buffers.upload(gpu, keys.bytes())?;
        spin_up.as_ref().map_or(Ok(()), |spin_up| spin_up.again(gpu))
    };
    let time_each = |each: bool| -> Result<Vec<f64>, Error> {
        begin()?;
        Ok(time_passes(gpu, plan, &buffers, each)?.into_iter().map(milliseconds).collect())
    };
    let (mut sorts, mut passes, mut submits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..=runs {
        begin()?;
        sorts.push(milliseconds(execute(gpu, plan, &buffers, |_| {})?.0.time));
        passes.push(time_each(true)?);
        // On the processor, times differ by more than a timestamp takes.
        submits.extend((!is_software).then(|| time_each(false)).transpose()?);
    }
    // The first runs do not count, since a driver may prepare something in them.
    let (sort, passes) = (median(&sorts[1..]), &passes[1..]);
    let timestamp = timestamp(passes, submits.get(1..).unwrap_or_default());
    let (device, passes) = (gpu.info().clone(), without(timestamp, passes));
    Ok(Measured { device, passes, timestamp, sort, runs, copy })
}

/// The cost of a timestamp: if it is subtracted from each pass, all passes together take as long as
/// without timestamps. `passes` has the times of runs with a timestamp after each pass; `submits` has
/// times of the same passes with a timestamp after each submit, if measured.
fn timestamp(passes: &[Vec<f64>], submits: &[Vec<f64>]) -> f64 {
    let each = |runs: &[Vec<f64>]| runs.first().map_or(0, Vec::len);
    let count = each(passes);
    if submits.is_empty() || count <= each(submits) {
        return 0.0;
    }
    let sums = |runs: &[Vec<f64>]| runs.iter().map(|run| run.iter().sum()).collect::<Vec<f64>>();
    let (many, few) = (sums(passes), median(&sums(submits)));
    // Unless all runs are slower with more timestamps, the difference is noise.
    if many.iter().any(|&ms| ms <= few) { 0.0 } else { (median(&many) - few) / count as f64 }
}

/// The median time of each pass over the runs, without a timestamp.
fn without(timestamp: f64, runs: &[Vec<f64>]) -> Vec<f64> {
    let passes = runs.first().map_or(0, Vec::len);
    let of = |pass: usize| median(&runs.iter().map(|run| run[pass]).collect::<Vec<_>>());
    (0..passes).map(|pass| (of(pass) - timestamp).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_timestamps_take_is_known_by_runs_with_fewer() {
        type Runs<'a> = &'a [&'a [f64]];
        let cases: [(f64, Runs, Runs); 10] = [
            // Three passes take 18 milliseconds one by one, and 12 together.
            (2.0, &[&[3.0, 6.0, 9.0]], &[&[12.0]]),
            // The same in two submits, of two passes and of one.
            (2.0, &[&[3.0, 6.0, 9.0]], &[&[5.0, 7.0]]),
            // Medians of several runs.
            (1.0, &[&[3.0, 7.0], &[4.0, 7.0], &[90.0, 1.0]], &[&[8.0], &[9.0], &[99.0]]),
            // One run that is no slower shows that the others are slower by chance.
            (0.0, &[&[3.0, 6.0], &[4.0, 7.0], &[90.0, 1.0]], &[&[8.0], &[9.0], &[99.0]]),
            // Timestamps that take less than nothing.
            (0.0, &[&[3.0, 6.0]], &[&[9.5]]),
            // One pass, one in each submit, or none: there is nothing to tell it by.
            (0.0, &[&[3.0]], &[&[2.0]]),
            (0.0, &[&[3.0, 6.0]], &[&[2.0, 5.0]]),
            (0.0, &[&[]], &[&[]]),
            (0.0, &[&[3.0, 6.0]], &[]),
            (0.0, &[], &[]),
        ];
        for (expected, passes, submits) in cases {
            let [many, few] =
                [passes, submits].map(|runs| runs.iter().map(|run| run.to_vec()).collect::<Vec<_>>());
            assert!((timestamp(&many, &few) - expected).abs() < 1e-12, "{passes:?} {submits:?}");
        }
    }

    #[test]
    fn it_is_subtracted_from_each_pass() {
        let runs = [vec![5.0, 100.0, 2.0], vec![1.0, 300.0, 2.0], vec![3.0, 200.0, 1.0]];
        assert_eq!(without(0.0, &runs), [3.0, 200.0, 2.0]);
        // A pass shorter than a timestamp takes no time, never a negative time.
        assert_eq!(without(2.5, &runs), [0.5, 197.5, 0.0]);
        assert_eq!(without(2.5, &[vec![], vec![]]), [0.0; 0]);
    }
}
