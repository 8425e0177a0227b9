//! Sorts by leading digits: what the device chooses, and all that it does where keys are not as the
//! sample makes it believe.

use std::collections::BTreeSet;

use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::{Algorithm, Plan, RadixTile, RadixTuning, Shape, Variant};

use crate::device::gpu;
use crate::inputs::random;
use crate::radix::{on_device, sorted};

/// Elements of a window in these tests, and from one border to the next.
const WINDOW: usize = 64;
const NOMINAL: usize = 60;

/// Narrow keys alone, and wide ones with a payload: kernels take long to compile.
const SHAPES: [Shape; 2] =
    [Shape { key: KeyWords::One, payload: false }, Shape { key: KeyWords::Two, payload: true }];

/// A plan in small tiles and windows with so many leading digits.
fn plan(n: usize, shape: Shape, leading: Option<u32>) -> Plan {
    let limits = &gpu().info().limits;
    let tile = RadixTile::new(64, 4, limits).unwrap();
    let tuning = RadixTuning { window: 8, leading, ..RadixTuning::of(tile) };
    Plan::radix(Variant::Leading, n, shape, limits, &tuning).unwrap()
}

/// Keys of this shape in runs of these lengths, each with `leading` digits of its own; in any order. If
/// few, the other digits have few values, so that keys are equal.
fn in_runs(shape: Shape, leading: u32, lengths: &[usize], few: bool) -> Vec<u64> {
    let bits = 32 * shape.key_words() - 8 * leading;
    let rest = ((1 << bits) - 1) & if few { 0x0303_0303_0303_0303 } else { u64::MAX };
    let mut drawn = random(lengths.len() as u64);
    let prefixes: BTreeSet<u64> =
        drawn.by_ref().map(|word| word >> (64 - 8 * leading)).take(2 * lengths.len()).collect();
    let prefixes = prefixes.into_iter().chain(0..);
    let mut words: Vec<u64> = Vec::new();
    for (&length, prefix) in lengths.iter().zip(prefixes) {
        words.extend(drawn.by_ref().take(length).map(|word| prefix << bits | word & rest));
    }
    // As a shuffle: by numbers that have nothing to do with them.
    let mut numbered: Vec<(u64, u64)> = drawn.zip(words).collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, word)| word).collect()
}

/// Long runs that a sort noted.
fn noted(plan: &Plan, words: &[u64], what: &str) -> u32 {
    let (elements, aux_buffers) = on_device(plan, words, words.len(), &["cuts"]);
    assert!(elements == sorted(plan.shape(), words), "{what}");
    aux_buffers["cuts"][0]
}

/// Kinds of keys, each with how many long runs must be noted of them, at least and at most.
fn cases() -> Vec<(&'static str, Vec<usize>, (u32, u32))> {
    let mixed = [1, 3, 200, 64, 65, 66, 17, 1, 500, 63, 2, 90, 5].repeat(4);
    vec![
        ("keys apart", vec![1; 900], (0, 0)),
        ("few alike", vec![5; 400], (0, 0)),
        ("alike by the border", [4, 5, 3, 7, 60, 1, 2].repeat(20), (0, 0)),
        ("as many as a window has", vec![WINDOW; 40], (0, 0)),
        ("one more than a window has", vec![WINDOW + 1; 40], (1, 40)),
        ("one long run", [vec![3; 300], vec![2000], vec![3; 300]].concat(), (1, 1)),
        ("half in one", [vec![1; 2000], vec![2000]].concat(), (1, 1)),
        ("one run of all", vec![3000], (1, 1)),
        ("of all lengths", mixed, (4, 52)),
        ("more runs than workgroups", vec![2 * WINDOW; 520], (520, 520)),
        ("one window", vec![30, 20, 14], (0, 0)),
        ("less than a window", vec![30, 20, 9], (0, 0)),
        ("little more than a border", vec![10, NOMINAL - 10, 1], (0, 0)),
    ]
}

