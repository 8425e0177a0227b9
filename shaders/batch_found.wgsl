// Rows that the workgroup looks up before it sorts its tile.

// The place of some element of the tile's rows, to be read for an empty place. Other workgroups may
// be writing the elements of other tiles.
var<private> somewhere: u32;

fn any_place(tile: u32) -> u32 {
    return somewhere;
}

// The beginning and the length of each row of the tile. They are complete after a barrier, and
// constant until the tile is sorted.
var<workgroup> rows: array<vec2<u32>, ROWS>;

// Returns the place in the array of the element with this index in the tile, or NOWHERE for an
// empty place.
fn place_of(tile: u32, index: u32, row_log2: u32) -> u32 {
    let row = rows[index >> row_log2];
    let column = index & ((1u << row_log2) - 1u);
    return select(NOWHERE, row.x + column, column < row.y);
}

// Returns the place in the array where the row of an existing element begins.
fn row_begin(index: u32, place: u32, row_log2: u32) -> u32 {
    return rows[index >> row_log2].x;
}
