//! The first k of the sorted elements, without sorting the others: parts of the input on all cores, each of which keeps
//! what may be among them.
//!
//! A part goes through its keys in order and takes those that are less than a limit. When it has taken twice
//! as many as are wanted, it keeps the better half, and the greatest of them is the new limit: a later
//! key that equals it comes after k others. In random data few keys pass after the first cut, and where
//! all do (falling ones), each is looked at a few times.

use super::items::Pair;
use crate::key::Word;
use crate::parallel::{self, ParallelIterator};

/// Keys that are looked at together, by vector instructions.
const BLOCK: usize = 64;

/// Keys of a piece that one part has at least.
const SEGMENT: usize = 1 << 14;

/// Fewer taken elements than this are not worth a cut.
const ROOM: usize = 1 << 10;

/// What is kept of a key, ordered as a whole.
pub(crate) trait Candidate<W>: Copy + Ord + Send {
    /// The element with this key at this position.
    fn new(key: W, position: u32) -> Self;
    /// Its key.
    fn key(self) -> W;
}

impl<W: Word> Candidate<W> for W {
    fn new(key: W, _: u32) -> Self {
        key
    }

    fn key(self) -> W {
        self
    }
}

impl<W: Word> Candidate<W> for Pair<W> {
    fn new(key: W, position: u32) -> Self {
        Self { key, position }
    }

    fn key(self) -> W {
        self.key
    }
}

/// The first `k` elements of these pieces, sorted. Positions count through all pieces, wrapping where they are not asked
/// for.
pub(crate) fn top<W: Word, T: Candidate<W>>(pieces: &[impl AsRef<[W]>], k: usize) -> Vec<T> {
    if k == 0 {
        return Vec::new();
    }
    let mut segments: Vec<(usize, &[W])> = Vec::new();
    let mut position = 0;
    for keys in pieces.iter().flat_map(|piece| piece.as_ref().chunks(SEGMENT)) {
        segments.push((position, keys));
        position += keys.len();
    }
    // What the parts take all together is a part of the input, too.
    let parts = (4 * parallel::threads()).min(position / k / 8).max(1);
    let size = segments.len().div_ceil(parts).max(1);
    let mut best: Vec<T> = match segments.chunks(size).collect::<Vec<_>>()[..] {
        [] => Vec::new(),
        [part] => best_of(part, k),
        ref parts => parallel::iter(parts).flat_map_iter(|part| best_of(part, k)).collect(),
    };
    cut(&mut best, k);
    best.sort_unstable();
    best
}

/// Elements of a part among which the first `k` are.
fn best_of<W: Word, T: Candidate<W>>(part: &[(usize, &[W])], k: usize) -> Vec<T> {
    let room = ROOM.max(2 * k);
    let all: usize = part.iter().map(|(_, keys)| keys.len()).sum();
    let mut best: Vec<T> = Vec::with_capacity(all.min(room + BLOCK));
    let mut limit: Option<W> = None;
    for &(first, keys) in part {
        for (block, keys) in keys.chunks(BLOCK).enumerate() {
            if let Some(limit) = limit
                // Counted, since a loop that may end at any key is not made vector instructions of.
                && keys.iter().filter(|key| **key < limit).count() == 0
            {
                continue;
            }
            for (key, position) in keys.iter().copied().zip(first + block * BLOCK..) {
                if limit.is_none_or(|limit| key < limit) {
                    best.push(T::new(key, position as u32));
                }
            }
            if best.len() >= room {
                cut(&mut best, k);
                limit = best.last().map(|last| last.key());
            }
        }
    }
    cut(&mut best, k);
    best
}

/// Leaves the first `k`, if there are more, with the greatest of them last.
fn cut<T: Ord>(elements: &mut Vec<T>, k: usize) {
    if elements.len() > k {
        elements.select_nth_unstable(k - 1);
        elements.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[Vec<u32>], k: usize) {
        let mut expected: Vec<(u32, u32)> = pieces.iter().flatten().copied().zip(0..).collect();
        expected.sort_unstable();
        expected.truncate(k);
        let keys: Vec<u32> = top(pieces, k);
        assert!(keys.iter().eq(expected.iter().map(|(key, _)| key)), "{k}");
        let pairs: Vec<Pair<u32>> = top(pieces, k);
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
        // A piece to a key.
        check(&(0..3000).map(|i| vec![i * 31 % 1000]).collect::<Vec<_>>(), 100);
    }
}
