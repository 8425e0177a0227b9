// Each subgroup joins the bits of its lanes, and its first lane adds them to those of the
// workgroup.

fn note_varying(ones: Key, zeros: Key, lane: Lane) {
    for (var w = 0u; w < KEY_WORDS; w++) {
        let all_ones = subgroupOr(key_word(ones, w));
        let all_not_set = subgroupOr(key_word(zeros, w));
        if lane.number == 0u {
            atomicOr(&vary[2u * w], all_ones);
            atomicOr(&vary[2u * w + 1u], all_not_set);
        }
    }
}
