//! The format of spilled runs of records: frames of keys, with the bytes or positions of the records.
//!
//! ```text
//! frame   header │ bytes of the records │ lengths or position ┊ keys │ lengths or position ┊ …
//! record  bytes not shared with the record before
//! word    control │ bytes not shared with the word before    …    without zeros at its end │ tail
//! text    its place in the record, or its bytes, or the class of a null
//! ```
//!
//! A frame is at most about as large as a block or a record, so that merging many runs takes little memory.
//! Neighbouring records and keys share a prefix, and keys of short integers end in zeros; frames omit both.

use std::io::{self, Read};
use std::sync::Arc;

use gpusort_formats::keys::texts::{TextColumn, common};
use gpusort_formats::keys::{self, Column, EXACT, Keys};
use gpusort_formats::piece::{Bytes, Piece};
use gpusort_formats::records::Print;
use gpusort_formats::records::range::Range;
use gpusort_formats::text::Text;
use gpusort_order::key::{KeyMap, KeyWords};
use xxhash_rust::xxh3::xxh3_64;

use super::differences::{KeyReader, left_after};
use crate::key_buf::{KeyBuf, KeyWidth};
use crate::order::{Class, KeyOrder};
use crate::parallel;

/// The size of a header: the number of records, the lengths of their entries and their bytes, and the length of the
/// bytes with the shared ones.
const HEADER: usize = 3 * 8;

/// The most bytes of any frame of several records.
const MOST: usize = 1 << 20;

/// The bytes that a record shares with the one before. Frames whose records share fewer are read without a copy.
const SHARED: std::ops::Range<usize> = 8..1 << 12;

/// The number of frames without shared bytes after a frame whose records share few.
const WHOLE: u32 = 31;

/// Writes frames record by record.
pub struct Frame {
    entries: Vec<u8>,
    /// The beginning of the incomplete frame.
    begin: usize,
    count: u32,
    /// The last word of each key.
    last: Vec<u128>,
    /// The first bytes of the last record.
    record: Vec<u8>,
    /// The length of the records.
    length: usize,
    /// The number of frames until records may share bytes.
    whole: u32,
    payload: FramePayload,
    /// The most bytes of a frame of several records.
    most: usize,
    /// The sum of the checksums of the records' bytes, if requested.
    pub sum: Option<u64>,
}

/// Returns the checksum of a record. Sums of checksums, modulo 2^64, do not depend on the order.
pub fn checksum(record: &[u8]) -> u64 {
    xxh3_64(record)
}

impl Frame {
    /// Creates a writer of frames of at most about `most` bytes, or of one record.
    pub fn new(payload: FramePayload, most: usize) -> Self {
        let (entries, last, record, most) = (Vec::new(), Vec::new(), Vec::new(), most.min(MOST));
        Self { entries, begin: 0, count: 0, last, record, length: 0, whole: 0, payload, most, sum: None }
    }

    /// Adds a record of a piece at this position.
    pub fn push(&mut self, piece: &Piece, record: usize, position: u64, to: &mut Vec<u8>) {
        // A long record has a frame of its own, which is read without a copy.
        if self.entries.len() + self.length + piece.length(record, record + 1) > self.most {
            self.end(to);
        }
        if self.count == 0 {
            self.begin = to.len();
            to.extend_from_slice(&[0; HEADER]);
        }
        let mut begin = None;
        if self.payload.has_bytes() {
            let before = to.len();
            begin = Some(piece.begin(record));
            piece.push(record, to);
            let bytes = &to[before..];
            if let Some(sum) = &mut self.sum {
                *sum = sum.wrapping_add(checksum(bytes));
            }
            let first = &bytes[..bytes.len().min(SHARED.end)];
            let shared = if self.whole == 0 { common(first, &self.record) } else { 0 };
            let shared = if shared < SHARED.start { 0 } else { shared };
            // The lowest bit tells if the length of shared bytes follows.
            push_number((bytes.len() - shared) as u64 * 2 + u64::from(shared > 0), &mut self.entries);
            if shared > 0 {
                push_number(shared as u64, &mut self.entries);
            }
            self.length += bytes.len();
            if self.whole == 0 {
                self.record.truncate(shared);
                self.record.extend_from_slice(&first[shared..]);
                to.drain(before..before + shared);
            }
        }
        if self.payload.has_numbers() {
            push_number(position, &mut self.entries);
        }
        for (number, column) in piece.keys.columns.iter().enumerate() {
            if self.last.len() == number {
                self.last.push(0);
            }
            if let Some(texts) = column.texts() {
                push_text(texts, record, begin, &mut self.entries);
                continue;
            }
            push_word(column.at(record), &mut self.last[number], &mut self.entries);
            let tail = column.tail(record);
            if !tail.is_empty() {
                push_number(tail.len() as u64, &mut self.entries);
                self.entries.extend_from_slice(tail);
            }
        }
        self.count += 1;
    }

