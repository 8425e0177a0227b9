// Keys of one word: the ordered words with the digit are the ordered keys.

fn move_keys(
    e: ptr<function, Keys>,
    ranks: ptr<function, Words>,
    moved: ptr<function, Words>,
    places: ptr<function, Words>,
    current: Pass,
    own: Own,
) {
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        (*e)[i] = (*moved)[i];
    }
    store_keys(e, places, current, own);
}
