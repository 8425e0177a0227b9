//! Argsort by vectors: a key and its position share a word.
//!
//! ```text
//! keys       1007   1003   1007
//! words      4|0    0|1    4|2       key minus the least one, and position
//! sorted     0|1    4|0    4|2
//! positions  1      0      2         equal keys keep their order
//! ```
//!
//! If a key has too many bits, its word holds only the highest bits; the keys themselves then sort runs of
//! equal words.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

use gpusort_order::{Item, Pair, Word};

use super::divided::Divided;
use super::items::{Part, Piece, begins, count, join, parts, records, sample, split};
use super::local::{Room, sort_by_vectors, with_keys};
use super::sort::{MANY, in_order, sort_unordered};
use super::vector::Instructions;
use gpusort_base::memory::{self, Kept};
use gpusort_base::parallel;
use gpusort_base::report::Form;

/// The maximum number of keys that one core sorts if there are others.
const SERIAL: usize = 1 << 14;

/// Fewer keys than this are not sampled.
const FEW: usize = 1 << 11;

/// The layout of a key and its position in a word.
#[derive(Clone, Copy)]
struct Packing {
    /// The least key.
    least: u64,
    /// The number of lowest key bits that words lack.
    dropped: u32,
    /// True if all keys agree in the bits that words lack.
    is_exact: bool,
    /// Bits of a position.
    bits: u32,
}

impl Packing {
    /// Returns the packing of `n` keys; `None` if digits sort them faster: some inputs of one core, few distinct
    /// keys, and keys that words would not tell apart.
    fn new<P: Piece<Item: Word>>(with: Instructions, pieces: &[P], n: usize) -> Option<Self> {
        if is_for_one(n) && with.prefers_digits::<u64>(n, 1, |step| sample(pieces, step)) {
            return None;
        }
        let mut some = if n < FEW { Vec::new() } else { sample(pieces, (n / 512).max(64)) };
        Room::with(|room| room.sort(&mut some));
        let alike =
            |key: &dyn Fn(u64) -> u64| some.windows(2).filter(|pair| key(pair[0]) == key(pair[1])).count();
        if alike(&|key| key) > some.len() / 8 * 7 {
            return None;
        }
        let packing = if size_of::<P::Item>() == size_of::<u32>() {
            Self { least: 0, dropped: 0, is_exact: true, bits: u32::BITS }
        } else {
            Self::of_wide(with, &parts(pieces, SERIAL), n)
        };
        (packing.is_exact || alike(&|key| packing.pack(key, 0)) <= some.len() / 16).then_some(packing)
    }

    fn of_wide<P: Piece<Item: Word>>(with: Instructions, parts: &[Part<P>], n: usize) -> Self {
        // The least and the greatest key, the bits of all keys, and those of any key.
        type Extent = (u64, u64, u64, u64);
        let join = |(a, b, c, d): Extent, (e, f, g, h): Extent| (a.min(e), b.max(f), c & g, d | h);
        let of_part = |part: &Part<P>| {
            let keys = part.items().map(Into::<u64>::into).map(|key| (key, key, key, key));
            with.with(|| keys.reduce(join)).unwrap_or_default()
        };
        let all = parallel::map_parts(parts, of_part).into_iter().reduce(join);
        let (least, greatest, of_all, of_any) = all.unwrap_or_default();
        let differ = of_all ^ of_any;
        let bits = usize::BITS - n.leading_zeros();
        let key_bits = u64::BITS - (greatest - least).leading_zeros();
        let dropped = (key_bits + bits).saturating_sub(u64::BITS);
        Self { least, dropped, is_exact: dropped <= differ.trailing_zeros(), bits }
    }

    #[inline]
    fn pack(self, key: u64, position: usize) -> u64 {
        (key.wrapping_sub(self.least) >> self.dropped) << self.bits | position as u64
    }

    #[inline]
    fn position(self, word: u64) -> u32 {
        (word & ((1 << self.bits) - 1)) as u32
    }

