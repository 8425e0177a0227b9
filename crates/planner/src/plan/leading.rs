//! Radix sort by the leading digits alone, and a local finish.
//!
//! Of keys of 64 bits that are like random ones a few leading digits tell nearly all apart. Passes by
//! those leave elements nearly in order: only where keys have the same prefix they may be out of it, and
//! those are beside each other.
//!
//! ```text
//! [clear] [sample] [choose] [histogram] [sweep] [sweep] [sweep] …  [cut] [finish]   [runs]
//!          how many keys     of leading digits alone               windows between  too long for windows:
//!          begin alike                                             prefixes         mostly none
//! ```
//!
//! There are as many sweeps as a key has digits, but each goes by the next of the digits that were
//! chosen and vary, and is idle if there is none. If their number is odd, elements come back to their
//! own array by the finish; else it works in place.
//!
//! # The choice
//!
//! Workgroups look at 512 keys each, and count the pairs that begin with the same digits. What they
//! look at is drawn by a number that nobody knows before, so no input can be made to look otherwise. As
//! many digits are taken as leave a key with 24 mates, on the average. If that spares fewer than two
//! passes, all digits are taken: keys of low entropy are sorted as by `onesweep`.
//!
//! # What the sample does not see
//!
//! The result never depends on the sample. A window ends between two prefixes, and its workgroup sorts
//! all of it by whole keys, however long the runs in it are. A run of equal prefixes that goes beyond is
//! sorted by the other digits, by a workgroup of its own. That is slow, and rare: where keys have few
//! mates on the average, few are in long runs, and those are no longer than a small multiple of the root
//! of their number. Of 2^26 keys a run of 60,000 is seen.
//!
//! # The finish
//!
//! An invocation sorts eight elements in registers. Then halves of its eight are merged with their
//! neighbours, in turn, until nothing moves; halves in order cost a comparison. After twelve rounds runs
//! are merged by twos instead. Equal keys are ordered by their places in the window, so the sort is
//! stable.
//!
//! # Measured
//!
//! See `benches/results/2026-11-26-h200-leading.md`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use super::RadixTuning;
use crate::error::Error;
use crate::kernels::{Dispatch, Radix, RadixWork, Scope, Shape};
use crate::limits::Limits;

/// By what samples are drawn: another number in each process. Never 0, which would be no chunk of
/// tiles to what takes it for one.
pub fn seed() -> u32 {
    static SEED: OnceLock<u32> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().build_hasher().finish() as u32 | 1)
}

/// The passes. The first that runs writes `iota` as payload, or reads the payload.
pub(super) fn plan(
    n: u32,
    shape: Shape,
    limits: &Limits,
    tuning: &RadixTuning,
    iota: bool,
) -> Result<Vec<Dispatch>, Error> {
    let digits = Radix::digits_in(shape);
    let window = tuning.window(shape, limits);
    let pass = |work, digit| {
        let (chunk, drops_keys, scope) = (seed(), false, Scope::Leading(tuning.leading));
        // Half of the digits are enough for most keys. Where workgroups take numbers anyway, one kernel is
        // enough.
        let is_late = 2 * digit >= digits || !limits.fifo_dispatch;
        let is_rare = matches!(work, RadixWork::Sweep(_)) && is_late;
        let radix = Radix { tile: tuning.tile, work, digit, digits, chunk, iota, drops_keys, scope, is_rare };
        Dispatch::new(radix, 0, n, shape, limits)
    };
    let mut passes = vec![pass(RadixWork::Clear, 0)?, pass(RadixWork::Sample, 0)?];
    passes.extend([pass(RadixWork::Choose, 0)?, pass(RadixWork::Histogram, 0)?]);
    for digit in 0..digits {
        passes.push(pass(RadixWork::Sweep(tuning.stalled), digit)?);
    }
    passes.extend([pass(RadixWork::Cut(window), 0)?, pass(RadixWork::Finish(window), 0)?]);
    passes.push(pass(RadixWork::Runs(window), 0)?);
    Ok(passes)
}
