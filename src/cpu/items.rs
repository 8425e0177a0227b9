//! Sortable elements, and the pieces in which they are read.

use std::borrow::Cow;
use std::ops::Range;

use bytemuck::Zeroable;

use crate::key::Word;
use crate::memory;
use crate::parallel::{self, ParallelIterator};

/// Elements copied by one core at a time.
const PART: usize = 1 << 14;

/// A sortable element: something with a key, by which it is ordered first of all.
pub trait Item: Copy + Ord + Send + Sync + Zeroable {
    /// Whether elements with equal keys are identical.
    const KEY_ONLY: bool;
    /// The key, in the widest word.
    fn key(self) -> u64;
}

impl<W: Word> Item for W {
    const KEY_ONLY: bool = true;

    #[inline]
    fn key(self) -> u64 {
        self.into()
    }
}

/// A key and its payload: the position it came from, or another word that identifies its record. Ordered as a
/// whole. Packed, without the gap that aligning an 8-byte key would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub struct Pair<W: Copy, R: Copy = u32> {
    /// The key.
    pub key: W,
    /// Its position in the input.
    pub position: R,
}

// SAFETY: both fields are words, which are zeroable, and a pair has nothing else.
unsafe impl<W: Word, R: Word> Zeroable for Pair<W, R> {}

impl<W: Word, R: Word> Item for Pair<W, R> {
    const KEY_ONLY: bool = false;

    #[inline]
    fn key(self) -> u64 {
        { self.key }.into()
    }
}

/// Elements that were read together, in input order.
pub(crate) trait Piece: Send + Sync {
    type Item: Item;
    fn count(&self) -> usize;
    /// The elements in a range.
    fn items(&self, range: Range<usize>) -> impl Iterator<Item = Self::Item>;
}

impl<T: Item> Piece for &[T] {
    type Item = T;

    fn count(&self) -> usize {
        self.len()
    }

    fn items(&self, range: Range<usize>) -> impl Iterator<Item = T> {
        self[range].iter().copied()
    }
}

impl<T: Item> Piece for Cow<'_, [T]> {
    type Item = T;

    fn count(&self) -> usize {
        self.len()
    }

    fn items(&self, range: Range<usize>) -> impl Iterator<Item = T> {
        self[range].iter().copied()
    }
}

/// Keys with a payload word each.
impl<W: Word, R: Word> Piece for (Cow<'_, [W]>, Cow<'_, [R]>) {
    type Item = Pair<W, R>;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn items(&self, range: Range<usize>) -> impl Iterator<Item = Self::Item> {
        let (keys, records) = (&self.0[range.clone()], &self.1[range]);
        keys.iter().zip(records).map(|(&key, &position)| Pair { key, position })
    }
}

/// All elements in one array, in input order.
pub(crate) fn join<P: Piece>(pieces: &[P]) -> Vec<P::Item> {
    let mut all = memory::zeroed(pieces.iter().map(Piece::count).sum());
    let mut rest = &mut all[..];
    let mut places = Vec::new();
    for piece in pieces {
        for start in (0..piece.count()).step_by(PART) {
            let range = start..piece.count().min(start + PART);
            let (place, after) = std::mem::take(&mut rest).split_at_mut(range.len());
            places.push((piece, range, place));
            rest = after;
        }
    }
    let fill = |(piece, range, place): (&P, Range<usize>, &mut [P::Item])| {
        place.iter_mut().zip(piece.items(range)).for_each(|(place, item)| *place = item);
    };
    if places.len() < 2 {
        places.into_iter().for_each(fill);
    } else {
        parallel::take(places).for_each(fill);
    }
    all
}

/// The payloads of these pairs, in order.
pub(crate) fn records<W: Word, R: Word>(pairs: &[Pair<W, R>]) -> Vec<R> {
    parallel::map(pairs, |pair| pair.position)
}
