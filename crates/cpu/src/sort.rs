//! The fast CPU sort: by vectors or by radix on all cores, by either on one core for fewer elements, and by comparisons
//! for few elements without vectors.

use std::borrow::Cow;
use std::ops::Range;

use gpusort_order::item::Item;

use super::divided::Divided;
use super::items::{Part, Piece, count, into_one, join, parts, sample};
use super::local::Room;
use super::radix;
use super::vector::Instructions;
use gpusort_base::parallel;
use gpusort_base::report::Form;

/// Below this many elements a comparison sort is faster.
const FEW: usize = 1 << 8;

/// Fewer elements than this are sorted by one core before others wake.
const SMALL: usize = 1 << 14;

/// One core sorts up to the upper number of keys, which fit its cache; with many cores, up to the lower number.
pub(super) const SERIAL: Range<usize> = 1 << 15..1 << 17;

/// Returns true if one core sorts this number of keys.
pub fn is_for_one(n: usize) -> bool {
    n <= SERIAL.start || n <= (2 * SERIAL.end / parallel::threads()).min(SERIAL.end)
}

/// More pieces than this are joined first, since each part of a piece has its own histogram.
pub(super) const MANY: usize = 1 << 10;

/// Returns all elements of the pieces, stably sorted by key, ascending.
///
/// Checks for sorted input first: the first elements usually show that the input is unsorted, and a check of
/// all elements costs a small part of a sort.
pub fn sort<P: Piece>(pieces: Vec<P>) -> (Vec<P::Item>, Form) {
    let Some(form) = in_order(&pieces, P::Item::KEY_ONLY) else { return sort_unordered(pieces) };
    let mut items = into_one(pieces);
    if form == Form::Reversed {
        items.reverse();
    }
    (items, form)
}

/// Sorts elements in no order, like [`sort`].
pub(super) fn sort_unordered<P: Piece>(pieces: Vec<P>) -> (Vec<P::Item>, Form) {
    let (with, n) = (Instructions::chosen(), count(&pieces));
    let by_vectors = with.sorts::<P::Item>();
    if n < FEW && !by_vectors {
        let mut items = into_one(pieces);
        items.sort_by_key(|item| item.key());
        return (items, Form::Comparison);
    }
    let by_one_core = |pieces: Vec<P>| {
        let mut items = into_one(pieces);
        let form = Room::with(|room| room.sort(&mut items));
        (items, form)
    };
    if n < SMALL || by_vectors && is_for_one(n) {
        return by_one_core(pieces);
    }
    if pieces.len() > MANY {
        return sort_unordered(vec![Cow::Owned(join(&pieces))]);
    }
    let sample = |step| sample(&pieces, step);
    if !by_vectors || with.prefers_digits::<P::Item>(n, parallel::threads(), sample) {
        return (radix::sort(pieces), Form::Radix);
    }
    if parallel::threads() == 1 {
        return by_one_core(pieces);
    }
    let mut arrays: Vec<_> = pieces.into_iter().map(|piece| into_one(vec![piece])).collect();
    (Divided::of_arrays(with, &mut arrays).sorted(), Form::Quicksort)
}

/// Returns the form of elements in order or in reverse order; `None` for other elements. Elements in reverse
/// order may be equal if `equal_may_turn`.
pub(super) fn in_order<P: Piece>(pieces: &[P], equal_may_turn: bool) -> Option<Form> {
    let parts = parts(pieces, SMALL);
    if all(&parts, |a, b| a <= b) {
        Some(Form::InOrder)
    } else {
        all(&parts, |a, b| if equal_may_turn { a >= b } else { a > b }).then_some(Form::Reversed)
    }
}

