//! Measured tables: the best tiles by size, shape and device, and the fastest algorithm.

use crate::algorithm::{Algorithm, Variant};
use crate::error::{Error, at_least, at_most};
use crate::kernels::{FusedTile, MergeTile, Radix, RadixTile, Shape, StalledTile, TopTuning};
use crate::key::KeyWords;
use crate::limits::{Kind, Limits, Subgroups};
use crate::network;

/// Returns the best variant of an algorithm on a device with these limits.
pub fn default_variant(algorithm: Algorithm, limits: &Limits) -> Variant {
    match algorithm {
        // A tile of `onesweep` waits for earlier tiles. If workgroups start in order and all started
        // workgroups go on, earlier tiles are done soon; otherwise tiles must be counted twice, and
        // counting all tiles at once is faster.
        Algorithm::Radix if !limits.fifo_dispatch || limits.subgroups.is_none() => Variant::ReduceScan,
        _ => algorithm.variants()[0],
    }
}

/// `leading` is the faster variant from this number of two-word keys on, if tiles can look back: smaller inputs
/// are sorted before samples are taken and windows cut. The keys matter, too, and are unknown.
pub const LEADING_FROM: u32 = 1 << 22;

/// Returns the best variant of an algorithm for `n` elements of this shape on a device with these limits.
pub fn best_variant(algorithm: Algorithm, n: usize, shape: Shape, limits: &Limits) -> Variant {
    match default_variant(algorithm, limits) {
        Variant::Onesweep if shape.key == KeyWords::Two && n >= LEADING_FROM as usize => Variant::Leading,
        variant => variant,
    }
}

/// The choices of the `fused` variant by size, shape and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The division of a tile to be sorted.
    pub sort_tile: FusedTile,
    /// The tile of all passes but the first; no larger than `sort_tile`.
    pub tile: FusedTile,
    /// A pass accesses memory in runs of at least 2^`run_log2` elements: shorter runs leave more of
    /// a tile's bits for steps.
    pub run_log2: u32,
    /// All dispatches that stay within a region of 2^`region_log2` elements are performed on one
    /// region before the next, so that its elements stay in the device's cache.
    pub region_log2: u32,
}

impl Tuning {
    /// Returns the best tuning for `n` elements of this shape within these limits, measured on an H100,
    /// whose driver gives the workgroups on a core 48 KiB of memory together.
    pub fn measured(n: u32, shape: Shape, limits: &Limits) -> Self {
        let stages = network::stages(n);
        // (elements, invocations, parts), all as powers of two, of a tile to be sorted and of a tile
        // in a pass. With fewer tiles than cores, the latency of one tile dominates; up to about
        // 2^20 keys, the number of passes does, and a whole tile in workgroup memory saves barriers.
        // Beyond, many workgroups should share a core, so that some compute while others wait for
        // memory: tiles are then processed in parts. If regions no longer fit the second-level cache,
        // device memory is the bottleneck, and fewer passes outweigh everything else.
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
        let (sort_tile, tile) = (fitted(sort_tile, stages, limits), fitted(tile, stages, limits));
        let tile = if tile.log2() > sort_tile.log2() { sort_tile } else { tile };
        // A run of two-word keys has half the elements, and so the same bytes.
        let run_log2 = run_log2.min(if shape.key == KeyWords::One { 4 } else { 3 });
        let region_log2 = (region_bytes / shape.bytes()).ilog2();
        Self { sort_tile, tile, run_log2, region_log2 }
    }
}

/// Returns a tile of 2^`log2` elements; each invocation holds about the square root of that number.
///
/// # Errors
///
/// Fails for a tile that no kernel has.
pub(super) fn small_tile(log2: u32, limits: &Limits) -> Result<FusedTile, Error> {
    let elements_log2 = (log2 / 2).clamp(1, 5).max(log2.saturating_sub(limits.invocations.max(1).ilog2()));
    let tile = FusedTile::new(elements_log2, log2.saturating_sub(elements_log2), 0)?;
    at_least([("elements in a tile", 1_u64 << log2.min(63), 1 << tile.log2())])?;
    tile.keep_to(limits)?;
    Ok(tile)
}

/// A region of this size stays in the second-level cache of a large GPU (an H100's holds 50 MiB; passes
/// over 32 MiB took 0.7 times as long per element as passes over 64 MiB). On a GPU with a smaller cache,
/// the region only costs more dispatches. Above 2^25 elements, most passes leave a region anyway, so a
/// single region is used.
const REGION_BYTES: u64 = 32 << 20;

