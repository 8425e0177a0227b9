// Integers: the bits that differ in a key are the sign of signed ones, and all where the largest
// come first.

fn ordered(element: Key) -> Key {
    return element ^ FLIPPED;
}

fn unordered(key: Key) -> Key {
    return key ^ FLIPPED;
}
