//! Sorts keys by vector instructions, which are chosen when the program runs.
//!
//! Quicksort whose steps are vectors: [`engine`] has it once, for every instruction set that has the
//! few operations of [`Vector`](engine::Vector). Keys are divided by compressing the lanes that are
//! less than a pivot, and few of them are sorted in registers by a network:
//!
//! ```text
//! keys     [ 7 1 8 2 | 9 3 6 4 | … ]     a vector at a time, less than the pivot 5 or not
//!              ╱        ╲
//! keys     [ 1 2 3 4 … ]  scratch [ 7 8 9 6 … ]     then the right part, back to behind the left one
//! ```
//!
//! Up to sixteen vectors are a matrix whose columns a network sorts, and whose lanes are then
//! merged by two, four, and so on. After Blacher and others, "Vectorized and performance-portable
//! Quicksort" (2022), and Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512"
//! (2017).

#[cfg(target_arch = "x86_64")]
#[expect(clippy::inline_always, reason = "what is not inlined is compiled without the instructions")]
mod engine;
#[cfg(target_arch = "x86_64")]
#[expect(clippy::inline_always, reason = "what is not inlined is compiled without the instructions")]
#[allow(clippy::wildcard_imports, reason = "each instruction is a function of its own")]
mod x86;

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::OnceLock;

use gpusort_planner::item::Item;

/// Vectors that are sorted in registers.
const ROWS: usize = 16;

/// The instructions that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Instructions {
    /// Those that every processor of this kind has.
    Plain,
    /// AVX2 of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 (F, BW, CD, DQ and VL) of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// All that this program was built for, from the least.
    pub(crate) const ALL: &[Self] = &[
        Self::Plain,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor has them.
    fn are_there(self) -> bool {
        match self {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::has_avx512(),
        }
    }

    /// The best that this processor has, up to those that the variable `GPUSORT_CPU` names, by which
    /// tests and measurements choose others.
    pub(crate) fn chosen() -> Self {
        static CHOSEN: OnceLock<Instructions> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let named = std::env::var("GPUSORT_CPU").unwrap_or_default();
            let most = Self::ALL.iter().position(|one| one.name() == named).unwrap_or(Self::ALL.len() - 1);
            let there = |one: &&Self| one.are_there();
            Self::ALL[..=most].iter().rev().find(there).copied().unwrap_or(Self::Plain)
        })
    }

    /// How many such keys are sorted in registers, without room; 0 where they are not sorted by
    /// vectors.
    pub(super) fn in_registers<T: Item>(self) -> usize {
        let bytes = match self {
            Self::Plain => 0,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 32,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 64,
        };
        if is::<T, u32>() || is::<T, u64>() { ROWS * bytes / size_of::<T>() } else { 0 }
    }

    /// Sorts keys, with as much room if they do not fit registers; returns whether it has, since
    /// some keys, and all where there are no such instructions, are not sorted by vectors. `rest`
    /// sorts keys that no pivot divides well.
    pub(super) fn sort<T: Item>(
        self,
        keys: &mut [T],
        room: &mut [MaybeUninit<T>],
        rest: impl FnMut(&mut [T]),
    ) -> bool {
        // Of pivots that are about medians, far fewer do.
        let divisions = 2 * keys.len().max(1).ilog2() + 8;
        self.sort_within(divisions, keys, room, rest)
    }

    /// The same, of keys that are divided at most so often.
    fn sort_within<T: Item>(
        self,
        divisions: u32,
        keys: &mut [T],
        room: &mut [MaybeUninit<T>],
        mut rest: impl FnMut(&mut [T]),
    ) -> bool {
        if self.in_registers::<T>() == 0 {
            return false;
        }
        assert!(keys.len() <= self.in_registers::<T>().max(room.len()), "there is as much room as keys");
        #[cfg(target_arch = "x86_64")]
        if let (Some(keys), Some(room)) = (as_slice_of::<_, u32>(keys), as_slice_of(room)) {
            let mut rest = |keys: &mut [u32]| as_slice_of(keys).into_iter().for_each(&mut rest);
            x86::sort_u32(self, keys, room, &mut rest, divisions);
        } else if let (Some(keys), Some(room)) = (as_slice_of::<_, u64>(keys), as_slice_of(room)) {
            let mut rest = |keys: &mut [u64]| as_slice_of(keys).into_iter().for_each(&mut rest);
            x86::sort_u64(self, keys, room, &mut rest, divisions);
        }
        true
    }

    /// Whether one core sorts any number of keys faster than by scattering them first.
    pub(super) fn divides_well(self) -> bool {
        match self {
            Self::Plain => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => true,
        }
    }

    /// Whether a sort by digits is faster than one by vectors, if there are many keys: where their
    /// highest bits tell them apart, or where there are no good instructions for wide keys.
    pub(super) fn prefers_digits<T: Item>(self, keys: &[T]) -> bool {
        /// More are never `even`.
        const MOST: usize = usize::MAX;
        let is_wide = size_of::<T>() > size_of::<u32>();
        let (any, even) = match (self, is_wide) {
            (Self::Plain, _) => (0, 0..MOST),
            #[cfg(target_arch = "x86_64")]
            (Self::Avx2, false) => (MOST, 1 << 13..MOST),
            #[cfg(target_arch = "x86_64")]
            (Self::Avx2, true) => (1 << 8, MOST..MOST),
            #[cfg(target_arch = "x86_64")]
            (Self::Avx512, false) => (MOST, MOST..MOST),
            #[cfg(target_arch = "x86_64")]
            (Self::Avx512, true) => (MOST, 1 << 12..1 << 18),
        };
        keys.len() >= any || even.contains(&keys.len()) && are_for_digits(keys)
    }
}

