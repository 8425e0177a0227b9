// Keys of two words: the other word is ordered like the word with the digit. One barrier ends the
// reads of the previous words, the other completes the writes.

fn move_keys(
    e: ptr<function, Keys>,
    ranks: ptr<function, Words>,
    moved: ptr<function, Words>,
    places: ptr<function, Words>,
    current: Pass,
    own: Own,
) {
    let is_high = current.digit >= 4u;
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        atomicStore(&shared_words[(*ranks)[i]], select((*e)[i].y, (*e)[i].x, is_high));
    }
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        let other = atomicLoad(&shared_words[own.place + i * WORKGROUP_SIZE]);
        (*e)[i] = select(vec2((*moved)[i], other), vec2(other, (*moved)[i]), is_high);
    }
    store_keys(e, places, current, own);
}
