// f32: as the module `key` has them.

const SIGN: u32 = 0x80000000u;

// NaN of each sign.
const NANS: u32 = 0x007fffffu;

// The key of +inf, the smallest first.
const LAST_NUMBER: u32 = 0xff000001u;

// From the smallest first to the largest first, or back; NaN stay.
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
