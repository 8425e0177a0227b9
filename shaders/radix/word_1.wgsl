// Keys of one word, which are in order when the words with the digit are.

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
