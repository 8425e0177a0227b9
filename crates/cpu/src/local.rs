//! One core's stable sort of elements that fit its cache: by [`vector`](super::vector) for keys alone, if the
//! processor has the instructions, else by digits.
//!
//! The latter is a least-significant-digit sort by the highest bits that differ between keys: two digits tell
//! most elements apart. If the histogram of the highest digit shows that many keys would stay equal, as with
//! floats, whose highest bits are the exponent, the sort adds a third digit. Neighbours out of order then
//! mark a run of keys with equal digits, and the run is sorted by the bits below.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::slice;

use bytemuck::Pod;
use gpusort_order::{Item, Word};

use super::items::{DIGIT_BITS, sample};
use super::vector::Instructions;
use gpusort_base::memory;
use gpusort_base::report::Form;

/// The maximum number of elements for which a comparison sort is faster than a sort by digits.
const COMPARED: usize = 24;

/// Narrower digits sort any smaller number of elements.
const FEW: usize = 1 << 11;

/// The maximum words of scratch memory that a thread keeps for the next sort.
const KEPT: usize = 1 << 18;

/// `KEPT` in elements.
const fn kept<T>() -> usize {
    KEPT * size_of::<u64>() / size_of::<T>()
}

/// A digit: some of the highest bits that differ between two extreme keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) least: u64,
    /// Number of bits below the digit.
    pub(super) shift: u32,
    /// Number of possible values.
    pub(super) count: usize,
}

impl Prefix {
    /// Returns a digit of at most `most` bits; `None` if all keys are equal.
    pub(super) fn new((least, greatest): (u64, u64), most: u32) -> Option<Self> {
        let bits = u64::BITS - (greatest - least).leading_zeros();
        let shift = bits.saturating_sub(most);
        (bits > 0).then_some(Self { least, shift, count: ((greatest - least) >> shift) as usize + 1 })
    }

    /// Returns this digit without the lowest `bits`, which are equal in all keys.
    fn above(self, bits: u32, (least, greatest): (u64, u64)) -> Self {
        let shift = self.shift.max(bits);
        Self { shift, count: ((greatest - least) >> shift) as usize + 1, ..self }
    }

    /// Returns the value of a key: `count` or more is possible for a key outside the extremes.
    #[inline]
    pub(super) fn of(self, key: u64) -> usize {
        (key.wrapping_sub(self.least) >> self.shift) as usize
    }

    /// Returns the number of keys of each value.
    pub(super) fn histogram(self, keys: &[u64]) -> Vec<usize> {
        let mut counts = vec![0; self.count];
        for &key in keys {
            if let Some(count) = counts.get_mut(self.of(key)) {
                *count += 1;
            }
        }
        counts
    }
}

/// The maximum number of digits in one sort.
const DIGITS: usize = 3;

/// For each value of a digit, its number of elements; during the scatter, the next element's place.
type Counts = [u32; 1 << DIGIT_BITS];

/// The scratch memory of a sort. A thread keeps it for the next sort: touching fresh memory takes as long as
/// a sort of the elements that fit in it.
pub(super) struct Room {
    words: Vec<u64>,
    counts: Vec<Counts>,
}

thread_local! {
    static KEPT_ROOM: Cell<Option<Room>> = const { Cell::new(None) };
}

