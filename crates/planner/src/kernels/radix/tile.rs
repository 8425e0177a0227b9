//! The division of a tile of the radix sort.

use super::RADIX;
use crate::error::{Error, at_most, has, in_range, refuse_if};
use crate::limits::{Limits, Subgroups};

/// The division of a tile: its elements among invocations, and the invocations among subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RadixTile {
    pub(super) invocations: u32,
    pub(super) items: u32,
    pub(super) subgroups: Subgroups,
    pub(super) fifo_dispatch: bool,
    pub(super) matching: Matching,
}

/// The way that a lane finds the lanes with an equal digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matching {
    /// By ballots on each bit.
    Ballots,
    /// By ballots for one element, and by a mask beside the counter for the next element, which keeps two
    /// units of a core busy. Subgroups must have at most 32 lanes and a barrier.
    Masks,
    /// By masks alone, in groups of 32 invocations in place of subgroups, with barriers of the workgroup.
    Groups,
}

/// Invocations in a group of [`Matching::Groups`].
pub(super) const GROUP: u32 = 32;

impl RadixTile {
    /// Returns a tile of these numbers of invocations and of elements for each, for subgroups and the order of
    /// workgroups on a device with these limits.
    ///
    /// # Errors
    ///
    /// Fails unless the number of invocations is a power of two that fills a subgroup, and a kernel has the number of
    /// elements; fails without subgroups.
    pub fn new(invocations: u32, items: u32, limits: &Limits) -> Result<Self, Error> {
        let subgroups = limits.subgroups.ok_or(Error::Lacks { what: "subgroups" })?;
        let Subgroups { smallest, largest, .. } = subgroups;
        let is_power = invocations.is_power_of_two();
        refuse_if([("the invocations of a workgroup must be a power of two", !is_power)])?;
        let are_powers = smallest.is_power_of_two() && largest.is_power_of_two();
        has([("subgroups with a power of two of lanes", true, are_powers)])?;
        // Fewer invocations would leave some words unset: each sets one word.
        in_range("invocations in a workgroup", invocations, 8..=1 << 12)?;
        // Loops over registers are written out: no compiler takes the text for more registers.
        in_range("elements in the registers of an invocation", items, 1..=64)?;
        at_most([
            ("lanes in a subgroup", largest.into(), 128),
            ("lanes in the smallest subgroup", smallest.into(), invocations.min(largest).into()),
            // Two sums of each subgroup lie where the offsets of digits go.
            ("subgroups in a workgroup", (invocations / smallest).into(), (RADIX / 2).into()),
        ])?;
        let (fifo_dispatch, matching) = (limits.fifo_dispatch, Matching::Ballots);
        Ok(Self { invocations, items, subgroups, fifo_dispatch, matching })
    }

    /// Returns a tile for devices without subgroups.
    ///
    /// # Errors
    ///
    /// Fails unless the number of invocations is a power of two within bounds, and a kernel has the number of
    /// elements.
    pub fn without_subgroups(invocations: u32, items: u32) -> Result<Self, Error> {
        let subgroups = Subgroups { smallest: GROUP, largest: GROUP, barrier: true };
        let limits = Limits { subgroups: Some(subgroups), fifo_dispatch: false, ..Limits::WEBGPU };
        // Two sums of each invocation lie where the offsets of digits go.
        at_most([("invocations in a workgroup", invocations.into(), (RADIX / 2).into())])?;
        Ok(Self { matching: Matching::Groups, ..Self::new(invocations, items, &limits)? })
    }

    /// Returns this tile with invocations that match digits by masks.
    ///
    /// # Errors
    ///
    /// Fails for subgroups of more than 32 lanes, or without a barrier.
    pub fn with_masks(self) -> Result<Self, Error> {
        let Subgroups { largest, barrier, .. } = self.subgroups;
        at_most([("lanes in a subgroup", largest.into(), 32)])?;
        has([("subgroup barriers", true, barrier)])?;
        Ok(Self { matching: Matching::Masks, ..self })
    }

    /// Returns the number of elements in a tile.
    pub fn size(self) -> u32 {
        self.invocations * self.items
    }

    /// Returns the number of tiles in `count` elements.
    pub fn tiles(self, count: u32) -> u32 {
        count.div_ceil(self.size())
    }

    /// Returns the maximum number of subgroups in a workgroup.
    pub(super) fn most_subgroups(self) -> u32 {
        self.invocations / self.subgroups.smallest
    }

    /// Returns the number of counters of all subgroups, with the masks beside them.
    pub(super) fn counters(self) -> u32 {
        let sets = if self.matching == Matching::Ballots { 1 } else { 2 };
        sets * self.most_subgroups() * RADIX
    }

    /// Returns true if each subgroup clears its own counters: all subgroups exist, and none counts for another.
    pub(super) fn clears_apart(self) -> bool {
        let Subgroups { smallest, largest, barrier } = self.subgroups;
        smallest == largest && barrier && self.matching != Matching::Groups
    }

    /// Returns the words of workgroup memory: the counters or, in their place, the tile; and an offset for
    /// each value of the digit.
    pub(super) fn workgroup_words(self) -> u32 {
        self.counters().max(self.size()) + RADIX
    }

    /// Returns the bytes of workgroup memory.
    pub fn workgroup_bytes(self) -> u64 {
        u64::from(self.workgroup_words()) * 4
    }
}
