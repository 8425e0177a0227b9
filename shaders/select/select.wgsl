// What all kernels of the selection share; what it does and why is in `plan::select`.

struct Arguments {
    // Elements.
    n: u32,
    // How many are to be selected.
    k: u32,
    // The digit: the word of the key that it is in, how far from that word's lowest bit, and of how
    // many bits.
    word: u32,
    shift: u32,
    width: u32,
    // Elements in a chunk, and chunks.
    chunk: u32,
    chunks: u32,
    // Whether the payload is iota.
    iota: u32,
}

// Elements that a workgroup takes at a time.
const BLOCK: u32 = WORKGROUP_SIZE * ITEMS;

// Values of the widest digit.
const RADIX: u32 = 2048u;

// The words of `chosen` after those of a key: how many of those equal to it as far as it is known
// are selected, and whether it is known whole.
const WANTED: u32 = 2u;
const IS_WHOLE: u32 = 3u;

fn digit_of(key: Key) -> u32 {
    return (key_word(key, arguments.word) >> arguments.shift) & ((1u << arguments.width) - 1u);
}
