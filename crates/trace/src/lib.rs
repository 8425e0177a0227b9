//! Shows a sort pass by pass, from its plan: as a list, a picture or JSON. No device is needed.
//!
//! ```text
//! plan ──────────── Pass: what a dispatch is ───┬──> list      text for a terminal
//!   │                                           ├──> json
//!   └─ interpreter ─ Played: what it left ──────┴──> network   Knuth's diagram in characters
//!                                                └─> picture   SVG: diagram and heat map
//! ```
//!
//! Pass and Played hold all that a picture shows: comparisons from the steps that kernels declare, colours
//! from the elements that the CPU interpreter leaves. Tests compare the comparisons with the elements.
//!
//! An internal part of `gpusort`: any release may change all of it.

mod heat;
mod json;
mod list;
mod network;
mod picture;
mod played;
mod words;

pub use json::{line as json, without_nulls};
pub use list::list;
pub use network::network;
pub use picture::{Panel, Scheme, Style, svg};
pub use played::{Compared, Layer, Moment, Played};
pub use words::of_step;

use gpusort_order::network::{Step, stages};
use gpusort_order::{Algorithm, ElementType, Limits, Variant};
use gpusort_planner::plan::{Dispatch, Fused, FusedWork, Kernel, Local, Plan};
use serde::Serialize;

use gpusort_base::device::AdapterInfo;

/// The most elements whose comparisons are drawn.
pub const FEW: usize = 64;

/// The rank of padding.
const FILLER: u32 = u32::MAX;

/// The most elements in a picture.
pub const MOST: usize = 1 << 20;

/// A plan and its parameters.
pub struct Trace {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The division into passes.
    pub variant: Variant,
    /// The type of the elements.
    pub element: ElementType,
    /// The number of elements to sort to the front, if not all.
    pub first: Option<usize>,
    /// Elements in a tile, if given.
    pub tile: Option<u64>,
    /// The limits of the device that the plan is for.
    pub limits: Limits,
    /// The passes.
    pub plan: Plan,
    /// Times on a device, if measured.
    pub measured: Option<Measured>,
}

/// Times of a plan on a device.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The device.
    pub device: AdapterInfo,
    /// The time of each dispatch, in milliseconds: medians of several runs, less `timestamp`.
    pub passes: Vec<f64>,
    /// The cost of the timestamp after each dispatch, in milliseconds; 0 if noise hides it.
    pub timestamp: f64,
    /// The time of the whole sort without timestamps between dispatches, in milliseconds: a median,
    /// too.
    pub sort: f64,
    /// The number of runs.
    pub runs: usize,
    /// Speed of a copy within the device: bytes read and written per second.
    pub copy: f64,
}

impl Measured {
    /// The time of all dispatches together, in milliseconds.
    fn all_passes(&self) -> f64 {
        // The sum of nothing would be the negative zero.
        self.passes.iter().fold(0.0, |sum, ms| sum + ms)
    }

    /// The bandwidth of `bytes` in `ms` milliseconds, relative to a copy's.
    fn part_of_copy(&self, bytes: u64, ms: f64) -> Option<f64> {
        (ms > 0.0 && self.copy > 0.0).then(|| bytes as f64 / (ms / 1e3) / self.copy)
    }
}

/// One dispatch.
#[derive(Clone, Debug, Serialize)]
pub struct Pass {
    /// Its place among the dispatches, from 1.
    pub number: u64,
    /// The place as text; for a pass that stands for several dispatches, all their places.
    #[serde(skip)]
    numbers: String,
    /// The file of its kernel.
    pub kernel: &'static str,
    /// A description in words.
    pub what: String,
    /// The digit, counted from the lowest, if it handles one.
    pub digit: Option<u32>,
    /// The first of its elements, and how many there are.
    pub first: u32,
    /// See `first`.
    pub count: u32,
    /// Workgroups launched.
    pub workgroups: u64,
    /// Invocations in each.
    pub invocations: u32,
    /// Elements that a workgroup holds.
    pub tile: Option<u64>,
    /// The memory that holds them.
    pub held_in: Option<&'static str>,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u64,
    /// The network's steps that it performs.
    pub steps: usize,
    /// Comparisons of two elements in them.
    pub comparisons: u64,
    /// Bytes of device memory read and written.
    pub bytes_moved: u64,
    /// Milliseconds on the device.
    pub ms: Option<f64>,
    /// Its bandwidth relative to a copy's.
    pub part_of_copy: Option<f64>,
}

