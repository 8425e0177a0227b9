// Included in all kernels of the selection; `plan::select` explains the method.

struct Arguments {
    // The number of elements.
    n: u32,
    // The number of elements to select.
    k: u32,
    // The digit: the word of the key with the digit, the digit's distance from the lowest bit of
    // the word, and its number of bits.
    word: u32,
    shift: u32,
    width: u32,
    // The number of elements in a chunk, and the number of chunks.
    chunk: u32,
    chunks: u32,
    // 1 if the payload is iota.
    iota: u32,
}

// The number of elements that a workgroup takes at a time.
const BLOCK: u32 = WORKGROUP_SIZE * ITEMS;

// The number of values of the widest digit.
const RADIX: u32 = 2048u;

// The words of `chosen` after those of a key: the number of selected keys among the keys that equal
// the known digits, and 1 if the whole key is known.
const WANTED: u32 = 2u;
const IS_WHOLE: u32 = 3u;

fn digit_of(key: Key) -> u32 {
    return (key_word(key, arguments.word) >> arguments.shift) & ((1u << arguments.width) - 1u);
}
