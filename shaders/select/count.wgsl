// Counts the keys of a chunk that are less than the last selected key, and the keys equal to it.
// One workgroup for each chunk; its invocations add their counts in workgroup memory, between two
// barriers.

var<workgroup> less_in_chunk: atomic<u32>;
var<workgroup> equal_in_chunk: atomic<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn count(place: Place, @builtin(local_invocation_index) local: u32) {
    let chunk = workgroup_number(place);
    if chunk >= arguments.chunks {
        return;
    }
    if local == 0u {
        atomicStore(&less_in_chunk, 0u);
        atomicStore(&equal_in_chunk, 0u);
    }
    workgroupBarrier();
    let last = last_selected();
    let first = chunk * arguments.chunk;
    let size = min(arguments.chunk, arguments.n - first);
    var less_than_last = 0u;
    var equal_to_last = 0u;
    for (var block = 0u; block < size; block += BLOCK) {
        if size - block >= BLOCK {
            var e: array<Key, ITEMS>;
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                e[i] = read_key(first + block + i * WORKGROUP_SIZE + local);
            }
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                let key = counting_key(e[i]);
                less_than_last += u32(key_less(key, last));
                equal_to_last += u32(all(key == last));
            }
        } else {
            for (var i = block + local; i < size; i += WORKGROUP_SIZE) {
                let key = counting_key(read_key(first + i));
                less_than_last += u32(key_less(key, last));
                equal_to_last += u32(all(key == last));
            }
        }
    }
    atomicAdd(&less_in_chunk, less_than_last);
    atomicAdd(&equal_in_chunk, equal_to_last);
    workgroupBarrier();
    if local == 0u {
        chunk_counts[2u * chunk] = atomicLoad(&less_in_chunk);
        chunk_counts[2u * chunk + 1u] = atomicLoad(&equal_in_chunk);
    }
}
