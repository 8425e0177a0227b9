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

use super::{Dispatch, Grid, Kernel, Limits, Round, Shape, Step, Work, step_dispatch};
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
pub(super) fn stages(n: u32) -> u32 {
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