    /// Completes the last frame.
    pub fn end(&mut self, to: &mut Vec<u8>) {
        if self.count > 0 {
            let bytes = to.len() - self.begin - HEADER;
            // Entries take at most `most` bytes plus the entry of one record.
            let numbers =
                [u64::from(self.count) << 32 | self.entries.len() as u64, bytes as u64, self.length as u64];
            let header = numbers.map(u64::to_le_bytes);
            to[self.begin..][..HEADER].copy_from_slice(header.as_flattened());
            to.append(&mut self.entries);
            let shares_little = bytes > self.length - self.length / 16;
            self.whole = if self.whole == 0 && shares_little { WHOLE } else { self.whole.saturating_sub(1) };
            (self.count, self.length) = (0, 0);
            self.last.clear();
            self.record.clear();
        }
    }
}

/// Adds a word: two numbers of four bits, of the bytes shared with the last word and of the zeros at the end,
/// then the bytes between. The lower half of most words becomes zero.
fn push_word(word: u128, last: &mut u128, to: &mut Vec<u8>) {
    let word = word ^ u128::from(EXACT);
    let shared = ((word ^ *last).leading_zeros() / 8).min(15);
    let zeros = (word.trailing_zeros() / 8).min(16 - shared).min(15);
    to.push((shared << 4 | zeros) as u8);
    to.extend_from_slice(&word.to_be_bytes()[shared as usize..16 - zeros as usize]);
    *last = word;
}

/// The first numbers of a text with its bytes inline, and of a null, before its class. Greater numbers are
/// the place in the record.
const INLINE: u64 = 0;
const NULL: u64 = 1;
const PLACE: u64 = 2;

