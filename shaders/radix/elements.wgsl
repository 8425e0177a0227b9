// Some bits of keys may count alone.

// The bits of a digit that count.
fn digit_mask(digit: u32) -> u32 {
    if KEY_BITS == DIGITS * DIGIT_BITS {
        return RADIX - 1u;
    }
    return (1u << min(DIGIT_BITS, max(KEY_BITS, DIGIT_BITS * digit) - DIGIT_BITS * digit)) - 1u;
}

// Of bits, those that count.
fn that_count(bits: vec2<u32>) -> vec2<u32> {
    return bits & vec2(LOW_BITS, HIGH_BITS);
}
