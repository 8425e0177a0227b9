//! The CPU's sort beside those of other crates, on all cores, in one run: keys of 32 and 64 bits,
//! and keys with positions, each from fresh memory to sorted memory, every result compared with the
//! standard library's.
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml --bin cpu
//! ```
//!
//! Some sort a whole array in place and others need a second one: getting that is a part of the
//! time, as it is for whoever sorts once.

use std::time::Instant;

use gpusort::Sorter;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_engine::key_buf::{KeyBuf, KeyWidth};
use gpusort_engine::sorter::Request;
use gpusort_planner::key::ElementType;
use rayon::prelude::*;
use rdst::RadixSort;
use voracious_radix_sort::RadixSort as _;

// The command's own, so that large blocks are in large pages here too.
#[path = "../../../../src/cli/allocator.rs"]
#[expect(dead_code, reason = "only the command gives back what it keeps")]
mod allocator;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

mod end {
    /// What the allocator does where there is no more memory.
    pub fn failed(message: &[u8]) -> ! {
        eprint!("{}", String::from_utf8_lossy(message));
        std::process::exit(2)
    }
}

const ROUNDS: usize = 5;

/// What is sorted, and what it became.
type Sort<T, R = T> = (&'static str, fn(Vec<T>) -> Vec<R>);

fn gpusort<W: KeyWidth>(keys: Vec<W>) -> Vec<W> {
    run(Request::keys(KeyBuf::from(keys)))
}

fn run<W: KeyWidth>(request: Request) -> Vec<W> {
    let sorted = Sorter::cpu().run(request, &mut |_, _| {}).expect("the CPU sorts any keys");
    sorted.words.into_vec().expect("a sort keeps the width")
}

fn in_place<T>(mut keys: Vec<T>, sort: impl FnOnce(&mut [T])) -> Vec<T> {
    sort(&mut keys);
    keys
}

macro_rules! sorts {
    ($word:ty) => {
        [
            ("gpusort", gpusort),
            ("rdst", |keys| in_place(keys, |keys| keys.radix_sort_unstable())),
            ("voracious", |keys| {
                let threads = rayon::current_num_threads();
                in_place(keys, |keys| keys.voracious_mt_sort(threads))
            }),
            ("rayon", |keys| in_place(keys, |keys| keys.par_sort_unstable())),
            ("std, 1 core", |keys| in_place(keys, |keys| keys.sort_unstable())),
        ] as [Sort<$word>; 5]
    };
}

fn main() {
    println!("{} threads; median and least of {ROUNDS} rounds, ms\n", rayon::current_num_threads());
    println!("| n | elements | sort | median | least | of gpusort's |");
    println!("|---:|---|---|---:|---:|---:|");
    for n in sizes() {
        for (name, element, distribution) in [
            ("u32", ElementType::U32, Distribution::Uniform),
            ("u32, zipf", ElementType::U32, Distribution::Zipf),
            ("u32, 16 different", ElementType::U32, Distribution::FewDistinct),
            ("u64", ElementType::U64, Distribution::Uniform),
            ("f64 as keys", ElementType::F64, Distribution::Uniform),
        ] {
            match (Sequence { element, distribution, count: n as u64, seed: 1 }).keys(0, n) {
                KeyBuf::Narrow(keys) => compare(name, &keys[0], &in_order(&keys[0]), &sorts!(u32)),
                KeyBuf::Wide(keys) => compare(name, &keys[0], &in_order(&keys[0]), &sorts!(u64)),
            }
        }
        records(n);
    }
}

/// The keys by the standard library's sort.
fn in_order<T: Copy + Ord>(keys: &[T]) -> Vec<T> {
    in_place(keys.to_vec(), |keys| keys.sort_unstable())
}

/// Sorts these keys in every way, again and again, and prints how long that took.
fn compare<T: Copy, R: PartialEq>(name: &str, keys: &[T], expected: &[R], sorts: &[Sort<T, R>]) {
    let mut times = vec![Vec::new(); sorts.len()];
    for round in 0..ROUNDS {
        for turn in 0..sorts.len() {
            // Beginning with another one each time.
            let which = (round + turn) % sorts.len();
            let input = keys.to_vec();
            let start = Instant::now();
            let sorted = sorts[which].1(input);
            times[which].push(start.elapsed().as_secs_f64() * 1e3);
            assert!(sorted == expected, "{} is wrong", sorts[which].0);
        }
    }
    print(name, keys.len(), sorts.iter().map(|sort| sort.0), &mut times);
}

/// Keys of 64 bits with their positions, as gpusort's argsort and as pairs whose whole is sorted
/// elsewhere.
fn records(n: usize) {
    let sequence =
        Sequence { element: ElementType::F64, distribution: Distribution::Uniform, count: n as u64, seed: 1 };
    let keys: Vec<u64> = sequence.keys(0, n).into_vec().expect("f64 has keys of 64 bits");
    let mut expected: Vec<u32> = (0..n as u32).collect();
    expected.sort_by_key(|&position| keys[position as usize]);
    let sorts: [Sort<u64, u32>; 3] = [
        ("gpusort", |keys| run(Request::positions(KeyBuf::from(keys)))),
        ("rdst, of u128", |keys| {
            let mut pairs: Vec<u128> = pairs(&keys);
            drop(keys);
            pairs.radix_sort_unstable();
            pairs.par_iter().map(|&pair| pair as u32).collect()
        }),
        ("rayon, of u128", |keys| {
            let mut pairs: Vec<u128> = pairs(&keys);
            drop(keys);
            pairs.par_sort_unstable();
            pairs.par_iter().map(|&pair| pair as u32).collect()
        }),
    ];
    compare("f64 with positions", &keys, &expected, &sorts);
}

/// Each key above its position.
fn pairs(keys: &[u64]) -> Vec<u128> {
    keys.par_iter().enumerate().map(|(position, &key)| u128::from(key) << 32 | position as u128).collect()
}

fn print<'a>(name: &str, n: usize, sorts: impl Iterator<Item = &'a str>, times: &mut [Vec<f64>]) {
    times.iter_mut().for_each(|times| times.sort_unstable_by(f64::total_cmp));
    let ours = times[0][ROUNDS / 2];
    for (sort, times) in sorts.zip(times) {
        let median = times[ROUNDS / 2];
        println!("| {n} | {name} | {sort} | {median:.2} | {:.2} | {:.2} × |", times[0], median / ours);
    }
}

/// The sizes that were asked for.
fn sizes() -> Vec<usize> {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    if asked.is_empty() { vec![1 << 16, 1_000_000, 10_000_000, 1 << 26] } else { asked }
}
