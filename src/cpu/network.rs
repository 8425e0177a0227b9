//! Sorting networks on all cores.
//!
//! A step is performed in parts that no comparison crosses:
//!
//! ```text
//! small blocks   [block block block│block block block│…]   a part is a few whole blocks
//! large blocks   [ low half │ high half ]                  a part is a piece of each half
//! mirrored         ◂── part │ part ──▸                     taken from the middle outwards
//! ```

use gpusort_order::item::Item;
use gpusort_order::network::{Step, compare, compare_mirrored, compare_neighbours, halves};
use gpusort_planner::plan::{Kernel, Plan, interpreter};

use crate::parallel;

/// Below this many elements, one core finishes a step before others wake.
const SERIAL: usize = 1 << 15;

/// Performs a plan for [`Limits::CPU`](crate::Limits::CPU), whose kernels perform steps on the
/// whole array or in tiles that fit a core's cache, calling `progress` after each dispatch with the
/// number done so far. As [`interpreter::perform`] does, but without the twins of all kernels,
/// which are long to compile for every type of elements.
///
/// # Panics
///
/// When the plan is not for this many elements, or not of such kernels.
pub(crate) fn sort<T: Item>(plan: &Plan, elements: &mut [T], mut progress: impl FnMut(u64)) {
    assert_eq!(plan.room() as usize, elements.len(), "the plan is for another size");
    let steps = |kernel: Kernel, part: &mut [T]| {
        let steps = kernel.steps();
        assert!(!steps.is_empty(), "the kernel does what is not a step");
        match kernel.tiles() {
            Some(tiles) => perform_in_tiles(&steps, tiles.size() as usize, part),
            None => steps.iter().for_each(|step| perform(*step, part)),
        }
    };
    interpreter::each_dispatch(plan, elements, steps, |done, _, _| progress(done));
}

/// Performs these steps on every aligned tile of `tile` elements. No comparison may leave a tile.
fn perform_in_tiles<T: Item>(steps: &[Step], tile: usize, elements: &mut [T]) {
    let each = |tile: &mut [T]| steps.iter().for_each(|step| step.perform(tile));
    if elements.len() <= SERIAL {
        elements.chunks_mut(tile).for_each(each);
    } else {
        let part = SERIAL.next_multiple_of(tile);
        parallel::map_parts(elements.chunks_mut(part), |part| part.chunks_mut(tile).for_each(each));
    }
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
    // There may be fewer blocks of this size than cores, so each is divided.
    for (low, high) in halves(elements, half) {
        if mirrored {
            // The last of `low` meets the first of `high`.
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
    use gpusort_order::Shape;
    use gpusort_order::key::KeyWords;
    use gpusort_order::{Algorithm, Limits, Variant};

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
    fn sizes_around_tiles_are_sorted() {
        let shape = Shape { key: KeyWords::One, payload: false };
        for n in [(1 << 12) - 1, 1 << 12, (1 << 12) + 1, 50_000, (1 << 16) + 1, 300_007] {
            let plan = Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, n, shape, &Limits::CPU).unwrap();
            let (mut sorted, mut expected) = (input(n), input(n));
            expected.sort_unstable();
            sort(&plan, &mut sorted, |_| {});
            assert!(sorted == expected, "n {n}");
        }
    }
}
