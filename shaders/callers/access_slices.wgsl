// Access to keys in slices.

fn read_key(i: u32) -> Key {
    return keys[slices.read_keys + i];
}

fn write_key(i: u32, key: Key) {
    scratch_keys[slices.write_keys + i] = key;
}
