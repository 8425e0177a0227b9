
fn gather_NUMBER(first: u32, count: u32, local: u32) {
    // Neighbouring invocations write neighbouring words.
    for (var i = local; i < count * WORDS_NUMBER; i += WORKGROUP_SIZE) {
        let position = positions[byte(arguments.firsts, 0u) + first + i / WORDS_NUMBER];
        if position < arguments.elements_NUMBER {
            let source = byte(arguments.firsts_NUMBER, 0u) + position * WORDS_NUMBER + i % WORDS_NUMBER;
            let target_word = byte(arguments.firsts_NUMBER, 1u) + first * WORDS_NUMBER + i;
            target_NUMBER[target_word] = source_NUMBER[source];
        }
    }
}
