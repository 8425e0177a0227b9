// The workgroup clears all counters, including those of subgroups that may not exist. The barrier
// completes them.

fn clear_counters(local: u32, subgroup: Subgroup, size: u32) {
    // unroll
    for (var i = 0u; i < COUNTERS_EACH; i++) {
        atomicStore(&shared_words[i * WORKGROUP_SIZE + local], 0u);
    }
    workgroupBarrier();
}
