// Sums over the invocations of a workgroup, in the order of subgroups and lanes: WGSL does not
// define how this order relates to the local index.

struct Subgroup {
    @builtin(subgroup_id) number: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
}

fn number_of(subgroup: Subgroup) -> u32 {
    return subgroup.number;
}

fn lane_of(subgroup: Subgroup) -> u32 {
    return subgroup.lane;
}

// Returns the number of invocations in a subgroup: a constant if all subgroups have the same size.
fn subgroup_size(subgroup: Subgroup) -> u32 {
    return min(select(subgroup.size, SUBGROUP_SIZE, SUBGROUP_SIZE != 0u), WORKGROUP_SIZE);
}

// Returns the sums of two numbers over the invocations before this one. The last lane of each
// subgroup publishes the sums of its subgroup; after a barrier, each invocation adds those of
// earlier subgroups.
fn sums_before(own: vec2<u32>, subgroup: Subgroup, size: u32) -> vec2<u32> {
    let inclusive = vec2(subgroupInclusiveAdd(own.x), subgroupInclusiveAdd(own.y));
    if subgroup.lane == size - 1u {
        atomicStore(&shared_words[OFFSETS + 2u * subgroup.number], inclusive.x);
        atomicStore(&shared_words[OFFSETS + 2u * subgroup.number + 1u], inclusive.y);
    }
    workgroupBarrier();
    var sums = inclusive - own;
    // unroll
    for (var s = 0u; s < SUBGROUPS; s++) {
        if s < subgroup.number {
            sums.x += atomicLoad(&shared_words[OFFSETS + 2u * s]);
            sums.y += atomicLoad(&shared_words[OFFSETS + 2u * s + 1u]);
        }
    }
    return sums;
}
