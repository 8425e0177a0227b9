//! The fast CPU sort: a radix sort on all cores, and for few elements the standard library's sort.

use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};

use crate::key::Word;

/// Below this many elements a comparison sort on one core is sooner done.
const SMALL: usize = 1 << 14;

/// A key and the position it came from, ordered as a whole: equal keys keep the order of positions. Without the gap
/// that aligning a key of eight bytes would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub struct Pair<W: Copy> {
    /// The key.
    pub key: W,
    /// Where it stood in the input.
    pub position: u32,
}

macro_rules! radix_pair {
    ($word:ty) => {
        impl RadixKey for Pair<$word> {
            const LEVELS: usize = size_of::<u32>() + size_of::<$word>();

            #[inline]
            fn get_level(&self, level: usize) -> u8 {
                match level.checked_sub(size_of::<u32>()) {
                    None => { self.position }.get_level(level),
                    Some(level) => { self.key }.get_level(level),
                }
            }
        }
    };
}

radix_pair!(u32);
radix_pair!(u64);

/// Each key with its position. There are at most 2^32 of them.
pub fn pairs<W: Word>(keys: &[W]) -> Vec<Pair<W>> {
    // Positions that the caller promised to fit.
    let pair = |(position, &key): (usize, &W)| Pair { key, position: position as u32 };
    if keys.len() < SMALL {
        keys.iter().enumerate().map(pair).collect()
    } else {
        keys.par_iter().enumerate().map(pair).collect()
    }
}

/// The positions of these pairs, in order.
pub fn positions<W: Word>(pairs: &[Pair<W>]) -> Vec<u32> {
    if pairs.len() < SMALL {
        pairs.iter().map(|pair| pair.position).collect()
    } else {
        pairs.par_iter().map(|pair| pair.position).collect()
    }
}

/// What it took to sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing: they were in order.
    InOrder,
    /// Turning them round: they were in falling order.
    Reversed,
    /// Comparing, on one core: they were few.
    Compared,
    /// Sorting by radixes, on all cores.
    Radix,
}

impl Done {
    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in-order",
            Self::Reversed => "reversed",
            Self::Compared => "sort_unstable",
            Self::Radix => "radix",
        }
    }
}

/// Sorts keys, ascending.
pub fn sort<W: Word + RadixKey>(keys: &mut [W]) -> Done {
    unless_in_order(keys, <[W]>::radix_sort_unstable)
}

/// Sorts keys with their positions, ascending: by key, then by position.
pub fn sort_pairs<W: Word>(pairs: &mut [Pair<W>]) -> Done
where
    Pair<W>: RadixKey,
{
    unless_in_order(pairs, <[Pair<W>]>::radix_sort_unstable)
}

/// Sorts what is in neither rising nor falling order: few elements by comparing them, others with `sort`.
/// Mostly a look at the first elements tells; where it takes a look at all of them, that is a small part of a
/// sort.
fn unless_in_order<T: Ord + Send + Sync>(elements: &mut [T], sort: impl FnOnce(&mut [T])) -> Done {
    let all = |is_sorted: fn(&[T]) -> bool| {
        // Each part with the first of the next, so that no two neighbours are left out.
        let part = |start: usize| &elements[start..elements.len().min(start + SMALL + 1)];
        let parts = elements.len().div_ceil(SMALL);
        is_sorted(part(0)) && (1..parts).into_par_iter().all(|number| is_sorted(part(number * SMALL)))
    };
    if all(<[T]>::is_sorted) {
        Done::InOrder
    } else if all(|part| part.is_sorted_by(|a, b| a >= b)) {
        elements.reverse();
        Done::Reversed
    } else if elements.len() < SMALL {
        elements.sort_unstable();
        Done::Compared
    } else {
        sort(elements);
        Done::Radix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes around which the work is cut.
    const SIZES: [usize; 8] = [0, 1, 2, 3, SMALL - 1, SMALL, SMALL + 1, 3 * SMALL + 1];

    #[test]
    fn order_is_recognised_only_where_it_is() {
        for n in SIZES {
            let rising: Vec<u32> = (0..n as u32).map(|i| i / 2).collect();
            let mut keys = rising.clone();
            assert_eq!(sort(&mut keys), Done::InOrder, "{n}");
            assert_eq!(keys, rising);
            keys.reverse();
            assert_eq!(sort(&mut keys), if n < 3 { Done::InOrder } else { Done::Reversed }, "{n}");
            assert_eq!(keys, rising);
            // Two neighbours out of order, everywhere that the look might not reach.
            for place in [0, 1, n / 2, SMALL - 2, SMALL - 1, SMALL, n.saturating_sub(2)] {
                let strict: Vec<u32> = (0..n as u32).collect();
                for mut keys in [strict.clone(), strict.iter().rev().copied().collect()] {
                    if place + 1 < n && n > 2 {
                        keys.swap(place, place + 1);
                        let expected = if n < SMALL { Done::Compared } else { Done::Radix };
                        assert_eq!(sort(&mut keys), expected, "{n} {place}");
                        assert_eq!(keys, strict);
                    }
                }
            }
        }
    }

    #[test]
    fn equal_keys_that_fall_are_not_turned_round() {
        for n in [5, 3 * SMALL] {
            let keys: Vec<u64> = (0..n as u64).rev().map(|i| i / 2).collect();
            let mut sorted = pairs(&keys);
            assert_eq!(sort_pairs(&mut sorted), if n < SMALL { Done::Compared } else { Done::Radix });
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|&position| keys[position as usize]);
            assert_eq!(positions(&sorted), expected);
            let strict: Vec<u64> = (0..n as u64).rev().collect();
            let mut sorted = pairs(&strict);
            assert_eq!(sort_pairs(&mut sorted), Done::Reversed);
            assert_eq!(positions(&sorted), (0..n as u32).rev().collect::<Vec<_>>());
        }
    }
}
