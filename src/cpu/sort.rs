//! The fast CPU sort: a radix sort on all cores, and for few elements the standard library's sort.

use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};

use crate::key::Word;

/// Below this many elements a comparison sort on one core is sooner done.
const SMALL: usize = 1 << 14;

/// A key and the position it came from, ordered as a whole: equal keys keep the order of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair<W> {
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
                    None => self.position.get_level(level),
                    Some(level) => self.key.get_level(level),
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

/// Sorts keys, ascending.
pub fn sort<W: Word + RadixKey>(keys: &mut [W]) {
    if keys.len() < SMALL { keys.sort_unstable() } else { keys.radix_sort_unstable() }
}

/// Sorts keys with their positions, ascending: by key, then by position.
pub fn sort_pairs<W: Word>(pairs: &mut [Pair<W>])
where
    Pair<W>: RadixKey,
{
    if pairs.len() < SMALL { pairs.sort_unstable() } else { pairs.radix_sort_unstable() }
}
