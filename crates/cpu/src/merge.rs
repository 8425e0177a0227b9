//! Merges sorted runs in memory on all cores.
//!
//! The result is cut into parts of about equal size, and each run is cut where the elements of the parts
//! begin. Every core merges one part:
//!
//! ```text
//! run 0   ──────|────|──────────
//! run 1   ──|──────────────|────
//! result  ────────|────────|────────
//! ```
//!
//! The cuts are elements of a sample of all runs. Among equal keys, keys of earlier runs come first.

use std::cmp::Ordering;

use gpusort_order::item::Item;

use super::items::begins;
use gpusort_base::parallel;

/// The number of elements that justifies another core for a merge of two runs.
const PART: usize = 1 << 16;

/// The maximum number of elements that one core merges at once: they fit its caches.
const MOST: usize = 1 << 19;

/// Merges sorted runs into `to`, whose length is the sum of their lengths.
pub fn merge<T: Item>(runs: &[&[T]], to: &mut [T]) {
    let runs: Vec<&[T]> = runs.iter().copied().filter(|run| !run.is_empty()).collect();
    // Each doubling of the runs is another pass over the elements. A cut searches each run.
    let passes = runs.len().next_power_of_two().ilog2().max(1) as usize;
    let least = (PART / passes).max(runs.len() << 5);
    if to.len() <= least {
        return merge_on_one_core(&runs, to);
    }
    let size = to.len().div_ceil(4 * parallel::threads()).clamp(least, least.max(MOST));
    merge_in_parts(&runs, to, to.len().div_ceil(size));
}

/// Merges runs in this number of parts.
fn merge_in_parts<T: Item>(runs: &[&[T]], to: &mut [T], count: usize) {
    let (cuts, mut left) = (cuts(runs, count), to);
    let parts = cuts.windows(2).map(|cuts| {
        let parts = runs.iter().zip(&cuts[0]).zip(&cuts[1]);
        let parts: Vec<&[T]> = parts.map(|((run, &begin), &end)| &run[begin..end]).collect();
        let length = parts.iter().map(|part| part.len()).sum();
        (parts, left.split_off_mut(..length).expect("the result has room for all runs"))
    });
    let parts: Vec<_> = parts.collect();
    parallel::map_parts(parts, |(parts, to)| merge_on_one_core(&parts, to));
}

/// Returns the bounds of `count` parts of about equal size: for each bound, the number of elements of each
/// run before it.
fn cuts<T: Item>(runs: &[&[T]], count: usize) -> Vec<Vec<usize>> {
    /// The number of samples for each part.
    const SAMPLES: usize = 8;
    let lengths: Vec<usize> = runs.iter().map(|run| run.len()).collect();
    let step = (lengths.iter().sum::<usize>() / (SAMPLES * count)).max(1);
    // Runs begin at different offsets: at equal offsets, samples of short runs with similar keys would be alike.
    let of_run = |(number, run): (usize, &&[T])| {
        let begin = (2 * number + 1) * step / (2 * runs.len());
        (begin..run.len()).step_by(step).map(move |at| (number, at)).collect::<Vec<_>>()
    };
    let mut samples: Vec<(usize, usize)> = runs.iter().enumerate().flat_map(of_run).collect();
    samples.sort_by_cached_key(|&(number, at)| (runs[number][at].key(), number, at));
    let bounds: Vec<(usize, usize)> =
        (1..count).filter_map(|part| samples.get(part * samples.len() / count).copied()).collect();
    let before = |&(number, at): &(usize, usize)| {
        let key = runs[number][at].key();
        let of_run = |(other, run): (usize, &&[T])| match other.cmp(&number) {
            Ordering::Less => run.partition_point(|other| other.key() <= key),
            Ordering::Equal => at,
            Ordering::Greater => run.partition_point(|other| other.key() < key),
        };
        runs.iter().enumerate().map(of_run).collect()
    };
    let inner = parallel::map_parts(&bounds, before);
    [vec![0; runs.len()]].into_iter().chain(inner).chain([lengths]).collect()
}

fn merge_on_one_core<T: Item>(runs: &[&[T]], to: &mut [T]) {
    merge_by(runs, to, |a, b| a.key() < b.key());
}

