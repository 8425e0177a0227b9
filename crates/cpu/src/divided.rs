//! Sorts keys by vectors on all cores.
//!
//! Each core partitions blocks that fit its cache, by splitters from a sample of all keys. Then each core
//! gathers the keys of a bucket from all blocks, sorts them in its cache and writes the result to its place:
//!
//! ```text
//! pieces   [3 1 7 2] [0 6 5 4]       as they were read
//!              │ divide │            by 2, 4 and 6, each block by itself
//! blocks   [1│3 2│ │7] [0│ │5 4│6]
//!               gather
//! sorted   [0 1│2 3│4 5│6 7]         each bucket sorted, on any core
//! ```
//!
//! A key so frequent that several splitters equal it gets a bucket of its own, which needs no sort. This is
//! the sample sort of Frazer and others, "Samplesort" (1970); Sanders and Winkel, "Super scalar sample sort"
//! (2004), partition blocks and gather them.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use gpusort_order::item::Item;

use super::items::{Part, Piece, count, parts, sample, split};
use super::local::{Room, sort_by_vectors, with_keys};
use super::radix;
use super::vector::{Instructions, words};
use gpusort_base::memory::{self, Kept};
use gpusort_base::parallel;

/// Writes the results for sorted keys to their places; may rearrange the keys.
pub(super) type Give<'a, K, R> = &'a (dyn Fn(&mut [K], &mut [MaybeUninit<R>]) + Sync);

/// Approximate bytes of a bucket: the bucket and its scratch memory fit a core's cache.
const BUCKET: usize = 1 << 19;

/// Bytes of the largest block.
const BLOCK: usize = 1 << 20;

/// The minimum number of keys per block: one core sorts fewer before others wake.
const LEAST: usize = 1 << 10;

/// The maximum number of buckets: with more, a block has too few keys per bucket.
const MOST: usize = 1 << 11;

/// Equal keys written at a time.
const SAME: usize = 1 << 12;

/// Keys sampled per bucket.
const SAMPLES: usize = 16;

/// Blocks of keys, all partitioned by the same splitters.
pub(super) struct Divided<'a, K> {
    with: Instructions,
    blocks: Vec<&'a [K]>,
    /// For each block and each bucket, the end of the bucket in the block.
    ends: Vec<u32>,
    /// For each bucket, its number of keys, and true if they are all equal.
    buckets: Vec<(usize, bool)>,
    ignored: u32,
}

impl<'a, K: Item> Divided<'a, K> {
    /// Partitions the keys of the pieces, at least one, into this memory. Keys that differ only in the lowest `ignored`
    /// bits share a bucket.
    pub(super) fn new<P: Piece<Item = K>>(
        with: Instructions,
        pieces: &[P],
        ignored: u32,
        memory: &'a mut Kept,
    ) -> Self {
        let n = count(pieces);
        let parts = parts(pieces, block_size::<K>(n));
        let splitters = splitters(pieces, n, ignored);
        let blocks = split(memory.places(n), parts.iter().map(Part::len));
        Self::of(with, splitters, ignored, parts.iter().zip(blocks), |(part, places)| {
            with.write(places, part.items());
            // SAFETY: `write` filled all places, since the part has one key for each.
            unsafe { &mut *(std::ptr::from_mut(places) as *mut [K]) }
        })
    }

    /// Partitions the keys of these arrays in place; at least one.
    pub(super) fn of_arrays(with: Instructions, arrays: &'a mut [Vec<K>]) -> Self {
        let size = block_size::<K>(arrays.iter().map(Vec::len).sum());
        let pieces: Vec<Cow<[K]>> = arrays.iter().map(|array| Cow::Borrowed(&array[..])).collect();
        let splitters = splitters(&pieces, count(&pieces), 0);
        let blocks = arrays.iter_mut().flat_map(|array| array.chunks_mut(size));
        Self::of(with, splitters, 0, blocks, |block| block)
    }

