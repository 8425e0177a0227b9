//! Sorts elements of which few differ, by counting them: all that is written is each of them as often as it was there.

use std::ops::Range;

use super::items::split;
use crate::key::Word;
use crate::parallel;

/// Fewer elements than this are counted by one core.
const SERIAL: usize = 1 << 17;

/// Values whose counts are added up together.
const BLOCK: usize = 1 << 12;

/// Bits of the place of a key among those that are counted.
const PLACE_BITS: u32 = 8;

/// How many keys may differ: so many that they soon have places of their own.
const MOST: usize = 24;

/// Keys sampled at first, which tell of most inputs that there are too many.
const SAMPLES: usize = 16;

/// Elements of few bits, the lowest of their keys; those above are the same in all.
pub(super) fn sort_bits<T: Copy + Send + Sync, K: Word>(
    elements: &mut [T],
    bits: u32,
    key: impl Fn(T) -> K + Copy + Send + Sync,
    element: impl Fn(K) -> T + Copy + Send + Sync,
) {
    let histogram = move |part: &[T]| {
        let mut counts = vec![0; 1 << bits];
        part.iter().for_each(|&element| counts[key(element).as_usize() % (1 << bits)] += 1);
        Some(counts)
    };
    by_counts(elements, 1 << bits, histogram, |place| (place, element(K::of_usize(place))));
}

/// Few different elements, of any bits. Returns whether there are so few; if not, they are as they were.
pub(super) fn sort_few<T: Copy + Send + Sync, K: Word>(
    elements: &mut [T],
    key: impl Fn(T) -> K + Copy + Send + Sync,
    element: impl Fn(K) -> T + Copy + Send + Sync,
) -> bool {
    let Some(few) = Few::of(elements, key) else { return false };
    let Few { keys, multiplier, places } = &few;
    let histogram = |part: &[T]| {
        let (mut counts, key) = (vec![0; 1 << PLACE_BITS], key);
        for block in part.chunks(1 << 12) {
            let mut are_all = true;
            for &element in block {
                let key = key(element);
                let place = place_of(key, *multiplier);
                counts[place] += 1;
                are_all &= places[place] == key;
            }
            if !are_all {
                return None;
            }
        }
        Some(counts)
    };
    by_counts(elements, keys.len(), histogram, |at| (place_of(keys[at], *multiplier), element(keys[at])))
}

/// A few keys that were sampled, and a place for each.
struct Few<K> {
    /// In order.
    keys: Vec<K>,
    multiplier: u64,
    /// The key of each place; where there is none, one whose place is another.
    places: [K; 1 << PLACE_BITS],
}

/// By multiplication: the highest bits of the product depend on all bits of the key.
#[inline]
fn place_of<K: Word>(key: K, multiplier: u64) -> usize {
    let key: u64 = key.into();
    (key.wrapping_mul(multiplier) >> (u64::BITS - PLACE_BITS)) as usize
}

impl<K: Word> Few<K> {
    /// The keys of these elements, as far as a sample shows; `None` if there are too many.
    fn of<T: Copy>(elements: &[T], key: impl Fn(T) -> K) -> Option<Self> {
        let mut keys = Vec::new();
        for samples in [SAMPLES, (elements.len() / 16).clamp(SAMPLES, 256)] {
            let step = elements.len() / samples;
            if step == 0 {
                return None;
            }
            keys = elements.iter().step_by(step).map(|&element| key(element)).collect();
            keys.sort_unstable();
            keys.dedup();
            if keys.len() > MOST.min(samples * 7 / 8) {
                return None;
            }
        }
        // Multiples of the golden ratio, which are odd, until none of the keys share a place.
        let multipliers = (0..16).map(|factor| 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(2 * factor + 1));
        multipliers.into_iter().find_map(|multiplier| {
            let mut places = [keys[0]; 1 << PLACE_BITS];
            keys.iter().for_each(|&key| places[place_of(key, multiplier)] = key);
            let have_own = keys.iter().all(|&key| places[place_of(key, multiplier)] == key);
            have_own.then(|| Self { keys: keys.clone(), multiplier, places })
        })
    }
}

/// Sorts by the counts of parts, of which one that is `None` ends it; returns whether none was. `value` is the place of a
/// value in the counts, and the element, for each of the values in order.
fn by_counts<T: Copy + Send + Sync>(
    elements: &mut [T],
    values: usize,
    histogram: impl Fn(&[T]) -> Option<Vec<usize>> + Send + Sync,
    value: impl Fn(usize) -> (usize, T) + Send + Sync,
) -> bool {
    let n = elements.len();
    let share = n.div_ceil(if n < SERIAL { 1 } else { parallel::threads() }).max(1);
    // Each has its own counts, which take time, too.
    let counted = share.max(2 * values);
    let counts = parallel::map_parts(elements.chunks(counted), histogram);
    let Some(mut counts) = counts.into_iter().collect::<Option<Vec<_>>>() else { return false };
    let Some((sums, others)) = counts.split_first_mut() else { return true };
    let add = |block: usize, sums: &mut [usize]| {
        for counts in &*others {
            sums.iter_mut().zip(&counts[block * BLOCK..]).for_each(|(sum, count)| *sum += count);
        }
    };
    if sums.len() <= BLOCK {
        add(0, sums);
    } else {
        parallel::map_parts(sums.chunks_mut(BLOCK).enumerate(), |(block, sums)| add(block, sums));
    }
    let count = |place: usize| sums[place];
    // As many values for each core as make up its share.
    let (mut ranges, mut sizes, mut begin, mut size) = (Vec::new(), Vec::new(), 0, 0);
    for at in 0..values {
        size += count(value(at).0);
        if size >= share || at + 1 == values {
            ranges.push(begin..at + 1);
            sizes.push(size);
            (begin, size) = (at + 1, 0);
        }
    }
    let parts = ranges.into_iter().zip(split(elements, sizes.into_iter()));
    parallel::map_parts(parts, |(range, mut rest): (Range<usize>, &mut [T])| {
        for (place, element) in range.map(&value) {
            let (same, after) = rest.split_at_mut(count(place));
            same.fill(element);
            rest = after;
        }
    });
    true
}
