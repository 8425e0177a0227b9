//! Plans a sort before anything runs: (algorithm, variant, n, shape, limits) -> [`Plan`].
//!
//! A plan of a network has two levels. The *network* is the compared pairs of positions, their
//! directions and their order: [`Step`]. The *dispatches* say how those steps are cut into pieces
//! that a GPU runs one after another: [`Dispatch`]. Two variants of an algorithm perform the same
//! steps, cut differently:
//!
//! ```text
//! network      step step step step step step step step step …
//! naive        [──] [──] [──] [──] [──] [──] [──] [──] [──] one pass over the data each
//! local-global [──────────────────────] [──] [──] [───────] a tile's steps stay in workgroup memory
//! fused        [──────────────────────] [───────] [───────] … and so do several steps between tiles
//! ```
//!
//! No GPU API appears here. [`interpreter`] performs any plan, so variants are tested without a GPU, and traces
//! show each pass. (The CPU's own networks are in `crates/cpu/src/network.rs`.)
//!
//! # Plans are right by construction
//!
//! Kernels run unchecked on arrays allocated to the sizes in their plan. The only constructor,
//! `Plan::from_rounds`, therefore derives those sizes from the accesses of the dispatches, and
//! rejects a dispatch that reads elements which no earlier dispatch has left there:
//!
//! ```text
//!                  elements there: front n, back 0
//! dispatch 1       reads ≤ front's        writes there    front = max of both
//! dispatch 2       reads ≤ front's        writes back     back = written elements; then the back becomes the front
//! …
//! ```

mod bitonic;
mod fused;
pub mod interpreter;
mod leading;
mod merge;
mod odd_even;
mod radix;
mod recorded;
mod segments;
mod select;
mod top;
mod transpose;
mod tuning;

pub use crate::algorithm::{Algorithm, NoVariant, Variant};
pub use crate::kernels::{
    AuxBuffer, Batch, Dispatch, Fused, FusedTile, FusedWork, Group, Kernel, KeyTransform, Layout, Local,
    Merge, MergeTile, Radix, RadixTile, RadixWork, Scope, Select, SelectWork, Shape, StalledTile, Tiles, Top,
    TopTuning, TransposeWork,
};
pub use crate::limits::{Limits, Subgroups};
pub use crate::network::{Comparison, Step};
pub use recorded::{
    BESIDE_WORKGROUP, Beside, CallerPlans, MOST_GATHERED, MOST_GROUPS, Narrow, UNIQUE_TILE, copy_text,
    most_long_segments, prepare_rows_text, prepare_text, prepare_top_text, segments_text, segments_words,
    unique_words,
};
pub use segments::groups as segment_groups;
pub use tuning::{
    CANDIDATES, Crossovers, LEADING_FROM, RadixTuning, Tuning, best_variant, default_variant, longest_row,
};

use crate::error::{Error, at_most, refuse_if};
use crate::getters::getters;

/// The elements of a plan, and the limits of the device.
#[derive(Clone, Copy)]
struct PlanElements<'a> {
    n: u32,
    shape: Shape,
    limits: &'a Limits,
}

impl<'a> PlanElements<'a> {
    /// Checks the number of elements.
    ///
    /// # Errors
    ///
    /// The errors of [`checked_size`].
    fn new(n: usize, shape: Shape, limits: &'a Limits) -> Result<Self, Error> {
        Ok(Self { n: checked_size(n, shape, limits)?, shape, limits })
    }

    /// Returns a kernel on all elements.
    fn dispatch(self, kernel: impl Into<Kernel>) -> Result<Dispatch, Error> {
        self.dispatch_on(0, self.n, kernel)
    }

    /// Returns a kernel on `count` elements from `first` on.
    fn dispatch_on(self, first: u32, count: u32, kernel: impl Into<Kernel>) -> Result<Dispatch, Error> {
        Dispatch::new(kernel, first, count, self.shape, self.limits)
    }
}

/// Dispatches and the number of their repetitions, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Round {
    dispatches: Vec<Dispatch>,
    times: u64,
}

/// Passes over an array of `n` elements, usually a whole sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    n: u32,
    shape: Shape,
    rounds: Vec<Round>,
    room: u32,
    other_room: u32,
    /// The auxiliary buffers, with the words that each must hold.
    aux_buffers: Vec<(AuxBuffer, u64)>,
    ends_early: bool,
}

getters! { Plan {
    /// Number of elements.
    n: u32,
    /// The key and payload of an element.
    shape: Shape,
    /// Elements that the array must hold: n, or more where the plan pads.
    room: u32,
    /// Elements that the second array must hold; 0 if none is needed.
    other_room: u32,
    /// True if the plan consists of phases of odd-even sort, which may end after two phases without a swap.
    ends_early: bool,
} }

