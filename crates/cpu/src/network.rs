//! Sorting networks on all cores.
//!
//! The cores perform a step in parts that no comparison crosses:
//!
//! ```text
//! small blocks   [block block block│block block block│…]   a part is a few whole blocks
//! large blocks   [ low half │ high half ]                  a part is a piece of each half
//! mirrored         ◂── part │ part ──▸                     taken from the middle outwards
//! ```

use gpusort_base::parallel;
use gpusort_order::error::{Error, at_most};
use gpusort_order::network::{
    Step, compare, compare_mirrored, compare_neighbours, halves, stage, stages, strides,
};
use gpusort_order::{Algorithm, Item};

/// Below this many elements, one core finishes a step before others wake.
const SERIAL: usize = 1 << 15;

/// Elements of a tile, as a power of two. A core performs steps on a tile while its cache holds the tile.
const TILE_LOG2: u32 = 12;

/// The work of a sort by a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passes {
    /// Passes over the elements.
    pub count: u64,
    /// Bytes that the passes read and wrote.
    pub bytes_moved: u64,
}

/// One pass over the elements.
enum Pass {
    /// A step of the network on all elements.
    Step(Step),
    /// Steps on each tile of 2^`tile_log2` elements, which no comparison leaves.
    Tiles { tile_log2: u32, steps: Vec<Step> },
}

/// Sorts by a network on all cores, and calls `progress` after each pass with the number done so far and the
/// number of all. Odd-even sort ends early once the elements are in order.
///
/// # Errors
///
/// Fails for more than 2^32 − 1 elements.
///
/// # Panics
///
/// Panics if the algorithm is not a network.
pub fn sort<T: Item>(
    algorithm: Algorithm,
    elements: &mut [T],
    mut progress: impl FnMut(u64, u64),
) -> Result<Passes, Error> {
    at_most([("elements in one sort", elements.len() as u64, u32::MAX.into())])?;
    let n = elements.len() as u32;
    let mut done = Passes::default();
    let mut sort = |passes: &mut dyn Iterator<Item = Pass>, count: u64, ends_early: bool| {
        for pass in passes {
            // The pass reads and writes each of these elements.
            let touched = match pass {
                Pass::Step(step) => {
                    perform(step, elements);
                    2 * step.pairs(n.into())
                }
                Pass::Tiles { tile_log2, steps } => {
                    perform_in_tiles(&steps, 1 << tile_log2, elements);
                    n.into()
                }
            };
            done.count += 1;
            done.bytes_moved += touched * 2 * size_of::<T>() as u64;
            progress(done.count, count);
            // Checks rarely, because a check takes the time of a phase.
            if ends_early && done.count.is_multiple_of(64) && elements.is_sorted() {
                break;
            }
        }
    };
    match algorithm {
        _ if n < 2 => {}
        Algorithm::Bitonic => sort(&mut bitonic(n), bitonic(n).count() as u64, false),
        Algorithm::OddEven => {
            let phases = (0..n).map(|phase| Pass::Step(Step::Phase { odd: phase % 2 == 1 }));
            sort(&mut { phases }, n.into(), true);
        }
        _ => panic!("{algorithm} is not a network"),
    }
    Ok(done)
}

/// Yields a pass that sorts all tiles, then for each larger stage a pass for each step that leaves a tile, and
/// one pass for all other steps.
fn bitonic(n: u32) -> impl Iterator<Item = Pass> {
    let stages = stages(n);
    let tile_log2 = TILE_LOG2.min(stages);
    let sorts = Pass::Tiles { tile_log2, steps: (1..=tile_log2).flat_map(stage).collect() };
    std::iter::once(sorts).chain((tile_log2 + 1..=stages).flat_map(move |block_log2| {
        let leave = stage(block_log2).take((block_log2 - tile_log2) as usize).map(Pass::Step);
        leave.chain([Pass::Tiles { tile_log2, steps: strides(0..tile_log2).collect() }])
    }))
}

