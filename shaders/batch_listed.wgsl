// Rows that are listed: segments whose lengths are of one class. How many there are the device alone knows, so a few workgroups
// take one tile after another.

struct Arguments {
    rows: u32,
    // Where the list begins, and where the offsets do.
    first_row: u32,
    first_offset: u32,
    // Where the array begins: keys, and what is beside them.
    first_key: u32,
    first_position: u32,
}

const ROWS: u32 = 1u << (TILE_LOG2 - ROW_LOG2);

// Where each row of the tile begins, and its length.
var<workgroup> rows: array<vec2<u32>, ROWS>;

fn find_rows(tile: u32, local: u32) {
    for (var r = local; r < ROWS; r += WORKGROUP_SIZE) {
        let row = tile * ROWS + r;
        var found = vec2(0u);
        if row < arguments.rows {
            let offset = arguments.first_offset + segment_list[arguments.first_row + row];
            let begin = segment_offsets[offset];
            found = vec2(begin, segment_offsets[offset + 1u] - begin);
        }
        rows[r] = found;
    }
    workgroupBarrier();
}

// Where the element with this index in the tile is in the array.
fn place_of(tile: u32, index: u32) -> u32 {
    let row = rows[index >> ROW_LOG2];
    let column = index & ((1u << ROW_LOG2) - 1u);
    return select(NOWHERE, row.x + column, column < row.y);
}

// Where the row begins of an element that is there.
fn row_begin(index: u32, place: u32) -> u32 {
    return rows[index >> ROW_LOG2].x;
}

// An element of a row of the tile, to be read where there is none: those of other tiles may be written meanwhile.
fn any_place(tile: u32) -> u32 {
    return rows[0].x;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    let tiles = (arguments.rows + ROWS - 1u) / ROWS;
    for (var tile = workgroup_number(place); tile < tiles; tile += place.grid.x * place.grid.y) {
        find_rows(tile, local);
        sort_tile(tile, local);
        workgroupBarrier();
    }
}
