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

use super::items::{Item, Piece};
use crate::memory;
use crate::parallel::{self, IndexedParallelIterator, ParallelIterator};

/// A bucket of so many elements is one core's, in its cache: of fewer in any case, and of more where others have as much
/// to do.
const LOCAL: Range<usize> = 1 << 16..1 << 18;

/// Buckets are to have about this many elements.
const BUCKET: usize = 1 << 13;

/// Up to so many are put in order by insertion.
const INSERTION: usize = 24;

/// The most bits of a digit: with more, the places that are written to in turn are more than caches bear.
const DIGIT_BITS: u32 = 11;

/// Keys that are looked at to see how they are spread, for each bucket.
const SAMPLES: usize = 8;

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

/// What elements are dealt by: it rises with the key.
trait Deal: Sync {
    /// The bucket of this key.
    fn of(&self, key: u64) -> usize;
    /// How many buckets there are.
    fn count(&self) -> usize;
    /// Whether the keys of a bucket are all equal.
    fn is_last(&self) -> bool;
}

impl Deal for Prefix {
    #[inline]
    fn of(&self, key: u64) -> usize {
        Prefix::of(*self, key)
    }

    fn count(&self) -> usize {
        self.count
    }

    fn is_last(&self) -> bool {
        self.shift == 0
    }
}

/// Cells of a prefix, which are one bucket where they have few keys together, and several where they have many: for
/// keys that are spread unevenly, as those of floats are, whose highest bits are the exponent's.
struct Cells {
    prefix: Prefix,
    /// Of each cell the bucket of its least key, and the bits below those by which it is cut.
    cuts: Vec<(u32, u32)>,
    count: usize,
}

impl Cells {
    /// About so many buckets of equal sizes, and the extremes of the keys in different ones, as far as a sample of the keys tells.
    fn new(prefix: Prefix, sample: &[u64], buckets: usize) -> Self {
        let mut shares = vec![0; prefix.count];
        sample.iter().for_each(|&key| shares[prefix.of(key)] += 1);
        let share = (sample.len() / buckets).max(1);
        let (mut cuts, mut bucket, mut filled) = (Vec::with_capacity(prefix.count), 0, 0);
        // Whether cells are in the bucket already, of which the sample need not know a key.
        let mut begun = false;
        for size in shares {
            if size > 2 * share {
                // A bucket that was begun ends, and this one's own follow.
                bucket += u32::from(begun);
                let bits = (size / share).ilog2().min(prefix.shift).min(DIGIT_BITS);
                cuts.push((bucket, prefix.shift - bits));
                (bucket, filled, begun) = (bucket + (1 << bits), 0, false);
            } else {
                // What is above the bits of a cell is taken off, so this is 0 for all its keys.
                cuts.push((bucket, u64::BITS - 1));
                (filled, begun) = (filled + size, true);
                if filled >= share {
                    (bucket, filled, begun) = (bucket + 1, 0, false);
                }
            }
        }
        Self { prefix, cuts, count: bucket as usize + 1 }
    }
}

impl Deal for Cells {
    #[inline]
    fn of(&self, key: u64) -> usize {
        let (first, shift) = self.cuts[self.prefix.of(key)];
        let below = (key - self.prefix.least) & ((1 << self.prefix.shift) - 1);
        first as usize + (below >> shift) as usize
    }

    fn count(&self) -> usize {
        self.count
    }

