//! Cuts sorted runs on a device into windows, so that slices of the runs can be merged one window after
//! another.
//!
//! ```text
//! run 0   ──────|────|──────────
//! run 1   ──|──────────────|────
//! result  ────────|────────|────   windows of about equal size
//! ```
//!
//! Reading many keys takes one round trip to the device, just as reading one key does. The first read
//! therefore covers keys at regular places of all runs. Some of these keys become the last keys of their
//! windows. Bisection finds where these windows end in the other runs, for all windows at the same time.

/// Reads keys, each by its run and its place in the run.
type Look<'a, E> = &'a mut dyn FnMut(&[(usize, usize)]) -> Result<Vec<u64>, E>;

/// Keys sampled per `most` elements of a run, unless there are many runs.
const SAMPLES: usize = 256;

/// Returns the ends of windows of at most `most` elements in runs of these lengths; the last window ends
/// with the runs. Among equal keys, keys of earlier runs come first.
///
/// # Errors
///
/// Returns any error of `look`.
pub fn windows<E>(lengths: &[usize], most: usize, look: Look<E>) -> Result<Vec<Vec<usize>>, E> {
    let runs = lengths.len();
    if lengths.iter().sum::<usize>() <= most {
        return Ok(vec![lengths.to_vec()]);
    }
    let step = (most / SAMPLES.max(4 * runs)).max(1);
    let samples_of = |run| (1..=lengths[run] / step).map(move |sample| (run, sample * step - 1));
    let places: Vec<(usize, usize)> = (0..runs).flat_map(samples_of).collect();
    let mut samples: Vec<(u64, (usize, usize))> = look(&places)?.into_iter().zip(places).collect();
    samples.sort_unstable();
    // Less than one step of each run lies between two samples.
    let each = if step == 1 { most.max(1) } else { most / step - runs };
    let mut ends = Vec::new();
    let mut searches = Vec::new();
    for last in (each..samples.len()).step_by(each) {
        let (key, (of, _)) = samples[last - 1];
        let mut end = vec![0; runs];
        for &(_, (run, place)) in &samples[..last] {
            end[run] = place + 1;
        }
        for run in (0..runs).filter(|&run| run != of) {
            let most = lengths[run].min(end[run] + step - 1);
            searches.push(Search { window: ends.len(), run, least: end[run], most, last: (key, of) });
        }
        ends.push(end);
    }
    loop {
        let mut open: Vec<&mut Search> =
            searches.iter_mut().filter(|search| search.least < search.most).collect();
        if open.is_empty() {
            break;
        }
        let places: Vec<(usize, usize)> = open.iter().map(|search| (search.run, search.middle())).collect();
        for (search, key) in open.iter_mut().zip(look(&places)?) {
            if (key, search.run) < search.last {
                search.least = search.middle() + 1;
            } else {
                search.most = search.middle();
            }
        }
    }
    for search in searches {
        ends[search.window][search.run] = search.least;
    }
    ends.push(lengths.to_vec());
    Ok(ends)
}

/// A search for the number of elements of a run in a window or before it.
struct Search {
    window: usize,
    run: usize,
    least: usize,
    most: usize,
    /// The key of the window's last element, and the run of this element.
    last: (u64, usize),
}

impl Search {
    fn middle(&self) -> usize {
        self.least + (self.most - self.least) / 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the windows of these runs, and the number of calls of `look`.
    fn cut(runs: &[Vec<u64>], most: usize) -> (Vec<Vec<usize>>, usize) {
        let lengths: Vec<usize> = runs.iter().map(Vec::len).collect();
        let mut looks = 0;
        let look: Look<()> = &mut |places| {
            looks += 1;
            Ok(places.iter().map(|&(run, place)| runs[run][place]).collect())
        };
        let ends = windows(&lengths, most, look).unwrap();
        (ends, looks)
    }

    fn check(runs: &[Vec<u64>], most: usize) -> usize {
        let (ends, looks) = cut(runs, most);
        let mut expected: Vec<(u64, usize)> =
            (0..).zip(runs).flat_map(|(number, run)| run.iter().map(move |&key| (key, number))).collect();
        expected.sort_unstable();
        let mut begin = vec![0; runs.len()];
        let mut merged: Vec<(u64, usize)> = Vec::new();
        for end in &ends {
            let before = merged.len();
            for (number, run) in runs.iter().enumerate() {
                merged.extend(run[begin[number]..end[number]].iter().map(|&key| (key, number)));
            }
            assert!(merged.len() - before <= most, "{} of {most}", merged.len() - before);
            merged[before..].sort_unstable();
            begin.clone_from(end);
        }
        assert!(merged == expected);
        // Some windows are smaller, because runs end between samples.
        assert!(ends.len() <= 2 + 2 * expected.len() / most, "{} of {most}", ends.len());
        looks
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn windows_are_slices_of_the_whole_order(
            mut runs in prop::collection::vec(prop::collection::vec(prop_oneof![0..9_u64, any::<u64>()], 0..600), 1..9),
            most in 1..900_usize,
        ) {
            runs.iter_mut().for_each(|run| run.sort_unstable());
            check(&runs, most);
        }
    }

    #[test]
    fn large_runs_take_few_looks() {
        for distinct in [1, 2, 1000, u64::MAX] {
            let run = |run: u64| {
                let key = |i: u64| (i * 7 + run).wrapping_mul(0x9e37_79b9_7f4a_7c15) % distinct;
                let mut run: Vec<u64> = (0..100_000 - run).map(key).collect();
                run.sort_unstable();
                run
            };
            let runs: Vec<Vec<u64>> = (0..9).map(run).collect();
            // Steps of 390 elements.
            assert!(check(&runs, 100_000) <= 1 + 9);
            assert!(check(&runs, 2_000_000) == 0);
        }
    }
}
