//! The format of spilled runs of records: frames of keys, with the bytes or positions of the records.
//!
//! ```text
//! frame   header │ bytes of the records │ length ┊ position ┊ keys │ length ┊ …
//! key     control │ bytes not shared with the key before    …    without zeros at its end
//! text    its place in the record, or its bytes
//! null    its class and place
//! ```
//!
//! A frame is about the size of a block or a record, so that merging many runs takes little memory.
//! Neighbouring keys share a prefix, and keys of short integers end in zeros; frames omit both.

use std::io::{self, Read};
use std::sync::Arc;

use gpusort_order::key::ElementType;
use xxhash_rust::xxh3::xxh3_64;

use super::keys::{self, CLASSES, Column, EXACT, Keys};
use super::piece::{Bytes, Piece};
use super::records::Print;
use super::source::Text;
use super::texts::TextColumn;
use crate::error::Error;
use crate::order::{Class, KeyOrder, Nulls};
use crate::parallel;

/// Control bytes. Smaller bytes are null codes or two lengths: of the shared prefix, and of the zeros at
/// the end.
const OF_TIME: u8 = 0xD0;
const WHOLE: u8 = 0xE0;
/// A whole word, then the length of its tail, and the tail.
const LONG: u8 = 0xF0;
/// The first code of nulls. These codes are odd, unlike the first byte of a text, and exceed the lengths.
const NULLS: u8 = 0x61;

/// The size of a header: the number of records, and the lengths of their entries and their bytes.
const HEADER: usize = 2 * 8;

/// Writes frames record by record.
pub(crate) struct Frame {
    entries: Vec<u8>,
    /// The beginning of the incomplete frame.
    begin: usize,
    count: u32,
    last: Vec<u64>,
    /// The number of bytes that completes a frame.
    most: usize,
    /// The sum of the checksums of the records' bytes, if requested.
    pub(crate) sum: Option<u64>,
}

/// Returns the checksum of a record. Sums of checksums, modulo 2^64, do not depend on the order.
pub(crate) fn checksum(record: &[u8]) -> u64 {
    xxh3_64(record)
}

impl Frame {
    pub(crate) fn new(most: usize) -> Self {
        let (entries, last) = (Vec::new(), Vec::new());
        Self { entries, begin: 0, count: 0, last, most, sum: None }
    }

    /// Adds a record of a piece, with its bytes and its position if requested.
    pub(crate) fn push(
        &mut self,
        piece: &Piece,
        record: usize,
        has_bytes: bool,
        position: Option<u64>,
        to: &mut Vec<u8>,
    ) {
        let keys = &piece.keys;
        if self.count == 0 {
            self.begin = to.len();
            to.extend_from_slice(&[0; HEADER]);
        }
        if has_bytes {
            let before = to.len();
            piece.push(record, to);
            push_number((to.len() - before) as u64, &mut self.entries);
            if let Some(sum) = &mut self.sum {
                *sum = sum.wrapping_add(checksum(&to[before..]));
            }
        }
        position.into_iter().for_each(|position| push_number(position, &mut self.entries));
        for number in 0..keys.each() {
            if self.last.len() == number {
                self.last.push(0);
            }
            if let Some(texts) = keys.texts(number) {
                push_text(texts, record, has_bytes.then(|| piece.begin(record)), &mut self.entries);
                continue;
            }
            let word = keys.word(record, number);
            match keys.column(number).map_or(&[][..], |column| column.tail(record)) {
                [] => push_word(word, &mut self.last[number], &mut self.entries),
                tail => {
                    self.entries.push(LONG);
                    self.entries.extend_from_slice(&word.to_be_bytes());
                    push_number(tail.len() as u64, &mut self.entries);
                    self.entries.extend_from_slice(tail);
                }
            }
        }
        self.count += 1;
        if self.entries.len() + to.len() - self.begin >= self.most {
            self.end(to);
        }
    }

    /// Completes the last frame.
    pub(crate) fn end(&mut self, to: &mut Vec<u8>) {
        if self.count > 0 {
            let bytes = to.len() - self.begin - HEADER;
            // Entries take at most `most` bytes plus the entry of one record.
            let numbers = [u64::from(self.count) << 32 | self.entries.len() as u64, bytes as u64];
            let header = numbers.map(u64::to_le_bytes);
            to[self.begin..][..HEADER].copy_from_slice(header.as_flattened());
            to.append(&mut self.entries);
            self.count = 0;
            self.last.clear();
        }
    }
}

/// Returns the code of a null with this higher half.
fn null_code(high: u64) -> u8 {
    let number = if high <= CLASSES { high } else { CLASSES + 1 + (u64::MAX - high) };
    NULLS + 2 * number as u8
}

