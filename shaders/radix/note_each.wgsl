// Each invocation adds its bits to those of the workgroup.

fn note_varying(ones: Key, zeros: Key, lane: Lane) {
    for (var w = 0u; w < KEY_WORDS; w++) {
        atomicOr(&vary[2u * w], key_word(ones, w));
        atomicOr(&vary[2u * w + 1u], key_word(zeros, w));
    }
}
