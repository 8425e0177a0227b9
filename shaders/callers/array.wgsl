fn read_ELEMENTS(i: u32) -> Key {
    return ELEMENTS[i];
}

fn write_ELEMENTS(i: u32, element: Key) {
    ELEMENTS[i] = element;
}
