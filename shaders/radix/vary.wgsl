// Which bits vary, found out: of each word of a key those that are set in some key, and those that
// are not set in some.

var<workgroup> vary: array<atomic<u32>, 4>;

// After a barrier.
fn begin_varying(local: u32) {
    if local < 4u {
        atomicStore(&vary[local], 0u);
    }
}

// After a barrier.
fn end_varying(local: u32) {
    if local < 2u * KEY_WORDS {
        atomicOr(&varying_bits[local], atomicLoad(&vary[local]));
    }
}
