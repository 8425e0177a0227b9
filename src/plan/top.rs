//! The first k of the sorted elements, without a sort of all of them.
//!
//! Every pass reads the elements that are left tile by tile and leaves of each a short *run*, a fixed
//! number of slots, among which are the tile's best k. What is left shrinks by tile over run, thirty
//! times for k = 100, so that nearly everything happens in the first pass, which reads each element once:
//!
//! ```text
//! 2^26 elements   8192 tiles of 2^13   ->  8192 runs of 2^8
//! 2^21             256 tiles of 2^13   ->   256 runs of 2^8
//! 2^16               8 tiles of 2^13   ->     8 runs of 2^8
//! 2^11             sorted by the `fused` kernels: the first k are the result
//! ```
//!
//! A tile's best k are found by a bound. Each invocation takes the least of its elements, or of a few
//! groups of them. Of the least in each of several subsets a rank is taken, such that the subsets'
//! ranks add up to k or more: the greatest of the elements with that rank has k elements or more that
//! are not greater than it. What is less than this bound goes into the run, and the bound itself as often as there is
//! room below k. In random data that is half again as many elements as k. Where it is more than the run
//! has slots (the small ones may all be in few invocations), the bound is found bit by bit instead: the
//! k-th element itself, below which there are less than k. That takes a few times as long and never more.

use super::{Dispatch, Grid, Kernel, Limits, Plan, Round, Shape, Tuning, Work, fused};
use crate::error::Error;

/// The largest k for which elements are reduced to the best ones. Beyond, most of a pass would be the ranks.
const MOST: u32 = 1 << 10;

/// How the best elements of tiles are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopTuning {
    /// Invocations in a workgroup, as a power of two.
    pub invocations_log2: u32,
    /// Elements in each invocation's registers, as a power of two.
    pub elements_log2: u32,
    /// Groups of them of which each has its least taken, as a power of two. More make a closer bound and
    /// take longer; there must be k in a workgroup.
    pub groups_log2: u32,
    /// Of how many least elements a rank is taken at a time, as a power of two: likewise.
    pub subset_log2: u32,
    /// Slots in a run, as a power of two: k or more.
    pub slots_log2: u32,
    /// How many elements are sorted in the end at most, as a power of two.
    pub rest_log2: u32,
}

impl TopTuning {
    /// What is expected to be best for the first `k` elements of this shape; `None` if no tile that these limits
    /// allow is large enough for them.
    #[must_use]
    pub fn new(k: u32, shape: Shape, limits: &Limits) -> Option<Self> {
        if k > MOST {
            return None;
        }
        // 32 registers for keys of a word, as they are plenty for loads to be under way together.
        let elements_log2 = if shape.words() == 1 { 5 } else { 4 };
        let invocations_log2 = if k <= 256 { 8 } else { 9 };
        let invocations_log2 = invocations_log2.min(limits.invocations.max(1).ilog2());
        (0..=invocations_log2).rev().find_map(|invocations_log2| {
            // With twice as many groups as k the bound is about a median.
            let groups = (2 * k).div_ceil(1 << invocations_log2).next_power_of_two();
            // What exceeds k by the chances of random data.
            let slots = if k <= 256 { k * 5 / 2 } else { 2 * k };
            let tuning = Self {
                invocations_log2,
                elements_log2,
                groups_log2: groups.ilog2().min(elements_log2),
                subset_log2: invocations_log2.min(6),
                slots_log2: slots
                    .max(32)
                    .next_power_of_two()
                    .ilog2()
                    .min(invocations_log2 + elements_log2 - 1),
                rest_log2: 12,
            };
            tuning.check(k, shape, limits).is_ok().then_some(tuning)
        })
    }

    /// Elements in a tile, as a power of two.
    #[must_use]
    pub fn tile_log2(self) -> u32 {
        self.invocations_log2 + self.elements_log2
    }

    /// Subsets of the least elements in all groups.
    #[must_use]
    pub fn subsets(self) -> u32 {
        1 << (self.groups_log2 + self.invocations_log2 - self.subset_log2)
    }

    /// The rank that is taken in each subset, counted from 1, for the first `k`.
    #[must_use]
    pub fn rank(self, k: u32) -> u32 {
        k.div_ceil(self.subsets())
    }

    /// Elements in workgroup memory: the least ones of a group in each invocation, and one for each subset.
    #[must_use]
    pub fn workgroup_elements(self) -> u32 {
        (1 << self.invocations_log2) + self.subsets()
    }

    /// Bytes of workgroup memory: those elements, and a count.
    #[must_use]
    pub fn workgroup_bytes(self, shape: Shape) -> u64 {
        u64::from(self.workgroup_elements()) * shape.bytes() + 4
    }

