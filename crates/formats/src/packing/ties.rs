//! Settles the order of records with equal words, by the bytes of texts beyond the words, and by
//! further keys.
//!
//! ```text
//! order by words    3 ┊ 7 1 4 ┊ 0 ┊ 5 2     equal words between the bars
//!                       group           group
//! ```
//!
//! The common prefix of a group's texts is skipped. The next bytes of each text form a word, as does a null. All
//! cores sort a large group by these words, which leaves smaller groups with equal words; one core sorts a smaller
//! group by words and texts. All steps are stable.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::cpu;
use crate::key_buf::{KeyBuf, by_width};
use crate::keys::texts::{TextColumn, common};
use crate::keys::{self, Column};
use crate::order::{Class, KeyOrder};
use crate::parallel::{self, lock, map_parts};
use crate::piece::Piece;
use crate::places::Places;

/// The first key that decides between records with equal words, and the number of bytes of its texts
/// that the words represent.
#[derive(Debug)]
pub struct Ties {
    /// The number of the key.
    pub key: usize,
    /// The number of bytes.
    pub bytes: usize,
}

/// Smaller groups are settled by one core each, many groups per task.
const LARGE: usize = 1 << 16;

/// Records with equal words, with equal keys before `key`, and with equal first `bytes` of its text.
struct Group {
    records: Range<usize>,
    key: usize,
    bytes: usize,
}

/// The mark of a removed record.
const GONE: u32 = u32::MAX;

impl Ties {
    /// Reorders records from the order of their words to the order of their keys. With `unique`,
    /// removes all but the first record of each key; records with invalid fields stay. Returns the first
    /// removed record whose key is spelled differently from the key of the record kept, and that record.
    pub fn settle(
        &self,
        order: &mut Vec<u32>,
        words: &[KeyBuf],
        pieces: &[Piece],
        orders: &[KeyOrder],
        unique: bool,
    ) -> Option<(u32, u32)> {
        let columns = |key| pieces.iter().filter_map(|piece| piece.keys.columns.get(key)).collect();
        let keys = (0..orders.len()).map(columns).collect();
        let respelled = Mutex::default();
        let settling = Settling { places: Places::of(pieces), keys, orders, unique, respelled };
        let mut groups: Vec<Group> = groups(order, words)
            .into_iter()
            .map(|records| Group { records, key: self.key, bytes: self.bytes })
            .collect();
        let mut small = Vec::with_capacity(groups.len());
        while let Some(group) = groups.pop() {
            if group.records.len() < LARGE || group.key == settling.keys.len() {
                small.push(group);
            } else {
                settling.split(order, group, &mut groups);
            }
        }
        small.sort_unstable_by_key(|group| group.records.start);
        settling.settle_all(order, &small);
        if unique {
            order.retain(|&record| record != GONE);
        }
        settling.respelled.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the ranges of at least two adjacent records with equal words.
fn groups(order: &[u32], words: &[KeyBuf]) -> Vec<Range<usize>> {
    const PART: usize = 1 << 14;
    let mut is_same = vec![true; order.len()];
    for word in words {
        by_width!(word.borrowed(), blocks => {
            let keys = crate::key_buf::in_one(blocks);
            let keys = parallel::map(order, |&record| keys[record as usize]);
            map_parts(is_same.chunks_mut(PART).enumerate(), |(part, is_same)| {
                for (place, is_same) in (part * PART..).zip(is_same) {
                    *is_same &= place > 0 && keys[place] == keys[place - 1];
                }
            });
        });
    }
    let mut end = 0;
    let ranges = is_same.chunk_by(|_, &is_same| is_same).map(|same| {
        end += same.len();
        end - same.len()..end
    });
    ranges.filter(|range| range.len() > 1).collect()
}

/// The remainder of a text, or the class of a null.
type Rest<'a> = Result<&'a [u8], Class>;

struct Settling<'a> {
    places: Places<'a>,
    /// The column of each piece, for each key.
    keys: Vec<Vec<&'a Column>>,
    orders: &'a [KeyOrder],
    unique: bool,
    /// The first removed record with another spelling, and the record kept.
    respelled: Mutex<Option<(u32, u32)>>,
}

impl<'a> Settling<'a> {
    /// Settles groups, given in order, on all cores.
    fn settle_all(&self, order: &mut [u32], groups: &[Group]) {
        /// The number of records that justifies a parallel task.
        const PART: usize = 1 << 12;
        let (mut parts, mut rest, mut passed) = (Vec::new(), order, 0);
        let mut groups = groups;
        while let Some(first) = groups.first() {
            let mut records = 0;
            let count = groups.iter().take_while(|group| {
                let is_enough = records >= PART;
                records += group.records.len();
                !is_enough
            });
            let (these, others) = groups.split_at(count.count());
            let end = these.last().map_or(first.records.end, |last| last.records.end);
            let (_, part) = std::mem::take(&mut rest).split_at_mut(first.records.start - passed);
            let (part, more) = part.split_at_mut(end - first.records.start);
            parts.push((part, these));
            (rest, passed, groups) = (more, end, others);
        }
        map_parts(parts, |(part, groups)| {
            let Some(first) = groups.first().map(|group| group.records.start) else { return };
            for group in groups {
                let records = group.records.start - first..group.records.end - first;
                self.settle(&mut part[records], group.key, group.bytes);
            }
        });
    }