    /// Partitions the block that `fill` makes of each part.
    fn of<T: Send>(
        with: Instructions,
        (splitters, alike): (Vec<u64>, Vec<bool>),
        ignored: u32,
        parts: impl Iterator<Item = T>,
        fill: impl Fn(T) -> &'a mut [K] + Sync,
    ) -> Self {
        let splitters: Vec<K> = words(splitters);
        let parts: Vec<T> = parts.collect();
        let mut ends = vec![0; parts.len() * alike.len()];
        let parts = parts.into_iter().zip(ends.chunks_mut(alike.len()));
        let blocks = parallel::map_parts(parts, |(part, ends)| {
            let block = fill(part);
            Room::with(|room| room.divide(with, block, &splitters, ends));
            &*block
        });
        let mut buckets: Vec<_> = alike.into_iter().map(|alike| (0, alike)).collect();
        for ends in ends.chunks(buckets.len()) {
            let begins = [0].iter().chain(ends);
            for (((size, _), end), begin) in buckets.iter_mut().zip(ends).zip(begins) {
                *size += (end - begin) as usize;
            }
        }
        Self { with, blocks, ends, buckets, ignored }
    }

    /// Sorts all keys into one array.
    pub(super) fn sorted(self) -> Vec<K> {
        let (with, n) = (self.with, self.count());
        let mut sorted = memory::room(n);
        self.sort(&mut sorted.spare_capacity_mut()[..n], &|keys, to| with.write(to, keys.iter().copied()));
        // SAFETY:
        // - The capacity is at least `n`.
        // - The sort wrote every bucket, and the buckets have `n` keys.
        unsafe { sorted.set_len(n) };
        sorted
    }

    /// Sorts each bucket; `give` writes its result to its place in `to`, which has one place per key.
    pub(super) fn sort<R: Send>(self, to: &mut [MaybeUninit<R>], give: Give<K, R>) {
        let share = to.len() / parallel::threads();
        // Large buckets are sorted faster on one core each than one after another on all cores, even beyond
        // the cache. A bucket above an eighth of a core's share would keep the other cores waiting.
        let most = (4 * share.clamp(LEAST, BUCKET / size_of::<K>())).max(share / 8);
        let places = split(to, self.buckets.iter().map(|bucket| bucket.0));
        let mut large = Vec::new();
        let mut small = Vec::new();
        for (bucket, places) in places.into_iter().enumerate() {
            let list = if places.len() > most { &mut large } else { &mut small };
            list.push((bucket, places));
        }
        for (bucket, to) in large {
            self.sort_large(bucket, to, give);
        }
        parallel::map_parts(small, |(bucket, to)| {
            with_keys(to.len(), |keys, scratch| {
                self.gather(bucket, keys);
                if !self.buckets[bucket].1 {
                    sort_by_vectors(self.with, keys, scratch);
                }
                give(keys, to);
            });
        });
    }

    /// Sorts a bucket on all cores.
    fn sort_large<R: Send>(&self, bucket: usize, to: &mut [MaybeUninit<R>], give: Give<K, R>) {
        if self.buckets[bucket].1 {
            let Some(&key) = self.parts(bucket).flatten().next() else { return };
            parallel::map_parts(to.chunks_mut(SAME), |to| {
                with_keys(to.len(), |keys, _| {
                    keys.fill(key);
                    give(keys, to);
                });
            });
            return;
        }
        let pieces: Vec<_> = self.parts(bucket).map(Cow::Borrowed).collect();
        if to.len() <= self.count() / 4 * 3 {
            let mut memory = Kept::new::<K>(to.len());
            return Divided::new(self.with, &pieces, self.ignored, &mut memory).sort(to, give);
        }
        // Splitters hardly divide such keys: most of them are in this bucket.
        give(&mut radix::sort(pieces), to);
    }

    fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.len()).sum()
    }

    /// Returns the keys of a bucket in each block.
    fn parts(&self, bucket: usize) -> impl Iterator<Item = &[K]> {
        let blocks = self.blocks.iter().zip(self.ends.chunks(self.buckets.len()));
        blocks.map(move |(block, ends)| {
            let first = if bucket == 0 { 0 } else { ends[bucket - 1] };
            &block[first as usize..ends[bucket] as usize]
        })
    }

    /// Copies the keys of a bucket from all blocks.
    fn gather(&self, bucket: usize, mut to: &mut [K]) {
        for part in self.parts(bucket) {
            let (begin, rest) = to.split_at_mut(part.len());
            begin.copy_from_slice(part);
            to = rest;
        }
    }
}

/// Returns the number of keys per block: each core gets several blocks, so that no core waits for another.
fn block_size<K>(n: usize) -> usize {
    (n / (2 * parallel::threads())).clamp(LEAST, BLOCK / size_of::<K>())
}