/// Returns the tile of these powers of two of elements, invocations and parts, reduced to the limits and to
/// `stages`.
fn fitted(log2s: (u32, u32, u32), stages: u32, limits: &Limits) -> FusedTile {
    let (mut elements, mut invocations, mut parts) = log2s;
    let within = |elements, invocations, parts| {
        let tile = FusedTile::new(elements, invocations, parts).ok();
        tile.filter(|tile| tile.keep_to(limits).is_ok())
    };
    let bytes = |parts| FusedTile::new(elements, invocations, parts).map_or(0, FusedTile::workgroup_bytes);
    // With few elements per part, the exchanges cost more than the saved memory is worth.
    while bytes(parts) > limits.workgroup_bytes && parts + 3 < elements {
        parts += 1;
    }
    // A tile in parts exchanges them between several invocations.
    if limits.invocations < 2 {
        parts = 0;
    }
    while within(elements, invocations, parts).is_none() && invocations > parts.min(1) {
        invocations -= 1;
    }
    while within(elements, invocations, parts).is_none() && elements > parts + 1 {
        elements -= 1;
    }
    // Fewer invocations than a subgroup has gain nothing.
    while invocations > 5 && invocations + elements > stages {
        invocations -= 1;
    }
    within(elements, invocations, parts).unwrap_or(FusedTile::SMALLEST)
}

/// Returns the tile for rows of this length: no larger than necessary, because many small tiles share a core.
///
/// # Errors
///
/// Fails for rows longer than any tile.
pub(super) fn row_tile(length: u32, limits: &Limits) -> Result<FusedTile, Error> {
    let row_log2 = length.max(1).next_power_of_two().ilog2();
    let invocations = limits.invocations.clamp(2, 256).ilog2();
    let elements = row_log2.saturating_sub(invocations).clamp(3, 5);
    let tile = FusedTile::new(elements, invocations, 0)?;
    tile.keep_to(limits)?;
    at_most([("elements in a row", length.into(), 1 << tile.log2())])?;
    Ok(tile)
}

/// Returns the longest row that a tile holds: a power of two.
pub fn longest_row(limits: &Limits) -> u32 {
    (0..=13).rev().map(|log2| 1 << log2).find(|&length| row_tile(length, limits).is_ok()).unwrap_or(0)
}

/// The largest k for a reduction of elements. Beyond, selecting the ranks would dominate a pass.
pub(super) const TOP_MOST: u32 = 1 << 10;

/// Number of elements sorted after a reduction, as a power of two.
pub(super) const TOP_REST_LOG2: u32 = 12;

/// Returns the expected best tuning for the first `k` elements of this shape; `None` if they fit no allowed
/// tile.
pub(super) fn top(k: u32, shape: Shape, limits: &Limits) -> Option<TopTuning> {
    if k > TOP_MOST {
        return None;
    }
    // 32 registers for one-word keys allow many loads in flight.
    let elements = if shape.words() == 1 { 5 } else { 4 };
    let most = if k <= 256 { 8 } else { 9 };
    let most = most.min(limits.invocations.max(1).ilog2());
    (0..=most).rev().find_map(|invocations| {
        // With 2k groups, the bound is about the median.
        let groups = (2 * k).div_ceil(1 << invocations).next_power_of_two().ilog2().min(elements);
        // Exceeds k by the expected excess for random data.
        let slots = if k <= 256 { k * 5 / 2 } else { 2 * k };
        let slots = slots.max(32).next_power_of_two().ilog2().min(invocations + elements - 1);
        let tuning = TopTuning::new([elements, invocations, groups, invocations.min(6), slots]).ok()?;
        tuning.fits(k, shape, limits).then_some(tuning)
    })
}

/// Returns true if selecting the first `k` of `n` elements is faster than sorting all elements, as measured
/// on an H200 and on llvmpipe. On a large GPU, the passes over few elements take as long as a whole sort,
/// and the selected elements must be sorted, too.
pub(super) fn selects(k: usize, n: usize, shape: Shape, limits: &Limits) -> bool {
    let least = if limits.fifo_dispatch { 1 << 22 } else { 1 << 14 };
    k <= n / 4 && n.saturating_mul(shape.words() as usize) >= least
}

/// The algorithms that `auto` chooses from on a GPU. The first one needs no feature that a device may
/// lack.
pub const CANDIDATES: [Algorithm; 2] = [Algorithm::Bitonic, Algorithm::Radix];

/// The least numbers of elements that make each of [`CANDIDATES`] the fastest, by shape. The first candidate
/// is the fastest below all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossovers(Vec<(Shape, Algorithm, usize)>);

