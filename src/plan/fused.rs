//! The bitonic network cut for the `fused` kernels: tiles that stay in registers, passes that do as many
//! consecutive steps as a tile's bits allow.
//!
//! A tile is chosen by bits of the array's index: of 2^t elements that differ in t of those bits a
//! workgroup can do every step whose stride is one of the bits. The network is one sequence of strides,
//!
//! ```text
//! stage 15: 14 13 12 … 1 0   stage 16: 15 14 13 … 1 0   stage 17: 16 15 …
//! ```
//!
//! and a pass takes from it a run that has no more than t different bits. That its run may end one stage
//! and begin the next is what saves a fifth of the passes: a tile of the lowest bits and of some high
//! ones does `… 3 2 1 0 | 17 16 15 14 …`. Of all ways to cut the sequence the cheapest is taken. The lowest few
//! bits are always among a tile's, so that memory is touched in runs.

use std::ops::Range;

use super::bitonic::stages;
use super::{Dispatch, Grid, Kernel, Limits, Round, Shape, Work};
use crate::error::Error;

/// How the `fused` kernels share a tile out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FusedTile {
    /// Invocations in a workgroup, as a power of two.
    pub invocations_log2: u32,
    /// Elements in each invocation's registers, as a power of two.
    pub elements_log2: u32,
    /// Parts of the tile that take turns in workgroup memory, as a power of two.
    pub parts_log2: u32,
}

impl FusedTile {
    /// Elements in a tile, as a power of two.
    #[must_use]
    pub fn log2(self) -> u32 {
        self.invocations_log2 + self.elements_log2
    }

    /// Bytes of workgroup memory: a word of every element of a part, and a gap after each 32.
    #[must_use]
    pub fn workgroup_bytes(self) -> u64 {
        4 * (1 << (self.log2() - self.parts_log2)) * 33 / 32
    }

    /// # Errors
    ///
    /// What of this tile no kernel has; the limit that it exceeds.
    fn check(self, limits: &Limits) -> Result<(), Error> {
        let Self { invocations_log2, elements_log2, parts_log2 } = self;
        // A part is of two elements an invocation or more, and there must be others to exchange them with.
        if elements_log2 <= parts_log2 {
            let what = "(as a power of two) elements in an invocation's registers";
            return Err(Error::limit(what, u64::from(parts_log2) + 1, elements_log2.into()));
        }
        if parts_log2 > 0 && invocations_log2 == 0 {
            return Err(Error::limit("invocations, for a tile in parts,", 2, 1));
        }
        if self.log2() >= 32 {
            return Err(Error::limit("(as a power of two) elements in a tile", self.log2().into(), 31));
        }
        for (what, needed, limit) in [
            ("bytes of workgroup memory", self.workgroup_bytes(), limits.workgroup_bytes),
            ("invocations in a workgroup", 1 << invocations_log2, limits.invocations.into()),
        ] {
            if needed > limit {
                return Err(Error::limit(what, needed, limit));
            }
        }
        Ok(())
    }

    /// This tile or one more modest that these limits allow, no larger than `stages` make use of.
    fn fitted(mut self, stages: u32, limits: &Limits) -> Self {
        let fits = |tile: Self| tile.check(limits).is_ok();
        // With few elements in a part, there are more exchanges than memory is worth.
        while self.workgroup_bytes() > limits.workgroup_bytes && self.parts_log2 + 3 < self.elements_log2 {
            self.parts_log2 += 1;
        }
        // A tile in parts needs somebody to exchange with.
        if limits.invocations < 2 {
            self.parts_log2 = 0;
        }
        while !fits(self) && self.invocations_log2 > self.parts_log2.min(1) {
            self.invocations_log2 -= 1;
        }
        while !fits(self) && self.elements_log2 > self.parts_log2 + 1 {
            self.elements_log2 -= 1;
        }
        if !fits(self) {
            self = Self { invocations_log2: 0, elements_log2: 1, parts_log2: 0 };
        }
        // Fewer invocations than a subgroup's are of no use.
        while self.invocations_log2 > 5 && self.log2() > stages {
            self.invocations_log2 -= 1;
        }
        self
    }