/// Whether digits tell keys apart soon, by some of them: they differ evenly in their highest bits,
/// or in few.
fn are_for_digits<T: Item>(keys: &[T]) -> bool {
    const SAMPLES: usize = 256;
    const VALUES: usize = 64;
    let sample = || keys.iter().step_by(keys.len().div_ceil(SAMPLES)).map(|key| key.key());
    let (least, greatest) = sample().fold((u64::MAX, 0), |(a, b), key| (a.min(key), b.max(key)));
    let bits = u64::BITS - (greatest - least).leading_zeros();
    // Two digits are all that there is, and take less time than many divisions.
    if bits <= 2 * super::local::DIGIT_BITS && keys.len() > 1 << 15 {
        return true;
    }
    let shift = bits.saturating_sub(VALUES.ilog2());
    let mut counts = [0; VALUES];
    sample().for_each(|key| counts[((key - least) >> shift) as usize] += 1);
    counts.iter().all(|&count| count <= 4 * SAMPLES / VALUES)
}

/// Whether two types are the same.
fn is<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}

/// The slice, if it is of this type.
fn as_slice_of<A: 'static, B: 'static>(slice: &mut [A]) -> Option<&mut [B]> {
    // SAFETY: the types are the same.
    is::<A, B>().then(|| unsafe { slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) })
}

#[cfg(test)]
mod tests {
    use gpusort_planner::key::Word;

    use super::*;

    /// Those by which this machine can sort.
    fn all() -> impl Iterator<Item = Instructions> {
        Instructions::ALL.iter().copied().filter(|with| with.are_there() && *with != Instructions::Plain)
    }

    /// Sorts these keys among others, and tells whether they are as they should be, and the others
    /// as they were.
    fn is_right<W: Word>(keys: &[W], sort: impl FnOnce(&mut [W], &mut [MaybeUninit<W>])) -> bool {
        let around = [W::of_u64(5); 40];
        let mut all = [&around[..], keys, &around[..]].concat();
        let mut room = vec![MaybeUninit::new(W::of_u64(9)); keys.len() + 40];
        sort(&mut all[40..40 + keys.len()], &mut room[..keys.len()]);
        let mut expected = keys.to_vec();
        expected.sort_unstable();
        // SAFETY: it was made of keys.
        let untouched = room[keys.len()..].iter().all(|key| unsafe { key.assume_init() } == W::of_u64(9));
        all == [&around[..], &expected, &around[..]].concat() && untouched
    }

