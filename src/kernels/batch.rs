//! Rows of one length, each sorted by itself: a workgroup sorts as many as its tile holds.
//!
//! ```text
//! tile      [ row ··· ][ row ··· ][ row ··· ][ row ··· ]     blocks of a power of two; places past a row's end are empty
//! ```
//!
//! A tile is in registers, as those of [`super::Fused`] are, and goes through the stages of blocks up to a row's. Equal keys are
//! ordered by position. What is beside keys is read at last, where the position says, and written in order.

use super::{
    Access, Arguments, Extras, Family, FusedTile, Kernel, Keys, Launch, Module, Shape, Twin, keep_to, within,
};
use crate::cpu::Item;
use crate::device::Limits;
use crate::error::Error;

/// Rows in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    tile: FusedTile,
    /// Places of a row in a tile, as a power of two.
    row_log2: u32,
    /// Elements of a row.
    length: u32,
    /// Whether positions are written, not words moved.
    numbers: bool,
}

impl Batch {
    /// Rows of this many elements. Positions are numbered from 0 in each.
    ///
    /// # Errors
    ///
    /// Rows without elements, or that are longer than the tile; a tile in parts.
    pub fn new(tile: FusedTile, length: u32) -> Result<Self, Error> {
        within("parts of a tile of rows, as a power of two,", tile.parts_log2(), 0..=0)?;
        within("elements in a row", length, 1..=1 << tile.log2())?;
        Ok(Self { tile, row_log2: length.next_power_of_two().ilog2(), length, numbers: true })
    }

    /// The same for words of the caller's own.
    #[must_use]
    pub fn carrying(self) -> Self {
        Self { numbers: false, ..self }
    }

    fn rows(self, count: u32) -> u32 {
        count / self.length.max(1)
    }
}

impl Family for Batch {
    fn check(&self, _: Shape, limits: &Limits) -> Result<(), Error> {
        self.tile.keep_to(limits)
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        let tiles = u64::from(self.rows(count)).div_ceil(1 << (self.tile.log2() - self.row_log2));
        Launch {
            workgroup_size: 1 << self.tile.invocations_log2(),
            workgroups: tiles,
            bytes_moved: u64::from(count) * 2 * shape.bytes(),
        }
    }

    /// In bounds since loads are of elements of rows that there are, or of the last; and stores of such elements alone. Of what is
    /// beside keys those are read whose positions were taken in the tile, or the last.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        keep_to([("elements beside whole rows", (count % self.length.max(1)).into(), 0)])?;
        Access::from_start(first, count)
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Batch(Self { length: 0, ..*self })
    }

    fn module(&self, shape: Shape, _: Keys) -> Module {
        let elements_log2 = self.tile.elements_log2();
        let constants = [
            self.tile.constants(shape),
            vec![
                ("ROW_LOG2", self.row_log2),
                ("SORTED_LOG2", self.row_log2.min(elements_log2)),
                ("NUMBERS", self.numbers.into()),
            ],
        ]
        .concat();
        let own = if shape.positions {
            include_str!("../../shaders/batch_position.wgsl")
        } else {
            include_str!("../../shaders/batch_key.wgsl")
        };
        let text = [
            include_str!("../../shaders/fused.wgsl"),
            include_str!("../../shaders/fused_stages.wgsl"),
            include_str!("../../shaders/batch.wgsl"),
            own,
        ]
        .concat();
        Module { entry_point: "sort_rows", constants, text }
    }

    fn arguments(&self, _: u32, count: u32, _: u32) -> Arguments {
        [("rows", self.rows(count)), ("length", self.length), ("first_key", 0), ("first_position", 0)].into()
    }
}

impl Twin for Batch {
    fn perform<T: Item>(&self, elements: &mut [T], _: &mut Extras, _: T) {
        elements.chunks_mut(self.length as usize).for_each(<[T]>::sort);
    }
}
