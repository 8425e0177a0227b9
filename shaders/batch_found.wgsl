// Rows that a workgroup has found before it sorts a tile of them.

// An element of a row of the tile, to be read where there is none: those of other tiles may be
// written meanwhile.
var<private> somewhere: u32;

fn any_place(tile: u32) -> u32 {
    return somewhere;
}

// Where each row of the tile begins, and its length.
var<workgroup> rows: array<vec2<u32>, ROWS>;

// Where the element with this index in the tile is in the array.
fn place_of(tile: u32, index: u32, row_log2: u32) -> u32 {
    let row = rows[index >> row_log2];
    let column = index & ((1u << row_log2) - 1u);
    return select(NOWHERE, row.x + column, column < row.y);
}

// Where the row begins of an element that is there.
fn row_begin(index: u32, place: u32, row_log2: u32) -> u32 {
    return rows[index >> row_log2].x;
}
