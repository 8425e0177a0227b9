fn read_ELEMENTS(i: u32) -> Key {
    return widened(extractBits(atomicLoad(&ELEMENTS[i / PACKED]), i % PACKED * NARROW_BITS, NARROW_BITS));
}

// Atomic, since several workgroups may write elements of the same word.
fn write_ELEMENTS(i: u32, element: Key) {
    let shift = i % PACKED * NARROW_BITS;
    atomicAnd(&ELEMENTS[i / PACKED], ~(NARROW_MASK << shift));
    atomicOr(&ELEMENTS[i / PACKED], narrowed(element) << shift);
}