    /// Sorts runs of equal words by their keys.
    fn repair<P: Piece<Item: Word>>(self, words: &mut [u64], keys: &Keys<P>) {
        if self.is_exact {
            return;
        }
        let (mut begin, mut pairs) = (0, Vec::new());
        while let Some(place) =
            words[begin..].windows(2).position(|pair| (pair[0] ^ pair[1]) >> self.bits == 0)
        {
            let first = begin + place;
            let alike = words[first..].iter().take_while(|&&word| (word ^ words[first]) >> self.bits == 0);
            begin = first + alike.count();
            let run = &mut words[first..begin];
            let key = |&word: &u64| keys.at(self.position(word));
            if run.len() <= 2 {
                // Most runs are pairs.
                if key(&run[0]) > key(&run[1]) {
                    run.swap(0, 1);
                }
            } else if !run.is_sorted_by_key(key) {
                // Reads each key once: keys that change during a sort have no order.
                pairs.clear();
                pairs.extend(run.iter().map(|word| Pair { key: key(word), payload: *word }));
                Room::with(|room| room.sort(&mut pairs));
                run.iter_mut().zip(&pairs).for_each(|(word, pair)| *word = pair.payload);
            }
        }
    }
}

/// Returns true if one core sorts `n` keys.
fn is_for_one(n: usize) -> bool {
    n <= SERIAL || parallel::threads() == 1
}

struct Keys<'a, P> {
    pieces: &'a [P],
    /// The first position of each piece.
    begins: Vec<usize>,
}

impl<P: Piece<Item: Word>> Keys<'_, P> {
    fn at(&self, position: u32) -> u64 {
        let position = position as usize;
        let piece = self.begins.partition_point(|&begin| begin <= position) - 1;
        let place = position - self.begins[piece];
        self.pieces[piece].items(place..place + 1).next().map_or(0, Into::into)
    }
}

/// A piece of keys with their positions, from `first` on, mapped by `of`.
struct Numbered<'a, P, F> {
    keys: &'a P,
    first: usize,
    of: F,
}

impl<P, T, F> Piece for Numbered<'_, P, F>
where
    P: Piece,
    T: Item,
    F: Fn(P::Item, usize) -> T + Copy + Send + Sync,
{
    type Item = T;

    fn count(&self) -> usize {
        self.keys.count()
    }

    fn items(&self, range: Range<usize>) -> impl Iterator<Item = T> {
        // A copy stays in registers.
        let (first, of) = (self.first + range.start, self.of);
        self.keys.items(range).enumerate().map(move |(place, key)| of(key, first + place))
    }
}

/// Returns the positions of all keys of the pieces, fewer than 2^32, stably sorted by key.
pub fn positions<P: Piece<Item: Word>>(pieces: &[P]) -> (Vec<u32>, Form) {
    if let [keys] = pieces
        && (2..=INSERTED).contains(&keys.count())
    {
        return (of_few(keys), Form::Comparison);
    }
    if let Some(form) = in_order(pieces, false) {
        let n = count(pieces);
        let last = n.saturating_sub(1);
        let position = |place| if form == Form::InOrder { place as u32 } else { (last - place) as u32 };
        return (parallel::numbered(n, position), form);
    }
    if pieces.len() > MANY { unordered(&[Cow::from(join(pieces))]) } else { unordered(pieces) }
}

/// The maximum number of keys for insertion sort, which ends before another sort has allocated its memory.
const INSERTED: usize = 20;

