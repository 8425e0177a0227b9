// Finds the first element of each run of equal keys, where all are in order, and writes these one
// after another.
//
// ```text
// count_firsts    which are firsts, a bit for each element, and how many of a tile
// number_firsts   firsts before each tile, and all of them
// note_firsts     the place of each first
// write_firsts    its element, its value, and how many are equal to it
// ```
//
// So keys are read once. Before it there are the constants TILE (elements in a tile) and TOGETHER
// (loads of an invocation at a time).

struct Arguments {
    // The most elements.
    n: u32,
    // Bytes, the lowest first: where keys begin and where their number is; where unique keys begin
    // and where their number is.
    keys: u32,
    // The same of values: those of all, those of the unique, counts of the equal.
    values: u32,
    // The most unique elements.
    most: u32,
}

// Words of bits of a tile.
const WORDS: u32 = TILE / 32u;

@group(0) @binding(0) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
// How many firsts are in each tile, then their bits.
@group(0) @binding(4) var<storage, read_write> tiles: array<u32>;

fn count() -> u32 {
    return min(arguments.n, counts[byte(arguments.keys, 1u)]);
}

fn tiles_there() -> u32 {
    return (arguments.n + TILE - 1u) / TILE;
}

// Where a word of bits is of a tile.
fn bits_at(tile: u32, word: u32) -> u32 {
    return tiles_there() + tile * WORDS + word;
}

var<workgroup> sums: array<u32, WORKGROUP_SIZE>;

// The sum over the invocations before this one; the sum of all is in the last place of `sums`.
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
            // With any(), since keys may be vectors.
            if at < n && (at == 0u || any(counting_key(before[t]) != counting_key(read[t]))) {
                atomicOr(&bits[bit / 32u], 1u << (bit % 32u));
            }
        }
    }
    workgroupBarrier();
    var found = 0u;
    // Tiles behind the last one have none.
    if local < WORDS && tile < tiles_there() {
        found = atomicLoad(&bits[local]);
        tiles[bits_at(tile, local)] = found;
    }
    sum_before(countOneBits(found), local);
    if local == 0u && tile < tiles_there() {
        tiles[tile] = sums[WORKGROUP_SIZE - 1u];
    }
}

// One workgroup.
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
