//! Finds the first k of the sorted elements without sorting the others.
//!
//! A sample yields a limit: a key with a few more than k keys below it. All cores scan parts of the input
//! and keep the keys below the limit, which are then sorted:
//!
//! ```text
//! keys        7 1 8 2 9 3 6 4 …        the first 3 are sought
//! limit       5                        by a sample
//! candidates  1 2 3 4                  of all parts, in their order
//! ```
//!
//! If the sample misled, every key is a candidate. A part that collects 2k candidates, as with many equal
//! keys, keeps the first k of them. The greatest of these k becomes the new limit, because k others precede
//! any later key equal to it.

use std::borrow::Cow;

use gpusort_order::{Item, Word};

use super::items::{Part, Piece, begins, count, parts, sample};
use super::local::Room;
use super::sort::{MANY, sort};
use super::vector::Instructions;
use gpusort_base::parallel;

/// Keys examined together by vector instructions.
const BLOCK: usize = 64;

/// The maximum number of keys per segment, and the minimum number of segments that other cores wake for.
const SEGMENT: usize = 1 << 14;
const SEGMENTS: usize = 8;

/// Fewer candidates than this are not worth a cut.
const ROOM: usize = 1 << 10;

/// Fewer keys than this are not sampled.
const FEW: usize = 1 << 11;

/// The minimum number of keys per sampled key, and the maximum number of samples.
const STEP: usize = 1 << 6;
const SAMPLES: usize = 1 << 12;

/// Returns the first `k` elements of the pieces, sorted by the result of `keep` for a key and its position.
/// Positions count through all pieces; unused positions may wrap.
pub fn top<P: Piece<Item: Word>, T: Item>(
    pieces: &[P],
    k: usize,
    keep: impl Fn(P::Item, u32) -> T + Copy + Sync,
) -> Vec<T> {
    let n = count(pieces);
    let k = k.min(n);
    if k == 0 { Vec::new() } else { top_below(limit(pieces, n, k), pieces, k, keep) }
}

/// Like [`top`], with a limit that should have `k` or more keys below it.
fn top_below<P: Piece<Item: Word>, T: Item>(
    limit: Option<P::Item>,
    pieces: &[P],
    k: usize,
    keep: impl Fn(P::Item, u32) -> T + Copy + Sync,
) -> Vec<T> {
    let segments = parts(pieces, SEGMENT);
    let firsts: Vec<usize> = begins(segments.iter().map(Part::len)).collect();
    let segments: Vec<(usize, Part<P>)> = firsts.into_iter().zip(segments).collect();
    let size = match segments.len() {
        ..=SEGMENTS => SEGMENTS,
        all => all.div_ceil(4 * parallel::threads()).max(SEGMENTS),
    };
    let candidates = |limit: Option<P::Item>| {
        parallel::map_parts(segments.chunks(size), |part| best_of(part, k, limit, keep))
    };
    let mut best = candidates(limit);
    if limit.is_some() && best.iter().map(Vec::len).sum::<usize>() < k {
        best = candidates(None);
    }
    let (mut best, _) = sort(best.into_iter().map(Cow::Owned).collect());
    best.truncate(k);
    best
}

/// Returns a key that more than `k`, and most likely not many more, of all keys are less than; `None` if a
/// sample yields no such key.
fn limit<P: Piece<Item: Word>>(pieces: &[P], n: usize, k: usize) -> Option<P::Item> {
    if n < FEW || pieces.len() > MANY {
        return None;
    }
    let mut sample = sample(pieces, (n / SAMPLES).max(STEP));
    Room::with(|room| room.sort(&mut sample));
    let share = sample.len() as f64 * k as f64 / n as f64;
    // The chance that fewer than `k` keys are below the limit is at most one in 30,000, and zero if `k`
    // sampled keys are below it.
    let place = ((share + 4.0 * share.sqrt()) as usize + 10).min(k - 1);
    let &last = sample.get(place)?;
    let limit = P::Item::of_u64(last.wrapping_add(1));
    (Item::key(limit) > last).then_some(limit)
}

