// Counts all digits of all keys in one reading. Every workgroup takes one block after another.

var<workgroup> counted: array<atomic<u32>, COUNTERS>;

fn count(key: Key) {
    // unroll
    for (var d = 0u; d < DIGITS; d++) {
        atomicAdd(&counted[d * RADIX + digit_of(key, d)], 1u);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn histogram(
    place: Place,
    @builtin(local_invocation_index) local: u32,
    lane: Lane,
) {
    for (var i = local; i < COUNTERS; i += WORKGROUP_SIZE) {
        atomicStore(&counted[i], 0u);
    }
    begin_varying(local);
    let invocations = place.grid.x * place.grid.y * WORKGROUP_SIZE;
    // The status of the first pass that runs.
    for (var i = invocation_number(place, local); i < arguments.tiles * RADIX; i += invocations) {
        atomicStore(&status[i], 0u);
    }
    // The numbers that workgroups take.
    if invocation_number(place, local) < DIGITS {
        atomicStore(&status[2u * arguments.tiles * RADIX + invocation_number(place, local)], 0u);
    }
    workgroupBarrier();
    var ones = key_flipped(LAST_KEY, 0xffffffffu);
    var zeros = ones;
    let blocks = (arguments.n + WORKGROUP_SIZE * COUNTED_TOGETHER - 1u) / (WORKGROUP_SIZE * COUNTED_TOGETHER);
    for (var block = workgroup_number(place); block < blocks; block += place.grid.x * place.grid.y) {
        let first = block * WORKGROUP_SIZE * COUNTED_TOGETHER + local;
        var e: array<Key, COUNTED_TOGETHER>;
        if arguments.n - block * WORKGROUP_SIZE * COUNTED_TOGETHER >= WORKGROUP_SIZE * COUNTED_TOGETHER {
            // unroll
            for (var i = 0u; i < COUNTED_TOGETHER; i++) {
                e[i] = read_key(first + i * WORKGROUP_SIZE);
            }
            // unroll
            for (var i = 0u; i < COUNTED_TOGETHER; i++) {
                let key = key_of_element(e[i]);
                ones |= key;
                zeros |= ~key;
                count(key);
            }
        } else {
            for (var i = first; i < arguments.n; i += WORKGROUP_SIZE) {
                let key = key_of_element(read_key(i));
                ones |= key;
                zeros |= ~key;
                count(key);
            }
        }
    }
    note_varying(ones, zeros, lane);
    workgroupBarrier();
    end_varying(local);
    for (var i = local; i < COUNTERS; i += WORKGROUP_SIZE) {
        let sum = atomicLoad(&counted[i]);
        if sum > 0u {
            atomicAdd(&histograms[i], sum);
        }
    }
}