    /// How a workgroup does the steps of this work: its layouts, in order.
    ///
    /// # Panics
    ///
    /// When no kernel on tiles does such work on tiles of this size.
    #[must_use]
    pub fn layouts(self, work: Work) -> Vec<Layout> {
        let tile_log2 = self.log2();
        // In the highest layout neighbouring invocations hold neighbouring elements, or at least runs.
        let highest = tile_log2 - self.elements_log2;
        let plain = |steps: Range<u32>, low| Layout { low, steps, mirrored: false };
        let mut layouts = Vec::new();
        let (tail, count, mirrored) = match work {
            Work::Strides { tail, count, mirrored, .. } => (tail, count, mirrored),
            Work::TileHalves { .. } => (0, tile_log2, true),
            work => panic!("{work:?} is not a sequence of layouts"),
        };
        // The strides of a stage's end, in layouts the last of which has the lowest bits. The first is the
        // one loaded: it must not have the bits of a run, and may have no steps.
        if tail > 0 {
            let moved = self.elements_log2 - self.parts_log2;
            let more = tail.saturating_sub(moved).max(LOADED_RUN_LOG2).div_ceil(moved);
            let first = (more * moved).min(highest);
            layouts.push(if first < tail { plain(first..tail, first) } else { plain(tail..tail, highest) });
            self.descend(0..first.min(tail), &mut layouts);
        }
        let first_count = count.min(self.elements_log2);
        if count > 0 {
            let steps = tile_log2 - first_count..tile_log2;
            layouts.push(Layout { low: highest, steps, mirrored });
            self.descend(tile_log2 - count..tile_log2 - first_count, &mut layouts);
        }
        // Stored must not be with the bits of a run in registers, either.
        if count == 0 || count == tile_log2 {
            layouts.push(plain(0..0, highest));
        }
        layouts
    }

    /// Layouts for these steps, from the highest down.
    fn descend(self, steps: Range<u32>, layouts: &mut Vec<Layout>) {
        let moved = self.elements_log2 - self.parts_log2;
        let mut high = steps.end;
        while high > steps.start {
            let low = high.saturating_sub(moved).max(steps.start);
            layouts.push(Layout { low, steps: low..high, mirrored: false });
            high = low;
        }
    }
}

/// Elements in the shortest run of memory that neighbouring invocations load, as a power of two.
const LOADED_RUN_LOG2: u32 = 3;

/// Which elements an invocation holds for some steps: those whose index in the tile differs in the bits
/// from `low` on. See `shaders/fused.wgsl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The lowest of the registers' bits.
    pub low: u32,
    /// The bits whose strides are done, from the highest down.
    pub steps: Range<u32>,
    /// Whether the first of them is the mirrored step that begins a stage.
    pub mirrored: bool,
}

/// What the `fused` variant chooses by size, shape and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How a tile is shared out that is sorted.
    pub sort_tile: FusedTile,
    /// How a tile is shared out in all later passes; no larger than that.
    pub tile: FusedTile,
    /// Elements in the shortest run of memory that a pass touches, as a power of two. Shorter ones leave
    /// more of a tile's bits for steps.
    pub run_log2: u32,
    /// Elements in a region, as a power of two: all dispatches that stay within a region are done on one
    /// region before the next, so that they find it in the device's cache.
    pub region_log2: u32,
}