/// Adds a text: its place in the record that begins here, or its bytes.
fn push_text(texts: &TextColumn, record: usize, begin: Option<usize>, to: &mut Vec<u8>) {
    // Texts of an earlier run exist only in their record.
    if let Some((record, [begin, end])) = begin.zip(texts.place(record)) {
        push_number(PLACE + (begin - record) as u64, to);
        push_number((end - begin) as u64, to);
        return;
    }
    match texts.get(record) {
        Ok(text) => {
            push_number(INLINE, to);
            push_number(text.len() as u64, to);
            to.extend_from_slice(text);
        }
        Err(class) => {
            push_number(NULL, to);
            push_number(class as u64, to);
        }
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
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.0.split_off_first()?;
            number |= u64::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte >> 7 == 0 {
                return Some(number);
            }
        }
    }

    /// Adds a text to a column. The record lies between these offsets of `read`.
    fn text(&mut self, [begin, end]: [usize; 2], read: &[u8], to: &mut TextColumn) -> Option<()> {
        match self.number()? {
            INLINE => {
                let length = usize::try_from(self.number()?).ok()?;
                to.push_bytes(self.0.split_off(..length)?).ok()?;
            }
            NULL => to.push_null(Class::of(usize::try_from(self.number()?).ok()?)?),
            place => {
                let offset = usize::try_from(place - PLACE).ok()?;
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

    /// Adds the next word of a key in this order to a column.
    fn word(&mut self, order: KeyOrder, last: &mut u128, to: &mut Column) -> Option<()> {
        let control = *self.0.split_off_first()?;
        let (shared, zeros) = (usize::from(control >> 4), usize::from(control & 15));
        let mut bytes = last.to_be_bytes();
        let read = self.0.split_off(..16_usize.checked_sub(shared + zeros)?)?;
        bytes[shared..].fill(0);
        bytes[shared..shared + read.len()].copy_from_slice(read);
        *last = u128::from_be_bytes(bytes);
        let word = *last ^ u128::from(EXACT);
        if keys::has_tail(word, order.reading) {
            let length = usize::try_from(self.number()?).ok()?;
            to.push_long(word, self.0.split_off(..length)?);
        } else {
            to.push(word);
        }
        Some(())
    }
}

/// The contents of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RunFormat {
    /// The keys of elements, in the form of [`differences`](super::differences); text output prints them this way.
    Elements(KeyMap, Print),
    /// Frames of keys with this payload.
    Frames(FramePayload),
}

/// The payload of a record beside its keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FramePayload {
    /// The bytes of the record.
    Bytes,
    /// The bytes of the record, and its position or another number.
    Numbered,
    /// The position of the record.
    Position,
    /// Nothing: the keys are the records.
    None,
}

impl FramePayload {
    fn has_bytes(self) -> bool {
        matches!(self, Self::Bytes | Self::Numbered)
    }

    fn has_numbers(self) -> bool {
        matches!(self, Self::Position | Self::Numbered)
    }
}

/// A sorted run, to be read once.
pub struct SortedRun {
    /// The name for messages.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The number of records.
    pub records: u64,
    /// The contents.
    pub form: RunFormat,
    /// Supplies the bytes.
    pub reader: Box<dyn Read + Send + Sync>,
}

/// Reads the records of a run.
pub(crate) enum RunReader {
    Elements(KeyReader, KeyMap, Print),
    /// Frames, with the number of unread records.
    Frames(Box<dyn Read + Send + Sync>, FramePayload, u64),
}

impl RunReader {
    pub(crate) fn new(reader: Box<dyn Read + Send + Sync>, form: RunFormat, records: u64) -> Self {
        match form {
            RunFormat::Elements(map, print) => Self::Elements(KeyReader::new(reader, records), map, print),
            RunFormat::Frames(payload) => Self::Frames(reader, payload, records),
        }
    }

    /// Returns the next records, about `most` bytes, whose keys are in these orders; empty at the end.
    pub(crate) fn next(&mut self, most: usize, orders: &[KeyOrder]) -> io::Result<Vec<Piece>> {
        match self {
            Self::Elements(reader, map, print) => elements(reader, *map, *print, most, orders),
            Self::Frames(reader, payload, left) => frames(reader, *payload, most, left, orders),
        }
    }
}

/// Returns the next elements of a run as records.
fn elements(
    reader: &mut KeyReader,
    map: KeyMap,
    print: Print,
    most: usize,
    orders: &[KeyOrder],
) -> io::Result<Vec<Piece>> {
    fn read<W: KeyWidth>(reader: &mut KeyReader, most: usize) -> io::Result<KeyBuf<'static>> {
        let mut keys = Vec::<W>::new();
        reader.read(most, &mut keys)?;
        Ok(keys.into())
    }
    let most = most / 2 / map.element.bytes();
    let keys = match map.element.key_words() {
        KeyWords::One => read::<u32>(reader, most)?,
        KeyWords::Two => read::<u64>(reader, most)?,
    };
    // Other runs may spell numbers in other ways, so the line becomes a key of its own.
    let pieces = Piece::of_numbers(&keys, map, print, orders, true);
    Ok(parallel::map_parts(pieces, |piece| Piece { keys: piece.keys.by_records(), ..piece }))
}

