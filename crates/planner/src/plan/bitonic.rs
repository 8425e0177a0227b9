//! The bitonic network in its mirrored form (K. E. Batcher, "Sorting networks and their
//! applications", 1968), for any n and in place.
//!
//! Stage k makes sorted blocks of 2^k from sorted halves. Its first step compares each half's
//! elements with the other half's in mirrored order, so the second half need not be reversed and
//! every comparison is ascending; the later steps halve the stride down to 1:
//!
//! ```text
//! stage 3   0 1 2 3 4 5 6 7
//! mirror    └─┼─┼─┼─┼─┼─┼─┘  0-7 1-6 2-5 3-4
//! stride 2  └───┘ ·  └───┘ · 0-2 1-3 4-6 5-7
//! stride 1  └─┘ └─┘ └─┘ └─┘  0-1 2-3 4-5 6-7
//! ```

use super::PlanElements;
use crate::error::Error;
use crate::kernels::{Dispatch, Local};
use crate::network::{stage, stages};

/// Returns one dispatch per step.
pub(super) fn naive(elements: PlanElements) -> Result<Vec<Dispatch>, Error> {
    (1..=stages(elements.n)).flat_map(stage).map(|step| elements.dispatch(step)).collect()
}

/// Sorts tiles in workgroup memory; then, for each larger stage, uses one dispatch per step that leaves
/// a tile and one for all remaining steps.
pub(super) fn local_global(elements: PlanElements) -> Result<Vec<Dispatch>, Error> {
    let stages = stages(elements.n);
    // The largest tile that workgroup memory holds, up to 4096 elements: with larger tiles, too few workgroups
    // share a core to hide the latency of its memory.
    let largest = (elements.limits.workgroup_bytes / elements.shape.bytes()).clamp(2, 4096).ilog2();
    let tile_log2 = largest.min(stages);

    let mut dispatches = vec![elements.dispatch(Local { tile_log2, sorts: true })?];
    for block_log2 in tile_log2 + 1..=stages {
        for step in stage(block_log2).take((block_log2 - tile_log2) as usize) {
            dispatches.push(elements.dispatch(step)?);
        }
        dispatches.push(elements.dispatch(Local { tile_log2, sorts: false })?);
    }
    Ok(dispatches)
}