impl Tuning {
    /// What is best for `n` elements of this shape within these limits, as far as it was measured: on an
    /// H100, whose driver gives the workgroups on a core 48 KiB of memory together.
    #[must_use]
    pub fn new(n: u32, shape: Shape, limits: &Limits) -> Self {
        let stages = stages(n);
        // (elements, invocations, parts), all as powers of two, of a tile to be sorted and of one in a pass.
        // With fewer tiles than cores it is the time of one tile that counts; up to 2^20 keys or so, the
        // number of passes, and a whole tile in workgroup memory saves barriers. Beyond, workgroups should be
        // many to a core, so that some compute while others wait for memory: then tiles have parts.
        // What does not fit the second-level cache by regions is bound by the device's memory: then fewer
        // passes are worth more of everything else.
        let ((sort_tile, tile), run_log2, region_bytes) = match (shape.words(), stages) {
            (1, ..=10) => (((3, 8, 0), (3, 8, 0)), 3, REGION_BYTES),
            (1, 11..=15) => (((4, 8, 0), (3, 9, 0)), 3, REGION_BYTES),
            (1, 16..=20) => (((5, 8, 0), (3, 9, 0)), 3, REGION_BYTES),
            (1, 21..=24) => (((5, 8, 1), (4, 8, 1)), 4, REGION_BYTES),
            (1, 25) => (((5, 8, 2), (5, 8, 2)), 4, REGION_BYTES),
            (1, _) => (((5, 9, 2), (5, 9, 2)), 3, u64::MAX),
            (2, 19..=21) => (((4, 8, 0), (4, 8, 0)), 4, REGION_BYTES),
            (2, 22..=25) => (((4, 8, 1), (4, 8, 1)), 4, REGION_BYTES),
            (2, 26..) => (((4, 9, 2), (4, 9, 2)), 3, u64::MAX),
            (3.., 26..) => (((3, 8, 0), (3, 8, 0)), 4, u64::MAX),
            _ => (((3, 8, 0), (3, 8, 0)), 4, REGION_BYTES),
        };
        let fitted = |(elements_log2, invocations_log2, parts_log2)| {
            FusedTile { invocations_log2, elements_log2, parts_log2 }.fitted(stages, limits)
        };
        let (sort_tile, tile) = (fitted(sort_tile), fitted(tile));
        let tile = if tile.log2() > sort_tile.log2() { sort_tile } else { tile };
        // Keys of two words make runs of as many bytes with half as many elements.
        let run_log2 = run_log2.min(if shape.key_words == 1 { 4 } else { 3 });
        let region_log2 = (region_bytes / shape.bytes()).ilog2();
        Self { sort_tile, tile, run_log2, region_log2 }
    }

    /// # Errors
    ///
    /// What is wrong with a tile; tiles of passes that are larger than those sorted.
    fn check(&self, limits: &Limits) -> Result<(), Error> {
        self.sort_tile.check(limits)?;
        self.tile.check(limits)?;
        let (sorted, tile) = (self.sort_tile.log2(), self.tile.log2());
        if tile > sorted {
            return Err(Error::limit("elements in a tile, when those sorted", 1 << tile, 1 << sorted));
        }
        Ok(())
    }
}

/// A region of this size stays in the second-level cache of a large GPU (an H100's holds 50 MiB; passes
/// over 32 MiB took 0.7 of their time by element over 64 MiB). On a GPU with a smaller one nothing is
/// lost but the time of more dispatches. Of more than 2^25 elements most passes leave a region anyway: then
/// there is but one.
const REGION_BYTES: u64 = 32 << 20;

/// Tiles sorted in registers, then the passes of all larger stages.
pub(super) fn plan(n: u32, shape: Shape, limits: &Limits, tuning: &Tuning) -> Result<Vec<Round>, Error> {
    tuning.check(limits)?;
    let sorted_log2 = tuning.sort_tile.log2();
    let region_log2 = tuning.region_log2.clamp(sorted_log2, stages(n).max(sorted_log2));
    // Of 2^32 elements where there is but one.
    let region = 1_u64 << region_log2;
    let regions: Vec<(u32, u32)> = (0..u64::from(n).div_ceil(region))
        .map(|number| (number * region, (u64::from(n) - number * region).min(region)))
        .map(|(first, count)| (first as u32, count as u32))
        .collect();

    let mut dispatches = Vec::new();
    let mut add = |work, (first, count): (u32, u32)| -> Result<(), Error> {
        let sorts = matches!(work, Work::TileSort { .. });
        let tile = if sorts { tuning.sort_tile } else { tuning.tile };
        dispatches.extend(dispatch(work, tile, first, count, shape, limits)?);
        Ok(())
    };
    for &region in &regions {
        add(Work::TileSort { tile_log2: sorted_log2 }, region)?;
        // The last region may be smaller: stages of larger blocks would find nothing to do there.
        for (work, _) in passes(sorted_log2, stages(region.1), tuning) {
            add(work, region)?;
        }
    }
    let across = passes(region_log2, stages(n), tuning);
    let is_within = |(_, reach_log2): &(Work, u32)| *reach_log2 <= region_log2;
    for works in across.chunk_by(|a, b| is_within(a) == is_within(b)) {
        let parts = if is_within(&works[0]) { &regions[..] } else { &[(0, n)] };
        for &part in parts {
            works.iter().try_for_each(|&(work, _)| add(work, part))?;
        }
    }
    Ok(vec![Round { dispatches, times: 1 }])
}

