// A key of one 32-bit word.

alias Key = u32;

const LAST_KEY: Key = 0xffffffffu;

var<workgroup> tile_words: array<u32, TILE_SIZE>;

fn key_less(a: Key, b: Key) -> bool {
    return a < b;
}

fn load_tile_key(i: u32) -> Key {
    return tile_words[i];
}

fn store_tile_key(i: u32, key: Key) {
    tile_words[i] = key;
}
