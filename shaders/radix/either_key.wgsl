// Elements without payload.

fn bring_back(i: u32, key: Key) {
    keys[own_key_at(i)] = key;
}
