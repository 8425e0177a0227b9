//! The passes of the radix sort: counting digits, and distributing elements by one of them. What
//! they do together is in [`crate::plan`]'s `radix.rs`.
//!
//! ```text
//! Clear       zeros where the others add up
//! Histogram   all digits of all keys counted in one reading; which bits vary
//! Sweep       a tile in registers, ranked by one digit, and scattered to the other array, to places that follow
//!             from what earlier tiles published (look-back)
//! Count       one digit counted before each tile of a chunk of tiles, and in all of the chunk
//! Scan        counts of chunks to counts in all chunks before
//! Scatter     as Sweep, but where elements go was counted
//! ```
//!
//! How a tile is ranked: lanes of a subgroup compare digits by ballots; the first lane of each
//! digit adds their number to the subgroup's own counter of it. No barrier of the workgroup is
//! needed for a key, and nothing depends on how invocations are numbered: whose turn it is follows
//! from subgroup and lane alone.

use gpusort_shaders::wgsl;

use super::segments::{self, SEGMENT_TILES};
use super::{
    Access, Arguments, AuxBuffer, Kernel, KernelSpec, KeyTransform, Keys, Launch, Module, REGISTERS, Shape,
    Tiles,
};
use crate::error::{Error, at_most, has, refuse_if, within};
use crate::item::Item;
use crate::limits::{Limits, Subgroups};

/// Bits of a digit.
pub const DIGIT_BITS: u32 = 8;

/// Values of a digit.
const RADIX: u32 = 1 << DIGIT_BITS;

/// How a tile is divided: its elements among invocations, and those among subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RadixTile {
    invocations: u32,
    items: u32,
    subgroups: Subgroups,
    fifo_dispatch: bool,
    matching: Matching,
}

/// How lanes find those with the same digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matching {
    /// By ballots on each bit.
    Ballots,
    /// By ballots for one element, and by a mask beside the counter for the next, which keeps two
    /// units of a core busy. Subgroups must be of at most 32 lanes, which can wait for each other.
    Masks,
    /// By masks alone, in groups of 32 invocations that stand in for subgroups: a workgroup waits
    /// as a whole.
    Groups,
}

/// Invocations in a group of [`Matching::Groups`].
const GROUP: u32 = 32;

impl RadixTile {
    /// So many invocations with so many elements each, in subgroups and an order such as these
    /// limits have.
    ///
    /// # Errors
    ///
    /// Invocations that are no power of two, or fewer than a subgroup's; a number of elements that
    /// no kernel has; no subgroups.
    pub fn new(invocations: u32, items: u32, limits: &Limits) -> Result<Self, Error> {
        let subgroups = limits.subgroups.ok_or(Error::Lacks { what: "subgroups" })?;
        let Subgroups { smallest, largest, .. } = subgroups;
        refuse_if([(
            "the invocations of a workgroup must be a power of two",
            !invocations.is_power_of_two(),
        )])?;
        let are_powers = smallest.is_power_of_two() && largest.is_power_of_two();
        has([("subgroups with a power of two of lanes", true, are_powers)])?;
        // Fewer would not set all that is set by one invocation each.
        within("invocations in a workgroup", invocations, 8..=1 << 12)?;
        // Loops over registers are written out, so more of them make a text that no compiler takes.
        within("elements in the registers of an invocation", items, 1..=64)?;
        at_most([
            ("lanes in a subgroup", largest.into(), 128),
            ("lanes in the smallest subgroup", smallest.into(), invocations.min(largest).into()),
            // Two sums of each lie where the offsets of digits go.
            ("subgroups in a workgroup", (invocations / smallest).into(), (RADIX / 2).into()),
        ])?;
        Ok(Self {
            invocations,
            items,
            subgroups,
            fifo_dispatch: limits.fifo_dispatch,
            matching: Matching::Ballots,
        })
    }

    /// A tile for devices without subgroups.
    ///
    /// # Errors
    ///
    /// Invocations that are no power of two, too few, or too many; a number of elements that no
    /// kernel has.
    pub fn without_subgroups(invocations: u32, items: u32) -> Result<Self, Error> {
        let subgroups = Subgroups { smallest: GROUP, largest: GROUP, barrier: true };
        let limits = Limits { subgroups: Some(subgroups), fifo_dispatch: false, ..Limits::WEBGPU };
        // Two sums of each invocation lie where the offsets of digits go.
        at_most([("invocations in a workgroup", invocations.into(), (RADIX / 2).into())])?;
        Ok(Self { matching: Matching::Groups, ..Self::new(invocations, items, &limits)? })
    }