    fn with<W: Word>(with: Instructions, keys: &[W]) -> bool {
        is_right(keys, |keys, room| assert!(with.sort(keys, room, |_| panic!("pivots divide these"))))
    }

    /// Numbers that are all alike on every machine.
    fn random() -> impl FnMut() -> u64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state ^ state >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }
    }

    #[test]
    fn a_wrong_sort_is_noticed() {
        let keys = [3_u32, 1, 2];
        assert!(is_right(&keys, |keys, _| keys.sort_unstable()));
        assert!(!is_right(&keys, |_, _| {}));
        assert!(!is_right(&keys, |keys, _| keys.copy_from_slice(&[1, 2, 2])));
    }

    /// By the 0/1 principle a network that sorts these sorts all.
    #[test]
    fn networks_sort_all_zeros_and_ones() {
        for by in all() {
            for count in 0..=16 {
                for ones in 0..1_u32 << count {
                    let keys: Vec<u32> = (0..count).map(|place| ones >> place & 1).collect();
                    assert!(with(by, &keys), "{by:?} {keys:?}");
                    if count <= 10 {
                        let keys: Vec<u64> = keys.iter().map(|&key| key.into()).collect();
                        assert!(with(by, &keys), "{by:?} {keys:?}");
                    }
                }
            }
        }
    }

    /// Every size up to more than fits registers, at which another network begins.
    #[test]
    fn every_size_of_every_pattern_is_sorted() {
        let mut random = random();
        for by in all() {
            for n in (0..700_u64).chain([1000, 4095, 10_000, 100_003]) {
                for pattern in 0..8 {
                    let mut key = |place: u64| match pattern {
                        0 => random(),
                        1 => random() % 4,
                        2 => place,
                        3 => n - place,
                        4 => 7,
                        5 => u64::MAX - random() % 3,
                        6 => random() % 100 * (random() % 7),
                        _ => random() >> (random() % 64),
                    };
                    let wide: Vec<u64> = (0..n).map(&mut key).collect();
                    let narrow: Vec<u32> = wide.iter().map(|&key| key as u32).collect();
                    assert!(with(by, &wide), "{by:?}, {n} u64, pattern {pattern}");
                    assert!(with(by, &narrow), "{by:?}, {n} u32, pattern {pattern}");
                }
            }
        }
    }

    /// Where pivots divide badly, which only inputs do that were made for that, digits sort.
    #[test]
    fn what_is_divided_too_often_is_sorted_otherwise() {
        let mut random = random();
        let keys: Vec<u64> = (0..5000).map(|_| random()).collect();
        for by in all() {
            for divisions in 0..6 {
                let mut rests = 0;
                let right = is_right(&keys, |keys, room| {
                    let rest = |keys: &mut [u64]| {
                        rests += keys.len();
                        keys.sort_unstable();
                    };
                    assert!(by.sort_within(divisions, keys, room, rest));
                });
                assert!(
                    right && (rests == keys.len() || divisions > 0) && rests > 0,
                    "{by:?} {divisions}: {rests}"
                );
            }
        }
    }

    #[test]
    fn digits_are_for_keys_that_they_tell_apart() {
        let mut random = random();
        let even: Vec<u64> = (0..1 << 14).map(|_| random()).collect();
        let uneven: Vec<u64> = even.iter().map(|key| key >> (key % 40)).collect();
        assert!(are_for_digits(&even) && !are_for_digits(&uneven));
        assert!(Instructions::Plain.prefers_digits(&uneven));
    }
}
