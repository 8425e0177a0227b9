//! A stable radix sort on all cores, from pieces into one array.
//!
//! All cores scatter the elements to buckets by the highest bits in which keys differ, until a bucket fits a
//! core's cache. One core then sorts it by the next bits, with a least-significant-digit sort of two digits,
//! and recurses into runs of elements equal so far. Every step is stable, so positions need no comparison.
//!
//! ```text
//! pieces   [3 1 7 2] [0 6 5 4] …   as they were read
//!              │ scatter │
//! buckets  [0 1│3 2│5 4│7 6] …     one array, each bucket a slice of it
//!            sort each, on any core
//! ```
//!
//! Digits are relative to the least key: keys between 1,000 and 1,255 differ in eight bits only. The scatter
//! is the out-of-place most-significant-digit radix sort of Bostic and others, "Engineering Radix Sort"
//! (1993).

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::items::{Item, Piece};
use crate::memory;
use crate::parallel::{self, IndexedParallelIterator, ParallelIterator};

/// Bounds of the largest bucket that one core sorts in its cache: smaller buckets always go to one core,
/// larger ones never do, and in between it depends on whether there is as much work for the others.
const LOCAL: Range<usize> = 1 << 16..1 << 18;

/// Target number of elements per bucket.
const BUCKET: usize = 1 << 13;

/// Up to this many elements are sorted by insertion.
const INSERTION: usize = 24;

/// The widest digit: with more bits, the scatter writes to more places at once than caches support.
const DIGIT_BITS: u32 = 11;

/// Keys sampled per bucket to estimate the distribution.
const SAMPLES: usize = 8;

/// If no more bits than these remain, one scatter handles them all, which saves a pass.
const LAST_BITS: u32 = 13;

/// A digit: some of the highest bits in which keys between two extremes differ.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    least: u64,
    /// Number of bits below the digit.
    shift: u32,
    /// Number of possible values.
    count: usize,
}

