//! A stable radix sort on all cores, from pieces into one array.
//!
//! All cores scatter the elements to buckets by the highest bits that differ between keys, until a bucket
//! fits a core's cache. One core then sorts it by the bits below, as [`local`](super::local) does. Every step
//! is stable, so positions need no comparison.
//!
//! ```text
//! pieces   [3 1 7 2] [0 6 5 4] …   as they were read
//!              │ scatter │
//! buckets  [0 1│3 2│5 4│7 6] …     one array, each bucket a slice of it
//!            sort each, on any core
//! ```
//!
//! Digits are relative to the least key: keys between 1,000 and 1,255 differ in eight bits only.
//! The scatter is the out-of-place most-significant-digit radix sort of Bostic and others,
//! "Engineering Radix Sort" (1993).

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

use gpusort_order::item::Item;

use super::items::{DIGIT_BITS, Part, Piece, count, join, parts, split};
use super::local::{Prefix, Room};
use gpusort_base::memory::{self, Kept};
use gpusort_base::parallel::{self, Places, by_blocks};

/// Bounds of the largest bucket for one core: half its share of the elements within these bounds, where a
/// bucket fits its cache, or an eighth of the share if larger.
const LOCAL: Range<usize> = 1 << 16..1 << 18;

/// Target number of elements per bucket.
const BUCKET: usize = 1 << 13;

/// The minimum number of elements that one core scatters at a time.
const PART: usize = 1 << 12;

/// Keys sampled per bucket to estimate the distribution.
const SAMPLES: usize = 8;

/// If no more bits than these remain, one scatter handles them all, which saves a pass.
const LAST_BITS: u32 = 13;

/// Buckets balanced by a sample, for skewed keys such as floats, whose highest bits are the exponent: digit
/// values with few keys share a bucket, and a value with many keys gets several.
struct SampledBuckets {
    prefix: Prefix,
    /// For each value of the digit, its first bucket, and the shift from the bits below the digit
    /// to a bucket.
    cuts: Vec<(u32, u32)>,
    count: usize,
}

impl SampledBuckets {
    /// Divides keys into about `buckets` buckets, of about equal size in the sample.
    fn new(prefix: Prefix, sample: &[u64], buckets: usize) -> Self {
        let share = (sample.len() / buckets).max(1);
        let (mut cuts, mut bucket, mut filled) = (Vec::with_capacity(prefix.count), 0, 0);
        // True once the current bucket has a digit value, even one that no sampled key has.
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
        let Some(&(first, shift)) = self.cuts.get(self.prefix.of(key)) else { return self.count };
        let below = key.wrapping_sub(self.prefix.least) & ((1 << self.prefix.shift) - 1);
        first as usize + (below >> shift) as usize
    }
}

/// Returns all elements of the pieces, stably sorted by key.
pub(super) fn sort<P: Piece>(pieces: Vec<P>) -> Vec<P::Item> {
    let n = count(&pieces);
    // Not zeroed: zeroing reused memory takes a large part of the time of a sort.
    let mut sorted = memory::room(n);
    let Some((items, buckets)) = scatter(&pieces, &mut sorted.spare_capacity_mut()[..n]) else {
        return join(&pieces);
    };
    // Free the pieces before the sort of the buckets allocates again.
    drop(pieces);
    // The elements are in place already, so `give` does nothing.
    sort_buckets(items, buckets, &mut vec![(); n], &|_, _| {});
    // SAFETY:
    // - The capacity is at least `n`.
    // - The scatter wrote all elements there.
    unsafe { sorted.set_len(n) };
    sorted
}

/// Sorts every bucket, on all cores; `give` writes the results for sorted elements to their places in `to`.
pub(super) fn sort_buckets<T: Item, R: Send>(
    items: &mut [T],
    buckets: Buckets,
    to: &mut [R],
    give: &(dyn Fn(&[T], &mut [R]) + Sync),
) {
    let Buckets::Unsorted(sizes) = buckets else { return by_blocks(items, to, give) };
    let share = items.len() / parallel::threads();
    let most = (share / 2).clamp(LOCAL.start, LOCAL.end).max(share / 8);
    let places = split(to, sizes.iter().copied());
    let (large, small): (Vec<_>, Vec<_>) =
        split(items, sizes.into_iter()).into_iter().zip(places).partition(|(bucket, _)| bucket.len() > most);
    // All cores share a large bucket; then one core sorts each small one.
    for (bucket, to) in large {
        let mut room = Kept::new::<T>(bucket.len());
        if let Some((scattered, buckets)) = scatter(&[Cow::Borrowed(&*bucket)], room.places(bucket.len())) {
            sort_buckets(scattered, buckets, bucket, &|sorted, bucket| bucket.copy_from_slice(sorted));
        }
        by_blocks(bucket, to, give);
    }
    parallel::map_parts(small, |(bucket, to)| {
        Room::with(|room| room.sort_by_digits(bucket));
        give(bucket, to);
    });
}

/// The result of a scatter.
pub(super) enum Buckets {
    /// The keys of each bucket are all equal.
    Sorted,
    /// Buckets with these numbers of elements, not sorted yet.
    Unsorted(Vec<usize>),
}

