// Ranks with subgroup barriers: all lanes with a digit read its counter, then the first of them
// writes it. One barrier separates the reads from the writes, the other the writes from the next
// item's reads.

fn rank(item: u32, digit: u32, counters: u32, lanes: Lanes, lower: Lanes) -> u32 {
    let peers = peers_of(digit, lanes);
    let before = lane_count(peers & lower);
    let counted = atomicLoad(&shared_words[counters + digit]);
    subgroupBarrier();
    if before == 0u {
        atomicStore(&shared_words[counters + digit], counted + lane_count(peers));
    }
    subgroupBarrier();
    return counted + before;
}
