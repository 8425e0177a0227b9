//! Verifies a sort by the definition of sortedness, not by comparison with another sort.

use std::ops::Range;

use gpusort_order::key::Word;

use crate::contender::Sorted;
use crate::generate::{GAMMA, mix};
use gpusort_base::parallel;
use gpusort_engine::key_buf::{Block, KeyBuf, KeyWidth, by_width, in_one};

/// Verifies that `sorted` is the result of sorting `input`.
///
/// Keys must be ascending and a permutation of the input's. Positions must be a permutation that
/// makes the keys ascending, and be ascending themselves among equal keys.
///
/// # Errors
///
/// A description of the first problem.
pub fn verify(input: &KeyBuf, sorted: &Sorted) -> Result<(), String> {
    fn of<W: KeyWidth>(input: Vec<Block<W>>, sorted: KeyBuf, positions: bool) -> Result<(), String> {
        let (input, of_other_width) = (in_one(input), || "the keys have another width".to_owned());
        if positions {
            let positions = in_one(u32::blocks(sorted).ok_or_else(of_other_width)?);
            return verify_positions(input.len(), |position| input[position], &positions);
        }
        verify_keys(&input, &in_one(W::blocks(sorted).ok_or_else(of_other_width)?))
    }
    by_width!(input.borrowed(), input => of(input, sorted.words.borrowed(), sorted.positions))
}

fn verify_keys<W: Word + Into<u64>>(input: &[W], sorted: &[W]) -> Result<(), String> {
    same_count(input.len(), sorted.len())?;
    match first_pair(sorted, |a, b| a > b) {
        Some(place) => Err(format!("keys {place} and {} are out of order", place + 1)),
        None if fingerprint(input) == fingerprint(sorted) => Ok(()),
        None => Err("the keys differ from those of the input".to_owned()),
    }
}

/// Verifies that these positions order `count` keys, each equal one in the order of the input.
///
/// # Errors
///
/// A description of the first problem.
pub(crate) fn verify_positions<K: Ord>(
    count: usize,
    key: impl Fn(usize) -> K + Sync,
    positions: &[u32],
) -> Result<(), String> {
    same_count(count, positions.len())?;
    if let Some(place) = first(positions.len(), |place| positions[place] as usize >= count) {
        return Err(format!("the position at {place} is beyond the input"));
    }
    // Strictly ascending by (key, position) implies that no position is repeated, so each occurs
    // once.
    let element = |position: u32| (key(position as usize), position);
    match first_pair(positions, |a, b| element(a) >= element(b)) {
        Some(place) => Err(format!("records {place} and {} are out of order", place + 1)),
        None => Ok(()),
    }
}

fn same_count(input: usize, sorted: usize) -> Result<(), String> {
    if input == sorted { Ok(()) } else { Err(format!("{input} elements in, {sorted} out")) }
}

/// Keys that one core checks at once.
const BLOCK: usize = 1 << 14;

/// Equal for all permutations, and different for other keys except with probability 2^−64: it adds up
/// the `SplitMix64` finaliser values of all keys.
fn fingerprint<W: Word + Into<u64>>(keys: &[W]) -> u64 {
    let mixed = |&key: &W| mix(key.into().wrapping_add(1).wrapping_mul(GAMMA));
    let sum = |keys: &[W]| keys.iter().map(mixed).fold(0, u64::wrapping_add);
    parallel::map_parts(keys.chunks(BLOCK), sum).into_iter().fold(0, u64::wrapping_add)
}

/// The first of `count` places that satisfies this.
fn first(count: usize, is_it: impl Fn(usize) -> bool + Sync) -> Option<usize> {
    let in_range = |mut range: Range<usize>| range.find(|&place| is_it(place));
    parallel::map_parts(parallel::ranges(count, BLOCK), in_range).into_iter().flatten().next()
}

/// The first pair of neighbours that satisfies this.
fn first_pair<T: Copy + Sync>(items: &[T], is_it: impl Fn(T, T) -> bool + Sync) -> Option<usize> {
    first(items.len().saturating_sub(1), |place| is_it(items[place], items[place + 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(input: &[u32], sorted: &[u32]) -> Result<(), String> {
        let wide =
            |keys: &[u32]| KeyBuf::from(keys.iter().map(|&key| u64::from(key) << 32).collect::<Vec<_>>());
        let narrow = |keys: &[u32]| KeyBuf::from(keys.to_vec());
        let both = [
            verify(&narrow(input), &Sorted { words: narrow(sorted), positions: false }),
            verify(&wide(input), &Sorted { words: wide(sorted), positions: false }),
        ];
        assert_eq!(both[0], both[1]);
        both[0].clone()
    }

    #[test]
    fn wrong_keys_are_found() {
        let input = [3, 1, 2, 2];
        assert_eq!(keys(&input, &[1, 2, 2, 3]), Ok(()));
        assert_eq!(keys(&[], &[]), Ok(()));
        let said = |sorted: &[u32]| keys(&input, sorted).unwrap_err();
        assert_eq!(said(&[1, 2, 3]), "4 elements in, 3 out");
        assert_eq!(said(&[1, 2, 3, 2]), "keys 2 and 3 are out of order");
        for altered in [[1, 2, 2, 4], [1, 2, 3, 3], [1, 1, 2, 3], [0, 0, 0, 0], [2, 2, 2, 2]] {
            assert_eq!(said(&altered), "the keys differ from those of the input", "{altered:?}");
        }
        let wide = Sorted { words: vec![1_u64].into(), positions: false };
        let other_width = verify(&KeyBuf::from(vec![1_u32]), &wide);
        assert!(other_width.is_err());
    }

    #[test]
    fn wrong_positions_are_found() {
        let input = KeyBuf::from(vec![5_u32, 1, 5, 0]);
        let sorted = |positions: &[u32]| Sorted { words: positions.to_vec().into(), positions: true };
        let verify = |positions: &[u32]| verify(&input, &sorted(positions));
        assert_eq!(verify(&[3, 1, 0, 2]), Ok(()));
        for wrong in [&[3, 1, 2, 0][..], &[3, 1, 0, 0], &[3, 1, 0], &[0, 1, 2, 3], &[3, 1, 0, 4]] {
            assert!(verify(wrong).is_err(), "{wrong:?}");
        }
    }
}
