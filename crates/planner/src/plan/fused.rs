//! The bitonic network cut for the `fused` kernels: tiles that stay in registers, and passes that perform the most
//! consecutive steps that a tile's bits allow.
//!
//! Bits of the array's index define a tile: on 2^t elements that differ in t bits, a workgroup can perform every step
//! whose stride is one of these bits. The network is a single sequence of strides,
//!
//! ```text
//! stage 15: 14 13 12 … 1 0   stage 16: 15 14 13 … 1 0   stage 17: 16 15 …
//! ```
//!
//! and a pass takes a run of it with at most t different bits. Runs that end one stage and begin
//! the next save a fifth of the passes: a tile of the lowest and some high bits performs `… 3 2 1
//! 0 | 17 16 15 14 …`. The sequence is cut in the cheapest way. A tile always includes the lowest
//! few bits, to access memory in runs.

use super::{PlanElements, Tuning};
use crate::error::{Error, at_most};
use crate::kernels::{Dispatch, Fused, FusedWork};
use crate::network::stages;

/// Returns the dispatches with the tuning measured to be the best.
pub(super) fn measured(elements: PlanElements) -> Result<Vec<Dispatch>, Error> {
    plan(elements, &Tuning::measured(elements.n, elements.shape, elements.limits))
}

/// Returns dispatches that sort tiles in registers, then the passes of all larger stages.
pub(super) fn plan(elements: PlanElements, tuning: &Tuning) -> Result<Vec<Dispatch>, Error> {
    let n = elements.n;
    let (sorted_log2, tile_log2) = (tuning.sort_tile.log2(), tuning.tile.log2());
    at_most([("elements in a merged tile", 1 << tile_log2, 1 << sorted_log2)])?;
    if n < 2 {
        return Ok(Vec::new());
    }
    let stages_of_all = stages(n).max(sorted_log2);
    // Bounds the list of regions, however small the requested regions are.
    let least_log2 = stages_of_all.saturating_sub(MOST_REGIONS_LOG2).max(sorted_log2);
    let region_log2 = tuning.region_log2.clamp(least_log2, stages_of_all);
    // 2^32 for a single region.
    let region = 1_u64 << region_log2;
    let regions: Vec<(u32, u32)> = (0..u64::from(n).div_ceil(region))
        .map(|number| (number * region, (u64::from(n) - number * region).min(region)))
        .map(|(first, count)| (first as u32, count as u32))
        .collect();

    let mut dispatches = Vec::new();
    let mut add = |work, (first, count): (u32, u32)| -> Result<(), Error> {
        let tile = if work == FusedWork::Sort { tuning.sort_tile } else { tuning.tile };
        let kernel = Fused { tile, work };
        // Some passes have nothing to compare in a part of a block.
        if kernel.tiles_of(count) > 0 {
            dispatches.push(elements.dispatch_on(first, count, kernel)?);
        }
        Ok(())
    };
    for &region in &regions {
        add(FusedWork::Sort, region)?;
        // The last region may be smaller and needs fewer stages.
        for (work, _) in passes(sorted_log2, stages(region.1), tuning) {
            add(work, region)?;
        }
    }
    let across = passes(region_log2, stages(n), tuning);
    let is_within = |(_, reach_log2): &(FusedWork, u32)| *reach_log2 <= region_log2;
    for works in across.chunk_by(|a, b| is_within(a) == is_within(b)) {
        let parts = if is_within(&works[0]) { &regions[..] } else { &[(0, n)] };
        for &part in parts {
            works.iter().try_for_each(|&(work, _)| add(work, part))?;
        }
    }
    Ok(dispatches)
}

/// Returns the passes of the stages after the stage of blocks of 2^`sorted_log2`, cut for the least expected time,
/// each with the log2 size of the blocks that its comparisons do not leave.
fn passes(sorted_log2: u32, stages: u32, tuning: &Tuning) -> Vec<(FusedWork, u32)> {
    let (tile, tile_log2) = (tuning.tile, tuning.tile.log2());
    let run_log2 = tuning.run_log2.min(tile_log2 - 1);
    if sorted_log2 >= stages {
        return Vec::new();
    }
    // By stage and by the number of its remaining steps: the least cost from there to the end, with
    // the next pass and the remainder after it.
    let mut best: Vec<Vec<(u32, Option<Choice>)>> = vec![Vec::new(); stages as usize + 2];
    best[stages as usize + 1] = vec![(0, None); stages as usize + 2];
    for stage in (sorted_log2 + 1..=stages).rev() {
        // The end of a stage is the beginning of the next.
        let next = best[stage as usize + 1][stage as usize + 1];
        best[stage as usize].push(next);
        for left in 1..=stage {
            let mut options = Vec::new();
            if left <= tile_log2 {
                let rest = FusedWork::Strides { tail: left, low: tile_log2, count: 0, mirrored: false };
                options.push((rest, (stage, 0)));
                let most = if stage < stages { tile_log2 - left.max(run_log2).min(tile_log2) } else { 0 };
                options.extend((1..=most).rev().map(|count| {
                    let low = stage + 1 - count;
                    (FusedWork::Strides { tail: left, low, count, mirrored: true }, (stage + 1, low))
                }));
            }
            if left >= tile_log2 {
                let most = (tile_log2 - run_log2).min(left);
                options.extend((1..=most).rev().map(|count| {
                    let low = left - count;
                    (FusedWork::Strides { tail: 0, low, count, mirrored: left == stage }, (stage, low))
                }));
            }
            let cost = |&(work, (stage, left)): &Choice| {
                best[stage as usize][left as usize].0 + PASS_COST + tile.layouts(work).len() as u32
            };
            let chosen = options.into_iter().min_by_key(cost).expect("a pass of one step fits any tile");
            let state = (cost(&chosen), Some(chosen));
            best[stage as usize].push(state);
        }
    }

    let mut passes = Vec::new();
    let mut place = (sorted_log2 + 1, sorted_log2 + 1);
    while let Some((work, next)) = best[place.0 as usize].get(place.1 as usize).and_then(|state| state.1) {
        let FusedWork::Strides { low, count, .. } = work else { unreachable!("no pass performs other work") };
        passes.push((work, low + count));
        place = next;
    }
    passes
}

/// The maximum number of regions, as a power of two.
const MOST_REGIONS_LOG2: u32 = 12;

/// A pass and the remainder after it: a stage, and the number of its steps.
type Choice = (FusedWork, (u32, u32));

/// The fixed cost of a pass, in layouts.
const PASS_COST: u32 = 8;