    fn is_last(&self) -> bool {
        false
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

    /// Every so manyth key.
    fn sample(&self, step: usize) -> impl Iterator<Item = u64> {
        let places = self.range.clone().step_by(step);
        places.flat_map(|place| self.piece.items(place..place + 1)).map(Item::key)
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
    let size = (n / parallel::threads() / 4).max(LOCAL.start / 4);
    let parts_of = |piece| {
        let n = P::count(piece);
        (0..n).step_by(size).map(move |start| Part { piece, range: start..n.min(start + size) })
    };
    pieces.iter().flat_map(parts_of).collect()
}

/// All elements of these pieces, sorted by their keys; equal ones keep their order.
pub(super) fn sort<P: Piece>(pieces: Vec<P>) -> Vec<P::Item> {
    let mut sorted = memory::zeroed(pieces.iter().map(Piece::count).sum());
    let Some(buckets) = deal(&pieces, &mut sorted) else {
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
    sort_buckets(&mut sorted, &buckets);
    sorted
}

/// Sorts every bucket, on all cores.
fn sort_buckets<T: Item>(items: &mut [T], buckets: &Buckets) {
    if buckets.are_sorted {
        return;
    }
    let most = (items.len() / parallel::threads() / 2).clamp(LOCAL.start, LOCAL.end);
    let (large, small): (Vec<_>, Vec<_>) =
        split(items, &buckets.ends).into_iter().partition(|bucket| bucket.len() > most);
    // By all cores each, and then the others by one core each.
    large.into_iter().for_each(sort_large);
    let small = Mutex::new(small.into_iter());
    let next = || small.lock().unwrap_or_else(PoisonError::into_inner).next();
    parallel::each_core(|| {
        let mut scratch = Vec::new();
        while let Some(bucket) = next() {
            sort_local(bucket, &mut scratch);
        }
    });
}

/// Sorts a bucket that is too large for one core's cache.
fn sort_large<T: Item>(bucket: &mut [T]) {
    let mut dealt = memory::zeroed(bucket.len());
    if let Some(buckets) = deal(&[&*bucket], &mut dealt) {
        sort_buckets(&mut dealt, &buckets);
        let copy = |(to, from): (&mut [T], &[T])| to.copy_from_slice(from);
        parallel::chunks_mut(bucket, LOCAL.start).zip(parallel::chunks(&dealt, LOCAL.start)).for_each(copy);
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
    deal_digit(items, dealt, lows, low);
    deal_digit(dealt, items, highs, high);
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
fn deal_digit<T: Item>(from: &[T], to: &mut [T], counts: &mut [u32], digit: impl Fn(T) -> usize) {
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

/// Where elements were dealt to.
struct Buckets {
    ends: Vec<usize>,
    /// Whether nothing is left to be done in any of them.
    are_sorted: bool,
}

/// Deals the elements of the pieces to buckets in `to`, by all cores; `None` if all keys are equal, and nothing is dealt
/// then.
fn deal<P: Piece>(pieces: &[P], to: &mut [P::Item]) -> Option<Buckets> {
    let n = to.len();
    let parts = parts(pieces);
    let extremes = parallel::iter(&parts)
        .map(Part::extremes)
        .reduce(|| (u64::MAX, 0), |(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    if let Some(all) = Prefix::new(extremes, LAST_BITS).filter(Deal::is_last) {
        return Some(deal_by(&parts, &all, to));
    }
    let bits = (n / BUCKET).max(2).ilog2().min(DIGIT_BITS);
    let prefix = Prefix::new(extremes, bits)?;
    let step = n / (SAMPLES << bits) + 1;
    let sample: Vec<u64> = parts.iter().flat_map(|part| part.sample(step)).collect();
    let mut shares = vec![0; prefix.count];
    sample.iter().for_each(|&key| shares[prefix.of(key)] += 1);
    let largest = shares.into_iter().max().unwrap_or(0) * step;
    Some(if largest > LOCAL.start.max(4 * (n >> bits)) {
        deal_by(&parts, &Cells::new(Prefix::new(extremes, DIGIT_BITS)?, &sample, 1 << bits), to)
    } else {
        deal_by(&parts, &prefix, to)
    })
}

/// Deals the elements of all parts to buckets in `to`, by all cores.
fn deal_by<P: Piece>(parts: &[Part<P>], deal: &impl Deal, to: &mut [P::Item]) -> Buckets {
    let mut places: Vec<Vec<usize>> = parallel::iter(parts)
        .map(|part| {
            let mut counts = vec![0; deal.count()];
            part.items().for_each(|item| counts[deal.of(item.key())] += 1);
            counts
        })
        .collect();
    // From how many of a bucket each part has to where its first belongs: behind those of lower buckets and of
    // earlier parts.
    let mut place = 0;
    let mut ends = Vec::with_capacity(deal.count());
    for bucket in 0..deal.count() {
        for counts in &mut places {
            (counts[bucket], place) = (place, place + counts[bucket]);
        }
        ends.push(place);
    }
    assert_eq!(place, to.len(), "every element has its place");

    let to = Places(to.as_mut_ptr());
    parallel::iter(parts).zip(parallel::take(places)).for_each(|(part, mut places)| {
        for item in part.items() {
            let place = &mut places[deal.of(item.key())];
            // SAFETY: the places from the beginning of a bucket's share to its end are this part's alone, since
            // they were counted by the same rule from the same elements, which nobody changes; all shares
            // together are the array, as asserted above.
            unsafe { to.write(*place, item) };
            *place += 1;
        }
    });
    Buckets { ends, are_sorted: deal.is_last() }
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
