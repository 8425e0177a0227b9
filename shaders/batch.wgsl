// Sorts rows separately; see fused.wgsl. A workgroup sorts one tile, which holds whole rows, and
// keeps ELEMENTS elements in the registers of each invocation. A row has a block of 2^row_log2
// places in the tile; if the row is shorter, the last places of its block are empty. ROW_LOG2 is
// the least row_log2. The tile goes through the stages of blocks up to the size of a row's block.

const NOWHERE: u32 = 0xffffffffu;

// Returns the index in the tile of the element in register r. In this layout, the registers are the
// highest bits of the index.
fn index_of_register(local: u32, r: u32) -> u32 {
    return first_index(local, LAST_LOW) | (r << LAST_LOW);
}

// Returns the place in the array of the element in register r, or NOWHERE.
fn place_of_register(tile: u32, local: u32, r: u32, row_log2: u32) -> u32 {
    return place_of(tile, index_of_register(local, r), row_log2);
}

fn read_rows(e: ptr<function, Registers>, tile: u32, local: u32, row_log2: u32) {
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        let i = place_of_register(tile, local, r, row_log2);
        let key = key_of_element(keys[arguments.first_key + select(i, any_place(tile), i == NOWHERE)]);
        // The place in the array stands for the position: within a row both break ties in the same
        // way.
        (*e)[r] = element_or_last(element_of(key, i), i != NOWHERE);
    }
}

fn sort_tile(tile: u32, local: u32, row_log2: u32) {
    var e: Registers;
    read_rows(&e, tile, local, row_log2);
    exchange(&e, local, LAST_LOW, 0u);
    if row_log2 > ELEMENTS_LOG2 {
        reverse_part(&e, 0u, local & 1u);
    }
    sort_registers(&e);
    for (var k = ELEMENTS_LOG2 + 1u; k <= row_log2; k++) {
        let now = local >> (k - 1u - ELEMENTS_LOG2);
        let next = select(now >> 1u, 0u, k == row_log2);
        reverse_part(&e, 0u, (now ^ next) & 1u);
        merge_bits(&e, local, k);
    }
    exchange(&e, local, 0u, LAST_LOW);
    write_rows(&e, tile, local, row_log2);
}