impl Room {
    /// Calls `work` with this thread's scratch memory.
    pub(super) fn with<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        // A thread about to end has no memory left.
        let kept = KEPT_ROOM.try_with(Cell::take).ok().flatten();
        let mut room = kept.unwrap_or_else(|| Self { words: Vec::new(), counts: vec![[0; _]; DIGITS] });
        let result = work(&mut room);
        room.words.truncate(KEPT);
        room.words.shrink_to(KEPT);
        let _ = KEPT_ROOM.try_with(|kept| kept.set(Some(room)));
        result
    }

    /// Returns scratch memory for `count` elements, with arbitrary content, and the counts.
    fn split<T: Pod>(&mut self, count: usize) -> (&mut [T], &mut [Counts; DIGITS]) {
        let bytes = count * size_of::<T>();
        if self.words.len() * size_of::<u64>() < bytes {
            // A power of two, so that the memory rarely grows.
            self.words.resize(bytes.next_power_of_two().div_ceil(size_of::<u64>()), 0);
        }
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let counts = self.counts.first_chunk_mut().expect("there are as many counts as digits");
        (bytemuck::cast_slice_mut(&mut all[..bytes]), counts)
    }

    /// Partitions keys by splitters, as [`Instructions::divide`] does.
    pub(super) fn divide<T: Item>(
        &mut self,
        with: Instructions,
        keys: &mut [T],
        splitters: &[T],
        ends: &mut [u32],
    ) {
        let (scratch, _) = self.split(keys.len());
        // SAFETY: a partition by vectors writes keys alone.
        with.divide(keys, unsafe { as_unwritten(scratch) }, splitters, ends);
    }

    /// Sorts elements that no other thread changes.
    pub(super) fn sort<T: Item>(&mut self, items: &mut [T]) -> Form {
        self.sort_by(items, Self::sort_by_digits)
    }

    /// Sorts a caller's elements. If another thread changes them during the sort, the result is arbitrary.
    pub(super) fn sort_shared<T: Item>(&mut self, items: &mut [T]) -> Form {
        self.sort_by(items, Self::sort_copy_by_digits)
    }

    fn sort_by<T: Item>(&mut self, items: &mut [T], by_digits: fn(&mut Self, &mut [T])) -> Form {
        let with = Instructions::chosen();
        let sample = |step| sample(&[Cow::Borrowed(&*items)], step);
        if with.sorts::<T>() && !with.prefers_digits::<T>(items.len(), 1, sample) {
            let (scratch, _) = self.split(items.len().min(kept::<T>()));
            // SAFETY: a sort by vectors writes keys alone.
            sort_by_vectors(with, items, unsafe { as_unwritten(scratch) });
            return Form::Quicksort;
        }
        by_digits(self, items);
        Form::Radix
    }

    /// Sorts elements by digits; no other thread may change them.
    pub(super) fn sort_by_digits<T: Item>(&mut self, items: &mut [T]) {
        let (scratch, counts) = self.split(items.len());
        sort(items, scratch, counts);
    }

    /// Sorts a copy of the elements by digits: another thread may change a caller's elements after their
    /// digits are counted and before they are scattered.
    fn sort_copy_by_digits<T: Item>(&mut self, items: &mut [T]) {
        let (room, counts) = self.split(2 * items.len());
        let (copy, scratch) = room.split_at_mut(items.len());
        copy.copy_from_slice(items);
        sort(copy, scratch, counts);
        items.copy_from_slice(copy);
    }

    /// Sorts elements with keys of 16 bits, by one byte and then the other.
    pub(super) fn sort_shorts<T: Copy, K: Word>(
        &mut self,
        elements: &mut [T],
        key: impl Fn(T) -> K + Copy,
        element: impl Fn(K) -> T + Copy,
    ) {
        let short = |element| Into::<u64>::into(key(element)) as u16;
        let element = |key: u16| element(K::of_u64(key.into()));
        let n = elements.len();
        let (scratch, [lows, highs, _]) = self.split::<u16>(2 * n);
        let (keys, sorted) = scratch.split_at_mut(n);
        lows[..256].fill(0);
        highs[..256].fill(0);
        let low = |key: u16| usize::from(key) % 256;
        let high = |key: u16| usize::from(key) / 256;
        // Reads each element once, since another thread may change it.
        Instructions::chosen().with(|| {
            keys.iter_mut().zip(&*elements).for_each(|(key, &element)| *key = short(element));
        });
        for &key in &*keys {
            lows[low(key)] += 1;
            highs[high(key)] += 1;
        }
        let Some(&first) = keys.first() else { return };
        // A byte equal in all keys moves no key.
        if lows[low(first)] as usize == n {
            sorted.copy_from_slice(keys);
        } else {
            // SAFETY: `lows` counts these keys, which no other thread has.
            unsafe { scatter(keys, sorted, lows, 256, low, |key| key) };
        }
        if highs[high(first)] as usize == n {
            elements.iter_mut().zip(&*sorted).for_each(|(to, &key)| *to = element(key));
        } else {
            // SAFETY: `highs` counts the same keys.
            unsafe { scatter(sorted, elements, highs, 256, high, element) };
        }
    }
}

