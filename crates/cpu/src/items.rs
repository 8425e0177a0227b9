//! Sortable items, and the pieces that they come in.

use std::borrow::Cow;
use std::ops::Range;

use gpusort_order::{Item, Pair, Word};

use super::random;
use gpusort_base::{memory, parallel};

/// Elements copied by one core at a time.
const PART: usize = 1 << 14;

/// The widest digit: with more bits, the scatter writes to more places at once than caches support.
pub(crate) const DIGIT_BITS: u32 = 11;

/// Elements read together, in input order.
pub trait Piece: Send + Sync {
    /// The elements.
    type Item: Item;
    /// Returns the number of elements.
    fn count(&self) -> usize;
    /// Returns the elements in a range.
    fn items(&self, range: Range<usize>) -> impl Iterator<Item = Self::Item>;
    /// Returns all elements if they are an array of their own.
    ///
    /// # Errors
    ///
    /// Returns the piece itself if its elements are not an array of their own.
    fn into_array(self) -> Result<Vec<Self::Item>, Self>
    where
        Self: Sized,
    {
        Err(self)
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

    fn into_array(self) -> Result<Vec<T>, Self> {
        if let Cow::Owned(array) = self { Ok(array) } else { Err(self) }
    }
}

/// Elements of a slice, with their keys.
pub struct Keyed<'a, T, F> {
    /// The elements.
    pub elements: &'a [T],
    /// Returns the key of an element.
    pub key: F,
}

impl<T: Copy + Sync, K: Item, F: Fn(T) -> K + Copy + Send + Sync> Piece for Keyed<'_, T, F> {
    type Item = K;

    fn count(&self) -> usize {
        self.elements.len()
    }

    fn items(&self, range: Range<usize>) -> impl Iterator<Item = K> {
        // A copy stays in registers.
        let key = self.key;
        self.elements[range].iter().map(move |&element| key(element))
    }
}

/// Keys with one payload word each.
impl<W: Word, R: Word> Piece for (Cow<'_, [W]>, Cow<'_, [R]>) {
    type Item = Pair<W, R>;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn items(&self, range: Range<usize>) -> impl Iterator<Item = Self::Item> {
        let (keys, records) = (&self.0[range.clone()], &self.1[range]);
        keys.iter().zip(records).map(|(&key, &payload)| Pair { key, payload })
    }
}

/// A range of a piece, the unit of work of one core.
pub(super) struct Part<'a, P> {
    piece: &'a P,
    range: Range<usize>,
}

impl<P: Piece> Part<'_, P> {
    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = P::Item> {
        self.piece.items(self.range.clone())
    }

    /// Returns the elements at these places of the part.
    pub(super) fn block(&self, places: Range<usize>) -> impl Iterator<Item = P::Item> {
        self.piece.items(self.range.start + places.start..self.range.start + places.end)
    }

    /// Samples one key of every `step` at random places, because keys at regular places may be alike.
    pub(super) fn sample(&self, step: usize) -> impl Iterator<Item = u64> {
        let end = self.range.end;
        // The address seeds the samples: an input made against samples cannot know the address of the piece.
        let mut state = std::ptr::from_ref(self.piece).addr() as u64 ^ self.range.start as u64;
        self.range.clone().step_by(step).flat_map(move |place| {
            let within = (random(&mut state) >> 32) * step.min(end - place) as u64;
            let place = place + (within >> 32) as usize;
            self.piece.items(place..place + 1).map(Item::key)
        })
    }

    /// Returns the key of the last element.
    pub(super) fn last_key(&self) -> u64 {
        // A last element exists: no part is empty.
        self.piece.items(self.range.end - 1..self.range.end).next().map_or(0, Item::key)
    }
}

/// Divides the pieces into parts of at most `size` elements; no part is empty.
pub(super) fn parts<P: Piece>(pieces: &[P], size: usize) -> Vec<Part<'_, P>> {
    let mut parts = Vec::new();
    for piece in pieces {
        parts.extend(parallel::ranges(piece.count(), size).map(|range| Part { piece, range }));
    }
    parts
}

/// Samples the key of one element of every `step`, and at least one key of each piece.
pub(super) fn sample<P: Piece>(pieces: &[P], step: usize) -> Vec<u64> {
    parts(pieces, usize::MAX).iter().flat_map(|part| part.sample(step)).collect()
}

/// Returns the beginnings of consecutive arrays with these lengths.
pub(super) fn begins(lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    lengths.scan(0, |next, length| Some(std::mem::replace(next, *next + length)))
}

/// Returns the number of elements in all pieces.
pub(super) fn count<P: Piece>(pieces: &[P]) -> usize {
    pieces.iter().map(Piece::count).sum()
}

/// Joins all elements into one array, in input order.
pub fn join<P: Piece>(pieces: &[P]) -> Vec<P::Item> {
    let mut all = memory::zeroed(count(pieces));
    let parts = parts(pieces, PART);
    let places = split(&mut all, parts.iter().map(|part| part.range.len()));
    parallel::map_parts(parts.iter().zip(places), |(part, place)| {
        place.iter_mut().zip(part.items()).for_each(|(place, item)| *place = item);
    });
    all
}

/// Joins all elements into one array; reuses the array of a single piece.
pub(super) fn into_one<P: Piece>(mut pieces: Vec<P>) -> Vec<P::Item> {
    if pieces.len() > 1 {
        return join(&pieces);
    }
    let array = |piece: P| piece.into_array().unwrap_or_else(|piece| join(&[piece]));
    pieces.pop().map_or_else(Vec::new, array)
}

/// Splits the array into consecutive slices with these lengths.
pub(super) fn split<T>(mut array: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let take = |length| {
        let (slice, rest) = std::mem::take(&mut array).split_at_mut(length);
        array = rest;
        slice
    };
    lengths.map(take).collect()
}

/// Returns the payloads of these pairs, in order.
pub fn records<W: Word, R: Word>(pairs: &[Pair<W, R>]) -> Vec<R> {
    parallel::map(pairs, |pair| pair.payload)
}
