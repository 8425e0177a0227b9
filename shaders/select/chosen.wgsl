// Returns the last selected key as far as it is known; the other bits are zeros.

fn last_selected() -> Key {
    return key_with_word(key_with_word(LAST_KEY, 1u, chosen[1]), 0u, chosen[0]);
}
