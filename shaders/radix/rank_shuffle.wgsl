// Ranks on devices whose subgroups have no barrier: the first lane with a digit adds to the counter
// for all lanes with this digit, and broadcasts the result.

fn rank(item: u32, digit: u32, counters: u32, lanes: Lanes, lower: Lanes) -> u32 {
    let peers = peers_of(digit, lanes);
    let before = lane_count(peers & lower);
    var counted = 0u;
    if before == 0u {
        counted = atomicAdd(&shared_words[counters + digit], lane_count(peers));
    }
    return subgroupShuffle(counted, first_lane(peers)) + before;
}
