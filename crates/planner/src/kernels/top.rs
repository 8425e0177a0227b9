//! A tile in registers, of which only the best elements are left, in the other array: the passes of
//! [`Plan::top`](crate::plan::Plan::top). One workgroup reduces one tile to a run of slots.
//!
//! ```text
//! least elements of groups     a0 a1 a2 a3 … one of each group, in workgroup memory
//! bound                        the greatest of the ranks taken in subsets of them: k or more are not greater
//! count                        less than the bound: as many as the run has slots, or fewer?
//! run                          those that are less, then the bound itself up to k, then padding
//! ```
//!
//! Where the count is larger than the run, the bound is found bit by bit instead: the k-th element
//! itself, below which there are less than k.

use gpusort_shaders::wgsl;

use super::{Access, Arguments, Kernel, KernelSpec, Keys, Launch, Module, REGISTERS, Shape, Tiles};
use crate::error::{Error, at_least, at_most, within};
use crate::item::Item;
use crate::limits::Limits;
use crate::network::{self, Step};

/// How the best elements of tiles are found.
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
    /// A tuning of these powers of two, in this order:
    ///
    /// - elements in each invocation's registers;
    /// - invocations in a workgroup;
    /// - groups of the elements of an invocation of which each has its least taken. More make a closer
    ///   bound and take longer; there must be k in a workgroup;
    /// - least elements of which a rank is taken at a time: likewise;
    /// - slots in a run: k or more.
    ///
    /// # Errors
    ///
    /// Numbers that no kernel has.
    pub fn new(log2: [u32; 5]) -> Result<Self, Error> {
        let [elements_log2, invocations_log2, groups_log2, subset_log2, slots_log2] = log2;
        // Loops over registers are written out, so more of them make a text that no compiler takes.
        within("for log2 of the elements in the registers of an invocation", elements_log2, 0..=10)?;
        // Each is far below 32 where it is of use, and sums of them are exponents here.
        let largest = log2.into_iter().max().unwrap_or_default();
        at_most([("for log2 of a number of a tuning", largest.into(), 15)])?;
        at_most([
            ("groups of the elements of an invocation", 1 << groups_log2, 1 << elements_log2),
            ("invocations in a subset", 1 << subset_log2, 1 << invocations_log2),
            // So that each pass leaves less than it found.
            ("slots in a tile", 2 << slots_log2, 1 << (invocations_log2 + elements_log2)),
        ])?;
        Ok(Self { invocations_log2, elements_log2, groups_log2, subset_log2, slots_log2 })
    }

    /// Whether a kernel for the first `k` elements of this shape keeps to the limits.
    pub(crate) fn fits(self, k: u32, shape: Shape, limits: &Limits) -> bool {
        Top { tuning: self, k }.check(shape, limits).is_ok()
    }

    /// Elements in a tile, as a power of two.
    pub fn tile_log2(self) -> u32 {
        self.invocations_log2 + self.elements_log2
    }

    /// Slots in a run, as a power of two.
    pub fn slots_log2(self) -> u32 {
        self.slots_log2
    }

    /// Slots in the runs that are left of this many elements.
    pub fn kept(self, count: u32) -> u64 {
        u64::from(count).div_ceil(1 << self.tile_log2()) << self.slots_log2
    }

    /// Subsets of the least elements in all groups.
    fn subsets(self) -> u32 {
        1 << (self.groups_log2 + self.invocations_log2 - self.subset_log2)
    }

    /// Elements in workgroup memory: the least ones of a group in each invocation, and one for each
    /// subset.
    fn workgroup_elements(self) -> u32 {
        (1 << self.invocations_log2) + self.subsets()
    }

    /// Bytes of workgroup memory: those elements, and a count.
    pub fn workgroup_bytes(self, shape: Shape) -> u64 {
        u64::from(self.workgroup_elements()) * shape.bytes() + 4
    }
}

/// Leaves of every aligned tile a run in the other array. In it are the tile's first `k` in the
/// sorted order, wherever in the run; the remaining slots hold others of the tile, none twice, or
/// elements that sort last. After the runs is anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Top {
    /// The tiles and runs, and how the best are found.
    pub tuning: TopTuning,
    /// How many elements must be kept.
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

    /// In bounds since loads beyond the last element are of that one, of which there is one
    /// wherever there are workgroups; and stores go to the runs of tiles that are counted, to slots
    /// below the run's number. Workgroup memory has a place for each invocation and for each subset
    /// of each group.
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
