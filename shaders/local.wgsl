// Performs the bitonic steps whose strides stay within a tile, in workgroup memory: one workgroup
// for each tile.
//
// Positions past the end of the array hold LAST_ELEMENT. A comparison swaps only if the higher
// position holds the strictly smaller element, so LAST_ELEMENT never trades places with an element.
//
// A barrier precedes each step: the comparisons of one step write disjoint pairs, and the next step
// reads them.

struct Arguments {
    // The number of elements.
    n: u32,
}

fn load_tile_from_array(start: u32, local: u32) {
    for (var i = local; i < TILE_SIZE; i += WORKGROUP_SIZE) {
        var element = LAST_ELEMENT;
        if start + i < arguments.n {
            element = load(start + i);
        }
        store_tile(i, element);
    }
}

fn store_tile_to_array(start: u32, local: u32) {
    workgroupBarrier();
    for (var i = local; i < TILE_SIZE; i += WORKGROUP_SIZE) {
        if start + i < arguments.n {
            store(start + i, load_tile(i));
        }
    }
}

fn compare_exchange_in_tile(low: u32, high: u32) {
    let a = load_tile(low);
    let b = load_tile(high);
    if less(b, a) {
        store_tile(low, b);
        store_tile(high, a);
    }
}

// Performs the first step of the stage that makes sorted blocks of 2 * half elements.
fn mirror_in_tile(half: u32, local: u32) {
    workgroupBarrier();
    for (var c = local; c < TILE_SIZE / 2u; c += WORKGROUP_SIZE) {
        let offset = c & (half - 1u);
        let block = 2u * (c - offset);
        compare_exchange_in_tile(block + offset, block + 2u * half - 1u - offset);
    }
}

// Performs the steps with strides from half a block down to 1.
fn merge_in_tile(block: u32, local: u32) {
    for (var stride = block / 2u; stride > 0u; stride /= 2u) {
        workgroupBarrier();
        for (var c = local; c < TILE_SIZE / 2u; c += WORKGROUP_SIZE) {
            let low = 2u * c - (c & (stride - 1u));
            compare_exchange_in_tile(low, low + stride);
        }
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_tile(place: Place, @builtin(local_invocation_index) local: u32) {
    let start = workgroup_number(place) * TILE_SIZE;
    load_tile_from_array(start, local);
    for (var half = 1u; half < TILE_SIZE; half *= 2u) {
        mirror_in_tile(half, local);
        merge_in_tile(half, local);
    }
    store_tile_to_array(start, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn merge_tile(place: Place, @builtin(local_invocation_index) local: u32) {
    let start = workgroup_number(place) * TILE_SIZE;
    load_tile_from_array(start, local);
    merge_in_tile(TILE_SIZE, local);
    store_tile_to_array(start, local);
}