/// Returns the higher half of the null with this code, or `None` for other codes.
fn null_of(code: u8) -> Option<u64> {
    let number = code.checked_sub(NULLS).filter(|number| number % 2 == 0)? / 2;
    match u64::from(number) {
        high @ 0..=CLASSES => Some(high),
        number if number <= 2 * CLASSES => Some(u64::MAX - (number - CLASSES - 1)),
        _ => None,
    }
}

fn push_word(word: u128, last: &mut u64, to: &mut Vec<u8>) {
    let (high, low) = ((word >> 64) as u64, word as u64);
    if keys::is_null(word) && low == EXACT {
        to.push(null_code(high));
        return;
    }
    let rest = low.wrapping_sub(EXACT).cast_signed();
    if rest == 0 {
        let alike = (high ^ *last).leading_zeros() / 8;
        let zeros = (high.trailing_zeros() / 8).min(8 - alike);
        to.push((alike * 9 + zeros) as u8);
        to.extend_from_slice(&high.to_be_bytes()[alike as usize..8 - zeros as usize]);
    } else if rest.unsigned_abs() <= u32::MAX.into() {
        to.push(OF_TIME);
        to.extend_from_slice(&high.to_be_bytes());
        push_number(((rest << 1) ^ (rest >> 63)).cast_unsigned(), to);
    } else {
        to.push(WHOLE);
        to.extend_from_slice(&word.to_be_bytes());
    }
    *last = high;
}

/// The marker of a text with its bytes inline. Other values are even, and encode the place in the record.
const INLINE: u64 = 0;

/// Adds a text: its place in the record that begins here, or its bytes.
fn push_text(texts: &TextColumn, record: usize, begin: Option<usize>, to: &mut Vec<u8>) {
    // Texts of an earlier run exist only in their record.
    if let Some((record, [begin, end])) = begin.zip(texts.place(record)) {
        push_number(2 * (1 + (begin - record) as u64), to);
        push_number((end - begin) as u64, to);
        return;
    }
    match texts.get(record) {
        Ok(text) => {
            push_number(INLINE, to);
            push_number(text.len() as u64, to);
            to.extend_from_slice(text);
        }
        Err(class) => to.push(null_code(keys::of_null(class, texts.order))),
    }
}

/// Appends a number, seven bits per byte, lowest first.
fn push_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 1 << 7 {
        to.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    to.push(number as u8);
}

/// The unread entries of a frame.
struct Entries<'a>(&'a [u8]);

impl Entries<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let [byte] = self.take()?;
            number |= u64::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte >> 7 == 0 {
                return Some(number);
            }
        }
    }

    /// Adds a text to a column. The record lies between these offsets of `read`.
    fn text(&mut self, [begin, end]: [usize; 2], read: &[u8], to: &mut TextColumn) -> Option<()> {
        if let Some(high) = self.0.first().and_then(|&code| null_of(code)) {
            self.0 = &self.0[1..];
            let order = to.order;
            // Classes without a place have no code of their own.
            let mut placed = Class::ALL.into_iter().filter(|&class| order.place(class) != Nulls::Error);
            to.push_null(placed.find(|&class| keys::of_null(class, order) == high)?);
            return Some(());
        }
        match self.number()? {
            INLINE => {
                let length = usize::try_from(self.number()?).ok()?;
                let (text, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                to.push_own(text).ok()?;
            }
            place => {
                let offset = usize::try_from(place / 2 - 1).ok()?;
                let from = begin.checked_add(offset)?;
                let until = from.checked_add(usize::try_from(self.number()?).ok()?)?;
                if until > end.min(read.len()) {
                    return None;
                }
                to.push(read, from, until).ok()?;
            }
        }
        Some(())
    }

    /// Adds the next word to a column.
    fn word(&mut self, last: &mut u64, to: &mut Column) -> Option<()> {
        let [control] = self.take()?;
        if let Some(high) = null_of(control) {
            to.push(keys::whole(high));
            return Some(());
        }
        let word = match control {
            LONG => {
                let word = u128::from_be_bytes(self.take()?);
                let length = usize::try_from(self.number()?).ok()?;
                let (tail, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                to.push_long(word, tail);
                return Some(());
            }
            WHOLE => u128::from_be_bytes(self.take()?),
            OF_TIME => {
                let high = u64::from_be_bytes(self.take()?);
                let rest = self.number()?;
                let rest = (rest >> 1).cast_signed() ^ -(rest & 1).cast_signed();
                u128::from(high) << 64 | u128::from(EXACT.wrapping_add_signed(rest))
            }
            control => {
                let (alike, zeros) = (usize::from(control / 9), usize::from(control % 9));
                let count = 8_usize.checked_sub(alike + zeros)?;
                let mut bytes = last.to_be_bytes();
                bytes[alike..].fill(0);
                bytes[alike..alike + count].copy_from_slice(self.0.get(..count)?);
                self.0 = &self.0[count..];
                keys::whole(u64::from_be_bytes(bytes))
            }
        };
        *last = (word >> 64) as u64;
        to.push(word);
        Some(())
    }
}

/// The contents of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFormat {
    /// Elements of this type; text output prints them this way.
    Elements(ElementType, Print),
    /// Frames, with bytes and positions besides the keys.
    Frames { bytes: bool, positions: bool },
}

