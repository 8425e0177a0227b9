// Sums on devices without subgroups. Groups of GROUP invocations replace subgroups, with barriers
// of the whole workgroup. Sums are over the invocations in the order of their numbers.

const GROUP: u32 = 32u;

struct Subgroup {
    @builtin(local_invocation_id) id: vec3<u32>,
}

fn number_of(subgroup: Subgroup) -> u32 {
    return subgroup.id.x / GROUP;
}

fn lane_of(subgroup: Subgroup) -> u32 {
    return subgroup.id.x % GROUP;
}

fn subgroup_size(subgroup: Subgroup) -> u32 {
    return GROUP;
}

// Returns the sums of two numbers over the invocations before this one. Two barriers in each step
// separate reads from writes.
fn sums_before(own: vec2<u32>, subgroup: Subgroup, size: u32) -> vec2<u32> {
    let i = subgroup.id.x;
    var sums = own;
    atomicStore(&shared_words[OFFSETS + 2u * i], sums.x);
    atomicStore(&shared_words[OFFSETS + 2u * i + 1u], sums.y);
    for (var distance = 1u; distance < WORKGROUP_SIZE; distance *= 2u) {
        workgroupBarrier();
        if i >= distance {
            sums.x += atomicLoad(&shared_words[OFFSETS + 2u * (i - distance)]);
            sums.y += atomicLoad(&shared_words[OFFSETS + 2u * (i - distance) + 1u]);
        }
        workgroupBarrier();
        atomicStore(&shared_words[OFFSETS + 2u * i], sums.x);
        atomicStore(&shared_words[OFFSETS + 2u * i + 1u], sums.y);
    }
    return sums - own;
}
