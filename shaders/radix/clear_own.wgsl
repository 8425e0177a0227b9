// Each subgroup clears its own counters, and waits for its own lanes alone.

fn clear_counters(local: u32, subgroup: Subgroup, size: u32) {
    // unroll
    for (var i = 0u; i < COUNTERS_EACH; i++) {
        // Counters come first, then masks.
        let first = i / (RADIX / SUBGROUP_SIZE) * COUNTERS;
        let counter = i % (RADIX / SUBGROUP_SIZE) * SUBGROUP_SIZE + lane_of(subgroup);
        atomicStore(&shared_words[first + number_of(subgroup) * RADIX + counter], 0u);
    }
    subgroupBarrier();
}
