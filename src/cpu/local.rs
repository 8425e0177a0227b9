//! One core's stable sort of elements that fit its cache: by [`vector`](super::vector) if they are keys
//! alone and the processor has what it takes, else by digits.
//!
//! The latter is a least-significant-digit sort by the highest bits in which keys differ, two digits of them,
//! which tell most elements apart. Where the highest digit shows that many would still be equal, as
//! with floats, whose highest bits are the exponent, there is a third one. Then neighbours out of
//! order are looked for: they are equal so far, and their run is sorted by the bits below.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::slice;

use bytemuck::Pod;
use gpusort_planner::item::Item;
use gpusort_planner::key::Word;

use super::items::sample;
use super::vector::Instructions;
use crate::memory;
use crate::report::Form;

/// Up to this many elements are sorted by insertion.
const INSERTION: usize = 24;

/// Fewer than this are sorted by narrower digits than others.
const FEW: usize = 1 << 11;

/// The widest digit: with more bits, the scatter writes to more places at once than caches support.
pub(super) const DIGIT_BITS: u32 = 11;

/// More than this many words are not kept for the next sort.
const KEPT: usize = 1 << 18;

/// How many elements that is.
const fn kept<T>() -> usize {
    KEPT * size_of::<u64>() / size_of::<T>()
}

/// A digit: some of the highest bits in which keys between two extremes differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) least: u64,
    /// Number of bits below the digit.
    pub(super) shift: u32,
    /// Number of possible values.
    pub(super) count: usize,
}

impl Prefix {
    /// A digit of at most `most` bits; `None` if all keys are equal.
    pub(super) fn new((least, greatest): (u64, u64), most: u32) -> Option<Self> {
        let bits = u64::BITS - (greatest - least).leading_zeros();
        let shift = bits.saturating_sub(most);
        (bits > 0).then_some(Self { least, shift, count: ((greatest - least) >> shift) as usize + 1 })
    }

    /// The same, without the lowest bits, which are the same in all keys.
    fn above(self, bits: u32, (least, greatest): (u64, u64)) -> Self {
        let shift = self.shift.max(bits);
        Self { shift, count: ((greatest - least) >> shift) as usize + 1, ..self }
    }

    /// The value of a key; none of the values if the key is not between the extremes.
    #[inline]
    pub(super) fn of(self, key: u64) -> usize {
        (key.wrapping_sub(self.least) >> self.shift) as usize
    }

    /// The number of keys of each value.
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

/// At most so many digits are sorted by at once.
const DIGITS: usize = 3;

/// For each value of a digit the number of elements, and then the place of the next one.
type Counts = [u32; 1 << DIGIT_BITS];

/// What a sort needs beside its elements. A thread keeps it for the next sort: fresh memory costs
/// as much time as a sort of what fits in it.
pub(super) struct Room {
    words: Vec<u64>,
    counts: Vec<Counts>,
}

thread_local! {
    static KEPT_ROOM: Cell<Option<Room>> = const { Cell::new(None) };
}

impl Room {
    /// Does `work` with the room that this thread has.
    pub(super) fn with<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        // There is none where the thread is about to end.
        let kept = KEPT_ROOM.try_with(Cell::take).ok().flatten();
        let mut room = kept.unwrap_or_else(|| Self { words: Vec::new(), counts: vec![[0; _]; DIGITS] });
        let result = work(&mut room);
        room.words.truncate(KEPT);
        room.words.shrink_to(KEPT);
        let _ = KEPT_ROOM.try_with(|kept| kept.set(Some(room)));
        result
    }

    /// So many elements, whatever they are, and the counts.
    fn split<T: Pod>(&mut self, count: usize) -> (&mut [T], &mut [Counts; DIGITS]) {
        let bytes = count * size_of::<T>();
        if self.words.len() * size_of::<u64>() < bytes {
            // To the next power of two, so that it rarely grows.
            self.words.resize(bytes.next_power_of_two().div_ceil(size_of::<u64>()), 0);
        }
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let counts = self.counts.first_chunk_mut().expect("there are as many counts as digits");
        (bytemuck::cast_slice_mut(&mut all[..bytes]), counts)
    }

    /// Divides keys by splitters, as [`Instructions::divide`] does.
    pub(super) fn divide<T: Item>(
        &mut self,
        with: Instructions,
        keys: &mut [T],
        splitters: &[T],
        ends: &mut [u32],
    ) {
        let (scratch, _) = self.split(keys.len());
        // SAFETY: a division by vectors writes keys alone.
        with.divide(keys, unsafe { as_unwritten(scratch) }, splitters, ends);
    }

    /// Sorts the elements.
    pub(super) fn sort<T: Item>(&mut self, items: &mut [T]) -> Form {
        self.sort_by(items, Self::sort_by_digits)
    }

    /// Sorts a caller's elements. If another thread changes them meanwhile, the result is any elements.
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

    /// Sorts elements that no other thread changes by digits.
    pub(super) fn sort_by_digits<T: Item>(&mut self, items: &mut [T]) {
        let (scratch, counts) = self.split(items.len());
        sort(items, scratch, counts);
    }

    /// Sorts a copy of the elements by digits: these are counted before they are scattered, and another
    /// thread may change a caller's elements in between.
    fn sort_copy_by_digits<T: Item>(&mut self, items: &mut [T]) {
        let (room, counts) = self.split(2 * items.len());
        let (copy, scratch) = room.split_at_mut(items.len());
        copy.copy_from_slice(items);
        sort(copy, scratch, counts);
        items.copy_from_slice(copy);
    }

