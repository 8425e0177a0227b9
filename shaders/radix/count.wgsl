// Counts one digit of the elements in a chunk of tiles: before each tile, and in the whole chunk.
// One workgroup for each chunk. In each tile, a barrier separates the reads of the counts so far
// from the additions, and another one separates the additions from the next tile's reads.

var<workgroup> counted: array<atomic<u32>, RADIX>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn count(
    place: Place,
    @builtin(local_invocation_index) local: u32,
    lane: Lane,
) {
    let chunk = workgroup_number(place);
    let current = this_pass();
    if chunk >= arguments.chunks || !current.runs || current.copies {
        return;
    }
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        atomicStore(&counted[i], 0u);
    }
    begin_varying(local);
    workgroupBarrier();
    var ones = key_flipped(LAST_KEY, 0xffffffffu);
    var zeros = ones;
    let end = min((chunk + 1u) * arguments.chunk, arguments.tiles);
    for (var tile = chunk * arguments.chunk; tile < end; tile++) {
        for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
            tile_sums[tile * RADIX + i] = atomicLoad(&counted[i]);
        }
        workgroupBarrier();
        let first = tile * TILE + local;
        if arguments.n - tile * TILE >= TILE {
            var e: array<Key, ITEMS>;
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                e[i] = read_key(first + i * WORKGROUP_SIZE);
            }
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                let key = key_of_read(e[i], current);
                ones |= key;
                zeros |= ~key;
                atomicAdd(&counted[digit_of(key, arguments.digit)], 1u);
            }
        } else {
            for (var i = first; i < min((tile + 1u) * TILE, arguments.n); i += WORKGROUP_SIZE) {
                let key = key_of_read(read_key(i), current);
                ones |= key;
                zeros |= ~key;
                atomicAdd(&counted[digit_of(key, arguments.digit)], 1u);
            }
        }
        workgroupBarrier();
    }
    note_varying(ones, zeros, lane);
    workgroupBarrier();
    end_varying(local);
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        chunk_sums[i * arguments.chunks + chunk] = atomicLoad(&counted[i]);
    }
}