    /// The same tile, matched by masks, too.
    ///
    /// # Errors
    ///
    /// Subgroups that it is not for.
    pub fn with_masks(self) -> Result<Self, Error> {
        let Subgroups { largest, barrier, .. } = self.subgroups;
        at_most([("lanes in a subgroup", largest.into(), 32)])?;
        has([("subgroup barriers", true, barrier)])?;
        Ok(Self { matching: Matching::Masks, ..self })
    }

    /// Elements in a tile.
    pub fn size(self) -> u32 {
        self.invocations * self.items
    }

    /// Tiles of this many elements.
    pub fn tiles(self, count: u32) -> u32 {
        count.div_ceil(self.size())
    }

    /// The most subgroups that a workgroup may have.
    fn most_subgroups(self) -> u32 {
        self.invocations / self.subgroups.smallest
    }

    /// Counters of all subgroups, with the masks beside them.
    fn counters(self) -> u32 {
        let sets = if self.matching == Matching::Ballots { 1 } else { 2 };
        sets * self.most_subgroups() * RADIX
    }

    /// Whether each subgroup clears its own counters: one that counts for nobody else, and that no
    /// other may lack.
    fn clears_apart(self) -> bool {
        let Subgroups { smallest, largest, barrier } = self.subgroups;
        smallest == largest && barrier && self.matching != Matching::Groups
    }

    /// Words of workgroup memory: the counters or, in their place, the tile; and an offset for each
    /// value of the digit.
    fn workgroup_words(self) -> u32 {
        self.counters().max(self.size()) + RADIX
    }

    /// Bytes of workgroup memory.
    pub fn workgroup_bytes(self) -> u64 {
        u64::from(self.workgroup_words()) * 4
    }
}

/// What a pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RadixWork {
    /// Sets to zero what the others add up in.
    Clear,
    /// Counts all digits, and finds out which bits vary.
    Histogram,
    /// Distributes by a digit, to places found by look-back. For tests one tile may stall.
    Sweep(Option<StalledTile>),
    /// Counts a digit. Before the first pass this finds out which bits vary, too.
    Count {
        /// Whether it is before the first pass.
        first: bool,
    },
    /// Adds up the counts of chunks.
    Scan,
    /// Distributes by a digit as was counted.
    Scatter,
}

/// A tile that does not publish its counts, for tests of what others do then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StalledTile {
    /// Which.
    pub tile: u32,
    /// Whether it publishes sums once it is done.
    pub late: bool,
}

/// A pass of the radix sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Radix {
    /// How tiles are divided.
    pub tile: RadixTile,
    /// What is done.
    pub work: RadixWork,
    /// The digit, counted from the lowest; 0 where it is no matter.
    pub digit: u32,
    /// Digits in a key.
    pub digits: u32,
    /// Tiles in a chunk of [`RadixWork::Count`]; 0 without.
    pub chunk: u32,
    /// Whether the payload is iota (the position), which the first pass writes without reading any.
    pub iota: bool,
    /// Whether the last pass leaves keys where they are, and writes the payload alone.
    pub drops_keys: bool,
    /// Whether not all elements are sorted together, but those of each segment that is longer than
    /// this.
    pub longer_than: Option<u32>,
}

/// How often each value of each digit is in all keys.
const HISTOGRAMS: AuxBuffer = AuxBuffer::words("histograms");
/// For each word of a key the bits that are set in some key, and those that are not set in some.
const VARYING: AuxBuffer = AuxBuffer::words("varying_bits");
/// Counts and sums that tiles publish, for the pass that runs and for the next.
const STATUS: AuxBuffer = AuxBuffer::words("status").added_to();
/// How often each value of the digit is in the chunk before each tile.
const TILE_SUMS: AuxBuffer = AuxBuffer::words("tile_sums");
/// By values of the digit: how often it is in each chunk; then, in the chunks before.
const CHUNK_SUMS: AuxBuffer = AuxBuffer::words("chunk_sums");

/// Words of [`VARYING`]: of keys of one word the last two stay zero.
const VARYING_WORDS: u64 = 4;

/// The most workgroups that count: more only make more sums to add up.
const MOST_COUNTING: u64 = 1056;

/// Rows of the status that are read together in a look-back.
const ROWS: u32 = 8;

