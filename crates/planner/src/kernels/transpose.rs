//! Rows in workgroup memory, sorted alternately up and down, and transpositions between the two arrays: the kernels of
//! the `transpose` variant.
//!
//! ```text
//! array as rows      a0 a1 a2 a3     transposed   a0 b0
//!                    b0 b1 b2 b3                  a1 b1
//!                    └ a workgroup's              a2 b2
//!                                                 a3 b3
//! ```

use gpusort_shaders::wgsl;

use super::{Access, Arguments, Kernel, KernelSpec, Keys, Launch, Module, Shape, Tiles, WORKGROUP};
use crate::error::{Error, at_most, in_range};
use crate::item::Item;
use crate::limits::Limits;
use crate::network::{self, Step};

/// The work on an array whose size is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransposeWork {
    /// Puts elements that sort last into the positions from `from` on.
    Pad {
        /// The number of elements before the padding.
        from: u32,
    },
    /// Sorts every row of 2^`row_log2` elements, alternately up and down.
    Sort {
        /// Elements in a row, as a power of two.
        row_log2: u32,
    },
    /// Performs the strides 2^(`steps`−1) … 1 of a stage of alternating blocks of 2^`block_log2`.
    Merge {
        /// Elements in a row, as a power of two.
        row_log2: u32,
        /// The number of steps.
        steps: u32,
        /// Size of the stage's blocks, as a power of two.
        block_log2: u32,
    },
    /// Treats the array as rows of 2^`columns_log2` elements and turns rows into columns.
    Transpose {
        /// Number of rows, as a power of two.
        rows_log2: u32,
        /// Number of columns, as a power of two.
        columns_log2: u32,
    },
}

/// The side of squares for transpositions in workgroup memory: see `transpose.wgsl`.
const SIDE: u32 = 16;

impl TransposeWork {
    /// Returns the elements in a row, as a power of two; `None` if workgroups have no rows.
    fn row_log2(self) -> Option<u32> {
        match self {
            Self::Sort { row_log2 } | Self::Merge { row_log2, .. } => Some(row_log2),
            Self::Pad { .. } | Self::Transpose { .. } => None,
        }
    }
}

