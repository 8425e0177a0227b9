//! Rows, each sorted by itself: a workgroup sorts as many as its tile holds.
//!
//! ```text
//! tile      [ row ··· ][ row ··· ][ row ··· ][ row ··· ]     blocks of a power of two; places past a row's end are empty
//! ```
//!
//! A tile is in registers, as those of [`super::Fused`] are, and goes through the stages of blocks up to a row's. Equal keys are
//! ordered by position. What is beside keys is read at last, where the position says, and written in order.
//!
//! Rows are those of a matrix, one after another; or segments whose lengths are of one class, which the device has listed.

use super::segments::{self, SEGMENT_LIST, SEGMENT_OFFSETS};
use super::{
    Access, Arguments, Extra, Extras, Family, FusedTile, Kernel, Keys, Launch, Module, Shape, Twin, keep_to,
    within,
};
use crate::cpu::Item;
use crate::device::Limits;
use crate::error::Error;

/// The most workgroups for rows that are listed: since the device alone knows how many there are, a few take them in turn.
const MOST_LISTED: u64 = 2048;

/// Segments whose lengths have as many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// Which of the classes it is, from the shortest.
    pub number: u32,
    /// Segments of this length, and shorter ones, are of other classes.
    pub beyond: u32,
    /// The length of the longest, as a power of two.
    pub log2: u32,
}

impl Class {
    /// The most segments that so many elements have.
    #[must_use]
    pub fn most(&self, count: u32) -> u32 {
        count / self.beyond.saturating_add(1)
    }
}

/// Which rows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Which {
    /// All, of this length.
    Equal(u32),
    /// Those that the device has listed.
    Listed(Class),
}

/// Rows in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    tile: FusedTile,
    /// Places of a row in a tile, as a power of two.
    row_log2: u32,
    which: Which,
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
        within("elements in a row", length, 1..=1 << tile.log2())?;
        Self::of(tile, length.next_power_of_two().ilog2(), Which::Equal(length))
    }

    /// Segments of this class. Positions are numbered from 0 in each.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn listed(tile: FusedTile, class: Class) -> Result<Self, Error> {
        Self::of(tile, class.log2, Which::Listed(class))
    }

    fn of(tile: FusedTile, row_log2: u32, which: Which) -> Result<Self, Error> {
        within("parts of a tile of rows, as a power of two,", tile.parts_log2(), 0..=0)?;
        within("elements in a row, as a power of two,", row_log2, 0..=tile.log2())?;
        Ok(Self { tile, row_log2, which, numbers: true })
    }

    /// The same for words of the caller's own.
    #[must_use]
    pub fn carrying(self) -> Self {
        Self { numbers: false, ..self }
    }

    /// The class, where rows are listed.
    pub(super) fn class(self) -> Option<Class> {
        match self.which {
            Which::Equal(_) => None,
            Which::Listed(class) => Some(class),
        }
    }

    /// Rows of so many elements, at most.
    fn rows(self, count: u32) -> u32 {
        match self.which {
            Which::Equal(length) => count / length.max(1),
            Which::Listed(class) => class.most(count),
        }
    }

    /// Rows in a tile, as a power of two.
    fn rows_log2(self) -> u32 {
        self.tile.log2() - self.row_log2
    }
}

impl Family for Batch {
    fn check(&self, _: Shape, limits: &Limits) -> Result<(), Error> {
        // Beside the tile there is where listed rows begin and end.
        let rows = if self.class().is_some() { 8 << self.rows_log2() } else { 0 };
        keep_to([("bytes of workgroup memory", self.tile.workgroup_bytes() + rows, limits.workgroup_bytes)])?;
        self.tile.keep_to(limits)
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        let tiles = u64::from(self.rows(count)).div_ceil(1 << self.rows_log2());
        Launch {
            workgroup_size: 1 << self.tile.invocations_log2(),
            workgroups: if self.class().is_some() { tiles.min(MOST_LISTED) } else { tiles },
            bytes_moved: u64::from(count) * 2 * shape.bytes(),
        }
    }

    /// In bounds since loads are of elements of rows that there are, or of one that there is; and stores of elements of rows that
    /// there are alone. Of what is beside keys those are read whose positions were taken in the tile, or that one. Rows that are
    /// listed lie in the array, since only those are listed, and have no element in common.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        if let Which::Equal(length) = self.which {
            keep_to([("elements beside whole rows", (count % length.max(1)).into(), 0)])?;
        }
        Access::from_start(first, count)
    }

    fn extras(&self) -> &'static [Extra] {
        if self.class().is_some() { &[SEGMENT_LIST, SEGMENT_OFFSETS] } else { &[] }
    }

    fn without_arguments(&self) -> Kernel {
        let which = match self.which {
            Which::Equal(_) => Which::Equal(0),
            Which::Listed(_) => Which::Listed(Class { number: 0, beyond: 0, log2: 0 }),
        };
        Kernel::Batch(Self { which, ..*self })
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
            match self.which {
                Which::Equal(_) => include_str!("../../shaders/batch_equal.wgsl"),
                Which::Listed(_) => include_str!("../../shaders/batch_listed.wgsl"),
            },
            own,
        ]
        .concat();
        Module { entry_point: "sort_rows", constants, text }
    }

    fn arguments(&self, _: u32, count: u32, _: u32) -> Arguments {
        let rows = ("rows", self.rows(count));
        match self.which {
            Which::Equal(length) => {
                [rows, ("length", length), ("first_key", 0), ("first_position", 0)].into()
            }
            Which::Listed(_) => {
                let (list, offsets) = (("first_row", 0), ("first_offset", 0));
                [rows, list, offsets, ("first_key", 0), ("first_position", 0)].into()
            }
        }
    }
}

impl Twin for Batch {
    fn perform<T: Item>(&self, elements: &mut [T], extras: &mut Extras, _: T) {
        match self.which {
            Which::Equal(length) => elements.chunks_mut(length as usize).for_each(<[T]>::sort),
            Which::Listed(Class { beyond, log2, .. }) => {
                for range in segments::ranges(extras, elements.len()) {
                    if (beyond as usize + 1..=1 << log2).contains(&range.len()) {
                        elements[range].sort();
                    }
                }
            }
        }
    }
}
