//! Performs a plan on the CPU, dispatch by dispatch.
//!
//! This interpreter defines the meaning of every plan: a kernel is right if it leaves the same data as its
//! CPU twin.
//!
//! ```text
//! plan ── dispatch ── kernel ── CPU twin on the dispatch's part of the array
//!              └───── next …
//! ```

use super::{Dispatch, Plan};
use crate::item::Item;

/// Performs `plan` on `elements`, and calls `progress` after each dispatch with the number done so
/// far.
///
/// Elements are compared as a whole: to carry positions, pass pairs of key and position. A plan
/// that reduces leaves unspecified elements after its result.
///
/// # Panics
///
/// Panics unless the plan is for this number of elements.
pub fn perform<T: Item>(plan: &Plan, elements: &mut [T], mut progress: impl FnMut(u64)) {
    assert_eq!(plan.n() as usize, elements.len(), "the plan is for another size");
    // Any element that sorts last serves as padding: the largest is as good as one larger than all.
    let Some(last) = elements.iter().max().copied() else { return };
    let mut array = elements.to_vec();
    array.resize(plan.room().max(plan.other_room()) as usize, last);
    watch(plan, &mut array, last, |done, _, _| progress(done));
    elements.copy_from_slice(&array[..elements.len()]);
}

/// Performs a plan on an array with room for all its accesses. `last` fills the array beyond the elements,
/// and unused places of runs. Calls `watch` after each dispatch with the number done so far, the dispatch
/// and the resulting array.
///
/// # Panics
///
/// Panics if the array has too little room.
pub fn watch<T: Item>(plan: &Plan, array: &mut [T], last: T, mut watch: impl FnMut(u64, &Dispatch, &[T])) {
    assert!(array.len() >= plan.room().max(plan.other_room()) as usize, "the plan is for a larger array");
    for (done, dispatch) in (1..).zip(plan.dispatches()) {
        let part = &mut array[dispatch.first() as usize..][..dispatch.count() as usize];
        dispatch.kernel().perform(part, &[], last);
        watch(done, dispatch, array);
        // Checks rarely, because a check takes the time of a phase.
        if plan.ends_early() && done % 64 == 0 && array.is_sorted() {
            break;
        }
    }
}
