//! Sorts keys by vector instructions, chosen when the program runs.
//!
//! Quicksort in steps of vectors: [`engine`] implements it once, for every instruction set with the
//! few operations of [`Vector`](engine::Vector). A partition compresses the lanes less than a pivot,
//! and a network sorts a few keys in registers:
//!
//! ```text
//! keys     [ 7 1 8 2 | 9 3 6 4 | … ]     a vector at a time, less than the pivot 5 or not
//!              ╱        ╲
//! keys     [ 1 2 3 4 … ]  scratch [ 7 8 9 6 … ]     then the right part, back to behind the left one
//! ```
//!
//! Without enough scratch, keys are partitioned in place, from both ends. Sorts on all cores partition keys
//! by many splitters.
//!
//! Up to sixteen vectors are a matrix whose columns a network sorts, and whose lanes are then
//! merged by two, four, and so on. After Blacher and others, "Vectorized and performance-portable
//! Quicksort" (2022), and Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512"
//! (2017).

/// Functions of a vector, each an expression.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
macro_rules! functions {
    ($operation:ident => $run:expr; $(fn $name:ident $(<const $x:ident: usize>)? ($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;)*) => {
        #[inline(always)]
        unsafe fn run<O: Operation>($operation: O) -> O::Output {
            // SAFETY: the caller has the instructions.
            unsafe { $run }
        }

        $(#[inline(always)]
        unsafe fn $name $(<const $x: usize>)? ($($argument: $type),*) $(-> $result)? {
            // SAFETY:
            // - The caller has the instructions.
            // - The caller's pointers are valid for all lanes.
            unsafe { $body }
        })*
    };
}

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
#[expect(clippy::inline_always, reason = "what is not inlined is compiled without the instructions")]
mod engine;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
#[expect(clippy::inline_always, reason = "what is not inlined is compiled without the instructions")]
#[allow(clippy::wildcard_imports, reason = "each instruction is a function of its own")]
mod neon;
#[cfg(target_arch = "x86_64")]
#[expect(clippy::inline_always, reason = "what is not inlined is compiled without the instructions")]
#[allow(clippy::wildcard_imports, reason = "each instruction is a function of its own")]
mod x86;

use std::any::Any;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use bytemuck::allocation::cast_vec;
use gpusort_order::item::Item;

/// The number of vectors sorted in registers.
const ROWS: usize = 16;

/// The maximum number of keys sorted in registers, by the longest vectors.
pub(super) const IN_REGISTERS: usize = ROWS * 64 / size_of::<u32>();

/// Sorts keys, and partitions ranges that fit the room through the room. The function sorts ranges still
/// large after this number of divisions. The processor must have the instructions.
type SortKeys<K> = unsafe fn(&mut [K], &mut [MaybeUninit<K>], &mut dyn FnMut(&mut [K]), u32, u64);

/// Divides keys by sorted splitters, with a room of equal length. Stores the end of the keys less than each
/// splitter, and then the end of the keys. The processor must have the instructions.
type DivideKeys<K> = unsafe fn(&mut [K], &mut [MaybeUninit<K>], &[K], &mut [u32]);

/// The functions for keys of one width.
struct Sorts<K> {
    sort: SortKeys<K>,
    divide: DivideKeys<K>,
}

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
impl<K: gpusort_order::key::Word> Sorts<K> {
    const fn of<V: engine::Vector<Key = K>>() -> Self {
        Self {
            // SAFETY: the caller has the instructions.
            sort: |keys, room, rest, divisions, random| unsafe {
                V::run(engine::Sort::<V> { keys, room, rest, divisions, random });
            },
            // SAFETY: as above.
            divide: |keys, room, splitters, ends| unsafe {
                V::run(engine::DivideBySplitters::<V> { keys, room, splitters, ends });
            },
        }
    }
}

/// An instruction set.
struct Facts {
    name: &'static str,
    are_there: fn() -> bool,
    /// Bytes of a vector; 0 if keys are sorted without vectors.
    bytes: usize,
    /// The key counts that favour digits, for keys of four and of eight bytes.
    digits: [Digits; 2],
    sorts: Option<(Sorts<u32>, Sorts<u64>)>,
}

/// The key counts that favour a sort by digits over a sort by vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Digits {
    /// From this count on, for all keys.
    pub any: usize,
    /// The counts for keys that a few digits tell apart, on one core and on several cores.
    pub even: [Range<usize>; 2],
}

