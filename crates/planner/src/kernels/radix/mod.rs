//! The passes of the radix sort: they count digits, and distribute elements by one digit. [`crate::plan`]'s `radix.rs`
//! explains their combination.
//!
//! ```text
//! Clear       zeros where other passes add up
//! Histogram   all digits of all keys counted in one reading; the bits that vary
//! Sweep       a tile in registers, ranked by one digit, and scattered to the other array; the places follow from
//!             the published counts of earlier tiles (look-back)
//! Count       one digit counted before each tile of a chunk of tiles, and in all of the chunk
//! Scan        counts of chunks to counts in all chunks before
//! Scatter     like Sweep, with counted places
//!
//! Tile        few elements sorted in one workgroup, by all digits
//!
//! Sample      numbers of pairs of keys that begin with equal digits, by the number of these digits
//! Choose      the leading digits that tell nearly all keys apart
//! Cut         the array in windows between prefixes; a prefix with too many keys becomes a run
//! Finish      windows, each in a workgroup
//! Runs        runs, each in a workgroup
//! ```
//!
//! To rank a tile, lanes of a subgroup compare digits by ballots; the first lane of each digit adds the number of equal
//! digits to the subgroup's counter. A key needs no barrier of the workgroup, and ranks do not depend on the numbers of
//! invocations: the order follows from subgroup and lane alone.

mod tile;

use gpusort_shaders::wgsl;

pub use self::tile::{Matching, RadixTile};
use super::segments::{self, SEGMENT_TILES};
use super::{
    Access, Arguments, AuxBuffer, Kernel, KernelSpec, KeyTransform, Keys, Launch, Module, REGISTERS, Shape,
    Tiles,
};
use crate::error::{Error, at_most, has, in_range, refuse_if};
use crate::item::Item;
use crate::limits::{Limits, Subgroups};

/// Bits of a digit.
pub const DIGIT_BITS: u32 = 8;

/// Values of a digit.
const RADIX: u32 = 1 << DIGIT_BITS;

/// The work of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RadixWork {
    /// Sets the counters of other passes to zero.
    Clear,
    /// Counts all digits, and finds the bits that vary.
    Histogram,
    /// Distributes by a digit, to places found by look-back. For tests one tile may stall.
    Sweep(Option<StalledTile>),
    /// Counts a digit. Before the first pass it also finds the bits that vary.
    Count {
        /// True before the first pass.
        first: bool,
    },
    /// Adds up the counts of chunks.
    Scan,
    /// Distributes by a digit, with the counts of [`Self::Count`].
    Scatter,
    /// Sorts at most the elements of one tile.
    Tile,
    /// Samples keys.
    Sample,
    /// Chooses leading digits by the samples.
    Choose,
    /// Cuts the array into windows, each for this number of invocations.
    Cut(u32),
    /// Sorts the elements of windows.
    Finish(u32),
    /// Sorts runs of equal prefixes that no window holds.
    Runs(u32),
}

/// The elements and the digits of a plan's passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All elements, by all digits.
    All,
    /// All elements, by leading digits that the device chooses: each pass sorts by the next chosen digit. For tests,
    /// the number of leading digits.
    Leading(Option<u32>),
    /// Each segment longer than this number of elements, by all digits.
    Segments(u32),
}

/// A tile that does not publish its counts, for tests of the other tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StalledTile {
    /// The number of the tile.
    pub tile: u32,
    /// True if the tile publishes its sums at its end.
    pub late: bool,
}

/// A pass of the radix sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Radix {
    /// The division of tiles.
    pub tile: RadixTile,
    /// The work.
    pub work: RadixWork,
    /// The digit, counted from the lowest; in [`Scope::Leading`] the number of the pass; 0 for work without a digit.
    pub digit: u32,
    /// Digits in a key.
    pub digits: u32,
    /// Tiles in a chunk of [`RadixWork::Count`]; the number that draws the places of [`RadixWork::Sample`]; 0 for
    /// other work.
    pub chunk: u32,
    /// True if the payload is iota (the position), which the first pass writes instead of reading a payload.
    pub iota: bool,
    /// True if the last pass writes the payload alone.
    pub drops_keys: bool,
    /// The elements and digits of the plan.
    pub scope: Scope,
    /// True for a usually idle sweep: a few workgroups take one tile after another.
    pub is_rare: bool,
}

