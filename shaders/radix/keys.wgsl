// For keys with significant bits only.

// Returns the mask of a digit's significant bits.
fn digit_mask(digit: u32) -> u32 {
    return RADIX - 1u;
}

// Returns the significant ones of these bits.
fn that_count(bits: vec2<u32>) -> vec2<u32> {
    return bits;
}
