//! Codes of texts: numbers in the same order, for a sort of words.
//!
//! If few texts differ, their codes are their ranks. Otherwise, a code consists of the rank of a common
//! beginning, if the beginnings are few, and of the next bytes as digits of a number, each in its own base:
//! the rank of a byte among all bytes at its place in any text.
//!
//! ```text
//! https://www.example.com/   item-0042      two beginnings take a bit; equal bytes at a place take
//! https://www.wikipedia.org/ item-7         no bit, and an end is less than any byte
//! ```
//!
//! Thus a code of 64 bits represents twelve letters of a name, and more if texts are alike.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::keys;
use crate::keys::texts::{TextColumn, common};
use crate::parallel::map_parts;

/// A code from 0 to `most` for each record, in parts; records are ordered by it.
#[derive(Debug)]
pub struct Codes {
    /// The codes of each part.
    pub parts: Vec<Vec<u64>>,
    /// The greatest code.
    pub most: u64,
}

/// Returns the codes of the texts of a key, which have at most this number of bits if many texts
/// differ, and the number of bytes of each text that the codes represent, if not all.
pub fn of_texts(columns: &[&TextColumn], bits: u32) -> (Codes, Option<usize>) {
    let (mut parts, count, bytes) = match ranks(columns, usize::MAX) {
        Some((codes, count)) => (codes, count, None),
        None => by_bytes(columns, bits),
    };
    let (before, after) = put_nulls_beside(&mut parts, columns, count);
    (Codes { parts, most: before + after + count.saturating_sub(1) }, bytes)
}

/// Returns codes of the first bytes of texts, the number of codes, and the number of bytes represented,
/// if any text is longer.
fn by_bytes(columns: &[&TextColumn], bits: u32) -> (Vec<Vec<u64>>, u64, Option<usize>) {
    let length = length_of_beginnings(columns);
    let beginnings = length.and_then(|length| Some((length, ranks(columns, length)?)));
    let (length, (mut codes, count)) =
        beginnings.unwrap_or_else(|| (0, (columns.iter().map(|column| vec![0; column.len()]).collect(), 1)));
    let digits = Digits::of(columns, length, ((1 << bits) - NULLS) / u128::from(count));
    map_parts(codes.iter_mut().zip(columns), |(codes, column)| digits.add(codes, column));
    let bytes = length + digits.places.len();
    let is_longer = |column: &&TextColumn| {
        (0..column.len()).any(|record| column.get(record).is_ok_and(|text| text.len() > bytes))
    };
    let are_longer = map_parts(columns, is_longer).contains(&true);
    (codes, count * digits.count, are_longer.then_some(bytes))
}

/// An upper limit of the number of codes of nulls.
const NULLS: u128 = 8;

/// Puts the codes of nulls before and after the `count` codes of texts. Returns the number of codes of
/// nulls before the codes of texts, and the number after them.
fn put_nulls_beside(parts: &mut [Vec<u64>], columns: &[&TextColumn], count: u64) -> (u64, u64) {
    let has_nulls =
        map_parts(columns, |column| (0..column.len()).any(|record| column.null(record).is_some()));
    let Some(order) = columns.first().map(|column| column.order) else { return (0, 0) };
    if !has_nulls.contains(&true) {
        return (0, 0);
    }
    let (before, after) = order.beside_numbers();
    map_parts(parts.iter_mut().zip(columns), |(codes, column)| {
        for (record, code) in codes.iter_mut().enumerate() {
            let null = column.null(record).and_then(|class| keys::rank(keys::of_null(class, order)));
            *code = match null {
                Some((rank, true)) => before - rank,
                Some((rank, false)) => before + count + rank,
                None => before + *code,
            };
        }
    });
    (before, after)
}

/// The maximum number of different texts with ranks as codes: their table fits a core's cache.
const FEW: usize = 1 << 12;

/// For fewer texts, a search for common beginnings is not worth the time.
const SMALL: usize = 1 << 12;

fn count_of(columns: &[&TextColumn]) -> usize {
    columns.iter().map(|column| column.len()).sum()
}

/// Returns the different beginnings of this length, in the order of their numbers, and the number of each
/// record's beginning; `None` if more than `few` are different.
fn different(column: &TextColumn, length: usize, few: usize) -> Option<(Vec<&[u8]>, Vec<u16>)> {
    let mut known: HashMap<&[u8], u16, RandomState> = HashMap::default();
    let (mut texts, mut numbers) = (Vec::new(), Vec::with_capacity(column.len()));
    let mut last = None;
    for record in 0..column.len() {
        let text = column.get(record).unwrap_or_default();
        let text = &text[..text.len().min(length)];
        // If records are in groups, the next text is often the same.
        let number = match last {
            Some((before, number)) if before == text => number,
            _ => *known.entry(text).or_insert_with(|| {
                texts.push(text);
                (texts.len() - 1) as u16
            }),
        };
        if texts.len() > few {
            return None;
        }
        last = Some((text, number));
        numbers.push(number);
    }
    Some((texts, numbers))
}