/// The count of each value of each digit in all keys.
const HISTOGRAMS: AuxBuffer = AuxBuffer::words("histograms");
/// For each word of a key, the bits that a key sets, and the bits that a key does not set.
const VARYING: AuxBuffer = AuxBuffer::words("varying_bits");
/// Counts and sums that tiles publish, for the pass that runs and for the next.
const STATUS: AuxBuffer = AuxBuffer::words("status").added_to();
/// The count of each value of the digit before each tile in its chunk.
const TILE_SUMS: AuxBuffer = AuxBuffer::words("tile_sums");
/// For each value of the digit, its count in each chunk; later, its count in all earlier chunks.
const CHUNK_SUMS: AuxBuffer = AuxBuffer::words("chunk_sums");

/// The results of samples.
const SAMPLES: AuxBuffer = AuxBuffer::words("key_samples");
/// The ends and the beginnings of windows.
const CUTS: AuxBuffer = AuxBuffer::words("cuts");

/// Words of [`VARYING`]: for keys of one word, the last two stay zero. The lowest of the leading digits
/// follows them.
const VARYING_WORDS: u64 = 4;

/// The maximum number of samples, and the words of each.
const MOST_SAMPLES: u64 = 8192;
const SAMPLE_WORDS: u64 = 16;

/// Elements of a window for each invocation.
const ELEMENTS_PER_INVOCATION: u32 = 8;

/// The maximum number of keys that share the chosen leading digits with a key, on average.
const MATES: f64 = 24.0;

/// The minimum number of passes that leading digits must spare.
const SPARED: usize = 2;

/// The maximum number of workgroups that sort long runs.
const MOST_SORTING_RUNS: u64 = 512;

/// The maximum number of workgroups that count: more only make more sums to add up.
const MOST_COUNTING: u64 = 1056;

/// Rows of the status that a look-back reads together.
const ROWS: u32 = 8;

/// Elements that an invocation counts at a time.
const COUNTED_TOGETHER: u32 = 16;

/// Elements that an invocation loads at once, if a pass copies.
const COPIED_TOGETHER: u32 = 8;

impl Radix {
    /// Returns a pass over all elements by the lowest digit.
    pub(crate) fn new(tile: RadixTile, work: RadixWork, digits: u32, iota: bool) -> Self {
        let (digit, chunk, drops_keys, scope, is_rare) = (0, 0, false, Scope::All, false);
        Self { tile, work, digit, digits, chunk, iota, drops_keys, scope, is_rare }
    }

    /// Returns the most segments of the scope that `count` elements can have; 0 unless the scope is segments.
    fn segments(&self, count: u32) -> u32 {
        match self.scope {
            Scope::All | Scope::Leading(_) => 0,
            Scope::Segments(longer_than) => segments::most_segments(count, longer_than),
        }
    }

    /// Returns the number of digits in a key of this shape.
    pub fn digits_in(shape: Shape) -> u32 {
        shape.key_words() * (32 / DIGIT_BITS)
    }

    /// Returns the bytes of workgroup memory for a window of this number of invocations.
    pub(crate) fn window_bytes(window: u32, shape: Shape) -> u64 {
        // Includes a gap after the elements of each invocation, and a word per round for its movements.
        u64::from(window) * u64::from(ELEMENTS_PER_INVOCATION + 1) * shape.bytes() + 12 * 4
    }

    /// Returns true if the pass ranks elements by a digit.
    fn ranks(&self) -> bool {
        use RadixWork::{Runs, Scatter, Sweep, Tile};
        matches!(self.work, Sweep(_) | Scatter | Runs(_) | Tile)
    }

    /// Returns the invocations of a window; `None` for work without windows.
    fn window(&self) -> Option<u32> {
        match self.work {
            RadixWork::Cut(window) | RadixWork::Finish(window) | RadixWork::Runs(window) => Some(window),
            _ => None,
        }
    }

    /// Returns the maximum number of runs of equal prefixes that no window holds.
    fn most_runs(window: u32, count: u32) -> u64 {
        u64::from(segments::most_segments(count, window * ELEMENTS_PER_INVOCATION))
    }

    /// Returns the number of windows in `count` elements.
    fn windows(window: u32, count: u32) -> u64 {
        let most = window * ELEMENTS_PER_INVOCATION;
        u64::from(count.div_ceil(most - most / 16))
    }

