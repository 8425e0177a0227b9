//! What `gpusort sort` does, by the library, with bytes in memory for its output. The fuzz targets include this file.

use gpusort::unstable::io::stream::How;
use gpusort::unstable::io::{Counts, Format, Input, Output};
use gpusort::unstable::order::Selection;
use gpusort::unstable::pipeline::{Ask, Unwatched, read};
use gpusort::{Error, Method, Sorter};

/// What came of it.
#[derive(Clone, Debug)]
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
    let dataset = read(inputs, how, &Unwatched)?;
    let counts = dataset.counts();
    let mut output = Output::memory();
    let done = dataset.order(sorter, ask, &Unwatched)?.write(&mut output, &Unwatched)?;
    Ok(Sorted { bytes: output.into_bytes(), counts, repeated: done.repeated })
}