/// Reads a run.
pub(crate) struct RunReader {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send + Sync>,
    pub(crate) form: RunFormat,
    /// The order of each key.
    pub(crate) orders: Arc<[KeyOrder]>,
}

impl RunReader {
    /// Returns the next records, about `most` bytes; empty at the end.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<Piece>, Error> {
        let read = match self.form {
            RunFormat::Elements(element, print) => self.elements(element, print, most),
            RunFormat::Frames { bytes, positions } => self.frames(bytes, positions, most),
        };
        read.map_err(|error| Error::io(&self.name, "read", error))
    }

    fn elements(&mut self, element: ElementType, print: Print, most: usize) -> io::Result<Vec<Piece>> {
        /// The number of elements that a core turns into keys at once.
        const SOME: usize = 1 << 13;
        let size = element.bytes();
        let mut bytes = vec![0; (most / 2 / size).max(1) * size];
        let count = crate::file::fill(&mut bytes, |room, _| self.reader.read(room))?;
        bytes.truncate(count);
        let rules = self.orders[0];
        let descending = rules.descending;
        // Other runs may spell numbers in other ways, so the line becomes a key of its own.
        let line = self.orders.get(1).copied();
        let pieces = parallel::map_parts(bytes.chunks(SOME * size), |bytes| {
            let mut keys = Keys::of_words(bytes.chunks_exact(size).map(|bytes| {
                let mut wide = [0; 8];
                wide[..size].copy_from_slice(bytes);
                keys::of_bits(u64::from_le_bytes(wide), element, descending, rules)
            }));
            if let Some(order) = line {
                keys = keys.with_lines(order, descending, print).by_records();
            }
            Piece { bytes: Bytes::Printed(print, descending), ..Piece::of(keys) }
        });
        Ok(pieces)
    }

    fn frames(&mut self, has_bytes: bool, has_positions: bool, most: usize) -> io::Result<Vec<Piece>> {
        let (mut groups, mut read) = (Vec::new(), 0);
        while read < most {
            let mut header = [[0; 8]; HEADER / 8];
            let count = crate::file::fill(header.as_flattened_mut(), |room, _| self.reader.read(room))?;
            if count == 0 {
                break;
            }
            let [numbers, bytes] = header.map(u64::from_le_bytes);
            let (records, entries) = ((numbers >> 32) as u32, numbers as u32 as usize);
            let bytes = usize::try_from(bytes).ok().filter(|_| count == HEADER);
            let bytes = bytes.ok_or(io::ErrorKind::InvalidData)?;
            if groups.last().is_none_or(|group: &Frames| group.text.len() >= PART) {
                groups.push(Frames::default());
            }
            let Some(Frames { text, places }) = groups.last_mut() else { break };
            let begin = text.len();
            text.resize(begin + bytes + entries, 0);
            self.reader.read_exact(&mut text[begin..])?;
            places.push((records, begin, begin + bytes));
            read += bytes + entries;
        }
        let orders = &self.orders[..];
        let pieces = parallel::map_parts(groups, |group| group.decoded(has_bytes, has_positions, orders));
        pieces.into_iter().map(|piece| piece.ok_or_else(|| io::ErrorKind::InvalidData.into())).collect()
    }
}

/// The number of bytes that justifies a parallel task.
const PART: usize = 1 << 16;

/// Consecutive frames in their encoded form.
#[derive(Default)]
struct Frames {
    text: Vec<u8>,
    /// The number of records in each frame, and the offsets of their bytes and their entries.
    places: Vec<(u32, usize, usize)>,
}