    /// Returns the maximum number of tiles: each segment may end within a tile.
    fn most_tiles(&self, count: u32) -> u32 {
        self.tile.tiles(count) + self.segments(count)
    }

    /// Returns the number of chunks in `count` elements.
    fn chunks(&self, count: u32) -> u32 {
        if self.chunk == 0 { 0 } else { self.tile.tiles(count).div_ceil(self.chunk) }
    }

    /// Returns the function that a dispatch runs, and the text: files in `radix/`, and files that convert these keys.
    fn text(&self, shape: Shape, keys: Keys) -> (&'static str, String) {
        let Subgroups { largest, barrier, .. } = self.tile.subgroups;
        let [sums, lane, note] = match self.tile.matching {
            Matching::Groups => ["sums_groups", "lane_group", "note_each"],
            Matching::Ballots | Matching::Masks => ["sums", "lane", "note_subgroups"],
        };
        let [tile, finish, either, element] = if shape.payload {
            ["tile_payload", "finish_payload", "either_payload", "payload"]
        } else {
            ["tile_key", "finish_key", "either_key", "key"]
        };
        let (histogram, part, own_pass): (&[_], _, &[_]) = match self.scope {
            Scope::All => (&["histogram", "counts_all"], "part_whole", &["varying"]),
            Scope::Leading(_) => (
                &["histogram", "leading", "counts_leading"],
                "part_whole",
                &["leading", "chosen", "chosen_pass"],
            ),
            Scope::Segments(_) => (&["histogram_segments", "counts_all"], "part_segments", &["varying"]),
        };
        let scatter = ["scatter", "totals", sums, part];
        let lookback = ["lookback", if self.is_rare { "scatter_again" } else { "scatter_once" }];
        let (entry_point, own): (_, &[&[&str]]) = match self.work {
            RadixWork::Clear => ("clear", &[&["clear"]]),
            RadixWork::Histogram => {
                ("histogram", &[&["vary", note, lane, "digits", "part"], histogram, &[part]])
            }
            RadixWork::Sweep(_) => ("scatter", &[own_pass, &lookback, &scatter]),
            RadixWork::Count { first: true } => ("count", &[&["vary_first", "count", "vary", note, lane]]),
            RadixWork::Count { first: false } => ("count", &[&["varying", "vary_none", "count", lane]]),
            RadixWork::Scan => ("scan", &[&["varying", "scan", sums]]),
            RadixWork::Scatter => ("scatter", &[&["varying", "counted", "scatter_once"], &scatter]),
            RadixWork::Tile => ("sort_in_tile", &[&["tile", tile, sums, "places"]]),
            RadixWork::Sample => ("sample", &[&["leading", "sample"]]),
            RadixWork::Choose => ("choose", &[&["leading", "choose"]]),
            RadixWork::Cut(_) => ("cut", &[&WINDOW, &["sorted", "cut", "places"]]),
            RadixWork::Finish(_) => ("finish", &[&WINDOW, &["sorted", "finish", finish, "places"]]),
            RadixWork::Runs(_) => {
                ("runs", &[&WINDOW, &["runs", "scatter", "either", either, sums, "places"]])
            }
        };
        let mut files = own.concat();
        files.push(if keys.transform().is_some() { "elements" } else { "keys" });
        if !["runs", "sort_in_tile"].contains(&entry_point) {
            files.push("access");
        }
        if self.ranks() {
            let mask = if largest <= 32 { "mask_1" } else { "mask_4" };
            let rank: &[_] = match self.tile.matching {
                Matching::Groups => &["rank_groups"],
                Matching::Masks => &["peers", mask, "rank_masks"],
                Matching::Ballots if barrier => &["peers", mask, "rank_barrier"],
                Matching::Ballots => &["peers", mask, "rank_shuffle"],
            };
            files.push("in_order");
            files.extend(rank);
            files.push(if self.tile.clears_apart() { "clear_own" } else { "clear_all" });
        }
        if self.ranks() && self.work != RadixWork::Tile {
            files.extend((shape.payload && entry_point != "runs").then_some("access_payload"));
            files.extend(["part", if shape.key_words() == 1 { "word_1" } else { "word_2" }, element]);
        }
        let text = |file| match file {
            "access" | "access_payload" | "places" => keys.text_of(file),
            _ => wgsl(&format!("radix/{file}")),
        };
        (entry_point, ["pass"].into_iter().chain(files).map(text).collect())
    }

