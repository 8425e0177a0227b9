// Moves the selected elements to the beginning of the other array, in order. One workgroup for each
// chunk, block by block: invocations mark their elements in bit masks, then count the marks before
// each mask, then write. Barriers separate these steps.

// A bit for each element of a block: first the elements less than the last selected key, then the
// elements equal to it.
const MASKS: u32 = BLOCK / 32u;
var<workgroup> masks: array<atomic<u32>, 2u * MASKS>;

// Counts of lower elements in the low half, of equal elements in the high half: in each group of
// masks, and before each mask of the block.
const GROUP: u32 = 8u;
const GROUPS: u32 = (MASKS + GROUP - 1u) / GROUP;
var<workgroup> group_counts: array<u32, GROUPS>;
var<workgroup> before_masks: array<u32, MASKS>;

// The numbers of lower and of equal elements in earlier chunks, and later also in earlier blocks.
var<workgroup> less_before: atomic<u32>;
var<workgroup> equal_before: atomic<u32>;

fn counts_of(mask: u32) -> u32 {
    return countOneBits(atomicLoad(&masks[mask])) | (countOneBits(atomicLoad(&masks[MASKS + mask])) << 16u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn keep(place: Place, @builtin(local_invocation_index) local: u32) {
    let chunk = workgroup_number(place);
    if chunk >= arguments.chunks {
        return;
    }
    if local == 0u {
        atomicStore(&less_before, 0u);
        atomicStore(&equal_before, 0u);
    }
    workgroupBarrier();
    for (var i = local; i < chunk; i += WORKGROUP_SIZE) {
        atomicAdd(&less_before, chunk_counts[2u * i]);
        atomicAdd(&equal_before, chunk_counts[2u * i + 1u]);
    }
    let last = last_selected();
    let wanted = chosen[WANTED];
    let first = chunk * arguments.chunk;
    let size = min(arguments.chunk, arguments.n - first);
    for (var block = 0u; block < size; block += BLOCK) {
        for (var i = local; i < 2u * MASKS; i += WORKGROUP_SIZE) {
            atomicStore(&masks[i], 0u);
        }
        var e: array<Key, ITEMS>;
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            e[i] = read_key(first + min(block + i * WORKGROUP_SIZE + local, size - 1u));
        }
        workgroupBarrier();
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            let at = i * WORKGROUP_SIZE + local;
            if block + at < size {
                let key = counting_key(e[i]);
                if key_less(key, last) {
                    atomicOr(&masks[at >> 5u], 1u << (at & 31u));
                }
                if all(key == last) {
                    atomicOr(&masks[MASKS + (at >> 5u)], 1u << (at & 31u));
                }
            }
        }
        workgroupBarrier();
        if local < GROUPS {
            var counts = 0u;
            for (var mask = local * GROUP; mask < min((local + 1u) * GROUP, MASKS); mask++) {
                counts += counts_of(mask);
            }
            group_counts[local] = counts;
        }
        let less_earlier = atomicLoad(&less_before);
        let equal_earlier = atomicLoad(&equal_before);
        workgroupBarrier();
        if local < MASKS {
            var before = 0u;
            for (var group = 0u; group < local / GROUP; group++) {
                before += group_counts[group];
            }
            for (var mask = local / GROUP * GROUP; mask < local; mask++) {
                before += counts_of(mask);
            }
            before_masks[local] = before;
            if local == MASKS - 1u {
                let all = before + counts_of(local);
                atomicStore(&less_before, less_earlier + (all & 0xffffu));
                atomicStore(&equal_before, equal_earlier + (all >> 16u));
            }
        }
        workgroupBarrier();
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            let at = i * WORKGROUP_SIZE + local;
            let mask = at >> 5u;
            let lower = (1u << (at & 31u)) - 1u;
            let is_less = (atomicLoad(&masks[mask]) & (lower + 1u)) != 0u;
            let is_equal = (atomicLoad(&masks[MASKS + mask]) & (lower + 1u)) != 0u;
            if is_less || is_equal {
                let less_here = countOneBits(atomicLoad(&masks[mask]) & lower) + (before_masks[mask] & 0xffffu);
                let equal_here = countOneBits(atomicLoad(&masks[MASKS + mask]) & lower) + (before_masks[mask] >> 16u);
                let equal_in_all = equal_earlier + equal_here;
                if is_less || equal_in_all < wanted {
                    let to = less_earlier + less_here + min(equal_in_all, wanted);
                    write_key(to, e[i]);
                    move_payload(first + block + at, to, arguments.iota == 1u);
                }
            }
        }
        workgroupBarrier();
    }
}
