// Keys that are in order as words.

fn key_of_element(element: Key) -> Key {
    return element;
}

fn element_of_key(key: Key) -> Key {
    return key;
}
