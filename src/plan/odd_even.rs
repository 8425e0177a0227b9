//! Odd-even transposition (brick) sort: n phases that compare neighbours, starting at odd and at even
//! positions in turn (N. Haberman, "Parallel neighbor-sort", 1972).

use super::{Limits, Round, Shape, Step, step_dispatch};
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
