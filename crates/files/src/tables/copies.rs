//! Finds the row groups that a merge copies as they are, because no row of another input belongs between their rows.

use std::sync::Mutex;

use super::check::{bounds_of_parts, part_in_order};
use super::read::TableScan;
use gpusort_base::error::Error;
use gpusort_base::parallel::map_parts;
use gpusort_external::not_sorted;
use gpusort_formats::Counts;
use gpusort_formats::arrow::Part;

/// A row group to copy, with the keys of its first and of its last row. Rows of equal keys are in the order of their
/// tables.
pub(super) struct Copied {
    pub(super) part: Part,
    pub(super) first: (Vec<u8>, usize),
    pub(super) last: (Vec<u8>, usize),
}

/// A step of a merge: the parts to merge, in the order of the inputs, and the row group to copy after these parts; the
/// last step has none.
pub(super) type Step = (Vec<Part>, Option<Copied>);

/// Divides a merge by the row groups of Parquet to copy, which `takes` must accept. Statistics tell which row groups
/// overlap with no other; their keys are read to check the order, and to count nulls.
///
/// # Errors
///
/// A row group out of order; I/O errors; invalid data.
pub(super) fn steps(
    reading: &TableScan,
    takes: impl Fn(Part) -> bool,
    counts: &Mutex<Counts>,
) -> Result<Vec<Step>, Error> {
    let (tables, keys) = (reading.tables, reading.keys);
    let parts = tables.parts.iter().copied().enumerate().filter(|(_, part)| part.rows > 0);
    let mut parts: Vec<(usize, Part)> = parts.collect();
    let bounds = [false, true].map(|is_last| bounds_of_parts(tables, &keys[0], is_last));
    let [Some(first), Some(last)] = bounds else { return Ok(vec![(of_inputs(&parts), None)]) };
    let is_sorted =
        |pair: &[(usize, Part)]| pair[0].1.table != pair[1].1.table || first[pair[0].0] <= first[pair[1].0];
    if !parts.windows(2).all(is_sorted) {
        return Ok(vec![(of_inputs(&parts), None)]);
    }
    parts.sort_by_key(|&(at, _)| (&first[at], at));
    // Rows of equal first keys are in the order of their tables, unless further keys decide.
    let precedes = |&(one, part): &(usize, Part), &(next, after): &(usize, Part)| {
        let (Some(end), Some(begin)) = (&last[one], &first[next]) else { return false };
        end < begin || end == begin && keys.len() == 1 && part.table <= after.table
    };
    let (mut alone, mut furthest) = (Vec::new(), None);
    for (place, part) in parts.iter().enumerate() {
        let is_first = furthest.is_none_or(|one| precedes(one, part));
        if is_first && parts.get(place + 1).is_none_or(|next| precedes(part, next)) && takes(part.1) {
            alone.push(place);
        }
        furthest = furthest
            .into_iter()
            .chain([part])
            .max_by_key(|(at, part)| (last[*at].is_none(), &last[*at], part.table));
    }
    let how = TableScan::of_keys(tables, keys);
    let copied = map_parts(&alone, |&place| {
        let part = parts[place].1;
        let (first, last, disorder) = part_in_order(&how, part, None, Some(counts))?;
        disorder.map_or(Ok(()), |disorder| Err(not_sorted(disorder)))?;
        let ends = first.as_ref().map(|first| first.keys.key(0)).zip(last.key());
        let (first, last) = ends.expect("the part has rows");
        Ok::<_, Error>(Copied { part, first: (first, part.table), last: (last.to_vec(), part.table) })
    });
    let (mut steps, mut begin) = (Vec::new(), 0);
    for (&place, copied) in alone.iter().zip(copied) {
        steps.push((of_inputs(&parts[begin..place]), Some(copied?)));
        begin = place + 1;
    }
    steps.push((of_inputs(&parts[begin..]), None));
    Ok(steps)
}

/// Returns parts in the order of the inputs.
fn of_inputs(parts: &[(usize, Part)]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    parts.sort_by_key(|(at, _)| *at);
    parts.into_iter().map(|(_, part)| part).collect()
}