/// A number of keys that no input has.
const NEVER: usize = usize::MAX;

impl Digits {
    /// Digits are always faster.
    pub const ALWAYS: Self = Self { any: 0, even: [NEVER..NEVER, NEVER..NEVER] };
    /// Digits are never faster.
    pub const NEVER: Self = Self { any: NEVER, even: [NEVER..NEVER, NEVER..NEVER] };
}

/// The measurements of this machine, which replace the tables. They are never freed.
static MEASURED: AtomicPtr<[Digits; 2]> = AtomicPtr::new(ptr::null_mut());

/// Sets the key counts that favour digits, for keys of four and of eight bytes, in place of the tables.
pub fn prefer_digits(digits: [Digits; 2]) {
    MEASURED.store(Box::into_raw(Box::new(digits)), Ordering::Release);
}

/// All instruction sets that this program was built for, from the least.
static ALL: &[Facts] = &[
    Facts {
        name: "plain",
        are_there: || true,
        bytes: 0,
        digits: [Digits::ALWAYS, Digits::ALWAYS],
        sorts: None,
    },
    #[cfg(target_arch = "x86_64")]
    x86::AVX2,
    #[cfg(target_arch = "x86_64")]
    x86::AVX512,
    #[cfg(target_arch = "x86_64")]
    x86::AVX512_OF_AMD,
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    neon::NEON,
];

/// Instructions that this processor has.
#[derive(Clone, Copy)]
pub(super) struct Instructions(&'static Facts);

impl Instructions {
    /// Returns the best instructions. For tests and measurements, the variable `GPUSORT_CPU` names the best set
    /// to use.
    pub(super) fn chosen() -> Self {
        static CHOSEN: OnceLock<Instructions> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let named = std::env::var("GPUSORT_CPU").unwrap_or_default();
            let most = ALL.iter().rposition(|facts| facts.name == named).unwrap_or(ALL.len() - 1);
            let best = ALL[..=most].iter().rev().find(|facts| (facts.are_there)());
            best.map_or(Self(&ALL[0]), Self)
        })
    }

    pub(super) fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the maximum number of such keys sorted in registers, without room; 0 if vectors do not sort
    /// them.
    pub(super) fn in_registers<T: Item>(self) -> usize {
        if self.sorts::<T>() { ROWS * self.0.bytes / size_of::<T>() } else { 0 }
    }

    /// Sorts keys; room up to the number of keys makes the sort faster. Returns false, and leaves the keys, if
    /// vectors do not sort such keys. `rest` sorts keys that no pivot divides well.
    pub(super) fn sort<T: Item>(
        self,
        keys: &mut [T],
        room: &mut [MaybeUninit<T>],
        rest: impl FnMut(&mut [T]),
    ) -> bool {
        // Pivots close to medians need half of these divisions.
        let vectors = keys.len() / (self.in_registers::<T>() + 1);
        let divisions = 2 * vectors.max(1).ilog2() + 8;
        // The address seeds the samples: an input made against pivots cannot know the address of its keys.
        let random = keys.as_ptr().addr() as u64;
        self.sort_within(divisions, random, keys, room, rest)
    }

    /// Like [`Self::sort`], with at most `divisions` divisions.
    fn sort_within<T: Item>(
        self,
        divisions: u32,
        random: u64,
        keys: &mut [T],
        room: &mut [MaybeUninit<T>],
        mut rest: impl FnMut(&mut [T]),
    ) -> bool {
        let Some(sorts) = self.sorting() else { return false };
        // SAFETY: the processor has the instructions, or there would be no `self`.
        unsafe { (sorts.sort)(keys, room, &mut rest, divisions, random) };
        true
    }

    /// Runs `work`, compiled for the instructions, which makes loops over elements faster.
    #[inline]
    pub(super) fn with<R>(self, work: impl FnOnce() -> R) -> R {
        match self.0.bytes {
            // SAFETY: the processor has the instructions, or there would be no `self`.
            #[cfg(target_arch = "x86_64")]
            64 => unsafe { x86::with_avx512(engine::Work(work)) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            32 => unsafe { x86::with_avx2(engine::Work(work)) },
            _ => work(),
        }
    }

    /// Writes an item to each place.
    pub(super) fn write<T>(self, places: &mut [MaybeUninit<T>], items: impl Iterator<Item = T>) {
        self.with(|| places.iter_mut().zip(items).for_each(|(place, item)| _ = place.write(item)));
    }

    /// Returns true if vectors sort such keys.
    pub(super) fn sorts<T: Item>(self) -> bool {
        self.sorting::<T>().is_some()
    }

    /// Returns the functions for such keys; `None` if vectors do not sort them.
    fn sorting<T: Item>(self) -> Option<&'static Sorts<T>> {
        let (narrow, wide) = self.0.sorts.as_ref()?;
        let [narrow, wide]: [&dyn Any; 2] = [narrow, wide];
        narrow.downcast_ref().or(wide.downcast_ref())
    }

    /// Divides keys by sorted splitters, one fewer than `ends`, with a room of equal length. Stores the end of
    /// the keys less than each splitter, and then the end of the keys.
    pub(super) fn divide<T: Item>(
        self,
        keys: &mut [T],
        room: &mut [MaybeUninit<T>],
        splitters: &[T],
        ends: &mut [u32],
    ) {
        let sorts = self.sorting().expect("keys are divided by vectors");
        assert!(
            keys.len() <= room.len() && u32::try_from(keys.len()).is_ok(),
            "there is as much room as keys"
        );
        assert_eq!(splitters.len() + 1, ends.len(), "each bucket has an end");
        // SAFETY:
        // - The processor has the instructions, or there would be no `self`.
        // - The room has the length of the keys, and each bucket has an end.
        unsafe { (sorts.divide)(keys, room, splitters, ends) };
    }

    /// Returns true if a sort by digits is faster than a sort by vectors for `n` elements. `sample` takes a
    /// step, and returns the key of one element per step.
    pub(super) fn prefers_digits<T: Item>(
        self,
        n: usize,
        cores: usize,
        sample: impl FnOnce(usize) -> Vec<u64>,
    ) -> bool {
        // SAFETY: a stored value is never freed or changed.
        let measured = unsafe { MEASURED.load(Ordering::Acquire).as_ref() };
        // Without vectors, digits are the only method.
        let digits = measured.filter(|_| self.0.sorts.is_some()).unwrap_or(&self.0.digits);
        let Digits { any, even } = &digits[usize::from(size_of::<T>() > size_of::<u32>())];
        n >= *any
            || even[usize::from(cores > 1)].contains(&n)
                && are_for_digits(n, cores, &sample(n.div_ceil(SAMPLES)))
    }
}

