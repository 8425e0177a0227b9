// Returns the key rotated right by `bits`: its lowest bits become the highest ones.
fn rotated(key: Key, bits: u32) -> Key {
    return (key >> bits) | (key << ((32u - bits) & 31u));
}
