//! Sorts segments, each by itself, all together. Earlier passes find the segments, since maybe only the device knows
//! the offsets.
//!
//! ```text
//! length      … 8  … 16  … 32  …  … 2,048    … 4,096    … 8,192    longer
//!             [batch                    ]    [batch]    [batch]    [histogram] [sweep] [sweep] …
//! ```
//!
//! Tiles sort short segments. Segments up to the same power of two are a class, and a tile holds several segments of
//! one class; classes with tiles of one size are a group, with a dispatch of their own. Longer segments go through the
//! passes of `onesweep` together: a tile belongs to one segment, uses the segment's counts, and looks back to the
//! segment's first tile at most. So a pass over all long segments takes as long as a pass over an array of their total
//! size, whatever their number.
//!
//! If the host knows that all segments are short and about equally long, they need no lists: tiles take segments in
//! their order.
//!
//! # Measured
//!
//! See `benches/results/2026-11-23-h200-recorded.md`.

use std::ops::RangeInclusive;

use super::{CallerPlans, PlanElements, tuning};
use crate::error::Error;
use crate::kernels::{Batch, Dispatch, FIRST_CLASS_LOG2, FusedTile, Group, Radix, RadixWork, Scope};
use crate::limits::Limits;

/// Returns the groups of segments that tiles sort, each with its tile, from the group of the shortest segments.
/// No group has segments of one element.
///
/// # Errors
///
/// Fails for limits that no tile keeps.
pub fn groups(limits: &Limits) -> Result<Vec<(FusedTile, Group)>, Error> {
    let mut groups: Vec<(FusedTile, Group)> = Vec::new();
    for log2 in FIRST_CLASS_LOG2..=tuning::longest_row(limits).max(1).ilog2() {
        let tile = tuning::row_tile(1 << log2, limits)?;
        match groups.last_mut() {
            Some((last, group)) if *last == tile => group.log2.1 = log2,
            _ => groups.push((tile, Group { number: groups.len() as u32, log2: (log2, log2) })),
        }
    }
    Ok(groups)
}

/// Returns the passes for segments of these lengths. With `iota`, they number positions in each segment;
/// otherwise they move the payload.
pub(super) fn plan(
    elements: PlanElements,
    CallerPlans { tuning, transform, .. }: &CallerPlans,
    iota: bool,
    lengths: &RangeInclusive<u32>,
) -> Result<Vec<Dispatch>, Error> {
    let PlanElements { n, limits, .. } = elements;
    let mut dispatches = Vec::new();
    for (tile, group) in groups(limits)? {
        let most = 1 << group.log2.1;
        let may_be = most >= *lengths.start() && Group::shorter(group.log2.0) < *lengths.end();
        if may_be && Group::most(group.log2.0, n) > 0 {
            dispatches.push(elements.dispatch(Batch::listed(tile, group, iota)?)?);
        }
    }
    let longest = tuning::longest_row(limits);
    if n.min(*lengths.end()) > longest {
        let digits = transform.digits();
        let scope = Scope::Segments(longest);
        let pass = |work, digit| {
            elements.dispatch(Radix { digit, scope, ..Radix::new(tuning.tile, work, digits, iota) })
        };
        dispatches.push(pass(RadixWork::Histogram, 0)?);
        for digit in 0..digits {
            dispatches.push(pass(RadixWork::Sweep(tuning.stalled), digit)?);
        }
    }
    Ok(dispatches)
}

/// The maximum number of places of rows for each element, if tiles sort segments in their order. A sort in wider
/// rows takes longer than lists of segments.
const MOST_PLACES: u64 = 2;

