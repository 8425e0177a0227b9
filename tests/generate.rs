//! Test data: the same on every machine, distributed as named.

use std::collections::{HashMap, HashSet};

use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_planner::key::{ElementType, KeyMap, KeyWords};

use crate::support::elements::bits_of;

/// FNV-1a hashes of the little-endian bytes of the first 1000 elements of 1000 with seed 1, by
/// element type in the order of `ElementType::WIDE`. They come from an implementation in another
/// language.
const HASHES: [(Distribution, [u64; 6]); 8] = [
    (
        Distribution::Uniform,
        [
            0xcd45_b219_c2d8_d64b,
            0x27b3_ffe4_a784_604b,
            0xcf56_d51e_14f1_8ff4,
            0x5ce7_2c86_8b46_2531,
            0xaa93_f5dc_30fc_c931,
            0x3592_94eb_edd1_7214,
        ],
    ),
    (
        Distribution::Sorted,
        [
            0x886b_9a31_81c0_f3c9,
            0xd6a6_1a2f_ecbb_55c9,
            0x327f_8da1_bbac_a131,
            0x247c_a752_f038_c137,
            0x4860_cfa6_e579_cc37,
            0x5a41_4f26_9ea1_b205,
        ],
    ),
    (
        Distribution::Reversed,
        [
            0x0166_d780_eae9_7509,
            0x3cdf_c480_82ec_9609,
            0x8a9e_4b68_8321_f6a9,
            0x064c_0e80_3fc5_d59b,
            0x8af8_6413_bc3b_729b,
            0x0e1d_f851_62ea_0a59,
        ],
    ),
    (
        Distribution::NearlySorted,
        [
            0xc37f_80b0_a7fa_a845,
            0x1c88_a52e_a3c4_7d45,
            0x8aaf_eaed_5089_f306,
            0x7c0a_55d8_b493_2201,
            0x0cbc_1ff4_0b6a_6001,
            0x5a7d_0814_fad8_d0a8,
        ],
    ),
    (
        Distribution::Equal,
        [
            0x96ee_b4c2_89cd_ab55,
            0x083f_8b13_c2db_8b55,
            0x1546_610d_aa7c_5125,
            0xb546_bf87_cf12_e285,
            0x8468_7978_94c4_4585,
            0xf2fd_3020_b022_aa15,
        ],
    ),
    (
        Distribution::FewDistinct,
        [
            0xcacb_6544_b9f0_0875,
            0x1654_0d08_0583_8675,
            0x8a21_999e_d582_8cf8,
            0x7793_85d8_31c5_b3f5,
            0x6615_52b0_9104_59f5,
            0x52d9_4db3_c283_71e4,
        ],
    ),
    (
        Distribution::Zipf,
        [
            0xc2ef_fe16_4160_4ee3,
            0xc2ef_fe16_4160_4ee3,
            0x5007_e34b_34aa_e417,
            0xfd88_6423_037e_f413,
            0xfd88_6423_037e_f413,
            0xf243_d2b6_22eb_cf45,
        ],
    ),
    (
        Distribution::Sycl,
        [
            0x7ddb_edbd_50d5_ad8b,
            0x7ddb_edbd_50d5_ad8b,
            0x16e1_aadf_5ca7_662b,
            0x3f94_3d1b_ba81_278b,
            0x3f94_3d1b_ba81_278b,
            0xc257_1cf3_4f74_36f3,
        ],
    ),
];

fn sequence(element: ElementType, distribution: Distribution, count: u64) -> Sequence {
    Sequence { element, distribution, count, seed: 1 }
}

fn bytes(sequence: &Sequence, count: u64) -> Vec<u8> {
    let width = sequence.element.bytes();
    (0..count).flat_map(|i| sequence.bits(i).to_le_bytes()[..width].to_vec()).collect()
}

fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn sequences_are_the_same_everywhere() {
    for (distribution, hashes) in HASHES {
        for (element, expected) in ElementType::WIDE.into_iter().zip(hashes) {
            let of = sequence(element, distribution, 1000);
            assert_eq!(hash(&bytes(&of, 1000)), expected, "{element} {distribution}");
            // The hash must be able to fail.
            assert_ne!(hash(&bytes(&of, 999)), expected);
        }
    }
    assert_eq!(HASHES.map(|(distribution, _)| distribution), Distribution::ALL);
}

#[test]
fn any_part_can_be_generated_alone() {
    for distribution in Distribution::ALL {
        for element in ElementType::ALL {
            let of = sequence(element, distribution, 10_000);
            let mut bits = Vec::new();
            for (first, count) in [(0, 1), (1, 4096), (4097, 5903)] {
                bits.extend(bits_of(of.keys(first, count), KeyMap::ascending(element)));
            }
            assert!(bits.into_iter().eq((0..10_000).map(|i| of.bits(i))), "{element} {distribution}");
        }
    }
}

/// The keys of all 100,000 elements, as 64-bit words.
fn keys(element: ElementType, distribution: Distribution) -> Vec<u64> {
    let keys = sequence(element, distribution, 100_000).keys(0, 100_000);
    // Of an unsigned type the keys are the bits.
    let unsigned = if keys.width() == KeyWords::One { ElementType::U32 } else { ElementType::U64 };
    bits_of(keys, KeyMap::ascending(unsigned))
}

