// Finds the first element of each run of equal keys, where all are in order, and writes these one
// after another.
//
// ```text
// count_firsts    firsts in each tile
// number_firsts   firsts before each tile, and all of them
// note_firsts     the place of each first
// write_firsts    its element, its value, and how many are equal to it
// ```

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

const TILE: u32 = WORKGROUP_SIZE * EACH;

@group(0) @binding(0) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(4) var<storage, read_write> tiles: array<u32>;

fn count() -> u32 {
    return min(arguments.n, counts[byte(arguments.keys, 1u)]);
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

// Consecutive elements of an invocation, so that sums over invocations number them.
fn firsts_of(tile: u32, local: u32, n: u32) -> u32 {
    var found = 0u;
    for (var e = 0u; e < EACH; e++) {
        found |= u32(is_first(tile * TILE + local * EACH + e, n)) << e;
    }
    return found;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn count_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = workgroup_number(place);
    let n = count();
    let own = countOneBits(firsts_of(tile, local, n));
    sum_before(own, local);
    // Tiles behind the last one have none.
    if local == 0u && tile < (arguments.n + TILE - 1u) / TILE {
        tiles[tile] = sums[WORKGROUP_SIZE - 1u];
    }
}

// One workgroup.
@compute @workgroup_size(WORKGROUP_SIZE)
fn number_firsts(place: Place, @builtin(local_invocation_index) local: u32) {
    let all = (arguments.n + TILE - 1u) / TILE;
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
    let found = firsts_of(tile, local, count());
    let before = sum_before(countOneBits(found), local);
    if found == 0u {
        return;
    }
    var number = tiles[tile] + before;
    for (var e = 0u; e < EACH; e++) {
        if ((found >> e) & 1u) == 1u {
            firsts[number] = tile * TILE + local * EACH + e;
            number++;
        }
    }
}