impl Crossovers {
    /// Returns the crossovers of a device of this kind, measured on an H200 and on llvmpipe. Other devices are
    /// unknown, and count as slower H200s until `gpusort tune` measures them. On these devices, a bitonic sort
    /// has one more stage beyond each power of two, and radix becomes the faster algorithm at one of these
    /// steps.
    pub fn of_kind(kind: Kind) -> Self {
        let radix = match kind {
            Kind::Software => [1 << 16, 1 << 14, 1 << 16, 1 << 15],
            Kind::Discrete | Kind::Integrated | Kind::Virtual => {
                [(1 << 16) + 1, (1 << 15) + 1, (1 << 18) + 1, (1 << 18) + 1]
            }
        };
        Self(Shape::ALL.into_iter().zip(radix).map(|(shape, from)| (shape, Algorithm::Radix, from)).collect())
    }

    /// Returns the least number of elements of this shape that makes this algorithm the fastest; `None` for an
    /// algorithm that only runs below all such numbers.
    pub fn of(&self, algorithm: Algorithm, shape: Shape) -> Option<usize> {
        let known = self.0.iter().find(|&&(its, known, _)| (its, known) == (shape, algorithm));
        known.map(|&(.., from)| from)
    }

    /// Replaces the number for this algorithm and this shape.
    #[must_use]
    pub fn with(mut self, algorithm: Algorithm, shape: Shape, from: usize) -> Self {
        self.0.retain(|&(its, known, _)| (its, known) != (shape, algorithm));
        self.0.push((shape, algorithm, from));
        self
    }

    /// Returns the algorithms for `n` elements, the fastest first; each later algorithm is for devices that
    /// lack a need of the previous ones.
    pub fn fastest(&self, n: usize, shape: Shape) -> Vec<Algorithm> {
        let mut from: Vec<_> = self.0.iter().filter(|&&(its, _, from)| its == shape && from <= n).collect();
        from.sort_by_key(|&&(.., from)| std::cmp::Reverse(from));
        from.into_iter().map(|&(_, algorithm, _)| algorithm).chain([CANDIDATES[0]]).collect()
    }

    /// Returns the least number of elements of this shape that makes an algorithm faster than the first.
    pub fn least(&self, shape: Shape) -> usize {
        let from = self.0.iter().filter(|&&(its, ..)| its == shape).map(|&(.., from)| from);
        from.min().unwrap_or(usize::MAX)
    }
}

/// The maximum elements of an invocation, and the maximum invocations, if one workgroup sorts all elements.
/// With 16 elements, 8,192 with positions take 0.036 ms on an H200, and several workgroups take 0.044; but
/// 4,096 take 0.0274, not 0.0241, and 1,024 take 0.0226, not 0.0182.
const SINGLE_ITEMS: u64 = 8;
const SINGLE_INVOCATIONS_LOG2: u32 = 9;

/// Returns the maximum elements of an invocation. Each word of an element is a register; beyond 64 registers, fewer
/// workgroups share a core.
fn most_items(shape: Shape) -> u64 {
    if shape.words() < 3 { 23 } else { 18 }
}

/// Returns the elements of each invocation, at most `most`, that leave room for the offsets of a digit's values in
/// this number of words.
fn items(invocations: u32, words: u64, most: u64) -> u32 {
    (words.saturating_sub(256) / u64::from(invocations)).min(most) as u32
}

/// The choices of the radix sort by size, shape and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadixTuning {
    /// The division of a tile.
    pub tile: RadixTile,
    /// The maximum number of chunks of tiles to count, for `reduce-scan`.
    pub chunks: u32,
    /// A tile of `onesweep` that does not publish its counts, for tests.
    pub stalled: Option<StalledTile>,
    /// The maximum number of invocations of a window of `leading`: a power of two.
    pub window: u32,
    /// The number of leading digits, for tests; `None` if the device chooses them.
    pub leading: Option<u32>,
}

impl RadixTuning {
    /// Returns the tuning of a tile, with the other choices as measured.
    pub fn of(tile: RadixTile) -> Self {
        Self { tile, chunks: 1024, stalled: None, window: 128, leading: None }
    }

