//! Counting sort for elements with few distinct values: writes each value once per occurrence.

use std::ops::Range;

use gpusort_order::key::Word;

use super::items::split;
use gpusort_base::parallel;

/// One core counts any smaller number of elements.
const SERIAL: usize = 1 << 17;

/// Values whose counts are added up together.
const BLOCK: usize = 1 << 12;

/// Places of keys, for inputs with few distinct keys.
pub(super) const PLACES: usize = 1 << 8;

/// Tables of counts for `PLACES` places. Larger tables take longer to add up, and their consecutive
/// elements are rarely equal, so one table suffices there.
pub(super) const TABLES: usize = 4;

/// The maximum number of distinct keys. A multiplier that gives 24 keys places of their own is soon found.
const MOST: usize = 24;

/// Elements counted before a check for elements without a place.
const LOOK: usize = 1 << 12;

/// Keys in the first sample, which shows for most inputs that too many keys differ.
const SAMPLES: usize = 16;

/// Sorts elements whose keys differ only in log₂(`VALUES`) bits above the lowest `shift`; `VALUES` is a
/// power of two. Returns false, and leaves the elements unchanged, if the keys differ in other bits.
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

/// Sorts elements with few distinct keys, which may differ in any bits. Returns false, and leaves the
/// elements unchanged, if too many keys differ.
pub(super) fn sort_few<T: Copy + Send + Sync, K: Word>(
    elements: &mut [T],
    key: impl Fn(T) -> K + Copy + Send + Sync,
    element: impl Fn(K) -> T + Copy + Send + Sync,
) -> bool {
    let Some(some) = sample(elements, SAMPLES, key) else { return false };
    // If the sampled keys differ in few bits, perhaps all keys do.
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

/// Returns the number of elements at each place; `None` if an element has no place. Consecutive elements
/// are counted in different tables, because an element equal to its predecessor would wait for the
/// predecessor's count.
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

/// Returns the distinct keys of about `samples` evenly spaced elements, in order; `None` if nearly all
/// sampled keys differ, or if too many differ for counting.
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

/// A few sampled keys, and a place for each key.
struct Few<K> {
    /// The keys, in order.
    keys: Vec<K>,
    multiplier: u64,
    /// The key of each place; a place without a key holds the key of another place.
    places: [K; PLACES],
}

/// Returns the place of a key by multiplication: the product's highest bits depend on all bits of the key.
#[inline]
fn place_of<K: Word>(key: K, multiplier: u64) -> usize {
    let key: u64 = key.into();
    (key.wrapping_mul(multiplier) >> (u64::BITS - PLACES.ilog2())) as usize
}

impl<K: Word> Few<K> {
    /// Returns the distinct keys in a sample of these elements; `None` if too many keys differ.
    fn of<T: Copy>(elements: &[T], key: impl Fn(T) -> K) -> Option<Self> {
        let keys = sample(elements, (elements.len() / 16).clamp(SAMPLES, 256), key)?;
        // Tries multiples of the golden ratio, which are odd, until no two keys share a place.
        let multipliers = (0..16).map(|factor| 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(2 * factor + 1));
        multipliers.into_iter().find_map(|multiplier| {
            let mut places = [keys[0]; PLACES];
            keys.iter().for_each(|&key| places[place_of(key, multiplier)] = key);
            let have_own = keys.iter().all(|&key| places[place_of(key, multiplier)] == key);
            have_own.then(|| Self { keys: keys.clone(), multiplier, places })
        })
    }
}

/// Sorts by the counts of parts. Returns false, without a change, if `histogram` is `None` for a part.
/// `value` returns, for each of the `values` values in order, its place in the counts and its element.
fn by_counts<T: Copy + Send + Sync>(
    elements: &mut [T],
    values: usize,
    histogram: impl Fn(&[T]) -> Option<Vec<u32>> + Send + Sync,
    value: impl Fn(usize) -> (usize, T) + Send + Sync,
) -> bool {
    let n = elements.len();
    let share = n.div_ceil(if n < SERIAL { 1 } else { parallel::threads() }).max(1);
    // Each part has its own counts: the counts take time, too, and they have 32 bits.
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
    // Each core writes consecutive values, up to its share of the elements.
    let (mut ranges, mut sizes, mut begin, mut size) = (Vec::new(), Vec::new(), 0, 0);
    for at in 0..values {
        size += count(value(at).0);
        // Values without elements get no part of their own: the part would wake a core for nothing.
        if size >= share || size > 0 && at + 1 == values {
            ranges.push(begin..at + 1);
            sizes.push(size);
            (begin, size) = (at + 1, 0);
        }
    }
    parallel::map_parts(ranges.into_iter().zip(split(elements, sizes.into_iter())), write);
    true
}

/// Writes `count` copies of the element to the beginning, and returns the rest.
#[inline]
fn fill<T: Copy>(to: &mut [T], count: usize, element: T) -> &mut [T] {
    // Fills a whole vector for a small count, the usual case; later elements overwrite the excess.
    let few = 16_usize.div_ceil(size_of::<T>());
    match to.get_mut(..few) {
        Some(begin) if count <= few => begin.fill(element),
        _ => to[..count].fill(element),
    }
    &mut to[count..]
}