/// Scatters the elements of the pieces to buckets on all cores. `room` has a place for each element. Returns
/// `None` if all keys are equal.
///
/// The pieces are read several times. Another thread may change them in between, if they are a NumPy array or
/// a mapped file; then a copy is scattered.
pub(super) fn scatter<'a, P: Piece>(
    pieces: &[P],
    room: &'a mut [MaybeUninit<P::Item>],
) -> Option<(&'a mut [P::Item], Buckets)> {
    let buckets = scatter_in_place(pieces, room).unwrap_or_else(|Changed| {
        let copy = Cow::Owned(join(pieces));
        scatter_in_place(&[copy], room).unwrap_or_else(|Changed| unreachable!("nobody else has the copy"))
    })?;
    // SAFETY: the scatter wrote to every place.
    Some((unsafe { &mut *(std::ptr::from_mut(room) as *mut [P::Item]) }, buckets))
}

/// Another thread changed the elements after they were counted.
struct Changed;

/// Scatters the elements to every place of the room, unless they change during the scatter.
fn scatter_in_place<P: Piece>(
    pieces: &[P],
    room: &mut [MaybeUninit<P::Item>],
) -> Result<Option<Buckets>, Changed> {
    let (n, threads) = (count(pieces), parallel::threads());
    // Several parts per core.
    let parts = parts(pieces, (n / threads / 4).max(PART));
    let extremes = parallel::map_parts(&parts, |part| P::Item::extremes(part.items()))
        .into_iter()
        .fold((u64::MAX, 0), |(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    // The counts of short parts would be more work than their elements.
    let is_last = |digit: &Prefix| digit.shift == 0 && digit.count * parts.len() <= n;
    if let Some(all) = Prefix::new(extremes, LAST_BITS).filter(is_last) {
        scatter_by(&parts, room, all.count, move |key| all.of(key))?;
        return Ok(Some(Buckets::Sorted));
    }
    let bits = (n / BUCKET).max(4 * threads).ilog2().min(DIGIT_BITS);
    let (Some(prefix), Some(widest)) = (Prefix::new(extremes, bits), Prefix::new(extremes, DIGIT_BITS))
    else {
        return Ok(None);
    };
    let step = n / (SAMPLES << bits) + 1;
    let sample: Vec<u64> = parts.iter().flat_map(|part| part.sample(step)).collect();
    let largest = prefix.histogram(&sample).into_iter().max().unwrap_or(0) * step;
    // A bucket above a core's share would keep the other cores waiting, even if the bucket fits a cache.
    let sizes = if largest > LOCAL.start.min(n / threads).max(4 * (n >> bits)) {
        let buckets = SampledBuckets::new(widest, &sample, 1 << bits);
        scatter_by(&parts, room, buckets.count, |key| buckets.of(key))?
    } else {
        scatter_by(&parts, room, prefix.count, move |key| prefix.of(key))?
    };
    Ok(Some(Buckets::Unsorted(sizes)))
}

/// Scatters the elements of all parts to `count` buckets on all cores, and returns the sizes of the buckets.
/// `room` has one place per element. Greater keys never go to earlier buckets.
fn scatter_by<P: Piece>(
    parts: &[Part<P>],
    room: &mut [MaybeUninit<P::Item>],
    count: usize,
    bucket_of: impl Fn(u64) -> usize + Copy + Sync,
) -> Result<Vec<usize>, Changed> {
    let histogram = |part: &Part<P>| {
        // A copy stays in registers.
        let (mut counts, bucket) = (vec![0; count], bucket_of);
        part.items().try_for_each(|item| {
            *counts.get_mut(bucket(item.key()))? += 1;
            Some(())
        })?;
        Some(counts)
    };
    let counts: Option<Vec<Vec<usize>>> = parallel::map_parts(parts, histogram).into_iter().collect();
    let counts = counts.ok_or(Changed)?;
    // For each part, its places in each bucket: ascending by bucket, then by part.
    let mut shares: Vec<Vec<Range<usize>>> = counts.iter().map(|_| Vec::with_capacity(count)).collect();
    let mut place = 0;
    let size_of = |bucket| {
        let start = place;
        for (counts, shares) in counts.iter().zip(&mut shares) {
            shares.push(place..place + counts[bucket]);
            place += counts[bucket];
        }
        place - start
    };
    let sizes = (0..count).map(size_of).collect();
    assert_eq!(place, room.len(), "there is room for all");
    let to = Places::of(room);
    let fits = parallel::map_parts(parts.iter().zip(shares), |(part, mut shares)| {
        let bucket = bucket_of;
        for item in part.items() {
            let share = shares.get_mut(bucket(item.key())).filter(|share| share.start < share.end)?;
            // SAFETY:
            // - The place is within this part's share of the bucket, and no other part writes there.
            // - All shares are within the room.
            unsafe { to.write(share.start, item) };
            share.start += 1;
        }
        Some(())
    });
    // Each part's shares have one place per element, so every place is filled.
    if fits.contains(&None) { Err(Changed) } else { Ok(sizes) }
}
