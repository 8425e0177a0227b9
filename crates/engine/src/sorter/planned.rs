//! Chooses the algorithm of a sort on a GPU: the named one, or the fastest for the size, the shape
//! and the device.

use gpusort_order::{Algorithm, Limits, Variant};
use gpusort_planner::plan::{self, Crossovers, Plan, Shape};

use super::Method;
use gpusort_base::error::Error;
use gpusort_base::human::grouped;

/// A planned sort on a GPU.
#[derive(Clone, Debug)]
pub(super) struct PlannedSort {
    /// The passes.
    pub(super) plan: Plan,
    /// The algorithm.
    pub(super) algorithm: Algorithm,
    /// The variant of the algorithm.
    pub(super) variant: Variant,
}

/// The task of a plan: to sort `n` elements, or to bring the `first` of them, at most all, to the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) n: usize,
    pub(super) first: Option<usize>,
    pub(super) shape: Shape,
    pub(super) method: Method,
}

impl Task {
    /// Returns the algorithms, the best first; each serves devices that lack a need of the previous algorithm.
    fn algorithms(self, limits: &Limits, crossovers: &Crossovers) -> Vec<Algorithm> {
        let Task { n, first, shape, method } = self;
        let has =
            |variant| Algorithm::ALL.into_iter().find(|algorithm| algorithm.variants().contains(&variant));
        if let Some(named) = method.algorithm.or_else(|| method.variant.and_then(has)) {
            return vec![named];
        }
        let left = first.map_or(n, |first| Plan::left_to_sort(first, n, shape, limits));
        crossovers.fastest(left, shape)
    }

    /// Returns the plans for a device with these limits, in the order of [`Self::algorithms`]. A selection may
    /// need more memory than a whole sort, usually a second array, so the plan of a whole sort comes last.
    pub(super) fn plans(
        self,
        limits: &Limits,
        crossovers: &Crossovers,
    ) -> impl Iterator<Item = Result<PlannedSort, Error>> {
        let Task { n, first, shape, method } = self;
        let algorithms = self.algorithms(limits, crossovers);
        let whole = algorithms.last().filter(|_| first.is_some()).map(|&last| (last, None));
        algorithms.into_iter().map(move |algorithm| (algorithm, first)).chain(whole).map(
            move |(algorithm, first)| {
                let left = first.map_or(n, |first| Plan::left_to_sort(first, n, shape, limits));
                let best = || plan::best_variant(algorithm, left, shape, limits);
                let variant = method.variant.unwrap_or_else(best);
                let plan = match first {
                    Some(first) => Plan::first(first, n, algorithm, variant, shape, limits)?,
                    None => Plan::new(algorithm, variant, n, shape, limits)?,
                };
                Ok(PlannedSort { plan, algorithm, variant })
            },
        )
    }

    /// Returns the reason for this algorithm, unless the caller named it, or the error of a faster plan.
    pub(super) fn why(
        self,
        ran: Algorithm,
        crossovers: &Crossovers,
        lacked: Option<&Error>,
    ) -> Option<String> {
        let is_open = self.method == Method::default();
        match (crossovers.of(ran, self.shape), lacked) {
            (_, Some(error)) => Some(format!("a faster sort does not fit the GPU: {error}")),
            (Some(from), None) if is_open => {
                Some(format!("{ran} sort is faster from {} elements on", grouped(from)))
            }
            (None, None) if is_open && self.first.is_none() => {
                let below = grouped(crossovers.least(self.shape));
                Some(format!("{ran} sort is faster below {below} elements"))
            }
            _ => None,
        }
    }
}

