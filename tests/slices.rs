//! Slices on the CPU, of every type, against the order rules: sizes around every threshold, and
//! inputs that digits get wrong.

use gpusort::{Element, ElementType};
use gpusort_planner::key::Word;

use half::f16;

use crate::inputs::random;
use crate::oracle::{check_multiset, compare, in_order};
use crate::support::tier;

/// Around the thresholds: insertion, bytes or wide digits, one core or all, and counting.
const SIZES: [usize; 5] = [24, 1 << 11, 1 << 15, 1 << 17, 1 << 19];

/// The shapes of input, by their names.
const SHAPES: [&str; 17] = [
    "random",
    "equal",
    "sorted",
    "reversed",
    "sorted but one",
    "few distinct",
    "few distinct in some bits",
    "few distinct in some bits but one",
    "near zero",
    "extremes",
    "equal above, random below",
    "one far away",
    "skewed",
    "runs",
    "lowest bits alike",
    "highest byte alike",
    "zeros of both signs in the middle",
];

/// The bits of `n` elements of this shape.
fn bits(element: ElementType, shape: &str, n: usize) -> Vec<u64> {
    let width = 8 * element.bytes() as u32;
    let mask = u64::MAX >> (64 - width);
    let sign = 1 << (width - 1);
    let random = random(n as u64).take(n);
    let mut bits: Vec<u64> = match shape {
        "equal" => vec![0x4045_2E81_1F0A_9C37; n],
        "few distinct" => random.map(|word| (word % 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect(),
        // The one is where no sample looks.
        "few distinct in some bits" => random.map(|word| (word % 5) << (width / 2 - 2)).collect(),
        "few distinct in some bits but one" => random
            .enumerate()
            .map(|(i, word)| if i + 2 == n { 3 } else { (word % 5) << (width / 2 - 2) })
            .collect(),
        // Of both signs, where there are signs: zeros, the least of all, −1 and those beside it.
        "near zero" => random.map(|word| (word & sign) | ((word >> 32) % 5)).collect(),
        "extremes" => {
            let infinity = match element {
                ElementType::F16 => 0x7C00,
                ElementType::F32 => 0x7F80_0000,
                ElementType::F64 => 0x7FF0_0000_0000_0000,
                _ => sign >> 1,
            };
            // With NaN of both signs, quiet and signalling, where there is NaN.
            let all =
                [0, 1, mask, mask - 1, sign, sign - 1, sign + 1, infinity, infinity + 1, infinity | sign];
            random.map(|word| all[word as usize % all.len()] ^ u64::from(word >> 60 == 0)).collect()
        }
        // All that tells them apart is in the bits that come last.
        "equal above, random below" => {
            random.map(|word| (word & (mask >> (3 * width / 4))) | (word >> 62) << (width - 2)).collect()
        }
        "one far away" => {
            random.enumerate().map(|(i, word)| if i == n / 3 { mask } else { word % 9 }).collect()
        }
        "skewed" => random.map(|word| mask / (word % 100_000 + 1)).collect(),
        "runs" => {
            random.enumerate().map(|(i, word)| ((i as u64 / 100 % 50) << (width / 2)) | (word % 3)).collect()
        }
        "lowest bits alike" => random.map(|word| word << (width / 2) | 5).collect(),
        "highest byte alike" => random.map(|word| (word & (mask >> 8)) | 0x40 << (width - 8)).collect(),
        // No float is infinite or NaN without the highest bit of the exponent.
        "zeros of both signs in the middle" => random.map(|word| word & !(sign >> 1)).collect(),
        _ => random.collect(),
    };
    bits.iter_mut().for_each(|bits| *bits &= mask);
    if ["sorted", "reversed", "sorted but one"].contains(&shape) {
        bits = in_order(element, shape == "reversed", &bits);
    }
    if shape == "zeros of both signs in the middle" {
        bits = in_order(element, n % 2 == 1, &bits);
        let middle = bits[n / 3..n - n / 3].iter_mut().enumerate();
        middle.for_each(|(i, bits)| *bits = if i % 3 == 1 { sign } else { 0 });
    }
    if shape == "sorted but one" && n > 2 {
        bits.swap(n / 2, n - 1);
    }
    bits
}

fn of_bits<T: Element>(bits: &[u64]) -> Vec<T> {
    bits.iter().map(|&bits| T::from_word(T::Word::of_u64(bits))).collect()
}

fn bits_of<T: Element>(elements: &[T]) -> Vec<u64> {
    elements.iter().map(|element| element.to_word().into()).collect()
}

/// Sorts both ways, and compares with the rules.
fn check<T: Element>(shape: &str, n: usize) {
    let input = bits(T::TYPE, shape, n);
    for descending in [false, true] {
        let mut elements: Vec<T> = of_bits(&input);
        if descending {
            gpusort::sort_descending(&mut elements);
        } else {
            gpusort::sort(&mut elements);
        }
        let (expected, sorted) = (in_order(T::TYPE, descending, &input), bits_of(&elements));
        assert!(sorted == expected, "{} {shape} {n}, descending: {descending}", T::TYPE);
        check_multiset(&input, &sorted).unwrap();
        if n > 70_000 {
            continue;
        }
        let elements: Vec<T> = of_bits(&input);
        let (positions, top) = match descending {
            false => (gpusort::argsort(&elements), gpusort::top(&elements, n / 3)),
            true => (gpusort::argsort_descending(&elements), gpusort::top_descending(&elements, n / 3)),
        };
        assert!(bits_of(&top) == expected[..n / 3], "top of {} {shape} {n}, {descending}", T::TYPE);
        let mut stable: Vec<u32> = (0..n as u32).collect();
        stable.sort_by(|&a, &b| compare(T::TYPE, descending, input[a as usize], input[b as usize]));
        assert!(positions == stable, "positions of {} {shape} {n}, {descending}", T::TYPE);
    }
}

/// Does so for each of the eleven types.
fn check_types(shape: &str, n: usize) {
    macro_rules! each {
        ($($type:ty)*) => { $(check::<$type>(shape, n);)* };
    }
    each!(u8 i8 u16 i16 f16 u32 i32 f32 u64 i64 f64);
}

#[test]
fn slices_of_few_elements() {
    for shape in SHAPES {
        for n in (0..70).chain([97, 255, 256, 257, 1000, 1009]) {
            check_types(shape, n);
        }
    }
}

#[test]
fn slices_around_every_threshold() {
    let most = if tier::is_quick() { 1 << 15 } else { 1 << 17 };
    for n in SIZES.into_iter().filter(|&n| n <= most) {
        for n in [n - 1, n, n + 1] {
            SHAPES.iter().for_each(|shape| check_types(shape, n));
        }
    }
}

#[test]
fn slices_of_very_many_elements() {
    for n in [(1 << 19) - 1, 1 << 19, tier::count(1_000_003, 600_011)] {
        for shape in ["random", "skewed", "extremes", "one far away"] {
            check_types(shape, n);
        }
    }
}
