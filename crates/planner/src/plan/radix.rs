//! Radix sort, least significant digit first: for each digit of eight bits, elements are
//! distributed to the other array by its value, those of equal values in order. After the last
//! digit they are sorted, and equal keys are in the order in which they came.
//!
//! ```text
//! onesweep      [clear] [histogram] [sweep] [sweep] [sweep] [sweep]
//! reduce-scan   [clear] [count] [scan] [scatter] [count] [scan] [scatter] …
//! ```
//!
//! The place of an element is the number of those with a lower value of the digit, of those with
//! the same value in earlier tiles, and of those before it in its own tile. The first comes from a
//! histogram of the whole array; the last is its rank, found in registers and workgroup memory. The
//! variants differ in the second.
//!
//! Where elements are no more than one workgroup has room for, it sorts all of them by itself, in
//! registers and workgroup memory, if a caller records the sort.
//!
//! # What is in earlier tiles
//!
//! `reduce-scan` counts each tile before it distributes any: a pass reads the elements twice.
//! Workgroups do not wait for each other, so it runs on every device.
//!
//! `onesweep` (A. Adinets, D. Merrill, "Onesweep: a faster least significant digit radix sort for
//! GPUs", 2022) reads them once. A tile publishes its counts as soon as it has them, and looks back
//! at those of earlier tiles, up to one that has published the sums up to its own end. Then it
//! publishes such sums itself.
//!
//! ```text
//! tile      0        1        2        3        4 looks back
//! has       sums  ◂  sums  ◂  counts ◂ counts ◂ …
//! ```
//!
//! Nothing promises that an earlier tile runs at all while this one waits. So waiting is bounded:
//! an invocation that has polled the same row often enough counts its digit in the stalled tile
//! itself, and publishes that. So each sort ends, with the same result, in whatever order
//! workgroups run. Where workgroups do not start in order (llvmpipe gives each thread a range of
//! them) they take numbers as they come. Elsewhere numbers would only cost time.
//!
//! # Digits without work
//!
//! Counting also finds the bits that are set in some keys and not in others. A digit without such
//! bits is the same in all keys. Two neighbouring ones in a word are left out, since two passes
//! bring elements back to the array they were in; a single one is copied. The device decides that
//! by itself; the host never reads back. Keys that use 16 of 32 bits take half the passes; equal
//! keys are counted once and stay.
//!
//! Positions are numbered by the first pass that runs, not read. Where they alone are wanted, the
//! last pass writes no keys.
//!
//! # Ranking
//!
//! Lanes of a subgroup hold consecutive elements, item by item. They find their peers, those with
//! the same digit, by one ballot for each bit; the number of peers in lower lanes is the rank, to
//! which a counter of the subgroup's own adds what came before. All is done in terms of subgroup
//! and lane, never of the local index, since WGSL relates the two in no way. The kernels serve
//! subgroups of 4 to 128 lanes; where subgroups are small, workgroups are, too, so that the
//! counters of eight subgroups fit beside nothing else in 16 KiB.
//!
//! Workgroup memory decides the speed: the tile lies where the counters were, and 24 KiB let four
//! workgroups share a core.
//!
//! # Measured
//!
//! On an H200, u32, milliseconds at 2^26, each against the same without it; CUB's radix sort took
//! 1.41 in the same runs. Expected is what a prototype gained, or the same kernel with the stage
//! left out; a dash is where nobody guessed before.
//!
//! | | expected | without | with |
//! |---|---|---|---|
//! | 23 items, not 22 (exactly 24 KiB) | −3 % | 1.617 | 1.584 |
//! | a stalled tile counted by one invocation, not by the workgroup: no barriers for the case | −2.6 % | 1.584 | 1.535 |
//! | (with it) passes left out in neighbouring pairs alone: loads and stores of one array each | – | | |
//! | every second item matched by masks in workgroup memory | −2 to −4 % | 1.535 | 1.490 |
//! | each subgroup clears its own counters, without a barrier of the workgroup | – | 1.490 | 1.484 |
//! | subgroup barriers, not shuffles | −5 % | 1.716 | 1.584 |
//! | a digit that is the same in all keys is copied by eight loads at a time, not one (keys of 16 bits, bytes 0 and 2) | −30 % | 1.793 | 1.135 |
//! | u64: 23 items in two rounds through the same memory, not 15 | – | 4.56 | 3.70 |
//!
//! Tried and dropped: an unordered first pass (−1 % alone, nothing beside masks); 4, 6, 12, 16, 24,
//! 32 rows of look-back at a time (8 is best); rows asked for before the tile is put in order (+4
//! %); a shorter text for adding rows (+7 %); keys loaded before it is known whether the pass runs
//! (−0.5 %, but passes that are left out would read all); 512 invocations (+12 % and more);
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
//! beginning for the first pass (nothing); loads of four keys in the first pass, where their order is no
//! matter (+2 %); workgroups that take one tile after another (+3 % with two for a core; with more,
//! tiles wait for workgroups that have not begun: seconds).
//!
//! A pass of `onesweep` takes 0.338 ms, of which looking back takes 0.032: a pass of `reduce-scan`
//! that distributes takes 0.306, and counting before it 0.08. The histogram of four digits takes
//! 0.128, where reading the keys takes 0.075.

use super::{Elements, RadixTuning, Variant, leading};
use crate::error::Error;
use crate::kernels::{Dispatch, Radix, RadixWork};

/// The passes for the lowest `digits`. The first pass that runs writes `iota` as payload, or reads the payload.
pub(super) fn plan(
    elements: Elements,
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
