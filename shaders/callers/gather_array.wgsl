
fn gather_NUMBER(first: u32, count: u32, local: u32) {
    // Neighbouring invocations write neighbouring words.
    for (var i = local; i < count * WORDS_NUMBER; i += WORKGROUP_SIZE) {
        let position = positions[(arguments.firsts & 0xffu) + first + i / WORDS_NUMBER];
        if position < arguments.elements_NUMBER {
            let source = (arguments.firsts_NUMBER & 0xffu) + position * WORDS_NUMBER + i % WORDS_NUMBER;
            let target_word = ((arguments.firsts_NUMBER >> 8u) & 0xffu) + first * WORDS_NUMBER + i;
            target_NUMBER[target_word] = source_NUMBER[source];
        }
    }
}
