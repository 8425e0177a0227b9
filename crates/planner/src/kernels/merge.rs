//! Two neighbouring sorted runs, merged into the other array.
//!
//! ```text
//! array      [ first run ───────│ second run ── ]
//! other      [ tile 0 │ tile 1 │ tile 2 │ tile  ]   one workgroup each
//! ```
//!
//! A tile's elements are two slices. Their bounds follow from the number of elements of the first run
//! before each end of the tile. The slices are read into workgroup memory, where each invocation finds its
//! own beginning in the same way and merges a few elements (merge path; S. Odeh et al., "Merge Path:
//! Parallel Merging Made Simple", 2012). In the runs themselves, all invocations search for both ends of
//! the tile together: five rounds of reads replace thirty.

use gpusort_shaders::wgsl;

use super::{Access, Arguments, Kernel, KernelSpec, Keys, Launch, Module, Shape};
use crate::error::{Error, at_most, in_range};
use crate::item::Item;
use crate::limits::Limits;

/// A tile of a merge: its invocations, and the elements of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MergeTile {
    invocations_log2: u32,
    elements: u32,
}

impl MergeTile {
    /// Returns tiles of 2^`invocations_log2` invocations with `elements` elements each. With an odd number of
    /// elements, neighbouring invocations find their elements in different banks of workgroup memory.
    ///
    /// # Errors
    ///
    /// Fails for numbers that no kernel has.
    pub fn new(invocations_log2: u32, elements: u32) -> Result<Self, Error> {
        in_range("for log2 of the invocations in a workgroup", invocations_log2, 2..=15)?;
        in_range("elements in the registers of an invocation", elements, 1..=64)?;
        Ok(Self { invocations_log2, elements })
    }

    /// Bytes of workgroup memory beside the elements.
    pub(crate) const OWN_BYTES: u64 = 16;

    /// Returns the number of elements in a tile.
    pub fn size(self) -> u32 {
        self.elements << self.invocations_log2
    }

    pub(crate) fn constants(self) -> [(&'static str, u32); 3] {
        [
            ("TILE_SIZE", self.size()),
            ("EACH", self.elements),
            // In each round, half of the invocations search for one of up to 2^32 places.
            ("ROUNDS", u32::BITS.div_ceil(self.invocations_log2 - 1)),
        ]
    }
}

/// Merges the elements before `middle` with the elements from `middle` on; both runs are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Merge {
    /// The tiles.
    pub tile: MergeTile,
    /// Elements of the first run.
    pub middle: u32,
    /// True if the next dispatch finds the elements in the array of this dispatch, and can merge other
    /// elements there.
    pub stays: bool,
}

impl KernelSpec for Merge {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        let bytes = u64::from(self.tile.size()) * shape.bytes() + MergeTile::OWN_BYTES;
        at_most([
            ("bytes of workgroup memory", bytes, limits.workgroup_bytes),
            ("invocations in a workgroup", 1 << self.tile.invocations_log2, limits.invocations.into()),
        ])
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        let workgroups = count.div_ceil(self.tile.size()).into();
        Launch::of_all(1 << self.tile.invocations_log2, workgroups, count, shape)
    }

    /// In bounds because workgroups exist only for elements, and their tiles end no later than the elements.
    /// A tile takes no more elements from either run than the run has, whatever compares as less: the search
    /// stays between the least and the greatest number that leave enough for the other run. Places in
    /// workgroup memory are places of the tile.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        at_most([
            ("elements in the first run", self.middle.into(), count.into()),
            // Places beyond the last tile also fit 32 bits.
            ("elements to merge", u64::from(first) + u64::from(count), 1 << 31),
        ])?;
        let there = Access::in_place(first, count).to_other();
        Ok(Access { changes_sides: !self.stays, ..there })
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Merge(Self { middle: 0, stays: false, ..*self })
    }

    fn module(&self, _: Shape, _: Keys) -> Module {
        let text = [wgsl("merge_neighbours"), wgsl("merge")].concat();
        Module { entry_point: "merge_runs", constants: self.tile.constants().into(), text }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        [("first", first), ("middle", first + self.middle), ("end", first + count)].into()
    }

    fn interpret<T: Item>(&self, elements: &mut [T], _: &[u32], _: T) {
        // A stable sort keeps the order of equal elements, and so merges runs.
        elements.sort();
    }
}
