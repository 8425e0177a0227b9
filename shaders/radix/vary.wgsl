// Which bits vary, found out: of each word of a key those that are set in some key, and those that are not set in some.

var<workgroup> vary: array<atomic<u32>, 4>;

// After a barrier.
fn begin_varying(local: u32) {
    if local < 4u {
        atomicStore(&vary[local], 0u);
    }
}

fn note_varying(ones: Key, zeros: Key, lane: u32) {
    for (var w = 0u; w < KEY_WORDS; w++) {
        let all_ones = subgroupOr(key_word(ones, w));
        let all_not_set = subgroupOr(key_word(zeros, w));
        if lane == 0u {
            atomicOr(&vary[2u * w], all_ones);
            atomicOr(&vary[2u * w + 1u], all_not_set);
        }
    }
}

// After a barrier.
fn end_varying(local: u32) {
    if local < 2u * KEY_WORDS {
        atomicOr(&varying_bits[local], atomicLoad(&vary[local]));
    }
}