    /// Settles records with equal earlier keys and with equal first `bytes` of this key, given in input
    /// order.
    fn settle(&self, records: &mut [u32], key: usize, bytes: usize) {
        if records.len() < 2 {
            return;
        }
        match self.keys.get(key).map(Vec::as_slice) {
            None if self.unique => {
                let spelling = |(piece, at): (&Piece, usize)| piece.spellings.get(at).copied().unwrap_or(0);
                let (kept, is_spelled) = (records[0], spelling(self.places.find(records[0])));
                for record in &mut records[1..] {
                    let (piece, at) = self.places.find(*record);
                    if piece.keys.has_invalid(at, self.orders) {
                        continue;
                    }
                    if spelling((piece, at)) != is_spelled {
                        let mut respelled = lock(&self.respelled);
                        *respelled =
                            Some(respelled.map_or((*record, kept), |first| first.min((*record, kept))));
                    }
                    *record = GONE;
                }
            }
            None => {}
            Some(columns @ [Column::Texts(TextColumn { order, .. }), ..]) => {
                // Words and remainders of texts, records.
                let mut entries: Vec<((u64, Rest), u32)> =
                    records.iter().map(|&record| ((0, self.rest(columns, record, bytes)), record)).collect();
                let first = entries[0].0.1.unwrap_or_default();
                let shared = |((_, rest), _): &((u64, Rest), u32)| common(rest.unwrap_or_default(), first);
                let alike = entries.iter().map(shared).min().unwrap_or(0);
                for ((word, rest), _) in &mut entries {
                    *rest = rest.map(|rest| &rest[alike..]);
                    *word = word_of(*rest, *order);
                }
                entries.sort_unstable_by(|((word, rest), record), ((other_word, other_rest), other)| {
                    let by_text = || rest.unwrap_or_default().cmp(other_rest.unwrap_or_default());
                    let in_order = || if order.descending { by_text().reverse() } else { by_text() };
                    word.cmp(other_word).then_with(in_order).then(record.cmp(other))
                });
                self.place(records, &entries, key + 1);
            }
            Some(columns) => {
                let mut numbers: Vec<((u128, &[u8]), u32)> =
                    records.iter().map(|&record| (self.number(columns, record), record)).collect();
                numbers.sort_unstable();
                self.place(records, &numbers, key + 1);
            }
        }
    }

    /// Puts records in this order, and settles the keys from `key` on where the values beside them are equal.
    fn place<T: PartialEq>(&self, mut records: &mut [u32], order: &[(T, u32)], key: usize) {
        records.iter_mut().zip(order).for_each(|(place, (_, record))| *place = *record);
        for equal in order.chunk_by(|a, b| a.0 == b.0) {
            let equal = records.split_off_mut(..equal.len()).expect("the order has all records");
            self.settle(equal, key, 0);
        }
    }

    /// Sorts a large group by its next words, on all cores, and adds the groups with equal words.
    fn split(&self, order: &mut [u32], group: Group, groups: &mut Vec<Group>) {
        const PART: usize = 1 << 14;
        let Group { records: range, key, bytes } = group;
        let records = &mut order[range.clone()];
        let (words, next, step): (Vec<u64>, usize, usize) = match &self.keys[key][..] {
            columns @ [Column::Texts(TextColumn { order, .. }), ..] => {
                let rest = |record: u32| self.rest(columns, record, bytes);
                let first = rest(records[0]).unwrap_or_default();
                let shared = |&record: &u32| common(rest(record).unwrap_or_default(), first);
                let alike = map_parts(records.chunks(PART), |records| records.iter().map(shared).min());
                let alike = alike.into_iter().flatten().min().unwrap_or(0);
                let word = |&record: &u32| word_of(rest(record).map(|rest| &rest[alike..]), *order);
                (parallel::map(records, word), key, bytes + alike + WORD)
            }
            columns => {
                if !columns.iter().all(|column| matches!(column, Column::High(_))) {
                    return self.settle(records, key, bytes);
                }
                let number = |&record: &u32| (self.number(columns, record).0 >> 64) as u64;
                (parallel::map(records, number), key + 1, 0)
            }
        };
        let pieces: Vec<(_, _)> = words
            .chunks(PART)
            .zip(records.chunks(PART))
            .map(|(words, records)| (words.into(), records.into()))
            .collect();
        let (pairs, _) = cpu::sort::<(std::borrow::Cow<[u64]>, std::borrow::Cow<[u32]>)>(pieces);
        for (place, pair) in records.iter_mut().zip(&pairs) {
            *place = pair.payload;
        }
        let mut begin = range.start;
        for equal in pairs.chunk_by(|a, b| a.key == b.key) {
            let records = begin..begin + equal.len();
            begin = records.end;
            // A word also encodes the end of its text.
            let is_over = next > key || has_ended(equal[0].key, &self.keys[key]);
            let (key, bytes) = if is_over { (key + 1, 0) } else { (key, step) };
            if records.len() > 1 {
                groups.push(Group { records, key, bytes });
            }
        }
    }