impl KernelSpec for TransposeWork {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        let Some(row_log2) = self.row_log2() else { return Ok(()) };
        if let Self::Merge { steps, block_log2, .. } = *self {
            in_range("steps in a row", steps, 0..=row_log2)?;
            in_range("for log2 of the elements in a block", block_log2, 0..=31)?;
        }
        in_range("for log2 of the elements in a row", row_log2, 1..=31)?;
        at_most([("bytes of workgroup memory", shape.bytes() << row_log2, limits.workgroup_bytes)])
    }

    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch {
        let all = u64::from(count);
        let (workgroup_size, workgroups) = match *self {
            Self::Pad { from } => {
                let padding = all.saturating_sub(from.into());
                return Launch::of_invocations(padding, padding * shape.bytes(), limits);
            }
            Self::Sort { row_log2 } | Self::Merge { row_log2, .. } => {
                (limits.invocations.clamp(1, 512).min(1 << (row_log2 - 1)), all >> row_log2)
            }
            Self::Transpose { rows_log2, columns_log2 } => {
                let squares = |log2: u32| (1_u64 << log2).div_ceil(SIDE.into());
                (SIDE * SIDE, squares(rows_log2) * squares(columns_log2))
            }
        };
        Launch::of_all(workgroup_size, workgroups, count, shape)
    }

    /// In bounds since padding stores below `n` only; rows are aligned parts of an array whose size is a power of two,
    /// begin below `n`, and so end below `n`; and a transposition moves elements in existing rows and columns, which
    /// together hold the elements of the array.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        let in_place = Access::from_start(first, count)?;
        let log2 = count.checked_ilog2().unwrap_or_default();
        match *self {
            Self::Pad { from } => {
                at_most([("elements before the padding", from.into(), count.into())])?;
                Ok(Access { reads: from.into(), ..in_place })
            }
            _ if !count.is_power_of_two() => {
                Err(Error::Impossible { what: "the elements are not whole rows" })
            }
            Self::Transpose { rows_log2, columns_log2 } => {
                in_range("for log2 of the rows", rows_log2, 0..=log2)?;
                in_range("for log2 of the columns", columns_log2, log2 - rows_log2..=log2 - rows_log2)?;
                Ok(in_place.to_other())
            }
            Self::Sort { row_log2 } | Self::Merge { row_log2, .. } => {
                in_range("for log2 of the elements in a row", row_log2, 0..=log2).map(|()| in_place)
            }
        }
    }

    fn steps(&self) -> Vec<Step> {
        match *self {
            Self::Sort { row_log2 } => {
                (1..=row_log2).flat_map(|block| network::alternating(block, block)).collect()
            }
            Self::Merge { steps, block_log2, .. } => network::alternating(steps, block_log2).collect(),
            Self::Pad { .. } | Self::Transpose { .. } => Vec::new(),
        }
    }

    fn tiles(&self) -> Option<Tiles> {
        self.row_log2().map(|row_log2| Tiles::consecutive(1 << row_log2, WORKGROUP))
    }

    fn workgroup_bytes(&self, shape: Shape) -> u64 {
        match *self {
            Self::Sort { row_log2 } | Self::Merge { row_log2, .. } => shape.bytes() << row_log2,
            Self::Transpose { .. } => shape.bytes() * u64::from(SIDE * (SIDE + 1)),
            Self::Pad { .. } => 0,
        }
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Transpose(match *self {
            Self::Pad { .. } => Self::Pad { from: 0 },
            Self::Sort { .. } => *self,
            Self::Merge { row_log2, .. } => Self::Merge { row_log2, steps: 0, block_log2: 0 },
            Self::Transpose { .. } => Self::Transpose { rows_log2: 0, columns_log2: 0 },
        })
    }

    fn module(&self, _: Shape, _: Keys) -> Module {
        let (entry_point, tile_size) = match *self {
            Self::Pad { .. } => ("pad", 1),
            Self::Sort { row_log2 } => ("sort_rows", 1 << row_log2),
            Self::Merge { row_log2, .. } => ("merge_rows", 1 << row_log2),
            // Rows of a square are one element longer in workgroup memory.
            Self::Transpose { .. } => ("transpose", SIDE * (SIDE + 1)),
        };
        let text = wgsl("transpose").to_owned();
        Module { entry_point, constants: vec![("TILE_SIZE", tile_size)], text }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        let (pad_from, steps, block_log2, rows, columns) = match *self {
            Self::Pad { from } => (from, 0, 0, 0, 0),
            Self::Sort { .. } => (0, 0, 0, 0, 0),
            Self::Merge { steps, block_log2, .. } => (0, steps, block_log2, 0, 0),
            Self::Transpose { rows_log2, columns_log2 } => (0, 0, 0, 1 << rows_log2, 1 << columns_log2),
        };
        [
            ("n", first + count),
            ("pad_from", pad_from),
            ("steps", steps),
            ("block_log2", block_log2),
            ("rows", rows),
            ("columns", columns),
        ]
        .into()
    }

    fn interpret<T: Item>(&self, elements: &mut [T], _: &[u32], last: T) {
        match *self {
            Self::Pad { from } => elements[from as usize..].fill(last),
            // Rows pair up within themselves, but their direction depends on their place.
            Self::Sort { .. } | Self::Merge { .. } => {
                self.steps().iter().for_each(|step| step.perform(elements));
            }
            Self::Transpose { rows_log2, columns_log2 } => {
                let before = elements.to_vec();
                let place = |(i, element): (usize, &mut T)| {
                    let (column, row) = (i >> rows_log2, i & ((1 << rows_log2) - 1));
                    *element = before[(row << columns_log2) + column];
                };
                elements.iter_mut().enumerate().for_each(place);
            }
        }
    }
}
