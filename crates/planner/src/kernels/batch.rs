//! Rows, each sorted by itself: a workgroup sorts as many as its tile holds.
//!
//! ```text
//! tile      [ row ··· ][ row ··· ][ row ··· ][ row ··· ]     blocks of a power of two; places past a row's end are empty
//! ```
//!
//! A tile is in registers, as those of [`super::Fused`] are, and goes through the stages of blocks
//! up to a row's. Equal keys are ordered by position. The payload is read last, by position, and
//! written in order.
//!
//! Rows are those of a matrix, one after another; or segments that the device has listed by classes
//! of their lengths, where a tile is of one class; or all segments in their order.

use gpusort_shaders::wgsl;

use super::segments::{self, FIRST_CLASS_LOG2, SEGMENT_CLASSES, SEGMENT_LIST, SEGMENT_OFFSETS, SEGMENTS};
use super::{Access, Arguments, AuxBuffer, FusedTile, Kernel, KernelSpec, Keys, Launch, Module, Shape};
use crate::error::{Error, at_most, refuse_if, within};
use crate::item::Item;
use crate::limits::Limits;

/// The most invocations for rows that are listed: since the device alone knows how many there are, a
/// few workgroups take them in turn.
const MOST_LISTED: u64 = 1 << 19;

/// More classes than there are.
const MOST_CLASSES: u32 = 16;

/// Classes of lengths of segments that are sorted in tiles of one size, in one dispatch: those up
/// to a power of two, and longer than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// Which of the groups it is, from that of the shortest.
    pub number: u32,
    /// The powers of two of its first class and of its last.
    pub log2: (u32, u32),
}

impl Group {
    /// Its classes, by their powers of two.
    pub fn classes(self) -> std::ops::RangeInclusive<u32> {
        self.log2.0..=self.log2.1
    }

    /// Segments of this length, or shorter, are in no class before that of this power of two.
    pub fn shorter(log2: u32) -> u32 {
        segments::longer_than(log2)
    }

    /// The most segments of a class that so many elements have.
    pub fn most(log2: u32, count: u32) -> u32 {
        segments::most_segments(count, segments::longer_than(log2))
    }
}

/// Which rows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Rows {
    /// Of this length, one after another.
    Equal(u32),
    /// Those that the device has listed.
    Listed(Group),
    /// Between offsets, so many; longer ones than the smallest row has places stay as they are.
    Offsets(u32),
}

/// Rows in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    tile: FusedTile,
    /// Places of the smallest row in a tile, as a power of two.
    row_log2: u32,
    rows: Rows,
    /// Whether the payload is written as iota (the position in the row), not moved.
    iota: bool,
}

impl Batch {
    /// Rows of this many elements. With `iota` positions are numbered from 0 in each, else the
    /// payload is moved.
    ///
    /// # Errors
    ///
    /// Rows without elements, or that are longer than the tile; a tile in parts.
    pub fn new(tile: FusedTile, length: u32, iota: bool) -> Result<Self, Error> {
        within("elements in a row", length, 1..=1 << tile.log2())?;
        Self::of(tile, length.next_power_of_two().ilog2(), Rows::Equal(length), iota)
    }

    /// Segments of these classes; as rows otherwise.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`]; rows that an invocation holds several of.
    pub fn listed(tile: FusedTile, group: Group, iota: bool) -> Result<Self, Error> {
        let (first, last) = group.log2;
        within("for log2 of the elements in the longest row", last, first..=tile.log2())?;
        within("for log2 of the elements of an invocation", tile.elements_log2(), 0..=first)?;
        Self::of(tile, first, Rows::Listed(group), iota)
    }

    /// So many segments of up to 2^`row_log2` elements, in the order of their offsets.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn by_offsets(tile: FusedTile, row_log2: u32, segments: u32, iota: bool) -> Result<Self, Error> {
        Self::of(tile, row_log2, Rows::Offsets(segments), iota)
    }

    fn of(tile: FusedTile, row_log2: u32, rows: Rows, iota: bool) -> Result<Self, Error> {
        within("for log2 of the parts in a tile of rows", tile.parts_log2(), 0..=0)?;
        within("for log2 of the elements in a row", row_log2, 0..=tile.log2())?;
        Ok(Self { tile, row_log2, rows, iota })
    }

    /// The rows that the device has listed, if it is these.
    pub(super) fn group(self) -> Option<Group> {
        if let Rows::Listed(group) = self.rows { Some(group) } else { None }
    }

    /// Tiles of so many elements, at most.
    fn most_tiles(self, count: u32) -> u64 {
        let tiles = |rows: u32, log2: u32| u64::from(rows).div_ceil(1_u64 << (self.tile.log2() - log2));
        match self.rows {
            Rows::Equal(length) => tiles(count / length.max(1), self.row_log2),
            Rows::Offsets(segments) => tiles(segments, self.row_log2),
            Rows::Listed(group) => {
                let listed = group.classes().map(|log2| tiles(Group::most(log2, count), log2));
                listed.sum::<u64>().min(MOST_LISTED >> self.tile.invocations_log2())
            }
        }
    }
}

