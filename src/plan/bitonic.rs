//! The bitonic network in its mirrored form (K. E. Batcher, "Sorting networks and their applications",
//! 1968), for any n and in place.
//!
//! Stage k makes sorted blocks of 2^k from sorted halves. Its first step compares each half's elements
//! with the other half's in mirrored order, so the second half need not be reversed and every
//! comparison is ascending; the steps after it halve the stride down to 1:
//!
//! ```text
//! stage 3   0 1 2 3 4 5 6 7
//! mirror    └─┼─┼─┼─┼─┼─┼─┘  0-7 1-6 2-5 3-4
//! stride 2  └───┘ ·  └───┘ · 0-2 1-3 4-6 5-7
//! stride 1  └─┘ └─┘ └─┘ └─┘  0-1 2-3 4-5 6-7
//! ```

use std::ops::Range;

use super::{Dispatch, FusedTile, Grid, Kernel, Limits, Round, Shape, Step, Work, step_dispatch};
use crate::error::Error;

/// The steps of the stage that makes sorted blocks of 2^`block_log2`.
pub(super) fn stage(block_log2: u32) -> impl Iterator<Item = Step> {
    std::iter::once(Step::Mirror { block_log2 }).chain(strides(0..block_log2 - 1))
}

/// The steps of these strides, as powers of two, the largest first.
pub(super) fn strides(log2: Range<u32>) -> impl Iterator<Item = Step> {
    log2.rev().map(|stride_log2| Step::Stride { stride_log2 })
}

/// The number of stages that sort `n` elements.
fn stages(n: u32) -> u32 {
    u64::from(n).next_power_of_two().trailing_zeros()
}

/// One dispatch for each step.
pub(super) fn naive(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let steps = (1..=stages(n)).flat_map(stage);
    let dispatches = steps.map(|step| step_dispatch(step, n, shape, limits)).collect::<Result<_, _>>()?;
    Ok(vec![Round { dispatches, times: 1 }])
}

/// Tiles sorted in workgroup memory; then, for each larger stage, one dispatch for each step that
/// leaves a tile and one for all that remain inside.
pub(super) fn local_global(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let stages = stages(n);
    let tile_log2 = tile_log2(shape, limits).min(stages);
    let tiles = |work| tile_dispatch(work, tile_log2, n, shape, limits);

    let mut dispatches = vec![tiles(Work::TileSort { tile_log2 })?];
    for block_log2 in tile_log2 + 1..=stages {
        for step in stage(block_log2).take((block_log2 - tile_log2) as usize) {
            dispatches.push(step_dispatch(step, n, shape, limits)?);
        }
        dispatches.push(tiles(Work::TileMerge { tile_log2 })?);
    }
    Ok(vec![Round { dispatches, times: 1 }])
}

/// The largest tile that workgroup memory holds, up to 4096 elements: beyond, too few workgroups share
/// a core to hide the latency of its memory.
fn tile_log2(shape: Shape, limits: &Limits) -> u32 {
    (limits.workgroup_bytes / shape.bytes()).clamp(2, 4096).ilog2()
}

fn tile_dispatch(
    work: Work,
    tile_log2: u32,
    n: u32,
    shape: Shape,
    limits: &Limits,
) -> Result<Dispatch, Error> {
    // A comparison to an invocation is the most that can be of use.
    let workgroup_size = limits.invocations.min(512).min(1 << (tile_log2 - 1));
    Ok(Dispatch {
        work,
        kernel: Kernel::Local,
        first: 0,
        count: n,
        workgroup_size,
        grid: Grid::new(u64::from(n).div_ceil(1 << tile_log2), limits)?,
        bytes_moved: u64::from(n) * 2 * shape.bytes(),
    })
}

/// What the `fused` variant chooses by size, shape and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How a tile is shared out that is sorted.
    pub sort_tile: FusedTile,
    /// How a tile is shared out in all later passes; no larger than that.
    pub tile: FusedTile,
    /// The most steps that one dispatch does on strides larger than a tile. Each further one halves the
    /// runs in which memory is touched: 2^(tile − steps) elements.
    pub most_strides: u32,
    /// Elements in a region, as a power of two: all dispatches that stay within a region are done on one
    /// region before the next, so that they find it in the device's cache.
    pub region_log2: u32,
}

impl Tuning {
    /// What is best for `n` elements of this shape within these limits, as far as it was measured.
    #[must_use]
    pub fn new(n: u32, shape: Shape, limits: &Limits) -> Self {
        let tile = |elements_log2| {
            let mut tile = FusedTile { invocations_log2: 8, elements_log2 };
            let fits = |tile: FusedTile| {
                tile.workgroup_bytes() <= limits.workgroup_bytes
                    && 1 << tile.invocations_log2 <= limits.invocations
            };
            while !fits(tile) && tile.invocations_log2 > 0 {
                tile.invocations_log2 -= 1;
            }
            while !fits(tile) && tile.elements_log2 > 1 {
                tile.elements_log2 -= 1;
            }
            // A tile that is larger than the input is of no use, nor are fewer invocations than a subgroup's.
            while tile.invocations_log2 > 5 && tile.log2() > stages(n) {
                tile.invocations_log2 -= 1;
            }
            tile
        };
        // Measured on an H100. More elements in an invocation's registers mean fewer passes, and fewer
        // invocations to a core. With few tiles to a core the passes weigh more: then keys of one word are
        // sorted in tiles of twice the size. With fewer tiles than cores it is the time of one tile that
        // counts: then elements of several words do better in smaller ones.
        let stages = stages(n);
        let (sort_elements_log2, elements_log2) = match shape.words() {
            1 if (17..22).contains(&stages) => (5, 4),
            1 => (4, 4),
            _ if stages < 19 => (3, 3),
            _ => (4, 4),
        };
        let (larger, tile) = (tile(sort_elements_log2), tile(elements_log2));
        // Where workgroup memory does not allow it, the larger one is none.
        let sort_tile = if larger.log2() > tile.log2() { larger } else { tile };
        let run_log2 = if shape.key_words == 1 { 4 } else { 3 };
        let region_log2 = (REGION_BYTES / shape.bytes()).ilog2();
        Self { sort_tile, tile, most_strides: tile.log2().saturating_sub(run_log2).max(1), region_log2 }
    }
}