/// Returns the sorted positions of at most `INSERTED` keys.
fn of_few<P: Piece<Item: Word>>(keys: &P) -> Vec<u32> {
    let n = keys.count();
    let mut sorted = [(P::Item::default(), 0); INSERTED];
    for (position, key) in (0..).zip(keys.items(0..n)) {
        let mut place = position as usize;
        while place > 0 && sorted[place - 1].0 > key {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = (key, position);
    }
    sorted[..n].iter().map(|&(_, position)| position).collect()
}

/// Returns the sorted positions of keys in no order.
fn unordered<P: Piece<Item: Word>>(pieces: &[P]) -> (Vec<u32>, Form) {
    let (with, n) = (Instructions::chosen(), count(pieces));
    let begins: Vec<usize> = begins(pieces.iter().map(Piece::count)).collect();
    let packing = with.sorts::<u64>().then(|| Packing::new(with, pieces, n)).flatten();
    let Some(packing) = packing else {
        let of = |key, position| Pair { key, payload: position as u32 };
        let pairs = pieces.iter().zip(&begins).map(|(keys, &first)| Numbered { keys, first, of });
        let (sorted, form) = sort_unordered(pairs.collect());
        return (records(&sorted), form);
    };
    let keys = Keys { pieces, begins };
    let of = move |key: P::Item, position| packing.pack(key.into(), position);
    let packed = pieces.iter().zip(&keys.begins).map(|(keys, &first)| Numbered { keys, first, of });
    let packed: Vec<_> = packed.collect();
    let give = |words: &mut [u64], to: &mut [MaybeUninit<u32>]| {
        packing.repair(words, &keys);
        with.write(to, words.iter().map(|&word| packing.position(word)));
    };
    let mut sorted = memory::room(n);
    let to = &mut sorted.spare_capacity_mut()[..n];
    if is_for_one(n) {
        let work = |words: &mut [u64], scratch: &mut [MaybeUninit<u64>]| {
            for (piece, places) in packed.iter().zip(split(words, packed.iter().map(Piece::count))) {
                let items = piece.items(0..places.len());
                with.with(|| places.iter_mut().zip(items).for_each(|(place, word)| *place = word));
            }
            sort_by_vectors(with, words, scratch);
            give(words, to);
        };
        with_keys(n, work);
    } else {
        let ignored = if packing.is_exact { 0 } else { packing.bits };
        Divided::new(with, &packed, ignored, &mut Kept::new::<u64>(n)).sort(to, &give);
    }
    // SAFETY:
    // - The capacity is at least `n`.
    // - Either sort wrote all positions.
    unsafe { sorted.set_len(n) };
    (sorted, Form::Quicksort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::Keyed;
    use crate::tests::numbers;

    fn check<W: Word>(keys: &[W], name: &str) -> Form {
        let n = keys.len();
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|&position| keys[position as usize]);
        let (a, b) = keys.split_at(n / 3);
        let pieces: [Cow<[W]>; 3] = [a.into(), Vec::new().into(), b.into()];
        let (sorted, form) = positions(&pieces);
        assert!(sorted == expected, "{name}, {n} keys of {} bytes", size_of::<W>());
        let (sorted, _) = positions(&[Keyed { elements: keys, key: |key| key }]);
        assert!(sorted == expected, "{name}, {n} keys of {} bytes, in one piece", size_of::<W>());
        form
    }

    /// Sorts keys with distinct words, with some equal words and with equal words only.
    #[test]
    fn positions_are_in_the_order_of_their_keys() {
        let mut random = numbers();
        let mut packed = 0;
        for n in [0, 1, 2, 3, 100, 127, 128, 129, 1000, FEW, SERIAL, SERIAL + 1, 100_000, 300_007] {
            let mut check_all = |name: &str, key: &mut dyn FnMut(u64) -> u64| {
                let wide: Vec<u64> = (0..n as u64).map(key).collect();
                packed += usize::from(check(&wide, name) == Form::Quicksort);
                let narrow: Vec<u32> = wide.iter().map(|&key| (key >> 32) as u32).collect();
                packed += usize::from(check(&narrow, name) == Form::Quicksort);
            };
            check_all("uniform", &mut |_| random());
            check_all("in order", &mut |place| place << 30);
            check_all("falling", &mut |place| u64::MAX - (place << 30));
            check_all("falling, in pairs", &mut |place| u64::MAX - ((place / 2) << 34));
            check_all("few", &mut |_| ((random() % 5) << 60) | 3);
            check_all("close to each other", &mut |_| (1 << 63) + random() % 1000);
            check_all("far apart in pairs", &mut |_| (random() << 20) | (random() % 2));
            check_all("lowest bits", &mut |_| {
                [u64::MAX - 7, 0][usize::from(random().is_multiple_of(100))] + random() % 8
            });
            check_all("a cluster", &mut |_| {
                if random().is_multiple_of(20) { (1 << 62) | (random() % 4096) } else { random() }
            });
            check_all("floats", &mut |_| ((random() % 100_000) as f64).to_bits());
            check_all("skewed", &mut |_| random() >> (random() % 64));
        }
        assert!(packed > 100 || Instructions::chosen().name() != "avx512", "{packed}");
    }
}
