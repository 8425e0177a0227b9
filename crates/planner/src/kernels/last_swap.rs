//! What phases of odd-even sort tell each other: the buffer that `last_swap.wgsl` is about.

use super::AuxBuffer;

/// A word, one more than the number of the last phase that swapped something.
pub const LAST_SWAP: AuxBuffer =
    AuxBuffer { name: "last_swap", wgsl_type: "atomic<u32>", read_only: false, zeroed: true };