#[test]
fn distributions_match_their_names() {
    for element in ElementType::WIDE {
        let [uniform, sorted, mut reversed, nearly, equal, few] = [
            Distribution::Uniform,
            Distribution::Sorted,
            Distribution::Reversed,
            Distribution::NearlySorted,
            Distribution::Equal,
            Distribution::FewDistinct,
        ]
        .map(|distribution| keys(element, distribution));
        assert!(sorted.is_sorted() && sorted[0] < sorted[50_000] && sorted[50_000] < sorted[99_999]);
        reversed.reverse();
        assert_eq!(reversed, sorted);
        let displaced = nearly.iter().zip(&sorted).filter(|(a, b)| a != b).count();
        assert!((800..1200).contains(&displaced), "{displaced}");
        assert!(equal.iter().all(|key| *key == equal[0]));
        let distinct = |keys: &[u64]| {
            let mut counts = HashMap::new();
            keys.iter().for_each(|key| *counts.entry(*key).or_insert(0) += 1);
            counts
        };
        let counts = distinct(&few);
        assert!(
            counts.len() == 16 && counts.values().all(|count| (5500..7000).contains(count)),
            "{counts:?}"
        );
        // By sixteenths of the range, and hardly one twice.
        assert!(distinct(&uniform).len() > 98_000);
        let (low, high) = (sorted[0], sorted[99_999]);
        if !element.is_float() {
            let below = uniform.iter().filter(|key| **key < low + (high - low) / 16).count();
            assert!((5500..7000).contains(&below), "{below}");
        }
    }
}

#[test]
fn floats_lie_evenly_between_minus_one_and_one() {
    let of = sequence(ElementType::F64, Distribution::Uniform, 100_000);
    let mut tenths = [0; 10];
    for i in 0..100_000 {
        let value = f64::from_bits(of.bits(i));
        assert!((-1.0..1.0).contains(&value));
        tenths[((value + 1.0) * 5.0) as usize] += 1;
    }
    assert!(tenths.iter().all(|count| (9500..10_500).contains(count)), "{tenths:?}");
}

#[test]
fn zipf_is_in_proportion_to_the_reciprocals() {
    let of = sequence(ElementType::U64, Distribution::Zipf, 1 << 18);
    let mut counts = vec![0_u32; 1 << 19];
    (0..1 << 18).for_each(|i| counts[of.bits(i) as usize] += 1);
    assert_eq!(counts[0], 0);
    // The sum of 1/k for all k up to 2^19 - 1.
    let harmonic: f64 = (1..1 << 19).map(|k| 1.0 / f64::from(k)).sum();
    for (k, &count) in counts.iter().enumerate().take(40).skip(1) {
        let expected = f64::from(1 << 18) / harmonic / k as f64;
        let off = (f64::from(count) - expected).abs();
        assert!(off < 5.0 * expected.sqrt(), "{k}: {count} for {expected}");
    }
    let tail: u32 = counts[1 << 18..].iter().sum();
    let expected = f64::from(1 << 18) / harmonic * std::f64::consts::LN_2;
    assert!((f64::from(tail) - expected).abs() < 5.0 * expected.sqrt(), "{tail} for {expected}");
}

#[test]
fn texts_are_distributed_as_numbers_are() {
    let lines = |distribution, count: u64| {
        let of = sequence(ElementType::U64, distribution, count);
        // Any part can be generated alone.
        let parts = [(0, 1), (1, 4096), (4097, count as usize - 4097)];
        let lines = parts.map(|(first, count)| of.lines(first, count)).concat();
        assert_eq!(lines, of.lines(0, count as usize), "{distribution}");
        let lines: Vec<String> = String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(lines.len() as u64, count);
        for line in &lines {
            assert!(
                (12..=40).contains(&line.len()) && line.bytes().all(|c| c.is_ascii_lowercase()),
                "{line}"
            );
        }
        lines
    };
    let distinct = |lines: &[String]| lines.iter().collect::<HashSet<_>>().len();
    let uniform = lines(Distribution::Uniform, 100_000);
    assert_eq!(distinct(&uniform), 100_000);
    for length in 12..=40 {
        let count = uniform.iter().filter(|line| line.len() == length).count();
        assert!((3100..3800).contains(&count), "{count} of {length} letters");
    }
    assert!(lines(Distribution::Sorted, 100_000).is_sorted_by(|a, b| a < b));
    assert!(lines(Distribution::Reversed, 100_000).is_sorted_by(|a, b| a > b));
    assert_eq!(distinct(&lines(Distribution::Equal, 10_000)), 1);
    assert_eq!(distinct(&lines(Distribution::FewDistinct, 10_000)), 16);
    // Each number is another text.
    let zipf = lines(Distribution::Zipf, 10_000);
    let of = sequence(ElementType::U64, Distribution::Zipf, 10_000);
    let numbers: Vec<u64> = (0..10_000).map(|i| of.bits(i)).collect();
    let pairs: HashSet<_> = numbers.iter().zip(&zipf).collect();
    assert_eq!(pairs.len(), distinct(&zipf));
    assert_eq!(pairs.len(), numbers.iter().collect::<HashSet<_>>().len());
}

#[test]
fn another_seed_makes_other_numbers() {
    for distribution in
        [Distribution::Uniform, Distribution::Equal, Distribution::Zipf, Distribution::FewDistinct]
    {
        let of = sequence(ElementType::U32, distribution, 1000);
        assert_ne!(bytes(&of, 1000), bytes(&Sequence { seed: 2, ..of }, 1000), "{distribution}");
    }
}
