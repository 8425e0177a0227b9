// The key with its lowest bits, as many as that, above all others.
fn rotated(key: Key, bits: u32) -> Key {
    return (key >> bits) | (key << ((32u - bits) & 31u));
}