/// Returns true if `holds` is true for the keys of all neighbours.
fn all<P: Piece>(parts: &[Part<P>], holds: impl Fn(u64, u64) -> bool + Sync) -> bool {
    // Each part is checked together with the last key before it, to cover every pair of neighbours.
    let one = |place: usize| {
        let before = place.checked_sub(1).map(|before| parts[before].last_key());
        let keys = parts[place].items().map(Item::key);
        before.into_iter().chain(keys).is_sorted_by(|&a, &b| holds(a, b))
    };
    parts.is_empty() || one(0) && parallel::all(1..parts.len(), &one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use crate::tests::numbers;

    /// Sizes around the thresholds.
    const SIZES: [usize; 10] = [0, 1, 2, 3, FEW - 1, FEW, SMALL - 1, SMALL, SMALL + 1, 3 * SMALL + 1];

    /// Splits the elements into pieces of uneven sizes; some pieces are empty.
    fn in_pieces<T: Copy>(elements: &[T]) -> Vec<Cow<'static, [T]>> {
        let mut rest = elements;
        let mut pieces = vec![Cow::Owned(Vec::new())];
        for size in [1, 0, 7, SMALL, 1, SMALL + 1, usize::MAX] {
            let (piece, after) = rest.split_at(size.min(rest.len()));
            pieces.push(Cow::Owned(piece.to_vec()));
            rest = after;
        }
        pieces
    }

    /// Keys and their payloads.
    type Records<'a> = (Cow<'a, [u64]>, Cow<'a, [u32]>);

    /// Keys with the payloads 0, 1, 2, …, in pieces.
    fn records_in_pieces(keys: &[u64]) -> Vec<Records<'static>> {
        let records: Vec<u32> = (0..keys.len() as u32).collect();
        in_pieces(keys).into_iter().zip(in_pieces(&records)).collect()
    }

    #[test]
    fn order_is_recognised_only_where_it_is() {
        for n in SIZES {
            let rising: Vec<u32> = (0..n as u32).map(|i| i / 2).collect();
            assert_eq!(sort(in_pieces(&rising)), (rising.clone(), Form::InOrder), "{n}");
            let falling: Vec<u32> = rising.iter().rev().copied().collect();
            let expected = if n < 3 { Form::InOrder } else { Form::Reversed };
            assert_eq!(sort(in_pieces(&falling)), (rising, expected), "{n}");
            // One inversion, at every place that the check might miss.
            for place in [0, 1, 7, 8, n / 2, SMALL - 2, SMALL - 1, SMALL, SMALL + 8, n.saturating_sub(2)] {
                let strict: Vec<u32> = (0..n as u32).collect();
                for mut keys in [strict.clone(), strict.iter().rev().copied().collect()] {
                    if place + 1 < n && n > 2 {
                        keys.swap(place, place + 1);
                        let (sorted, form) = sort(in_pieces(&keys));
                        assert!(sorted == strict, "{n} {place}");
                        assert!(![Form::InOrder, Form::Reversed].contains(&form), "{n} {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn pieces_may_be_many() {
        let keys: Vec<u64> = (0..60_000).map(|i| i * 7919 % 60_013).collect();
        let pieces: Vec<Records> =
            keys.iter().zip(0..).map(|(&key, record)| (vec![key].into(), vec![record].into())).collect();
        let mut expected: Vec<u32> = (0..60_000).collect();
        expected.sort_by_key(|&record| keys[record as usize]);
        assert!(pieces.len() > MANY);
        assert_eq!(records(&sort(pieces).0), expected);
    }

    #[test]
    fn equal_keys_that_fall_are_not_turned_round() {
        for n in [5, 3 * SMALL] {
            let keys: Vec<u64> = (0..n as u64).rev().map(|i| i / 2).collect();
            let (sorted, done) = sort(records_in_pieces(&keys));
            assert_eq!(done, if n < FEW { Form::Comparison } else { Form::Radix });
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|&position| keys[position as usize]);
            assert_eq!(records(&sorted), expected);
            let strict: Vec<u64> = (0..n as u64).rev().collect();
            let (sorted, done) = sort(records_in_pieces(&strict));
            assert_eq!(done, Form::Reversed);
            assert_eq!(records(&sorted), (0..n as u32).rev().collect::<Vec<_>>());
        }
    }

    /// Keys of every spread and skew, which determine the number of passes and the digit widths.
    #[test]
    fn radixes_sort_every_spread_of_keys_and_keep_equal_ones_in_order() {
        let mut random = numbers();
        for n in [SMALL, 100_000, 700_000] {
            let mut spreads: Vec<(String, Vec<u64>)> = Vec::new();
            for bits in [1, 2, 5, 11, 13, 14, 22, 23, 33, 40, 63, 64] {
                let keys = (0..n).map(|_| random() >> (64 - bits)).collect();
                spreads.push((format!("{bits} bits"), keys));
                let offset = random();
                let keys = (0..n).map(|_| offset.wrapping_add(random() >> (64 - bits))).collect();
                spreads.push((format!("{bits} bits, from an offset"), keys));
            }
            let keys = (0..n).map(|_| 1 << (random() % 64)).collect();
            spreads.push(("powers of two".to_owned(), keys));
            let keys = (0..n).map(|_| u64::MAX / (random() % (1 << 20) + 1)).collect();
            spreads.push(("a few large, most small".to_owned(), keys));
            let keys = (0..n).map(|i| if i == n / 2 { u64::MAX } else { random() % 3 }).collect();
            spreads.push(("one far away".to_owned(), keys));
            // A single key that the sample misses; the histogram may merge its digit with other digits.
            for (bulk, below) in [(1 << 20, 0), (1_u64 << 40, 0), (0x3FF0 << 48, 0), (u64::MAX, 1)] {
                let keys = (0..n).map(|i| if i == 5 { below } else { bulk }).collect();
                spreads.push((format!("all {bulk:x} but one {below}"), keys));
                let keys = (0..n).map(|i| if i == 5 { below } else { bulk - random() % 1000 }).collect();
                spreads.push((format!("below {bulk:x} and one {below}"), keys));
                let keys = (0..n)
                    .map(|i| if i == 5 { below } else { (bulk - 1000).saturating_add(random() % 1000) });
                spreads.push((format!("up to {bulk:x} and one {below}"), keys.collect()));
                let keys = (0..n).map(|i| if i == 5 { below } else { bulk.saturating_add(random() % 1000) });
                spreads.push((format!("from {bulk:x} and one {below}"), keys.collect()));
            }
            let keys = (0..n).map(|_| if random().is_multiple_of(2) { 5 } else { random() }).collect();
            spreads.push(("half of them equal".to_owned(), keys));
            for (name, keys) in spreads {
                let mut expected: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
                expected.sort_by_key(|pair| pair.0);
                let (sorted, _) = sort(records_in_pieces(&keys));
                let same = sorted.iter().map(|pair| (pair.key, pair.payload)).eq(expected.iter().copied());
                assert!(same, "{n}, {name}, records");
                let (sorted, _) = sort(in_pieces(&keys));
                assert!(sorted.into_iter().eq(expected.iter().map(|pair| pair.0)), "{n}, {name}");
                let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 32) as u32).collect();
                let mut expected = narrow.clone();
                expected.sort_unstable();
                assert!(sort(in_pieces(&narrow)).0 == expected, "{n}, {name}, 32 bits");
            }
        }
    }
}
