// The phases of odd-even sort write and read `last_swap`: the number of the last phase that swapped
// elements, plus one.

// Returns true if the two previous phases swapped nothing: this phase then would swap nothing
// either. All invocations of a dispatch get the same answer at any time. If the previous phases
// swapped elements, `last_swap` can only grow; otherwise no invocation of this phase swaps
// elements.
fn is_over(phase: u32) -> bool {
    return atomicLoad(&last_swap) + 2u <= phase;
}

fn note_swap(phase: u32) {
    if atomicLoad(&last_swap) <= phase {
        atomicMax(&last_swap, phase + 1u);
    }
}