impl Plan {
    /// Plans a sort of `n` elements on a device with these `limits`.
    ///
    /// # Errors
    ///
    /// `n` exceeds a limit of the device or of 32-bit positions; the algorithm has no such variant.
    pub fn new(
        algorithm: Algorithm,
        variant: Variant,
        n: usize,
        shape: Shape,
        limits: &Limits,
    ) -> Result<Self, Error> {
        algorithm.variant(Some(variant))?;
        let elements = PlanElements::new(n, shape, limits)?;
        match (algorithm, variant) {
            (Algorithm::OddEven, Variant::Block) if n > 1 => {
                let tile = Tuning::measured(elements.n, shape, limits).tile;
                Self::from_rounds(elements, odd_even::block(elements, tile)?, true)
            }
            (Algorithm::OddEven, Variant::Naive) if n > 1 => {
                Self::from_rounds(elements, odd_even::naive(elements)?, true)
            }
            _ => Self::once(elements, passes(elements, algorithm, variant, shape.payload)?),
        }
    }

    /// Plans a sort in tiles of 2^`tile_log2` elements, even if the device could hold more: a plan of few
    /// elements then has every kind of dispatch that many elements take, and stays readable.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; tiles that no kernel has.
    pub fn in_tiles(
        algorithm: Algorithm,
        variant: Variant,
        n: usize,
        shape: Shape,
        limits: &Limits,
        tile_log2: u32,
    ) -> Result<Self, Error> {
        algorithm.variant(Some(variant))?;
        let elements = PlanElements::new(n, shape, limits)?;
        let small = Limits {
            workgroup_bytes: limits.workgroup_bytes.min(shape.bytes() << tile_log2.min(31)),
            ..*limits
        };
        match (algorithm, variant) {
            (Algorithm::Bitonic, Variant::Fused) => {
                let tile = tuning::small_tile(tile_log2, limits)?;
                // Runs take a third of the tile's bits.
                let run_log2 = tile.log2() / 3;
                Self::fused(n, shape, limits, &Tuning { sort_tile: tile, tile, run_log2, region_log2: 32 })
            }
            (Algorithm::OddEven, Variant::Block) if n > 1 => {
                let tile = tuning::small_tile(tile_log2, limits)?;
                Self::from_rounds(elements, odd_even::block(elements, tile)?, true)
            }
            (Algorithm::Radix, _) => {
                Self::radix(variant, n, shape, limits, &RadixTuning::of_small_tile(tile_log2, limits)?)
            }
            // Tiles of these variants fill workgroup memory.
            _ => Self::new(algorithm, variant, n, shape, &small),
        }
    }

    /// Returns a plan of the bitonic `fused` variant with a custom tuning, for measurements.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; the tuning exceeds the limits, or has larger tiles in passes than it
    /// sorts.
    pub fn fused(n: usize, shape: Shape, limits: &Limits, tuning: &Tuning) -> Result<Self, Error> {
        let elements = PlanElements::new(n, shape, limits)?;
        Self::once(elements, fused::plan(elements, tuning)?)
    }

    /// Returns a plan of the radix sort with a custom tuning, for measurements.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; the tuning exceeds the limits.
    pub fn radix(
        variant: Variant,
        n: usize,
        shape: Shape,
        limits: &Limits,
        tuning: &RadixTuning,
    ) -> Result<Self, Error> {
        Algorithm::Radix.variant(Some(variant))?;
        let elements = PlanElements::new(n, shape, limits)?;
        Self::once(elements, radix::plan(elements, variant, tuning, Radix::digits_in(shape), shape.payload)?)
    }

    /// Returns a plan that merges consecutive sorted runs of these lengths.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; more elements than one merge takes.
    pub fn merge(lengths: &[u32], shape: Shape, limits: &Limits) -> Result<Self, Error> {
        let n = lengths.iter().map(|&length| length as usize).sum();
        let elements = PlanElements::new(n, shape, limits)?;
        Self::once(elements, merge::plan(elements, lengths)?)
    }

