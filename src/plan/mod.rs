//! What a sort does, decided before anything runs: (algorithm, variant, n, shape, limits) -> [`Plan`].
//!
//! A plan has two levels. The *network* says which pairs of positions are compared, in which direction
//! and in which order: [`Step`]. The *dispatches* say how those steps are cut into pieces that a GPU
//! runs one after another: [`Dispatch`]. Two variants of an algorithm perform the same steps, cut
//! differently:
//!
//! ```text
//! network      step step step step step step step step step …
//! naive        [──] [──] [──] [──] [──] [──] [──] [──] [──] one pass over the data each
//! local-global [──────────────────────] [──] [──] [───────] a tile's steps stay in workgroup memory
//! fused        [──────────────────────] [───────] [───────] … and so do several steps between tiles
//! ```
//!
//! Nothing here names a GPU API. [`crate::cpu::network`] performs the steps of any plan, which is both
//! how every variant is tested without a GPU and how the CPU runs a network.

mod bitonic;
mod fused;
mod odd_even;
mod step;
mod top;
mod transpose;

use std::fmt;
use std::str::FromStr;

pub use fused::{FusedTile, Layout, Tuning};
pub use step::{Pair, Step};
pub use top::TopTuning;

use crate::error::{Error, UnknownName};

/// A way to sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Batcher's bitonic sort, n·log²n comparisons in log₂n(log₂n+1)/2 steps.
    Bitonic,
    /// Odd-even transposition (brick) sort, n phases of n/2 comparisons between neighbours.
    OddEven,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Bitonic, Self::OddEven];

    /// The name used by flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bitonic => "bitonic",
            Self::OddEven => "odd-even",
        }
    }

    /// The variants of this algorithm, the default first.
    #[must_use]
    pub fn variants(self) -> &'static [Variant] {
        match self {
            Self::Bitonic => &[Variant::Fused, Variant::LocalGlobal, Variant::Transpose, Variant::Naive],
            Self::OddEven => &[Variant::Block, Variant::Naive],
        }
    }

    /// The variant asked for, or the default.
    ///
    /// # Errors
    ///
    /// A variant that this algorithm does not have.
    pub fn variant(self, asked: Option<Variant>) -> Result<Variant, Error> {
        let variant = asked.unwrap_or(self.variants()[0]);
        if self.variants().contains(&variant) { Ok(variant) } else { Err(Error::no_variant(self, variant)) }
    }
}

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::unless_of(&Self::ALL, Self::name, "algorithm", name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an algorithm's network is cut into dispatches. Which exist depends on the algorithm:
/// [`Algorithm::variants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Tiles in registers and workgroup memory, and several of the larger strides' steps in a dispatch.
    Fused,
    /// Tiles in workgroup memory, and one dispatch for each step whose stride exceeds a tile.
    LocalGlobal,
    /// Tiles in workgroup memory, and for larger strides the same on the transposed array.
    Transpose,
    /// Blocks merged with one neighbour and the other in turn.
    Block,
    /// One dispatch for each step.
    Naive,
}

impl Variant {
    /// Every variant of any algorithm.
    pub const ALL: [Self; 5] = [Self::Fused, Self::LocalGlobal, Self::Transpose, Self::Block, Self::Naive];

    /// The name used by flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::LocalGlobal => "local-global",
            Self::Transpose => "transpose",
            Self::Block => "block",
            Self::Naive => "naive",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::unless_of(&Self::ALL, Self::name, "variant", name)
    }
}

/// What one element is made of on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// 32-bit words in a key: 1 or 2.
    pub key_words: u32,
    /// Whether a 32-bit position travels along and breaks ties.
    pub positions: bool,
}

impl Shape {
    /// The four shapes that every kernel serves.
    pub const ALL: [Self; 4] = [
        Self { key_words: 1, positions: false },
        Self { key_words: 1, positions: true },
        Self { key_words: 2, positions: false },
        Self { key_words: 2, positions: true },
    ];

    /// 32-bit words in one element.
    #[must_use]
    pub fn words(self) -> u32 {
        self.key_words + u32::from(self.positions)
    }

    /// Bytes of one element: its key and, where there is one, its position.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.words()) * 4
    }
}