/// Returns the next frames of a run as records.
fn frames(
    reader: &mut dyn Read,
    payload: FramePayload,
    most: usize,
    left: &mut u64,
    orders: &[KeyOrder],
) -> io::Result<Vec<Piece>> {
    let (mut groups, mut read) = (Vec::new(), 0);
    while read < most {
        let mut header = [[0; 8]; HEADER / 8];
        let count = gpusort_formats::file::fill(header.as_flattened_mut(), |room, _| reader.read(room))?;
        if count == 0 && *left == 0 {
            break;
        }
        if count < HEADER {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let [numbers, bytes, length] = header.map(u64::from_le_bytes);
        let (records, entries) = ((numbers >> 32) as u32, numbers as u32 as usize);
        *left = left_after(*left, records as usize)?;
        let size = |size| usize::try_from(size).map_err(io::Error::other);
        let (bytes, length) = (size(bytes)?, size(length)?);
        // An entry has at least one byte, and the last record at most the bytes of all of them.
        if records as usize > entries || length.saturating_sub(MOST) > bytes {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let is_other = |group: &Frames| {
            let has_shared = group.length > group.text.len();
            group.length.saturating_add(length) > PART || has_shared != (length > bytes)
        };
        if groups.last().is_none_or(is_other) {
            groups.push(Frames::default());
        }
        let Some(Frames { text, places, length: all }) = groups.last_mut() else { break };
        let begin = text.len();
        // In steps: a damaged header must not take memory.
        let mut missing = bytes.saturating_add(entries);
        while missing > 0 {
            let (at, step) = (text.len(), missing.min(1 << 24));
            text.resize(at + step, 0);
            reader.read_exact(&mut text[at..])?;
            missing -= step;
        }
        places.push((records, begin, begin + bytes));
        *all += length + entries;
        read += length + entries;
    }
    let pieces = parallel::map_parts(groups, |group| group.decoded(payload, orders));
    pieces.into_iter().map(|piece| piece.ok_or_else(|| io::ErrorKind::InvalidData.into())).collect()
}

/// The number of bytes that justifies a parallel task.
const PART: usize = 1 << 16;

/// Consecutive frames in their encoded form.
#[derive(Default)]
struct Frames {
    text: Vec<u8>,
    /// The number of records in each frame, and the offsets of their bytes and their entries.
    places: Vec<(u32, usize, usize)>,
    /// The length of all frames with the shared bytes.
    length: usize,
}

impl Frames {
    /// Decodes the records, or returns `None` if the frames are damaged.
    fn decoded(self, payload: FramePayload, orders: &[KeyOrder]) -> Option<Piece> {
        // Without shared bytes, the records stay where they were read.
        let Self { text: read, places, length } = self;
        let has_shared = length > read.len();
        let mut text = Vec::with_capacity(if has_shared { length } else { 0 });
        let all = places.iter().map(|&(records, ..)| records as usize).sum::<usize>();
        let mut columns: Vec<Column> = orders.iter().map(|order| Column::of(*order, all)).collect();
        let room = |is_used| if is_used { all } else { 0 };
        let mut ranges = Vec::with_capacity(room(payload.has_bytes()));
        let mut positions = Vec::with_capacity(room(payload.has_numbers()));
        for (records, mut at, entries) in places {
            let (mut left, mut last) = (Entries(&read[entries..]), vec![0; orders.len()]);
            // The range of the last record in its text.
            let mut place = [text.len(); 2];
            for _ in 0..records {
                if payload.has_bytes() {
                    let own = left.number()?;
                    let shared = if own % 2 > 0 { usize::try_from(left.number()?).ok()? } else { 0 };
                    let end = at.checked_add(usize::try_from(own / 2).ok()?)?;
                    let own = read[..entries].get(at..end).filter(|_| has_shared || shared == 0)?;
                    if has_shared {
                        let (from, begin) = (place[0]..place[0].checked_add(shared)?, text.len());
                        if from.end > place[1] || begin + shared + own.len() > length {
                            return None;
                        }
                        text.extend_from_within(from);
                        text.extend_from_slice(own);
                        place = [begin, text.len()];
                    } else {
                        place = [at, end];
                    }
                    at = end;
                    let [begin, end] = place.map(u32::try_from);
                    ranges.push(Range::new(begin.ok()?, end.ok()?));
                }
                if payload.has_numbers() {
                    positions.push(left.number()?);
                }
                for ((column, &order), last) in columns.iter_mut().zip(orders).zip(&mut last) {
                    match column {
                        Column::Texts(texts) => {
                            left.text(place, if has_shared { &text } else { &read }, texts)?;
                        }
                        column => left.word(order, last, column)?,
                    }
                }
            }
        }
        if !payload.has_bytes() {
            return Some(Piece { positions, ..Piece::of(Keys::of(columns).by_records()) });
        }
        let text = Arc::new(Text { bytes: if has_shared { text } else { read }, ..Text::default() });
        let columns = columns.into_iter().map(|column| column.of_text(&text, 0)).collect();
        let keys = Keys::of(columns).by_records();
        let (until, ranges, end) = (text.bytes.len(), Arc::new(ranges), (usize::MAX, &b""[..]));
        let bytes = Bytes::Of { text, start: 0, until, ranges, end, are_tokens: false };
        Some(Piece { positions, bytes, ..Piece::of(keys) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::order::{Invalid, Reading, TextOrder};

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

    #[test]
    fn texts_and_nulls_come_back() {
        let record = b"abc,def";
        let order = KeyOrder { invalid: Invalid::Last, ..KeyOrder::ASCENDING };
        for order in [order, KeyOrder { reading: Reading::Text(TextOrder::Bytes), nocase: true, ..order }] {
            let mut texts = TextColumn::new(order);
            texts.push(record, 4, 7).unwrap();
            texts.push_bytes(b"own").unwrap();
            Class::ALL.into_iter().for_each(|class| texts.push_null(class));
            let count = texts.len();
            // With the record and without it.
            for begin in [Some(0), None] {
                let text = std::sync::Arc::new(Text { bytes: record.to_vec(), ..Text::default() });
                let texts = texts.clone().of_text(&text, 0);
                let mut bytes = Vec::new();
                (0..count).for_each(|at| push_text(&texts, at, begin, &mut bytes));
                let (mut left, mut read) = (Entries(&bytes), TextColumn::new(order));
                (0..count).for_each(|_| left.text([0, record.len()], record, &mut read).unwrap());
                let read = read.of_text(&text, 0);
                assert!(left.0.is_empty());
                assert!((0..count).all(|at| read.get(at) == texts.get(at)));
            }
        }
    }

    #[test]
    fn damaged_entries_are_refused() {
        // More shared bytes and zeros than a word has, a place behind the record, no such class.
        assert_eq!(Entries(&[0xFF]).word(KeyOrder::ASCENDING, &mut 0, &mut Column::with_capacity(0)), None);
        for entry in [&[PLACE as u8 + 3, 2][..], &[NULL as u8, 9], &[INLINE as u8, 2, b'x']] {
            assert_eq!(Entries(entry).text([0, 4], b"abcd", &mut TextColumn::default()), None);
        }
    }

    proptest! {
        #[test]
        fn records_come_back_without_what_they_share(
            parts in prop::collection::vec((0..40_usize, ".{0,20}"), 0..60),
            most in 1..3000_usize,
            (cut, bit) in (any::<prop::sample::Index>(), 0..8_u32),
        ) {
            let mut text = Text::default();
            let (mut ranges, mut before) = (Vec::new(), String::new());
            for (shared, own) in &parts {
                let shared: String = before.chars().take(*shared).collect();
                before = shared + own;
                let begin = text.bytes.len();
                text.bytes.extend_from_slice(before.as_bytes());
                ranges.push(Range::new(begin as u32, text.bytes.len() as u32));
            }
            let order = KeyOrder { reading: Reading::Text(TextOrder::Bytes), ..KeyOrder::ASCENDING };
            let mut texts = TextColumn::new(order);
            for range in &ranges {
                texts.push(&text.bytes, range.begin(), range.end()).unwrap();
            }
            let (until, text) = (text.bytes.len(), Arc::new(text));
            let column = Column::Texts(texts).of_text(&text, 0);
            let all = ranges.len() as u64;
            let (ranges, end) = (Arc::new(ranges), (usize::MAX, &b""[..]));
            let bytes = Bytes::Of { text, start: 0, until, ranges, end, are_tokens: false };
            let piece = Piece { bytes, ..Piece::of(Keys::of(vec![column])) };
            let (mut frame, mut run) = (Frame::new(FramePayload::Bytes, most), Vec::new());
            (0..piece.len()).for_each(|record| frame.push(&piece, record, 0, &mut run));
            frame.end(&mut run);
            let push = |piece: &Piece, to: &mut Vec<(Vec<u8>, Vec<u8>)>| to.extend((0..piece.len()).map(|record| {
                let mut bytes = Vec::new();
                piece.push(record, &mut bytes);
                (bytes, piece.keys.key(record))
            }));
            let read = |run: &[u8], left: u64| {
                let (mut reader, mut left, mut records) = (run, left, Vec::new());
                loop {
                    let pieces = frames(&mut reader, FramePayload::Bytes, 100, &mut left, &[order])?;
                    if pieces.is_empty() {
                        return Ok::<_, io::Error>(records);
                    }
                    pieces.iter().for_each(|piece| push(piece, &mut records));
                }
            };
            let mut expected = Vec::new();
            push(&piece, &mut expected);
            prop_assert_eq!(&read(&run, all).unwrap(), &expected);
            prop_assert!(read(&run, all + 1).is_err());
            if let Some(less) = all.checked_sub(1) {
                prop_assert!(read(&run, less).is_err());
                let cut = cut.index(run.len());
                prop_assert!(read(&run[..cut], all).is_err());
                let mut damaged = run.clone();
                damaged[cut] ^= 1 << bit;
                let _ = read(&damaged, all);
            }
        }

        #[test]
        fn words_come_back(words in prop::collection::vec(word(), 0..40), numbers in prop::collection::vec(any::<u64>(), 0..9)) {
            for order in [KeyOrder::ASCENDING, KeyOrder { reading: Reading::Times, ..KeyOrder::ASCENDING }] {
                let mut column = Column::with_capacity(0);
                for &word in &words {
                    if keys::has_tail(word, order.reading) {
                        column.push_long(word, &word.to_le_bytes()[..3]);
                    } else {
                        column.push(word);
                    }
                }
                let piece = Piece::of(Keys::of(vec![column]));
                let (mut frame, mut bytes) = (Frame::new(FramePayload::None, usize::MAX), Vec::new());
                (0..words.len()).for_each(|record| frame.push(&piece, record, 0, &mut bytes));
                frame.end(&mut bytes);
                let mut entries = bytes.split_off(HEADER.min(bytes.len()));
                numbers.iter().for_each(|&number| push_number(number, &mut entries));
                let (mut left, mut read, mut last) = (Entries(&entries), Column::with_capacity(0), 0);
                for (record, &word) in words.iter().enumerate() {
                    left.word(order, &mut last, &mut read).unwrap();
                    prop_assert_eq!((read.at(record), read.tail(record)), (word, piece.keys.columns[0].tail(record)));
                }
                for &number in &numbers {
                    prop_assert_eq!(left.number(), Some(number));
                }
                prop_assert!(left.0.is_empty());
            }
        }
    }
}