    /// Returns the word of a number, and its tail.
    fn number<'b>(&self, columns: &[&'b Column], record: u32) -> (u128, &'b [u8]) {
        let (piece, record) = self.places.at(record);
        (columns[piece].at(record), columns[piece].tail(record))
    }

    /// Returns the text of a record from `bytes` on, or the class of its null.
    fn rest(&self, columns: &[&'a Column], record: u32, bytes: usize) -> Rest<'a> {
        let (piece, record) = self.places.at(record);
        let texts = columns[piece].texts().expect("the key is of texts");
        texts.get(record).map(|text| &text[bytes.min(text.len())..])
    }
}

/// The number of bytes of a text per word; the last byte of the word holds their number.
const WORD: usize = 7;

/// The words below those of all texts, and the words above, which are for nulls; more than there are classes.
const NULLS: u64 = 4;

/// Returns the next bytes of a text as a word that compares as they do, including the end of the text.
#[inline]
fn word_of(rest: Rest, order: KeyOrder) -> u64 {
    let rest = match rest {
        Ok(rest) => rest,
        Err(class) => match keys::rank(keys::of_null(class, order)) {
            Some((rank, true)) => return NULLS - rank,
            Some((rank, false)) => return u64::MAX - NULLS + 1 + rank,
            None => panic!("a null has a rank"),
        },
    };
    let word = if let Some(&bytes) = rest.first_chunk::<8>() {
        u64::from_be_bytes(bytes) & !0xFF | (WORD as u64 + 1)
    } else {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes[WORD] = rest.len() as u8;
        u64::from_be_bytes(bytes)
    };
    let word = word + NULLS;
    if order.descending { !word } else { word }
}

/// Returns true if a text ends within this word, and for the word of a null.
fn has_ended(word: u64, key: &[&Column]) -> bool {
    let is_descending = matches!(key, [Column::Texts(texts), ..] if texts.order.descending);
    let is_null = !(NULLS..=u64::MAX - NULLS).contains(&word);
    is_null || (if is_descending { !word } else { word }) as u8 <= WORD as u8 + NULLS as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{Invalid, Nulls, TextOrder};

    #[test]
    fn words_of_nulls_are_beside_all_texts() {
        let reading = crate::order::Reading::Text(TextOrder::Bytes);
        for (descending, empty) in
            [(false, Nulls::First), (false, Nulls::Last), (true, Nulls::First), (true, Nulls::Last)]
        {
            let invalid = Invalid::First;
            let order = KeyOrder { descending, empty, invalid, reading, ..KeyOrder::ASCENDING };
            let texts = [&b""[..], b"\0", b"a", b"a\0", b"abcdefg", b"abcdefgh", &[0xFF; 7], &[0xFF; 9]];
            let mut words: Vec<u64> = texts.iter().map(|text| word_of(Ok(text), order)).collect();
            let column = Column::Texts(TextColumn::new(order));
            let key = [&column];
            let ended = |length| length <= WORD;
            assert!(words.iter().zip(texts).all(|(&word, text)| has_ended(word, &key) == ended(text.len())));
            if descending {
                words.reverse();
            }
            assert!(words.is_sorted_by(|a, b| a < b));
            let [empty_word, invalid_word] =
                [Class::Empty, Class::Invalid].map(|class| word_of(Err(class), order));
            assert!(invalid_word < words[0] && has_ended(invalid_word, &key) && has_ended(empty_word, &key));
            let last = words[words.len() - 1];
            assert!(if empty == Nulls::First { empty_word < words[0] } else { empty_word > last });
            assert_ne!(empty_word, invalid_word);
        }
    }
}