/// The length of a sample.
const SAMPLES: usize = 256;

/// Returns true if a few digits tell `n` keys apart, judged by a sample: the keys differ evenly in their
/// highest bits, or in few bits.
fn are_for_digits(n: usize, cores: usize, sample: &[u64]) -> bool {
    const VALUES: usize = 64;
    let (least, greatest) = sample.iter().fold((u64::MAX, 0), |(a, b), &key| (a.min(key), b.max(key)));
    let bits = u64::BITS - greatest.saturating_sub(least).leading_zeros();
    // Two digits cover all differing bits, and take one core less time than many divisions.
    if bits <= 2 * crate::items::DIGIT_BITS && n > 1 << 15 && cores == 1 {
        return true;
    }
    let shift = bits.saturating_sub(VALUES.ilog2());
    let mut counts = [0; VALUES];
    sample.iter().for_each(|key| counts[((key - least) >> shift) as usize] += 1);
    counts.iter().all(|&count| count <= 4 * sample.len() / VALUES)
}

/// Converts keys that fit the word `T` to words.
pub(super) fn words<T: Item>(keys: Vec<u64>) -> Vec<T> {
    if size_of::<T>() == 8 { cast_vec(keys) } else { cast_vec(keys.iter().map(|&key| key as u32).collect()) }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use gpusort_order::key::Word;

    use super::*;
    use crate::tests::numbers;

    impl Instructions {
        /// Returns all instruction sets of this processor, from the least.
        pub(crate) fn all() -> impl Iterator<Item = Self> {
            ALL.iter().filter(|facts| (facts.are_there)()).map(Self)
        }
    }

    /// Returns the vector instructions of this machine.
    fn all() -> impl Iterator<Item = Instructions> {
        Instructions::all().filter(|with| with.0.sorts.is_some())
    }

    /// Sorts keys in the middle of an array. Returns true if they are sorted and their neighbours unchanged.
    fn is_right<W: Word>(keys: &[W], sort: impl FnOnce(&mut [W], &mut [MaybeUninit<W>])) -> bool {
        let around = [W::of_u64(5); 40];
        let mut all = [&around[..], keys, &around[..]].concat();
        let mut room = vec![MaybeUninit::new(W::of_u64(9)); keys.len() + 40];
        sort(&mut all[40..40 + keys.len()], &mut room[..keys.len()]);
        let mut expected = keys.to_vec();
        expected.sort_unstable();
        // SAFETY: the room was filled with keys.
        let untouched = room[keys.len()..].iter().all(|key| unsafe { key.assume_init() } == W::of_u64(9));
        all == [&around[..], &expected, &around[..]].concat() && untouched
    }

    fn with<W: Word>(with: Instructions, keys: &[W]) -> bool {
        is_right(keys, |keys, room| assert!(with.sort(keys, room, |_| panic!("pivots divide these"))))
    }

    #[test]
    fn a_wrong_sort_is_noticed() {
        let keys = [3_u32, 1, 2];
        assert!(is_right(&keys, |keys, _| keys.sort_unstable()));
        assert!(!is_right(&keys, |_, _| {}));
        assert!(!is_right(&keys, |keys, _| keys.copy_from_slice(&[1, 2, 2])));
    }

    /// Not a regular test: `AddressSanitizer` must notice this write when `tests/sanitizers.sh` runs it.
    #[test]
    #[ignore = "writes past the end of an array"]
    fn a_write_past_the_end() {
        let mut keys = vec![1_u64; 1000];
        let mut room = Vec::with_capacity(keys.len() - 1);
        // SAFETY: the room lacks a place; this is the fault to notice.
        let room = unsafe { slice::from_raw_parts_mut(room.as_mut_ptr(), keys.len()) };
        all().for_each(|by| assert!(by.sort(&mut keys, room, |_| panic!("one pivot divides these"))));
    }

    /// By the 0/1 principle, a network that sorts these inputs sorts all inputs.
    #[test]
    fn networks_sort_all_zeros_and_ones() {
        for by in all() {
            for count in 0..=16 {
                for ones in 0..1_u32 << count {
                    let keys: Vec<u32> = (0..count).map(|place| ones >> place & 1).collect();
                    assert!(with(by, &keys), "{} {keys:?}", by.name());
                    if count <= 10 {
                        let keys: Vec<u64> = keys.iter().map(|&key| key.into()).collect();
                        assert!(with(by, &keys), "{} {keys:?}", by.name());
                    }
                }
            }
        }
    }

    /// Sorts all sizes up to some that do not fit the registers: networks change with the size.
    #[test]
    fn every_size_of_every_pattern_is_sorted() {
        let mut random = numbers();
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
                    assert!(with(by, &wide), "{}, {n} u64, pattern {pattern}", by.name());
                    assert!(with(by, &narrow), "{}, {n} u32, pattern {pattern}", by.name());
                }
            }
        }
    }

    /// Sorts with room for a part of the keys, or without room.
    #[test]
    fn keys_are_divided_where_they_are_if_there_is_no_room() {
        let mut random = numbers();
        for by in all() {
            for n in [129, 300, 1000, 4099, 50_001, 300_000] {
                for pattern in 0..5 {
                    let key = |place: u64| match pattern {
                        0 => random(),
                        1 => random() % 3,
                        2 => place << 32,
                        3 => u64::MAX - (random() & random() & random() & 0xF),
                        _ => u64::MAX - (place << 40),
                    };
                    let wide: Vec<u64> = (0..n).map(key).collect();
                    let narrow: Vec<u32> = wide.iter().map(|&key| (key >> 32) as u32).collect();
                    for room in [0, 1, 100, n as usize / 3] {
                        let name = by.name();
                        let sort = |keys: &mut [u64], scratch: &mut [MaybeUninit<u64>]| {
                            assert!(by.sort(keys, &mut scratch[..room], |_| panic!("pivots divide these")));
                        };
                        assert!(is_right(&wide, sort), "{name}, {n} u64, pattern {pattern}, room {room}");
                        let sort = |keys: &mut [u32], scratch: &mut [MaybeUninit<u32>]| {
                            assert!(by.sort(keys, &mut scratch[..room], |_| panic!("pivots divide these")));
                        };
                        assert!(is_right(&narrow, sort), "{name}, {n} u32, pattern {pattern}, room {room}");
                    }
                }
            }
        }
    }

    /// Digits sort ranges that pivots divide badly, which happens only to inputs made for it.
    #[test]
    fn what_is_divided_too_often_is_sorted_otherwise() {
        let mut random = numbers();
        let keys: Vec<u64> = (0..5000).map(|_| random()).collect();
        for by in all() {
            for divisions in 0..6 {
                let mut rests = 0;
                let right = is_right(&keys, |keys, room| {
                    let rest = |keys: &mut [u64]| {
                        rests += keys.len();
                        keys.sort_unstable();
                    };
                    assert!(by.sort_within(divisions, 1, keys, room, rest));
                });
                assert!(
                    right && (rests == keys.len() || divisions > 0) && rests > 0,
                    "{} {divisions}: {rests}",
                    by.name()
                );
            }
        }
    }

    /// Returns true if the median of the sample divides the keys: after one division, the function for the rest
    /// gets the keys from the pivot on, and then the lesser keys.
    fn is_divided_by_the_median<W: Word>(by: Instructions, keys: &[W]) -> bool {
        let mut least = Vec::new();
        let right = is_right(keys, |keys, room| {
            let rest = |part: &mut [W]| {
                part.sort_unstable();
                least.push(part[0]);
            };
            assert!(by.sort_within(1, 7, keys, room, rest));
        });
        let mut random = 7;
        let places = engine::sampled(by.in_registers::<W>() / ROWS, keys.len(), &mut random);
        let mut sample: Vec<W> = places.map(|place| keys[place]).collect();
        sample.sort_unstable();
        right && least.len() == 2 && least[0] == sample[sample.len() / 2]
    }

    #[test]
    fn the_pivot_is_the_median_of_the_sample() {
        let mut random = numbers();
        for by in all() {
            for n in [1000, 5000, 100_003] {
                let wide: Vec<u64> = (0..n).map(|_| random()).collect();
                let narrow: Vec<u32> = wide.iter().map(|&key| key as u32).collect();
                assert!(is_divided_by_the_median(by, &wide), "{}, {n} u64", by.name());
                assert!(is_divided_by_the_median(by, &narrow), "{}, {n} u32", by.name());
            }
        }
    }

    /// Makes keys whose samples are always the least keys: almost all keys stay together in every division.
    fn against_pivots(lanes: usize, n: usize, mut random: u64) -> Vec<u32> {
        let mut keys = vec![u32::MAX; n];
        let (mut places, mut next): (Vec<usize>, _) = ((0..n).collect(), 0);
        while places.len() > ROWS * lanes {
            let sampled: Vec<usize> = engine::sampled(lanes, places.len(), &mut random).collect();
            for &place in &sampled {
                if keys[places[place]] == u32::MAX {
                    (keys[places[place]], next) = (next, next + 1);
                }
            }
            let mut sorted: Vec<u32> = sampled.iter().map(|&place| keys[places[place]]).collect();
            sorted.sort_unstable();
            // A partition keeps the order of the rest.
            places.retain(|&place| keys[place] >= sorted[sorted.len() / 2]);
        }
        keys
    }

    #[test]
    fn keys_against_the_pivots_are_soon_sorted_otherwise() {
        for by in all() {
            let (n, random) = (40_000, 12345);
            let keys = against_pivots(by.in_registers::<u32>() / ROWS, n, random);
            let (mut before, mut rests) = (0, 0);
            let right = is_right(&keys, |keys, room| {
                before = keys.len();
                let rest = |keys: &mut [u32]| {
                    rests += keys.len();
                    keys.sort_unstable();
                };
                assert!(by.sort_within(24, random, keys, room, rest));
            });
            assert!(right && rests > before / 2, "{}: {rests} of {before}", by.name());
            // With other samples, these keys are sorted like any others.
            assert!(with(by, &keys), "{}", by.name());
        }
    }

    #[test]
    fn digits_are_for_keys_that_they_tell_apart() {
        let mut random = numbers();
        let even: Vec<u64> = (0..1 << 14).map(|_| random()).collect();
        let uneven: Vec<u64> = even.iter().map(|key| key >> (key % 40)).collect();
        assert!(
            are_for_digits(1 << 14, 1, &even[..SAMPLES]) && !are_for_digits(1 << 14, 1, &uneven[..SAMPLES])
        );
        assert!(Instructions(&ALL[0]).prefers_digits::<u64>(1, 1, |_| Vec::new()));
    }
}
