//! A stable radix sort on all cores, from pieces into one array.
//!
//! Elements are dealt to buckets by the highest bits in which their keys differ, by all cores, until a bucket fits a core's
//! cache. There one core sorts it by the next bits, the lower half of them first, and looks at those whose bits are
//! equal so far. All this keeps the order of equal keys, so no position has to be compared.
//!
//! ```text
//! pieces   [3 1 7 2] [0 6 5 4] …   as they were read
//!              │ deal │
//! buckets  [0 1│3 2│5 4│7 6] …     one array, each bucket a slice of it
//!            sort each, on any core
//! ```
//!
//! Bits are counted from the least key up: of keys between 1,000 and 1,255 the lowest eight are looked at, wherever
//! those lie. Dealing is the out-of-place most-significant-digit radix sort that Bostic and
//! others describe in "Engineering Radix Sort" (1993).

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::sort::{Item, Piece};

/// A bucket of so many elements is one core's, in its cache: of fewer in any case, and of more where others have as much
/// to do.
const LOCAL: Range<usize> = 1 << 16..1 << 18;

/// Buckets are to have about this many elements.
const BUCKET: usize = 1 << 13;

/// Up to so many are put in order by insertion.
const INSERTION: usize = 24;

/// The most bits of a digit: with more, the places that are written to in turn are more than caches bear.
const DIGIT_BITS: u32 = 11;

/// If no more bits than these are left, all are dealt by at once, which saves a pass.
const LAST_BITS: u32 = 13;

/// Some of the highest bits in which keys between two extremes differ.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    least: u64,
    /// Bits below it.
    shift: u32,
    /// How many it may be.
    count: usize,
}

impl Prefix {
    /// Up to so many bits; `None` if all keys are equal.
    fn new((least, greatest): (u64, u64), most: u32) -> Option<Self> {
        let bits = u64::BITS - (greatest - least).leading_zeros();
        let shift = bits.saturating_sub(most);
        (bits > 0).then_some(Self { least, shift, count: ((greatest - least) >> shift) as usize + 1 })
    }

    #[inline]
    fn of(self, key: u64) -> usize {
        ((key - self.least) >> self.shift) as usize
    }
}

/// Some elements of a piece, for one core at a time.
struct Part<'a, P> {
    piece: &'a P,
    range: Range<usize>,
}

impl<P: Piece> Part<'_, P> {
    fn items(&self) -> impl Iterator<Item = P::Item> {
        self.piece.items(self.range.clone())
    }

    /// The extremes of the keys; there is at least one.
    fn extremes(&self) -> (u64, u64) {
        extremes(self.items())
    }
}

fn extremes<T: Item>(items: impl Iterator<Item = T>) -> (u64, u64) {
    items.fold((u64::MAX, 0), |(least, greatest), item| (least.min(item.key()), greatest.max(item.key())))
}

/// The pieces in parts of about equal sizes, several for each core; none is empty.
fn parts<P: Piece>(pieces: &[P]) -> Vec<Part<'_, P>> {
    let n: usize = pieces.iter().map(Piece::count).sum();
    let size = (n / rayon::current_num_threads() / 4).max(LOCAL.start / 4);
    let parts_of = |piece| {
        let n = P::count(piece);
        (0..n).step_by(size).map(move |start| Part { piece, range: start..n.min(start + size) })
    };
    pieces.iter().flat_map(parts_of).collect()
}

/// All elements of these pieces, sorted by their keys; equal ones keep their order.
pub(super) fn sort<P: Piece>(pieces: Vec<P>) -> Vec<P::Item> {
    let mut sorted = bytemuck::zeroed_vec(pieces.iter().map(Piece::count).sum());
    let Some((prefix, ends)) = deal(&pieces, &mut sorted) else {
        // Equal keys are in order.
        let mut rest = &mut sorted[..];
        for piece in &pieces {
            let (place, after) = rest.split_at_mut(piece.count());
            place.iter_mut().zip(piece.items(0..piece.count())).for_each(|(place, item)| *place = item);
            rest = after;
        }
        return sorted;
    };
    // Before the buckets are sorted, since that takes memory again.
    drop(pieces);
    sort_buckets(&mut sorted, &ends, prefix);
    sorted
}

/// Sorts every bucket, on all cores.
fn sort_buckets<T: Item>(items: &mut [T], ends: &[usize], prefix: Prefix) {
    if prefix.shift == 0 {
        return;
    }
    let most = (items.len() / rayon::current_num_threads() / 2).clamp(LOCAL.start, LOCAL.end);
    let (large, small): (Vec<_>, Vec<_>) =
        split(items, ends).into_iter().partition(|bucket| bucket.len() > most);
    // By all cores each, and then the others by one core each.
    large.into_iter().for_each(sort_large);
    let small = Mutex::new(small.into_iter());
    let next = || small.lock().unwrap_or_else(PoisonError::into_inner).next();
    rayon::broadcast(|_| {
        let mut scratch = Vec::new();
        while let Some(bucket) = next() {
            sort_local(bucket, &mut scratch);
        }
    });
}