    /// Sorts elements whose keys have 16 bits, by two bytes.
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
        // The elements are read once, since another thread may change them.
        Instructions::chosen().with(|| {
            keys.iter_mut().zip(&*elements).for_each(|(key, &element)| *key = short(element));
        });
        for &key in &*keys {
            lows[low(key)] += 1;
            highs[high(key)] += 1;
        }
        let Some(&first) = keys.first() else { return };
        // A byte that is the same in all keys moves none.
        if lows[low(first)] as usize == n {
            sorted.copy_from_slice(keys);
        } else {
            // SAFETY: these are the keys that were counted, and nobody else has them.
            unsafe { scatter(keys, sorted, lows, 256, low, |key| key) };
        }
        if highs[high(first)] as usize == n {
            elements.iter_mut().zip(&*sorted).for_each(|(to, &key)| *to = element(key));
        } else {
            // SAFETY: these are the same keys.
            unsafe { scatter(sorted, elements, highs, 256, high, element) };
        }
    }
}

/// Sorts keys by vectors, with this room for it.
pub(super) fn sort_by_vectors<T: Item>(with: Instructions, keys: &mut [T], scratch: &mut [MaybeUninit<T>]) {
    with.sort(keys, scratch, |keys| Room::with(|room| room.sort_copy_by_digits(keys)));
}

/// Does `work` with so many keys, whatever they are, and room for a sort of them.
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

/// The same places, as of what was never written.
///
/// # Safety
///
/// What is written there are elements.
pub(super) unsafe fn as_unwritten<T>(places: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: a place of an element may be one of anything, and the caller writes elements.
    unsafe { slice::from_raw_parts_mut(places.as_mut_ptr().cast(), places.len()) }
}

/// Sorts elements that no other thread changes, with room for all of them.
fn sort<T: Item>(items: &mut [T], scratch: &mut [T], counts: &mut [Counts; DIGITS]) {
    let n = items.len();
    if n <= INSERTION {
        return insert(items);
    }
    if u32::try_from(n).is_err() {
        // Counts have 32 bits.
        return items.sort_by_key(|item| item.key());
    }
    let extremes = T::extremes(items.iter().copied());
    let scratch = &mut scratch[..n];
    let same = same_bits(items);
    match (u64::BITS - (extremes.1 - extremes.0).leading_zeros()).saturating_sub(same) {
        ..=8 | 12..=16 => by_digits::<T, 8>(items, scratch, counts, extremes, same),
        // Two digits of fewer bits, where the counts of one would take longer than the elements.
        9..=11 if n < 1 << 8 => by_digits::<T, 8>(items, scratch, counts, extremes, same),
        17.. if n < FEW => by_digits::<T, 9>(items, scratch, counts, extremes, same),
        _ => by_digits::<T, DIGIT_BITS>(items, scratch, counts, extremes, same),
    }
}

/// How many of the lowest bits are the same in all keys, as in those of floats that are small
/// integers; or fewer.
fn same_bits<T: Item>(items: &[T]) -> u32 {
    let first = items.first().map_or(0, |item| item.key());
    let same = |items: &[T]| {
        items.iter().fold(0, |bits, item| bits | item.key() ^ first).trailing_zeros() % u64::BITS
    };
    // A few tell of most that there are none.
    if same(&items[..items.len().min(16)]) < 4 { 0 } else { same(items) }
}

/// The same, by digits of so many bits.
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
        // SAFETY: these are the elements that were counted.
        unsafe { scatter(items, scratch, lows, 1 << BITS, low, |item| item) };
        return items.copy_from_slice(scratch);
    }
    highs[..1 << BITS].fill(0);
    for &item in items.iter() {
        lows[low(item)] += 1;
        highs[high(item)] += 1;
    }
    // Of how many pairs the keys would be equal so far, if the lower digit is spread evenly.
    let equal = highs[..1 << BITS].iter().map(|&count| u64::from(count).pow(2)).sum::<u64>() >> (BITS + 1);
    if shift > same && equal > items.len() as u64 / 4 {
        let below = digit(shift.saturating_sub(BITS));
        belows[..1 << BITS].fill(0);
        items.iter().for_each(|&item| belows[below(item)] += 1);
        // SAFETY: these are the elements that were counted.
        unsafe { scatter(items, scratch, belows, 1 << BITS, below, |item| item) };
        items.copy_from_slice(scratch);
    }
    // SAFETY: these are the elements that were counted, in another order now.
    unsafe { scatter(items, scratch, lows, 1 << BITS, low, |item| item) };
    // SAFETY: these are the same elements.
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

/// Scatters what `map` makes of the elements by a digit of `values` values, whose histogram is `counts`.
/// Places are not checked, which took a tenth of the time of a sort.
///
/// # Safety
///
/// No element has changed since all were counted: the memory is not a caller's.
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
    // The number of elements of each value becomes the place of the next one.
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
        // - By the caller's promise places go from 0 up to the number of elements.
        // - That is the number of places.
        unsafe { *to.get_unchecked_mut(place) = map(item) };
    }
}

/// Insertion sort.
#[inline]
fn insert<T: Item>(items: &mut [T]) {
    for end in 1..items.len() {
        let item = items[end];
        let mut place = end;
        while place > 0 && items[place - 1].key() > item.key() {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}
