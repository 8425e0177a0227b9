//! Inputs that sorts get wrong, for every test to draw from.

use gpusort_planner::key::ElementType;

/// Pseudo-random 64-bit words: `SplitMix64` (G. L. Steele, D. Lea, C. H. Flood, 2014).
pub fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0xD129_0D3A_85C9_6D6B);
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

/// The shapes of input that every size is tried with.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    Random,
    /// Few distinct keys, so that ties are everywhere.
    FewDistinct,
    AllEqual,
    AllLargest,
    Sorted,
    Reversed,
    /// Rises, then falls: a network's own intermediate state.
    OrganPipe,
    Zeros01,
}

pub const PATTERNS: [Pattern; 8] = [
    Pattern::Random,
    Pattern::FewDistinct,
    Pattern::AllEqual,
    Pattern::AllLargest,
    Pattern::Sorted,
    Pattern::Reversed,
    Pattern::OrganPipe,
    Pattern::Zeros01,
];

impl Pattern {
    /// `n` 64-bit words of this pattern; cut to 32 bits they still have it.
    pub fn words(self, n: usize, seed: u64) -> Vec<u64> {
        let spread = |i: usize| (i as u64) << 32 | i as u64;
        match self {
            Self::Random => random(seed).take(n).collect(),
            Self::FewDistinct => {
                random(seed).take(n).map(|word| ((word % 5) << 32) | ((word >> 40) % 3)).collect()
            }
            Self::AllEqual => vec![0x0102_0304_0506_0708; n],
            Self::AllLargest => vec![u64::MAX; n],
            Self::Sorted => (0..n).map(spread).collect(),
            Self::Reversed => (0..n).rev().map(spread).collect(),
            Self::OrganPipe => (0..n).map(|i| spread(i.min(n - i))).collect(),
            Self::Zeros01 => random(seed).take(n).map(|word| word & 1).collect(),
        }
    }
}

/// The bits of the values of this type that sorts get wrong.
pub fn specials(element: ElementType) -> Vec<u64> {
    match element {
        ElementType::U32 => vec![0, 1, u32::MAX.into(), u64::from(u32::MAX) - 1, 1 << 31],
        ElementType::I32 => [i32::MIN, -1, 0, 1, i32::MAX].map(|value| u64::from(value as u32)).to_vec(),
        ElementType::U64 => vec![0, 1, u32::MAX.into(), 1 << 32, 1 << 63, u64::MAX],
        ElementType::I64 => {
            [i64::MIN, -1, 0, 1, i64::MAX, -(1 << 32), 1 << 32].map(|value| value as u64).to_vec()
        }
        ElementType::F32 => {
            let numbers = [
                f32::NEG_INFINITY,
                f32::MIN,
                -1.5,
                -0.0,
                0.0,
                f32::MIN_POSITIVE,
                1.5,
                f32::MAX,
                f32::INFINITY,
            ];
            let bits = [
                1,
                0x8000_0001,
                0x7F80_0001,
                0x7FC0_0000,
                0x7FFF_FFFF,
                0xFF80_0001,
                0xFFC0_0000,
                0xFFFF_FFFF,
            ];
            numbers.iter().map(|number| u64::from(number.to_bits())).chain(bits).collect()
        }
        ElementType::U8 => vec![0, 1, 0x7F, 0x80, 0xFF],
        ElementType::I8 => vec![0x80, 0xFF, 0, 1, 0x7F],
        ElementType::U16 => vec![0, 1, 0xFF, 0x8000, 0xFFFF],
        ElementType::I16 => vec![0x8000, 0xFFFF, 0, 1, 0x7FFF],
        ElementType::F16 => {
            let numbers = vec![0xFC00, 0xFBFF, 0xBE00, 0x8001, 0x8000, 0, 1, 0x3E00, 0x7BFF, 0x7C00];
            [numbers, vec![0x7C01, 0x7E00, 0x7FFF, 0xFC01, 0xFE00, 0xFFFF]].concat()
        }
        ElementType::F64 => {
            let numbers = [
                f64::NEG_INFINITY,
                f64::MIN,
                -1.5,
                -0.0,
                0.0,
                f64::MIN_POSITIVE,
                1.5,
                f64::MAX,
                f64::INFINITY,
            ];
            let nans = [0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0000, 0xFFF0_0000_0000_0001, u64::MAX];
            numbers.iter().map(|number| number.to_bits()).chain([1, 1 << 63 | 1]).chain(nans).collect()
        }
    }
}

/// Bits of `n` elements of this type: a pattern, and in the random ones every special value.
pub fn elements(element: ElementType, n: usize, seed: u64) -> Vec<u64> {
    let pattern = PATTERNS[seed as usize % PATTERNS.len()];
    let mut words = pattern.words(n, seed);
    if matches!(pattern, Pattern::Random) {
        let specials = specials(element);
        for (place, word) in words.iter_mut().enumerate().filter(|(place, _)| place % 3 == 1) {
            *word = specials[place / 3 % specials.len()];
        }
    }
    let mask = u64::MAX >> (64 - 8 * element.bytes());
    words.iter_mut().for_each(|word| *word &= mask);
    words
}