/// What a device can do, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory that the invocations of one workgroup share.
    pub workgroup_bytes: u64,
    /// Invocations in one workgroup.
    pub invocations: u32,
    /// Workgroups along one dimension of a dispatch.
    pub workgroups_per_dimension: u32,
    /// Bytes that one binding of a storage buffer reaches.
    pub binding_bytes: u64,
    /// Bytes in one buffer.
    pub buffer_bytes: u64,
}

impl Limits {
    /// What WebGPU promises of every device.
    pub const WEBGPU: Self = Self {
        workgroup_bytes: 16 << 10,
        invocations: 256,
        workgroups_per_dimension: 65_535,
        binding_bytes: 128 << 20,
        buffer_bytes: 256 << 20,
    };

    /// A CPU core as a workgroup: a tile fills a part of its second-level cache.
    pub const CPU: Self = Self {
        workgroup_bytes: 256 << 10,
        invocations: 1,
        workgroups_per_dimension: u32::MAX,
        binding_bytes: u64::MAX,
        buffer_bytes: u64::MAX,
    };
}

/// The workgroups of a dispatch, in two dimensions because one holds too few. Workgroup (x, y) has the
/// number y·`x` + x; those numbered past the work find nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Workgroups in a row.
    pub x: u32,
    /// Rows.
    pub y: u32,
}

impl Grid {
    /// The flattest grid of at least `workgroups` workgroups.
    fn new(workgroups: u64, limits: &Limits) -> Result<Self, Error> {
        let most = u64::from(limits.workgroups_per_dimension);
        let rows = workgroups.div_ceil(most).max(1);
        if rows > most {
            return Err(Error::limit("workgroups in one dispatch", workgroups, most * most));
        }
        let narrow = |count: u64| u32::try_from(count).expect("at most `most`, which is a u32");
        Ok(Self { x: narrow(workgroups.div_ceil(rows)), y: narrow(rows) })
    }

    /// How many workgroups there are.
    #[must_use]
    pub fn workgroups(self) -> u64 {
        u64::from(self.x) * u64::from(self.y)
    }
}

/// The part of the network that one dispatch performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Sorts every aligned tile of 2^`tile_log2` elements: the stages of blocks up to that size.
    TileSort {
        /// Elements in a tile, as a power of two.
        tile_log2: u32,
    },
    /// Ends a stage within every aligned tile: the strides 2^(`tile_log2`−1) … 1.
    TileMerge {
        /// Elements in a tile, as a power of two.
        tile_log2: u32,
    },
    /// Merges the sorted halves of every tile of 2^`tile_log2` elements: the stage of blocks of that
    /// size. A phase of odd-even sort on half tiles.
    TileHalves {
        /// Elements in a tile, as a power of two.
        tile_log2: u32,
    },
    /// Several steps one after another: those that end a stage, the strides 2^(`tail`−1) … 1; then
    /// `count` steps of strides 2^(`low`+`count`−1) … 2^`low`.
    Strides {
        /// How many steps end a stage.
        tail: u32,
        /// The smallest stride, as a power of two; a tile's size where there are none.
        low: u32,
        /// How many steps there are of these.
        count: u32,
        /// Whether the first of them is the mirrored step that begins a stage.
        mirrored: bool,
    },
    /// One step on the whole array.
    Step(Step),
    /// Puts elements that sort last into the positions past n.
    Pad,
    /// Sorts every row of 2^`row_log2` elements, up and down in turn.
    RowSort {
        /// Elements in a row, as a power of two.
        row_log2: u32,
    },
    /// The strides 2^(`steps`−1) … 1 of a stage of alternating blocks of 2^`block_log2`.
    RowMerge {
        /// Elements in a row, as a power of two.
        row_log2: u32,
        /// How many steps.
        steps: u32,
        /// Size of the stage's blocks, as a power of two.
        block_log2: u32,
    },
    /// Takes the array for rows of 2^`columns_log2` elements and turns rows into columns.
    Transpose {
        /// Number of rows, as a power of two.
        rows_log2: u32,
        /// Number of columns, as a power of two.
        columns_log2: u32,
    },
    /// Leaves of every aligned tile of 2^`tile_log2` elements a run of 2^`slots_log2` slots in the other
    /// array. In it are the tile's first `k` in the sorted order, wherever in the run; the slots that are over hold
    /// others of the tile, none twice, or elements that sort last. What is after the runs is anything.
    TopTile {
        /// Elements in a tile, as a power of two.
        tile_log2: u32,
        /// Slots in a run, as a power of two.
        slots_log2: u32,
        /// How many elements must be kept.
        k: u32,
    },
}

