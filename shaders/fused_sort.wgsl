// Sorts each tile, in one workgroup; see fused.wgsl and fused_stages.wgsl.

// The number of bits of an index in a part.
const PART_BITS: u32 = TILE_LOG2 - PARTS_LOG2;

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_tile(place: Place, @builtin(local_invocation_index) local: u32) {
    let tile = tile_at(place);
    var e: Registers;
    // The elements are not yet in order, so the layout of the loads serves as layout 0.
    load_registers(&e, tile, local, LAST_LOW, false);
    // unroll
    for (var p = 0u; p < PARTS; p++) {
        reverse_part(&e, p, local & 1u);
    }
    sort_registers(&e);
    for (var k = PART_LOG2 + 1u; k <= PART_BITS; k++) {
        let now = local >> (k - 1u - PART_LOG2);
        // unroll
        for (var p = 0u; p < PARTS; p++) {
            let next = select(now >> 1u, p, k == PART_BITS);
            reverse_part(&e, p, (now ^ next) & 1u);
        }
        merge_bits(&e, local, k);
    }
    // unroll
    for (var j = 0u; j < PARTS_LOG2; j++) {
        // unroll
        for (var p = 0u; p < PARTS; p++) {
            reverse_part(&e, p, ((p >> j) ^ (p >> (j + 1u))) & 1u);
        }
        merge_registers(&e, PART_LOG2 + j + 1u, PART_LOG2);
        merge_bits(&e, local, PART_BITS);
    }
    exchange(&e, local, 0u, LAST_LOW);
    store_registers(&e, tile, local, LAST_LOW, false);
}
