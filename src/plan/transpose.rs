//! Bitonic sort by transposition, after the DirectX sample "ComputeShaderSort11": the network in its classic
//! form, blocks sorted up and down in turn, on rows in workgroup memory. Strides larger than a row are small
//! on the transposed array, where the same kernel does them:
//!
//! ```text
//! index of an element    [ high bits ┊ low bits ]   rows of 2^low
//! transposed             [ low bits ┊ high bits ]   the high bits' strides are inside a row
//! ```
//!
//! The mirrored form would leave its row when transposed, and with directions that alternate nothing may be
//! missing: the array is padded to a power of two. It is here to be compared with.

use super::{Dispatch, Grid, Kernel, Limits, Round, Shape, Step, Work};
use crate::error::Error;

/// The steps of strides 2^(`steps`−1) … 1 in the stage that sorts blocks of 2^`block_log2`, up and down.
pub(super) fn steps(steps: u32, block_log2: u32) -> impl Iterator<Item = Step> {
    (0..steps).rev().map(move |stride_log2| Step::Alternating { stride_log2, block_log2 })
}

pub(super) fn plan(n: u32, shape: Shape, limits: &Limits) -> Result<Vec<Round>, Error> {
    let log2 = u64::from(n).next_power_of_two().trailing_zeros();
    let row_log2 = (limits.workgroup_bytes / shape.bytes()).clamp(2, 2048).ilog2().min(log2);
    // In rows and columns: what is above both is left to single steps.
    let both = (2 * row_log2).min(log2);
    let column_log2 = log2 - row_log2;
    let mut works = vec![Work::Pad, Work::RowSort { row_log2 }];
    for block_log2 in row_log2 + 1..=log2 {
        let single = (both..block_log2).rev();
        works.extend(single.map(|stride_log2| Work::Step(Step::Alternating { stride_log2, block_log2 })));
        // The bit that tells the direction moves along; past the highest there is none, nor is there in
        // the last stage, which is ascending.
        let transposed = if block_log2 == log2 { log2 } else { block_log2 - row_log2 };
        let steps = both.min(block_log2) - row_log2;
        works.extend([
            Work::Transpose { rows_log2: column_log2, columns_log2: row_log2 },
            Work::RowMerge { row_log2, steps, block_log2: transposed },
            Work::Transpose { rows_log2: row_log2, columns_log2: column_log2 },
            Work::RowMerge { row_log2, steps: row_log2, block_log2 },
        ]);
    }
    let dispatches = works.into_iter().map(|work| dispatch(work, n, 1 << log2, shape, limits));
    Ok(vec![Round { dispatches: dispatches.collect::<Result<_, _>>()?, times: 1 }])
}

fn dispatch(work: Work, n: u32, padded: u32, shape: Shape, limits: &Limits) -> Result<Dispatch, Error> {
    const SIDE: u64 = 16;
    let all = u64::from(padded);
    let each = limits.invocations.min(256);
    let (workgroup_size, workgroups, moved) = match work {
        Work::Pad => (each, (all - u64::from(n)).div_ceil(each.into()), all - u64::from(n)),
        Work::RowSort { row_log2 } | Work::RowMerge { row_log2, .. } => {
            (limits.invocations.min(512).min(1 << (row_log2 - 1)), all >> row_log2, 2 * all)
        }
        Work::Transpose { rows_log2, columns_log2 } => {
            let squares = |log2: u32| (1_u64 << log2).div_ceil(SIDE);
            ((SIDE * SIDE) as u32, squares(rows_log2) * squares(columns_log2), 2 * all)
        }
        _ => (each, (all / 2).div_ceil(each.into()), 2 * all),
    };
    Ok(Dispatch {
        work,
        kernel: Kernel::Transpose,
        first: 0,
        count: padded,
        workgroup_size,
        grid: Grid::new(workgroups, limits)?,
        bytes_moved: moved * shape.bytes(),
    })
}
