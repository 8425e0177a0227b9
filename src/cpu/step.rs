//! Network steps on the CPU, shared by the CPU twins of the kernels.
//!
//! A step runs on all cores, in parts that no comparison crosses:
//!
//! ```text
//! small blocks   [block block block│block block block│…]   a part is a few whole blocks
//! large blocks   [ low half │ high half ]                  a part is a piece of each half
//! mirrored         ◂── part │ part ──▸                     taken from the middle outwards
//! ```

use super::Item;
use crate::network::Step;
use crate::parallel;

/// Below this many elements, one core finishes a step before others wake.
const SERIAL: usize = 1 << 15;

/// Performs these steps one after another, each on all cores.
pub(crate) fn perform<T: Item>(steps: &[Step], elements: &mut [T]) {
    steps.iter().for_each(|step| perform_step_in_parallel(*step, elements));
}

/// Performs these steps on every aligned tile of `tile` elements, which fits a core's cache. No
/// comparison may leave a tile.
pub(crate) fn perform_in_tiles<T: Item>(steps: &[Step], tile: usize, elements: &mut [T]) {
    let each = |tile: &mut [T]| steps.iter().for_each(|step| perform_step(*step, tile));
    if elements.len() <= SERIAL {
        elements.chunks_mut(tile).for_each(each);
    } else {
        let part = SERIAL.next_multiple_of(tile);
        parallel::map_parts(elements.chunks_mut(part), |part| part.chunks_mut(tile).for_each(each));
    }
}

/// Performs one step on one core.
fn perform_step<T: Item>(step: Step, elements: &mut [T]) {
    match step {
        Step::Mirror { block_log2 } => {
            halves(elements, 1 << (block_log2 - 1)).for_each(|(low, high)| compare_mirrored(low, high));
        }
        Step::Stride { stride_log2: 0 } => compare_neighbours(elements),
        Step::Stride { stride_log2 } => {
            halves(elements, 1 << stride_log2).for_each(|(low, high)| compare(low, high));
        }
        Step::Alternating { .. } => perform_alternating(step, elements),
        Step::Phase { odd } => compare_neighbours(elements.get_mut(usize::from(odd)..).unwrap_or_default()),
    }
}

/// Performs one step on all cores.
fn perform_step_in_parallel<T: Item>(step: Step, elements: &mut [T]) {
    if elements.len() <= SERIAL {
        return perform_step(step, elements);
    }
    let (half, mirrored) = match step {
        Step::Mirror { block_log2 } => (1 << (block_log2 - 1), true),
        Step::Stride { stride_log2 } => (1 << stride_log2, false),
        Step::Alternating { .. } => return perform_alternating(step, elements),
        Step::Phase { odd } => {
            parallel::map_parts(elements[usize::from(odd)..].chunks_mut(SERIAL), compare_neighbours);
            return;
        }
    };
    if 2 * half <= SERIAL {
        parallel::map_parts(elements.chunks_mut(SERIAL), |part| perform_step(step, part));
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

/// The halves of every block of 2 × `half` elements that has a second one, or a part of it.
fn halves<T>(elements: &mut [T], half: usize) -> impl Iterator<Item = (&mut [T], &mut [T])> {
    let blocks = elements.chunks_mut(2 * half).filter(move |block| block.len() > half);
    blocks.map(move |block| block.split_at_mut(half))
}

/// Only comparison plans have such steps: pair by pair is fast enough.
fn perform_alternating<T: Item>(step: Step, elements: &mut [T]) {
    let n = elements.len() as u64;
    for pair in (0..step.comparisons(n)).map(|c| step.pair(c)) {
        let (low, high) = (pair.low as usize, pair.high as usize);
        if low.max(high) < elements.len() && elements[high] < elements[low] {
            elements.swap(low, high);
        }
    }
}

/// Compares the end of `low` with the beginning of `high`, from the middle outwards.
fn compare_mirrored<T: Item>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().rev().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

fn compare<T: Item>(low: &mut [T], high: &mut [T]) {
    low.iter_mut().zip(high).for_each(|(low, high)| compare_exchange(low, high));
}

fn compare_neighbours<T: Item>(elements: &mut [T]) {
    for pair in elements.chunks_exact_mut(2) {
        let (low, high) = pair.split_at_mut(1);
        compare_exchange(&mut low[0], &mut high[0]);
    }
}

/// Branch-free, so that the compiler vectorizes it.
#[inline]
fn compare_exchange<T: Item>(low: &mut T, high: &mut T) {
    let (a, b) = (*low, *high);
    *low = a.min(b);
    *high = a.max(b);
}
