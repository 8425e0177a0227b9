//! Measured tables: the best tiles by size, shape and device, and which algorithm is the fastest.

use crate::algorithm::{Algorithm, Variant};
use crate::error::{Error, at_least, at_most};
use crate::kernels::{FusedTile, MergeTile, Radix, RadixTile, Shape, StalledTile, TopTuning};
use crate::key::KeyWords;
use crate::limits::{Kind, Limits, Subgroups};
use crate::network;

/// The variant of an algorithm that is best on a device with these limits.
pub fn default_variant(algorithm: Algorithm, limits: &Limits) -> Variant {
    match algorithm {
        // A tile of `onesweep` waits for those before it. Where workgroups start in order and all
        // that have started go on, they are done soon; elsewhere tiles have to be counted twice,
        // and counting all of them at once is faster.
        Algorithm::Radix if !limits.fifo_dispatch || limits.subgroups.is_none() => Variant::ReduceScan,
        _ => algorithm.variants()[0],
    }
}

/// From how many keys of two words on `leading` is the faster variant, where tiles can look back: fewer
/// are sorted before keys are looked at and windows cut. What keys are decides, too, and is not known.
pub const LEADING_FROM: u32 = 1 << 22;

/// The variant of an algorithm that is best for so many elements of this shape on a device with these
/// limits.
pub fn best_variant(algorithm: Algorithm, n: usize, shape: Shape, limits: &Limits) -> Variant {
    match default_variant(algorithm, limits) {
        Variant::Onesweep if shape.key == KeyWords::Two && n >= LEADING_FROM as usize => Variant::Leading,
        variant => variant,
    }
}

/// The choices of the `fused` variant by size, shape and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How a tile is divided that is sorted.
    pub sort_tile: FusedTile,
    /// How a tile of the later passes is divided; no larger than `sort_tile`.
    pub tile: FusedTile,
    /// A pass accesses memory in runs of at least 2^`run_log2` elements: shorter runs leave more of
    /// a tile's bits for steps.
    pub run_log2: u32,
    /// Dispatches that stay within a region of 2^`region_log2` elements are all performed on one
    /// region before the next, so that its elements stay in the device's cache.
    pub region_log2: u32,
}

impl Tuning {
    /// The best tuning for `n` elements of this shape within these limits, measured on an H100,
    /// whose driver gives the workgroups on a core 48 KiB of memory together.
    pub fn measured(n: u32, shape: Shape, limits: &Limits) -> Self {
        let stages = network::stages(n);
        // (elements, invocations, parts), all as powers of two, of a tile to be sorted and of one
        // in a pass. With fewer tiles than cores the latency of one tile dominates; up to about
        // 2^20 keys the number of passes does, and a whole tile in workgroup memory saves barriers.
        // Beyond, many workgroups should share a core, so that some compute while others wait for
        // memory: tiles are then processed in parts. Where regions no longer fit the second-level
        // cache, device memory is the bottleneck, and fewer passes outweigh everything else.
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
        // Two-word keys make runs of the same bytes with half as many elements.
        let run_log2 = run_log2.min(if shape.key == KeyWords::One { 4 } else { 3 });
        let region_log2 = (region_bytes / shape.bytes()).ilog2();
        Self { sort_tile, tile, run_log2, region_log2 }
    }
}

/// A tile of 2^`log2` elements, half of whose bits are those of an invocation's registers.
///
/// # Errors
///
/// A tile that no kernel has.
pub(super) fn small_tile(log2: u32, limits: &Limits) -> Result<FusedTile, Error> {
    let elements_log2 = (log2 / 2).clamp(1, 5).max(log2.saturating_sub(limits.invocations.max(1).ilog2()));
    let tile = FusedTile::new(elements_log2, log2.saturating_sub(elements_log2), 0)?;
    at_least([("elements in a tile", 1_u64 << log2.min(63), 1 << tile.log2())])?;
    tile.keep_to(limits)?;
    Ok(tile)
}

/// A region of this size stays in the second-level cache of a large GPU (an H100's holds 50 MiB;
/// passes over 32 MiB took 0.7 of the time per element of those over 64 MiB). On a GPU with a
/// smaller cache it only costs more dispatches. Above 2^25 elements most passes leave a region
/// anyway, so there is a single one.
const REGION_BYTES: u64 = 32 << 20;

/// The tile of these powers of two of elements, invocations and parts, reduced to the limits and to
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

/// The tile for rows of this length: no larger than it must be, since many small ones share a core.
///
/// # Errors
///
/// Rows longer than any tile.
pub(super) fn row_tile(length: u32, limits: &Limits) -> Result<FusedTile, Error> {
    let row_log2 = length.max(1).next_power_of_two().ilog2();
    let invocations = limits.invocations.clamp(2, 256).ilog2();
    let elements = row_log2.saturating_sub(invocations).clamp(3, 5);
    let tile = FusedTile::new(elements, invocations, 0)?;
    tile.keep_to(limits)?;
    at_most([("elements in a row", length.into(), 1 << tile.log2())])?;
    Ok(tile)
}

