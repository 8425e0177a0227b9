// A key of two 32-bit words, low word first: the layout of a little-endian 64-bit integer.

alias Key = vec2<u32>;

const KEY_WORDS: u32 = 2u;

const LAST_KEY: Key = vec2(0xffffffffu, 0xffffffffu);

// One array for each word, so that neighbouring keys lie in neighbouring banks.
var<workgroup> tile_low_words: array<u32, TILE_SIZE>;
var<workgroup> tile_high_words: array<u32, TILE_SIZE>;

// The operators | and & evaluate both sides, so the comparison compiles without a branch.
fn key_less(a: Key, b: Key) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

fn key_min(a: Key, b: Key) -> Key {
    return select(a, b, key_less(b, a));
}

fn key_max(a: Key, b: Key) -> Key {
    return select(b, a, key_less(b, a));
}

fn key_word(key: Key, k: u32) -> u32 {
    return select(key.y, key.x, k == 0u);
}

fn key_with_word(key: Key, k: u32, value: u32) -> Key {
    return vec2(select(key.x, value, k == 0u), select(value, key.y, k == 0u));
}

fn key_flipped(key: Key, mask: u32) -> Key {
    return key ^ vec2(mask);
}

fn load_tile_key(i: u32) -> Key {
    return vec2(tile_low_words[i], tile_high_words[i]);
}

fn store_tile_key(i: u32, key: Key) {
    tile_low_words[i] = key.x;
    tile_high_words[i] = key.y;
}
