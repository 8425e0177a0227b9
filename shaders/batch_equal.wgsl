// Rows of one length, one after another.

struct Arguments {
    rows: u32,
    // Elements in each.
    length: u32,
    // Where the first row begins: its keys, and what is beside them.
    first_key: u32,
    first_payload: u32,
}

// Where the element with this index in the tile is in the array.
fn place_of(tile: u32, index: u32, row_log2: u32) -> u32 {
    let row = (tile << (TILE_LOG2 - ROW_LOG2)) + (index >> ROW_LOG2);
    let column = index & ((1u << ROW_LOG2) - 1u);
    let is_there = row < arguments.rows && column < arguments.length;
    return select(NOWHERE, row * arguments.length + column, is_there);
}

// Where the row begins of an element that is there.
fn row_begin(index: u32, place: u32, row_log2: u32) -> u32 {
    return place / arguments.length * arguments.length;
}

// An element of a row of the tile, to be read where there is none: those of other tiles may be
// written meanwhile.
fn any_place(tile: u32) -> u32 {
    return min(tile << (TILE_LOG2 - ROW_LOG2), arguments.rows - 1u) * arguments.length;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    sort_tile(workgroup_number(place), local, ROW_LOG2);
}
