// Elements without payload: an element is its key.

alias Element = Key;

// The padding past the end of the array. No element sorts after it; an element that compares equal
// to it has equal bits.
const LAST_ELEMENT: Element = LAST_KEY;

@group(0) @binding(0) var<storage, read_write> keys: array<Key>;

fn less(a: Element, b: Element) -> bool {
    return key_less(a, b);
}

fn lesser(a: Element, b: Element) -> Element {
    return key_min(a, b);
}

fn greater(a: Element, b: Element) -> Element {
    return key_max(a, b);
}

// Returns word k of an element.
fn word(element: Element, k: u32) -> u32 {
    return key_word(element, k);
}

fn with_word(element: Element, k: u32, value: u32) -> Element {
    return key_with_word(element, k, value);
}

// Returns the element for a mask of 0, and the element with all bits flipped for a mask of all
// ones: flipping reverses the order.
fn flipped(element: Element, mask: u32) -> Element {
    return key_flipped(element, mask);
}

fn element_or_last(element: Element, is_element: bool) -> Element {
    return select(LAST_ELEMENT, element, is_element);
}

fn element_of(key: Key, payload: u32) -> Element {
    return key;
}

fn load(i: u32) -> Element {
    return keys[i];
}

fn store(i: u32, element: Element) {
    keys[i] = element;
}

// The second array, for passes that cannot work in place.
@group(0) @binding(2) var<storage, read_write> scratch_keys: array<Key>;

fn store_scratch(i: u32, element: Element) {
    scratch_keys[i] = element;
}

fn load_tile(i: u32) -> Element {
    return load_tile_key(i);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element);
}
