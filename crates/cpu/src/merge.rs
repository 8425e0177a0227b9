//! Merges sorted runs in memory on all cores.
//!
//! The result is cut into parts of equal size, and each run where the elements of the parts begin,
//! so that every core merges a part of its own:
//!
//! ```text
//! run 0   ──────|────|──────────
//! run 1   ──|──────────────|────
//! result  ────────|────────|────────
//! ```
//!
//! Where to cut is found by bisection over key values: a key lies before a cut if fewer keys are
//! less than the cut has before it. Of equal keys those of earlier runs come first.

use gpusort_order::item::Item;

use gpusort_base::parallel;

/// Elements of the result that are worth another core's while.
const PART: usize = 1 << 16;

/// The most elements that one core merges at once: they fit its caches.
const MOST: usize = 1 << 19;

/// Merges `runs`, which are in order, into `to`, which has as many elements.
pub fn merge<T: Item>(runs: &[&[T]], to: &mut [T]) {
    let runs: Vec<&[T]> = runs.iter().copied().filter(|run| !run.is_empty()).collect();
    // To find a cut takes some hundred comparisons in each run.
    let least = PART.max(runs.len() << 10);
    if to.len() <= least {
        return merge_on_one_core(&runs, to);
    }
    let size = to.len().div_ceil(4 * parallel::threads()).clamp(least, least.max(MOST));
    let ends: Vec<usize> = (1..=to.len().div_ceil(size)).map(|part| (part * size).min(to.len())).collect();
    let mut cuts = vec![vec![0; runs.len()]];
    cuts.extend(parallel::map_parts(&ends, |&end| cut(&runs, end)));
    parallel::map_parts(to.chunks_mut(size).zip(cuts.windows(2)), |(to, cuts)| {
        let parts = runs.iter().zip(&cuts[0]).zip(&cuts[1]);
        let parts: Vec<&[T]> = parts.map(|((run, &begin), &end)| &run[begin..end]).collect();
        merge_on_one_core(&parts, to);
    });
}

/// How many elements of each run are among the first `count` of all.
fn cut<T: Item>(runs: &[&[T]], count: usize) -> Vec<usize> {
    let below = |key: u64| runs.iter().map(move |run| run.partition_point(|&other| other.key() < key));
    // The greatest key with at most `count` less than it.
    let (mut key, mut bit) = (0, 1_u64 << (u64::BITS - 1));
    while bit > 0 {
        if below(key | bit).sum::<usize>() <= count {
            key |= bit;
        }
        bit >>= 1;
    }
    let mut cuts: Vec<usize> = below(key).collect();
    let mut missing = count - cuts.iter().sum::<usize>();
    for (cut, run) in cuts.iter_mut().zip(runs) {
        let equal = run[*cut..].partition_point(|&other| other.key() <= key).min(missing);
        *cut += equal;
        missing -= equal;
    }
    cuts
}

fn merge_on_one_core<T: Item>(runs: &[&[T]], to: &mut [T]) {
    merge_by(runs, to, |a, b| a.key() < b.key());
}

/// Merges runs in the order that `less` says, with equal elements of earlier runs first.
pub fn merge_by<T: Copy>(runs: &[&[T]], to: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    match runs {
        [] => {}
        [run] => to.copy_from_slice(run),
        [a, b] => merge_two(a, b, to, less),
        runs => merge_many(runs, to, less),
    }
}

/// Without a branch on the keys, which processors mispredict.
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

/// Merges neighbouring runs two by two, from one array to another and back: the parts fit caches,
/// where this is several times as fast as a tree of losers, whose every comparison is mispredicted
/// half of the time.
fn merge_many<T: Copy>(runs: &[&[T]], to: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    let mut scratch = runs.concat();
    let mut ends: Vec<usize> = runs
        .iter()
        .scan(0, |end, run| {
            Some({
                *end += run.len();
                *end
            })
        })
        .collect();
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
        let cuts: Vec<Vec<usize>> = (0..=7).map(|count| cut(&runs, count)).collect();
        let expected = [[0, 0], [1, 0], [2, 0], [3, 0], [3, 1], [3, 2], [3, 3], [4, 3]];
        assert!(cuts.iter().zip(expected).all(|(cut, [a, c])| *cut == [a, 0, c]), "{cuts:?}");
        let all: Vec<usize> = (0..=2).flat_map(|count| cut(&[&[u64::MAX, u64::MAX][..]], count)).collect();
        assert_eq!(all, [0, 1, 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_runs_merge_in_any_parts(
            mut runs in prop::collection::vec(prop::collection::vec(prop_oneof![0..9_u32, any::<u32>()], 0..60), 0..9),
            least in 1..40_usize,
        ) {
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let views: Vec<&[u32]> = runs.iter().map(Vec::as_slice).collect();
            let mut on_one = vec![0; views.iter().map(|run| run.len()).sum()];
            merge_on_one_core(&views, &mut on_one);
            prop_assert_eq!(&on_one, &sorted(&runs));
            // Fewer than there would be for these runs, so that there are several parts.
            let mut to = vec![0; on_one.len()];
            let mut begin = vec![0; views.len()];
            for end in (least..on_one.len()).step_by(least).chain([on_one.len()]) {
                let cuts = cut(&views, end);
                let parts: Vec<&[u32]> = views.iter().zip(begin.iter().zip(&cuts)).map(|(run, (&a, &b))| &run[a..b]).collect();
                let from = begin.iter().sum::<usize>();
                merge_on_one_core(&parts, &mut to[from..end]);
                begin = cuts;
            }
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
