//! Text in a bench: lines ordered as `gpusort sort` orders them, and by a comparison sort of slices.

use std::time::Instant;

use crate::contender::Sample;
use crate::generate::Sequence;
use crate::verify::verify_positions;
use gpusort_base::error::{Error, ErrorKind};
use gpusort_engine::sorter::Sorter;
use gpusort_files::order_lines;
use gpusort_order::Method;

/// Orders texts and verifies their order. The time excludes splitting the input into lines.
///
/// Without a sorter, the CPU orders the texts. Without a method, the standard library's `sort_unstable` orders
/// slices and positions on one core.
///
/// # Errors
///
/// A wrong result; a failure of the device.
pub(crate) fn sample(
    sorter: Option<&Sorter>,
    method: Option<Method>,
    texts: &Sequence,
) -> Result<Sample, Error> {
    let lines = texts.lines(0, texts.count as usize);
    let slices: Vec<&[u8]> = lines.split_inclusive(|&byte| byte == b'\n').collect();
    let (sample, order) = if let Some(method) = method {
        let (time, done) = order_lines(lines.clone(), sorter.unwrap_or(&Sorter::cpu()), method)?;
        let (dispatches, bytes_moved) = (done.report.dispatches, done.report.bytes_moved);
        let sample = Sample { dispatches, bytes_moved, ..Sample::on_cpu(time) };
        (sample, done.words.into_vec().expect("positions have 32 bits"))
    } else {
        let start = Instant::now();
        let mut texts: Vec<(&[u8], u32)> = slices.iter().copied().zip(0..).collect();
        texts.sort_unstable();
        let order = texts.iter().map(|&(_, position)| position).collect();
        (Sample::on_cpu(start.elapsed()), order)
    };
    verify_positions(slices.len(), |position| slices[position], &order)
        .map_err(|problem| Error::new(ErrorKind::WrongResult { seed: texts.seed, problem }))?;
    Ok(Sample { bytes: lines.len() as u64, ..sample })
}
