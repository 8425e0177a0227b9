//! Reduces a tile in registers to its best elements, in the other array: the passes of
//! [`Plan::top`](crate::plan::Plan::top). One workgroup reduces one tile to a run of slots.
//!
//! ```text
//! least elements of groups     a0 a1 a2 a3 … one of each group, in workgroup memory
//! bound                        the greatest element selected by rank in subsets of them: k or more are not greater
//! count                        elements less than the bound: more than the run has slots, or not?
//! run                          elements less than the bound, then the bound itself up to k, then padding
//! ```
//!
//! If the count exceeds the slots, the bound is found bit by bit instead: the k-th element itself, with
//! fewer than k elements below it.

use gpusort_shaders::wgsl;

use super::{Access, Arguments, Kernel, KernelSpec, Keys, Launch, Module, REGISTERS, Shape, Tiles};
use crate::error::{Error, at_least, at_most, in_range};
use crate::item::Item;
use crate::limits::Limits;
use crate::network::{self, Step};

/// The search for the best elements of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_field_names, reason = "a number that is not its logarithm needs another name")]
pub struct TopTuning {
    invocations_log2: u32,
    elements_log2: u32,
    groups_log2: u32,
    subset_log2: u32,
    slots_log2: u32,
}

impl TopTuning {
    /// Returns a tuning of these powers of two, in this order:
    ///
    /// - elements in each invocation's registers;
    /// - invocations in a workgroup;
    /// - groups of an invocation's elements; each group yields its least element. More groups make a closer
    ///   bound and take longer; a workgroup must have k or more groups;
    /// - least elements in a subset; each subset yields the element of one rank. Likewise;
    /// - slots in a run: k or more.
    ///
    /// # Errors
    ///
    /// Fails for numbers that no kernel has.
    pub fn new(log2: [u32; 5]) -> Result<Self, Error> {
        let [elements_log2, invocations_log2, groups_log2, subset_log2, slots_log2] = log2;
        // Loops over registers are written out: no compiler takes the text for more registers.
        in_range("for log2 of the elements in the registers of an invocation", elements_log2, 0..=10)?;
        // Useful values are far below 32, and sums of values are exponents here.
        let largest = log2.into_iter().max().unwrap_or_default();
        at_most([("for log2 of a number of a tuning", largest.into(), 15)])?;
        at_most([
            ("groups of the elements of an invocation", 1 << groups_log2, 1 << elements_log2),
            ("invocations in a subset", 1 << subset_log2, 1 << invocations_log2),
            // Each pass must leave fewer elements than it found.
            ("slots in a tile", 2 << slots_log2, 1 << (invocations_log2 + elements_log2)),
        ])?;
        Ok(Self { invocations_log2, elements_log2, groups_log2, subset_log2, slots_log2 })
    }

    /// Returns true if a kernel for the first `k` elements of this shape keeps to the limits.
    pub(crate) fn fits(self, k: u32, shape: Shape, limits: &Limits) -> bool {
        Top { tuning: self, k }.check(shape, limits).is_ok()
    }

    /// Returns the number of elements in a tile, as a power of two.
    pub fn tile_log2(self) -> u32 {
        self.invocations_log2 + self.elements_log2
    }

    /// Returns the number of slots in a run, as a power of two.
    pub fn slots_log2(self) -> u32 {
        self.slots_log2
    }

    /// Returns the number of slots in the runs of `count` elements.
    pub fn kept(self, count: u32) -> u64 {
        u64::from(count).div_ceil(1 << self.tile_log2()) << self.slots_log2
    }

    /// Returns the number of subsets of the least elements in all groups.
    fn subsets(self) -> u32 {
        1 << (self.groups_log2 + self.invocations_log2 - self.subset_log2)
    }

    /// Returns the number of elements in workgroup memory: the least element of one group in each invocation,
    /// and one element for each subset.
    fn workgroup_elements(self) -> u32 {
        (1 << self.invocations_log2) + self.subsets()
    }

    /// Returns the bytes of workgroup memory: the elements there, and a count.
    pub fn workgroup_bytes(self, shape: Shape) -> u64 {
        u64::from(self.workgroup_elements()) * shape.bytes() + 4
    }
}

