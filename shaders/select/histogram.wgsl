// Counts a digit of the keys whose higher digits equal those of the last selected key. Each
// workgroup takes one block after another, counts in workgroup memory, and adds its counts to the
// histogram at the end.

var<workgroup> counted: array<atomic<u32>, RADIX>;

fn count(key: Key, last: Key) {
    let differing = key ^ last;
    // In two shifts: for the highest digit, one shift would be by all bits of a word.
    var higher = (key_word(differing, arguments.word) >> arguments.shift) >> arguments.width;
    for (var w = arguments.word + 1u; w < KEY_WORDS; w++) {
        higher |= key_word(differing, w);
    }
    if higher == 0u {
        atomicAdd(&counted[digit_of(key)], 1u);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn histogram(place: Place, @builtin(local_invocation_index) local: u32) {
    if chosen[IS_WHOLE] == 1u {
        return;
    }
    let last = last_selected();
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        atomicStore(&counted[i], 0u);
    }
    workgroupBarrier();
    let blocks = (arguments.n + BLOCK - 1u) / BLOCK;
    for (var block = workgroup_number(place); block < blocks; block += place.grid.x * place.grid.y) {
        let first = block * BLOCK + local;
        if arguments.n - block * BLOCK >= BLOCK {
            var e: array<Key, ITEMS>;
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                e[i] = read_key(first + i * WORKGROUP_SIZE);
            }
            // unroll
            for (var i = 0u; i < ITEMS; i++) {
                count(counting_key(e[i]), last);
            }
        } else {
            for (var i = first; i < arguments.n; i += WORKGROUP_SIZE) {
                count(counting_key(read_key(i)), last);
            }
        }
    }
    workgroupBarrier();
    for (var i = local; i < RADIX; i += WORKGROUP_SIZE) {
        let sum = atomicLoad(&counted[i]);
        if sum > 0u {
            atomicAdd(&digit_counts[i], sum);
        }
    }
}
