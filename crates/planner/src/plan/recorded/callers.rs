//! Plans for a caller's elements, which become keys as the first pass reads them.

use std::ops::RangeInclusive;

use crate::error::Error;
use crate::kernels::{Batch, Dispatch, Radix, RadixWork};
use crate::plan::{
    Algorithm, KeyTransform, LEADING_FROM, Limits, Plan, PlanElements, RadixTuning, Shape, Variant,
    best_variant, leading, radix, segments, select, tuning,
};

/// The settings of plans for a caller's elements on one device.
#[derive(Clone, Copy, Debug)]
pub struct CallerPlans {
    /// The key and payload of an element.
    pub shape: Shape,
    /// The choices of the radix sort.
    pub tuning: RadixTuning,
    /// The requested variant of the radix sort; `None` for the best variant.
    pub variant: Option<Variant>,
    /// The map from elements to keys.
    pub transform: KeyTransform,
    /// The limits of the device.
    pub limits: Limits,
}

impl CallerPlans {
    /// Returns settings for elements with or without a payload, sorted by this variant or by the device's best one.
    ///
    /// # Errors
    ///
    /// Fails for a variant of another algorithm, or for limits that no radix sort keeps.
    pub fn new(
        transform: KeyTransform,
        payload: bool,
        variant: Option<Variant>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let shape = Shape::of(transform.element, payload);
        if let Some(variant) = variant {
            Algorithm::Radix.variant(Some(variant))?;
        }
        let tuning = RadixTuning::of_any(shape, limits)?;
        Ok(Self { shape, tuning, variant, transform, limits: *limits })
    }

    /// Returns a plan of the radix sort for at most `capacity` elements.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::radix`].
    pub fn sort(&self, capacity: u32) -> Result<Plan, Error> {
        self.sort_by(self.variant_for(capacity), capacity)
    }