    /// Returns the leading digits of the passes, the lowest first: the forced number of digits, or the fewest digits
    /// that leave a key with few mates. The device estimates the number of mates by a sample.
    fn chosen(&self, elements: &[impl Item], forced: Option<u32>) -> Vec<u32> {
        let mut keys: Vec<u64> = elements.iter().map(|element| element.key()).collect();
        keys.sort_unstable();
        let varies = |digit: &u32| keys.iter().any(|&key| digit_of(key, *digit) != digit_of(keys[0], *digit));
        let first = forced.map_or_else(
            || {
                let is_enough = |first: &u32| {
                    let alike = |a: &u64, b: &u64| (a ^ b) >> (first * DIGIT_BITS) == 0;
                    let mates: usize = keys.chunk_by(alike).map(|run| run.len() * (run.len() - 1)).sum();
                    mates as f64 <= MATES * keys.len() as f64
                };
                let first = (0..self.digits).take_while(is_enough).last().unwrap_or(0);
                if (0..first).filter(varies).count() < SPARED { 0 } else { first }
            },
            |leading| self.digits - leading,
        );
        let chosen: Vec<u32> = (first..self.digits).filter(varies).collect();
        // At least one digit, unless the keys are equal and no pass must write iota.
        let is_idle = chosen.is_empty() && ((0..first).any(|digit| varies(&digit)) || self.iota);
        if is_idle { vec![self.digits - 1] } else { chosen }
    }
}

