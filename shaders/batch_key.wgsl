// Rows of keys without payload.

fn write_rows(e: ptr<function, Registers>, tile: u32, local: u32, row_log2: u32) {
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        let i = place_of_register(tile, local, r, row_log2);
        if i != NOWHERE {
            keys[arguments.first_key + i] = element_of_key((*e)[r]);
        }
    }
}
