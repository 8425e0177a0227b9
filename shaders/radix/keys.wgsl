// All bits of keys count.

// The bits of a digit that count.
fn digit_mask(digit: u32) -> u32 {
    return RADIX - 1u;
}

// Of bits, those that count.
fn that_count(bits: vec2<u32>) -> vec2<u32> {
    return bits;
}
