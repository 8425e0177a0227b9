// For keys that may have insignificant bits.

// Returns the mask of a digit's significant bits.
fn digit_mask(digit: u32) -> u32 {
    if KEY_BITS == DIGITS * DIGIT_BITS {
        return RADIX - 1u;
    }
    return (1u << min(DIGIT_BITS, max(KEY_BITS, DIGIT_BITS * digit) - DIGIT_BITS * digit)) - 1u;
}

// Returns the significant ones of these bits.
fn that_count(bits: vec2<u32>) -> vec2<u32> {
    return bits & vec2(LOW_BITS, HIGH_BITS);
}
