// Rows of keys with a payload of one word each.

fn write_rows(e: ptr<function, Registers>, tile: u32, local: u32, row_log2: u32) {
    var words: array<u32, ELEMENTS>;
    if IOTA == 1u {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            let i = place_of_register(tile, local, r, row_log2);
            words[r] = (*e)[r].payload - row_begin(index_of_register(local, r), i, row_log2);
        }
    } else {
        // The payload of a row is read completely before it is written.
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            let is_there = place_of_register(tile, local, r, row_log2) != NOWHERE;
            let i = select(any_place(tile), (*e)[r].payload, is_there);
            words[r] = payload[arguments.first_payload + i];
        }
    }
    storageBarrier();
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        let i = place_of_register(tile, local, r, row_log2);
        if i != NOWHERE {
            keys[arguments.first_key + i] = element_of_key((*e)[r].key);
            payload[arguments.first_payload + i] = words[r];
        }
    }
}