/// The steps of a dispatch that compare its elements. A tile may be larger than the array; its
/// kernel then also performs stages of larger blocks, which find all in order and are left out. A
/// tile reduced to its best elements goes through no network.
fn steps(dispatch: &Dispatch) -> Vec<Step> {
    let count = dispatch.count();
    let mut steps = match dispatch.kernel() {
        Kernel::Top(_) => Vec::new(),
        kernel => kernel.steps(),
    };
    if let Kernel::Fused(Fused { work: FusedWork::Sort, .. }) | Kernel::Local(Local { sorts: true, .. }) =
        dispatch.kernel()
    {
        let is_beyond =
            |step: &Step| matches!(*step, Step::Mirror { block_log2 } if block_log2 > stages(count));
        steps.truncate(steps.iter().position(is_beyond).unwrap_or(steps.len()));
    }
    steps.retain(|step| step.pairs(count.into()) > 0);
    steps
}

/// The comparisons of pairs in a dispatch.
fn comparisons(dispatch: &Dispatch) -> u64 {
    steps(dispatch).iter().map(|step| step.pairs(dispatch.count().into())).sum()
}

/// Steps of the network and comparisons in all passes. Repeated passes are counted once and
/// multiplied, since there may be millions.
pub fn work(plan: &Plan) -> (u64, u64) {
    let (mut all_steps, mut all_comparisons) = (0, 0);
    for (dispatches, times) in plan.rounds() {
        for dispatch in dispatches {
            all_steps += times * steps(dispatch).len() as u64;
            all_comparisons += times * comparisons(dispatch);
        }
    }
    (all_steps, all_comparisons)
}

impl Trace {
    /// The dispatches, in order.
    pub fn passes(&self) -> impl Iterator<Item = Pass> {
        (1..).zip(self.plan.dispatches()).map(|(number, dispatch)| self.pass(number, dispatch, 1, 1))
    }

    /// This dispatch and its repetitions, `count` in all, `each` dispatches apart: with all their bytes and
    /// all their time.
    fn pass(&self, number: u64, dispatch: &Dispatch, each: usize, count: u64) -> Pass {
        let kernel = dispatch.kernel();
        let tiles = kernel.tiles();
        let measured = self.measured.as_ref();
        let ms = measured.map(|measured| {
            let own = measured.passes.iter().skip(number as usize - 1).step_by(each);
            own.take(count as usize).sum()
        });
        let bytes_moved = count.saturating_mul(dispatch.bytes_moved());
        Pass {
            number,
            numbers: gpusort_base::human::grouped(number),
            kernel: kernel.name(),
            what: words::of(dispatch),
            digit: words::digit(dispatch),
            first: dispatch.first(),
            count: dispatch.count(),
            workgroups: dispatch.grid().workgroups(),
            invocations: dispatch.pipeline().workgroup_size(),
            tile: tiles.map(|tiles| tiles.size()),
            held_in: tiles.map(|tiles| tiles.held),
            workgroup_bytes: kernel.workgroup_bytes(self.plan.shape()),
            steps: steps(dispatch).len(),
            comparisons: comparisons(dispatch),
            bytes_moved,
            ms,
            part_of_copy: measured.zip(ms).and_then(|(measured, ms)| measured.part_of_copy(bytes_moved, ms)),
        }
    }

    /// The name of its network: `bitonic network, 16 wires`.
    pub fn network_title(&self) -> String {
        let classic = if self.variant == Variant::Transpose { "classic " } else { "" };
        let wires = gpusort_base::human::counted(self.plan.room().into(), "wire", "wires");
        format!("{classic}{} network, {wires}", self.algorithm)
    }

    /// The title: `bitonic fused, 16 u32`.
    pub fn title(&self) -> String {
        let n = gpusort_base::human::grouped(self.plan.n());
        let positions = if self.plan.shape().payload { " with positions" } else { "" };
        let first = self.first.map(|first| format!(", the first {}", gpusort_base::human::grouped(first)));
        let (algorithm, variant) = (self.algorithm, self.variant);
        format!("{algorithm} {variant}, {n} {}{positions}{}", self.element, first.unwrap_or_default())
    }
}
