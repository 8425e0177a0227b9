// The key of an integer. FLIPPED are the bits that differ between the two: the sign of signed
// integers, and in descending order all bits.

fn ordered(element: Key) -> Key {
    return element ^ FLIPPED;
}

fn unordered(key: Key) -> Key {
    return key ^ FLIPPED;
}
