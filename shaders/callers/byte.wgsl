// Returns a byte of a word, counted from the lowest.
fn byte(word: u32, which: u32) -> u32 {
    return (word >> (8u * which)) & 0xffu;
}