/// Returns splitters whose lowest `ignored` bits are 0, and for each bucket whether its keys are all equal.
fn splitters<P: Piece>(pieces: &[P], n: usize, ignored: u32) -> (Vec<u64>, Vec<bool>) {
    let buckets = (n * size_of::<P::Item>() / BUCKET).max(2 * parallel::threads()).min(MOST);
    let greatest = u64::MAX >> (u64::BITS - 8 * size_of::<P::Item>() as u32) >> ignored;
    let step = (n / (SAMPLES * buckets)).max(1);
    let mut sample = sample(pieces, step);
    Room::with(|room| room.sort(&mut sample));
    let mut splitters: Vec<u64> = Vec::with_capacity(buckets);
    for key in sample.iter().skip(SAMPLES).step_by(SAMPLES).map(|key| key >> ignored) {
        match splitters.last() {
            // A third sample of this key: the last splitter is its successor.
            Some(&last) if last > key => {}
            Some(&last) if last == key => splitters.extend((key < greatest).then(|| key + 1)),
            _ => splitters.push(key),
        }
    }
    let is_alone = |place: usize| match splitters.get(place + 1) {
        Some(&next) => next == splitters[place] + 1,
        None => splitters[place] == greatest,
    };
    let alike = (0..splitters.len()).map(|place| ignored == 0 && is_alone(place));
    let alike = [false].into_iter().chain(alike).collect();
    splitters.iter_mut().for_each(|key| *key <<= ignored);
    (splitters, alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::numbers;

    /// Sorts the keys both ways by every instruction set of this processor.
    fn check(keys: &[u64], name: &str) {
        fn is_right<W: Item>(with: Instructions, keys: &[W]) -> bool {
            let (a, b) = keys.split_at(keys.len() / 3);
            let pieces: [Cow<[W]>; 3] = [a.into(), Vec::new().into(), b.into()];
            let mut arrays: Vec<Vec<W>> = pieces.iter().map(|piece| piece.to_vec()).collect();
            let mut memory = Kept::new::<W>(keys.len());
            let mut expected = keys.to_vec();
            expected.sort_unstable();
            [Divided::new(with, &pieces, 0, &mut memory), Divided::of_arrays(with, &mut arrays)]
                .into_iter()
                .all(|divided| divided.sorted() == expected)
        }
        for with in Instructions::all().filter(|with| with.sorts::<u64>()) {
            assert!(is_right(with, keys), "{name}, {} keys of 64 bits by {}", keys.len(), with.name());
            let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 32) as u32).collect();
            assert!(is_right(with, &narrow), "{name}, {} keys of 32 bits by {}", keys.len(), with.name());
        }
    }

    #[test]
    fn all_keys_come_to_their_buckets() {
        let mut random = numbers();
        for n in [1, 2, 100, 5000, 100_003, 700_001] {
            let check_all = |name: &str, key: &mut dyn FnMut(u64) -> u64| {
                check(&(0..n).map(key).collect::<Vec<_>>(), name);
            };
            check_all("uniform", &mut |_| random());
            check_all("all alike", &mut |_| 7 << 40);
            check_all("all the greatest", &mut |_| u64::MAX);
            check_all("few", &mut |_| u64::MAX - (random() >> 60 << 33));
            check_all("half alike", &mut |place| if place % 2 == 0 { 5 << 40 } else { random() });
            check_all("half the greatest", &mut |place| if place % 2 == 0 { u64::MAX } else { random() });
            check_all("in order", &mut |place| place << 32);
            check_all("neighbours", &mut |_| ((random() >> 61) + 9) << 32);
            check_all("skewed", &mut |_| random() >> (random() >> 58));
        }
    }

    /// If the sample misrepresents the keys, a bucket is partitioned again or sorted by digits.
    #[test]
    fn a_large_bucket_is_divided_again() {
        for with in Instructions::all().filter(|with| with.sorts::<u64>()) {
            let keys: Vec<u64> =
                (0..600_000_u64).map(|place| place.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            for buckets in [vec![keys.len()], vec![keys.len() - 1, 1], vec![keys.len() / 2; 2]] {
                let last = expected[buckets[0] - 1];
                let (mut first, mut ends) = (keys.clone(), vec![keys.len() as u32]);
                if buckets.len() > 1 {
                    first.sort_by_key(|&key| key > last);
                    ends.insert(0, buckets[0] as u32);
                }
                let buckets = buckets.into_iter().map(|size| (size, false)).collect();
                let divided = Divided { with, blocks: vec![&first], ends, buckets, ignored: 0 };
                assert!(divided.sorted() == expected);
            }
        }
    }
}
