//! Counting sort for elements with few distinct values: each is written as often as it occurs.

use std::ops::Range;

use gpusort_order::key::Word;

use super::items::split;
use gpusort_base::parallel;

/// Fewer elements than this are counted by one core.
const SERIAL: usize = 1 << 17;

/// Values whose counts are added up together.
const BLOCK: usize = 1 << 12;

/// Places of keys where few of them differ.
pub(super) const PLACES: usize = 1 << 8;

/// Tables for so few places. More places take longer to add up, and elements in a row are rarely
/// alike.
pub(super) const TABLES: usize = 4;

/// How many keys may differ: so many that they soon have places of their own.
const MOST: usize = 24;

/// Elements counted before it is asked whether others are among them.
const LOOK: usize = 1 << 12;

/// Keys sampled at first, which tell of most inputs that there are too many.
const SAMPLES: usize = 16;

/// Elements whose keys differ only in bits above the lowest `shift`, which have so many values: a
/// power of two. Returns whether they do; if not, they are as they were.
pub(super) fn sort_bits<const VALUES: usize, const TABLES: usize, T: Copy + Send + Sync, K: Word>(
    elements: &mut [T],
    shift: u32,
    key: impl Fn(T) -> K + Copy + Send + Sync,
    element: impl Fn(K) -> T + Copy + Send + Sync,
) -> bool {
    const { assert!(VALUES.is_power_of_two()) };
    let Some(&first) = elements.first() else { return true };
    // Shorter elements have no other bits.
    let may_differ = size_of::<T>() * 8 > VALUES.ilog2() as usize;
    let shift = if may_differ { shift } else { 0 };
    let value = move |key: K| (key.into() >> shift) as usize % VALUES;
    let key_of = move |value| K::of_u64(value as u64) << shift;
    let others = key(first) ^ key_of(value(key(first)));
    let place = move |element| {
        let (key, value) = (key(element), value(key(element)));
        (value, !may_differ || key ^ key_of(value) == others)
    };
    let counted = |value| (value, element(others ^ key_of(value)));
    by_counts(elements, VALUES, |part| histogram::<VALUES, TABLES, T>(part, place), counted)
}

/// Few different elements, of any bits. Returns whether there are so few; if not, they are as they
/// were.
pub(super) fn sort_few<T: Copy + Send + Sync, K: Word>(
    elements: &mut [T],
    key: impl Fn(T) -> K + Copy + Send + Sync,
    element: impl Fn(K) -> T + Copy + Send + Sync,
) -> bool {
    let Some(some) = sample(elements, SAMPLES, key) else { return false };
    // Where some differ in few bits, maybe all do.
    let differ = some.iter().fold(0, |bits, &key| bits | (key ^ some[0]).into());
    let shift = (u64::BITS - differ.leading_zeros()).saturating_sub(PLACES.ilog2());
    if differ.trailing_zeros() >= shift && sort_bits::<PLACES, TABLES, _, _>(elements, shift, key, element) {
        return true;
    }
    let Some(few) = Few::of(elements, key) else { return false };
    let Few { keys, multiplier, places } = &few;
    let place = |element| {
        let (key, place) = (key(element), place_of(key(element), *multiplier));
        (place, places[place] == key)
    };
    let counted = |at| (place_of(keys[at], *multiplier), element(keys[at]));
    by_counts(elements, keys.len(), |part| histogram::<PLACES, TABLES, T>(part, place), counted)
}

/// How many elements are at each place; `None` if one of them does not belong there. Elements in a
/// row are counted in so many tables, since one that is like the one before it would wait for its
/// count.
#[inline]
fn histogram<const PLACES: usize, const TABLES: usize, T: Copy>(
    part: &[T],
    place: impl Fn(T) -> (usize, bool) + Copy,
) -> Option<Vec<u32>> {
    let mut counts = vec![0; PLACES * TABLES];
    let (tables, _) = counts.as_chunks_mut::<PLACES>();
    let tables: &mut [[u32; PLACES]; TABLES] = tables.first_chunk_mut()?;
    for block in part.chunks(LOOK) {
        let mut belong = true;
        let mut count = |table: &mut [u32; PLACES], element| {
            let (place, belongs) = place(element);
            table[place % PLACES] += 1;
            belong &= belongs;
        };
        let (groups, rest) = block.as_chunks::<TABLES>();
        for group in groups {
            tables.iter_mut().zip(group).for_each(|(table, &element)| count(table, element));
        }
        tables.iter_mut().zip(rest).for_each(|(table, &element)| count(table, element));
        if !belong {
            return None;
        }
    }
    let (sums, others) = tables.split_first_mut()?;
    for counts in others {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += *count);
    }
    counts.truncate(PLACES);
    Some(counts)
}

