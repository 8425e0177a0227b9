//! Performs a plan on the CPU, dispatch by dispatch.
//!
//! This interpreter defines what every plan means: a kernel is right when it leaves the data as its
//! CPU twin does.
//!
//! ```text
//! plan ── dispatch ── kernel ── CPU twin on the dispatch's part of the array
//!              └───── next …
//! ```

use super::{AuxContents, Dispatch, Kernel, Plan};
use crate::item::Item;

/// Performs `plan` on `elements`, calling `progress` after each dispatch with the number done so
/// far.
///
/// Elements are compared as a whole: to carry positions, pass pairs of key and position.
///
/// # Panics
///
/// When the plan is not for this many elements.
pub fn perform<T: Item>(plan: &Plan, elements: &mut [T], progress: impl FnMut(u64)) {
    // Any element that sorts last serves as padding: the largest is as good as one larger than all.
    match elements.iter().max().copied() {
        Some(last) => drop(perform_with_padding(plan, elements, last, progress)),
        None => assert_eq!(plan.n(), 0, "the plan is for another size"),
    }
}

/// [`perform`] with a given padding element, which also fills the unused slots of a run. A plan
/// that reduces leaves unspecified elements after its result. Returns what the auxiliary buffers
/// hold then, those of which anything depends on it.
///
/// # Panics
///
/// When the plan is not for this many elements.
pub fn perform_with_padding<T: Item>(
    plan: &Plan,
    elements: &mut [T],
    last: T,
    mut progress: impl FnMut(u64),
) -> AuxContents {
    assert_eq!(plan.n() as usize, elements.len(), "the plan is for another size");
    if plan.room() == plan.n() {
        return perform_in_place(plan, elements, last, |done, _, _| progress(done));
    }
    let mut padded = elements.to_vec();
    padded.resize(plan.room() as usize, last);
    let aux_buffers = perform_in_place(plan, &mut padded, last, |done, _, _| progress(done));
    elements.copy_from_slice(&padded[..elements.len()]);
    aux_buffers
}

/// The same on an array with room for all that the plan accesses, calling `watch` after each
/// dispatch with the number done so far, that dispatch and the array as it leaves it.
///
/// # Panics
///
/// When the array has no room.
pub fn watch<T: Item>(
    plan: &Plan,
    array: &mut [T],
    last: T,
    watch: impl FnMut(u64, &Dispatch, &[T]),
) -> AuxContents {
    assert!(array.len() >= plan.room().max(plan.other_room()) as usize, "the plan is for a larger array");
    perform_in_place(plan, array, last, watch)
}

fn perform_in_place<T: Item>(
    plan: &Plan,
    elements: &mut [T],
    last: T,
    watch: impl FnMut(u64, &Dispatch, &[T]),
) -> AuxContents {
    let mut aux_buffers = AuxContents::new();
    each_dispatch(plan, elements, |kernel, part| kernel.perform(part, &mut aux_buffers, last), watch);
    aux_buffers
}

/// Has `perform` do what each dispatch does to its part of the array, and calls `watch` after it, as
/// [`watch`] does.
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