/// Sorts keys by vectors, with this scratch memory.
pub(super) fn sort_by_vectors<T: Item>(with: Instructions, keys: &mut [T], scratch: &mut [MaybeUninit<T>]) {
    with.sort(keys, scratch, |keys| Room::with(|room| room.sort_copy_by_digits(keys)));
}

/// Calls `work` with `count` keys of arbitrary value and scratch memory for their sort.
pub(super) fn with_keys<T: Pod, R>(
    count: usize,
    work: impl FnOnce(&mut [T], &mut [MaybeUninit<T>]) -> R,
) -> R {
    Room::with(|room| {
        let mut own: Vec<T>;
        let (keys, scratch) = if 2 * count <= kept::<T>() {
            room.split(2 * count).0.split_at_mut(count)
        } else {
            own = memory::zeroed(count);
            memory::in_huge_pages(own.as_mut_ptr().cast(), size_of_val(&*own));
            (&mut own[..], room.split(count.min(kept::<T>())).0)
        };
        // SAFETY: a sort writes keys alone.
        work(keys, unsafe { as_unwritten(scratch) })
    })
}

/// Returns these places as uninitialised memory.
///
/// # Safety
///
/// The caller writes only elements to the places.
pub(super) unsafe fn as_unwritten<T>(places: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY:
    // - `MaybeUninit<T>` has the layout of `T`.
    // - The caller writes only elements.
    unsafe { slice::from_raw_parts_mut(places.as_mut_ptr().cast(), places.len()) }
}

/// Sorts elements that no other thread changes, with a scratch array of at least their number.
fn sort<T: Item>(items: &mut [T], scratch: &mut [T], counts: &mut [Counts; DIGITS]) {
    let n = items.len();
    // Counts have 32 bits, so a comparison sort serves for too many elements as well.
    if n <= COMPARED || u32::try_from(n).is_err() {
        return items.sort_by_key(|item| item.key());
    }
    let extremes = T::extremes(items.iter().copied());
    let scratch = &mut scratch[..n];
    let same = same_bits(items);
    match (u64::BITS - (extremes.1 - extremes.0).leading_zeros()).saturating_sub(same) {
        ..=8 | 12..=16 => by_digits::<T, 8>(items, scratch, counts, extremes, same),
        // Two narrow digits: the counts of a wide digit would take longer than the elements.
        9..=11 if n < 1 << 8 => by_digits::<T, 8>(items, scratch, counts, extremes, same),
        17.. if n < FEW => by_digits::<T, 9>(items, scratch, counts, extremes, same),
        _ => by_digits::<T, DIGIT_BITS>(items, scratch, counts, extremes, same),
    }
}

/// Returns the number of lowest bits equal in all keys: many for floats of small integers; 0 if the first keys
/// share fewer than four bits.
fn same_bits<T: Item>(items: &[T]) -> u32 {
    let first = items.first().map_or(0, |item| item.key());
    let same = |items: &[T]| {
        items.iter().fold(0, |bits, item| bits | item.key() ^ first).trailing_zeros() % u64::BITS
    };
    // The first few keys settle most inputs.
    if same(&items[..items.len().min(16)]) < 4 { 0 } else { same(items) }
}

