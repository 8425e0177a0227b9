// Segments in the order of their offsets, for segments no longer than a row. Segments that are
// longer, contrary to the host's bound, stay unsorted.

struct Arguments {
    segments: u32,
    // The beginning of the offsets.
    first_offset: u32,
    // The beginning of the array in the keys, and in the payload.
    first_key: u32,
    first_payload: u32,
}

// The number of rows in a tile.
const ROWS: u32 = 1u << (TILE_LOG2 - ROW_LOG2);

// The beginning of the first row of the tile that is not empty.
var<workgroup> first_begin: atomic<u32>;

// Finds the rows of a tile: each invocation looks up every WORKGROUP_SIZEth row. Returns true if a
// row has elements. The uniform load completes `rows` and `first_begin` for all invocations.
fn find_rows(tile: u32, local: u32) -> bool {
    if local == 0u {
        atomicStore(&first_begin, NOWHERE);
    }
    workgroupBarrier();
    for (var r = local; r < ROWS; r += WORKGROUP_SIZE) {
        let segment = tile * ROWS + r;
        var found = vec2(0u);
        if segment < arguments.segments {
            let begin = segment_offsets[arguments.first_offset + segment];
            let length = segment_offsets[arguments.first_offset + segment + 1u] - begin;
            if length > 0u && length <= 1u << ROW_LOG2 {
                found = vec2(begin, length);
                atomicMin(&first_begin, begin);
            }
        }
        rows[r] = found;
    }
    let begin = workgroupUniformLoad(&first_begin);
    somewhere = begin;
    return begin != NOWHERE;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    // Invalid offsets: nothing is sorted.
    if segments[0] != 0u {
        return;
    }
    let tile = workgroup_number(place);
    if find_rows(tile, local) {
        sort_tile(tile, local, ROW_LOG2);
    }
}
