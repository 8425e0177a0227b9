//! Bitonic sort by transposition, after the DirectX sample "ComputeShaderSort11": the network in
//! its classic form, with blocks sorted alternately up and down, on rows in workgroup memory.
//! Strides larger than a row are small on the transposed array, where the same kernel performs
//! them:
//!
//! ```text
//! index of an element    [ high bits ┊ low bits ]   rows of 2^low
//! transposed             [ low bits ┊ high bits ]   the high bits' strides are inside a row
//! ```
//!
//! The mirrored form would leave its row when transposed, and alternating directions need every
//! element, so the array is padded to a power of two. This variant exists for comparison.

use super::PlanElements;
use crate::error::{Error, at_most};
use crate::kernels::{Dispatch, Kernel, TransposeWork};
use crate::network::{Step, stages};

pub(super) fn plan(elements: PlanElements) -> Result<Vec<Dispatch>, Error> {
    let PlanElements { n, shape, limits } = elements;
    let log2 = stages(n);
    // 32-bit positions have no room for the next power of two.
    at_most([("elements in one sort", n.into(), 1 << 31)])?;
    let row_log2 = (limits.workgroup_bytes / shape.bytes()).clamp(2, 2048).ilog2().min(log2);
    // Steps with strides beyond both rows and columns are dispatches of their own.
    let both = (2 * row_log2).min(log2);
    let column_log2 = log2 - row_log2;
    let mut kernels: Vec<Kernel> =
        vec![TransposeWork::Pad { from: n }.into(), TransposeWork::Sort { row_log2 }.into()];
    for block_log2 in row_log2 + 1..=log2 {
        let single = (both..block_log2).rev();
        kernels.extend(single.map(|stride_log2| Kernel::Step(Step::Alternating { stride_log2, block_log2 })));
        // Transposition also moves the bit that decides the direction; the last stage is ascending and has none.
        let transposed = if block_log2 == log2 { log2 } else { block_log2 - row_log2 };
        let steps = both.min(block_log2) - row_log2;
        let merges = [
            TransposeWork::Transpose { rows_log2: column_log2, columns_log2: row_log2 },
            TransposeWork::Merge { row_log2, steps, block_log2: transposed },
            TransposeWork::Transpose { rows_log2: row_log2, columns_log2: column_log2 },
            TransposeWork::Merge { row_log2, steps: row_log2, block_log2 },
        ];
        kernels.extend(merges.map(Kernel::Transpose));
    }
    let padded = PlanElements { n: 1 << log2, ..elements };
    kernels.into_iter().map(|kernel| padded.dispatch(kernel)).collect()
}
