// Ranks without subgroups: invocations of a group mark themselves in a mask in workgroup memory
// beside the counter of their digit. Barriers of the workgroup separate marks, reads and writes.

alias Lanes = u32;

fn lanes_here() -> Lanes {
    return 0xffffffffu;
}

// Returns the lanes before this one.
fn lanes_before(lane: u32) -> Lanes {
    return (1u << lane) - 1u;
}

fn rank(item: u32, digit: u32, counters: u32, lanes: Lanes, lower: Lanes) -> u32 {
    let counter = counters + digit;
    let mask = COUNTERS + counter;
    atomicOr(&shared_words[mask], lower + 1u);
    workgroupBarrier();
    let peers = atomicLoad(&shared_words[mask]);
    let counted = atomicLoad(&shared_words[counter]);
    workgroupBarrier();
    let before = countOneBits(peers & lower);
    if before == 0u {
        atomicStore(&shared_words[counter], counted + countOneBits(peers));
        atomicStore(&shared_words[mask], 0u);
    }
    workgroupBarrier();
    return counted + before;
}