/// The longest row that a tile holds: a power of two.
#[must_use]
pub fn longest_row(limits: &Limits) -> u32 {
    (0..=13).rev().map(|log2| 1 << log2).find(|&length| row_tile(length, limits).is_ok()).unwrap_or(0)
}

/// The largest k for which elements are reduced. Beyond, selecting the ranks would dominate a pass.
pub(super) const TOP_MOST: u32 = 1 << 10;

/// Number of elements sorted after a reduction, as a power of two.
pub(super) const TOP_REST_LOG2: u32 = 12;

/// The expected best tuning for the first `k` elements of this shape; `None` if they fit no allowed
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
        // With twice as many groups as k the bound is about the median.
        let groups = (2 * k).div_ceil(1 << invocations).next_power_of_two().ilog2().min(elements);
        // Above k by the excess expected for random data.
        let slots = if k <= 256 { k * 5 / 2 } else { 2 * k };
        let slots = slots.max(32).next_power_of_two().ilog2().min(invocations + elements - 1);
        let tuning = TopTuning::new([elements, invocations, groups, invocations.min(6), slots]).ok()?;
        tuning.fits(k, shape, limits).then_some(tuning)
    })
}

/// Whether selecting the first `k` of `n` elements is faster than sorting all, as measured on an
/// H200 and on llvmpipe: on a large GPU its passes take as long as a whole sort where elements are
/// few, and what is selected has to be sorted, too.
pub(super) fn selects(k: usize, n: usize, shape: Shape, limits: &Limits) -> bool {
    let least = if limits.fifo_dispatch { 1 << 22 } else { 1 << 14 };
    k <= n / 4 && n.saturating_mul(shape.words() as usize) >= least
}

/// The algorithms among which `auto` chooses on a GPU. The first needs nothing that a device may
/// lack.
pub const CANDIDATES: [Algorithm; 2] = [Algorithm::Bitonic, Algorithm::Radix];

/// From how many elements on each of [`CANDIDATES`] is the fastest, by shape: the first where none
/// of the others is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossovers(Vec<(Shape, Algorithm, usize)>);

impl Crossovers {
    /// Those of a device of this kind, measured on an H200 and on llvmpipe. Nothing is known of
    /// others: `gpusort tune` measures them; until then they are taken for slower H200s. There a
    /// bitonic sort has a stage more beyond each power of two, and it is at one of these steps that
    /// radix becomes the faster one.
    pub fn of_kind(kind: Kind) -> Self {
        let radix = match kind {
            Kind::Software => [1 << 16, 1 << 14, 1 << 16, 1 << 15],
            Kind::Discrete | Kind::Integrated | Kind::Virtual => {
                [(1 << 16) + 1, (1 << 15) + 1, (1 << 18) + 1, (1 << 18) + 1]
            }
        };
        Self(Shape::ALL.into_iter().zip(radix).map(|(shape, from)| (shape, Algorithm::Radix, from)).collect())
    }

    /// From how many elements of this shape on this algorithm is the fastest; `None` of one that is
    /// so only below those of others.
    pub fn of(&self, algorithm: Algorithm, shape: Shape) -> Option<usize> {
        let known = self.0.iter().find(|&&(its, known, _)| (its, known) == (shape, algorithm));
        known.map(|&(.., from)| from)
    }

    /// The same with another number for this algorithm and this shape.
    #[must_use]
    pub fn with(mut self, algorithm: Algorithm, shape: Shape, from: usize) -> Self {
        self.0.retain(|&(its, known, _)| (its, known) != (shape, algorithm));
        self.0.push((shape, algorithm, from));
        self
    }

    /// The algorithms for so many elements, the fastest first; what follows is for devices that
    /// lack what those before it need.
    pub fn fastest(&self, n: usize, shape: Shape) -> Vec<Algorithm> {
        let mut from: Vec<_> = self.0.iter().filter(|&&(its, _, from)| its == shape && from <= n).collect();
        from.sort_by_key(|&&(.., from)| std::cmp::Reverse(from));
        from.into_iter().map(|&(_, algorithm, _)| algorithm).chain([CANDIDATES[0]]).collect()
    }

    /// Below how many elements of this shape the first of them is the fastest.
    pub fn least(&self, shape: Shape) -> usize {
        let from = self.0.iter().filter(|&&(its, ..)| its == shape).map(|&(.., from)| from);
        from.min().unwrap_or(usize::MAX)
    }
}

/// The most elements of an invocation, and the most invocations, where one workgroup sorts all. With 16
/// elements, 8,192 with positions take 0.036 ms on an H200, where several workgroups take 0.044; but 4,096
/// take 0.0274, not 0.0241, and 1,024 take 0.0226, not 0.0182.
const SINGLE_ITEMS: u64 = 8;
const SINGLE_INVOCATIONS_LOG2: u32 = 9;

/// The choices of the radix sort by size, shape and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadixTuning {
    /// How a tile is divided.
    pub tile: RadixTile,
    /// The most chunks of tiles that are counted, for `reduce-scan`.
    pub chunks: u32,
    /// A tile of `onesweep` that does not publish its counts, for tests.
    pub stalled: Option<StalledTile>,
    /// Invocations of a window of `leading`, at most: a power of two.
    pub window: u32,
    /// How many leading digits, if the device does not choose them, for tests.
    pub leading: Option<u32>,
}

