// How lanes that share a counter agree where subgroups have no barrier: the first of them counts for all.

fn count_together(counter: u32, peers: Lanes, before: u32) -> u32 {
    var counted = 0u;
    if before == 0u {
        counted = atomicAdd(&shared_words[counter], lane_count(peers));
    }
    return subgroupShuffle(counted, first_lane(peers));
}
