// All counters are cleared, those of subgroups too that there might be.

fn clear_counters(local: u32, subgroup: Subgroup, size: u32) {
    // unroll
    for (var i = 0u; i < COUNTERS_EACH; i++) {
        atomicStore(&shared_words[i * WORKGROUP_SIZE + local], 0u);
    }
    workgroupBarrier();
}