impl RadixTuning {
    /// A tile, with the other choices as measured.
    pub fn of(tile: RadixTile) -> Self {
        Self { tile, chunks: 1024, stalled: None, window: 128, leading: None }
    }

    /// The best tuning for elements of this shape within these limits, measured on an H200.
    ///
    /// # Errors
    ///
    /// A device without subgroups, or without room for a tile.
    pub(super) fn measured(shape: Shape, limits: &Limits) -> Result<Self, Error> {
        // Each word of an element is a register; beyond 64 of them fewer workgroups share a core.
        let items = if shape.words() < 3 { 23 } else { 18 };
        // Four workgroups share a core in 24 KiB each: a word more, and it takes 1.4 times as long.
        let words = limits.workgroup_bytes.min(24 << 10) / 4;
        // Eight subgroups: more have no room for their counters in the smallest memory that there
        // is.
        let most = limits.subgroups.map_or(1, |subgroups| subgroups.smallest.saturating_mul(8));
        let mut invocations = 1 << most.min(limits.invocations).max(1).ilog2();
        loop {
            // Beside the offsets of a digit's values.
            let room = words.saturating_sub(256) / u64::from(invocations);
            let tile = RadixTile::new(invocations, room.min(items) as u32, limits);
            let masks = tile.as_ref().ok().filter(|_| shape.words() < 3);
            let masks = masks.and_then(|tile| tile.with_masks().ok());
            let fits = |tile: &RadixTile| tile.workgroup_bytes() <= words * 4;
            let fitted = masks.filter(fits).or(tile.as_ref().ok().copied().filter(fits));
            match (fitted, tile) {
                (Some(tile), _) => return Ok(Self::of(tile)),
                // So few make no tile.
                (None, Err(error)) if invocations == 1 => return Err(error),
                _ => invocations /= 2,
            }
        }
    }

    /// The tile of as many elements as one workgroup sorts by itself; `None` where there are no subgroups,
    /// or no room.
    pub(super) fn single(limits: &Limits) -> Option<RadixTile> {
        let words = limits.workgroup_bytes / 4;
        let tile = |log2: u32| {
            let invocations = 1 << log2;
            let items = words.saturating_sub(256) / u64::from(invocations);
            let tile = RadixTile::new(invocations, items.min(SINGLE_ITEMS) as u32, limits).ok()?;
            (invocations <= limits.invocations && tile.workgroup_bytes() <= words * 4).then_some(tile)
        };
        // Of equal ones that with the most invocations, which have the fewest elements each.
        (5..=SINGLE_INVOCATIONS_LOG2).filter_map(tile).max_by_key(|tile| tile.size())
    }

    /// Tiles of 2^`log2` elements, one in each of as few invocations as a kernel can have, up to a
    /// subgroup's.
    ///
    /// # Errors
    ///
    /// A device without subgroups; tiles that no kernel has.
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

    /// The same for devices that need not have subgroups: without them groups of invocations stand
    /// in for those.
    ///
    /// # Errors
    ///
    /// A device without room for a tile.
    pub fn of_any(shape: Shape, limits: &Limits) -> Result<Self, Error> {
        if let Ok(tuning) = Self::measured(shape, limits) {
            return Ok(tuning);
        }
        let items = if shape.words() < 3 { 23 } else { 18 };
        let invocations = 1 << limits.invocations.clamp(1, 128).ilog2();
        let room = (limits.workgroup_bytes / 4).saturating_sub(256) / u64::from(invocations);
        RadixTile::without_subgroups(invocations, room.min(items) as u32).map(Self::of)
    }

    /// Invocations of a window: as many as have room.
    pub(super) fn window(&self, shape: Shape, limits: &Limits) -> u32 {
        let bytes = |window| Radix::window_bytes(window, shape);
        let most = self.window.min(limits.invocations).max(2);
        let mut window = 1 << most.ilog2();
        while window > 2 && bytes(window) > limits.workgroup_bytes {
            window /= 2;
        }
        window
    }

    /// Tiles in a chunk of `n` elements.
    pub fn chunk(&self, n: u32) -> u32 {
        self.tile.tiles(n).div_ceil(self.chunks.max(1)).max(1)
    }
}

impl MergeTile {
    /// The best tiles for elements of this shape within these limits, measured on an H200: 256
    /// invocations with 11 elements each, or fewer, so that two workgroups find room in 48 KiB.
    ///
    /// # Errors
    ///
    /// Limits in which no tile has room.
    pub fn measured(shape: Shape, limits: &Limits) -> Result<Self, Error> {
        let invocations_log2 = limits.invocations.clamp(1, 256).ilog2();
        let bytes = limits.workgroup_bytes.min(23 << 10).saturating_sub(Self::OWN_BYTES);
        let elements = ((bytes / shape.bytes()) >> invocations_log2).clamp(1, 11) as u32;
        Self::new(invocations_log2, if elements > 1 { elements - 1 + elements % 2 } else { 1 })
    }
}
