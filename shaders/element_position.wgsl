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
    return key_less(a.key, b.key) | (all(a.key == b.key) & (a.position < b.position));
}

fn lesser(a: Element, b: Element) -> Element {
    let swap = less(b, a);
    return Element(select(a.key, b.key, swap), select(a.position, b.position, swap));
}

fn greater(a: Element, b: Element) -> Element {
    let swap = less(b, a);
    return Element(select(b.key, a.key, swap), select(b.position, a.position, swap));
}

// Word k of an element, the position last.
fn word(element: Element, k: u32) -> u32 {
    return select(key_word(element.key, k), element.position, k == KEY_WORDS);
}

fn with_word(element: Element, k: u32, value: u32) -> Element {
    if k == KEY_WORDS {
        return Element(element.key, value);
    }
    return Element(key_with_word(element.key, k, value), element.position);
}

// The element itself for a mask of 0; all its bits flipped, which reverses the order, for one of all ones.
fn flipped(element: Element, mask: u32) -> Element {
    return Element(key_flipped(element.key, mask), element.position ^ mask);
}

fn element_or_last(element: Element, is_element: bool) -> Element {
    return Element(
        select(LAST_KEY, element.key, is_element),
        select(0xffffffffu, element.position, is_element),
    );
}

fn element_of(key: Key, position: u32) -> Element {
    return Element(key, position);
}

fn load(i: u32) -> Element {
    return Element(keys[i], positions[i]);
}

fn store(i: u32, element: Element) {
    keys[i] = element.key;
    positions[i] = element.position;
}

// A second array, for what cannot be done in place.
@group(0) @binding(2) var<storage, read_write> scratch_keys: array<Key>;
@group(0) @binding(3) var<storage, read_write> scratch_positions: array<u32>;

fn store_scratch(i: u32, element: Element) {
    scratch_keys[i] = element.key;
    scratch_positions[i] = element.position;
}

fn load_tile(i: u32) -> Element {
    return Element(load_tile_key(i), tile_positions[i]);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element.key);
    tile_positions[i] = element.position;
}
