// Returns the key rotated right by `bits`: its lowest bits become the highest ones.
fn rotated(key: Key, bits: u32) -> Key {
    let words = select(key, key.yx, bits >= 32u);
    let low = bits & 31u;
    // WGSL has no shift by 32, which would leave 0.
    let others = (words.yx << vec2((32u - low) & 31u)) * u32(low != 0u);
    return (words >> vec2(low)) | others;
}
