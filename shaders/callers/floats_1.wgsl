// The key of an f32; the module `key` defines the same key.

const SIGN: u32 = 0x80000000u;

// The number of NaN of each sign.
const NANS: u32 = 0x007fffffu;

// The key of +inf in ascending order.
const LAST_NUMBER: u32 = 0xff000001u;

// Converts between ascending and descending order; the keys of NaN stay the same.
fn directed(key: Key) -> Key {
    return select(key, LAST_NUMBER - key, DESCENDING == 1u && key <= LAST_NUMBER);
}

fn ordered(element: Key) -> Key {
    let flipped = element ^ select(SIGN, 0xffffffffu, (element & SIGN) != 0u);
    return directed(flipped - NANS);
}

fn unordered(key: Key) -> Key {
    let flipped = directed(key) + NANS;
    return flipped ^ select(0xffffffffu, SIGN, (flipped & SIGN) != 0u);
}