impl Work {
    /// The network steps performed, in order.
    #[must_use]
    pub fn steps(self) -> Vec<Step> {
        match self {
            Self::TileSort { tile_log2 } | Self::TopTile { tile_log2, .. } => {
                (1..=tile_log2).flat_map(bitonic::stage).collect()
            }
            Self::TileMerge { tile_log2 } => bitonic::strides(0..tile_log2).collect(),
            Self::TileHalves { tile_log2 } => bitonic::stage(tile_log2).collect(),
            Self::Strides { tail, low, count, mirrored } => {
                let tail = bitonic::strides(0..tail);
                if mirrored {
                    tail.chain(bitonic::stage(low + count).take(count as usize)).collect()
                } else {
                    tail.chain(bitonic::strides(low..low + count)).collect()
                }
            }
            Self::Step(step) => vec![step],
            Self::RowSort { row_log2 } => {
                (1..=row_log2).flat_map(|block| transpose::steps(block, block)).collect()
            }
            Self::RowMerge { steps, block_log2, .. } => transpose::steps(steps, block_log2).collect(),
            Self::Pad | Self::Transpose { .. } => Vec::new(),
        }
    }

    /// Elements in the aligned tiles that no comparison leaves, where the work has tiles.
    #[must_use]
    pub fn tile(self) -> Option<usize> {
        match self {
            Self::TileSort { tile_log2 }
            | Self::TileMerge { tile_log2 }
            | Self::TileHalves { tile_log2 }
            | Self::TopTile { tile_log2, .. } => Some(1 << tile_log2),
            // Rows pair up within themselves too, but whether up or down depends on where they are.
            _ => None,
        }
    }

    /// Whether the result is in the other array, where the next dispatch finds it.
    #[must_use]
    pub fn changes_sides(self) -> bool {
        matches!(self, Self::Transpose { .. } | Self::TopTile { .. })
    }
}

/// Which kernel does the work. The file of that name in `shaders/` says how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `bitonic_local`: a tile in workgroup memory.
    Local,
    /// `fused`: a tile in registers.
    Fused(FusedTile),
    /// `step`: a comparison to an invocation.
    Step,
    /// `transpose`: rows in workgroup memory, and transpositions.
    Transpose,
    /// `top`: a tile in registers, reduced to its best elements.
    Top(TopTuning),
}

/// One launch of a kernel: one pass over the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// What is done.
    pub work: Work,
    /// By which kernel.
    pub kernel: Kernel,
    /// On which elements: those from `first` on, `count` of them. The steps' positions count from there.
    pub first: u32,
    /// How many elements.
    pub count: u32,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// The workgroups launched.
    pub grid: Grid,
    /// Bytes of device memory read and written, every element touched counted once each way.
    pub bytes_moved: u64,
}

/// Dispatches that are done `times` times over, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The dispatches of one repetition.
    pub dispatches: Vec<Dispatch>,
    /// How often.
    pub times: u64,
}

/// A whole sort of `n` elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of elements.
    pub n: u32,
    /// Elements that the arrays must have room for: n, or more where the plan pads.
    pub padded: u32,
    /// Elements that a second array must have room for, where one is needed: else 0.
    pub scratch: u32,
    /// What an element is made of.
    pub shape: Shape,
    /// What is done, in order.
    pub rounds: Vec<Round>,
    /// Whether the dispatches are phases of odd-even sort: once two in a row found everything in order,
    /// the rest would too.
    pub phases: bool,
}