/// Returns the ranks of the first `length` bytes of the texts, and the number of ranks, if few are different.
fn ranks(columns: &[&TextColumn], length: usize) -> Option<(Vec<Vec<u64>>, u64)> {
    // Ranks are worth a table only where most texts occur again.
    let few = (count_of(columns) / 4).clamp(64, FEW);
    // The first part usually represents all parts.
    let (first, others) = columns.split_first()?;
    let mut parts = vec![different(first, length, few)?];
    let others = map_parts(others, |column| different(column, length, few));
    parts.extend(others.into_iter().collect::<Option<Vec<_>>>()?);
    let mut all: Vec<&[u8]> = parts.iter().flat_map(|(texts, _)| texts.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    if all.len() > few {
        return None;
    }
    let count = all.len() as u64;
    let rank = |text: &&[u8]| {
        let rank = all.partition_point(|other| other < text) as u64;
        if first.order.descending { count - 1 - rank } else { rank }
    };
    let codes = map_parts(&parts, |(texts, numbers)| {
        let ranks: Vec<u64> = texts.iter().map(rank).collect();
        numbers.iter().map(|&number| ranks[usize::from(number)]).collect()
    });
    Some((codes, count))
}

/// Returns the length of beginnings with few kinds in a sample, if long enough for a table.
fn length_of_beginnings<'a>(columns: &[&'a TextColumn]) -> Option<usize> {
    /// The approximate number of texts from each part.
    const SAMPLE: usize = 1 << 10;
    const WORTH: usize = 8;
    if count_of(columns) < SMALL {
        return None;
    }
    let of_part = |column: &'a TextColumn| {
        let step = (column.len() / SAMPLE).max(1);
        (0..column.len()).step_by(step).filter_map(|record| column.get(record).ok()).collect::<Vec<&[u8]>>()
    };
    let mut texts: Vec<&[u8]> = map_parts(columns.iter().copied(), of_part).concat();
    texts.sort_unstable();
    texts.dedup();
    let mut alike: Vec<usize> = texts.windows(2).map(|pair| common(pair[0], pair[1])).collect();
    // Beginnings with one more byte would have more kinds than this.
    let kinds = (texts.len() / 8).min(FEW / 8);
    let (_, length, _) = kinds.checked_sub(1).map(|kinds| alike.select_nth_unstable(kinds))?;
    Some(*length).filter(|&length| length >= WORTH)
}

/// The number of symbols: each byte, and the end of a text.
const SYMBOLS: usize = 257;
const END: usize = 256;

/// The maximum number of places examined.
const PLACES: usize = 64;

/// The symbols seen at a place.
type Seen = [bool; SYMBOLS];

/// The number system of some bytes of texts.
struct Digits {
    /// The place of the first digit.
    begin: usize,
    /// For each place, the ranks of its symbols, and the number of values of the digits after it.
    places: Vec<([u16; SYMBOLS], u64)>,
    count: u64,
    is_descending: bool,
}

impl Digits {
    /// Returns the longest system of digits from this place on with fewer than `most` numbers.
    fn of(columns: &[&TextColumn], begin: usize, most: u128) -> Self {
        /// The number of records sampled to limit the number of places.
        const SAMPLE: usize = 1 << 10;
        let few = columns.iter().map(|column| seen(column, SAMPLE, begin, PLACES)).collect();
        let places = count_of_places(&joined(few), most);
        let all = joined(map_parts(columns, |column| seen(column, usize::MAX, begin, places)));
        let (mut places, mut count) = (Vec::new(), 1);
        for seen in all[..count_of_places(&all, most)].iter().rev() {
            let mut ranks = [0; SYMBOLS];
            let of_bytes = ranks.iter_mut().zip(seen).take(END).filter(|(_, is_seen)| **is_seen);
            of_bytes.zip(u16::from(seen[END])..).for_each(|((rank, _), next)| *rank = next);
            places.push((ranks, count));
            count *= base(seen);
        }
        places.reverse();
        let is_descending = columns.first().is_some_and(|column| column.order.descending);
        Self { begin, places, count, is_descending }
    }

    /// Adds the digits of the texts of a column to the codes of the bytes before them.
    fn add(&self, codes: &mut [u64], column: &TextColumn) {
        for (record, code) in codes.iter_mut().enumerate() {
            let text = column.get(record).unwrap_or_default();
            let rest = text.get(self.begin..).unwrap_or_default();
            // The end of a text has rank 0, like all places after it.
            let digits = self.places.iter().zip(rest);
            let digits = digits
                .map(|((ranks, after), &byte)| u64::from(ranks[usize::from(byte)]) * after)
                .sum::<u64>();
            *code = *code * self.count + if self.is_descending { self.count - 1 - digits } else { digits };
        }
    }
}

