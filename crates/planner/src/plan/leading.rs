//! Radix sort by the leading digits alone, and a local finish.
//!
//! A few leading digits tell nearly all random keys of 64 bits apart. Passes by these digits leave elements nearly
//! in order: only elements whose keys share a prefix may be out of order, and they are neighbours.
//!
//! ```text
//! [clear] [sample] [choose] [histogram] [sweep] [sweep] [sweep] …  [cut] [finish]   [runs]
//!          keys with equal   of leading digits alone               windows between  too long for windows:
//!          beginnings                                              prefixes         rare
//! ```
//!
//! A plan has a sweep for each digit of a key. Each sweep sorts by the next chosen digit that varies, and is idle
//! without such a digit. After an odd number of sweeps the finish brings elements back to their own array;
//! otherwise the finish works in place.
//!
//! # The choice
//!
//! Each workgroup samples 512 keys, and counts the pairs that begin with equal digits. A number that nobody knows
//! in advance draws the samples, so that no input can mislead them. The device takes the fewest leading digits that
//! leave a key with at most 24 mates on average. If this spares fewer than two passes, it takes all digits: keys of
//! low entropy are sorted as by `onesweep`.
//!
//! # What the sample does not see
//!
//! The result never depends on the sample. A window ends between two prefixes, and its workgroup sorts the window
//! by whole keys, whatever the lengths of its runs. A workgroup of its own sorts a longer run of equal prefixes by
//! the other digits. This is slow, and rare: if keys have few mates on average, few keys lie in long runs, and the
//! length of a run is at most a small multiple of the square root of the number of keys. The sample of 2^26 keys
//! shows a run of 60,000.
//!
//! # The finish
//!
//! An invocation sorts eight elements in registers. Then rounds merge halves of the eight with either neighbour
//! until no element moves; halves in order cost a comparison. After twelve rounds the workgroup merges pairs of runs
//! instead. Equal keys are ordered by their places in the window: the sort is stable.
//!
//! # Measured
//!
//! See `benches/results/2026-11-26-h200-leading.md`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use super::{PlanElements, RadixTuning};
use crate::error::Error;
use crate::kernels::{Dispatch, Radix, RadixWork, Scope};

/// Returns the number that draws the samples, different in each process. The number is never 0, because it takes
/// the place of the number of tiles in a chunk.
pub fn seed() -> u32 {
    static SEED: OnceLock<u32> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().build_hasher().finish() as u32 | 1)
}

/// Returns the passes. The first that runs writes `iota` as payload, or reads the payload.
pub(super) fn plan(elements: PlanElements, tuning: &RadixTuning, iota: bool) -> Result<Vec<Dispatch>, Error> {
    let digits = Radix::digits_in(elements.shape);
    let window = tuning.window(elements.shape, elements.limits);
    let pass = |(work, digit)| {
        // Half of the digits are enough for most keys. Where workgroups take numbers anyway, one kernel is
        // enough.
        let is_late = 2 * digit >= digits || !elements.limits.fifo_dispatch;
        elements.dispatch(Radix {
            digit,
            chunk: seed(),
            scope: Scope::Leading(tuning.leading),
            is_rare: matches!(work, RadixWork::Sweep(_)) && is_late,
            ..Radix::new(tuning.tile, work, digits, iota)
        })
    };
    let before = [RadixWork::Clear, RadixWork::Sample, RadixWork::Choose, RadixWork::Histogram];
    let sweeps = (0..digits).map(|digit| (RadixWork::Sweep(tuning.stalled), digit));
    let after = [RadixWork::Cut(window), RadixWork::Finish(window), RadixWork::Runs(window)];
    let once = |work| (work, 0);
    before.map(once).into_iter().chain(sweeps).chain(after.map(once)).map(pass).collect()
}
