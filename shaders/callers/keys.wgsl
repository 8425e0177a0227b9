// Keys that are in order as words.

fn key_of_element(element: Key) -> Key {
    return element;
}

fn element_of_key(key: Key) -> Key {
    return key;
}

// The bits of an element's key that count: all.
fn counting_key(element: Key) -> Key {
    return element;
}
