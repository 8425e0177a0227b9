// Elements that are their own keys.

fn key_of_element(element: Key) -> Key {
    return element;
}

fn element_of_key(key: Key) -> Key {
    return key;
}

// Returns the significant bits of an element's key, here all bits.
fn counting_key(element: Key) -> Key {
    return element;
}
