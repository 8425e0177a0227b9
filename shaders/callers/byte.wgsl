// A byte of a word, the lowest being the first.
fn byte(word: u32, which: u32) -> u32 {
    return (word >> (8u * which)) & 0xffu;
}

