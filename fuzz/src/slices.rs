//! Slices: sorted either way, their positions, and the first few, beside the standard library.

use gpusort::Element;

use crate::choices::Choices;
use crate::{Spoil, same};

/// Bytes of options.
const OPTIONS: usize = 6;

/// Words made from the data by one of eight patterns: repeated, random, few different, short, dense,
/// large, rising, or falling.
fn words(choices: &mut Choices, data: &[u8]) -> Vec<u64> {
    let given: Vec<u64> = data
        .chunks(8)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect();
    let first = given.first().copied().unwrap_or(1);
    let n = choices.of(&[given.len(), 0, 20, 50, 120, 250, 400, 1000, 2100]) + choices.below(24);
    let pattern = choices.below(8);
    let mut state = first;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    };
    let of_given = |at: usize| given.get(at % given.len().max(1)).copied().unwrap_or_default();
    let word = |at: usize| match pattern {
        0 => of_given(at),
        1 => random(),
        2 => of_given(random() as usize % 7),
        3 => random() >> (random() % 64),
        4 => of_given(at) ^ (random() % 4),
        5 => u64::MAX - of_given(at) % 3,
        6 => first.wrapping_add(at as u64 / 2 * 3) ^ if random() % 50 == 0 { random() } else { 0 },
        _ => (n - at) as u64 ^ (first & 0xFF) << 20,
    };
    (0..n).map(word).collect()
}

/// # Errors
///
/// The difference between the library and the standard library.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let (which, what) = (choices.below(10), choices.below(5));
    let words = words(&mut choices, data);
    macro_rules! of {
        ($type:ty, $of:expr, $compare:expr) => {{
            let elements: Vec<$type> = words.iter().map($of).collect();
            compare_as(stringify!($type), &elements, what, choices.below(256), $compare, spoil)
        }};
    }
    // The order among NaN is not promised.
    let narrow =
        |&word: &u64| Some(f32::from_bits((word >> 16) as u32)).filter(|x| !x.is_nan()).unwrap_or(0.5);
    let wide = |&word: &u64| Some(f64::from_bits(word)).filter(|x| !x.is_nan()).unwrap_or(0.5);
    match which {
        0 => of!(u32, |&word| word as u32, u32::cmp),
        1 => of!(u64, |&word| word, u64::cmp),
        2 => of!(f32, narrow, f32::total_cmp),
        3 => of!(f64, wide, f64::total_cmp),
        4 => of!(i32, |&word| word as i32, i32::cmp),
        5 => of!(i64, |&word| word as i64, i64::cmp),
        6 => of!(u16, |&word| word as u16, u16::cmp),
        7 => of!(i16, |&word| word as i16, i16::cmp),
        8 => of!(u8, |&word| word as u8, u8::cmp),
        _ => of!(i8, |&word| word as i8, i8::cmp),
    }
}

fn compare_as<T: Element + bytemuck::NoUninit + std::fmt::Debug>(
    name: &str,
    elements: &[T],
    what: usize,
    k: usize,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
    spoil: Spoil,
) -> Result<(), String> {
    let falls = what % 2 == 1;
    let compare = |a: &T, b: &T| if falls { compare(b, a) } else { compare(a, b) };
    let (library, right) = if what < 2 {
        let (mut sorted, mut right) = (elements.to_vec(), elements.to_vec());
        if falls {
            gpusort::sort_descending(&mut sorted)
        } else {
            gpusort::sort(&mut sorted)
        }
        right.sort_unstable_by(compare);
        (bytemuck::cast_slice(&sorted).to_vec(), bytemuck::cast_slice(&right).to_vec())
    } else if what < 4 {
        let sorted = if falls { gpusort::argsort_descending(elements) } else { gpusort::argsort(elements) };
        let mut right: Vec<u32> = (0..elements.len() as u32).collect();
        right.sort_by(|&a, &b| compare(&elements[a as usize], &elements[b as usize]));
        (bytemuck::cast_slice(&sorted).to_vec(), bytemuck::cast_slice(&right).to_vec())
    } else {
        let sorted = gpusort::top(elements, k);
        let mut right = elements.to_vec();
        right.sort_unstable_by(compare);
        right.truncate(k);
        (bytemuck::cast_slice(&sorted).to_vec(), bytemuck::cast_slice(&right).to_vec())
    };
    let mut library = Ok(library);
    spoil(&mut library);
    let right: Result<Vec<u8>, ()> = Ok(right);
    same(&(name, what, k, elements), &library, &right)
}