/// Returns the symbols at `places` places from `begin` on, in the first `records` texts.
fn seen(column: &TextColumn, records: usize, begin: usize, places: usize) -> Vec<Seen> {
    let mut seen = vec![[false; SYMBOLS]; places];
    for record in 0..records.min(column.len()) {
        let Some(rest) = column.get(record).ok().and_then(|text| text.get(begin..)) else { continue };
        for (seen, &byte) in seen.iter_mut().zip(rest) {
            seen[usize::from(byte)] = true;
        }
        if let Some(seen) = seen.get_mut(rest.len()) {
            seen[END] = true;
        }
    }
    seen
}

/// Returns the symbols seen in any part.
fn joined(parts: Vec<Vec<Seen>>) -> Vec<Seen> {
    let join = |mut all: Vec<Seen>, part: Vec<Seen>| {
        all.iter_mut().flatten().zip(part.iter().flatten()).for_each(|(all, seen)| *all |= seen);
        all
    };
    parts.into_iter().reduce(join).unwrap_or_default()
}

/// Returns the number of symbols at a place; one if all texts are shorter.
fn base(seen: &Seen) -> u64 {
    (seen.iter().filter(|seen| **seen).count() as u64).max(1)
}

/// Returns the number of places that together have fewer than `most` numbers.
fn count_of_places(seen: &[Seen], most: u128) -> usize {
    let mut numbers = 1;
    let places = seen.iter().take_while(|seen| {
        numbers *= u128::from(base(seen));
        numbers < most
    });
    places.count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::{Class, KeyOrder, Nulls};

    fn columns(texts: &[Option<Vec<u8>>], cut: usize, order: KeyOrder) -> Vec<TextColumn> {
        let column = |texts: &[Option<Vec<u8>>]| {
            let mut column = TextColumn::new(order);
            for text in texts {
                match text {
                    Some(text) => column.push_own(text).unwrap(),
                    None => column.push_null(Class::Empty),
                }
            }
            column
        };
        vec![column(&texts[..cut]), column(&texts[cut..])]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn codes_are_in_the_order_of_texts_as_far_as_they_go(
            texts in prop::collection::vec(prop::option::weighted(0.9, prop_oneof![
                "[ab]{0,20}".prop_map(String::into_bytes),
                "user_[0-9]{1,4}".prop_map(String::into_bytes),
                "(http|https)://www[.]examp(le)?[.](com|org)/[a-z]{0,3}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..20),
                Just(vec![0; 3]),
            ]), 1..60),
            cut: prop::sample::Index,
            bits in 16..=64_u32,
            descending: bool,
            is_first: bool,
        ) {
            let empty = if is_first { Nulls::First } else { Nulls::Last };
            let order = KeyOrder { descending, empty, ..KeyOrder::ASCENDING };
            let all = columns(&texts, cut.index(texts.len() + 1), order);
            let columns: Vec<&TextColumn> = all.iter().collect();
            for is_ranked in [true, false] {
                let (codes, bytes) = if is_ranked {
                    of_texts(&columns, bits)
                } else {
                    let (mut parts, count, bytes) = by_bytes(&columns, bits);
                    let (before, after) = put_nulls_beside(&mut parts, &columns, count);
                    (Codes { parts, most: before + after + count - 1 }, bytes)
                };
                prop_assert!(bytes.is_none() || !is_ranked);
                let codes_of = codes.parts.concat();
                prop_assert!(codes_of.iter().all(|&code| code <= codes.most));
                prop_assert!(is_ranked || u64::BITS - codes.most.leading_zeros() <= bits);
                for (a, code_of_a) in texts.iter().zip(&codes_of) {
                    for (b, code_of_b) in texts.iter().zip(&codes_of) {
                        let expected = match (a, b) {
                            (Some(a), Some(b)) => {
                                let decided = bytes.unwrap_or(usize::MAX);
                                // An end decides, too.
                                let cut = |text: &[u8]| text[..text.len().min(decided)].to_vec();
                                let order = cut(a).cmp(&cut(b));
                                if descending { order.reverse() } else { order }
                            }
                            (None, None) => std::cmp::Ordering::Equal,
                            (a, _) => if a.is_none() == is_first { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater },
                        };
                        prop_assert_eq!(code_of_a.cmp(code_of_b), expected, "{:?} {:?}", a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn many_texts_have_codes_of_many_bytes() {
        let names: Vec<_> = (0..9999)
            .map(|number| Some(format!("https://www.example.com/{number:08}").into_bytes()))
            .collect();
        let all = columns(&names, 5000, KeyOrder::ASCENDING);
        let (codes, bytes) = of_texts(&all.iter().collect::<Vec<_>>(), 64);
        assert_eq!(bytes, None, "all of them");
        assert!(codes.most < 1 << 20, "{}", codes.most);
    }
}