    /// # Errors
    ///
    /// What no kernel for `k` elements has.
    pub(crate) fn check_form(self, k: u32) -> Result<(), Error> {
        // Each is far below 32 where it is of use, and sums of them are exponents here.
        let all = [
            self.invocations_log2,
            self.elements_log2,
            self.groups_log2,
            self.subset_log2,
            self.slots_log2,
            self.rest_log2,
        ];
        let largest = all.into_iter().max().unwrap_or_default();
        if largest > 15 {
            return Err(Error::limit("(as a power of two) of a tuning", largest.into(), 15));
        }
        for (what, needed, limit) in [
            ("groups of an invocation's elements", 1 << self.groups_log2, 1 << self.elements_log2),
            ("invocations that a subset is of", 1 << self.subset_log2, 1 << self.invocations_log2),
            ("elements of a tile that are kept", u64::from(k), 1 << self.slots_log2),
            ("groups in a workgroup", u64::from(k), 1 << (self.invocations_log2 + self.groups_log2)),
            // So that each pass leaves less than it found.
            ("slots of a tile", 2 << self.slots_log2, 1 << self.tile_log2()),
        ] {
            if needed > limit {
                return Err(Error::limit(what, needed, limit));
            }
        }
        Ok(())
    }

    /// # Errors
    ///
    /// What no kernel has; the limit that is exceeded.
    fn check(self, k: u32, shape: Shape, limits: &Limits) -> Result<(), Error> {
        self.check_form(k)?;
        for (what, needed, limit) in [
            ("bytes of workgroup memory", self.workgroup_bytes(shape), limits.workgroup_bytes),
            ("invocations in a workgroup", 1 << self.invocations_log2, limits.invocations.into()),
        ] {
            if needed > limit {
                return Err(Error::limit(what, needed, limit));
            }
        }
        Ok(())
    }
}

/// The passes, and how many elements the second array must have room for.
fn reduce(
    k: u32,
    n: u32,
    shape: Shape,
    limits: &Limits,
    tuning: TopTuning,
) -> Result<(Vec<Round>, u32), Error> {
    tuning.check(k, shape, limits)?;
    let (tile_log2, slots_log2) = (tuning.tile_log2(), tuning.slots_log2);
    let work = Work::TopTile { tile_log2, slots_log2, k };
    // Of less than a run a pass would leave more than there was.
    let rest = 1 << tuning.rest_log2.max(slots_log2);
    let (mut left, mut room) = (n, 0);
    let mut dispatches = Vec::new();
    while left > rest {
        let tiles = left.div_ceil(1 << tile_log2);
        let kept = tiles << slots_log2;
        dispatches.push(Dispatch {
            work,
            kernel: Kernel::Top(tuning),
            first: 0,
            count: left,
            workgroup_size: 1 << tuning.invocations_log2,
            grid: Grid::new(tiles.into(), limits)?,
            bytes_moved: (u64::from(left) + u64::from(kept)) * shape.bytes(),
        });
        // Each pass leaves less than it found, so what comes back to the first array has room there.
        room = room.max(kept);
        left = kept;
    }
    if left > 1 {
        let sort = fused::plan(left, shape, limits, &Tuning::new(left, shape, limits))?;
        dispatches.extend(sort.into_iter().flat_map(|round| round.dispatches));
    }
    Ok((vec![Round { dispatches, times: 1 }], room))
}

impl Plan {
    /// Plans what leaves the first `k` of `n` sorted elements at the beginning, and anything after them: for few
    /// of many, a reduction; else a whole sort.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`].
    pub fn top(k: usize, n: usize, shape: Shape, limits: &Limits) -> Result<Self, Error> {
        let k = k.min(n).max(1);
        let tuning = u32::try_from(k).ok().and_then(|k| TopTuning::new(k, shape, limits));
        Self::reduced(k, n, shape, limits, tuning)
    }

    /// [`Plan::top`] with a tuning of one's own, to measure what it buys.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`]; a tuning that exceeds the limits or does not keep `k`.
    pub fn top_tuned(
        k: usize,
        n: usize,
        shape: Shape,
        limits: &Limits,
        tuning: TopTuning,
    ) -> Result<Self, Error> {
        Self::reduced(k.min(n).max(1), n, shape, limits, Some(tuning))
    }

    fn reduced(
        k: usize,
        n: usize,
        shape: Shape,
        limits: &Limits,
        tuning: Option<TopTuning>,
    ) -> Result<Self, Error> {
        let whole = Self::new(super::Algorithm::Bitonic, super::Variant::Fused, n, shape, limits)?;
        match tuning {
            Some(tuning) if n > 1 => {
                // At most n, of which there are 2^32 − 1 at most.
                let (rounds, scratch) = reduce(k as u32, whole.n, shape, limits, tuning)?;
                Ok(Self { scratch, rounds, ..whole })
            }
            _ => Ok(whole),
        }
    }

    /// Whether elements are reduced to the best ones, and not all sorted.
    #[must_use]
    pub fn reduces(&self) -> bool {
        let mut dispatches = self.rounds.iter().flat_map(|round| &round.dispatches);
        dispatches.any(|dispatch| matches!(dispatch.work, Work::TopTile { .. }))
    }
}
