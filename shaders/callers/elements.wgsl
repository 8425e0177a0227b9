// Maps elements to keys, with the significant bits rotated to the lowest ones.

fn key_of_element(element: Key) -> Key {
    return rotated(ordered(element), KEY_BEGIN);
}

fn element_of_key(key: Key) -> Key {
    return unordered(rotated(key, (32u * KEY_WORDS - KEY_BEGIN) % (32u * KEY_WORDS)));
}

// Returns the significant bits of an element's key; the other bits are zeros.
fn counting_key(element: Key) -> Key {
    return key_of_element(element) & COUNTING;
}
