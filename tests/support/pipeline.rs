//! What `gpusort sort` does, by the library, with bytes in memory for its output. The fuzz targets include this file.

use gpusort::unstable::io::{Counts, Format, Input, Output};
use gpusort::unstable::io::{How, Kind};
use gpusort::unstable::order::Selection;
use gpusort::unstable::pipeline::{Ask, Dataset, Parts, Runs, Unwatched};
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
    let ask = ask(selection, positions, format);
    let budget = Budget::unlimited();
    sort_one(sorter, Parts::new(inputs, how, &budget, &Unwatched).next_part()?, ask)
}

fn sort_one(sorter: &Sorter, dataset: Dataset, ask: Ask) -> Result<Sorted, Error> {
    let counts = dataset.counts();
    let mut output = Output::memory();
    let done = dataset.order(sorter, ask, &Unwatched)?.write(&mut output, &Unwatched)?;
    Ok(Sorted { bytes: output.into_bytes(), counts, repeated: done.repeated })
}

/// How sorting in no more memory than this differs from sorting with all, of which this is what came; `None` if it does not.
pub fn differs_in_parts(
    inputs: &[Input],
    how: &How,
    ask: Ask,
    budget: &Budget,
    whole: Result<&Sorted, &str>,
) -> Option<String> {
    let selection = ask.selection;
    let parts = sort_in_parts(inputs, how, ask, budget);
    let parts = parts.map(|(sorted, _)| sorted).map_err(|error| error.to_string());
    let is_same = match (&parts, whole) {
        // Of what is not selected parts drop what they can, so that nobody knows how much of it is repeated.
        (Ok(parts), Ok(whole)) if selection.first.is_some() => {
            (&parts.bytes, parts.counts) == (&whole.bytes, whole.counts)
        }
        (Ok(parts), Ok(whole)) => parts == whole,
        // With all memory the first rows of all tables are looked at before others.
        (Err(_), Err(_)) if inputs.len() > 1 && matches!(how.kind, Kind::Table(_)) => true,
        (Err(parts), Err(whole)) => parts == whole,
        _ => false,
    };
    let shown = |said: Result<&Sorted, &str>| match said {
        Ok(sorted) => format!("{:?} {sorted:?}", String::from_utf8_lossy(&sorted.bytes)),
        Err(message) => message.to_owned(),
    };
    (!is_same).then(|| {
        format!("in parts: {}\n   whole: {}", shown(parts.as_ref().map_err(String::as_str)), shown(whole))
    })
}

/// The records of this selection, or their positions.
#[must_use]
pub fn ask(selection: Selection, positions: bool, format: Format) -> Ask {
    Ask { selection, positions, method: Method::default(), format }
}

/// Sorts the records of inputs, or their positions, on the CPU in no more memory than this; also returns the number of runs.
///
/// # Errors
///
/// An input that cannot be sorted.
pub fn sort_in_parts(
    inputs: &[Input],
    how: &How,
    ask: Ask,
    budget: &Budget,
) -> Result<(Sorted, usize), Error> {
    let sorter = Sorter::cpu();
    let mut parts = Parts::new(inputs, how, budget, &Unwatched);
    let first = parts.next_part()?;
    if parts.is_over() {
        return Ok((sort_one(&sorter, first, ask)?, 0));
    }
    let mut folders = Folders::new(vec![std::env::temp_dir()]);
    let runs = Runs::of(first, &mut parts, ask, &sorter, &mut folders)?;
    let mut output = Output::memory();
    let (merge, _) = runs.merge(&parts, &mut output, &Unwatched)?;
    let sorted =
        Sorted { bytes: output.into_bytes(), counts: merge.counts, repeated: merge.repeated as usize };
    Ok((sorted, merge.runs))
}