impl Prefix {
    /// A digit of at most `most` bits; `None` if all keys are equal.
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

/// How a scatter assigns keys to buckets; monotonic in the key.
trait Scatter: Sync {
    fn of(&self, key: u64) -> usize;
    /// Number of buckets.
    fn count(&self) -> usize;
    /// Whether the keys of each bucket are all equal.
    fn is_last(&self) -> bool;
}

impl Scatter for Prefix {
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

/// Buckets balanced by a sample, for skewed keys such as floats, whose highest bits are the exponent: values
/// of a digit that have few keys share a bucket, and one with many keys is divided into several.
struct SampledBuckets {
    prefix: Prefix,
    /// For each value of the digit, its first bucket, and the shift from the bits below the digit to a
    /// bucket.
    cuts: Vec<(u32, u32)>,
    count: usize,
}

impl SampledBuckets {
    /// About this many buckets of equal sizes, as far as the sample shows.
    fn new(prefix: Prefix, sample: &[u64], buckets: usize) -> Self {
        let mut shares = vec![0; prefix.count];
        sample.iter().for_each(|&key| shares[prefix.of(key)] += 1);
        let share = (sample.len() / buckets).max(1);
        let (mut cuts, mut bucket, mut filled) = (Vec::with_capacity(prefix.count), 0, 0);
        // Whether the current bucket has digit values already, even without a sampled key.
        let mut begun = false;
        for size in shares {
            if size > 2 * share {
                // Close the current bucket; the buckets of this value follow.
                bucket += u32::from(begun);
                let bits = (size / share).ilog2().min(prefix.shift).min(DIGIT_BITS);
                cuts.push((bucket, prefix.shift - bits));
                (bucket, filled, begun) = (bucket + (1 << bits), 0, false);
            } else {
                // The bits above are masked off, so this shift maps all keys of the value to 0.
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

impl Scatter for SampledBuckets {
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

/// A range of a piece, the unit of work of one core.
struct Part<'a, P> {
    piece: &'a P,
    range: Range<usize>,
}

impl<P: Piece> Part<'_, P> {
    fn items(&self) -> impl Iterator<Item = P::Item> {
        self.piece.items(self.range.clone())
    }

    /// Every `step`-th key.
    fn sample(&self, step: usize) -> impl Iterator<Item = u64> {
        let places = self.range.clone().step_by(step);
        places.flat_map(|place| self.piece.items(place..place + 1)).map(Item::key)
    }

    /// The least and the greatest key; the part is not empty.
    fn extremes(&self) -> (u64, u64) {
        extremes(self.items())
    }
}

fn extremes<T: Item>(items: impl Iterator<Item = T>) -> (u64, u64) {
    items.fold((u64::MAX, 0), |(least, greatest), item| (least.min(item.key()), greatest.max(item.key())))
}

/// Divides the pieces into non-empty parts of about equal sizes, several per core.
fn parts<P: Piece>(pieces: &[P]) -> Vec<Part<'_, P>> {
    let n: usize = pieces.iter().map(Piece::count).sum();
    let size = (n / parallel::threads() / 4).max(LOCAL.start / 4);
    let parts_of = |piece| {
        let n = P::count(piece);
        (0..n).step_by(size).map(move |start| Part { piece, range: start..n.min(start + size) })
    };
    pieces.iter().flat_map(parts_of).collect()
}

/// All elements of the pieces, stably sorted by key.
pub(super) fn sort<P: Piece>(pieces: Vec<P>) -> Vec<P::Item> {
    let mut sorted = memory::zeroed(pieces.iter().map(Piece::count).sum());
    let Some(buckets) = scatter(&pieces, &mut sorted) else {
        // All keys are equal: copy.
        let mut rest = &mut sorted[..];
        for piece in &pieces {
            let (place, after) = rest.split_at_mut(piece.count());
            place.iter_mut().zip(piece.items(0..piece.count())).for_each(|(place, item)| *place = item);
            rest = after;
        }
        return sorted;
    };
    // Sorting the buckets allocates again.
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
    // Large buckets by all cores together, then the small ones by one core each.
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

/// Sorts a bucket that is too large for one core.
fn sort_large<T: Item>(bucket: &mut [T]) {
    let mut scattered = memory::zeroed(bucket.len());
    if let Some(buckets) = scatter(&[&*bucket], &mut scattered) {
        sort_buckets(&mut scattered, &buckets);
        let copy = |(to, from): (&mut [T], &[T])| to.copy_from_slice(from);
        parallel::chunks_mut(bucket, LOCAL.start)
            .zip(parallel::chunks(&scattered, LOCAL.start))
            .for_each(copy);
    }
}

/// Sorts a bucket on the current core.
fn sort_local<T: Item>(items: &mut [T], scratch: &mut Vec<T>) {
    if items.len() <= INSERTION {
        return insert(items);
    }
    // Enough bits to tell most elements apart, in two digits.
    let half = items.len().ilog2().min(DIGIT_BITS);
    let Some(prefix) = Prefix::new(extremes(items.iter().copied()), 2 * half) else { return };
    if scratch.len() < items.len() {
        // To the next power of two, so that it rarely grows.
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
    let scattered = &mut scratch[..items.len()];
    scatter_digit(items, scattered, lows, low);
    scatter_digit(scattered, items, highs, high);
    if prefix.shift == 0 {
        return;
    }
    let equal = |a: &T, b: &T| prefix.of(a.key()) == prefix.of(b.key());
    for run in items.chunk_by_mut(equal).filter(|run| run.len() > 1) {
        sort_local(run, scratch);
    }
}

/// Scatters the elements by a digit whose histogram is `counts`.
#[inline]
fn scatter_digit<T: Item>(from: &[T], to: &mut [T], counts: &mut [u32], digit: impl Fn(T) -> usize) {
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

/// Splits the array at these ends.
fn split<'a, T>(mut array: &'a mut [T], ends: &[usize]) -> Vec<&'a mut [T]> {
    let mut start = 0;
    let slices = ends.iter().map(|&end| {
        let (slice, rest) = std::mem::take(&mut array).split_at_mut(end - start);
        (array, start) = (rest, end);
        slice
    });
    slices.collect()
}

/// The result of a scatter.
struct Buckets {
    ends: Vec<usize>,
    /// Whether all buckets are sorted already.
    are_sorted: bool,
}

/// Scatters the elements of the pieces to buckets in `to`, on all cores. Returns `None`, with `to` unchanged,
/// if all keys are equal.
fn scatter<P: Piece>(pieces: &[P], to: &mut [P::Item]) -> Option<Buckets> {
    let n = to.len();
    let parts = parts(pieces);
    let extremes = parallel::iter(&parts)
        .map(Part::extremes)
        .reduce(|| (u64::MAX, 0), |(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    if let Some(all) = Prefix::new(extremes, LAST_BITS).filter(Scatter::is_last) {
        return Some(scatter_by(&parts, &all, to));
    }
    let bits = (n / BUCKET).max(2).ilog2().min(DIGIT_BITS);
    let prefix = Prefix::new(extremes, bits)?;
    let step = n / (SAMPLES << bits) + 1;
    let sample: Vec<u64> = parts.iter().flat_map(|part| part.sample(step)).collect();
    let mut shares = vec![0; prefix.count];
    sample.iter().for_each(|&key| shares[prefix.of(key)] += 1);
    let largest = shares.into_iter().max().unwrap_or(0) * step;
    Some(if largest > LOCAL.start.max(4 * (n >> bits)) {
        scatter_by(&parts, &SampledBuckets::new(Prefix::new(extremes, DIGIT_BITS)?, &sample, 1 << bits), to)
    } else {
        scatter_by(&parts, &prefix, to)
    })
}

/// Scatters the elements of all parts to buckets in `to`, on all cores.
fn scatter_by<P: Piece>(parts: &[Part<P>], scatter: &impl Scatter, to: &mut [P::Item]) -> Buckets {
    let mut places: Vec<Vec<usize>> = parallel::iter(parts)
        .map(|part| {
            let mut counts = vec![0; scatter.count()];
            part.items().for_each(|item| counts[scatter.of(item.key())] += 1);
            counts
        })
        .collect();
    // Turn counts into offsets, ordered by bucket and then by part.
    let mut place = 0;
    let mut ends = Vec::with_capacity(scatter.count());
    for bucket in 0..scatter.count() {
        for counts in &mut places {
            (counts[bucket], place) = (place, place + counts[bucket]);
        }
        ends.push(place);
    }
    assert_eq!(place, to.len(), "every element has its place");

    let to = Places(to.as_mut_ptr());
    parallel::iter(parts).zip(parallel::take(places)).for_each(|(part, mut places)| {
        for item in part.items() {
            let place = &mut places[scatter.of(item.key())];
            // SAFETY: the places from the beginning of a part's share of a bucket to its end belong to this
            // part alone, since they were counted by the same rule from the same elements, which nothing
            // changes; all shares together make up the array, as asserted above.
            unsafe { to.write(*place, item) };
            *place += 1;
        }
    });
    Buckets { ends, are_sorted: scatter.is_last() }
}

/// An array that several cores write to at disjoint places.
struct Places<T>(*mut T);

// SAFETY: it is only written to, through `write`, whose caller guarantees disjoint places.
unsafe impl<T: Send> Sync for Places<T> {}

impl<T> Places<T> {
    /// # Safety
    ///
    /// The place is within the array, and no other thread accesses it.
    #[inline]
    unsafe fn write(&self, place: usize, item: T) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.add(place).write(item) };
    }
}
