//! Selects the first k of the sorted elements without sorting all of them.
//!
//! Every pass reads the remaining elements tile by tile and leaves a short *run* for each, a fixed
//! number of slots that contain the tile's best k. The elements shrink by tile size over run size,
//! thirty times for k = 100, so nearly all the work is in the first pass, which reads each element
//! once:
//!
//! ```text
//! 2^26 elements   8192 tiles of 2^13   ->  8192 runs of 2^8
//! 2^21             256 tiles of 2^13   ->   256 runs of 2^8
//! 2^16               8 tiles of 2^13   ->     8 runs of 2^8
//! 2^11             sorted by the `fused` kernels: the first k are the result
//! ```
//!
//! A bound finds a tile's best k. Each invocation takes the minimum of its elements, or of a few
//! groups of them. An element of a certain rank is selected from each of several subsets of these
//! minima, with ranks that add up to k or more: at least k elements are then no greater than the
//! greatest of the selected, the bound. Elements below the bound go into the run, and copies of the
//! bound fill the room below k. In random data this is about 1.5 k elements. If they
//! exceed the slots of the run (a few invocations may hold all small elements), the bound is
//! found bit by bit instead: the k-th element itself, with fewer than k below it. That takes a few
//! times as long, which is the worst case.

use super::{Algorithm, Plan, PlanElements, Variant, fused, select, tuning};
use crate::error::{Error, at_most};
use crate::kernels::{Kernel, Shape, Top, TopTuning};
use crate::limits::Limits;

impl Plan {
    /// Plans a sort that leaves the first `k` of `n` sorted elements at the beginning, and unspecified elements after
    /// them: reductions of tiles for few of many elements, otherwise the faster of a selection and a whole sort.
    /// The bitonic `fused` variant sorts the remainder of reductions, this variant the selected elements.
    /// Variants that no device prefers sort all elements.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; a device with too little memory for the selection may still have enough for a
    /// whole sort.
    pub fn first(
        k: usize,
        n: usize,
        algorithm: Algorithm,
        variant: Variant,
        shape: Shape,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let k = k.min(n).max(1);
        let is_best = variant == algorithm.variants()[0] || algorithm == Algorithm::Radix;
        match (algorithm, u32::try_from(k).ok().and_then(|k| tuning::top(k, shape, limits))) {
            (Algorithm::Bitonic, Some(tuning)) if is_best => {
                Self::top_tuned(k, n, shape, limits, tuning, tuning::TOP_REST_LOG2)
            }
            (Algorithm::Bitonic | Algorithm::Radix, _) if is_best && tuning::selects(k, n, shape, limits) => {
                Self::select(k, n, algorithm, variant, shape, limits)
            }
            _ => Self::new(algorithm, variant, n, shape, limits),
        }
    }

    /// Returns the number of elements that remain for a whole sort in a plan for the first `k` of `n` elements.
    pub fn left_to_sort(k: usize, n: usize, shape: Shape, limits: &Limits) -> usize {
        match k {
            _ if k <= tuning::TOP_MOST as usize => 1,
            _ if tuning::selects(k, n, shape, limits) => k,
            _ => n,
        }
    }

    /// Like [`Plan::first`], but selects even if a sort is faster, for measurements.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; an algorithm of phases.
    pub fn select(
        k: usize,
        n: usize,
        algorithm: Algorithm,
        variant: Variant,
        shape: Shape,
        limits: &Limits,
    ) -> Result<Self, Error> {
        algorithm.variant(Some(variant))?;
        let elements = PlanElements::new(n, shape, limits)?;
        if n == 0 {
            return Self::once(elements, Vec::new());
        }
        // At most `n`, which is a u32.
        let k = k.clamp(1, n) as u32;
        let mut dispatches = select::plan(elements, k, 32 * shape.key_words())?;
        dispatches.extend(super::passes(PlanElements { n: k, ..elements }, algorithm, variant, false)?);
        Self::once(elements, dispatches)
    }

    /// Like [`Plan::first`], with a custom tuning, for measurements: passes while more than 2^`rest_log2` elements
    /// remain, and a sort of the remaining elements.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; the tuning exceeds the limits or does not keep `k`.
    pub fn top_tuned(
        k: usize,
        n: usize,
        shape: Shape,
        limits: &Limits,
        tuning: TopTuning,
        rest_log2: u32,
    ) -> Result<Self, Error> {
        let elements = PlanElements::new(n, shape, limits)?;
        at_most([("for log2 of the rest", rest_log2.into(), 15)])?;
        // At most `n`, which is a u32.
        let kernel = Top { tuning, k: k.min(n).max(1) as u32 };
        // A pass over less than a run would leave more than it read.
        let rest = 1 << rest_log2.max(tuning.slots_log2());
        let mut left = elements;
        let mut dispatches = Vec::new();
        while left.n > rest {
            dispatches.push(left.dispatch(kernel)?);
            left.n = tuning.kept(left.n) as u32;
        }
        dispatches.extend(fused::measured(left)?);
        Self::once(elements, dispatches)
    }

    /// Returns true if this plan reduces the elements to the first ones instead of sorting all elements.
    pub fn reduces(&self) -> bool {
        self.distinct_dispatches()
            .any(|dispatch| matches!(dispatch.kernel(), Kernel::Top(_) | Kernel::Select(_)))
    }
}
