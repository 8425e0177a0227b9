//! Plans for a caller's elements, which become keys as the first pass reads them.

use super::{
    Algorithm, KeyTransform, Limits, Plan, RadixTuning, Shape, Variant, checked_size, default_variant, radix,
    segments, select, tuning,
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
    /// Its variant.
    pub variant: Variant,
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
        let variant = variant.unwrap_or_else(|| default_variant(Algorithm::Radix, limits));
        let variant = Algorithm::Radix.variant(Some(variant))?;
        Ok(Self { shape, tuning: RadixTuning::of_any(shape, limits)?, variant, transform })
    }

    /// A plan of the radix sort, for up to so many elements.
    ///
    /// # Errors
    ///
    /// As for [`Plan::radix`].
    pub fn sort(&self, capacity: u32, limits: &Limits) -> Result<Plan, Error> {
        let &Self { shape, ref tuning, variant, transform } = self;
        // Where there may be two, there may be none, too.
        let n = checked_size(capacity.max(2) as usize, shape, limits)?;
        let digits = transform.digits();
        self.plan(n, limits, radix::plan(variant, n, shape, limits, tuning, digits, shape.payload)?)
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

    /// A plan that sorts segments, each by itself, once the device knows them. With `iota` it
    /// writes the positions in them, else it moves the caller's words. If all of them `are_long`,
    /// it has no passes for those that fit tiles.
    ///
    /// # Errors
    ///
    /// As for [`Plan::radix`].
    pub fn segments(&self, n: u32, limits: &Limits, iota: bool, are_long: bool) -> Result<Plan, Error> {
        let n = checked_size(n as usize, self.shape, limits)?;
        self.plan(n, limits, segments::plan(self, n, limits, iota, are_long)?)
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