impl Frames {
    /// Decodes the records, or returns `None` if the frames are damaged.
    fn decoded(self, has_bytes: bool, has_positions: bool, orders: &[KeyOrder]) -> Option<Piece> {
        let Self { text, places } = self;
        let text = Arc::new(Text { bytes: text, ..Text::default() });
        let all = places.iter().map(|&(records, ..)| records as usize).sum::<usize>();
        let read = if has_bytes { &text.bytes[..] } else { &[] };
        let mut columns: Vec<Column> = orders.iter().map(|order| Column::of(*order, all)).collect();
        let mut ranges = Vec::with_capacity(if has_bytes { all } else { 0 });
        let mut positions = Vec::with_capacity(if has_positions { all } else { 0 });
        for (records, mut at, entries) in places {
            let (mut left, mut last) = (Entries(&text.bytes[entries..]), vec![0; orders.len()]);
            for _ in 0..records {
                let length = if has_bytes { usize::try_from(left.number()?).ok()? } else { 0 };
                let position = if has_positions { left.number()? } else { 0 };
                let begin = at;
                at = at.checked_add(length).filter(|&at| at <= entries)?;
                for (column, last) in columns.iter_mut().zip(&mut last) {
                    match column {
                        Column::Texts(texts) => left.text([begin, at], read, texts)?,
                        column => left.word(last, column)?,
                    }
                }
                if has_bytes {
                    ranges.push([begin, at]);
                }
                if has_positions {
                    positions.push(position);
                }
            }
        }
        if has_bytes {
            columns = columns.into_iter().map(|column| column.of_text(&text, 0)).collect();
        }
        let keys = Keys::Columns(columns).by_records();
        let bytes = if has_bytes { Bytes::Read { text, ranges } } else { Bytes::None };
        Some(Piece { positions, bytes, ..Piece::of(keys) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::Invalid;

    fn word() -> impl Strategy<Value = u128> {
        prop_oneof![
            any::<f64>()
                .prop_filter("NaN has no word", |it| !it.is_nan())
                .prop_map(|it| keys::of_float(it, false)),
            (-100..100_i128).prop_map(|it| keys::of_integer(it, false)),
            any::<i64>().prop_map(|it| keys::of_integer(it.into(), true)),
            any::<u128>(),
        ]
    }

    /// Reads this number of words.
    fn read(left: &mut Entries, count: usize) -> Vec<u128> {
        let (mut column, mut last) = (Column::with_capacity(0), 0);
        (0..count).for_each(|_| left.word(&mut last, &mut column).unwrap());
        (0..count).map(|at| column.at(at)).collect()
    }

    #[test]
    fn nulls_are_the_same_among_numbers_and_texts() {
        let last = KeyOrder { invalid: Invalid::Last, ..KeyOrder::ASCENDING };
        let first = KeyOrder {
            nan: Nulls::First,
            empty: Nulls::First,
            invalid: Invalid::First,
            descending: true,
            ..last
        };
        let refused = KeyOrder { nan: Nulls::Error, empty: Nulls::First, ..last };
        for order in [last, first, KeyOrder { empty: Nulls::First, ..last }, refused] {
            for class in Class::ALL.into_iter().filter(|&class| order.place(class) != Nulls::Error) {
                let word = keys::whole(keys::of_null(class, order));
                let mut of_numbers = Vec::new();
                push_word(word, &mut 0, &mut of_numbers);
                let (mut texts, mut of_texts) = (TextColumn::new(order), Vec::new());
                texts.push_null(class);
                push_text(&texts, 0, None, &mut of_texts);
                assert_eq!(of_numbers, of_texts);
                assert_eq!(super::tests::read(&mut Entries(&of_texts), 1), [word]);
                let mut read = TextColumn::new(order);
                assert_eq!(Entries(&of_numbers).text([0, 0], b"", &mut read), Some(()));
                assert_eq!(read.null(0), Some(class));
            }
        }
        // Neither a number nor a text begins so.
        for number in (0..1000).map(|number| keys::of_integer(number - 500, false)) {
            let mut bytes = Vec::new();
            push_word(number, &mut 0, &mut bytes);
            assert_eq!(null_of(bytes[0]), None);
        }
        for begin in 0..1000 {
            let mut texts = TextColumn::new(last);
            texts.push(&[b'x'; 1000], begin, 1000).unwrap();
            let mut bytes = Vec::new();
            push_text(&texts, 0, Some(0), &mut bytes);
            assert_eq!(null_of(bytes[0]), None);
        }
    }

    proptest! {
        #[test]
        fn words_come_back(words in prop::collection::vec(word(), 0..40), numbers in prop::collection::vec(any::<u64>(), 0..9)) {
            let (mut bytes, mut last) = (Vec::new(), 0);
            words.iter().for_each(|&word| push_word(word, &mut last, &mut bytes));
            numbers.iter().for_each(|&number| push_number(number, &mut bytes));
            let mut left = Entries(&bytes);
            prop_assert_eq!(read(&mut left, words.len()), words);
            for number in numbers {
                prop_assert_eq!(left.number(), Some(number));
            }
            prop_assert!(left.0.is_empty());
        }
    }
}
