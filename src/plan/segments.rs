//! Sorts of segments, each by itself, all in one go. Where they are the device alone may know: passes before these find out.
//!
//! ```text
//! length      2 … 4    … 16    … 64    …  …    … 8,192    longer
//!             [batch] [batch] [batch]         [batch]     [histogram] [sweep] [sweep] …
//! ```
//!
//! Short segments are sorted in tiles, those of one class of lengths in one dispatch, as many at a time as a tile holds. Longer ones
//! go through the passes of `onesweep` together: a tile is of one segment, has that one's counts, and looks back no further than
//! to its first tile. So a pass over all of them takes as long as one over an array of their size, however many they are.
//!
//! # Measured
//!
//! See `benches/results/2026-11-23-h200-recorded.md`.

use super::{RadixTuning, tuning};
use crate::device::Limits;
use crate::error::Error;
use crate::kernels::{Batch, Class, Dispatch, Radix, RadixWork, Shape};

/// Lengths of the longest segments of each class but the last, as powers of two.
const CLASSES: [u32; 7] = [2, 4, 6, 8, 10, 11, 12];

/// The classes of lengths that are sorted in tiles, from the shortest. Segments of one element are of none.
pub(super) fn classes(limits: &Limits) -> Vec<Class> {
    let last = tuning::longest_row(limits);
    let lengths = CLASSES.into_iter().filter(|&log2| 1 << log2 < last).chain(last.checked_ilog2());
    let mut beyond = 1;
    let class = |(number, log2): (u32, u32)| {
        let shorter = std::mem::replace(&mut beyond, 1 << log2);
        Class { number, beyond: shorter, log2 }
    };
    (0..).zip(lengths).map(class).collect()
}

/// The passes for segments in `n` elements; only those for long ones if that is what all are. Positions are numbered in each
/// segment, or words moved.
pub(super) fn plan(
    n: u32,
    shape: Shape,
    limits: &Limits,
    tuning: &RadixTuning,
    digits: u32,
    (numbers, are_long): (bool, bool),
) -> Result<Vec<Dispatch>, Error> {
    let mut dispatches = Vec::new();
    for class in classes(limits).into_iter().filter(|class| !are_long && class.most(n) > 0) {
        let batch = Batch::listed(tuning::row_tile(1 << class.log2, limits)?, class)?;
        let batch = if numbers { batch } else { batch.carrying() };
        dispatches.push(Dispatch::new(batch, 0, n, shape, limits)?);
    }
    let longest = tuning::longest_row(limits);
    if n > longest {
        let pass = |work, digit| {
            let (chunk, drops_keys, beyond) = (0, false, Some(longest));
            let radix = Radix { tile: tuning.tile, work, digit, digits, chunk, numbers, drops_keys, beyond };
            Dispatch::new(radix, 0, n, shape, limits)
        };
        dispatches.push(pass(RadixWork::Histogram, 0)?);
        for digit in 0..digits {
            dispatches.push(pass(RadixWork::Sweep(tuning.silence), digit)?);
        }
    }
    Ok(dispatches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_of_one_class_or_too_long() {
        for workgroup_bytes in [16 << 10, 32 << 10, 48 << 10] {
            let limits = Limits { workgroup_bytes, ..Limits::WEBGPU };
            let longest = tuning::longest_row(&limits);
            assert!(longest >= 1024);
            let classes = classes(&limits);
            for length in 2..=longest {
                let is_of = |class: &&Class| class.beyond < length && length <= 1 << class.log2;
                assert_eq!(classes.iter().filter(is_of).count(), 1, "{length}");
            }
            assert!(classes.iter().all(|class| 1 << class.log2 <= longest));
            // Lists have room in an array of as many words as there are elements.
            for n in [0, 1, 2, 3, 4, 5, 17, 1000, 1 << 20] {
                assert!(classes.iter().map(|class| class.most(n)).sum::<u32>() <= n);
            }
        }
    }
}