/// The different keys of about so many elements from all over, in order; `None` if there are nearly
/// as many, or too many for counting.
fn sample<T: Copy, K: Word>(elements: &[T], samples: usize, key: impl Fn(T) -> K) -> Option<Vec<K>> {
    let step = elements.len() / samples;
    if step == 0 {
        return None;
    }
    let mut keys: Vec<K> = elements.iter().step_by(step).map(|&element| key(element)).collect();
    keys.sort_unstable();
    keys.dedup();
    (keys.len() <= MOST.min(samples * 7 / 8)).then_some(keys)
}

/// A few keys that were sampled, and a place for each.
struct Few<K> {
    /// In order.
    keys: Vec<K>,
    multiplier: u64,
    /// The key of each place; where there is none, one whose place is another.
    places: [K; PLACES],
}

/// By multiplication: the highest bits of the product depend on all bits of the key.
#[inline]
fn place_of<K: Word>(key: K, multiplier: u64) -> usize {
    let key: u64 = key.into();
    (key.wrapping_mul(multiplier) >> (u64::BITS - PLACES.ilog2())) as usize
}

impl<K: Word> Few<K> {
    /// The keys of these elements, as far as a sample shows; `None` if there are too many.
    fn of<T: Copy>(elements: &[T], key: impl Fn(T) -> K) -> Option<Self> {
        let keys = sample(elements, (elements.len() / 16).clamp(SAMPLES, 256), key)?;
        // Multiples of the golden ratio, which are odd, until none of the keys share a place.
        let multipliers = (0..16).map(|factor| 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(2 * factor + 1));
        multipliers.into_iter().find_map(|multiplier| {
            let mut places = [keys[0]; PLACES];
            keys.iter().for_each(|&key| places[place_of(key, multiplier)] = key);
            let have_own = keys.iter().all(|&key| places[place_of(key, multiplier)] == key);
            have_own.then(|| Self { keys: keys.clone(), multiplier, places })
        })
    }
}

/// Sorts by the counts of parts, of which one that is `None` ends it; returns whether none was.
/// `value` is the place of a value in the counts, and the element, for each of the values in order.
fn by_counts<T: Copy + Send + Sync>(
    elements: &mut [T],
    values: usize,
    histogram: impl Fn(&[T]) -> Option<Vec<u32>> + Send + Sync,
    value: impl Fn(usize) -> (usize, T) + Send + Sync,
) -> bool {
    let n = elements.len();
    let share = n.div_ceil(if n < SERIAL { 1 } else { parallel::threads() }).max(1);
    // Each has its own counts, which take time, too, and go so far.
    let counted = share.max(2 * values).min(u32::MAX as usize);
    let counts = parallel::map_parts(elements.chunks(counted), histogram);
    let Some(counts) = counts.into_iter().collect::<Option<Vec<_>>>() else { return false };
    let Some(places) = counts.first().map(Vec::len) else { return true };
    let mut sums = vec![0_usize; places];
    parallel::map_parts(sums.chunks_mut(BLOCK).enumerate(), |(block, sums)| {
        for counts in &counts {
            sums.iter_mut().zip(&counts[block * BLOCK..]).for_each(|(sum, &count)| *sum += count as usize);
        }
    });
    let count = |place: usize| sums[place];
    let write = |(range, mut rest): (Range<usize>, &mut [T])| {
        for (place, element) in range.map(&value) {
            rest = fill(rest, count(place), element);
        }
    };
    if share >= n {
        write((0..values, elements));
        return true;
    }
    // As many values for each core as make up its share.
    let (mut ranges, mut sizes, mut begin, mut size) = (Vec::new(), Vec::new(), 0, 0);
    for at in 0..values {
        size += count(value(at).0);
        // Nothing has a part of its own, for which another core would wake.
        if size >= share || size > 0 && at + 1 == values {
            ranges.push(begin..at + 1);
            sizes.push(size);
            (begin, size) = (at + 1, 0);
        }
    }
    parallel::map_parts(ranges.into_iter().zip(split(elements, sizes.into_iter())), write);
    true
}

/// Writes so many of this element to the beginning, and returns the rest.
#[inline]
fn fill<T: Copy>(to: &mut [T], count: usize, element: T) -> &mut [T] {
    // A vector of them at once, whoever comes after them: mostly there are few.
    let few = 16_usize.div_ceil(size_of::<T>());
    match to.get_mut(..few) {
        Some(begin) if count <= few => begin.fill(element),
        _ => to[..count].fill(element),
    }
    &mut to[count..]
}
