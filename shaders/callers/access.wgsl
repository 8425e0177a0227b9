// Access to keys in arrays that begin at their bindings.

fn read_key(i: u32) -> Key {
    return keys[i];
}

fn write_key(i: u32, key: Key) {
    scratch_keys[i] = key;
}
