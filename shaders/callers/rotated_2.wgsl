// The key with its lowest bits, as many as that, above all others.
fn rotated(key: Key, bits: u32) -> Key {
    let words = select(key, key.yx, bits >= 32u);
    let low = bits & 31u;
    // By 32 places nothing would be left, but WGSL shifts by fewer alone.
    let others = (words.yx << vec2((32u - low) & 31u)) * u32(low != 0u);
    return (words >> vec2(low)) | others;
}
