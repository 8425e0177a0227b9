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
// So keys are read once. A tile is of 32 elements for each invocation, which all take in turn, so that
// neighbours read neighbouring keys; its bits are a word for each invocation.

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

const TILE: u32 = WORKGROUP_SIZE * 32u;

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

// Where the word of bits is of an invocation in a tile.
fn bits_at(tile: u32, local: u32) -> u32 {
    return tiles_there() + tile * WORKGROUP_SIZE + local;
}

fn is_first(i: u32, n: u32) -> bool {
    if i >= n {
        return false;
    }
    let at = byte(arguments.keys, 0u) + i;
    // With any() and select(), since keys may be vectors.
    return i == 0u || any(counting_key(read_keys(at)) != counting_key(read_keys(at - select(0u, 1u, i > 0u))));
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

var<workgroup> bits: array<atomic<u32>, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn count_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = workgroup_number(place);
    let n = count();
    atomicStore(&bits[local], 0u);
    workgroupBarrier();
    for (var i = local; i < TILE; i += WORKGROUP_SIZE) {
        if is_first(tile * TILE + i, n) {
            atomicOr(&bits[i / 32u], 1u << (i % 32u));
        }
    }
    workgroupBarrier();
    let found = atomicLoad(&bits[local]);
    sum_before(countOneBits(found), local);
    // Tiles behind the last one have none.
    if tile >= tiles_there() {
        return;
    }
    tiles[bits_at(tile, local)] = found;
    if local == 0u {
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
    for (var tile = begin; tile < end; tile++) {
        own += tiles[tile];
    }
    var before = sum_before(own, local);
    for (var tile = begin; tile < end; tile++) {
        let firsts_here = tiles[tile];
        tiles[tile] = before;
        before += firsts_here;
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
    let found = tiles[bits_at(tile, local)];
    let number = tiles[tile] + sum_before(countOneBits(found), local);
    var noted = 0u;
    for (var left = found; left != 0u; left &= left - 1u) {
        firsts[number + noted] = tile * TILE + 32u * local + firstTrailingBit(left);
        noted++;
    }
}
