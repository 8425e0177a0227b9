// Elements of merged runs without payload.

alias Element = Key;

fn less(a: Element, b: Element) -> bool {
    return key_less(a & COUNTING, b & COUNTING);
}

fn load_first(i: u32) -> Element {
    return load_first_key(i);
}

fn load_second(i: u32) -> Element {
    return load_second_key(i);
}

fn store_merged(i: u32, element: Element) {
    if i < arguments.most {
        store_merged_key(i, element);
    }
}

fn load_tile(i: u32) -> Element {
    return load_tile_key(i);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element);
}
