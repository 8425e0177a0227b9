// Elements of 8 or 16 bits, and 32-bit keys in their order; the module `key` defines the same keys.
// These constants precede this text: NARROW_BITS (bits of an element), NARROW_FLIPPED (bits that
// differ between an integer and its key), NARROW_IS_FLOAT, NARROW_NANS (the number of NaN of each
// sign), and NARROW_DESCENDING.

// The number of elements in a word.
const PACKED: u32 = 32u / NARROW_BITS;

const NARROW_MASK: u32 = (1u << NARROW_BITS) - 1u;
const NARROW_SIGN: u32 = 1u << (NARROW_BITS - 1u);

// The key of +inf in ascending order.
const NARROW_LAST: u32 = NARROW_MASK - 2u * NARROW_NANS;

// Converts between ascending and descending order; the keys of NaN stay the same.
fn narrow_directed(key: u32) -> u32 {
    return select(key, NARROW_LAST - key, NARROW_DESCENDING == 1u && key <= NARROW_LAST);
}

fn widened(bits: u32) -> u32 {
    let flipped = bits ^ select(NARROW_SIGN, NARROW_MASK, (bits & NARROW_SIGN) != 0u);
    let float = narrow_directed((flipped - NARROW_NANS) & NARROW_MASK);
    return select(bits ^ NARROW_FLIPPED, float, NARROW_IS_FLOAT == 1u);
}

fn narrowed(key: u32) -> u32 {
    let flipped = (narrow_directed(key) + NARROW_NANS) & NARROW_MASK;
    let float = flipped ^ select(NARROW_MASK, NARROW_SIGN, (flipped & NARROW_SIGN) != 0u);
    return select(key ^ NARROW_FLIPPED, float, NARROW_IS_FLOAT == 1u);
}