impl KernelSpec for Batch {
    fn check(&self, _: Shape, limits: &Limits) -> Result<(), Error> {
        // Beside the tile there is where rows begin and end that have been found.
        let is_found = !matches!(self.rows, Rows::Equal(_));
        let rows = if is_found { 8 << (self.tile.log2() - self.row_log2) } else { 0 };
        at_most([("bytes of workgroup memory", self.tile.workgroup_bytes() + rows, limits.workgroup_bytes)])?;
        self.tile.keep_to(limits)
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        Launch::of_all(1 << self.tile.invocations_log2(), self.most_tiles(count), count, shape)
    }

    /// In bounds since loads are of elements of rows that there are, or of one that there is; and
    /// stores of elements of rows that there are alone. The payload is read at positions
    /// that were taken in the tile, or at that one. Rows that are listed lie in the array, since only
    /// those are listed, and have no element in common; so do those between offsets, of which nothing is
    /// sorted where any is wrong.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        let are_whole =
            if let Rows::Equal(length) = self.rows { count.is_multiple_of(length.max(1)) } else { true };
        refuse_if([("the elements are not whole rows", !are_whole)])?;
        Access::from_start(first, count)
    }

    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        match self.rows {
            Rows::Equal(_) => &[],
            Rows::Listed(_) => &[SEGMENT_LIST, SEGMENT_OFFSETS, SEGMENT_CLASSES],
            Rows::Offsets(_) => &[SEGMENT_OFFSETS, SEGMENTS],
        }
    }

    fn aux_words(&self, aux: &AuxBuffer, _: u32) -> u64 {
        if aux.name == SEGMENT_CLASSES.name { 4 * u64::from(MOST_CLASSES) } else { 1 }
    }

    fn without_arguments(&self) -> Kernel {
        let rows = match self.rows {
            Rows::Equal(_) => Rows::Equal(0),
            Rows::Listed(group) => Rows::Listed(Group { number: 0, ..group }),
            Rows::Offsets(_) => Rows::Offsets(0),
        };
        Kernel::Batch(Self { rows, ..*self })
    }

    fn module(&self, shape: Shape, _: Keys) -> Module {
        let elements_log2 = self.tile.elements_log2();
        let constants = [
            self.tile.constants(shape),
            vec![
                ("ROW_LOG2", self.row_log2),
                ("FIRST_CLASS", self.row_log2.saturating_sub(FIRST_CLASS_LOG2)),
                ("CLASSES", self.group().map_or(0, |group| group.classes().count() as u32)),
                ("SORTED_LOG2", self.row_log2.min(elements_log2)),
                ("IOTA", self.iota.into()),
            ],
        ]
        .concat();
        let own = if shape.payload { wgsl("batch_payload") } else { wgsl("batch_key") };
        let rows: &[&str] = match self.rows {
            Rows::Equal(_) => &["batch_equal"],
            Rows::Listed(_) => &["batch_found", "batch_listed"],
            Rows::Offsets(_) => &["batch_found", "batch_offsets"],
        };
        let shared = ["fused", "fused_stages", "batch"].iter();
        let text = shared.chain(rows).map(|name| wgsl(name)).chain([own]).collect();
        Module { entry_point: "sort_rows", constants, text }
    }

    fn arguments(&self, _: u32, count: u32, _: u32) -> Arguments {
        let (offset, key, position) = (("first_offset", 0), ("first_key", 0), ("first_payload", 0));
        match self.rows {
            Rows::Equal(length) => {
                [("rows", count / length.max(1)), ("length", length), key, position].into()
            }
            Rows::Listed(_) => [("tiles", self.most_tiles(count) as u32), offset, key, position].into(),
            Rows::Offsets(segments) => [("segments", segments), offset, key, position].into(),
        }
    }

    fn interpret<T: Item>(&self, elements: &mut [T], offsets: &[u32], _: T) {
        let lengths = match self.rows {
            Rows::Equal(length) => return elements.chunks_mut(length as usize).for_each(<[T]>::sort),
            Rows::Listed(Group { log2: (first, last), .. }) => {
                segments::longer_than(first) as usize + 1..=1 << last
            }
            Rows::Offsets(_) => 0..=1 << self.row_log2,
        };
        for range in segments::ranges(offsets, elements.len()) {
            if lengths.contains(&range.len()) {
                elements[range].sort();
            }
        }
    }
}