/// Reduces every aligned tile to a run in the other array. The run has the tile's first `k` elements in the
/// sorted order, at any places; the remaining slots hold other elements of the tile, without repetitions, or
/// elements that sort last. The content after the runs is arbitrary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Top {
    /// The tiles, the runs, and the search for the best elements.
    pub tuning: TopTuning,
    /// The number of elements to keep.
    pub k: u32,
}

impl KernelSpec for Top {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        let TopTuning { invocations_log2, groups_log2, slots_log2, .. } = self.tuning;
        at_least([("elements kept of a tile", self.k.into(), 1)])?;
        at_most([
            ("elements kept of a tile", self.k.into(), 1 << slots_log2),
            ("groups in a workgroup", self.k.into(), 1 << (invocations_log2 + groups_log2)),
            ("bytes of workgroup memory", self.tuning.workgroup_bytes(shape), limits.workgroup_bytes),
            ("invocations in a workgroup", 1 << invocations_log2, limits.invocations.into()),
        ])
    }

    fn launch(&self, count: u32, shape: Shape, _: &Limits) -> Launch {
        Launch {
            workgroup_size: 1 << self.tuning.invocations_log2,
            workgroups: u64::from(count).div_ceil(1 << self.tuning.tile_log2()),
            bytes_moved: (u64::from(count) + self.tuning.kept(count)) * shape.bytes(),
        }
    }

    /// In bounds because loads beyond the last element read the last element, which exists if workgroups do.
    /// Stores go to the runs of counted tiles, to slots below the number of slots in a run. Workgroup memory
    /// has a place for each invocation and for each subset of each group.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        let kept = self.tuning.kept(count);
        at_most([("elements kept by a pass", kept, count.into())])?;
        Ok(Access { writes: kept, ..Access::from_start(first, count)?.to_other() })
    }

    fn steps(&self) -> Vec<Step> {
        (1..=self.tuning.tile_log2()).flat_map(network::stage).collect()
    }

    fn tiles(&self) -> Option<Tiles> {
        Some(Tiles::consecutive(1 << self.tuning.tile_log2(), REGISTERS))
    }

    fn workgroup_bytes(&self, shape: Shape) -> u64 {
        self.tuning.workgroup_bytes(shape)
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Top(Self { k: 0, ..*self })
    }

    fn module(&self, shape: Shape, _: Keys) -> Module {
        let tuning = self.tuning;
        let constants = vec![
            ("TILE_SIZE", tuning.workgroup_elements()),
            ("TILE_LOG2", tuning.tile_log2()),
            ("ELEMENTS", 1 << tuning.elements_log2),
            ("GROUPS", 1 << tuning.groups_log2),
            ("GROUP", 1 << (tuning.elements_log2 - tuning.groups_log2)),
            ("SUBSET", 1 << tuning.subset_log2),
            ("SUBSETS", 1 << (tuning.invocations_log2 - tuning.subset_log2)),
            ("SLOTS_LOG2", tuning.slots_log2),
            ("ELEMENT_WORDS", shape.words()),
        ];
        let text = wgsl("top").to_owned();
        Module { entry_point: "top_of_tile", constants, text }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        let n = first + count;
        let tiles = n.div_ceil(1 << self.tuning.tile_log2());
        let rank = self.k.div_ceil(self.tuning.subsets());
        [("n", n), ("tiles", tiles), ("k", self.k), ("rank", rank)].into()
    }

    /// Sorts every tile and puts its first `k` into a run, one run after another.
    fn interpret<T: Item>(&self, elements: &mut [T], _: &[u32], last: T) {
        let tile = 1 << self.tuning.tile_log2();
        elements.chunks_mut(tile).for_each(<[T]>::sort_unstable);
        let run = |tile: &[T]| {
            let kept = tile[..tile.len().min(self.k as usize)].iter().copied();
            kept.chain(std::iter::repeat(last)).take(1 << self.tuning.slots_log2).collect::<Vec<T>>()
        };
        let runs: Vec<T> = elements.chunks(tile).flat_map(run).collect();
        elements[..runs.len()].copy_from_slice(&runs);
    }
}