/// Performs these steps on every aligned tile of `tile` elements. No comparison may leave a tile.
fn perform_in_tiles<T: Item>(steps: &[Step], tile: usize, elements: &mut [T]) {
    let each = |tile: &mut [T]| steps.iter().for_each(|step| step.perform(tile));
    let part = SERIAL.next_multiple_of(tile);
    parallel::map_parts(elements.chunks_mut(part), |part| part.chunks_mut(tile).for_each(each));
}

/// Performs one step on all cores.
fn perform<T: Item>(step: Step, elements: &mut [T]) {
    if elements.len() <= SERIAL {
        return step.perform(elements);
    }
    let (half, mirrored) = match step {
        Step::Mirror { block_log2 } => (1 << (block_log2 - 1), true),
        Step::Stride { stride_log2 } => (1 << stride_log2, false),
        Step::Alternating { .. } => return step.perform(elements),
        Step::Phase { odd } => {
            parallel::map_parts(elements[usize::from(odd)..].chunks_mut(SERIAL), compare_neighbours);
            return;
        }
    };
    if 2 * half <= SERIAL {
        parallel::map_parts(elements.chunks_mut(SERIAL), |part| step.perform(part));
        return;
    }
    // Divides each block, because the step may have fewer blocks than cores.
    for (low, high) in halves(elements, half) {
        if mirrored {
            // The last element of `low` meets the first of `high`.
            let low = &mut low[half - high.len()..];
            let part = SERIAL / 2;
            let parts = low.rchunks_mut(part).zip(high.chunks_mut(part));
            parallel::map_parts(parts, |(low, high)| compare_mirrored(low, high));
        } else {
            let parts = low.chunks_mut(SERIAL / 2).zip(high.chunks_mut(SERIAL / 2));
            parallel::map_parts(parts, |(low, high)| compare(low, high));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(n: usize) -> Vec<u64> {
        (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
    }

    #[test]
    fn all_cores_do_what_one_does() {
        let steps = (1..=18)
            .map(|block_log2| Step::Mirror { block_log2 })
            .chain((0..18).map(|stride_log2| Step::Stride { stride_log2 }))
            .chain(
                [(3, 4), (5, 40)]
                    .map(|(stride_log2, block_log2)| Step::Alternating { stride_log2, block_log2 }),
            )
            .chain([false, true].map(|odd| Step::Phase { odd }));
        for step in steps {
            for n in [40_000, 65_536, 70_001, 131_072 + 7, 200_000] {
                let (mut one, mut all) = (input(n), input(n));
                step.perform(&mut one);
                perform(step, &mut all);
                assert!(one == all, "{step:?} n {n}");
            }
        }
    }

    #[test]
    fn all_sizes_are_sorted() {
        let around = [(1 << 12) - 1, 1 << 12, (1 << 12) + 1, 50_000, (1 << 16) + 1, 300_007];
        for n in (0..70).chain(around) {
            let mut expected = input(n);
            expected.sort_unstable();
            for algorithm in [Algorithm::Bitonic, Algorithm::OddEven] {
                if algorithm == Algorithm::OddEven && n > 5_000 {
                    continue;
                }
                let mut sorted = input(n);
                let mut last = (0, 0);
                let passes = sort(algorithm, &mut sorted, |done, all| last = (done, all)).unwrap();
                assert!(sorted == expected, "{algorithm} n {n}");
                assert!(last.0 == passes.count && passes.count <= last.1, "{algorithm} n {n}");
            }
        }
    }

    #[test]
    fn odd_even_sort_ends_once_all_is_in_order() {
        let mut sorted: Vec<u64> = (0..1000).collect();
        let passes = sort(Algorithm::OddEven, &mut sorted, |_, _| {}).unwrap();
        assert_eq!(passes.count, 64);
        assert_eq!(passes.bytes_moved, (32 * 500 + 32 * 499) * 32);
    }
}