/// Returns the first plan with room, its room, and the error of the plan before it.
///
/// # Errors
///
/// Returns the error of the last plan, or an error that no other plan would avoid.
pub(super) fn first_that_fits<R>(
    plans: impl IntoIterator<Item = Result<PlannedSort, Error>>,
    mut room: impl FnMut(&Plan) -> Result<R, Error>,
) -> Result<(PlannedSort, R, Option<Error>), Error> {
    let mut plans = plans.into_iter().peekable();
    let mut lacked = None;
    loop {
        let planned = plans.next().expect("there is an algorithm for everything");
        let fitted = planned.and_then(|planned| room(&planned.plan).map(|room| (planned, room)));
        match fitted {
            Ok((planned, room)) => return Ok((planned, room, lacked)),
            Err(error) if error.is_too_much() && plans.peek().is_some() => lacked = Some(error),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpusort_order::Kind;

    const FREE: Method = Method { algorithm: None, variant: None };

    fn task(n: usize, first: Option<usize>) -> Task {
        Task { n, first, shape: Shape::ALL[1], method: FREE }
    }

    fn names(method: Method, task: Task) -> Vec<&'static str> {
        let crossovers = Crossovers::of_kind(Kind::Software).with(Algorithm::Radix, Shape::ALL[1], 100_000);
        Task { method, ..task }
            .algorithms(&Limits::WEBGPU, &crossovers)
            .iter()
            .map(|algorithm| algorithm.name())
            .collect()
    }

    #[test]
    fn the_faster_algorithm_is_planned_first() {
        assert_eq!(names(FREE, task(99_999, None)), ["bitonic"]);
        assert_eq!(names(FREE, task(100_000, None)), ["radix", "bitonic"]);
        assert_eq!(names(FREE, Task { shape: Shape::ALL[0], ..task(70_000, None) }), ["radix", "bitonic"]);
        // The remaining elements decide.
        assert_eq!(names(FREE, task(1 << 26, Some(1024))), ["bitonic"]);
        assert_eq!(names(FREE, task(1 << 26, Some(50_000))), ["bitonic"]);
        assert_eq!(names(FREE, task(1 << 26, Some(1 << 20))), ["radix", "bitonic"]);
        assert_eq!(names(FREE, task(1 << 26, Some(1 << 26))), ["radix", "bitonic"]);
        // Any number of algorithms may be the fastest somewhere.
        let three = Crossovers::of_kind(Kind::Software).with(Algorithm::Radix, Shape::ALL[1], 1000).with(
            Algorithm::OddEven,
            Shape::ALL[1],
            10,
        );
        let fastest = |n| task(n, None).algorithms(&Limits::WEBGPU, &three);
        assert_eq!(fastest(9), [Algorithm::Bitonic]);
        assert_eq!(fastest(999), [Algorithm::OddEven, Algorithm::Bitonic]);
        assert_eq!(fastest(1000), [Algorithm::Radix, Algorithm::OddEven, Algorithm::Bitonic]);
        // A named algorithm has no alternatives.
        for algorithm in Algorithm::ALL {
            for &variant in algorithm.variants() {
                let named = Method { algorithm: Some(algorithm), variant: Some(variant) };
                assert_eq!(names(named, task(1 << 26, None)), [algorithm.name()]);
                let by_variant = Method { algorithm: None, variant: Some(variant) };
                let crossovers = Crossovers::of_kind(Kind::Discrete);
                let task = Task { method: by_variant, ..task(1 << 26, None) };
                let only = task.algorithms(&Limits::WEBGPU, &crossovers);
                assert!(only.len() == 1 && only[0].variants().contains(&variant));
            }
        }
    }

    #[test]
    fn what_a_device_lacks_leaves_the_next_plan() {
        let crossovers = Crossovers::of_kind(Kind::Discrete);
        let fitted = |limits: Limits, room: fn(&Plan) -> Result<u32, Error>| {
            let plans = task(100_000, None).plans(&limits, &crossovers);
            first_that_fits(plans, room).map(|(planned, _, lacked)| (planned.algorithm, lacked))
        };
        let why = |ran, lacked| task(100_000, None).why(ran, &crossovers, lacked).unwrap();
        // The device has room for a second array, or not, or not even for the first.
        let has_room = |plan: &Plan| Ok(plan.other_room());
        let has_little = |plan: &Plan| match plan.other_room() {
            0 => Ok(0),
            more => Err(Error::limit("elements", more.into(), 0)),
        };
        let (ran, lacked) = fitted(Limits::WEBGPU, has_room).unwrap();
        assert_eq!((ran, lacked.is_none()), (Algorithm::Radix, true));
        assert_eq!(why(ran, None), "radix sort is faster from 32,769 elements on");
        let (ran, lacked) = fitted(Limits::WEBGPU, has_little).unwrap();
        assert_eq!(ran, Algorithm::Bitonic);
        let said = why(ran, lacked.as_ref());
        assert!(said.starts_with("a faster sort does not fit the GPU: "), "{said}");
        assert!(said.contains("elements"), "{said}");
        // A selection has the same alternatives; its last sort is in place.
        for algorithm in [None, Some(Algorithm::Bitonic)] {
            let some = Task { method: Method { algorithm, variant: None }, ..task(1 << 22, Some(100_000)) };
            let plans = || some.plans(&Limits::WEBGPU, &crossovers);
            assert!(first_that_fits(plans(), has_room).unwrap().0.plan.reduces());
            let (planned, _, lacked) = first_that_fits(plans(), has_little).unwrap();
            assert_eq!((planned.algorithm, planned.plan.other_room()), (Algorithm::Bitonic, 0));
            assert!(some.why(planned.algorithm, &crossovers, lacked.as_ref()).is_some());
        }
        let (ran, _) = fitted(Limits { subgroups: None, ..Limits::WEBGPU }, has_room).unwrap();
        assert_eq!(ran, Algorithm::Bitonic);
        assert!(fitted(Limits::WEBGPU, |_| Err(Error::limit("elements", 1, 0))).is_err());
        // No other plan would avoid a failure.
        let fails = |_: &Plan| Err(Error::device("gone"));
        assert!(matches!(
            fitted(Limits::WEBGPU, fails).unwrap_err().kind(),
            gpusort_base::error::ErrorKind::Device(_)
        ));
    }
}
