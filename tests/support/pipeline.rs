//! What `gpusort sort` does, by the library, with bytes in memory for its output. The fuzz targets include this file.

use gpusort::unstable::io::stream::How;
use gpusort::unstable::io::{Counts, Format, Input, Output};
use gpusort::unstable::order::Selection;
use gpusort::unstable::pipeline::{Ask, Dataset, Parts, Runs, Unwatched, read};
use gpusort::unstable::runs::{Budget, Folders};
use gpusort::{Error, Method, Sorter};

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorted {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    pub repeated: usize,
}

/// Sorts inputs: their records, or with `positions` where those are.
///
/// # Errors
///
/// An input that cannot be sorted; a device that fails.
pub fn sort(
    sorter: &Sorter,
    inputs: &[Input],
    how: &How,
    selection: Selection,
    positions: bool,
    format: Format,
) -> Result<Sorted, Error> {
    let ask = Ask { selection, positions, method: Method::default(), format };
    sort_one(sorter, read(inputs, how, &Unwatched)?, ask)
}

fn sort_one(sorter: &Sorter, dataset: Dataset, ask: Ask) -> Result<Sorted, Error> {
    let counts = dataset.counts();
    let mut output = Output::memory();
    let done = dataset.order(sorter, ask, &Unwatched)?.write(&mut output, &Unwatched)?;
    Ok(Sorted { bytes: output.into_bytes(), counts, repeated: done.repeated })
}

/// Sorts the records of inputs on the CPU in no more memory than this; also returns the number of runs.
///
/// # Errors
///
/// An input that cannot be sorted.
pub fn sort_in_parts(
    inputs: &[Input],
    how: &How,
    selection: Selection,
    format: Format,
    budget: &Budget,
) -> Result<(Sorted, usize), Error> {
    let ask = Ask { selection, positions: false, method: Method::default(), format };
    let sorter = Sorter::cpu();
    let mut parts = Parts::new(inputs, how, budget, &Unwatched);
    let first = parts.next()?;
    if parts.is_over() {
        return Ok((sort_one(&sorter, first, ask)?, 0));
    }
    let mut folders = Folders::new(vec![std::env::temp_dir()]);
    let runs = Runs::of(first, &mut parts, ask, &sorter, &mut folders)?;
    let mut output = Output::memory();
    let (merge, _) = runs.merge(&parts, &sorter, &mut output, &Unwatched)?;
    let sorted =
        Sorted { bytes: output.into_bytes(), counts: merge.counts, repeated: merge.repeated as usize };
    Ok((sorted, merge.runs))
}