/// Elements that an invocation counts at a time.
const COUNTED_TOGETHER: u32 = 16;

/// Elements that an invocation loads at once, where a pass copies.
const COPIED_TOGETHER: u32 = 8;

impl Radix {
    /// The most segments that there can be.
    fn segments(&self, count: u32) -> u32 {
        self.longer_than.map_or(0, |longer_than| segments::most_segments(count, longer_than))
    }

    /// The most tiles that there can be: each segment may end within one.
    fn most_tiles(&self, count: u32) -> u32 {
        self.tile.tiles(count) + self.segments(count)
    }

    /// Chunks of this many elements.
    fn chunks(&self, count: u32) -> u32 {
        if self.chunk == 0 { 0 } else { self.tile.tiles(count).div_ceil(self.chunk) }
    }
}

impl KernelSpec for Radix {
    fn check(&self, shape: Shape, limits: &Limits) -> Result<(), Error> {
        has([("workgroups that start in order", self.tile.fifo_dispatch, limits.fifo_dispatch)])?;
        let takes_segments = matches!(self.work, RadixWork::Histogram | RadixWork::Sweep(_));
        let counts = matches!(self.work, RadixWork::Count { .. } | RadixWork::Scan | RadixWork::Scatter);
        refuse_if([
            (
                "count, scan and scatter passes do not sort segments",
                self.longer_than.is_some() && !takes_segments,
            ),
            ("a chunk must have tiles", counts && self.chunk == 0),
        ])?;
        within("digits in a key", self.digits, 1..=shape.key_words() * 32 / DIGIT_BITS)?;
        at_most([
            ("bytes of workgroup memory", self.tile.workgroup_bytes(), limits.workgroup_bytes),
            ("invocations in a workgroup", self.tile.invocations.into(), limits.invocations.into()),
            ("digits before the last", self.digit.into(), (self.digits - 1).into()),
        ])
    }

    fn launch(&self, count: u32, shape: Shape, limits: &Limits) -> Launch {
        let n = u64::from(count);
        let keys = n * shape.key_bytes();
        let tiles: u64 = self.most_tiles(count).into();
        let of_tile = |workgroups, bytes_moved| Launch {
            workgroup_size: self.tile.invocations,
            workgroups,
            bytes_moved,
        };
        let row = u64::from(RADIX) * 4;
        match self.work {
            RadixWork::Clear => {
                let words = u64::from(self.digits * RADIX);
                Launch::of_invocations(words, (words + VARYING_WORDS) * 4, limits)
            }
            RadixWork::Histogram => {
                let workgroup_size = limits.invocations.clamp(1, 256);
                let blocks = n.div_ceil((workgroup_size * COUNTED_TOGETHER).into());
                let blocks = if self.longer_than.is_some() { tiles } else { blocks };
                Launch {
                    workgroup_size,
                    workgroups: blocks.min(MOST_COUNTING),
                    bytes_moved: keys + tiles * row,
                }
            }
            RadixWork::Sweep(_) | RadixWork::Scatter => {
                let positions = n * (shape.bytes() - shape.key_bytes());
                let read = keys + if self.iota && self.digit == 0 { 0 } else { positions };
                let is_last = self.digit + 1 == self.digits;
                let written = positions + if self.drops_keys && is_last { 0 } else { keys };
                of_tile(tiles, read + written + 2 * tiles * row)
            }
            RadixWork::Count { .. } => of_tile(self.chunks(count).into(), keys + tiles * row),
            RadixWork::Scan => of_tile(RADIX.into(), 3 * u64::from(self.chunks(count)) * row + row),
        }
    }

    /// In bounds since elements are read below `n` only. Each is written to the place that as many
    /// elements have before it as there are with a lower digit, or with the same digit and a lower
    /// index: below `n`, and another for each, as long as nobody else writes to the arrays
    /// meanwhile. What is counted more than once, because a tile stalled, is the same number
    /// each time. Segments are parts of the array that have no element in common, so the same is
    /// true of each; their tiles are fewer than the most. Where two passes are left out, elements
    /// are where the plan has them after the two. Counters have room for the digits of each
    /// subgroup of the smallest size that there is; sums and offsets for each value of a digit.
    /// Rows of `status` and of the sums are those of tiles and chunks that there are.
    fn access(&self, first: u32, count: u32) -> Result<Access, Error> {
        // Numbers of elements share a word with what they are.
        at_most([("elements in a radix sort", count.into(), (1 << 30) - 1)])?;
        let whole = Access::from_start(first, count)?;
        Ok(match self.work {
            RadixWork::Clear | RadixWork::Scan => Access { reads: 0, writes: 0, ..whole },
            RadixWork::Histogram | RadixWork::Count { .. } => Access { writes: 0, ..whole },
            RadixWork::Sweep(_) | RadixWork::Scatter => whole.to_other(),
        })
    }

