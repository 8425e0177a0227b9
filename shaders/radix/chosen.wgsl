// The passes by the chosen digits.

struct Chosen {
    // The digits by which elements are distributed, one bit each, and the number of passes.
    digits: u32,
    passes: u32,
    // True if elements with equal prefixes may differ in further digits; the chosen digits are the
    // prefix.
    finishes: bool,
}

fn chosen() -> Chosen {
    let vary = digits_of(vec2(varying_bits[0] & varying_bits[1], varying_bits[2] & varying_bits[3]));
    let all = (1u << DIGITS) - 1u;
    let leading = all & (all << varying_bits[FROM]);
    var digits = vary & leading;
    let rest = vary & ~leading;
    // At least one pass, which maps elements to keys, and writes iota.
    if digits == 0u && (rest != 0u || arguments.iota == 1u) {
        digits = 1u << (DIGITS - 1u);
    }
    return Chosen(digits, countOneBits(digits), rest != 0u);
}

// Returns the bits of a prefix.
fn prefix_mask() -> Key {
    var mask = LAST_KEY;
    for (var w = 0u; w < KEY_WORDS; w++) {
        // The number of low bits in this word that belong to no leading digit.
        let below = max(varying_bits[FROM] * DIGIT_BITS, 32u * w) - 32u * w;
        mask = key_with_word(mask, w, select(0xffffffffu << (below & 31u), 0u, below >= 32u));
    }
    return mask;
}
