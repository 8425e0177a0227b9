// A key of one 32-bit word.

alias Key = u32;

const KEY_WORDS: u32 = 1u;

const LAST_KEY: Key = 0xffffffffu;

var<workgroup> tile_words: array<u32, TILE_SIZE>;

fn key_less(a: Key, b: Key) -> bool {
    return a < b;
}

fn key_min(a: Key, b: Key) -> Key {
    return min(a, b);
}

fn key_max(a: Key, b: Key) -> Key {
    return max(a, b);
}

fn key_word(key: Key, k: u32) -> u32 {
    return key;
}

fn key_with_word(key: Key, k: u32, value: u32) -> Key {
    return value;
}

fn key_flipped(key: Key, mask: u32) -> Key {
    return key ^ mask;
}

fn load_tile_key(i: u32) -> Key {
    return tile_words[i];
}

fn store_tile_key(i: u32, key: Key) {
    tile_words[i] = key;
}