/// Sorts by digits of `BITS` bits; all keys agree in the lowest `same` bits.
fn by_digits<T: Item, const BITS: u32>(
    items: &mut [T],
    scratch: &mut [T],
    counts: &mut [Counts; DIGITS],
    extremes: (u64, u64),
    same: u32,
) {
    let Some(prefix) = Prefix::new(extremes, 2 * BITS) else { return };
    let prefix = prefix.above(same, extremes);
    let Prefix { least, shift, .. } = prefix;
    let digit = |shift| move |item: T| ((item.key() - least) >> shift) as usize % (1 << BITS);
    let (low, high) = (digit(shift), digit((shift + BITS).min(u64::BITS - 1)));
    let [lows, highs, belows] = counts;
    lows[..1 << BITS].fill(0);
    if prefix.count <= 1 << BITS {
        items.iter().for_each(|&item| lows[low(item)] += 1);
        // SAFETY: `lows` counts these elements.
        unsafe { scatter(items, scratch, lows, 1 << BITS, low, |item| item) };
        return items.copy_from_slice(scratch);
    }
    highs[..1 << BITS].fill(0);
    for &item in items.iter() {
        lows[low(item)] += 1;
        highs[high(item)] += 1;
    }
    // The expected number of pairs with equal digits so far, if the lower digit is spread evenly.
    let equal = highs[..1 << BITS].iter().map(|&count| u64::from(count).pow(2)).sum::<u64>() >> (BITS + 1);
    if shift > same && equal > items.len() as u64 / 4 {
        let below = digit(shift.saturating_sub(BITS));
        belows[..1 << BITS].fill(0);
        items.iter().for_each(|&item| belows[below(item)] += 1);
        // SAFETY: `belows` counts these elements.
        unsafe { scatter(items, scratch, belows, 1 << BITS, below, |item| item) };
        items.copy_from_slice(scratch);
    }
    // SAFETY: `lows` counts these elements, which are in another order now.
    unsafe { scatter(items, scratch, lows, 1 << BITS, low, |item| item) };
    // SAFETY: `highs` counts the same elements.
    unsafe { scatter(scratch, items, highs, 1 << BITS, high, |item| item) };
    if shift == same {
        return;
    }
    let of = |item: T| prefix.of(item.key());
    let mut begin = 0;
    while let Some(descent) = items[begin..].windows(2).position(|pair| pair[0].key() > pair[1].key()) {
        let descent = begin + descent;
        let value = of(items[descent]);
        let first = items[..descent].iter().rev().take_while(|&&item| of(item) == value).count();
        let last = items[descent..].iter().take_while(|&&item| of(item) == value).count();
        begin = descent + last;
        sort(&mut items[descent - first..begin], scratch, counts);
    }
}

/// Scatters the elements, mapped by `map`, by a digit of `values` values. The places are not checked: the
/// checks took a tenth of the time of a sort.
///
/// # Safety
///
/// `counts` is the histogram of these elements, and none has changed since: the memory is not a caller's.
#[inline]
unsafe fn scatter<T: Copy, R>(
    from: &[T],
    to: &mut [R],
    counts: &mut Counts,
    values: usize,
    digit: impl Fn(T) -> usize,
    map: impl Fn(T) -> R,
) {
    assert_eq!(from.len(), to.len(), "an element goes to each place");
    // Turns the number of elements of each value into the place of its first element.
    let mut start = 0;
    for count in &mut counts[..values] {
        (*count, start) = (start, start + *count);
    }
    for &item in from {
        let next = &mut counts[digit(item)];
        let place = *next as usize;
        *next += 1;
        debug_assert!(place < to.len(), "place {place} of {}", to.len());
        // SAFETY:
        // - By the caller's promise, places go from 0 up to the number of elements.
        // - `to` has that number of places, as asserted above.
        unsafe { *to.get_unchecked_mut(place) = map(item) };
    }
}
