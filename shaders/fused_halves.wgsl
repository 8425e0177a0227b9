// Included for the phases of odd-even sort on tiles; see fused.wgsl and last_swap.wgsl.

var<workgroup> over: u32;

// Returns true if this phase has no work. One invocation reads the state: barriers follow, so the compiler
// must see that the whole workgroup decides alike.
fn workgroup_is_over(local: u32, phase: u32) -> bool {
    if local == 0u {
        over = u32(is_over(phase));
    }
    return workgroupUniformLoad(&over) != 0u;
}

// Records, before a mirrored step, whether the step will swap elements.
fn note_swaps(e: ptr<function, Registers>) {
    var swaps = false;
    // unroll
    for (var c = 0u; c < HALF; c++) {
        swaps = swaps | less((*e)[ELEMENTS - 1u - c], (*e)[c]);
    }
    if swaps {
        note_swap(arguments.phase);
    }
}
