//! Merges consecutive sorted runs two by two, from one array to the other and back:
//!
//! ```text
//! runs      a │ b │ c │ d │ e
//! level 1     ab  │  cd   │ e      each merge is a dispatch; a run without partner is copied
//! level 2       abcd      │ e
//! level 3          abcde
//! ```
//!
//! A merge of two runs reads and writes each element once, so a merge of several runs reads and writes
//! each element once per level.

use super::PlanElements;
use crate::error::Error;
use crate::kernels::{Dispatch, Merge, MergeTile};

/// Returns the passes that merge runs of these lengths.
pub(super) fn plan(elements: PlanElements, lengths: &[u32]) -> Result<Vec<Dispatch>, Error> {
    let tile = MergeTile::measured(elements.shape, elements.limits)?;
    let mut lengths: Vec<u32> = lengths.iter().copied().filter(|&length| length > 0).collect();
    let mut dispatches = Vec::new();
    while lengths.len() > 1 {
        let pairs = lengths.chunks(2).len();
        let mut first = 0;
        let mut merged = Vec::with_capacity(pairs);
        for (number, pair) in (1..).zip(lengths.chunks(2)) {
            let (middle, count) = (pair[0], pair.iter().sum());
            let merge = Merge { tile, middle, stays: number < pairs };
            dispatches.push(elements.dispatch_on(first, count, merge)?);
            first += count;
            merged.push(count);
        }
        lengths = merged;
    }
    Ok(dispatches)
}
