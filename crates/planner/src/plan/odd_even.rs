//! Odd-even transposition (brick) sort: n phases that compare neighbours, alternating between odd
//! and even first positions (N. Haberman, "Parallel neighbor-sort", 1972).
//!
//! ```text
//! even phase   0-1 2-3 4-5 6
//! odd phase    0 1-2 3-4 5-6
//! ```

use super::Round;
use crate::error::Error;
use crate::kernels::{Dispatch, Fused, FusedTile, FusedWork, Shape};
use crate::limits::Limits;
use crate::network::Step;

/// One dispatch per phase: a phase reads what neighbouring workgroups wrote in the phase before,
/// and only the end of a dispatch orders workgroups.
pub(super) fn naive(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let phase = |odd| Dispatch::new(Step::Phase { odd }, 0, n, shape, limits);
    let mut rounds = vec![Round { dispatches: vec![phase(false)?, phase(true)?], times: u64::from(n / 2) }];
    if n % 2 == 1 {
        rounds.push(Round { dispatches: vec![phase(false)?], times: 1 });
    }
    Ok(rounds)
}

/// The same sort on blocks: each phase merges every block with its left or right neighbour. The two
/// form a tile, and tiles start at 0 and at half a tile alternately; one workgroup processes a
/// tile, so workgroups are independent within a phase. As many phases as blocks sort them (G.
/// Baudet, D. Stevenson, "Optimal sorting algorithms for parallel computers", 1978).
pub(super) fn block(n: u32, tile: FusedTile, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let half = 1 << (tile.log2() - 1);
    let dispatch = |work, first| Dispatch::new(Fused { tile, work }, first, n - first, shape, limits);
    // The first phase sorts the blocks too.
    let mut rounds = vec![Round { dispatches: vec![dispatch(FusedWork::Sort, 0)?], times: 1 }];
    let more = u64::from(n.div_ceil(half)).saturating_sub(1);
    if more > 0 {
        let phases = vec![dispatch(FusedWork::Halves, half)?, dispatch(FusedWork::Halves, 0)?];
        rounds.push(Round { dispatches: phases.clone(), times: more / 2 });
        rounds.push(Round { dispatches: phases[..(more % 2) as usize].to_vec(), times: 1 });
    }
    Ok(rounds)
}
