// The places of tiles in an array; see fused.wgsl.

struct Arguments {
    // The end of the dispatch's elements.
    n: u32,
    // The beginning of the dispatch's elements.
    first: u32,
    // The bit of the index in the array for bit RUN_LOG2 of the index in a tile.
    low: u32,
    // The number of the phase.
    phase: u32,
}

// The place of a tile in the array. The RUN_LOG2 low bits of an index in the tile are the low bits
// of the index in the array, so that accesses cover contiguous runs. The remaining bits of the
// index in the tile are the bits from `arguments.low` on. The bits between belong to the tile:
// `middle`, with all bits flipped for the upper half of a mirrored tile.
struct Tile {
    first: u32,
    middle: u32,
    upper_middle: u32,
    // True if the whole block with the tile's elements lies inside the array.
    is_whole: bool,
}

fn tile_at(place: Place) -> Tile {
    let number = workgroup_number(place);
    let middle_log2 = arguments.low - RUN_LOG2;
    let block_log2 = arguments.low + TILE_LOG2 - RUN_LOG2;
    let middle_mask = ((1u << middle_log2) - 1u) << RUN_LOG2;
    // In two shifts, since a shift by 32 would be a shift by 0.
    let first = arguments.first + (((number >> middle_log2) << (block_log2 - 1u)) << 1u);
    let middle = (number << RUN_LOG2) & middle_mask;
    let upper_middle = middle ^ select(0u, middle_mask, MIRRORED == 1u);
    let is_whole = first < arguments.n && ((arguments.n - first) >> (block_log2 - 1u)) >= 2u;
    return Tile(first, middle, upper_middle, is_whole);
}

// Spreads the bits of an index in a tile to the bits of an index in the array.
fn spread(index: u32) -> u32 {
    return (index & ((1u << RUN_LOG2) - 1u)) | ((index >> RUN_LOG2) << arguments.low);
}

fn place_in_array(tile: Tile, index: u32) -> u32 {
    let middle = select(tile.middle, tile.upper_middle, (index >> (TILE_LOG2 - 1u)) == 1u);
    return tile.first + (middle | spread(index));
}

// Returns the places of this invocation's first element, and of the first element in the upper half
// of its registers.
fn places(tile: Tile, local: u32, low: u32, is_mirrored: bool) -> vec2<u32> {
    let upper_local = select(local, local ^ (WORKGROUP_SIZE - 1u), is_mirrored);
    let upper_bit = select(1u << (TILE_LOG2 - 1u), HALF << low, PARTS == 1u);
    return vec2(
        place_in_array(tile, first_index(local, low)),
        place_in_array(tile, first_index(upper_local, low) | upper_bit),
    );
}

// Returns the distance in the array from the first element of an invocation to the element in
// register r.
fn distance(r: u32, low: u32) -> u32 {
    return spread(((r % PART) << low) | ((r / PART) << (TILE_LOG2 - PARTS_LOG2)));
}

fn load_registers(e: ptr<function, Registers>, tile: Tile, local: u32, low: u32, is_mirrored: bool) {
    let at = places(tile, local, low, is_mirrored);
    if tile.is_whole {
        // unroll
        for (var r = 0u; r < HALF; r++) {
            (*e)[r] = load(at.x + distance(r, low));
            (*e)[HALF + r] = load(at.y + distance(r, low));
        }
    } else {
        // unroll
        for (var r = 0u; r < HALF; r++) {
            (*e)[r] = load_or_last(at.x + distance(r, low));
            (*e)[HALF + r] = load_or_last(at.y + distance(r, low));
        }
    }
}

fn store_registers(e: ptr<function, Registers>, tile: Tile, local: u32, low: u32, is_mirrored: bool) {
    let at = places(tile, local, low, is_mirrored);
    if tile.is_whole {
        // unroll
        for (var r = 0u; r < HALF; r++) {
            store(at.x + distance(r, low), (*e)[r]);
            store(at.y + distance(r, low), (*e)[HALF + r]);
        }
    } else {
        // unroll
        for (var r = 0u; r < HALF; r++) {
            store_inside(at.x + distance(r, low), (*e)[r]);
            store_inside(at.y + distance(r, low), (*e)[HALF + r]);
        }
    }
}

// Without a branch, so that an invocation's loads overlap.
fn load_or_last(i: u32) -> Element {
    return element_or_last(load(min(i, arguments.n - 1u)), i < arguments.n);
}

fn store_inside(i: u32, element: Element) {
    if i < arguments.n {
        store(i, element);
    }
}
