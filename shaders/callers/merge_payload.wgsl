// Elements of merged runs: keys with a payload of one word.

struct Element {
    key: Key,
    payload: u32,
}

@group(0) @binding(5) var<storage, read_write> first_values: array<u32>;
@group(0) @binding(6) var<storage, read_write> second_values: array<u32>;
@group(0) @binding(7) var<storage, read_write> merged_values: array<u32>;

var<workgroup> tile_payload: array<u32, TILE_SIZE>;

fn less(a: Element, b: Element) -> bool {
    return key_less(a.key & COUNTING, b.key & COUNTING);
}

fn load_first(i: u32) -> Element {
    return Element(load_first_key(i), first_values[byte(arguments.values, 0u) + i]);
}

fn load_second(i: u32) -> Element {
    return Element(load_second_key(i), second_values[byte(arguments.values, 1u) + i]);
}

fn store_merged(i: u32, element: Element) {
    if i < arguments.most {
        store_merged_key(i, element.key);
        merged_values[byte(arguments.values, 2u) + i] = element.payload;
    }
}

fn load_tile(i: u32) -> Element {
    return Element(load_tile_key(i), tile_payload[i]);
}

fn store_tile(i: u32, element: Element) {
    store_tile_key(i, element.key);
    tile_payload[i] = element.payload;
}
