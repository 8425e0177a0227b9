// What phases of odd-even sort on tiles add; see fused.wgsl and last_swap.wgsl.

var<workgroup> over: u32;

// Whether there is nothing left to do in this phase. Asked once, so that a whole workgroup leaves
// or stays.
fn workgroup_is_over(local: u32, phase: u32) -> bool {
    if local == 0u {
        over = u32(is_over(phase));
    }
    return workgroupUniformLoad(&over) != 0u;
}

// Notes, before a mirrored step, whether it will swap anything.
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
