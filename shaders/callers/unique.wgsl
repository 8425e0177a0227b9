// Finds the first element of each run of equal keys in sorted elements, and writes these first
// elements consecutively.
//
// ```text
// count_firsts    a bit for each element, set for first elements; their number in each tile
// number_firsts   the number of first elements before each tile, and in all tiles
// note_firsts     the position of each first element
// write_firsts    the element, its value, and the number of equal elements
// ```
//
// Only count_firsts compares keys; write_firsts reads the keys of first elements again. The constants TILE (elements in a tile) and TOGETHER (simultaneous
// loads of an invocation) precede this text.

struct Arguments {
    // The maximum number of elements.
    n: u32,
    // Bytes, lowest first: the beginning of the keys and the place of their number; the beginning
    // of the unique keys and the place of their number.
    keys: u32,
    // Likewise the beginnings of all values, of the unique values, and of the counts of equal
    // elements.
    values: u32,
    // The maximum number of unique elements.
    most: u32,
}

// The number of words of a tile's bits.
const WORDS: u32 = TILE / 32u;

@group(0) @binding(0) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
// The number of first elements of each tile, then the bits of each tile.
@group(0) @binding(4) var<storage, read_write> tiles: array<u32>;

fn count() -> u32 {
    return min(arguments.n, counts[byte(arguments.keys, 1u)]);
}

fn tiles_there() -> u32 {
    return (arguments.n + TILE - 1u) / TILE;
}

// Returns the place of a word of a tile's bits.
fn bits_at(tile: u32, word: u32) -> u32 {
    return tiles_there() + tile * WORDS + word;
}

var<workgroup> sums: array<u32, WORKGROUP_SIZE>;

// Returns the sum over the invocations before this one; the last word of `sums` receives the total.
// Two barriers in each step separate its reads from its writes.
fn sum_before(own: u32, local: u32) -> u32 {
    sums[local] = own;
    workgroupBarrier();
    for (var step = 1u; step < WORKGROUP_SIZE; step *= 2u) {
        var other = 0u;
        if local >= step {
            other = sums[local - step];
        }
        workgroupBarrier();
        sums[local] += other;
        workgroupBarrier();
    }
    return sums[local] - own;
}

var<workgroup> bits: array<atomic<u32>, WORDS>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn count_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = workgroup_number(place);
    let n = count();
    if local < WORDS {
        atomicStore(&bits[local], 0u);
    }
    workgroupBarrier();
    let last = max(n, 1u) - 1u;
    for (var i = local; i < TILE; i += TOGETHER * WORKGROUP_SIZE) {
        var before: array<Key, TOGETHER>;
        var read: array<Key, TOGETHER>;
        // unroll
        for (var t = 0u; t < TOGETHER; t++) {
            let at = min(tile * TILE + i + t * WORKGROUP_SIZE, last);
            before[t] = read_keys(byte(arguments.keys, 0u) + max(at, 1u) - 1u);
            read[t] = read_keys(byte(arguments.keys, 0u) + at);
        }
        // unroll
        for (var t = 0u; t < TOGETHER; t++) {
            let bit = i + t * WORKGROUP_SIZE;
            let at = tile * TILE + bit;
            // `any`, because keys may be vectors.
            if at < n && (at == 0u || any(counting_key(before[t]) != counting_key(read[t]))) {
                atomicOr(&bits[bit / 32u], 1u << (bit % 32u));
            }
        }
    }
    workgroupBarrier();
    var found = 0u;
    // A tile past the last one has no first elements.
    if local < WORDS && tile < tiles_there() {
        found = atomicLoad(&bits[local]);
        tiles[bits_at(tile, local)] = found;
    }
    sum_before(countOneBits(found), local);
    if local == 0u && tile < tiles_there() {
        tiles[tile] = sums[WORKGROUP_SIZE - 1u];
    }
}

// One workgroup: each invocation adds up a contiguous range of tiles, and after the sums over
// invocations replaces each tile's count by the number before it.
@compute @workgroup_size(WORKGROUP_SIZE)
fn number_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let all = tiles_there();
    let each = (all + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    let begin = min(local * each, all);
    let end = min(begin + each, all);
    var own = 0u;
    for (var tile = begin; tile < end; tile += TOGETHER) {
        // unroll
        for (var t = 0u; t < TOGETHER; t++) {
            own += select(0u, tiles[min(tile + t, end - 1u)], tile + t < end);
        }
    }
    var before = sum_before(own, local);
    for (var tile = begin; tile < end; tile += TOGETHER) {
        var firsts_here: array<u32, TOGETHER>;
        // unroll
        for (var t = 0u; t < TOGETHER; t++) {
            firsts_here[t] = tiles[min(tile + t, end - 1u)];
        }
        // unroll
        for (var t = 0u; t < TOGETHER; t++) {
            if tile + t < end {
                tiles[tile + t] = before;
                before += firsts_here[t];
            }
        }
    }
    if local == WORKGROUP_SIZE - 1u {
        numbers[byte(arguments.keys, 3u)] = before;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn note_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = workgroup_number(place);
    if tile >= tiles_there() {
        return;
    }
    var found = 0u;
    if local < WORDS {
        found = tiles[bits_at(tile, local)];
    }
    let number = tiles[tile] + sum_before(countOneBits(found), local);
    var noted = 0u;
    for (var left = found; left != 0u; left &= left - 1u) {
        firsts[number + noted] = tile * TILE + 32u * local + firstTrailingBit(left);
        noted++;
    }
}