#[test]
fn runs_of_all_lengths_are_sorted() {
    for shape in SHAPES {
        let digits = 4 * shape.key_words();
        for leading in [digits - 1, digits / 2] {
            for (name, lengths, (least, most)) in cases() {
                for few in [false, true] {
                    let words = in_runs(shape, leading, &lengths, few);
                    let what = format!("{shape:?} by {leading}: {name}, {few}");
                    let runs = noted(&plan(words.len(), shape, Some(leading)), &words, &what);
                    assert!((least..=most).contains(&runs), "{what}: {runs}");
                }
            }
        }
    }
}

#[test]
fn a_window_in_any_order_is_sorted() {
    // Descending, so that each element goes as far as it can: merges of neighbours do not suffice.
    for shape in SHAPES {
        for n in [2, 9, 31, NOMINAL, WINDOW] {
            let words: Vec<u64> = (0..n as u64).rev().map(|word| word / 3).collect();
            let what = format!("{shape:?} {n}");
            assert_eq!(noted(&plan(n, shape, Some(1)), &words, &what), 0, "{what}");
        }
    }
}

#[test]
fn positions_alone_are_right_where_runs_are_long() {
    for shape in SHAPES.into_iter().filter(|shape| shape.payload) {
        for (name, lengths, ..) in cases() {
            let words = in_runs(shape, 2, &lengths, true);
            let plan = plan(words.len(), shape, Some(2)).without_keys();
            let ((_, positions), _) = on_device(&plan, &words, words.len(), &[]);
            assert!(positions == sorted(shape, &words).1, "{shape:?} {name}");
        }
    }
}

/// The lowest of the leading digits that the device chooses.
fn chosen(shape: Shape, words: &[u64]) -> u32 {
    let (elements, aux_buffers) =
        on_device(&plan(words.len(), shape, None), words, words.len(), &["varying_bits"]);
    assert!(elements == sorted(shape, words));
    aux_buffers["varying_bits"][4]
}

#[test]
fn as_many_digits_are_chosen_as_tell_keys_apart() {
    let n = 20_011;
    let keys = |map: fn(u64) -> u64| random(5).take(n).map(map).collect::<Vec<u64>>();
    let [narrow, wide] = SHAPES;
    // Two digits leave a key with 0.3 mates, one with 78.
    assert_eq!(chosen(wide, &keys(|word| word)), 6);
    assert_eq!(chosen(narrow, &keys(|word| word)), 2);
    // The first digits are the same in all keys.
    assert_eq!(chosen(wide, &keys(|word| word >> 16)), 4);
    // Few values; all equal; half equal; half of them beginning alike.
    assert_eq!(chosen(wide, &keys(|word| word % 100)), 0);
    assert_eq!(chosen(wide, &keys(|_| 1 << 40)), 0);
    assert_eq!(chosen(wide, &keys(|word| if word % 2 == 0 { word } else { 5 })), 0);
    assert_eq!(chosen(wide, &keys(|word| if word % 2 == 0 { word } else { word >> 48 })), 0);
    // One pass more would be left out: not enough.
    assert_eq!(chosen(narrow, &keys(|word| word & 0xFFFF_FF00)), 0);
    // Numbers of little entropy, spread over all digits.
    assert_eq!(chosen(wide, &keys(|word| word % 400 * 0x9E37_79B9_7F4A_7C15)), 0);
}

#[test]
fn the_interpreter_chooses_as_the_device_does() {
    for shape in Shape::ALL {
        for n in [0, 1, 2, 100, 5003] {
            let words: Vec<u64> = random(n as u64).take(n).collect();
            let plan = Plan::new(Algorithm::Radix, Variant::Leading, n, shape, &gpu().info().limits).unwrap();
            let on_cpu = crate::radix::on_cpu(&plan, &words).0;
            assert!(on_cpu == sorted(shape, &words) && on_device(&plan, &words, n, &[]).0 == on_cpu);
        }
    }
}

#[test]
fn what_sorts_long_runs_is_needed() {
    // The tests above must be able to fail.
    let shape = SHAPES[1];
    let words = in_runs(shape, 2, &[1000, 3], false);
    let plan = plan(words.len(), shape, Some(2));
    let cut = plan.prefix(plan.dispatch_count() - 1);
    assert!(on_device(&cut, &words, words.len(), &[]).0 != sorted(shape, &words));
}