impl Plan {
    /// Plans a sort of `n` elements on a device with these `limits`.
    ///
    /// # Errors
    ///
    /// A limit of the device, or of 32-bit positions, that `n` elements of this shape exceed; a variant
    /// that the algorithm does not have.
    pub fn new(
        algorithm: Algorithm,
        variant: Variant,
        n: usize,
        shape: Shape,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let n = u32::try_from(n)
            .map_err(|_| Error::limit("elements in one sort", n as u64, u64::from(u32::MAX)))?;
        let variant = algorithm.variant(Some(variant))?;
        let pads = variant == Variant::Transpose && n > 1;
        let padded = if pads {
            n.checked_next_power_of_two().ok_or(Error::limit("elements in one sort", n.into(), 1 << 31))?
        } else {
            n
        };
        let key_bytes = u64::from(padded) * u64::from(shape.key_words) * 4;
        for (what, limit) in
            [("bytes in one binding", limits.binding_bytes), ("bytes in one buffer", limits.buffer_bytes)]
        {
            if key_bytes > limit {
                return Err(Error::limit(what, key_bytes, limit));
            }
        }
        let rounds = match (algorithm, variant) {
            _ if n < 2 => Vec::new(),
            (_, Variant::Fused) => fused::plan(n, shape, limits, &Tuning::new(n, shape, limits))?,
            (_, Variant::LocalGlobal) => bitonic::local_global(n, shape, limits)?,
            (_, Variant::Transpose) => transpose::plan(n, shape, limits)?,
            (_, Variant::Block) => odd_even::block(n, shape, limits)?,
            (Algorithm::Bitonic, Variant::Naive) => bitonic::naive(n, shape, limits)?,
            (Algorithm::OddEven, Variant::Naive) => odd_even::naive(n, shape, limits)?,
        };
        Ok(Self {
            n,
            padded,
            scratch: if pads { padded } else { 0 },
            shape,
            rounds,
            phases: algorithm == Algorithm::OddEven,
        })
    }

    /// A plan of the bitonic `fused` variant with a tuning of one's own, to measure what it buys.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`]; a tuning that exceeds the limits.
    pub fn fused(n: usize, shape: Shape, limits: &Limits, tuning: &Tuning) -> Result<Self, Error> {
        let plan = Self::new(Algorithm::Bitonic, Variant::Fused, n, shape, limits)?;
        let rounds = if n < 2 { Vec::new() } else { fused::plan(plan.n, shape, limits, tuning)? };
        Ok(Self { rounds, ..plan })
    }

    /// Every dispatch, in order, the repeated ones each time.
    pub fn dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.rounds.iter().flat_map(|round| (0..round.times).flat_map(|_| &round.dispatches))
    }

    /// How many dispatches there are.
    #[must_use]
    pub fn dispatch_count(&self) -> u64 {
        self.rounds.iter().map(|round| round.times * round.dispatches.len() as u64).sum()
    }

    /// Bytes of device memory read and written in all.
    #[must_use]
    pub fn bytes_moved(&self) -> u64 {
        let round = |round: &Round| round.dispatches.iter().map(|dispatch| dispatch.bytes_moved).sum::<u64>();
        self.rounds.iter().map(|r| r.times * round(r)).sum()
    }

    /// Those of the first so many dispatches, where a sort ended early.
    #[must_use]
    pub fn bytes_moved_by(&self, dispatches: u64) -> u64 {
        // Phases that were left out are like those that were not.
        let planned = u128::from(self.dispatch_count().max(1));
        (u128::from(self.bytes_moved()) * u128::from(dispatches) / planned) as u64
    }
}

/// A dispatch of one step, a comparison to an invocation.
fn step_dispatch(step: Step, n: u32, shape: Shape, limits: &Limits) -> Result<Dispatch, Error> {
    const WORKGROUP_SIZE: u32 = 256;
    let workgroup_size = WORKGROUP_SIZE.min(limits.invocations);
    let comparisons = step.comparisons(u64::from(n));
    Ok(Dispatch {
        work: Work::Step(step),
        kernel: Kernel::Step,
        first: 0,
        count: n,
        workgroup_size,
        grid: Grid::new(comparisons.div_ceil(u64::from(workgroup_size)), limits)?,
        bytes_moved: step.pairs(u64::from(n)) * 2 * 2 * shape.bytes(),
    })
}
