//! Performs a plan's network steps on the CPU.
//!
//! This is the interpreter that says what every plan means: a kernel is right when it leaves the data
//! as this does. It is also how `--device cpu` runs a named network, so it works on all cores and keeps
//! to a tile where the plan does.

use crate::parallel::{self, IndexedParallelIterator, ParallelIterator};
use crate::plan::{Dispatch, Plan, Step, Work};

/// Below this many elements, one core does a step sooner than others are woken.
const SERIAL: usize = 1 << 15;

/// Performs `plan` on `elements`, calling `progress` after each dispatch with the number done so far.
///
/// Elements are compared as a whole: where positions travel along, pass pairs of key and position.
///
/// # Panics
///
/// When the plan is not for this many elements.
pub fn perform<T: Ord + Copy + Send + Sync>(plan: &Plan, elements: &mut [T], progress: impl FnMut(u64)) {
    // Any element that sorts last will do as padding: the largest is as good as one larger than all.
    match elements.iter().max().copied() {
        Some(last) => perform_with_padding(plan, elements, last, progress),
        None => assert_eq!(plan.n, 0, "the plan is for another size"),
    }
}

/// [`perform`] with the element that plans which pad put past the end, and that stands in the slots of a run for
/// which there are no elements. Of a plan that reduces, the elements after the first ones are left as anything.
///
/// # Panics
///
/// When the plan is not for this many elements.
pub fn perform_with_padding<T: Ord + Copy + Send + Sync>(
    plan: &Plan,
    elements: &mut [T],
    last: T,
    progress: impl FnMut(u64),
) {
    assert_eq!(plan.n as usize, elements.len(), "the plan is for another size");
    if plan.padded == plan.n {
        return perform_in_place(plan, elements, last, progress);
    }
    let mut padded = elements.to_vec();
    padded.resize(plan.padded as usize, last);
    perform_in_place(plan, &mut padded, last, progress);
    elements.copy_from_slice(&padded[..elements.len()]);
}

fn perform_in_place<T: Ord + Copy + Send + Sync>(
    plan: &Plan,
    elements: &mut [T],
    last: T,
    mut progress: impl FnMut(u64),
) {
    for (done, dispatch) in (1..).zip(plan.dispatches()) {
        perform_dispatch(dispatch, elements, last);
        progress(done);
        // Looked at seldom, since a look costs as much as a phase.
        if plan.phases && done % 64 == 0 && elements.is_sorted() {
            break;
        }
    }
}

fn perform_dispatch<T: Ord + Copy + Send + Sync>(dispatch: &Dispatch, elements: &mut [T], last: T) {
    let steps = dispatch.work.steps();
    let elements = &mut elements[dispatch.first as usize..][..dispatch.count as usize];
    if let Work::Transpose { rows_log2, columns_log2 } = dispatch.work {
        let before = elements.to_vec();
        let place = |(i, element): (usize, &mut T)| {
            let (column, row) = (i >> rows_log2, i & ((1 << rows_log2) - 1));
            *element = before[(row << columns_log2) + column];
        };
        return parallel::iter_mut(elements).enumerate().for_each(place);
    }
    match dispatch.work.tile() {
        // Tiles are aligned, so positions within one pair up as positions of the whole do.
        Some(tile) => for_each_chunk(elements, tile, |tile| {
            steps.iter().for_each(|step| perform_step(*step, tile));
        }),
        None => steps.iter().for_each(|step| perform_step_in_parallel(*step, elements)),
    }
    if let Work::TopTile { tile_log2, slots_log2, k } = dispatch.work {
        keep_best(elements, 1 << tile_log2, 1 << slots_log2, k as usize, last);
    }
}

/// Puts the first `k` elements of each tile into a run of so many slots, one after another.
fn keep_best<T: Copy>(elements: &mut [T], tile: usize, slots: usize, k: usize, last: T) {
    let run = |tile: &[T]| {
        let kept = tile[..k.min(tile.len())].iter().copied();
        kept.chain(std::iter::repeat(last)).take(slots).collect::<Vec<T>>()
    };
    let runs: Vec<T> = elements.chunks(tile).flat_map(run).collect();
    elements[..runs.len()].copy_from_slice(&runs);
}

