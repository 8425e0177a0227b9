// Ranks as in rank_barrier.wgsl, but for every second item lanes find their peers by a mask in
// workgroup memory beside the counter. One unit of a core then evaluates ballots while another one
// serves the memory.

fn rank(item: u32, digit: u32, counters: u32, lanes: Lanes, lower: Lanes) -> u32 {
    let counter = counters + digit;
    if item % 2u == 0u {
        let mask = COUNTERS + counter;
        atomicOr(&shared_words[mask], lower + 1u);
        subgroupBarrier();
        let peers = atomicLoad(&shared_words[mask]);
        let counted = atomicLoad(&shared_words[counter]);
        subgroupBarrier();
        let before = countOneBits(peers & lower);
        if before == 0u {
            atomicStore(&shared_words[counter], counted + countOneBits(peers));
            atomicStore(&shared_words[mask], 0u);
        }
        subgroupBarrier();
        return counted + before;
    }
    let peers = peers_of(digit, lanes);
    let before = countOneBits(peers & lower);
    let counted = atomicLoad(&shared_words[counter]);
    subgroupBarrier();
    if before == 0u {
        atomicStore(&shared_words[counter], counted + countOneBits(peers));
    }
    subgroupBarrier();
    return counted + before;
}
