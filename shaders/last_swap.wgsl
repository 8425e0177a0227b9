// `last_swap`, which phases of odd-even sort write and read: one more than the number of the
// last phase that swapped something.

// Whether the two phases before this one swapped nothing: then neither would this one. All
// invocations of a dispatch agree, whenever they ask: where the two did swap, last_swap can only
// grow; where they did not, no invocation of this one does.
fn is_over(phase: u32) -> bool {
    return atomicLoad(&last_swap) + 2u <= phase;
}

fn note_swap(phase: u32) {
    if atomicLoad(&last_swap) <= phase {
        atomicMax(&last_swap, phase + 1u);
    }
}
