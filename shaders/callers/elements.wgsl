// Elements, mapped to keys of which those bits that count are the lowest.

fn key_of_element(element: Key) -> Key {
    return rotated(ordered(element), KEY_BEGIN);
}

fn element_of_key(key: Key) -> Key {
    return unordered(rotated(key, (32u * KEY_WORDS - KEY_BEGIN) % (32u * KEY_WORDS)));
}

// The bits of an element's key that count; the others are zeros.
fn counting_key(element: Key) -> Key {
    return key_of_element(element) & COUNTING;
}
