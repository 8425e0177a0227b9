// Elements in a caller's buffer: they become keys as the first pass reads them, and elements again as the last one writes
// them. What a buffer is bound from on may be before its slice.

struct Slices {
    // Where the slices begin that are read, and those that are written: in elements.
    read_keys: u32,
    read_positions: u32,
    write_keys: u32,
    write_positions: u32,
}

@group(1) @binding(1) var<uniform> slices: Slices;

fn read_key(i: u32) -> Key {
    return keys[slices.read_keys + i];
}

fn write_key(i: u32, key: Key) {
    scratch_keys[slices.write_keys + i] = key;
}

fn key_of_element(element: Key) -> Key {
    return rotated(ordered(element), KEY_BEGIN);
}

fn element_of_key(key: Key) -> Key {
    return unordered(rotated(key, (32u * KEY_WORDS - KEY_BEGIN) % (32u * KEY_WORDS)));
}

// The bits of a digit that count.
fn digit_mask(digit: u32) -> u32 {
    return (1u << min(DIGIT_BITS, max(KEY_BITS, DIGIT_BITS * digit) - DIGIT_BITS * digit)) - 1u;
}

// Of bits, those that count.
fn that_count(bits: vec2<u32>) -> vec2<u32> {
    return bits & vec2(LOW_BITS, HIGH_BITS);
}
