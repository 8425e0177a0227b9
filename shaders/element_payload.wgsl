// An element is a key with a payload. In sorting networks the payload is the element's position in
// the input, which breaks ties: the sort is stable.

struct Element {
    key: Key,
    payload: u32,
}

// The padding past the end of the array. It sorts after every element, because no input has a
// position this large.
const LAST_ELEMENT: Element = Element(LAST_KEY, 0xffffffffu);

@group(0) @binding(0) var<storage, read_write> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> payload: array<u32>;

var<workgroup> tile_payload: array<u32, TILE_SIZE>;

fn less(a: Element, b: Element) -> bool {
    return key_less(a.key, b.key) | (all(a.key == b.key) & (a.payload < b.payload));
}

fn lesser(a: Element, b: Element) -> Element {
    let swap = less(b, a);
    return Element(select(a.key, b.key, swap), select(a.payload, b.payload, swap));
}

fn greater(a: Element, b: Element) -> Element {
    let swap = less(b, a);
    return Element(select(b.key, a.key, swap), select(b.payload, a.payload, swap));
}

// Returns word k of an element; the payload is the last word.
fn word(element: Element, k: u32) -> u32 {
    return select(key_word(element.key, k), element.payload, k == KEY_WORDS);
}

fn with_word(element: Element, k: u32, value: u32) -> Element {
    if k == KEY_WORDS {
        return Element(element.key, value);
    }
    return Element(key_with_word(element.key, k, value), element.payload);
}

// Returns the element for a mask of 0, and the element with all bits flipped for a mask of all
// ones: flipping reverses the order.
fn flipped(element: Element, mask: u32) -> Element {
    return Element(key_flipped(element.key, mask), element.payload ^ mask);
}

fn element_or_last(element: Element, is_element: bool) -> Element {
    return Element(
        select(LAST_KEY, element.key, is_element),
        select(0xffffffffu, element.payload, is_element),
    );
}

fn element_of(key: Key, payload: u32) -> Element {
    return Element(key, payload);
}

fn load(i: u32) -> Element {
    return Element(keys[i], payload[i]);
}

fn store(i: u32, element: Element) {
    keys[i] = element.key;
    payload[i] = element.payload;
}

// The second array, for passes that cannot work in place.
@group(0) @binding(2) var<storage, read_write> scratch_keys: array<Key>;
@group(0) @binding(3) var<storage, read_write> scratch_payload: array<u32>;

fn store_scratch(i: u32, element: Element) {
    scratch_keys[i] = element.key;
    scratch_payload[i] = element.payload;
}

fn load_tile(i: u32) -> Element {
    return Element(load_tile_key(i), tile_payload[i]);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element.key);
    tile_payload[i] = element.payload;
}