/// Returns the candidates of a part in their order, including the part's first `k` below the limit.
fn best_of<P: Piece<Item: Word>, T: Item>(
    part: &[(usize, Part<P>)],
    k: usize,
    mut limit: Option<P::Item>,
    keep: impl Fn(P::Item, u32) -> T + Copy,
) -> Vec<T> {
    let room = ROOM.max(2 * k);
    let mut best: Vec<T> = Vec::new();
    let mut better = [keep(P::Item::default(), 0); BLOCK];
    let with = Instructions::chosen();
    for (first, keys) in part {
        let block = |begin| keys.block(begin..keys.len().min(begin + BLOCK));
        let mut rest = (0..keys.len()).step_by(BLOCK);
        loop {
            let begin = match limit {
                None => rest.next(),
                // Vectors find the least key of a block; a loop that may end anywhere would use none.
                Some(limit) => with.with(|| rest.find(|&begin| block(begin).fold(limit, Ord::min) < limit)),
            };
            let Some(begin) = begin else { break };
            // Counts without a branch per key, which would be mispredicted.
            let mut count = 0;
            for (key, position) in block(begin).zip(first + begin..) {
                better[count] = keep(key, position as u32);
                count += usize::from(limit.is_none_or(|limit| key < limit));
            }
            best.extend_from_slice(&better[..count]);
            if best.len() >= room {
                limit = Some(P::Item::of_u64(cut(&mut best, k)));
            }
        }
    }
    if best.len() >= 2 * k {
        cut(&mut best, k);
    }
    best
}

/// Keeps the first `k` of more than `k` elements, in their order unless elements are keys alone. Returns the
/// greatest key kept.
fn cut<T: Item>(elements: &mut Vec<T>, k: usize) -> u64 {
    let last;
    if T::KEY_ONLY {
        last = *elements.select_nth_unstable(k - 1).1;
        elements.truncate(k);
    } else {
        last = *elements.clone().select_nth_unstable(k - 1).1;
        elements.retain(|&element| element <= last);
    }
    last.key()
}

#[cfg(test)]
mod tests {
    use gpusort_order::item::Pair;

    use super::*;
    use crate::tests::numbers;

    fn check(pieces: &[Vec<u32>], k: usize) {
        let pieces: Vec<Cow<[u32]>> = pieces.iter().map(|piece| Cow::Borrowed(&piece[..])).collect();
        let mut expected: Vec<(u32, u32)> =
            pieces.iter().flat_map(|piece| piece.iter()).copied().zip(0..).collect();
        expected.sort_unstable();
        expected.truncate(k);
        let keys: Vec<u32> = top(&pieces, k, |key, _| key);
        assert!(keys.iter().eq(expected.iter().map(|(key, _)| key)), "{k}");
        let pairs: Vec<Pair<u32>> = top(&pieces, k, |key, payload| Pair { key, payload });
        assert!(pairs.iter().map(|pair| (pair.key, pair.payload)).eq(expected), "{k}, positions");
    }

    #[test]
    fn blocks_segments_parts_and_cuts_lose_nothing() {
        let n = 3 * SEGMENTS * SEGMENT + 3;
        let mut random = numbers();
        let keys: [Vec<u32>; 5] = [
            (0..n as u32).rev().collect(),
            (0..n as u32).map(|i| i * 7919 % 13).collect(),
            (0..n as u32).collect(),
            vec![u32::MAX; n],
            (0..n).map(|_| random() as u32).collect(),
        ];
        for keys in keys {
            for k in [0, 1, 2, BLOCK, ROOM - 1, ROOM, 2 * ROOM, n / 16, n / 4, n / 4 + 1, n - 1, n, n + 1] {
                check(std::slice::from_ref(&keys), k);
                let (a, b) = keys.split_at(SEGMENT + 1);
                check(&[Vec::new(), a.to_vec(), Vec::new(), b.to_vec()], k);
            }
            for n in [FEW - 1, FEW, SEGMENT, SEGMENT + 1, SEGMENTS * SEGMENT + 1] {
                check(&[keys[..n].to_vec()], n / 7);
            }
        }
        check(&[], 3);
        check(&[Vec::new()], 3);
        // One key per piece.
        check(&(0..3000).map(|i| vec![i * 31 % 1000]).collect::<Vec<_>>(), 100);
    }

    /// Slightly more than `k` keys are below a limit. If too few keys are below it, all keys are scanned.
    #[test]
    fn limits_are_close_and_a_wrong_one_loses_nothing() {
        let mut random = numbers();
        let keys: Vec<u64> = (0..400_000).map(|_| random() | 1 << 32).collect();
        let pieces = [Cow::Borrowed(&keys[..])];
        let mut expected = keys.clone();
        expected.sort_unstable();
        for k in [1, 2, 10, 100, 1000, 30_000, 100_000] {
            let limit = limit(&pieces, keys.len(), k);
            let below = limit.map(|limit| expected.partition_point(|&key| key < limit));
            assert!(below.is_some_and(|below| (k / 2..2 * k + 4000).contains(&below)), "{k}: {below:?}");
            for limit in [limit, Some(0), Some(1 << 32), Some(expected[k - 1]), None] {
                assert_eq!(top_below(limit, &pieces, k, |key, _| key), expected[..k], "{k} {limit:?}");
            }
        }
    }
}