/// Sorts a bucket that is too large for one core's cache.
fn sort_large<T: Item>(bucket: &mut [T]) {
    let mut dealt = bytemuck::zeroed_vec(bucket.len());
    if let Some((prefix, ends)) = deal(&[&*bucket], &mut dealt) {
        sort_buckets(&mut dealt, &ends, prefix);
        let copy = |(to, from): (&mut [T], &[T])| to.copy_from_slice(from);
        bucket.par_chunks_mut(LOCAL.start).zip(dealt.par_chunks(LOCAL.start)).for_each(copy);
    }
}

/// Sorts a bucket on this core, whose scratch this is.
fn sort_local<T: Item>(items: &mut [T], scratch: &mut Vec<T>) {
    if items.len() <= INSERTION {
        return insert(items);
    }
    // As many bits as tell most of so many elements apart, half of them at a time.
    let half = items.len().ilog2().min(DIGIT_BITS);
    let Some(prefix) = Prefix::new(extremes(items.iter().copied()), 2 * half) else { return };
    if scratch.len() < items.len() {
        // Twice what was needed before, so that it grows a few times only.
        scratch.resize(items.len().next_power_of_two(), T::zeroed());
    }
    let low = |item: T| prefix.of(item.key()) & ((1 << half) - 1);
    let high = |item: T| prefix.of(item.key()) >> half;
    let (mut lows, mut highs) = ([0; 1 << DIGIT_BITS], [0; 1 << DIGIT_BITS]);
    let (lows, highs) = (&mut lows[..1 << half], &mut highs[..1 << half]);
    for &item in items.iter() {
        lows[low(item)] += 1;
        highs[high(item)] += 1;
    }
    let dealt = &mut scratch[..items.len()];
    deal_by(items, dealt, lows, low);
    deal_by(dealt, items, highs, high);
    if prefix.shift == 0 {
        return;
    }
    let equal = |a: &T, b: &T| prefix.of(a.key()) == prefix.of(b.key());
    for run in items.chunk_by_mut(equal).filter(|run| run.len() > 1) {
        sort_local(run, scratch);
    }
}

/// Deals the elements by a digit of which `counts` says how many there are of each.
#[inline]
fn deal_by<T: Item>(from: &[T], to: &mut [T], counts: &mut [u32], digit: impl Fn(T) -> usize) {
    let mut start = 0;
    for count in counts.iter_mut() {
        (*count, start) = (start, start + *count);
    }
    for &item in from {
        let place = &mut counts[digit(item)];
        to[*place as usize] = item;
        *place += 1;
    }
}

/// Sorts few elements.
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

/// The array in slices that end at these places.
fn split<'a, T>(mut array: &'a mut [T], ends: &[usize]) -> Vec<&'a mut [T]> {
    let mut start = 0;
    let slices = ends.iter().map(|&end| {
        let (slice, rest) = std::mem::take(&mut array).split_at_mut(end - start);
        (array, start) = (rest, end);
        slice
    });
    slices.collect()
}

/// Deals the elements of the pieces to buckets in `to`, by all cores; returns what it went by and where each bucket
/// ends, or `None` if all keys are equal, and nothing is dealt then.
fn deal<P: Piece>(pieces: &[P], to: &mut [P::Item]) -> Option<(Prefix, Vec<usize>)> {
    let parts = parts(pieces);
    let extremes = parts
        .par_iter()
        .map(Part::extremes)
        .reduce(|| (u64::MAX, 0), |(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    let mut prefix = Prefix::new(extremes, (to.len() / BUCKET).max(2).ilog2().min(DIGIT_BITS))?;
    if let Some(all) = Prefix::new(extremes, LAST_BITS).filter(|all| all.shift == 0) {
        prefix = all;
    }
    let mut places: Vec<Vec<usize>> = parts
        .par_iter()
        .map(|part| {
            let mut counts = vec![0; prefix.count];
            part.items().for_each(|item| counts[prefix.of(item.key())] += 1);
            counts
        })
        .collect();
    // From how many of a bucket each part has to where its first belongs: behind those of lower buckets and of
    // earlier parts.
    let mut place = 0;
    let mut ends = Vec::with_capacity(prefix.count);
    for bucket in 0..prefix.count {
        for counts in &mut places {
            (counts[bucket], place) = (place, place + counts[bucket]);
        }
        ends.push(place);
    }
    assert_eq!(place, to.len(), "every element has its place");

    let to = Places(to.as_mut_ptr());
    parts.par_iter().zip(places).for_each(|(part, mut places)| {
        for item in part.items() {
            let place = &mut places[prefix.of(item.key())];
            // SAFETY: the places from the beginning of a bucket's share to its end are this part's alone, since
            // they were counted by the same prefix from the same elements, which nobody changes; all shares
            // together are the array, as asserted above.
            unsafe { to.write(*place, item) };
            *place += 1;
        }
    });
    Some((prefix, ends))
}

/// An array that several cores write to, each to places of its own.
struct Places<T>(*mut T);

// SAFETY: it is only written to, through `write`, whose caller answers for the places.
unsafe impl<T: Send> Sync for Places<T> {}

impl<T> Places<T> {
    /// # Safety
    ///
    /// The place is in the array, and nobody else's.
    #[inline]
    unsafe fn write(&self, place: usize, item: T) {
        // SAFETY: as the caller promises.
        unsafe { self.0.add(place).write(item) };
    }
}