/// The passes of the stages after that of blocks of 2^`sorted_log2`, each with the size of the blocks
/// that no comparison leaves, as a power of two: of all ways to cut them the one that is expected to
/// take the least time.
fn passes(sorted_log2: u32, stages: u32, tuning: &Tuning) -> Vec<(Work, u32)> {
    let (tile, tile_log2) = (tuning.tile, tuning.tile.log2());
    let run_log2 = tuning.run_log2.min(tile_log2 - 1);
    if sorted_log2 >= stages {
        return Vec::new();
    }
    // By stage and by how many of its steps are still to be done: the least cost from there on, the pass
    // to begin with, and what it leaves to be done.
    let mut best: Vec<Vec<(u32, Option<Choice>)>> = vec![Vec::new(); stages as usize + 2];
    best[stages as usize + 1] = vec![(0, None); stages as usize + 2];
    for stage in (sorted_log2 + 1..=stages).rev() {
        // A stage's end is the next one's beginning.
        let next = best[stage as usize + 1][stage as usize + 1];
        best[stage as usize].push(next);
        for left in 1..=stage {
            let mut options = Vec::new();
            if left <= tile_log2 {
                let rest = Work::Strides { tail: left, low: tile_log2, count: 0, mirrored: false };
                options.push((rest, (stage, 0)));
                let most = if stage < stages { tile_log2 - left.max(run_log2).min(tile_log2) } else { 0 };
                options.extend((1..=most).rev().map(|count| {
                    let low = stage + 1 - count;
                    (Work::Strides { tail: left, low, count, mirrored: true }, (stage + 1, low))
                }));
            }
            if left >= tile_log2 {
                let most = (tile_log2 - run_log2).min(left);
                options.extend((1..=most).rev().map(|count| {
                    let low = left - count;
                    (Work::Strides { tail: 0, low, count, mirrored: left == stage }, (stage, low))
                }));
            }
            let cost = |&(work, (stage, left)): &Choice| {
                best[stage as usize][left as usize].0 + PASS_COST + tile.layouts(work).len() as u32
            };
            let chosen = options.into_iter().min_by_key(cost).expect("a pass of one step fits any tile");
            let state = (cost(&chosen), Some(chosen));
            best[stage as usize].push(state);
        }
    }

    let mut passes = Vec::new();
    let mut place = (sorted_log2 + 1, sorted_log2 + 1);
    while let Some((work, next)) = best[place.0 as usize].get(place.1 as usize).and_then(|state| state.1) {
        let Work::Strides { low, count, .. } = work else { unreachable!("no pass does other work") };
        passes.push((work, low + count));
        place = next;
    }
    passes
}

/// A pass; and what is to be done after it: a stage, and how many of its steps.
type Choice = (Work, (u32, u32));

/// What a pass costs beside its layouts, in layouts.
const PASS_COST: u32 = 8;

/// A dispatch on `count` elements from `first` on; `None` if there is nothing to compare.
pub(super) fn dispatch(
    work: Work,
    tile: FusedTile,
    first: u32,
    count: u32,
    shape: Shape,
    limits: &Limits,
) -> Result<Option<Dispatch>, Error> {
    let n = u64::from(count);
    let tiles = match work {
        Work::Strides { tail, low, count, mirrored } if count > 0 => {
            let run_log2 = tile.log2() - count;
            let (blocks, rest) = (n >> (low + count), n & ((1 << (low + count)) - 1));
            let all = 1 << (low - run_log2);
            // In the last block there is something to do if it reaches past the first half, or stride.
            let reach = if mirrored { 1 << (low + count - 1) } else { 1 << low };
            let last = if rest > reach {
                all
            } else if tail > 0 {
                rest.div_ceil(1 << run_log2).min(all)
            } else {
                0
            };
            blocks * all + last
        }
        _ => n.div_ceil(1 << tile.log2()),
    };
    if tiles == 0 {
        return Ok(None);
    }
    Ok(Some(Dispatch {
        work,
        kernel: Kernel::Fused(tile),
        first,
        count,
        workgroup_size: 1 << tile.invocations_log2,
        grid: Grid::new(tiles, limits)?,
        bytes_moved: n.min(tiles << tile.log2()) * 2 * shape.bytes(),
    }))
}