    /// Returns the best tuning for elements of this shape within these limits, measured on an H200.
    ///
    /// # Errors
    ///
    /// Fails for a device without subgroups, or without room for a tile.
    pub(super) fn measured(shape: Shape, limits: &Limits) -> Result<Self, Error> {
        // Four workgroups share a core in 24 KiB each; with one more word, a pass takes 1.4 times as long.
        let words = limits.workgroup_bytes.min(24 << 10) / 4;
        // Eight subgroups: the counters of more have no room in the smallest workgroup memory of
        // any device.
        let most = limits.subgroups.map_or(1, |subgroups| subgroups.smallest.saturating_mul(8));
        let tile = |log2: u32| RadixTile::new(1 << log2, items(1 << log2, words, most_items(shape)), limits);
        let fitted = |log2| {
            let tile = tile(log2).ok()?;
            let masks = tile.with_masks().ok().filter(|_| shape.words() < 3);
            [masks, Some(tile)].into_iter().flatten().find(|tile| tile.workgroup_bytes() <= words * 4)
        };
        let log2s = 0..=most.min(limits.invocations).max(1).ilog2();
        // A single invocation makes no tile, so `tile(0)` returns the error.
        log2s.rev().find_map(fitted).map_or_else(|| tile(0), Ok).map(Self::of)
    }

    /// Returns the largest tile that one workgroup sorts by itself; `None` without subgroups, or without
    /// room.
    pub(super) fn single(limits: &Limits) -> Option<RadixTile> {
        let words = limits.workgroup_bytes / 4;
        let tile = |log2: u32| {
            let invocations = 1 << log2;
            let tile = RadixTile::new(invocations, items(invocations, words, SINGLE_ITEMS), limits).ok()?;
            (invocations <= limits.invocations && tile.workgroup_bytes() <= words * 4).then_some(tile)
        };
        // Among equal tiles, takes the tile with the most invocations, which have the fewest elements each.
        (5..=SINGLE_INVOCATIONS_LOG2).filter_map(tile).max_by_key(|tile| tile.size())
    }

    /// Returns a tuning with tiles of 2^`log2` elements, in the fewest invocations that a kernel can have.
    ///
    /// # Errors
    ///
    /// Fails for a device without subgroups, or for tiles that no kernel has.
    pub(super) fn of_small_tile(log2: u32, limits: &Limits) -> Result<Self, Error> {
        let subgroups = limits.subgroups.ok_or(Error::Lacks { what: "subgroups" })?;
        // A text for smaller subgroups serves larger ones, too.
        let invocations = 8;
        let smallest = subgroups.smallest.min(invocations);
        let of_any = Limits { subgroups: Some(Subgroups { smallest, ..subgroups }), ..*limits };
        let items = (1_u32 << log2.min(31)) / invocations;
        let tile = RadixTile::new(invocations, items, &of_any)?;
        at_most([("bytes of workgroup memory", tile.workgroup_bytes(), limits.workgroup_bytes)])?;
        Ok(Self { window: invocations, ..Self::of(tile) })
    }

    /// Like `measured`, also for devices without subgroups: groups of invocations then take the
    /// place of subgroups.
    ///
    /// # Errors
    ///
    /// Fails for a device without room for a tile.
    pub fn of_any(shape: Shape, limits: &Limits) -> Result<Self, Error> {
        if let Ok(tuning) = Self::measured(shape, limits) {
            return Ok(tuning);
        }
        let invocations = 1 << limits.invocations.clamp(1, 128).ilog2();
        let items = items(invocations, limits.workgroup_bytes / 4, most_items(shape));
        RadixTile::without_subgroups(invocations, items).map(Self::of)
    }

    /// Returns the number of invocations of a window, as large as the memory allows.
    pub(super) fn window(&self, shape: Shape, limits: &Limits) -> u32 {
        let bytes = |window| Radix::window_bytes(window, shape);
        let most = self.window.min(limits.invocations).max(2);
        let mut window = 1 << most.ilog2();
        while window > 2 && bytes(window) > limits.workgroup_bytes {
            window /= 2;
        }
        window
    }

    /// Returns the number of tiles in a chunk of `n` elements.
    pub fn chunk(&self, n: u32) -> u32 {
        self.tile.tiles(n).div_ceil(self.chunks.max(1)).max(1)
    }
}

impl MergeTile {
    /// Returns the best tiles for elements of this shape within these limits, measured on an H200: 256
    /// invocations with 11 elements each, or fewer, so that two workgroups find room in 48 KiB.
    ///
    /// # Errors
    ///
    /// Fails for limits without room for a tile.
    pub fn measured(shape: Shape, limits: &Limits) -> Result<Self, Error> {
        let invocations_log2 = limits.invocations.clamp(1, 256).ilog2();
        let bytes = limits.workgroup_bytes.min(23 << 10).saturating_sub(Self::OWN_BYTES);
        let elements = ((bytes / shape.bytes()) >> invocations_log2).clamp(1, 11) as u32;
        Self::new(invocations_log2, if elements > 1 { elements - 1 + elements % 2 } else { 1 })
    }
}
