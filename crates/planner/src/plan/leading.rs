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

use super::{Elements, RadixTuning};
use crate::error::Error;
use crate::kernels::{Dispatch, Radix, RadixWork, Scope};

/// By what samples are drawn: another number in each process. Never 0, which would be no chunk of
/// tiles to what takes it for one.
pub fn seed() -> u32 {
    static SEED: OnceLock<u32> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().build_hasher().finish() as u32 | 1)
}

/// The passes. The first that runs writes `iota` as payload, or reads the payload.
pub(super) fn plan(elements: Elements, tuning: &RadixTuning, iota: bool) -> Result<Vec<Dispatch>, Error> {
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