/// Merges runs in the order of `less`; among equal elements, those in earlier runs come first.
pub fn merge_by<T: Copy>(runs: &[&[T]], to: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    match runs {
        [] => {}
        [run] => to.copy_from_slice(run),
        [a, b] => merge_two(a, b, to, less),
        runs => merge_many(runs, to, less),
    }
}

/// Merges two runs without a branch on the keys, which processors would mispredict.
fn merge_two<T: Copy>(a: &[T], b: &[T], to: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let heads = (&a[i], &b[j]);
        let takes_b = less(heads.1, heads.0);
        to[i + j] = *if takes_b { heads.1 } else { heads.0 };
        i += usize::from(!takes_b);
        j += usize::from(takes_b);
    }
    let rest = if i < a.len() { &a[i..] } else { &b[j..] };
    to[i + j..].copy_from_slice(rest);
}

/// Merges neighbouring runs in pairs, from one array to another and back. The parts fit caches, where this
/// method is several times as fast as a tree of losers, whose every comparison is mispredicted half of the
/// time.
fn merge_many<T: Copy>(runs: &[&[T]], to: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    let mut scratch = runs.concat();
    let lengths = runs.iter().map(|run| run.len());
    let mut ends: Vec<usize> = begins(lengths).skip(1).chain([scratch.len()]).collect();
    let levels = runs.len().next_power_of_two().ilog2();
    let (mut from, mut into) = (&mut scratch[..], to);
    if levels.is_multiple_of(2) {
        into.copy_from_slice(from);
        std::mem::swap(&mut from, &mut into);
    }
    for _ in 0..levels {
        let mut begin = 0;
        for pair in ends.chunks(2) {
            let (middle, end) = (pair[0], pair[pair.len() - 1]);
            merge_two(&from[begin..middle], &from[middle..end], &mut into[begin..end], less);
            begin = end;
        }
        ends = ends.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
        std::mem::swap(&mut from, &mut into);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(runs: &[Vec<u32>]) -> Vec<u32> {
        let mut all = runs.concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn cuts_take_equal_keys_of_earlier_runs_first() {
        let runs = [&[1_u32, 2, 2, 9][..], &[], &[2, 2, 3]];
        let expected =
            [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [3, 0, 1], [3, 0, 2], [3, 0, 3], [4, 0, 3]];
        assert_eq!(cuts(&runs, 7), expected);
    }

    #[test]
    fn parts_are_of_about_equal_size() {
        let uniform: Vec<u32> = (0..1 << 14).collect();
        let equal = vec![7_u32; 1 << 14];
        let short: Vec<u32> = (0..64).collect();
        for runs in [
            vec![&uniform[..]; 9],
            vec![&equal[..]; 9],
            vec![&uniform[..], &equal, &uniform[..9]],
            vec![&short[..]; 128],
        ] {
            let count = 24;
            let all = cuts(&runs, count);
            let sizes =
                all.windows(2).map(|pair| pair[1].iter().sum::<usize>() - pair[0].iter().sum::<usize>());
            let most = 2 * runs.iter().map(|run| run.len()).sum::<usize>() / count;
            assert!(sizes.max().unwrap() <= most, "{all:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_runs_merge_in_any_parts(
            mut runs in prop::collection::vec(prop::collection::vec(prop_oneof![0..9_u32, any::<u32>()], 0..60), 0..9),
            parts in 1..40_usize,
        ) {
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let views: Vec<&[u32]> = runs.iter().map(Vec::as_slice).collect();
            let mut on_one = vec![0; views.iter().map(|run| run.len()).sum()];
            merge_on_one_core(&views, &mut on_one);
            prop_assert_eq!(&on_one, &sorted(&runs));
            let mut to = vec![0; on_one.len()];
            merge_in_parts(&views, &mut to, parts);
            prop_assert_eq!(&to, &on_one);
        }
    }

    #[test]
    fn large_runs_merge_on_all_cores() {
        for count in [2, 3, 5] {
            let keys =
                |run: u64| (0..150_000 - run).map(move |i| i * (run + 3) + i % 2 * 7).collect::<Vec<u64>>();
            let mut runs: Vec<Vec<u64>> = (0..count).map(keys).collect();
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let mut expected = runs.concat();
            expected.sort_unstable();
            let mut to = vec![0; expected.len()];
            merge(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut to);
            assert!(to == expected, "{count}");
        }
    }
}
