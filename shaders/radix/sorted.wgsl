// The place of elements after the passes by leading digits: their own array, or the other one.

fn sorted_key(i: u32, are_in_other: bool) -> Key {
    if are_in_other {
        return scratch_keys[other_key_at(i)];
    }
    return keys[own_key_at(i)];
}
