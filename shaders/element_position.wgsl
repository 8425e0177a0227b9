// An element is a key and the position it had in the input, which breaks ties: the sort is stable.

struct Element {
    key: Key,
    position: u32,
}

// Sorts after every element: no input has a position this large.
const LAST_ELEMENT: Element = Element(LAST_KEY, 0xffffffffu);

@group(0) @binding(0) var<storage, read_write> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> positions: array<u32>;

var<workgroup> tile_positions: array<u32, TILE_SIZE>;

fn less(a: Element, b: Element) -> bool {
    return key_less(a.key, b.key) || (all(a.key == b.key) && a.position < b.position);
}

fn load(i: u32) -> Element {
    return Element(keys[i], positions[i]);
}

fn store(i: u32, element: Element) {
    keys[i] = element.key;
    positions[i] = element.position;
}

fn load_tile(i: u32) -> Element {
    return Element(load_tile_key(i), tile_positions[i]);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element.key);
    tile_positions[i] = element.position;
}
