// Finds the bits that vary: for each word of a key, the bits that are set in some key, and the bits
// that are clear in some key.

var<workgroup> vary: array<atomic<u32>, 4>;

// A barrier follows.
fn begin_varying(local: u32) {
    if local < 4u {
        atomicStore(&vary[local], 0u);
    }
}

// Follows a barrier.
fn end_varying(local: u32) {
    if local < 2u * KEY_WORDS {
        atomicOr(&varying_bits[local], atomicLoad(&vary[local]));
    }
}
