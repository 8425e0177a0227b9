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

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::items::{Item, Part, Piece, count, join, parts, split};
use crate::memory;
use crate::parallel::{self, IndexedParallelIterator, ParallelIterator};
use crate::words::map_into;

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

    /// The number of keys of each value.
    fn histogram(self, keys: &[u64]) -> Vec<usize> {
        let mut counts = vec![0; self.count];
        keys.iter().for_each(|&key| counts[self.of(key)] += 1);
        counts
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
        let share = (sample.len() / buckets).max(1);
        let (mut cuts, mut bucket, mut filled) = (Vec::with_capacity(prefix.count), 0, 0);
        // Whether the current bucket has digit values already, even without a sampled key.
        let mut begun = false;
        for size in prefix.histogram(sample) {
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

    #[inline]
    fn of(&self, key: u64) -> usize {
        let (first, shift) = self.cuts[self.prefix.of(key)];
        let below = (key - self.prefix.least) & ((1 << self.prefix.shift) - 1);
        first as usize + (below >> shift) as usize
    }
}

/// The least and the greatest key.
fn extremes<T: Item>(items: impl Iterator<Item = T>) -> (u64, u64) {
    items.fold((u64::MAX, 0), |(least, greatest), item| (least.min(item.key()), greatest.max(item.key())))
}

/// All elements of the pieces, stably sorted by key.
pub(super) fn sort<P: Piece>(pieces: Vec<P>) -> Vec<P::Item> {
    let mut sorted = memory::zeroed(count(&pieces));
    let Some(buckets) = scatter(&pieces, &mut sorted) else { return join(&pieces) };
    // Sorting the buckets allocates again.
    drop(pieces);
    sort_buckets(&mut sorted, buckets);
    sorted
}

/// Sorts every bucket, on all cores.
fn sort_buckets<T: Item>(items: &mut [T], buckets: Buckets) {
    let Buckets::Unsorted(sizes) = buckets else { return };
    let most = (items.len() / parallel::threads() / 2).clamp(LOCAL.start, LOCAL.end);
    let (large, small): (Vec<_>, Vec<_>) =
        split(items, sizes.into_iter()).into_iter().partition(|bucket| bucket.len() > most);
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
    if let Some(buckets) = scatter(&[Cow::Borrowed(&*bucket)], &mut scattered) {
        sort_buckets(&mut scattered, buckets);
        map_into(&scattered, bucket, |&item| item);
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

/// The result of a scatter.
enum Buckets {
    /// The keys of each bucket are all equal.
    Sorted,
    /// Buckets of these sizes.
    Unsorted(Vec<usize>),
}

/// Scatters the elements of the pieces to buckets in `to`, on all cores. Returns `None`, with `to` unchanged,
/// if all keys are equal.
fn scatter<P: Piece>(pieces: &[P], to: &mut [P::Item]) -> Option<Buckets> {
    let n = to.len();
    // Several per core.
    let parts = parts(pieces, (n / parallel::threads() / 4).max(LOCAL.start / 4));
    let extremes = parallel::iter(&parts)
        .map(|part| extremes(part.items()))
        .reduce(|| (u64::MAX, 0), |(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    if let Some(all) = Prefix::new(extremes, LAST_BITS).filter(|digit| digit.shift == 0) {
        scatter_by(&parts, all.count, move |key| all.of(key), to);
        return Some(Buckets::Sorted);
    }
    let bits = (n / BUCKET).max(2).ilog2().min(DIGIT_BITS);
    let prefix = Prefix::new(extremes, bits)?;
    let step = n / (SAMPLES << bits) + 1;
    let sample: Vec<u64> = parts.iter().flat_map(|part| part.sample(step)).collect();
    let largest = prefix.histogram(&sample).into_iter().max().unwrap_or(0) * step;
    Some(Buckets::Unsorted(if largest > LOCAL.start.max(4 * (n >> bits)) {
        let buckets = SampledBuckets::new(Prefix::new(extremes, DIGIT_BITS)?, &sample, 1 << bits);
        scatter_by(&parts, buckets.count, |key| buckets.of(key), to)
    } else {
        scatter_by(&parts, prefix.count, move |key| prefix.of(key), to)
    }))
}

/// Scatters the elements of all parts to `count` buckets in `to`, on all cores; returns the sizes of the buckets. The
/// bucket of a key rises with it.
fn scatter_by<P: Piece>(
    parts: &[Part<P>],
    count: usize,
    bucket_of: impl Fn(u64) -> usize + Copy + Sync,
    to: &mut [P::Item],
) -> Vec<usize> {
    let histogram = |part: &Part<P>| {
        // A copy, which stays in registers.
        let (mut counts, bucket) = (vec![0; count], bucket_of);
        part.items().for_each(|item| counts[bucket(item.key())] += 1);
        counts
    };
    let mut places: Vec<Vec<usize>> = parallel::iter(parts).map(histogram).collect();
    // Turn counts into offsets, ordered by bucket and then by part.
    let mut place = 0;
    let size_of = |bucket| {
        let start = place;
        for counts in &mut places {
            (counts[bucket], place) = (place, place + counts[bucket]);
        }
        place - start
    };
    let sizes = (0..count).map(size_of).collect();
    assert_eq!(place, to.len(), "every element has its place");

    let to = Places(to.as_mut_ptr());
    parallel::iter(parts).zip(parallel::iter(places)).for_each(|(part, mut places)| {
        let bucket = bucket_of;
        for item in part.items() {
            let place = &mut places[bucket(item.key())];
            // SAFETY: the places from the beginning of a part's share of a bucket to its end belong to this
            // part alone, since they were counted by the same rule from the same elements, which nothing
            // changes; all shares together make up the array, as asserted above.
            unsafe { to.write(*place, item) };
            *place += 1;
        }
    });
    sizes
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
