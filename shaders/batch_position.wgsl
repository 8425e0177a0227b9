// Rows of keys with a word beside each.

fn write_rows(e: ptr<function, Registers>, tile: u32, local: u32) {
    var words: array<u32, ELEMENTS>;
    if NUMBERS == 1u {
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            let i = place_of_register(tile, local, r);
            words[r] = (*e)[r].position - row_begin(first_index(local, LAST_LOW) | (r << LAST_LOW), i);
        }
    } else {
        // All of a row are read before any is written.
        // unroll
        for (var r = 0u; r < ELEMENTS; r++) {
            let is_there = place_of_register(tile, local, r) != NOWHERE;
            let i = select(any_place(tile), (*e)[r].position, is_there);
            words[r] = positions[arguments.first_position + i];
        }
    }
    storageBarrier();
    // unroll
    for (var r = 0u; r < ELEMENTS; r++) {
        let i = place_of_register(tile, local, r);
        if i != NOWHERE {
            keys[arguments.first_key + i] = element_of_key((*e)[r].key);
            positions[arguments.first_position + i] = words[r];
        }
    }
}
