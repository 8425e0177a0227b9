//! `gpusort::argsort` and `gpusort::top` of a slice beside what others offer for them: indices
//! sorted by the elements they stand for, and a selection. Stable and in the order of `total_cmp`,
//! every result compared with the standard library's.
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml --bin positions -- [SIZE…]
//! ```

use std::hint::black_box;
use std::time::Instant;

use gpusort::Element;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_planner::key::{KeyMap, Word};
use rayon::prelude::*;

/// Elements sorted in one sample, at least.
const SAMPLE: usize = 200_000;

/// How many of the smallest are asked for.
const FIRST: usize = 100;

/// What makes a result of a slice.
type Work<T, R> = (&'static str, fn(&[T]) -> R);

/// The positions of a slice.
fn positions<T>(elements: &[T]) -> Vec<u32> {
    (0..elements.len() as u32).collect()
}

macro_rules! argsorts {
    ($type:ty, $compare:expr) => {
        [
            ("gpusort", |elements| gpusort::argsort(elements)),
            ("radsort", |elements| {
                let mut all = positions(elements);
                radsort::sort_by_key(&mut all, |&at| elements[at as usize]);
                all
            }),
            ("rayon", |elements| {
                let mut all = positions(elements);
                all.par_sort_by(|&a, &b| $compare(&elements[a as usize], &elements[b as usize]));
                all
            }),
            ("std", |elements| {
                let mut all = positions(elements);
                all.sort_by(|&a, &b| $compare(&elements[a as usize], &elements[b as usize]));
                all
            }),
        ] as [Work<$type, Vec<u32>>; 4]
    };
}

macro_rules! firsts {
    ($type:ty, $compare:expr) => {
        [
            ("gpusort", |elements| gpusort::top(elements, FIRST)),
            ("radsort", |elements| {
                let mut all = elements.to_vec();
                radsort::sort(&mut all);
                all.truncate(FIRST);
                all
            }),
            ("rayon", |elements| {
                let mut all = elements.to_vec();
                all.par_sort_unstable_by($compare);
                all.truncate(FIRST);
                all
            }),
            ("std", |elements| {
                let mut all = elements.to_vec();
                if all.len() > FIRST {
                    all.select_nth_unstable_by(FIRST, $compare);
                    all.truncate(FIRST);
                }
                all.sort_unstable_by($compare);
                all
            }),
        ] as [Work<$type, Vec<$type>>; 4]
    };
}

fn main() {
    let mut sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    }
    println!(
        "{} threads. Medians: µs of gpusort, and how many times as long the others take.\n",
        rayon::current_num_threads()
    );
    println!(
        "| n | elements | argsort | radsort | rayon | std | top {FIRST} | radsort | rayon | std, selected |"
    );
    println!("|---:|---|{}", "---:|".repeat(8));
    for n in sizes {
        macro_rules! all {
            ($($type:ty, $compare:expr;)*) => {$(
                let input: Vec<Vec<$type>> = (0..SAMPLE.div_ceil(n)).map(|copy| elements(n, copy as u64)).collect();
                let (argsort, top) = (compare(&input, &argsorts!($type, $compare)), compare(&input, &firsts!($type, $compare)));
                println!("| {n} | {} | {argsort} | {top} |", stringify!($type));
            )*};
        }
        all! {
            u32, u32::cmp;
            f32, f32::total_cmp;
            u64, u64::cmp;
            f64, f64::total_cmp;
        }
    }
}

/// So many uniform elements, by the generator of the command.
fn elements<T: Element>(n: usize, seed: u64) -> Vec<T> {
    let keys =
        Sequence { element: T::TYPE, distribution: Distribution::Uniform, count: n as u64, seed }.keys(0, n);
    let map = T::Word::map(KeyMap::ascending(T::TYPE));
    let keys: Vec<T::Word> = keys.into_vec().expect("the keys of a type are as wide as its words");
    keys.into_iter().map(|key| T::from_word(key.bits(map))).collect()
}

/// Does each work on the same slices, in turn, and tells how long that took.
fn compare<T, R: PartialEq>(input: &[Vec<T>], works: &[Work<T, R>]) -> String {
    let (_, std) = works.last().expect("there are works");
    let expected: Vec<R> = input.iter().map(|slice| std(slice)).collect();
    let rounds = (30_000_000 / (input.len() * input[0].len())).clamp(5, 15);
    let mut times = vec![Vec::new(); works.len()];
    for round in 0..rounds {
        for turn in 0..works.len() {
            // Beginning with another one each time.
            let which = (round + turn) % works.len();
            let start = Instant::now();
            let results: Vec<R> = input.iter().map(|slice| works[which].1(black_box(slice))).collect();
            times[which].push(start.elapsed().as_secs_f64() * 1e6 / input.len() as f64);
            assert!(results == expected, "{} is wrong", works[which].0);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[rounds / 2]
    };
    let times: Vec<f64> = times.into_iter().map(median).collect();
    let others: Vec<String> = times[1..].iter().map(|time| format!("{:.2}", time / times[0])).collect();
    format!("{:.1} | {}", times[0], others.join(" | "))
}
