// Keys in the order of their words, in arrays that begin where their bindings do.

fn read_key(i: u32) -> Key {
    return keys[i];
}

fn write_key(i: u32, key: Key) {
    scratch_keys[i] = key;
}

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