    /// Returns the fastest plans for at most `capacity` elements, each with its maximum number of elements, in
    /// ascending order: the last is [`Self::sort`].
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::radix`].
    pub fn sorts(&self, capacity: u32) -> Result<Vec<(u32, Plan)>, Error> {
        let single = self.sort_in_tile(capacity)?;
        let mut sorts: Vec<_> = single.into_iter().map(|plan| (plan.n(), plan)).collect();
        let few = self.variant_for(0);
        if few != self.variant_for(capacity) {
            sorts.push((LEADING_FROM - 1, self.sort_by(few, capacity)?));
        }
        sorts.push((capacity, self.sort(capacity)?));
        Ok(sorts)
    }

    /// Returns the plan for a sort of at most `capacity` elements in one workgroup, limited to the elements of its
    /// tile. `None` if the device has no such tile, or if the caller requested a variant.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::radix`].
    fn sort_in_tile(&self, capacity: u32) -> Result<Option<Plan>, Error> {
        let tile = RadixTuning::single(&self.limits).filter(|_| self.variant.is_none());
        let Some(tile) = tile else { return Ok(None) };
        let elements = self.elements(tile.size().min(capacity.max(2)))?;
        let pass = Radix::new(tile, RadixWork::Tile, self.transform.digits(), self.shape.payload);
        self.plan(elements, vec![elements.dispatch(pass)?]).map(Some)
    }

    fn variant_for(&self, n: u32) -> Variant {
        let best = || best_variant(Algorithm::Radix, n as usize, self.shape, &self.limits);
        let variant = self.variant.unwrap_or_else(best);
        // Windows are sorted by whole keys.
        let is_whole = u64::from(self.transform.bits) == 8 * self.shape.key_bytes();
        if variant == Variant::Leading && !is_whole { Variant::Onesweep } else { variant }
    }

    fn sort_by(&self, variant: Variant, capacity: u32) -> Result<Plan, Error> {
        // A plan of fewer elements has no passes.
        let elements = self.elements(capacity.max(2))?;
        let (digits, iota) = (self.transform.digits(), self.shape.payload);
        self.plan(elements, radix::plan(elements, variant, &self.tuning, digits, iota)?)
    }

    /// Returns the value that kernels read as tiles per chunk, in a plan for `capacity` elements: for `leading`, the
    /// seed of its samples.
    pub fn chunk(&self, capacity: u32) -> u32 {
        match self.variant_for(capacity) {
            Variant::Leading => leading::seed(),
            _ => self.tuning.chunk(capacity),
        }
    }

    /// Returns a plan that sorts rows of this length, each by itself. With `iota`, the plan writes positions within
    /// rows; otherwise it moves the caller's payload.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`]; rows that fit no tile.
    pub fn rows(&self, rows: u32, length: u32, iota: bool) -> Result<Plan, Error> {
        let elements = PlanElements::new(rows as usize * length as usize, self.shape, &self.limits)?;
        let batch = Batch::new(tuning::row_tile(length, &self.limits)?, length, iota)?;
        self.plan(elements, vec![elements.dispatch(batch)?])
    }

    /// Returns a plan that sorts segments of these lengths, each by itself, once the device knows the segments.
    /// Other segments stay unchanged. With `iota`, the plan writes positions within segments; otherwise it
    /// moves the caller's payload.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::radix`].
    pub fn segments(&self, n: u32, iota: bool, lengths: &RangeInclusive<u32>) -> Result<Plan, Error> {
        let elements = self.elements(n)?;
        self.plan(elements, segments::plan(elements, self, iota, lengths)?)
    }

    /// Returns a plan that sorts this number of segments in the order of their offsets, if no segment has more
    /// than `longest` elements; otherwise like [`Self::segments`]. `None` if lists of segments are better,
    /// because most segments are far shorter.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`].
    pub fn short_segments(
        &self,
        n: u32,
        iota: bool,
        segments: u32,
        longest: u32,
    ) -> Result<Option<Plan>, Error> {
        let elements = self.elements(n)?;
        let dispatch = segments::by_offsets(elements, iota, segments, longest)?;
        dispatch.map(|dispatch| self.plan(elements, vec![dispatch])).transpose()
    }

    /// Returns a plan that leaves the first `k` of at most `n` elements at the beginning, in their original order.
    /// `None` if a sort of all elements is faster.
    ///
    /// # Errors
    ///
    /// The errors of [`Plan::new`].
    pub fn top(&self, k: u32, n: u32) -> Result<Option<Plan>, Error> {
        if !tuning::selects(k as usize, n as usize, self.shape, &self.limits) {
            return Ok(None);
        }
        let elements = self.elements(n)?;
        let mut passes = select::plan(elements, k, self.transform.bits)?;
        passes.push(select::bring_back(elements, k)?);
        self.plan(elements, passes).map(Some)
    }

    fn elements(&self, n: u32) -> Result<PlanElements<'_>, Error> {
        PlanElements::new(n as usize, self.shape, &self.limits)
    }

    fn plan(&self, elements: PlanElements, passes: Vec<Dispatch>) -> Result<Plan, Error> {
        let passes = passes.into_iter().map(|dispatch| dispatch.transformed_by(self.transform)).collect();
        Plan::once(elements, passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Pair;
    use crate::kernels::{Kernel, RadixWork};
    use crate::key::ElementType;
    use crate::limits::Subgroups;

    #[test]
    fn few_elements_are_sorted_in_one_pass() {
        let subgroups = |smallest| Some(Subgroups { smallest, largest: smallest, barrier: true });
        for (smallest, kilobytes, most) in [(32, 48, 4096), (32, 16, 2048), (64, 16, 3584), (4, 48, 1024)] {
            let limits = Limits {
                subgroups: subgroups(smallest),
                workgroup_bytes: kilobytes << 10,
                ..Limits::TYPICAL
            };
            let transform = KeyTransform { element: ElementType::U32, descending: false, begin: 0, bits: 24 };
            let callers = |variant| CallerPlans::new(transform, true, variant, &limits).unwrap();
            let plan = callers(None).sort_in_tile(u32::MAX).unwrap().unwrap();
            assert_eq!((plan.n(), plan.dispatches().count()), (most, 1), "{smallest}");
            let few = callers(None).sort_in_tile(9).unwrap().unwrap();
            assert_eq!(few.n(), 9);
            assert!(callers(Some(Variant::Onesweep)).sort_in_tile(9).unwrap().is_none());
            let item =
                |position: u32| Pair { key: position.wrapping_mul(0x9E37_79B9) >> 20, payload: position };
            let mut sorted: Vec<Pair<u32>> = (0..most).map(item).collect();
            let mut expected = sorted.clone();
            expected.sort_by_key(|item| item.key);
            let last = Pair { key: u32::MAX, payload: u32::MAX };
            plan.dispatches().for_each(|dispatch| dispatch.kernel().perform(&mut sorted, &[], last));
            assert!(sorted == expected);
        }
    }

    #[test]
    fn many_wide_keys_are_sorted_by_leading_digits_and_few_are_not() {
        let subgroups = Some(Subgroups { smallest: 32, largest: 32, barrier: true });
        let limits = Limits { subgroups, fifo_dispatch: true, ..Limits::TYPICAL };
        let leads = |plan: &Plan| {
            plan.dispatches().any(|dispatch| matches!(dispatch.kernel(), Kernel::Radix(radix) if radix.work == RadixWork::Choose))
        };
        let many = LEADING_FROM;
        for (element, bits, fifo_dispatch, capacity, expected) in [
            (ElementType::F64, 64, true, many, true),
            (ElementType::F64, 64, true, many - 1, false),
            (ElementType::U64, 60, true, many, false),
            (ElementType::I64, 64, false, many, false),
            (ElementType::F32, 32, true, many, false),
        ] {
            let limits = Limits { fifo_dispatch, ..limits };
            let transform = KeyTransform { element, descending: false, begin: 0, bits };
            let callers = CallerPlans::new(transform, true, None, &limits).unwrap();
            let mut fewer = callers.sorts(capacity).unwrap();
            assert_eq!(
                fewer.pop().map(|(most, plan)| (most, leads(&plan))),
                Some((capacity, expected)),
                "{element:?} {bits}"
            );
            let most: Vec<u32> = fewer.iter().map(|(most, _)| *most).collect();
            let single = fewer[0].1.n();
            assert_eq!(most, if expected { vec![single, many - 1] } else { vec![single] });
            assert!(single >= 2048 && fewer[0].1.dispatches().count() == 1);
            assert!(!fewer.iter().any(|(_, plan)| leads(plan)));
        }
    }
}
