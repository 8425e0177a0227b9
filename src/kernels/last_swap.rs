//! What phases of odd-even sort tell each other: the buffer, and its WGSL.

use super::AuxBuffer;

/// A word, one more than the number of the last phase that swapped something.
pub(crate) const LAST_SWAP: AuxBuffer =
    AuxBuffer { name: "last_swap", wgsl_type: "atomic<u32>", read_only: false, zeroed: true };

/// How phases read and write it.
pub(super) const TEXT: &str = include_str!("../../shaders/last_swap.wgsl");
