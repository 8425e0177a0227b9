// Segments listed by classes of lengths. Only the device knows their number, so a few workgroups
// take one tile after another. All rows of a tile belong to one class, which determines the number
// of places of a row.

struct Arguments {
    // The number of tiles of all classes.
    tiles: u32,
    // The beginning of the offsets.
    first_offset: u32,
    // The beginning of the array in the keys, and in the payload.
    first_key: u32,
    first_payload: u32,
}

// The number of rows in a tile of the first class.
const ROWS: u32 = 1u << (TILE_LOG2 - ROW_LOG2);

// Finds the rows of a tile: each invocation looks up every WORKGROUP_SIZEth row, and a barrier
// completes `rows`. Returns the class of the tile, counted from FIRST_CLASS.
fn find_rows(tile: u32, local: u32) -> u32 {
    var number = 0u;
    for (var c = 1u; c < CLASSES; c++) {
        number = select(number, c, tile >= segment_classes[FIRST_CLASS + c].x);
    }
    let own_class = segment_classes[FIRST_CLASS + number];
    let each = ROWS >> number;
    for (var r = local; r < each; r += WORKGROUP_SIZE) {
        let row = (tile - own_class.x) * each + r;
        var found = vec2(0u);
        if row < own_class.y {
            let offset = arguments.first_offset + segment_list[own_class.z + row];
            let begin = segment_offsets[offset];
            found = vec2(begin, segment_offsets[offset + 1u] - begin);
        }
        rows[r] = found;
    }
    workgroupBarrier();
    somewhere = rows[0].x;
    return number;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    for (var tile = workgroup_number(place); tile < arguments.tiles; tile += place.grid.x * place.grid.y) {
        let number = find_rows(tile, local);
        sort_tile(tile, local, ROW_LOG2 + number);
        workgroupBarrier();
    }
}
