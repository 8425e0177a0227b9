// The key of an f64; the module `key` defines the same key.

const SIGN: u32 = 0x80000000u;

// The number of NaN of each sign, plus one, in the high word.
const NANS_AND_ONE: u32 = 0x00100000u;

// The key of +inf in ascending order.
const LAST_NUMBER: Key = vec2(0x00000001u, 0xffe00000u);

// Converts between ascending and descending order; the keys of NaN stay the same.
fn directed(key: Key) -> Key {
    let other = vec2(LAST_NUMBER.x - key.x, LAST_NUMBER.y - key.y - u32(key.x > LAST_NUMBER.x));
    return select(key, other, DESCENDING == 1u && !key_less(LAST_NUMBER, key));
}

fn ordered(element: Key) -> Key {
    let flipped = element ^ select(vec2(0u, SIGN), vec2(0xffffffffu), (element.y & SIGN) != 0u);
    let low = flipped.x + 1u;
    return directed(vec2(low, flipped.y - NANS_AND_ONE + u32(low == 0u)));
}

fn unordered(key: Key) -> Key {
    let plain = directed(key);
    let flipped = vec2(plain.x - 1u, plain.y + NANS_AND_ONE - u32(plain.x == 0u));
    return flipped ^ select(vec2(0xffffffffu), vec2(0u, SIGN), (flipped.y & SIGN) != 0u);
}
