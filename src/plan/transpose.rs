//! Bitonic sort by transposition, after the DirectX sample "ComputeShaderSort11": the network in its classic
//! form, blocks sorted up and down in turn, on rows in workgroup memory. Strides larger than a row are small
//! on the transposed array, where the same kernel performs them:
//!
//! ```text
//! index of an element    [ high bits ┊ low bits ]   rows of 2^low
//! transposed             [ low bits ┊ high bits ]   the high bits' strides are inside a row
//! ```
//!
//! The mirrored form would leave its row when transposed, and with directions that alternate no element may be
//! missing: the array is padded to a power of two. This variant is here to be compared with.

use crate::device::Limits;
use crate::error::Error;
use crate::kernels::{Dispatch, Kernel, Rows, Shape};
use crate::network::{Step, stages};

pub(super) fn plan(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Dispatch>, Error> {
    let log2 = stages(n);
    let row_log2 = (limits.workgroup_bytes / shape.bytes()).clamp(2, 2048).ilog2().min(log2);
    // In rows and columns: steps above both are dispatches of their own.
    let both = (2 * row_log2).min(log2);
    let column_log2 = log2 - row_log2;
    let mut kernels: Vec<Kernel> = vec![Rows::Pad { from: n }.into(), Rows::Sort { row_log2 }.into()];
    for block_log2 in row_log2 + 1..=log2 {
        let single = (both..block_log2).rev();
        kernels.extend(single.map(|stride_log2| Kernel::Step(Step::Alternating { stride_log2, block_log2 })));
        // The bit that decides the direction moves along; above the highest there is none, nor is there in
        // the last stage, which is ascending.
        let transposed = if block_log2 == log2 { log2 } else { block_log2 - row_log2 };
        let steps = both.min(block_log2) - row_log2;
        let merges = [
            Rows::Transpose { rows_log2: column_log2, columns_log2: row_log2 },
            Rows::Merge { row_log2, steps, block_log2: transposed },
            Rows::Transpose { rows_log2: row_log2, columns_log2: column_log2 },
            Rows::Merge { row_log2, steps: row_log2, block_log2 },
        ];
        kernels.extend(merges.map(Kernel::Rows));
    }
    // At most 2^31, as was checked.
    let padded = 1 << log2;
    kernels.into_iter().map(|kernel| Dispatch::new(kernel, 0, padded, shape, limits)).collect()
}
