// Keys in the order of their words.

fn key_of_element(element: Key) -> Key {
    return element;
}

fn element_of_key(key: Key) -> Key {
    return key;
}

// The bits of a digit that count.
fn digit_mask(digit: u32) -> u32 {
    return RADIX - 1u;
}

// Of bits, those that count.
fn that_count(bits: vec2<u32>) -> vec2<u32> {
    return bits;
}
