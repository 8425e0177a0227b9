//! Radix sort, least significant digit first. Each pass distributes elements to the other array by the value of a
//! digit of eight bits; elements with equal values keep their order. After the last digit, the elements are sorted,
//! and equal keys keep their order.
//!
//! ```text
//! onesweep      [clear] [histogram] [sweep] [sweep] [sweep] [sweep]
//! reduce-scan   [clear] [count] [scan] [scatter] [count] [scan] [scatter] …
//! ```
//!
//! The place of an element is the sum of three numbers of elements: the elements with a lower value of the digit,
//! the elements with the same value in earlier tiles, and the earlier elements with the same value in its own tile.
//! The first number comes from a histogram of the whole array; the third is the element's rank, found in registers
//! and workgroup memory. The variants differ in the second number.
//!
//! If one workgroup has room for all elements, it sorts them by itself, in registers and workgroup memory, in
//! a sort that a caller records.
//!
//! # Counts of earlier tiles
//!
//! `reduce-scan` counts each tile before it distributes any tile: a pass reads the elements twice.
//! Workgroups do not wait for each other, so this variant runs on every device.
//!
//! `onesweep` (A. Adinets, D. Merrill, "Onesweep: a faster least significant digit radix sort for
//! GPUs", 2022) reads elements once. A tile publishes its counts, and looks back at the counts of earlier tiles, up
//! to a tile with published sums: the counts of all tiles up to its own end. Then it publishes its own sums.
//!
//! ```text
//! tile      0        1        2        3        4 looks back
//! has       sums  ◂  sums  ◂  counts ◂ counts ◂ …
//! ```
//!
//! No API promises that an earlier tile runs while this tile waits. So waiting is bounded: after polling one row
//! a number of times, an invocation counts its digit in the stalled tile itself, and publishes the count. Each
//! sort therefore ends, with an equal result, for any order of workgroups. If workgroups do not start in order
//! (llvmpipe gives each thread a range of workgroups), each workgroup takes the next number when it starts.
//! Elsewhere, numbers would only cost time.
//!
//! # Digits without work
//!
//! Counting also finds the bits that vary between keys. A digit without varying bits has one value in all keys. The
//! device skips two neighbouring digits of this kind in a word, since two passes bring elements back to their array,
//! and copies elements for a single such digit. The host never reads back. Keys that use 16 of 32 bits take half the
//! passes; equal keys are counted once and stay.
//!
//! The first pass that runs numbers the positions and reads none. If the caller wants positions alone, the last pass
//! writes no keys.
//!
//! # Ranking
//!
//! Lanes of a subgroup hold consecutive elements, item by item. They find their peers, the lanes with the same
//! digit, by one ballot for each bit; the rank is the number of peers in lower lanes, plus the subgroup's counter of
//! earlier elements. Kernels use subgroup and lane, never the local index, since WGSL does not relate them.
//! The kernels serve subgroups of 4 to 128 lanes. Small subgroups come with small workgroups: the counters of
//! eight subgroups fit 16 KiB, with nothing beside them.
//!
//! Workgroup memory decides the speed: the tile lies where the counters were, and 24 KiB let four
//! workgroups share a core.
//!
//! # Measured
//!
//! On an H200, u32, milliseconds at 2^26, each with and without one change; CUB's radix sort took
//! 1.41 in the same runs. The expected gain is the gain of a prototype, or of a kernel without the
//! stage; a dash stands for no guess.
//!
//! | | expected | without | with |
//! |---|---|---|---|
//! | 23 items, not 22 (exactly 24 KiB) | −3 % | 1.617 | 1.584 |
//! | a stalled tile counted by one invocation, not by the workgroup: no barriers for the case | −2.6 % | 1.584 | 1.535 |
//! | (with it) passes left out in neighbouring pairs alone: loads and stores of one array each | – | | |
//! | every second item matched by masks in workgroup memory | −2 to −4 % | 1.535 | 1.490 |
//! | each subgroup clears its own counters, without a barrier of the workgroup | – | 1.490 | 1.484 |
//! | subgroup barriers, not shuffles | −5 % | 1.716 | 1.584 |
//! | a digit with one value in all keys is copied by eight loads at a time, not one (keys of 16 bits, bytes 0 and 2) | −30 % | 1.793 | 1.135 |
//! | u64: 23 items in two rounds through the same memory, not 15 | – | 4.56 | 3.70 |
//!
//! Tried and dropped: an unordered first pass (−1 % alone, nothing beside masks); 4, 6, 12, 16, 24,
//! 32 rows of look-back at a time (8 is best); rows asked for before the tile is put in order (+4
//! %); a shorter text for adding rows (+7 %); keys loaded before the pass knows that it runs
//! (−0.5 %, but skipped passes would read all elements); 512 invocations (+12 % and more);
//! payloads loaded after ranking (+2 %); histograms by loads of four words (−2 % of 9 %); stores
//! without a test for whole tiles (+6 %, for no reason that shows in the text); one barrier less
//! for two items, and status words cleared by the histogram alone (nothing); stores guarded by the
//! place itself, polling by loads (nothing); copies from the registers that ranking loads (1.061
//! for 1.135, but `reduce-scan` for u64 falls from 4.37 to 5.70); a third, two fifths, three
//! fifths, two thirds, three quarters or all of the items matched by masks (+0.2, +0.3, +1, +1.3,
//! +2, +5 %: half is best); counters of the histogram two, four or eight times over, for groups of
//! lanes (−0.4 % at best, with 1,024 invocations and 32 KiB; else up to +3 %), and packed so that
//! no two lanes share a bank (expected −40 % of the histogram, +11 % at best: not banks bound it,
//! but the number of atomic additions); the histogram from the end on, so that the cache has the
//! beginning for the first pass (nothing); loads of four keys in the first pass, which may read them in any order
//! (+2 %); workgroups that take one tile after another (+3 % with two for a core; with more, tiles wait for
//! workgroups not yet started: seconds).
//!
//! A pass of `onesweep` takes 0.338 ms, including 0.032 ms for the look-back: a pass of `reduce-scan` that distributes
//! takes 0.306, and counting before it 0.08. The histogram of four digits takes 0.128,
//! and reading the keys alone 0.075.

use super::{PlanElements, RadixTuning, Variant, leading};
use crate::error::Error;
use crate::kernels::{Dispatch, Radix, RadixWork};

/// Returns the passes for the lowest `digits`. The first that runs writes `iota` as payload, or reads the payload.
pub(super) fn plan(
    elements: PlanElements,
    variant: Variant,
    tuning: &RadixTuning,
    digits: u32,
    iota: bool,
) -> Result<Vec<Dispatch>, Error> {
    if elements.n < 2 {
        return Ok(Vec::new());
    }
    if variant == Variant::Leading {
        return leading::plan(elements, tuning, iota);
    }
    let reduces = variant == Variant::ReduceScan;
    let chunk = if reduces { tuning.chunk(elements.n) } else { 0 };
    let pass = |work, digit| {
        elements.dispatch(Radix { digit, chunk, ..Radix::new(tuning.tile, work, digits, iota) })
    };
    let mut dispatches = vec![pass(RadixWork::Clear, 0)?];
    if !reduces {
        dispatches.push(pass(RadixWork::Histogram, 0)?);
    }
    for digit in 0..digits {
        let first = digit == 0;
        let works = if reduces {
            &[RadixWork::Count { first }, RadixWork::Scan, RadixWork::Scatter][..]
        } else {
            &[RadixWork::Sweep(tuning.stalled)]
        };
        for &work in works {
            dispatches.push(pass(work, digit)?);
        }
    }
    Ok(dispatches)
}
