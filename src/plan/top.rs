//! The first k of the sorted elements, without a sort of all of them.
//!
//! Every pass reads the remaining elements tile by tile and leaves of each a short *run*, a fixed number of
//! slots, among which are the tile's best k. The elements shrink by tile over run, thirty times for k = 100,
//! so that nearly everything happens in the first pass, which reads each element once:
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
//! are not greater than it. What is less than this bound goes into the run, and the bound itself as often as
//! there is room below k. In random data that is half again as many elements as k. Where it is more than the run
//! has slots (the small ones may all be in few invocations), the bound is found bit by bit instead: the
//! k-th element itself, below which there are less than k. That takes a few times as long and never more.

use super::{Algorithm, Plan, Round, Tuning, Variant, fused, tuning};
use crate::device::Limits;
use crate::error::Error;
use crate::kernels::{Dispatch, Kernel, Shape, Top, TopTuning};

impl Plan {
    /// Plans what leaves the first `k` of `n` sorted elements at the beginning, and anything after them: for few
    /// of many, a reduction; else a whole sort.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`].
    pub fn top(k: usize, n: usize, shape: Shape, limits: &Limits) -> Result<Self, Error> {
        let k = k.min(n).max(1);
        match u32::try_from(k).ok().and_then(|k| tuning::top(k, shape, limits)) {
            Some(tuning) => Self::top_tuned(k, n, shape, limits, tuning, tuning::TOP_REST_LOG2),
            None => Self::new(Algorithm::Bitonic, Variant::Fused, n, shape, limits),
        }
    }

    /// [`Plan::top`] with a tuning of one's own, to measure what it buys: passes while there are more than
    /// 2^`rest_log2` elements, and a sort of those.
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
        rest_log2: u32,
    ) -> Result<Self, Error> {
        let n = super::checked_size(n, shape, limits)?;
        if rest_log2 > 15 {
            return Err(Error::limit("(as a power of two) of a tuning", rest_log2.into(), 15));
        }
        // At most n, which is a u32.
        let kernel = Top { tuning, k: k.min(n as usize).max(1) as u32 };
        // Of less than a run a pass would leave more than there was.
        let rest = 1 << rest_log2.max(tuning.slots_log2());
        let mut left = n;
        let mut dispatches = Vec::new();
        while left > rest {
            dispatches.push(Dispatch::new(kernel, 0, left, shape, limits)?);
            left = tuning.kept(left) as u32;
        }
        if left > 1 {
            dispatches.extend(fused::plan(left, shape, limits, &Tuning::measured(left, shape, limits))?);
        }
        Self::from_rounds(n, shape, limits, vec![Round { dispatches, times: 1 }], false)
    }

    /// Whether elements are reduced to the best ones, and not all sorted.
    #[must_use]
    pub fn reduces(&self) -> bool {
        let mut dispatches = self.rounds.iter().flat_map(|round| &round.dispatches);
        dispatches.any(|dispatch| matches!(dispatch.kernel(), Kernel::Top(_)))
    }
}