    /// Returns a plan of single kernels, each as (kernel, first, count): the kernel on `count` elements
    /// from `first` on. The plan is for tests and measurements of kernels, and need not sort.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; a kernel that does not exist, or that would access elements outside
    /// the arrays.
    pub fn of_kernels(
        n: usize,
        shape: Shape,
        limits: &Limits,
        kernels: impl IntoIterator<Item = (Kernel, u32, u32)>,
    ) -> Result<Self, Error> {
        let elements = PlanElements::new(n, shape, limits)?;
        let dispatch = |(kernel, first, count)| {
            // Counts of earlier dispatches determine the places that these kernels write: they are safe only in
            // whole plans.
            let counts = matches!(kernel, Kernel::Radix(_) | Kernel::Select(_));
            refuse_if([("radix and selection passes run only in their own plans", counts)])?;
            elements.dispatch_on(first, count, kernel)
        };
        Self::once(elements, kernels.into_iter().map(dispatch).collect::<Result<_, _>>()?)
    }

    /// Returns a plan of these dispatches, without repetitions.
    fn once(elements: PlanElements, dispatches: Vec<Dispatch>) -> Result<Self, Error> {
        Self::from_rounds(elements, vec![Round { dispatches, times: 1 }], false)
    }

    /// Makes a plan; no other constructor exists. With `ends_early`, the dispatches are phases of odd-even sort.
    ///
    /// # Errors
    ///
    /// A dispatch reads missing elements; the arrays exceed a limit.
    fn from_rounds(elements: PlanElements, mut rounds: Vec<Round>, ends_early: bool) -> Result<Self, Error> {
        let PlanElements { n, shape, limits } = elements;
        rounds.retain(|round| round.times > 0 && !round.dispatches.is_empty());
        // For the array of the elements, and for the other array.
        let (mut there, mut room) = ([u64::from(n), 0], [u64::from(n), 0]);
        let mut side = 0;
        for round in &rounds {
            let began = side;
            // The second repetition starts from the state that the first one left, like all later
            // repetitions.
            for repetition in 0..round.times.min(2) {
                let has_moved = repetition > 0 && side != began;
                refuse_if([("a repeated pass must end in the array in which it began", has_moved)])?;
                for dispatch in &round.dispatches {
                    let access = dispatch.access();
                    let what = "elements to read from those written before";
                    at_most([(what, access.reads, there[side])])?;
                    let written = if access.to_other { 1 - side } else { side };
                    if access.to_other {
                        let what = "elements before the first in the other array";
                        at_most([(what, dispatch.first().into(), there[written])])?;
                    }
                    if access.changes_sides {
                        side = written;
                        there[side] = access.writes;
                    }
                    there[written] = there[written].max(access.writes);
                    room[written] = room[written].max(access.writes);
                }
            }
        }
        let dispatches = rounds.iter().flat_map(|round| &round.dispatches);
        let aux_buffers = merged(dispatches.flat_map(Dispatch::aux_buffers));
        let [room, other_room] = room.map(|room| checked_size(room as usize, shape, limits));
        for (_, words) in &aux_buffers {
            check_bytes(words * 4, limits)?;
        }
        let (room, other_room) = (room?, other_room?);
        Ok(Self { n, shape, rounds, room, other_room, aux_buffers, ends_early })
    }

    /// Returns the first `count` dispatches alone, to inspect intermediate states. If several dispatches write to the
    /// other array before the next one finds the elements there, the interpreter has another state between them.
    #[must_use]
    pub fn prefix(&self, count: u64) -> Self {
        let dispatches = self.dispatches().take(count as usize).copied().collect();
        // The whole plan accesses at least the same elements.
        Self { rounds: vec![Round { dispatches, times: 1 }], ..self.clone() }
    }

    /// Returns this plan repeated `times` times, to measure short plans.
    ///
    /// # Errors
    ///
    /// A repetition lacks elements, as after a reduction; more dispatches than 32 bits count.
    pub fn repeated(&self, times: u32) -> Result<Self, Error> {
        let dispatches = self.dispatch_count().saturating_mul(times.into());
        at_most([("dispatches in a plan", dispatches, u32::MAX.into())])?;
        let rounds = match &self.rounds[..] {
            [Round { dispatches, times: once }] => {
                vec![Round { dispatches: dispatches.clone(), times: once * u64::from(times) }]
            }
            rounds => vec![rounds; times as usize].concat(),
        };
        // The arrays stay as checked before.
        let elements = PlanElements { n: self.n, shape: self.shape, limits: &Limits::CPU };
        Self::from_rounds(elements, rounds, self.ends_early)
    }

    /// Returns this plan for callers of the payload alone: the plan may leave keys in any order.
    #[must_use]
    pub fn without_keys(mut self) -> Self {
        self.rounds.iter_mut().flat_map(|round| &mut round.dispatches).for_each(Dispatch::drop_keys);
        self
    }

