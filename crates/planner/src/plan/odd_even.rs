//! Odd-even transposition (brick) sort: n phases that compare neighbours, alternating between odd
//! and even first positions (N. Haberman, "Parallel neighbor-sort", 1972).
//!
//! ```text
//! even phase   0-1 2-3 4-5 6
//! odd phase    0 1-2 3-4 5-6
//! ```

use super::{PlanElements, Round};
use crate::error::Error;
use crate::kernels::{Fused, FusedTile, FusedWork};
use crate::network::Step;

/// Returns one dispatch per phase: a phase reads what neighbouring workgroups wrote in the phase before,
/// and only the end of a dispatch orders workgroups.
pub(super) fn naive(elements: PlanElements) -> Result<Vec<Round>, Error> {
    let (even, odd) = (Step::Phase { odd: false }, Step::Phase { odd: true });
    let (even, odd) = (elements.dispatch(even)?, elements.dispatch(odd)?);
    let n = u64::from(elements.n);
    Ok(vec![
        Round { dispatches: vec![even, odd], times: n / 2 },
        Round { dispatches: vec![even], times: n % 2 },
    ])
}

/// Sorts blocks: each phase merges every block with its left or right neighbour. The two blocks form a
/// tile, and tiles start at 0 and at half a tile alternately. One workgroup processes a tile, so workgroups
/// are independent within a phase. One phase for each block suffices (G. Baudet,
/// D. Stevenson, "Optimal sorting algorithms for parallel computers", 1978).
pub(super) fn block(elements: PlanElements, tile: FusedTile) -> Result<Vec<Round>, Error> {
    let half = 1 << (tile.log2() - 1);
    let dispatch = |work, first| elements.dispatch_on(first, elements.n - first, Fused { tile, work });
    // The first phase sorts the blocks too.
    let mut rounds = vec![Round { dispatches: vec![dispatch(FusedWork::Sort, 0)?], times: 1 }];
    let more = u64::from(elements.n.div_ceil(half)).saturating_sub(1);
    if more > 0 {
        let phases = vec![dispatch(FusedWork::Halves, half)?, dispatch(FusedWork::Halves, 0)?];
        rounds.push(Round { dispatches: phases.clone(), times: more / 2 });
        rounds.push(Round { dispatches: phases[..(more % 2) as usize].to_vec(), times: 1 });
    }
    Ok(rounds)
}