    fn subgroups(&self) -> Option<Subgroups> {
        (self.tile.matching != Matching::Groups).then_some(self.tile.subgroups)
    }

    fn aux_buffers(&self) -> &'static [AuxBuffer] {
        match self.work {
            RadixWork::Clear => &[HISTOGRAMS, VARYING],
            RadixWork::Histogram if self.longer_than.is_some() => {
                const { &[HISTOGRAMS.added_to(), VARYING.added_to(), STATUS, SEGMENT_TILES] }
            }
            RadixWork::Histogram => const { &[HISTOGRAMS.added_to(), VARYING.added_to(), STATUS] },
            RadixWork::Sweep(_) if self.longer_than.is_some() => {
                const { &[HISTOGRAMS.read(), VARYING.read(), STATUS, SEGMENT_TILES] }
            }
            RadixWork::Sweep(_) => const { &[HISTOGRAMS.read(), VARYING.read(), STATUS] },
            RadixWork::Count { first: true } => const { &[VARYING.added_to(), TILE_SUMS, CHUNK_SUMS] },
            RadixWork::Count { first: false } => const { &[VARYING.read(), TILE_SUMS, CHUNK_SUMS] },
            RadixWork::Scan => const { &[HISTOGRAMS, VARYING.read(), CHUNK_SUMS] },
            RadixWork::Scatter => {
                const { &[HISTOGRAMS.read(), VARYING.read(), TILE_SUMS.read(), CHUNK_SUMS.read()] }
            }
        }
    }

    fn aux_words(&self, aux: &AuxBuffer, count: u32) -> u64 {
        let row = u64::from(RADIX);
        match aux.name {
            name if name == HISTOGRAMS.name => row * u64::from(self.digits * self.segments(count).max(1)),
            name if name == VARYING.name => VARYING_WORDS,
            name if name == STATUS.name => {
                2 * row * u64::from(self.most_tiles(count)) + u64::from(self.digits)
            }
            name if name == SEGMENT_TILES.name => 4 * u64::from(self.most_tiles(count)),
            name if name == TILE_SUMS.name => row * u64::from(self.tile.tiles(count)),
            _ => row * u64::from(self.chunks(count)),
        }
    }

    fn tiles(&self) -> Option<Tiles> {
        let tile = u64::from(self.tile.size());
        match self.work {
            RadixWork::Sweep(_) | RadixWork::Scatter => Some(Tiles::consecutive(tile, REGISTERS)),
            _ => None,
        }
    }

    fn workgroup_bytes(&self, _: Shape) -> u64 {
        match self.work {
            RadixWork::Sweep(_) | RadixWork::Scatter => self.tile.workgroup_bytes(),
            RadixWork::Histogram => u64::from(self.digits * RADIX) * 4,
            RadixWork::Count { .. } => u64::from(RADIX) * 4,
            RadixWork::Clear | RadixWork::Scan => 0,
        }
    }

    fn without_arguments(&self) -> Kernel {
        Kernel::Radix(Self { digit: 0, chunk: 0, iota: false, drops_keys: false, ..*self })
    }

    fn module(&self, shape: Shape, keys: Keys) -> Module {
        macro_rules! wgsl {
            ($($name:literal)*) => {
                [$(wgsl(concat!("radix/", $name))),*].concat()
            };
        }
        let Subgroups { smallest, largest, barrier } = self.tile.subgroups;
        let in_groups = self.tile.matching == Matching::Groups;
        let sums = || if in_groups { wgsl!("sums_groups") } else { wgsl!("sums") };
        let lane = || if in_groups { wgsl!("lane_group") } else { wgsl!("lane") };
        let vary = || {
            wgsl!("vary") + &if in_groups { wgsl!("note_each") } else { wgsl!("note_subgroups") } + &lane()
        };
        let (entry_point, own) = match self.work {
            RadixWork::Clear => ("clear", wgsl!("clear")),
            RadixWork::Histogram if self.longer_than.is_some() => {
                ("histogram", vary() + &wgsl!("digits" "part" "part_segments" "histogram_segments"))
            }
            RadixWork::Histogram => ("histogram", vary() + &wgsl!("digits" "histogram")),
            RadixWork::Sweep(_) => ("scatter", wgsl!("varying" "scatter" "lookback") + &sums()),
            RadixWork::Count { first: true } => ("count", wgsl!("vary_first" "count") + &vary()),
            RadixWork::Count { first: false } => ("count", wgsl!("varying" "vary_none" "count") + &lane()),
            RadixWork::Scan => ("scan", wgsl!("varying" "scan") + &sums()),
            RadixWork::Scatter => ("scatter", wgsl!("varying" "scatter" "counted") + &sums()),
        };
        let mut text = wgsl!("pass") + &own;
        text += &if keys.transform().is_some() { wgsl!("elements") } else { wgsl!("keys") };
        text += keys.access();
        if entry_point == "scatter" {
            text += &match self.tile.matching {
                Matching::Groups => wgsl!("rank_groups"),
                _ if largest <= 32 => wgsl!("peers" "mask_1"),
                _ => wgsl!("peers" "mask_4"),
            };
            text += &match self.tile.matching {
                Matching::Masks => wgsl!("rank_masks"),
                Matching::Ballots if barrier => wgsl!("rank_barrier"),
                Matching::Ballots => wgsl!("rank_shuffle"),
                Matching::Groups => String::new(),
            };
            text += if shape.payload { keys.access_payload() } else { "" };
            text += &wgsl!("part");
            text += &if self.longer_than.is_some() { wgsl!("part_segments") } else { wgsl!("part_whole") };
            text += &if self.tile.clears_apart() { wgsl!("clear_own") } else { wgsl!("clear_all") };
            text += &if shape.key_words() == 1 { wgsl!("word_1") } else { wgsl!("word_2") };
            text += &if shape.payload { wgsl!("payload") } else { wgsl!("key") };
        }
        let stalled = match self.work {
            RadixWork::Sweep(Some(StalledTile { tile, late })) => (tile, late.into()),
            // There is no such tile.
            _ => (u32::MAX, 0),
        };
        let counters = self.tile.most_subgroups() * RADIX;
        let constants = vec![
            ("TILE_SIZE", 1),
            ("DIGITS", self.digits),
            ("COUNTERS", if entry_point == "scatter" { counters } else { self.digits * RADIX }),
            ("COUNTERS_EACH", self.tile.counters() / self.tile.invocations),
            ("COUNTED_TOGETHER", COUNTED_TOGETHER),
            ("COPIED_TOGETHER", COPIED_TOGETHER),
            (
                "COUNTED_INSTEAD",
                1 << self.tile.size().trailing_zeros().min(if self.tile.fifo_dispatch { 2 } else { 5 }),
            ),
            ("ITEMS", self.tile.items),
            ("TILE", self.tile.size()),
            ("DIGITS_EACH", (RADIX / self.tile.invocations).max(1)),
            (
                "SHARED",
                if entry_point == "scan" {
                    2 * if in_groups { self.tile.invocations } else { self.tile.most_subgroups() }
                } else {
                    self.tile.workgroup_words()
                },
            ),
            ("SUBGROUPS", self.tile.most_subgroups()),
            // 0 where it is not the same for all.
            ("SUBGROUP_SIZE", if smallest == largest { smallest } else { 0 }),
            ("TAKES_NUMBERS", u32::from(!self.tile.fifo_dispatch)),
            ("PATIENCE", if self.tile.fifo_dispatch { 64 } else { 16 }),
            ("ROWS", ROWS),
            ("MAPS_KEYS", keys.transform().is_some_and(KeyTransform::maps).into()),
            ("STALLED_TILE", stalled.0),
            ("STALLED_LATE", stalled.1),
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

    /// What the other passes find out is what the device needs, not what a stable sort does.
    fn interpret<T: Item>(&self, elements: &mut [T], offsets: &[u32], _: T) {
        if let RadixWork::Sweep(_) | RadixWork::Scatter = self.work {
            for range in segments::ranges(offsets, elements.len()) {
                // All, where there are no segments.
                if self.longer_than < Some(range.len() as u32) {
                    let shift = self.digit * DIGIT_BITS;
                    elements[range].sort_by_key(|element| element.key() >> shift & u64::from(RADIX - 1));
                }
            }
        }
    }
}
