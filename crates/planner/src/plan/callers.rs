//! Plans for a caller's elements, which become keys as the first pass reads them.

use std::ops::RangeInclusive;

use super::{
    Algorithm, KeyTransform, LEADING_FROM, Limits, Plan, RadixTuning, Shape, Variant, best_variant,
    checked_size, leading, radix, segments, select, tuning,
};
use crate::error::Error;
use crate::kernels::{Batch, Dispatch};

/// What plans for elements of one kind depend on, beside their number and the device's limits.
#[derive(Clone, Copy, Debug)]
pub struct Callers {
    /// The key and payload of an element.
    pub shape: Shape,
    /// The choices of the radix sort.
    pub tuning: RadixTuning,
    /// Its variant, if it is asked for.
    pub variant: Option<Variant>,
    /// How elements are seen as keys.
    pub transform: KeyTransform,
}

impl Callers {
    /// Elements that are keys alone or have a payload, sorted by this variant, or by the best on a
    /// device with these limits.
    ///
    /// # Errors
    ///
    /// A variant of another algorithm; limits that no radix sort keeps to.
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
        Ok(Self { shape, tuning: RadixTuning::of_any(shape, limits)?, variant, transform })
    }

    /// A plan of the radix sort, for up to so many elements.
    ///
    /// # Errors
    ///
    /// As for [`Plan::radix`].
    pub fn sort(&self, capacity: u32, limits: &Limits) -> Result<Plan, Error> {
        self.sort_by(self.variant_for(capacity, limits), capacity, limits)
    }

    /// The plans that are better than this one for fewer elements, each with the most of those, from the
    /// fewest.
    ///
    /// # Errors
    ///
    /// As for [`Plan::radix`].
    pub fn sorts_of_fewer(&self, capacity: u32, limits: &Limits) -> Result<Vec<(u32, Plan)>, Error> {
        let single = self.sort_in_tile(capacity, limits)?;
        let few = self.variant_for(0, limits);
        let is_other = few != self.variant_for(capacity, limits);
        let few = is_other.then(|| self.sort_by(few, capacity, limits)).transpose()?;
        let few = few.map(|plan| (LEADING_FROM - 1, plan));
        Ok(single.map(|plan| (plan.n(), plan)).into_iter().chain(few).collect())
    }

    /// The plan by which one workgroup sorts all elements: as many as there may be, or as it has room
    /// for. `None` where there is none, or a variant is asked for.
    ///
    /// # Errors
    ///
    /// As for [`Plan::radix`].
    pub fn sort_in_tile(&self, capacity: u32, limits: &Limits) -> Result<Option<Plan>, Error> {
        let tile = RadixTuning::single(limits).filter(|_| self.variant.is_none());
        let Some(tile) = tile else { return Ok(None) };
        let most = tile.size().min(capacity.max(2));
        let &Self { shape, transform, .. } = self;
        let pass = radix::single(tile, most, shape, limits, transform.digits(), shape.payload)?;
        self.plan(most, limits, vec![pass]).map(Some)
    }

    fn variant_for(&self, n: u32, limits: &Limits) -> Variant {
        let variant =
            self.variant.unwrap_or_else(|| best_variant(Algorithm::Radix, n as usize, self.shape, limits));
        // Windows are sorted by whole keys.
        let is_whole = u64::from(self.transform.bits) == 8 * self.shape.key_bytes();
        if variant == Variant::Leading && !is_whole { Variant::Onesweep } else { variant }
    }

    fn sort_by(&self, variant: Variant, capacity: u32, limits: &Limits) -> Result<Plan, Error> {
        let &Self { shape, ref tuning, transform, .. } = self;
        // Where there may be two, there may be none, too.
        let n = checked_size(capacity.max(2) as usize, shape, limits)?;
        let digits = transform.digits();
        self.plan(n, limits, radix::plan(variant, n, shape, limits, tuning, digits, shape.payload)?)
    }

    /// What the device takes for the number of tiles in a chunk, of a plan for so many elements.
    pub fn chunk(&self, capacity: u32, limits: &Limits) -> u32 {
        match self.variant_for(capacity, limits) {
            Variant::Leading => leading::seed(),
            _ => self.tuning.chunk(capacity),
        }
    }

    /// A plan that sorts rows of this length, each by itself. With `iota` it writes the positions
    /// in them, else it moves the caller's words.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`]; rows that fit no tile.
    pub fn rows(&self, rows: u32, length: u32, limits: &Limits, iota: bool) -> Result<Plan, Error> {
        let n = checked_size(rows as usize * length as usize, self.shape, limits)?;
        let batch = Batch::new(tuning::row_tile(length, limits)?, length, iota)?;
        self.plan(n, limits, vec![Dispatch::new(batch, 0, n, self.shape, limits)?])
    }

    /// A plan that sorts segments of such lengths, each by itself, once the device knows them; others
    /// stay as they are. With `iota` it writes the positions in them, else it moves the caller's words.
    ///
    /// # Errors
    ///
    /// As for [`Plan::radix`].
    pub fn segments(
        &self,
        n: u32,
        limits: &Limits,
        iota: bool,
        lengths: &RangeInclusive<u32>,
    ) -> Result<Plan, Error> {
        let n = checked_size(n as usize, self.shape, limits)?;
        self.plan(n, limits, segments::plan(self, n, limits, iota, lengths)?)
    }

    /// A plan that sorts so many segments in the order of their offsets, where none has more than `longest`
    /// elements; otherwise as [`Self::segments`]. `None` where lists of them are better, since most are
    /// far shorter.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`].
    pub fn short_segments(
        &self,
        n: u32,
        limits: &Limits,
        iota: bool,
        segments: u32,
        longest: u32,
    ) -> Result<Option<Plan>, Error> {
        let n = checked_size(n as usize, self.shape, limits)?;
        let dispatch = segments::by_offsets(self.shape, n, limits, iota, segments, longest)?;
        dispatch.map(|dispatch| self.plan(n, limits, vec![dispatch])).transpose()
    }

    /// A plan that leaves the first `k` at the beginning, in the order in which they came, once the
    /// device knows how many there are: no more than `n`. `None` where sorting all is faster.
    ///
    /// # Errors
    ///
    /// As for [`Plan::new`].
    pub fn top(&self, k: u32, n: u32, limits: &Limits) -> Result<Option<Plan>, Error> {
        if !tuning::selects(k as usize, n as usize, self.shape, limits) {
            return Ok(None);
        }
        let mut passes = select::plan(k, n, self.shape, limits, self.transform.bits)?;
        passes.push(select::bring_back(k, n, self.shape, limits)?);
        self.plan(n, limits, passes).map(Some)
    }

    fn plan(&self, n: u32, limits: &Limits, passes: Vec<Dispatch>) -> Result<Plan, Error> {
        let passes = passes.into_iter().map(|dispatch| dispatch.transformed_by(self.transform)).collect();
        Plan::once(n, self.shape, limits, passes)
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
            let callers = |variant| Callers::new(transform, true, variant, &limits).unwrap();
            let plan = callers(None).sort_in_tile(u32::MAX, &limits).unwrap().unwrap();
            assert_eq!((plan.n(), plan.dispatches().count()), (most, 1), "{smallest}");
            let few = callers(None).sort_in_tile(9, &limits).unwrap().unwrap();
            assert_eq!(few.n(), 9);
            assert!(callers(Some(Variant::Onesweep)).sort_in_tile(9, &limits).unwrap().is_none());
            let item = |position: u32| Pair { key: position.wrapping_mul(0x9E37_79B9) >> 20, position };
            let mut sorted: Vec<Pair<u32>> = (0..most).map(item).collect();
            let mut expected = sorted.clone();
            expected.sort_by_key(|item| item.key);
            let last = Pair { key: u32::MAX, position: u32::MAX };
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
            let callers = Callers::new(transform, true, None, &limits).unwrap();
            let fewer = callers.sorts_of_fewer(capacity, &limits).unwrap();
            assert_eq!(leads(&callers.sort(capacity, &limits).unwrap()), expected, "{element:?} {bits}");
            let most: Vec<u32> = fewer.iter().map(|(most, _)| *most).collect();
            let single = fewer[0].1.n();
            assert_eq!(most, if expected { vec![single, many - 1] } else { vec![single] });
            assert!(single >= 2048 && fewer[0].1.dispatches().count() == 1);
            assert!(!fewer.iter().any(|(_, plan)| leads(plan)));
        }
    }
}
