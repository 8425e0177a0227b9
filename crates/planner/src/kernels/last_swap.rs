//! The number of the last phase of odd-even sort that swapped: the buffer of `last_swap.wgsl`.

use super::AuxBuffer;

/// A word, one more than the number of the last phase that swapped something.
pub const LAST_SWAP: AuxBuffer =
    AuxBuffer { name: "last_swap", wgsl_type: "atomic<u32>", read_only: false, zeroed: true };