/// A region of this size stays in the second-level cache of a large GPU (an H100's holds 50 MiB; passes
/// over 32 MiB took 0.7 of their time by element over 64 MiB). On a GPU with a smaller one nothing is
/// lost but the time of more dispatches.
const REGION_BYTES: u64 = 32 << 20;

/// Tiles sorted in registers; then, for each larger stage, the steps that leave a tile, several to a
/// dispatch, and one dispatch for all that remain inside.
pub(super) fn fused(n: u32, shape: Shape, limits: &Limits, tuning: &Tuning) -> Result<Vec<Round>, Error> {
    for tile in [tuning.sort_tile, tuning.tile] {
        let invocations = 1 << tile.invocations_log2;
        for (what, needed, limit) in [
            ("bytes of workgroup memory", tile.workgroup_bytes(), limits.workgroup_bytes),
            ("invocations in a workgroup", invocations, limits.invocations.into()),
        ] {
            if needed > limit {
                return Err(Error::limit(what, needed, limit));
            }
        }
    }
    let sorted_log2 = tuning.sort_tile.log2();
    let stages = stages(n);
    let region_log2 = tuning.region_log2.clamp(sorted_log2, stages.max(sorted_log2));
    let regions = (0..n).step_by(1 << region_log2).map(|first| (first, (n - first).min(1 << region_log2)));
    let regions: Vec<(u32, u32)> = regions.collect();

    let mut dispatches = Vec::new();
    let mut add = |works: &[Work], (first, count): (u32, u32)| -> Result<(), Error> {
        for &work in works {
            let tile = if matches!(work, Work::TileSort { .. }) { tuning.sort_tile } else { tuning.tile };
            dispatches.extend(fused_dispatch(work, tile, first, count, shape, limits)?);
        }
        Ok(())
    };
    let mut within: Vec<Work> = vec![Work::TileSort { tile_log2: sorted_log2 }];
    within.extend((sorted_log2 + 1..=region_log2).flat_map(|block_log2| stage_works(block_log2, tuning)));
    for &region in &regions {
        add(&within, region)?;
    }
    for block_log2 in region_log2 + 1..=stages {
        let works = stage_works(block_log2, tuning);
        let (across, within) =
            works.split_at(works.iter().position(|work| reach_log2(*work) <= region_log2).unwrap_or(0));
        add(across, (0, n))?;
        for &region in &regions {
            add(within, region)?;
        }
    }
    Ok(vec![Round { dispatches, times: 1 }])
}

/// The dispatches of a stage whose blocks are larger than a tile.
fn stage_works(block_log2: u32, tuning: &Tuning) -> Vec<Work> {
    let tile = tuning.tile;
    // The kernels change layouts once, so they do the steps of two layouts' registers.
    let most_strides = tuning.most_strides.min(2 * tile.elements_log2);
    // Shared out evenly: an uneven share has runs shorter than they need be.
    let parts = (block_log2 - tile.log2()).div_ceil(most_strides);
    let mut high = block_log2;
    let mut works = Vec::new();
    for part in 0..parts {
        let count = (high - tile.log2()).div_ceil(parts - part);
        high -= count;
        works.push(Work::Strides { low: high, count, mirrored: part == 0 });
    }
    works.push(Work::TileMerge { tile_log2: tile.log2() });
    works
}

/// The size of the blocks that no comparison of this work leaves, as a power of two.
fn reach_log2(work: Work) -> u32 {
    match work {
        Work::Strides { low, count, .. } => low + count,
        Work::TileSort { tile_log2 } | Work::TileMerge { tile_log2 } | Work::TileHalves { tile_log2 } => {
            tile_log2
        }
        _ => u32::MAX,
    }
}

/// A dispatch on `count` elements from `first` on; `None` if there is nothing to compare.
pub(super) fn fused_dispatch(
    work: Work,
    tile: FusedTile,
    first: u32,
    count: u32,
    shape: Shape,
    limits: &Limits,
) -> Result<Option<Dispatch>, Error> {
    let n = u64::from(count);
    let tiles = match work {
        Work::Strides { low, count, mirrored } => {
            let block = 1 << (low + count);
            // In the last block there is something to do if it reaches past the first half, or stride.
            let reach = if mirrored { block / 2 } else { 1 << low };
            let blocks = n / block + u64::from(n % block > reach);
            blocks << (low + count - tile.log2())
        }
        _ => n.div_ceil(1 << tile.log2()),
    };
    if tiles == 0 {
        return Ok(None);
    }
    Ok(Some(Dispatch {
        work,
        kernel: Kernel::Fused(tile),
        first,
        count,
        workgroup_size: 1 << tile.invocations_log2,
        grid: Grid::new(tiles, limits)?,
        bytes_moved: n.min(tiles << tile.log2()) * 2 * shape.bytes(),
    }))
}
