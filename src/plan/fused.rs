//! The bitonic network cut for the `fused` kernels: tiles that stay in registers, and passes that perform
//! as many consecutive steps as a tile's bits allow.
//!
//! A tile is chosen by bits of the array's index: of 2^t elements that differ in t of those bits a
//! workgroup can perform every step whose stride is one of the bits. The network is one sequence of strides,
//!
//! ```text
//! stage 15: 14 13 12 … 1 0   stage 16: 15 14 13 … 1 0   stage 17: 16 15 …
//! ```
//!
//! and a pass takes from it a run with no more than t different bits. That its run may end one stage
//! and begin the next saves a fifth of the passes: a tile of the lowest bits and of some high ones performs
//! `… 3 2 1 0 | 17 16 15 14 …`. Of all ways to cut the sequence the cheapest is taken. The lowest few bits
//! are always among a tile's, so that memory is touched in runs.

use super::Tuning;
use crate::device::Limits;
use crate::error::Error;
use crate::kernels::{Dispatch, Fused, FusedWork, Shape};
use crate::network::stages;

/// Tiles sorted in registers, then the passes of all larger stages.
pub(super) fn plan(n: u32, shape: Shape, limits: &Limits, tuning: &Tuning) -> Result<Vec<Dispatch>, Error> {
    let sorted_log2 = tuning.sort_tile().log2();
    let stages_of_all = stages(n).max(sorted_log2);
    // However small regions are asked for, a list of them must fit in memory.
    let least_log2 = stages_of_all.saturating_sub(MOST_REGIONS_LOG2).max(sorted_log2);
    let region_log2 = tuning.region_log2.clamp(least_log2, stages_of_all);
    // Of 2^32 elements where there is only one.
    let region = 1_u64 << region_log2;
    let regions: Vec<(u32, u32)> = (0..u64::from(n).div_ceil(region))
        .map(|number| (number * region, (u64::from(n) - number * region).min(region)))
        .map(|(first, count)| (first as u32, count as u32))
        .collect();

    let mut dispatches = Vec::new();
    let mut add = |work, (first, count): (u32, u32)| -> Result<(), Error> {
        let tile = if work == FusedWork::Sort { tuning.sort_tile() } else { tuning.tile() };
        let kernel = Fused { tile, work };
        // Some passes find nothing to compare in a part of a block.
        if kernel.tiles(count) > 0 {
            dispatches.push(Dispatch::new(kernel, first, count, shape, limits)?);
        }
        Ok(())
    };
    for &region in &regions {
        add(FusedWork::Sort, region)?;
        // The last region may be smaller: stages of larger blocks would find nothing to do there.
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

/// The passes of the stages after that of blocks of 2^`sorted_log2`, each with the size of the blocks
/// that no comparison leaves, as a power of two: of all ways to cut them the one that is expected to
/// take the least time.
fn passes(sorted_log2: u32, stages: u32, tuning: &Tuning) -> Vec<(FusedWork, u32)> {
    let (tile, tile_log2) = (tuning.tile(), tuning.tile().log2());
    let run_log2 = tuning.run_log2.min(tile_log2 - 1);
    if sorted_log2 >= stages {
        return Vec::new();
    }
    // By stage and by the number of its steps that remain: the least cost from there on, the pass to begin
    // with, and what remains after it.
    let mut best: Vec<Vec<(u32, Option<Choice>)>> = vec![Vec::new(); stages as usize + 2];
    best[stages as usize + 1] = vec![(0, None); stages as usize + 2];
    for stage in (sorted_log2 + 1..=stages).rev() {
        // A stage's end is the next one's beginning.
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

/// Regions, at most, as a power of two.
const MOST_REGIONS_LOG2: u32 = 12;

/// A pass; and what remains after it: a stage, and how many of its steps.
type Choice = (FusedWork, (u32, u32));

/// What a pass costs in addition to its layouts, in layouts.
const PASS_COST: u32 = 8;
