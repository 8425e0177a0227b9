//! Odd-even transposition (brick) sort: n phases that compare neighbours, starting at odd and at even
//! positions in turn (N. Haberman, "Parallel neighbor-sort", 1972).

use super::fused::{self, Tuning};
use super::{Limits, Round, Shape, Step, Work, step_dispatch};
use crate::error::Error;

/// One phase a dispatch: a phase reads what its neighbours' workgroups wrote in the phase before, and
/// nothing but the end of a dispatch orders workgroups.
pub(super) fn naive(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let phase = |odd| step_dispatch(Step::Phase { odd }, n, shape, limits);
    let mut rounds = vec![Round { dispatches: vec![phase(false)?, phase(true)?], times: u64::from(n / 2) }];
    if n % 2 == 1 {
        rounds.push(Round { dispatches: vec![phase(false)?], times: 1 });
    }
    Ok(rounds)
}

/// The same sort of blocks instead of elements: each phase merges every block with its left or its right
/// neighbour. The two make a tile, and tiles begin at 0 and at half a tile in turn; a tile is one
/// workgroup's, so workgroups need not see each other's work within a phase. As many phases as there are
/// blocks sort them (G. Baudet, D. Stevenson, "Optimal sorting algorithms for parallel computers", 1978).
pub(super) fn block(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let tile = Tuning::new(n, shape, limits).tile;
    let tile_log2 = tile.log2();
    let half = 1 << (tile_log2 - 1);
    let dispatch = |work, first| fused::dispatch(work, tile, first, n - first, shape, limits);
    // The first phase sorts the blocks too.
    let sort = dispatch(Work::TileSort { tile_log2 }, 0)?;
    let mut rounds = vec![Round { dispatches: sort.into_iter().collect(), times: 1 }];
    let more = u64::from(n.div_ceil(half)).saturating_sub(1);
    if more > 0 {
        let phases =
            [dispatch(Work::TileHalves { tile_log2 }, half)?, dispatch(Work::TileHalves { tile_log2 }, 0)?];
        let phases: Vec<_> = phases.into_iter().flatten().collect();
        rounds.push(Round { dispatches: phases.clone(), times: more / 2 });
        rounds.push(Round { dispatches: phases[..(more % 2) as usize].to_vec(), times: 1 });
    }
    Ok(rounds)
}