/// Returns the pass for this number of segments in their order, each with at most `longest` elements.
pub(super) fn by_offsets(
    elements: PlanElements,
    iota: bool,
    segments: u32,
    longest: u32,
) -> Result<Option<Dispatch>, Error> {
    let PlanElements { n, limits, .. } = elements;
    if longest > tuning::longest_row(limits) {
        return Ok(None);
    }
    let row_log2 = longest.max(1).next_power_of_two().ilog2().max(FIRST_CLASS_LOG2);
    if u64::from(segments) << row_log2 > MOST_PLACES * u64::from(n) {
        return Ok(None);
    }
    let tile = tuning::row_tile(1 << row_log2, limits)?;
    elements.dispatch(Batch::by_offsets(tile, row_log2, segments, iota)?).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Pair;
    use crate::kernels::{Kernel, KeyTransform};
    use crate::key::ElementType;

    #[test]
    fn every_length_is_of_one_class_or_too_long() {
        for workgroup_bytes in [16 << 10, 32 << 10, 48 << 10] {
            let limits = Limits { workgroup_bytes, ..Limits::WEBGPU };
            let longest = tuning::longest_row(&limits);
            assert!(longest >= 1024);
            let classes: Vec<u32> =
                groups(&limits).unwrap().iter().flat_map(|(_, group)| group.classes()).collect();
            let all: Vec<u32> = (FIRST_CLASS_LOG2..=longest.ilog2()).collect();
            assert_eq!(classes, all);
            // Lists have room in an array with one word per element.
            for n in [0, 1, 2, 3, 4, 5, 17, 1000, 1 << 20] {
                assert!(classes.iter().map(|&log2| Group::most(log2, n)).sum::<u32>() <= n);
            }
        }
    }

    #[test]
    fn the_passes_sort_every_segment_stably_and_nothing_else() {
        let limits = Limits::TYPICAL;
        let transform = KeyTransform { element: ElementType::U32, descending: false, begin: 0, bits: 32 };
        let ends = [3, 3, 4, 6, 14, 31, 300, 9000, 9001, 20_000];
        let n = 20_005;
        let plan =
            CallerPlans::new(transform, true, None, &limits).unwrap().segments(n, true, &(0..=n)).unwrap();
        let item = |position: u32| {
            let mixed = position.wrapping_mul(0x9E37_79B9) >> 12;
            Pair { key: mixed * mixed, payload: position }
        };
        let elements: Vec<Pair<u32>> = (0..n).map(item).collect();
        let last = Pair { key: u32::MAX, payload: u32::MAX };
        let performed = |ends: &[u32]| {
            let mut sorted = elements.clone();
            plan.dispatches().for_each(|dispatch| dispatch.kernel().perform(&mut sorted, ends, last));
            sorted
        };
        let mut expected = elements.clone();
        for ends in ends.windows(2) {
            expected[ends[0] as usize..ends[1] as usize].sort_by_key(|item| item.key);
        }
        assert!(performed(&ends) == expected);
        // The comparison must be able to fail.
        assert!(performed(&ends[..9]) != expected);
    }

    #[test]
    fn segments_of_about_one_length_are_sorted_in_their_order() {
        let limits = Limits::TYPICAL;
        let transform = KeyTransform { element: ElementType::U32, descending: false, begin: 0, bits: 32 };
        let callers = CallerPlans::new(transform, false, None, &limits).unwrap();
        let offsets = [5, 5, 12, 28, 60, 61, 77];
        let n = 100;
        let plan = callers.short_segments(n, false, 6, 16).unwrap().unwrap();
        let elements: Vec<u32> = (0..n).map(|place| place.wrapping_mul(0x9E37_79B9)).collect();
        let mut sorted = elements.clone();
        plan.dispatches().for_each(|dispatch| dispatch.kernel().perform(&mut sorted, &offsets, u32::MAX));
        let mut expected = elements.clone();
        // The segment of 32 elements exceeds the announced length.
        for ends in [5..12, 12..28, 61..77] {
            expected[ends].sort_unstable();
        }
        assert_eq!(sorted, expected);
        let is_planned =
            |segments, longest| callers.short_segments(1 << 20, false, segments, longest).unwrap().is_some();
        assert!(is_planned(1 << 17, 16) && is_planned(1 << 17, 9) && !is_planned(1 << 17, 17));
        let longest = tuning::longest_row(&limits);
        assert!(is_planned(1, longest) && !is_planned(1, longest + 1));
    }

    #[test]
    fn lengths_that_no_segment_has_have_no_passes() {
        let limits = Limits::TYPICAL;
        let transform = KeyTransform { element: ElementType::U32, descending: false, begin: 0, bits: 32 };
        let callers = CallerPlans::new(transform, false, None, &limits).unwrap();
        let n = 1 << 20;
        let passes = |lengths| {
            let plan = callers.segments(n, false, &lengths).unwrap();
            let is_batch = |dispatch: &&Dispatch| matches!(dispatch.kernel(), Kernel::Batch(_));
            (plan.dispatches().filter(is_batch).count(), plan.dispatches().count())
        };
        let longest = tuning::longest_row(&limits);
        let groups = groups(&limits).unwrap();
        let (all, radix) = (groups.len(), 1 + transform.digits() as usize);
        let first = 1 << groups[0].1.log2.1;
        assert_eq!(passes(0..=n), (all, all + radix));
        assert_eq!(passes(0..=longest), (all, all));
        assert_eq!(passes(0..=first), (1, 1));
        assert_eq!(passes(0..=first + 1), (2, 2));
        assert_eq!(passes(first + 1..=first + 1), (1, 1));
        assert_eq!(passes(longest + 1..=n), (0, radix));
        assert_eq!(passes(longest..=n), (1, 1 + radix));
        assert_eq!(passes(0..=1), (0, 0));
    }
}