impl KernelSpec for Radix {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        has([("workgroups that start in order", self.tile.fifo_dispatch, limits.fifo_dispatch)])?;
        let counts = matches!(self.work, RadixWork::Count { .. } | RadixWork::Scan | RadixWork::Scatter);
        let sweeps = matches!(self.work, RadixWork::Clear | RadixWork::Histogram | RadixWork::Sweep(_));
        let is_tile = self.work == RadixWork::Tile;
        let (is_of_all, leads) = (self.scope == Scope::All, matches!(self.scope, Scope::Leading(_)));
        let is_for_all = counts || is_tile;
        refuse_if([
            ("only histograms and sweeps sort segments, or by leading digits", is_for_all && !is_of_all),
            ("leading digits are chosen in passes for them", !leads && !is_for_all && !sweeps),
            ("a chunk must have tiles", counts && self.chunk == 0),
        ])?;
        let digits = Self::digits_in(shape);
        in_range("digits in a key", self.digits, 1..=digits)?;
        if let Scope::Leading(leading) = self.scope {
            in_range("digits in a key with leading digits", self.digits, digits..=digits)?;
            in_range("leading digits", leading.unwrap_or(1), 1..=digits)?;
        }
        if let Some(window) = self.window() {
            refuse_if([("the invocations of a window must be a power of two", !window.is_power_of_two())])?;
            in_range("invocations in a window", window, 2..=limits.invocations.min(1 << 10))?;
        }
        let bytes = self.tile.workgroup_bytes().max(self.workgroup_bytes(shape));
        at_most([
            ("bytes of workgroup memory", bytes, limits.workgroup_bytes),
            ("invocations in a workgroup", self.tile.invocations.into(), limits.invocations.into()),
            ("digits before the last", self.digit.into(), (self.digits - 1).into()),
        ])
    }

    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch {
        let n = u64::from(count);
        let keys = n * shape.key_bytes();
        let tiles: u64 = self.most_tiles(count).into();
        let workgroup_size = self.tile.invocations;
        let of_tile = |workgroups, bytes_moved| Launch { workgroup_size, workgroups, bytes_moved };
        let row = u64::from(RADIX) * 4;
        match self.work {
            RadixWork::Clear => {
                let words = u64::from(self.digits * RADIX);
                Launch::of_invocations(words, (words + VARYING_WORDS) * 4, limits)
            }
            RadixWork::Histogram => {
                let workgroup_size = limits.invocations.clamp(1, 256);
                let blocks = n.div_ceil((workgroup_size * COUNTED_TOGETHER).into());
                let in_segments = matches!(self.scope, Scope::Segments(_));
                let workgroups = if in_segments { tiles } else { blocks }.min(MOST_COUNTING);
                Launch { workgroup_size, workgroups, bytes_moved: keys + tiles * row }
            }
            RadixWork::Sweep(_) | RadixWork::Scatter => {
                let positions = n * (shape.bytes() - shape.key_bytes());
                let read = keys + if self.iota && self.digit == 0 { 0 } else { positions };
                let is_last = self.digit + 1 == self.digits;
                let written = positions + if self.drops_keys && is_last { 0 } else { keys };
                // A rare pass counts like an idle one.
                if self.is_rare {
                    of_tile(tiles.min(MOST_COUNTING), 0)
                } else {
                    of_tile(tiles, read + written + 2 * tiles * row)
                }
            }
            RadixWork::Count { .. } => of_tile(self.chunks(count).into(), keys + tiles * row),
            RadixWork::Tile => {
                let read = n * if self.iota { shape.key_bytes() } else { shape.bytes() };
                of_tile(1, read + n * shape.bytes() - if self.drops_keys { keys } else { 0 })
            }
            RadixWork::Scan => of_tile(RADIX.into(), 3 * u64::from(self.chunks(count)) * row + row),
            RadixWork::Sample => Launch {
                workgroup_size: 1 << limits.invocations.clamp(1, 256).ilog2(),
                workgroups: samples(count),
                bytes_moved: 0,
            },
            RadixWork::Choose => Launch::of_invocations(1, 0, limits),
            RadixWork::Cut(window) => {
                let windows = Self::windows(window, count);
                Launch::of_invocations(windows, windows * 2 * shape.key_bytes(), limits)
            }
            RadixWork::Finish(window) => Launch {
                workgroup_size: window,
                workgroups: Self::windows(window, count),
                bytes_moved: 2 * n * shape.bytes() - if self.drops_keys { keys } else { 0 },
            },
            RadixWork::Runs(window) => of_tile(Self::most_runs(window, count).min(MOST_SORTING_RUNS), 0),
        }
    }

    /// In bounds since reads are below `n`. The place of an element is the number of elements with a lower digit, or with
    /// the same digit and a lower index: below `n`, and distinct for each element, as long as nothing else writes to
    /// the arrays. Repeated counts of a stalled tile are equal. Segments are disjoint parts of the array, so this holds for
    /// each segment; their tiles do not exceed the most tiles. If the device skips two passes, elements stay in the array
    /// where the plan has them after the two passes. Counters have room for the digits of the most subgroups; sums and
    /// offsets for each value of a digit. `status` and the sums have a row for each tile and chunk.
    ///
    /// A tile sorts its elements in place, below `n`, with a place of workgroup memory for each element.
    ///
    /// Samples are below `n`. Windows and long runs are disjoint parts of the array: each border has a place where a
    /// prefix begins, or two places around a run. A window reads and writes its own elements, and repeats the last element
    /// for unused places; it ends at most a sixteenth after the nominal beginning of the next window, so that its elements
    /// fit. The list of long runs has room for the most runs.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        // Numbers of elements share a word with their kind.
        at_most([("elements in a radix sort", count.into(), (1 << 30) - 1)])?;
        let whole = Access::from_start(first, count)?;
        Ok(match self.work {
            RadixWork::Clear | RadixWork::Scan | RadixWork::Choose => Access { reads: 0, writes: 0, ..whole },
            RadixWork::Histogram | RadixWork::Count { .. } | RadixWork::Sample => {
                Access { writes: 0, ..whole }
            }
            RadixWork::Tile => {
                at_most([("elements in a tile", count.into(), self.tile.size().into())])?;
                whole
            }
            // These passes read from either array, and write to their own.
            RadixWork::Cut(_) | RadixWork::Finish(_) | RadixWork::Runs(_) => {
                Access { to_other: true, ..whole }
            }
            RadixWork::Sweep(_) | RadixWork::Scatter => whole.to_other(),
        })
    }

    fn subgroups(&self) -> Option<Subgroups> {
        use RadixWork::{Choose, Cut, Finish, Sample};
        let needs_none = matches!(self.work, Sample | Choose | Cut(_) | Finish(_));
        (!needs_none && self.tile.matching != Matching::Groups).then_some(self.tile.subgroups)
    }

    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        const COUNTING: &[AuxBuffer] = &[HISTOGRAMS.added_to(), VARYING.added_to(), STATUS, SEGMENT_TILES];
        const SWEEPING: &[AuxBuffer] = &[HISTOGRAMS.read(), VARYING.read(), STATUS, SEGMENT_TILES];
        // Only tiles of segments have a list.
        let of_tiles = if let Scope::Segments(_) = self.scope { 4 } else { 3 };
        match self.work {
            RadixWork::Clear => &[HISTOGRAMS, VARYING],
            RadixWork::Histogram => &COUNTING[..of_tiles],
            RadixWork::Sweep(_) => &SWEEPING[..of_tiles],
            RadixWork::Count { first: true } => const { &[VARYING.added_to(), TILE_SUMS, CHUNK_SUMS] },
            RadixWork::Count { first: false } => const { &[VARYING.read(), TILE_SUMS, CHUNK_SUMS] },
            RadixWork::Scan => const { &[HISTOGRAMS, VARYING.read(), CHUNK_SUMS] },
            RadixWork::Scatter => {
                const { &[HISTOGRAMS.read(), VARYING.read(), TILE_SUMS.read(), CHUNK_SUMS.read()] }
            }
            RadixWork::Tile => &[],
            RadixWork::Sample => &[SAMPLES],
            RadixWork::Choose => const { &[SAMPLES.read(), VARYING, CUTS] },
            RadixWork::Cut(_) => const { &[VARYING.read(), CUTS.added_to()] },
            RadixWork::Finish(_) | RadixWork::Runs(_) => const { &[VARYING.read(), CUTS.read()] },
        }
    }

    fn aux_words(&self, aux: &AuxBuffer, count: u32) -> u64 {
        let row = u64::from(RADIX);
        match aux.name {
            name if name == HISTOGRAMS.name => row * u64::from(self.digits * self.segments(count).max(1)),
            name if name == VARYING.name => {
                VARYING_WORDS + u64::from(matches!(self.scope, Scope::Leading(_)))
            }
            name if name == SAMPLES.name => samples(count) * SAMPLE_WORDS,
            name if name == CUTS.name => {
                let of = |window| 2 * (Self::windows(window, count).max(1) + Self::most_runs(window, count));
                self.window().map_or(1, of)
            }
            name if name == STATUS.name => {
                2 * row * u64::from(self.most_tiles(count)) + u64::from(self.digits)
            }
            name if name == SEGMENT_TILES.name => 4 * u64::from(self.most_tiles(count)),
            name if name == TILE_SUMS.name => row * u64::from(self.tile.tiles(count)),
            _ => row * u64::from(self.chunks(count)),
        }
    }

    fn tiles(&self) -> Option<Tiles> {
        let are_tiles = matches!(self.work, RadixWork::Sweep(_) | RadixWork::Scatter);
        are_tiles.then(|| Tiles::consecutive(self.tile.size().into(), REGISTERS))
    }

    fn workgroup_bytes(&self, shape: Shape) -> u64 {
        match self.work {
            RadixWork::Sweep(_) | RadixWork::Scatter | RadixWork::Runs(_) | RadixWork::Tile => {
                self.tile.workgroup_bytes()
            }
            RadixWork::Histogram => u64::from(self.digits * RADIX) * 4,
            RadixWork::Count { .. } => u64::from(RADIX) * 4,
            RadixWork::Sample => 512 * shape.key_bytes() + SAMPLE_WORDS * 4,
            RadixWork::Finish(window) => Self::window_bytes(window, shape),
            RadixWork::Clear | RadixWork::Scan | RadixWork::Choose | RadixWork::Cut(_) => 0,
        }
    }

    fn without_arguments(&self) -> Kernel {
        // Only the choice of digits depends on the number of leading digits.
        let scope = match self.scope {
            Scope::Leading(_) if self.work != RadixWork::Choose => Scope::Leading(None),
            scope => scope,
        };
        Kernel::Radix(Self { digit: 0, chunk: 0, iota: false, drops_keys: false, scope, ..*self })
    }

    fn module(&self, shape: Shape, keys: Keys) -> Module {
        let (entry_point, text) = self.text(shape, keys);
        let Subgroups { smallest, largest, .. } = self.tile.subgroups;
        let without_subgroups = self.tile.matching == Matching::Groups;
        let stalled = match self.work {
            RadixWork::Sweep(Some(StalledTile { tile, late })) => (tile, late.into()),
            // No tile has this number.
            _ => (u32::MAX, 0),
        };
        let in_order = self.tile.fifo_dispatch;
        let counters = self.tile.most_subgroups() * RADIX;
        // One sum for each subgroup, or for each invocation without subgroups.
        let sums = if without_subgroups { self.tile.invocations } else { self.tile.most_subgroups() };
        let constants = vec![
            ("TILE_SIZE", 1),
            ("DIGITS", self.digits),
            ("COUNTERS", if self.ranks() { counters } else { self.digits * RADIX }),
            ("COUNTERS_EACH", self.tile.counters() / self.tile.invocations),
            ("COUNTED_TOGETHER", COUNTED_TOGETHER),
            ("COPIED_TOGETHER", COPIED_TOGETHER),
            ("COUNTED_INSTEAD", 1 << self.tile.size().trailing_zeros().min(if in_order { 2 } else { 5 })),
            ("ITEMS", self.tile.items),
            ("TILE", self.tile.size()),
            ("DIGITS_EACH", (RADIX / self.tile.invocations).max(1)),
            ("SHARED", if self.work == RadixWork::Scan { 2 * sums } else { self.tile.workgroup_words() }),
            ("SUBGROUPS", self.tile.most_subgroups()),
            // 0 for subgroups of different sizes.
            ("SUBGROUP_SIZE", if smallest == largest { smallest } else { 0 }),
            // No tile may wait for tiles that a workgroup takes later.
            ("TAKES_NUMBERS", u32::from(!in_order || self.is_rare)),
            ("PATIENCE", if in_order { 64 } else { 16 }),
            ("ROWS", ROWS),
            ("MAPS_KEYS", keys.transform().is_some_and(KeyTransform::maps).into()),
            ("STALLED_TILE", stalled.0),
            ("STALLED_LATE", stalled.1),
            ("FORCED", if let Scope::Leading(forced) = self.scope { forced.unwrap_or(0) } else { 0 }),
            ("MATES", MATES as u32),
            ("SPARED", SPARED as u32),
            ("WINDOW_INVOCATIONS", self.window().unwrap_or(0)),
            ("EACH", ELEMENTS_PER_INVOCATION),
            ("ELEMENT_WORDS", shape.words()),
        ];
        Module { entry_point, constants, text }
    }

    fn arguments(&self, first: u32, count: u32, _: u32) -> Arguments {
        let n = first + count;
        [
            ("n", n),
            ("tiles", self.most_tiles(n)),
            ("chunk", self.chunk),
            ("chunks", self.chunks(n)),
            ("digit", self.digit),
            ("iota", self.iota.into()),
            ("drops_keys", self.drops_keys.into()),
        ]
        .into()
    }

    /// The other passes find numbers for the device; a stable sort does not need them.
    fn interpret<T: Item>(&self, elements: &mut [T], offsets: &[u32], _: T) {
        let by_digit = |elements: &mut [T], digit| elements.sort_by_key(|element| digit_of(*element, digit));
        match (self.work, self.scope) {
            (RadixWork::Sweep(_), Scope::Leading(forced)) => {
                let chosen = self.chosen(elements, forced);
                if let Some(&digit) = chosen.get(self.digit as usize) {
                    by_digit(elements, digit);
                }
            }
            // Includes the work of `Runs`.
            (RadixWork::Finish(_), _) => elements.sort_by_key(|element| element.key()),
            (RadixWork::Sweep(_) | RadixWork::Scatter, scope) => {
                for range in segments::ranges(offsets, elements.len()) {
                    // Without segments, all elements are a single range.
                    let is_sorted_here = match scope {
                        Scope::Segments(longer_than) => range.len() as u32 > longer_than,
                        _ => true,
                    };
                    if is_sorted_here {
                        by_digit(&mut elements[range], self.digit);
                    }
                }
            }
            (RadixWork::Tile, _) => (0..self.digits).for_each(|digit| by_digit(elements, digit)),
            _ => {}
        }
    }
}

/// Returns the number of workgroups that sample keys.
fn samples(count: u32) -> u64 {
    u64::from(count >> 17).clamp(8, MOST_SAMPLES)
}

fn digit_of(element: impl Item, digit: u32) -> u64 {
    element.key() >> (digit * DIGIT_BITS) & u64::from(RADIX - 1)
}

/// The files of work on windows.
const WINDOW: [&str; 3] = ["leading", "chosen", "window"];
