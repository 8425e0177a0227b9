// An element is its key alone.

alias Element = Key;

// Sorts after every element, or equals it in every bit: stands for positions past the end.
const LAST_ELEMENT: Element = LAST_KEY;

@group(0) @binding(0) var<storage, read_write> keys: array<Key>;

fn less(a: Element, b: Element) -> bool {
    return key_less(a, b);
}

fn load(i: u32) -> Element {
    return keys[i];
}

fn store(i: u32, element: Element) {
    keys[i] = element;
}

fn load_tile(i: u32) -> Element {
    return load_tile_key(i);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element);
}