/// Performs one step on one core.
fn perform_step<T: Ord + Copy>(step: Step, elements: &mut [T]) {
    match step {
        Step::Mirror { block_log2 } => {
            let half = 1 << (block_log2 - 1);
            elements.chunks_mut(2 * half).filter(|block| block.len() > half).for_each(|block| {
                let (low, high) = block.split_at_mut(half);
                compare_mirrored(low, high);
            });
        }
        Step::Stride { stride_log2: 0 } => compare_neighbours(elements),
        Step::Stride { stride_log2 } => {
            let stride = 1 << stride_log2;
            elements.chunks_mut(2 * stride).filter(|block| block.len() > stride).for_each(|block| {
                let (low, high) = block.split_at_mut(stride);
                compare(low, high);
            });
        }
        Step::Alternating { .. } => perform_alternating(step, elements),
        Step::Phase { odd } => compare_neighbours(elements.get_mut(usize::from(odd)..).unwrap_or_default()),
    }
}

/// Performs one step on all cores, by parts that no comparison crosses.
fn perform_step_in_parallel<T: Ord + Copy + Send + Sync>(step: Step, elements: &mut [T]) {
    if elements.len() <= SERIAL {
        return perform_step(step, elements);
    }
    let (half, mirrored) = match step {
        Step::Mirror { block_log2 } => (1 << (block_log2 - 1), true),
        Step::Stride { stride_log2 } => (1 << stride_log2, false),
        Step::Alternating { .. } => return perform_alternating(step, elements),
        Step::Phase { odd } => {
            return parallel::chunks_mut(&mut elements[usize::from(odd)..], SERIAL)
                .for_each(compare_neighbours);
        }
    };
    if 2 * half <= SERIAL {
        return parallel::chunks_mut(elements, SERIAL).for_each(|part| perform_step(step, part));
    }
    // Blocks so large that there may be fewer of them than cores: share out their insides.
    for block in elements.chunks_mut(2 * half).filter(|block| block.len() > half) {
        let (low, high) = block.split_at_mut(half);
        if mirrored {
            // The last of `low` meets the first of `high`.
            let low = &mut low[half - high.len()..];
            let part = SERIAL / 2;
            parallel::rchunks_mut(low, part)
                .zip(parallel::chunks_mut(high, part))
                .for_each(|(low, high)| compare_mirrored(low, high));
        } else {
            parallel::chunks_mut(low, SERIAL / 2)
                .zip(parallel::chunks_mut(high, SERIAL / 2))
                .for_each(|(low, high)| compare(low, high));
        }
    }
}

/// Only plans for comparison have such steps: pair by pair is fast enough.
fn perform_alternating<T: Ord + Copy>(step: Step, elements: &mut [T]) {
    let n = elements.len() as u64;
    for pair in (0..step.comparisons(n)).map(|c| step.pair(c)) {
        let (low, high) = (pair.low as usize, pair.high as usize);
        if low.max(high) < elements.len() && elements[high] < elements[low] {
            elements.swap(low, high);
        }
    }
}

fn for_each_chunk<T: Send>(elements: &mut [T], size: usize, each: impl Fn(&mut [T]) + Sync + Send) {
    if elements.len() <= SERIAL {
        elements.chunks_mut(size).for_each(each);
    } else {
        parallel::chunks_mut(elements, size).for_each(each);
    }
}

/// Compares the ends of `low` and the beginnings of `high`, inwards out.
fn compare_mirrored<T: Ord + Copy>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().rev().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

fn compare<T: Ord + Copy>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

fn compare_neighbours<T: Ord + Copy>(elements: &mut [T]) {
    for pair in elements.chunks_exact_mut(2) {
        let (low, high) = pair.split_at_mut(1);
        compare_exchange(&mut low[0], &mut high[0]);
    }
}

/// Written without a branch, so that the compiler makes vector instructions of it.
#[inline]
fn compare_exchange<T: Ord + Copy>(low: &mut T, high: &mut T) {
    let (a, b) = (*low, *high);
    *low = a.min(b);
    *high = a.max(b);
}
