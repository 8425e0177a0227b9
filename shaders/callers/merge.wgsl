// Merges two runs in a caller's slices into a third slice.

struct Arguments {
    // The maximum numbers of elements of each run, and of the result.
    first_most: u32,
    second_most: u32,
    most: u32,
    // Bytes, lowest first: the beginnings of the keys of the first run, of the second run, and of
    // the result, and the place of the first run's number of elements.
    keys: u32,
    // The same for values, and for the second run's number of elements.
    values: u32,
}

@group(0) @binding(0) var<storage, read_write> first_counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> second_counts: array<u32>;

fn first_count() -> u32 {
    return min(arguments.first_most, first_counts[byte(arguments.keys, 3u)]);
}

fn second_count() -> u32 {
    return min(arguments.second_most, second_counts[byte(arguments.values, 3u)]);
}

fn load_either(first: u32, second: u32, is_first: bool) -> Element {
    if is_first {
        return load_first(first);
    }
    return load_second(second);
}

fn load_first_key(i: u32) -> Key {
    return key_of_element(read_first_keys(byte(arguments.keys, 0u) + i));
}

fn load_second_key(i: u32) -> Key {
    return key_of_element(read_second_keys(byte(arguments.keys, 1u) + i));
}

fn store_merged_key(i: u32, key: Key) {
    write_merged_keys(byte(arguments.keys, 2u) + i, element_of_key(key));
}
