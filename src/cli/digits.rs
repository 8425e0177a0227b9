//! When digits sort keys sooner than vectors on this CPU, for `gpusort tune`.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use gpusort::Element;
use gpusort_base::human::{grouped, wrapped};
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_bench::table::WIDTH;
use gpusort_cpu::Digits;
use gpusort_engine::cost::ByDigits;
use gpusort_engine::key_buf::KeyWidth;

/// The measured sizes: every other power of two.
const SIZES: Range<u32> = 10..25;

/// Sorts of a size by each; the least time counts.
const RUNS: usize = 5;

/// Elements sorted in each run, at least, so that it takes long enough to be timed.
const SAMPLE: usize = 1 << 16;

/// Digits are preferred if they take this part of the time.
const FASTER: f64 = 0.95;

/// Measures up to `largest` elements when the radix sort is faster; `None` without vector instructions.
pub(super) fn measured(largest: u64, cores: usize) -> Option<ByDigits> {
    let instructions = gpusort_cpu::instructions();
    if instructions == "plain" {
        return None;
    }
    let sizes: Vec<usize> = SIZES.step_by(2).map(|log2| 1 << log2).filter(|&n| n as u64 <= largest).collect();
    let digits = [of::<u32>(&sizes, cores), of::<u64>(&sizes, cores)];
    Some(ByDigits { instructions: instructions.to_owned(), digits })
}

/// Measures keys of one type.
fn of<T: Element + KeyWidth>(sizes: &[usize], cores: usize) -> Digits {
    let even = faster::<T>(sizes, Distribution::Uniform);
    let skewed = faster::<T>(sizes, Distribution::Zipf);
    let both: Vec<bool> = even.iter().zip(&skewed).map(|(a, b)| *a && *b).collect();
    let all = longest(sizes, &even);
    let few = sizes.partition_point(|&n| cores == 1 || gpusort_cpu::is_for_one(n));
    let mut alone = longest(&sizes[..few], &even[..few]);
    if few < sizes.len() && alone.start < usize::MAX {
        // Nothing is known of more on one core.
        alone.end = alone.end.min(2 * sizes[few - 1]);
    }
    let any = longest(sizes, &both);
    let any = if any.end == usize::MAX { any.start } else { usize::MAX };
    Digits { any, even: [alone, all] }
}

/// For each size whether digits are faster.
fn faster<T: Element + KeyWidth>(sizes: &[usize], distribution: Distribution) -> Vec<bool> {
    let both = [Digits::ALWAYS, Digits::NEVER];
    let of_size = |&n: &usize| {
        let n_all = n.max(SAMPLE);
        let sequence = Sequence { element: T::TYPE, distribution, count: n_all as u64, seed: 1 };
        let input: Vec<T> = sequence.keys(0, n_all).into_vec().expect("words are their own keys");
        let mut least = [f64::INFINITY; 2];
        for _ in 0..RUNS {
            for (least, digits) in least.iter_mut().zip(&both) {
                gpusort_cpu::prefer_digits([digits.clone(), digits.clone()]);
                let mut keys = input.clone();
                let start = Instant::now();
                keys.chunks_mut(n).for_each(|keys| gpusort::sort(black_box(keys)));
                *least = least.min(start.elapsed().as_secs_f64());
            }
        }
        least[0] < FASTER * least[1]
    };
    sizes.iter().map(of_size).collect()
}

/// Returns the longest range of sizes that `is_so` marks; its ends lie between measured sizes.
fn longest(sizes: &[usize], is_so: &[bool]) -> Range<usize> {
    let places: Vec<usize> = (0..sizes.len()).collect();
    // From the end, so that the first of several longest runs counts.
    let runs = places.split(|&place| !is_so[place]).rev();
    let run = runs.max_by_key(|run| run.len()).unwrap_or_default();
    let (Some(&first), Some(&last)) = (run.first(), run.last()) else { return usize::MAX..usize::MAX };
    // The size between two measured ones.
    let begin = first.checked_sub(1).map_or(0, |before| 2 * sizes[before]);
    begin..if last + 1 < sizes.len() { 2 * sizes[last] } else { usize::MAX }
}

/// A line for each width.
pub(super) fn shown(own: &ByDigits) -> String {
    let by = |range: &Range<usize>| match (range.start, range.end) {
        (usize::MAX, _) => "quicksort".to_owned(),
        (0, usize::MAX) => "radix".to_owned(),
        (0, end) => format!("radix below {} elements", grouped(end)),
        (start, usize::MAX) => format!("radix from {} elements on", grouped(start)),
        (start, end) => format!("radix from {} to {} elements", grouped(start), grouped(end)),
    };
    let of_width = |(bits, Digits { any, even: [alone, all] }): (u32, &Digits)| {
        let by = match *any {
            usize::MAX if alone == all => by(all),
            usize::MAX => format!("on one core {}, on all {}", by(alone), by(all)),
            any => by(&(any..usize::MAX)),
        };
        wrapped(&format!("On the CPU, {bits}-bit keys: {by}"), WIDTH, 2)
    };
    "\n".to_owned() + &[32, 64].into_iter().zip(&own.digits).map(of_width).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_between_sizes() {
        const NEVER: usize = usize::MAX;
        let sizes = [4, 16, 64, 256];
        for (is_so, expected) in [
            ([false; 4], NEVER..NEVER),
            ([true; 4], 0..NEVER),
            ([true, false, false, false], 0..8),
            ([true, false, true, true], 32..NEVER),
            ([false, true, true, false], 8..128),
            ([true, true, false, true], 0..32),
        ] {
            assert_eq!(longest(&sizes, &is_so), expected, "{is_so:?}");
        }
        assert_eq!(longest(&[], &[]), NEVER..NEVER);
    }

    #[test]
    fn what_was_measured_is_shown() {
        let digits = |any, alone, all| Digits { any, even: [alone, all] };
        let never = usize::MAX;
        let own = |first| ByDigits { instructions: String::new(), digits: [first, Digits::NEVER] };
        for (first, expected) in [
            (
                digits(never, 4096..262_144, 4096..never),
                "on one core radix from 4,096 to 262,144 elements, on\n  all radix from 4,096 elements on",
            ),
            (
                digits(never, 0..8192, never..never),
                "on one core radix below 8,192 elements, on all\n  quicksort",
            ),
            (digits(4096, never..never, never..never), "radix from 4,096 elements on"),
            (Digits::ALWAYS, "radix"),
        ] {
            let wide = "On the CPU, 64-bit keys: quicksort";
            assert_eq!(shown(&own(first)), format!("\nOn the CPU, 32-bit keys: {expected}\n{wide}\n"));
        }
    }
}
