// Consecutive rows of equal length. Each workgroup sorts one tile of rows.

struct Arguments {
    rows: u32,
    // The length of a row.
    length: u32,
    // The beginning of the first row in the keys, and in the payload.
    first_key: u32,
    first_payload: u32,
}

// Returns the place in the array of the element with this index in the tile, or NOWHERE for an
// empty place.
fn place_of(tile: u32, index: u32, row_log2: u32) -> u32 {
    let row = (tile << (TILE_LOG2 - ROW_LOG2)) + (index >> ROW_LOG2);
    let column = index & ((1u << ROW_LOG2) - 1u);
    let is_there = row < arguments.rows && column < arguments.length;
    return select(NOWHERE, row * arguments.length + column, is_there);
}

// Returns the place in the array where the row of an existing element begins.
fn row_begin(index: u32, place: u32, row_log2: u32) -> u32 {
    return place / arguments.length * arguments.length;
}

// Returns the place of some element of the tile's rows, to be read for an empty place. Other
// workgroups may be writing the elements of other tiles.
fn any_place(tile: u32) -> u32 {
    return min(tile << (TILE_LOG2 - ROW_LOG2), arguments.rows - 1u) * arguments.length;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    sort_tile(workgroup_number(place), local, ROW_LOG2);
}
