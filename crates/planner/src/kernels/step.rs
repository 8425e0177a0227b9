//! One network step on the whole array, one comparison by each invocation: comparison c by
//! invocation c.
//!
//! ```text
//! invocation        0   1   2   3   4 …
//! stride of two    0-2 1-3 4-6 5-7 8-10 …   pairs with a position from n on are skipped
//! ```
//!
//! A phase of odd-even sort also notes whether it swapped anything, in `last_swap`.

use gpusort_shaders::wgsl;

use super::{Access, Arguments, AuxBuffer, Kernel, KernelSpec, Keys, Launch, Module, Shape};
use crate::error::{Error, at_most, in_range};
use crate::limits::Limits;
use crate::network::Step;

/// The buffer of `last_swap.wgsl`: a word, one more than the number of the last phase of odd-even sort that swapped
/// something.
pub const LAST_SWAP: AuxBuffer =
    AuxBuffer { name: "last_swap", wgsl_type: "atomic<u32>", read_only: false, zeroed: true };

impl KernelSpec for Step {
    fn check(&self, _: Shape, _: &Limits) -> Result<(), Error> {
        const DISTANCE: &str = "for log2 of the stride";
        const BLOCK: &str = "for log2 of the elements in a block";
        match *self {
            Self::Mirror { block_log2 } => in_range(BLOCK, block_log2, 1..=32),
            Self::Stride { stride_log2 } => in_range(DISTANCE, stride_log2, 0..=31),
            Self::Alternating { stride_log2, block_log2 } => {
                in_range(DISTANCE, stride_log2, 0..=31)?;
                in_range(BLOCK, block_log2, 0..=63)
            }
            Self::Phase { .. } => Ok(()),
        }
    }

    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch {
        let bytes_moved = self.pairs(count.into()) * 2 * 2 * shape.bytes();
        Launch::of_invocations(self.comparisons(count.into()), bytes_moved, limits)
    }

    /// In bounds because a pair is accessed only if its higher position is below `n`. The other position is
    /// lower for every number of an invocation, because it lacks the bit that differs; of neighbours, the
    /// higher position is not less than the other.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        if matches!(self, Self::Alternating { .. }) {
            at_most([("elements in one sort", count.into(), 1 << 31)])?;
        }
        Access::from_start(first, count)
    }

    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        if matches!(self, Self::Phase { .. }) { &[LAST_SWAP] } else { &[] }
    }

    fn steps(&self) -> Vec<Step> {
        vec![*self]
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Step(match self {
            Self::Mirror { .. } => Self::Mirror { block_log2: 1 },
            Self::Stride { .. } => Self::Stride { stride_log2: 0 },
            Self::Alternating { .. } => Self::Alternating { stride_log2: 0, block_log2: 0 },
            Self::Phase { .. } => Self::Phase { odd: false },
        })
    }

    fn module(&self, _: Shape, _: Keys) -> Module {
        let step = wgsl("step");
        let (entry_point, text) = match self {
            Self::Mirror { .. } => ("mirror", step.to_owned()),
            Self::Stride { .. } => ("stride", step.to_owned()),
            Self::Alternating { .. } => ("alternating", step.to_owned()),
            Self::Phase { .. } => ("phase", [step, wgsl("last_swap"), wgsl("phase")].concat()),
        };
        Module { entry_point, constants: vec![("TILE_SIZE", 1)], text }
    }

    fn arguments(&self, first: u32, count: u32, phase: u32) -> Arguments {
        let (stride, start, block_log2) = match *self {
            Self::Mirror { block_log2 } => (1 << (block_log2 - 1), 0, 0),
            Self::Stride { stride_log2 } => (1 << stride_log2, 0, 0),
            // Among 2^31 elements, no place has bit 31 or a higher bit set.
            Self::Alternating { stride_log2, block_log2 } => (1 << stride_log2, 0, block_log2.min(31)),
            Self::Phase { odd } => (1, odd.into(), 0),
        };
        let n = first + count;
        [("n", n), ("stride", stride), ("start", start), ("phase", phase), ("block_log2", block_log2)].into()
    }
}
