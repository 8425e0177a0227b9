//! Performs a plan on the CPU, dispatch by dispatch.
//!
//! This interpreter defines what every plan means: a kernel is right when it leaves the data as its
//! CPU twin does.
//!
//! ```text
//! plan ── dispatch ── kernel ── CPU twin on the dispatch's part of the array
//!              └───── next …
//! ```

use super::{Dispatch, Kernel, Plan};
use crate::item::Item;

/// Performs `plan` on `elements`, calling `progress` after each dispatch with the number done so
/// far.
///
/// Elements are compared as a whole: to carry positions, pass pairs of key and position. A plan
/// that reduces leaves unspecified elements after its result.
///
/// # Panics
///
/// When the plan is not for this many elements.
pub fn perform<T: Item>(plan: &Plan, elements: &mut [T], mut progress: impl FnMut(u64)) {
    assert_eq!(plan.n() as usize, elements.len(), "the plan is for another size");
    // Any element that sorts last serves as padding: the largest is as good as one larger than all.
    let Some(last) = elements.iter().max().copied() else { return };
    let mut array = elements.to_vec();
    array.resize(plan.room().max(plan.other_room()) as usize, last);
    watch(plan, &mut array, last, |done, _, _| progress(done));
    elements.copy_from_slice(&array[..elements.len()]);
}

/// The same on an array with room for all that the plan accesses, and with an element that fills
/// the rest of it and the unused places of runs. Calls `watch` after each dispatch with the number
/// done so far, that dispatch and the array as it leaves it.
///
/// # Panics
///
/// When the array has no room.
pub fn watch<T: Item>(plan: &Plan, array: &mut [T], last: T, watch: impl FnMut(u64, &Dispatch, &[T])) {
    assert!(array.len() >= plan.room().max(plan.other_room()) as usize, "the plan is for a larger array");
    let perform = |kernel: Kernel, part: &mut [T]| kernel.perform(part, &[], last);
    each_dispatch(plan, array, perform, watch);
}

/// Has `perform` do what each dispatch does to its part of the array, and calls `watch` after it,
/// as [`watch`] does.
pub fn each_dispatch<T: Item>(
    plan: &Plan,
    elements: &mut [T],
    mut perform: impl FnMut(Kernel, &mut [T]),
    mut watch: impl FnMut(u64, &Dispatch, &[T]),
) {
    for (done, dispatch) in (1..).zip(plan.dispatches()) {
        let part = &mut elements[dispatch.first() as usize..][..dispatch.count() as usize];
        perform(dispatch.kernel(), part);
        watch(done, dispatch, elements);
        // Checked rarely, since a check costs as much as a phase.
        if plan.ends_early() && done % 64 == 0 && elements.is_sorted() {
            break;
        }
    }
}
