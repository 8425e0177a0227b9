// Rows that are listed: segments, by classes of their lengths. How many there are the device alone
// knows, so a few workgroups take one tile after another. A tile is of one class, which decides how
// many places a row has in it.

struct Arguments {
    // Tiles of all classes.
    tiles: u32,
    // Where the offsets begin.
    first_offset: u32,
    // Where the array begins: keys, and what is beside them.
    first_key: u32,
    first_payload: u32,
}

// Rows in a tile of the first class.
const ROWS: u32 = 1u << (TILE_LOG2 - ROW_LOG2);

// Finds the rows of a tile. Returns the class of the tile, counted from the first one of these.
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
