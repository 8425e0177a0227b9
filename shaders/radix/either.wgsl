// Keys that move from either array to the other.

var<private> are_in_other: bool;

fn read_key(i: u32) -> Key {
    if are_in_other {
        return scratch_keys[other_key_at(i)];
    }
    return keys[own_key_at(i)];
}

fn write_key(i: u32, key: Key) {
    if are_in_other {
        keys[own_key_at(i)] = key;
    } else {
        scratch_keys[other_key_at(i)] = key;
    }
}