    /// Returns this plan for elements with an existing iota, which may begin at any number.
    #[must_use]
    pub fn after_iota(mut self) -> Self {
        self.rounds.iter_mut().flat_map(|round| &mut round.dispatches).for_each(Dispatch::pass_through);
        self
    }

    /// Returns true if the plan needs iota as payload.
    pub fn needs_iota(&self) -> bool {
        let iota = |dispatch: &Dispatch| match dispatch.kernel() {
            Kernel::Radix(radix) => radix.iota,
            Kernel::Select(select) => select.iota,
            _ => false,
        };
        self.shape.payload && !self.distinct_dispatches().any(iota)
    }

    /// Returns the buffers that kernels bind besides keys and payload, with the words that each must hold.
    pub fn aux_buffers(&self) -> &[(AuxBuffer, u64)] {
        &self.aux_buffers
    }

    /// Returns every dispatch in order, with repetitions.
    pub fn dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.rounds.iter().flat_map(|round| (0..round.times).flat_map(|_| &round.dispatches))
    }

    /// Returns groups of dispatches with the number of their repetitions, in order.
    pub fn rounds(&self) -> impl Iterator<Item = (&[Dispatch], u64)> {
        self.rounds.iter().map(|round| (&round.dispatches[..], round.times))
    }

    /// Returns every dispatch, without repetitions.
    pub fn distinct_dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.rounds.iter().flat_map(|round| &round.dispatches)
    }

    /// Returns the number of dispatches, with repetitions.
    pub fn dispatch_count(&self) -> u64 {
        self.rounds.iter().map(|round| round.times * round.dispatches.len() as u64).sum()
    }

    /// Returns the bytes of device memory read and written in total, at most [`u64::MAX`].
    pub fn bytes_moved(&self) -> u64 {
        let round = |round: &Round| round.dispatches.iter().map(Dispatch::bytes_moved).sum::<u64>();
        self.rounds.iter().map(|r| r.times.saturating_mul(round(r))).fold(0, u64::saturating_add)
    }

    /// Returns the bytes moved by the first `dispatches` dispatches, for a sort that ended early.
    pub fn bytes_moved_by(&self, dispatches: u64) -> u64 {
        // The omitted phases are like the performed phases.
        let planned = u128::from(self.dispatch_count().max(1));
        (u128::from(self.bytes_moved()) * u128::from(dispatches) / planned) as u64
    }
}

/// Returns the passes of a sort without repetitions. With `iota`, the first radix pass writes it as payload.
fn passes(
    elements: PlanElements,
    algorithm: Algorithm,
    variant: Variant,
    iota: bool,
) -> Result<Vec<Dispatch>, Error> {
    match (algorithm, variant) {
        _ if elements.n < 2 => Ok(Vec::new()),
        (Algorithm::Bitonic, Variant::Fused) => fused::measured(elements),
        (Algorithm::Bitonic, Variant::LocalGlobal) => bitonic::local_global(elements),
        (Algorithm::Bitonic, Variant::Transpose) => transpose::plan(elements),
        (Algorithm::Bitonic, Variant::Naive) => bitonic::naive(elements),
        (Algorithm::Radix, _) => {
            let tuning = RadixTuning::measured(elements.shape, elements.limits)?;
            radix::plan(elements, variant, &tuning, Radix::digits_in(elements.shape), iota)
        }
        _ => Err(NoVariant { algorithm, variant }.into()),
    }
}

/// Returns each auxiliary buffer once, with the maximum number of words of its name.
pub fn merged(aux_buffers: impl Iterator<Item = (AuxBuffer, u64)>) -> Vec<(AuxBuffer, u64)> {
    let mut merged: Vec<(AuxBuffer, u64)> = Vec::new();
    for (aux, words) in aux_buffers {
        match merged.iter_mut().find(|(known, _)| known.name == aux.name) {
            Some((_, most)) => *most = words.max(*most),
            None => merged.push((aux, words)),
        }
    }
    merged
}

/// Returns the number of elements as a u32, for kernels.
///
/// # Errors
///
/// Fails for more elements than 32-bit positions can address, or than a buffer or a binding holds.
fn checked_size(n: usize, shape: Shape, limits: &Limits) -> Result<u32, Error> {
    at_most([("elements in one sort", n as u64, u32::MAX.into())])?;
    check_bytes(n as u64 * shape.key_bytes(), limits)?;
    // At most the largest u32.
    Ok(n as u32)
}

fn check_bytes(bytes: u64, limits: &Limits) -> Result<(), Error> {
    at_most([
        ("bytes in one binding", bytes, limits.binding_bytes),
        ("bytes in one buffer", bytes, limits.buffer_bytes),
    ])
}
