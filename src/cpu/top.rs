//! The first k of the sorted elements without sorting the others: all cores work on parts of the
//! input, and each keeps the candidates of its part.
//!
//! A part scans its keys in order and keeps those below a limit. At twice the wanted number it
//! discards the worse half, and the greatest of the rest becomes the new limit: a later key equal
//! to it comes after k others. In random data few keys pass after the first cut; falling keys are
//! each examined a few times.

use gpusort_planner::item::Item;
use gpusort_planner::key::Word;

use crate::parallel;

/// Keys examined together, by vector instructions.
const BLOCK: usize = 64;

/// The least number of keys per part.
const SEGMENT: usize = 1 << 14;

/// With fewer candidates than this a cut is not worthwhile.
const ROOM: usize = 1 << 10;

/// The first `k` elements of the pieces, sorted by what `keep` makes of a key and its position.
/// Positions count through all pieces; unused ones may wrap.
pub(crate) fn top<W: Word, T: Item>(
    pieces: &[impl AsRef<[W]>],
    k: usize,
    keep: impl Fn(W, u32) -> T + Copy + Sync,
) -> Vec<T> {
    if k == 0 {
        return Vec::new();
    }
    let mut segments: Vec<(usize, &[W])> = Vec::new();
    let mut position = 0;
    for keys in pieces.iter().flat_map(|piece| piece.as_ref().chunks(SEGMENT)) {
        segments.push((position, keys));
        position += keys.len();
    }
    // Bounds the candidates of all parts together to a fraction of the input.
    let parts = (4 * parallel::threads()).min(position / k / 8).max(1);
    let size = segments.len().div_ceil(parts).max(1);
    let mut best: Vec<T> = match segments.chunks(size).collect::<Vec<_>>()[..] {
        [] => Vec::new(),
        [part] => best_of(part, k, keep),
        ref parts => parallel::map_parts(parts, |part| best_of(part, k, keep)).concat(),
    };
    cut(&mut best, k);
    best.sort_unstable();
    best
}

/// The candidates of a part, which include its first `k`.
fn best_of<W: Word, T: Item>(part: &[(usize, &[W])], k: usize, keep: impl Fn(W, u32) -> T) -> Vec<T> {
    let room = ROOM.max(2 * k);
    let all: usize = part.iter().map(|(_, keys)| keys.len()).sum();
    let mut best: Vec<T> = Vec::with_capacity(all.min(room + BLOCK));
    let mut limit: Option<W> = None;
    let mut better = [keep(W::default(), 0); BLOCK];
    for &(first, keys) in part {
        for (block, keys) in keys.chunks(BLOCK).enumerate() {
            if let Some(limit) = limit
                // Counting vectorizes; a loop that may exit at any key does not.
                && keys.iter().filter(|key| **key < limit).count() == 0
            {
                continue;
            }
            // Without a jump for each, which could not be foretold.
            let mut count = 0;
            for (&key, position) in keys.iter().zip(first + block * BLOCK..) {
                better[count] = keep(key, position as u32);
                count += usize::from(limit.is_none_or(|limit| key < limit));
            }
            best.extend_from_slice(&better[..count]);
            if best.len() >= room {
                cut(&mut best, k);
                limit = best.last().map(|last| W::of_u64(last.key()));
            }
        }
    }
    cut(&mut best, k);
    best
}

/// Keeps the first `k` elements, the greatest of them last, if there are more.
fn cut<T: Ord>(elements: &mut Vec<T>, k: usize) {
    if elements.len() > k {
        elements.select_nth_unstable(k - 1);
        elements.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use gpusort_planner::item::Pair;

    use super::*;

    fn check(pieces: &[Vec<u32>], k: usize) {
        let mut expected: Vec<(u32, u32)> = pieces.iter().flatten().copied().zip(0..).collect();
        expected.sort_unstable();
        expected.truncate(k);
        let keys: Vec<u32> = top(pieces, k, |key, _| key);
        assert!(keys.iter().eq(expected.iter().map(|(key, _)| key)), "{k}");
        let pairs: Vec<Pair<u32>> = top(pieces, k, |key, position| Pair { key, position });
        assert!(pairs.iter().map(|pair| (pair.key, pair.position)).eq(expected), "{k}, positions");
    }

    #[test]
    fn blocks_segments_parts_and_cuts_lose_nothing() {
        let n = 5 * SEGMENT + 3;
        let falling: Vec<u32> = (0..n as u32).rev().collect();
        let few: Vec<u32> = (0..n as u32).map(|i| i * 7919 % 13).collect();
        let rising: Vec<u32> = (0..n as u32).collect();
        for keys in [falling, few, rising, vec![u32::MAX; n]] {
            for k in [0, 1, 2, BLOCK, ROOM - 1, ROOM, 2 * ROOM, n / 16, n / 16 + 1, n - 1, n, n + 1] {
                check(std::slice::from_ref(&keys), k);
                let (a, b) = keys.split_at(SEGMENT + 1);
                check(&[Vec::new(), a.to_vec(), Vec::new(), b.to_vec()], k);
            }
        }
        check(&[], 3);
        check(&[Vec::new()], 3);
        // One key per piece.
        check(&(0..3000).map(|i| vec![i * 31 % 1000]).collect::<Vec<_>>(), 100);
    }
}
