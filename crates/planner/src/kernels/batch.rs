//! Rows, each sorted by itself: a workgroup sorts the rows that its tile holds.
//!
//! ```text
//! tile      [ row ··· ][ row ··· ][ row ··· ][ row ··· ]     blocks of a power of two; places past a row's end are empty
//! ```
//!
//! A tile lies in registers, like the tiles of [`super::Fused`], and goes through the stages of blocks
//! up to a row's. Equal keys are ordered by position. The payload is read last, by position, and
//! written in order.
//!
//! Rows are the consecutive rows of a matrix, or all segments in their order, or segments that the device
//! has listed by classes of their lengths; a tile of listed segments holds one class.

use gpusort_shaders::wgsl;

use super::segments::{self, FIRST_CLASS_LOG2, SEGMENT_CLASSES, SEGMENT_LIST, SEGMENT_OFFSETS, SEGMENTS};
use super::{Access, Arguments, AuxBuffer, FusedTile, Kernel, KernelSpec, Keys, Launch, Module, Shape};
use crate::error::{Error, at_most, in_range, refuse_if};
use crate::item::Item;
use crate::limits::Limits;

/// The maximum number of invocations for listed rows. Only the device knows the number of these rows, so a
/// few workgroups take one tile after another.
const MOST_LISTED: u64 = 1 << 19;

/// A bound on the number of classes.
const MOST_CLASSES: u32 = 16;

/// Classes of segment lengths, sorted in tiles of one size by one dispatch. A class has the lengths up to a
/// power of two and above the previous class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// The number of the group, counted from the group of the shortest segments.
    pub number: u32,
    /// The powers of two of the first and the last class.
    pub log2: (u32, u32),
}

impl Group {
    /// Returns the classes, by their powers of two.
    pub fn classes(self) -> std::ops::RangeInclusive<u32> {
        self.log2.0..=self.log2.1
    }

    /// Returns the greatest length below the class of this power of two: segments of the class are longer.
    pub fn shorter(log2: u32) -> u32 {
        if log2 <= FIRST_CLASS_LOG2 { 1 } else { 1 << (log2 - 1) }
    }

    /// Returns the maximum number of segments of a class in `count` elements.
    pub fn most(log2: u32, count: u32) -> u32 {
        segments::most_segments(count, Self::shorter(log2))
    }
}

/// The rows of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Rows {
    /// Consecutive rows of this length.
    Equal(u32),
    /// Rows that the device has listed.
    Listed(Group),
    /// This number of rows between offsets; rows with more elements than places in a row stay unchanged.
    Offsets(u32),
}

/// Rows in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    tile: FusedTile,
    /// Places of the smallest row in a tile, as a power of two.
    row_log2: u32,
    rows: Rows,
    /// True if the payload is written as iota (the position in the row), not moved.
    iota: bool,
}

impl Batch {
    /// Returns a batch of rows with `length` elements. With `iota`, positions are numbered from 0 in each row;
    /// otherwise the payload is moved.
    ///
    /// # Errors
    ///
    /// Fails for rows without elements or longer than the tile, and for a tile in parts.
    pub fn new(tile: FusedTile, length: u32, iota: bool) -> Result<Self, Error> {
        in_range("elements in a row", length, 1..=1 << tile.log2())?;
        Self::of(tile, length.next_power_of_two().ilog2(), Rows::Equal(length), iota)
    }

    /// Returns a batch of segments of these classes; otherwise like [`Self::new`].
    ///
    /// # Errors
    ///
    /// The errors of [`Self::new`]; rows so short that one invocation would hold several.
    pub fn listed(tile: FusedTile, group: Group, iota: bool) -> Result<Self, Error> {
        let (first, last) = group.log2;
        in_range("for log2 of the elements in the longest row", last, first..=tile.log2())?;
        in_range("for log2 of the elements of an invocation", tile.elements_log2(), 0..=first)?;
        Self::of(tile, first, Rows::Listed(group), iota)
    }

    /// Returns a batch of `segments` segments of up to 2^`row_log2` elements, in the order of their offsets.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::new`].
    pub fn by_offsets(tile: FusedTile, row_log2: u32, segments: u32, iota: bool) -> Result<Self, Error> {
        Self::of(tile, row_log2, Rows::Offsets(segments), iota)
    }

    fn of(tile: FusedTile, row_log2: u32, rows: Rows, iota: bool) -> Result<Self, Error> {
        in_range("for log2 of the parts in a tile of rows", tile.parts_log2(), 0..=0)?;
        in_range("for log2 of the elements in a row", row_log2, 0..=tile.log2())?;
        Ok(Self { tile, row_log2, rows, iota })
    }

    /// Returns the group of the listed rows; `None` for other rows.
    pub(super) fn group(self) -> Option<Group> {
        if let Rows::Listed(group) = self.rows { Some(group) } else { None }
    }

    /// Returns the maximum number of tiles in `count` elements.
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
        // Beside the tile, workgroup memory holds the beginnings and ends of found rows.
        let is_found = !matches!(self.rows, Rows::Equal(_));
        let rows = if is_found { 8 << (self.tile.log2() - self.row_log2) } else { 0 };
        at_most([("bytes of workgroup memory", self.tile.workgroup_bytes() + rows, limits.workgroup_bytes)])?;
        self.tile.keep_to(limits)
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        Launch::of_all(1 << self.tile.invocations_log2(), self.most_tiles(count), count, shape)
    }

    /// In bounds because stores access only elements of existing rows, and loads access these elements or one
    /// existing element in place of a missing one. The payload is read at positions taken in the tile, or at
    /// this one element. Listed rows lie in the array and share no element, because no other rows are listed.
    /// Rows between offsets lie in the array and share no element, because a wrong offset stops all sorts.
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
            Rows::Listed(Group { log2: (first, last), .. }) => Group::shorter(first) as usize + 1..=1 << last,
            Rows::Offsets(_) => 0..=1 << self.row_log2,
        };
        for range in segments::ranges(offsets, elements.len()) {
            if lengths.contains(&range.len()) {
                elements[range].sort();
            }
        }
    }
}
