//! `gpusort::sort` of a slice beside the sorts of other crates, in one run: sizes from 1,000 on, or those named,
//! with as many threads as there are cores, every result compared with the standard library's, or with rayon's where that takes too long.
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml --bin slices -- [SIZE…] [NAME…]
//! ```
//!
//! With `VQSORT=libvqsort.so`, which `benches/peers/vqsort.sh` builds from Highway's sources, its
//! vqsort is one of them, on one core.
//!
//! A name is one of an element type (`u32`), or of an input (`u32-zipf`); without any, all are
//! sorted. Short slices are sorted many at a time, each another one, so that no sort knows its
//! branches from before. Memory is the system allocator's, as a library's is.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

use gpusort::Element;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_planner::key::{KeyMap, Word};
use rayon::prelude::*;
use rdst::RadixSort;
use voracious_radix_sort::RadixSort as _;

/// Elements sorted in one sample, at least.
const SAMPLE: usize = 200_000;

/// Of more elements than this only the sorts of all cores are timed.
const ALL: usize = 1 << 25;

/// A sort in place.
type Sort<T> = (&'static str, fn(&mut [T]));

/// The library that `VQSORT` names.
fn vqsort_library() -> Option<&'static libloading::Library> {
    static LIBRARY: OnceLock<Option<libloading::Library>> = OnceLock::new();
    let load = || {
        // SAFETY: the library has no initializers but those of its language.
        let open = |path| unsafe { libloading::Library::new(path) };
        std::env::var_os("VQSORT").map(|path| open(path).expect("VQSORT names a library"))
    };
    LIBRARY.get_or_init(load).as_ref()
}

/// The sort of these elements in that library, if it has one. It is looked up once: that takes
/// longer than to sort a few.
fn vqsort<T: Element>() -> Option<impl Fn(&mut [T])> {
    let name = format!("vq_{}", T::TYPE);
    // SAFETY: functions of that name sort so many elements of that type.
    let function = unsafe { vqsort_library()?.get::<unsafe extern "C" fn(*mut T, usize)>(name.as_bytes()) };
    let sort = *function.ok()?;
    // SAFETY: there are so many.
    Some(move |slice: &mut [T]| unsafe { sort(slice.as_mut_ptr(), slice.len()) })
}

const DISTRIBUTIONS: [(&str, Distribution); 5] = [
    ("uniform", Distribution::Uniform),
    ("zipf", Distribution::Zipf),
    ("few", Distribution::FewDistinct),
    ("nearly", Distribution::NearlySorted),
    ("sorted", Distribution::Sorted),
];

macro_rules! sorts {
    ($type:ty, $compare:expr) => {
        [
            ("gpusort", |slice| gpusort::sort(slice)),
            ("rdst", |slice| slice.radix_sort_unstable()),
            ("radsort", |slice| radsort::sort(slice)),
            ("voracious", |slice| slice.voracious_sort()),
            ("voracious, all cores", |slice| slice.voracious_mt_sort(rayon::current_num_threads())),
            ("rayon", |slice| slice.par_sort_unstable_by($compare)),
            ("std unstable", |slice| slice.sort_unstable_by($compare)),
            ("std stable", |slice| slice.sort_by($compare)),
        ] as [Sort<$type>; 8]
    };
}

fn main() {
    let (sizes, names): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|word| word.parse::<usize>().is_ok());
    let mut sizes: Vec<usize> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    }
    println!(
        "{} threads. Medians: µs of gpusort, and how many times as long the others take.",
        rayon::current_num_threads()
    );
    println!("Last the least of those, and the same of least times.\n");
    let mut others = names_of(&sorts!(u32, u32::cmp));
    others.extend(vqsort_library().map(|_| "vqsort, one core"));
    println!("| n | elements | gpusort | {} | fastest | by least |", others.join(" | "));
    println!("|---:|---|---:|{}", "---:|".repeat(others.len() + 2));
    for n in sizes {
        for (kind, distribution) in DISTRIBUTIONS {
            macro_rules! all {
                ($($type:ty, $compare:expr;)*) => {$(
                    let name = stringify!($type);
                    let full = format!("{name}-{kind}");
                    let is_plain = distribution == Distribution::Uniform || [4, 8].contains(&size_of::<$type>());
                    if if names.is_empty() { is_plain } else { names.iter().any(|word| word == name || *word == full) } {
                        compare(&full, n, distribution, &sorts!($type, $compare));
                    }
                )*};
            }
            all! {
                u32, u32::cmp;
                i32, i32::cmp;
                f32, f32::total_cmp;
                u64, u64::cmp;
                i64, i64::cmp;
                f64, f64::total_cmp;
                u8, u8::cmp;
                u16, u16::cmp;
            }
        }
    }
}

/// The names of all but the first.
fn names_of<T>(sorts: &[Sort<T>]) -> Vec<&'static str> {
    sorts[1..].iter().map(|sort| sort.0).collect()
}

/// So many elements, by the generator of the command.
fn elements<T: Element>(distribution: Distribution, n: usize, seed: u64) -> Vec<T> {
    let keys = Sequence { element: T::TYPE, distribution, count: n as u64, seed }.keys(0, n);
    let map = T::Word::map(KeyMap::ascending(T::TYPE));
    let keys: Vec<T::Word> = keys.into_vec().expect("the keys of a type are as wide as its words");
    keys.into_iter().map(|key| T::from_word(key.bits(map))).collect()
}

/// Sorts the same in every way, in turn, and prints how long that took.
fn compare<T: Element + PartialEq>(name: &str, n: usize, distribution: Distribution, sorts: &[Sort<T>]) {
    let is_timed =
        |name: &str| n <= ALL || ["gpusort", "rdst", "voracious, all cores", "rayon"].contains(&name);
    let oracle = if n <= ALL { "std stable" } else { "rayon" };
    let (_, oracle) = sorts.iter().find(|sort| sort.0 == oracle).expect("it is one of them");
    let vqsort = vqsort::<T>();
    let mut sorts: Vec<(&str, &dyn Fn(&mut [T]))> =
        sorts.iter().map(|(name, sort)| (*name, sort as &dyn Fn(&mut [T]))).collect();
    sorts.extend(vqsort.as_ref().map(|sort| ("vqsort", sort as &dyn Fn(&mut [T]))));
    let copies = SAMPLE.div_ceil(n);
    let input: Vec<T> = (0..copies).flat_map(|copy| elements(distribution, n, copy as u64)).collect();
    let mut expected = input.clone();
    expected.chunks_mut(n).for_each(oracle);
    let rounds = (60_000_000 / input.len()).clamp(5, 15);
    let mut times = vec![Vec::new(); sorts.len()];
    for round in 0..rounds {
        for turn in 0..sorts.len() {
            // Beginning with another one each time.
            let which = (round + turn) % sorts.len();
            if !is_timed(sorts[which].0) {
                continue;
            }
            let mut output = input.clone();
            let start = Instant::now();
            output.chunks_mut(n).for_each(|slice| sorts[which].1(black_box(slice)));
            times[which].push(start.elapsed().as_secs_f64() * 1e6 / copies as f64);
            assert!(output == expected, "{} is wrong: {name}, {n}", sorts[which].0);
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable_by(f64::total_cmp));
    let ratios = |place: usize| -> Vec<f64> {
        times[1..].iter().map(|of| of.get(place).unwrap_or(&f64::NAN) / times[0][place]).collect()
    };
    let least = |ratios: &[f64]| ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let (median, first) = (ratios(rounds / 2), ratios(0));
    let mut shown: Vec<String> = median
        .iter()
        .map(|ratio| if ratio.is_nan() { String::new() } else { format!("{ratio:.2}") })
        .collect();
    if vqsort_library().is_some() {
        shown.resize(names_of(&sorts!(u32, u32::cmp)).len() + 1, String::new());
    }
    let ours = times[0][rounds / 2];
    let (by_median, by_least) = (least(&median), least(&first));
    println!("| {n} | {name} | {ours:.1} | {} | {by_median:.2} | {by_least:.2} |", shown.join(" | "));
}
