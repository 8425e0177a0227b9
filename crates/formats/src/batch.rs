//! Reads records as text, batch by batch, with keys that serve all steps up to the last merge.
//!
//! ```text
//! inputs ── Chunks ──> Text ── pieces, on all cores ──> ranges of records, keys
//! ```
//!
//! A batch ends before the first wrong record; the next call returns its error.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use gpusort_order::key::{KeyMap, KeyWords};

use super::chunks::Chunks;
use super::fields::{self, Axis, Head, InputSpec, Known, Layout, ResolvedKey};
use super::input::Input;
use super::keys::texts::TextColumn;
use super::keys::{self, Keys};
use super::numbers::span::Census;
use super::packing::{self, Ties, Words};
use super::records::{Print, print, touch};
use super::text::Text;
use crate::budget::Budget;
use crate::counts::{Counts, Respelled};
use crate::error::Error;
use crate::human::quoted;
use crate::key_buf::{KeyBuf, KeyWidth};
use crate::order::{Class, KeyOrder, Nulls, Reading};
use crate::parallel;
use crate::piece::{Bytes, Piece};
use crate::places::Places;
use crate::records::range::Range;

/// The number of bytes read at once.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The maximum in memory, except for longer records.
    pub most: usize,
    /// The size of the piece that a core reads, if not the default.
    pub piece: Option<usize>,
}

impl Default for Stretches {
    /// Returns sizes large enough to keep all cores busy, and small enough to reuse the same memory.
    fn default() -> Self {
        Self { most: 8 << 20, piece: None }
    }
}

/// Records of a part of the input, in input order.
#[derive(Default)]
pub struct KeyedBatch {
    /// The records, in the pieces that cores read.
    pub pieces: Vec<Piece>,
    /// The lines before the records.
    pub head: Head,
    /// The numbers of null fields and of left-out records.
    pub counts: Counts,
    orders: Vec<KeyOrder>,
    /// For lines of numbers: their key, if each piece lists its numbers that are not canonical.
    number: Option<ResolvedKey>,
    /// The specification, to show a left-out record in a message.
    told: Option<Box<InputSpec>>,
    /// A record that [`Self::settle`] left out although its key is spelled differently.
    pub respelled: OnceLock<Respelled>,
}

/// The mark, in the place of a record, of a number with other spellings.
const RESPELLED: u64 = 1 << 31;

impl KeyedBatch {
    /// Reads a part of a text. If records are left out, the remaining ones get their positions in this
    /// part.
    ///
    /// # Errors
    ///
    /// Errors of a record or a header.
    pub fn read(text: Text, how: &InputSpec, known: &mut Known) -> Result<Self, Error> {
        let read = fields::read_batch(&Arc::new(text), how, known, None, true)?;
        if let Some(wrong) = read.wrong {
            return Err(wrong);
        }
        let fields::Batch { mut pieces, skipped, head, counts, .. } = read;
        if counts.skipped > 0 {
            let mut first = 0;
            for (piece, skipped) in pieces.iter_mut().zip(&skipped) {
                let all = (piece.keys.len() + skipped.len()) as u64;
                let mut skipped = skipped.iter().map(|&at| u64::from(at)).peekable();
                let kept = (0..all).filter(|at| skipped.next_if_eq(at).is_none());
                piece.positions = kept.map(|at| first + at).collect();
                first += all;
            }
        }
        pieces.retain(|piece| piece.len() > 0);
        let are_known = counts.invalid == 0 && pieces.iter().all(|piece| piece.respelled.is_some());
        let are_bytes = |key: &ResolvedKey| key.order.reading.is_text() && key.order.compares_bytes();
        let number =
            how.keys.first().filter(|_| are_known && how.keys.iter().skip(1).all(are_bytes)).cloned();
        let can_differ = pieces.iter().any(|piece| !piece.spellings.is_empty());
        let told = can_differ.then(|| Box::new(how.clone()));
        let (orders, respelled) = (how.orders(), OnceLock::new());
        Ok(Self { pieces, head, counts, orders, number, told, respelled })
    }

    /// Gives each record the number of records that it stands for: these numbers, or 1. A null counts as often as its
    /// record.
    pub fn with_counts(mut self, numbers: Option<&[u64]>) -> Self {
        let mut first = 0;
        for piece in &mut self.pieces {
            let count = piece.records();
            // Behind records that were left out, pieces have the positions of the others.
            let are_known = piece.positions.len() == count;
            let position =
                |record: usize| if are_known { piece.positions[record] as usize } else { first + record };
            let number = |record| numbers.map_or(1, |numbers| numbers[position(record)]);
            piece.positions = (0..count).map(number).collect();
            first += count;
        }
        let Counts { nan, empty, invalid, .. } = &mut self.counts;
        if *nan + *empty + *invalid > 0 {
            (*nan, *empty, *invalid) = (0, 0, 0);
            for piece in &self.pieces {
                for (record, number) in piece.positions.iter().enumerate() {
                    piece.keys.nulls(record, &self.orders).for_each(|class| match class {
                        Class::Nan => *nan += number,
                        Class::Empty => *empty += number,
                        Class::Invalid => *invalid += number,
                    });
                }
            }
        }
        self
    }

    /// Replaces the only key, a text, by these bytes for each number of a record.
    ///
    /// # Panics
    ///
    /// Panics if a piece has 2^27 records or more.
    pub fn order_by(&mut self, key: impl Fn(u64) -> [u8; 16] + Sync) {
        let mut first = 0;
        let pieces = self.pieces.iter_mut().map(|piece| {
            let begin = first;
            first += piece.records() as u64;
            (begin, piece)
        });
        let order = self.orders[0];
        parallel::map_parts(pieces.collect::<Vec<_>>(), |(begin, piece)| {
            let mut texts = TextColumn::with_capacity(order, piece.records());
            for number in begin..begin + piece.records() as u64 {
                texts.push_own(&key(number)).expect("a piece has less than 2^27 records");
            }
            piece.keys = Keys::of(vec![keys::Column::Texts(texts)]);
        });
    }

    /// Wraps numbers as records: numbers of a text that printing reproduces, or elements of binary inputs, which are
    /// never printed.
    pub fn of_numbers(keys: &KeyBuf, map: KeyMap, print: Print, how: &InputSpec) -> Self {
        let mut orders = how.orders();
        orders[0] = KeyOrder { descending: map.descending, ..orders[0] };
        let pieces = Piece::of_numbers(keys, map, print, &orders, how.bits().is_none());
        Self { pieces, orders, ..Self::default() }
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(Piece::records).sum()
    }

    /// Returns the words to sort by, most significant first, and the ties to settle where all words are
    /// equal. With `unique`, the sort keeps only the first record of each key.
    pub fn words(&self, unique: bool) -> Words<'_> {
        let (words, ties) = self.packed();
        let halves = || self.pieces.iter().filter_map(|piece| piece.keys.high()).map(Cow::Borrowed).collect();
        let words = words.unwrap_or_else(|| vec![KeyBuf::Wide(halves())]);
        Words { words, ties: ties.or_else(|| self.ties_of_unique(unique)) }
    }

    fn packed(&self) -> (Option<Vec<KeyBuf<'static>>>, Option<Ties>) {
        let keys: Vec<&Keys> = self.pieces.iter().map(|piece| &piece.keys).collect();
        let is_spelled_once = |piece: &Piece| piece.respelled.as_ref().is_some_and(Vec::is_empty);
        packing::words(&keys, &self.orders, self.pieces.iter().all(is_spelled_once))
    }

    /// Returns the words as [`Self::words`] does, but drops keys that settling the ties does not need.
    pub fn take_words(&mut self, unique: bool) -> Words<'static> {
        let (words, ties) = self.packed();
        // A sort with `unique` looks for invalid fields.
        let may_be_invalid = self.orders[0].place(Class::Invalid) != Nulls::Error && ties.is_some();
        let are_needed = self.counts.invalid > 0 || may_be_invalid;
        let halves = |piece: &mut Piece| {
            let high =
                if are_needed { piece.keys.high().map(<[u64]>::to_vec) } else { piece.keys.take_high() };
            high.map(Cow::Owned)
        };
        let words =
            words.unwrap_or_else(|| vec![KeyBuf::Wide(self.pieces.iter_mut().filter_map(halves).collect())]);
        if !are_needed && ties.is_none() {
            self.pieces.iter_mut().for_each(|piece| piece.keys = Keys::default());
        }
        Words { words, ties: ties.or_else(|| self.ties_of_unique(unique)) }
    }

    /// Settles the order of records that these words sorted.
    pub fn settle(&self, ties: &Ties, order: &mut Vec<u32>, words: &[KeyBuf], unique: bool) {
        let found = ties.settle(order, words, &self.pieces, &self.orders, unique);
        if let Some(((record, kept), how)) = found.zip(self.told.as_deref()) {
            let show = |record| {
                let (piece, record) = Places::of(&self.pieces).find(record);
                let (place, values) = shown(piece, record, how, Some(0));
                let values = values.into_iter().zip(&how.keys);
                let values = values.filter(|(_, key)| key.axis != Some(Axis::Second));
                (place, values.map(|(value, _)| value).collect::<Vec<_>>().join(", "))
            };
            let ((place, value), (_, kept)) = (show(record), show(kept));
            self.respelled.get_or_init(|| Respelled { place, value, kept });
        }
    }

    /// Returns the key of a record as bytes with the order of the keys.
    pub fn row(&self, number: u32) -> Vec<u8> {
        let (piece, record) = Places::of(&self.pieces).find(number);
        piece.keys.key(record)
    }

    /// Returns the ties that keep all records with invalid fields, and notice those with another spelling;
    /// only `unique` needs them.
    fn ties_of_unique(&self, unique: bool) -> Option<Ties> {
        let is_needed = unique && (self.counts.invalid > 0 || self.told.is_some());
        is_needed.then_some(Ties { key: self.orders.len(), bytes: 0 })
    }

    /// Takes the ranges of the records in their text, so that a sort can move the ranges in place of
    /// positions, without a lookup per record. With `ties`, the ranges of numbers with other spellings are
    /// marked for [`Self::settle_places`]. Returns `None` if there are several words, since such a sort
    /// moves positions, if the text exceeds the bits of a range, or if ranges do not suffice for the ties.
    pub fn take_places(&mut self, words: &[KeyBuf], ties: Option<&Ties>) -> Option<KeyBuf<'static>> {
        let Some(Piece { bytes: Bytes::Of { text, .. }, .. }) = self.pieces.first() else { return None };
        let most = if ties.is_some() { RESPELLED } else { u32::MAX.into() };
        if words.len() != 1 || text.bytes.len() as u64 >= most {
            return None;
        }
        // Settling reads each number with another spelling again.
        let respelled = |piece: &Piece| piece.respelled.as_ref().map_or(0, Vec::len);
        let are_few = || self.pieces.iter().map(respelled).sum::<usize>() <= self.len() / 8;
        if ties.is_some_and(|ties| ties.key != 1 || self.number.is_none() || !are_few()) {
            return None;
        }
        self.number = self.number.take().filter(|_| ties.is_some());
        let places = parallel::map_parts(&mut self.pieces, |piece| {
            piece.keys = Keys::default();
            let Bytes::Of { start, ranges, .. } = &mut piece.bytes else { return Vec::new() };
            let base = Range::new(*start as u32, *start as u32).0;
            // Reuses the memory of the ranges, which count from the beginning of their piece.
            let ranges = Arc::unwrap_or_clone(std::mem::take(ranges)).into_iter();
            let mut places: Vec<u64> = ranges.map(|Range(range)| range + base).collect();
            for record in piece.respelled.take().filter(|_| ties.is_some()).unwrap_or_default() {
                places[record as usize] |= RESPELLED;
            }
            places
        });
        Some(places.into())
    }

    /// Settles the order of lines with equal numbers, at these places, and removes the marks.
    pub fn settle_places(&self, places: &mut [u64]) {
        /// The number of records that justifies a parallel task.
        const PART: usize = 1 << 14;
        let (Some(key), Some(first)) = (&self.number, self.pieces.first()) else { return };
        let Bytes::Of { text, .. } = &first.bytes else { return };
        let is_marked = |place: &u64| place & RESPELLED > 0;
        // Without the line end.
        let line = |place: u64| {
            let range = Range(place & !RESPELLED);
            &text.bytes[range.begin()..range.end() - 1]
        };
        let word = |column: &mut fields::Column, place: u64| column.word_of_token(line(place));
        let is_same = |column: &mut fields::Column, one: u64, other: u64| {
            line(one) == line(other) || word(column, one) == word(column, other)
        };
        let (mut parts, mut rest, mut column) = (Vec::new(), places, fields::Column::new(key, 0));
        while !rest.is_empty() {
            let mut end = PART.min(rest.len());
            while end < rest.len() && is_same(&mut column, rest[end - 1], rest[end]) {
                end += 1;
            }
            let (part, others) = rest.split_at_mut(end);
            parts.push(part);
            rest = others;
        }
        parallel::map_parts(parts, |part| {
            let (mut column, mut from) = (fields::Column::new(key, 0), 0);
            while let Some(marked) = part[from..].iter().position(is_marked) {
                let (mut begin, mut end) = (from + marked, from + marked + 1);
                while begin > from && is_same(&mut column, part[begin], part[begin - 1]) {
                    begin -= 1;
                }
                while end < part.len() && is_same(&mut column, part[end - 1], part[end]) {
                    end += 1;
                }
                match self.orders[1].descending {
                    true => part[begin..end].sort_by(|&one, &other| line(other).cmp(line(one))),
                    false => part[begin..end].sort_by(|&one, &other| line(one).cmp(line(other))),
                }
                from = end;
            }
            part.iter_mut().for_each(|place| *place &= !RESPELLED);
        });
    }

    /// Writes the lines before the records, then the records at these places, in this order.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn write_places(
        &self,
        places: &[u64],
        to: &mut impl Write,
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        self.head.write(to)?;
        let Some(first) = self.pieces.first() else { return Ok(()) };
        let Bytes::Of { text, .. } = &first.bytes else { return Ok(()) };
        // A piece of each input, which knows the missing line end of a last record there.
        let mut inputs: Vec<&Piece> = self.pieces.iter().collect();
        inputs.dedup_by_key(|piece| piece.end());
        let expected = text.bytes.len() / places.len().max(1) + 1;
        print::write(places, expected, to, progress, |places, lines| {
            let places = places.iter().map(|&place| (Range(place).begin(), Range(place)));
            touch(&text.bytes, expected, places, |place| {
                let input = inputs.partition_point(|piece| piece.end() < Some(place.begin()));
                inputs[input].push_range(text, [place.begin(), place.end()], lines);
            });
        })
    }

    /// Writes the lines before the records, then these records, in this order.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn write(&self, order: &[u32], to: &mut impl Write, progress: impl FnMut(u64)) -> io::Result<()> {
        self.head.write(to)?;
        let records = Places::of(&self.pieces);
        print::write(order, records.length(), to, progress, |order, lines| {
            records.each(order, |piece, record, _| piece.push(record, lines));
        })
    }

    /// Returns the positions of these records in the input.
    pub fn positions(&self, mut order: Vec<u32>) -> Vec<u32> {
        let records = Places::of(&self.pieces);
        for number in &mut order {
            let (piece, record) = records.find(*number);
            *number = piece.positions.get(record).map_or(*number, |&position| position as u32);
        }
        order
    }

    /// Returns the numbers of the first key as elements of the requested type, or else of the first
    /// type that holds all of them.
    ///
    /// # Errors
    ///
    /// See [`Census::element`].
    pub fn elements(&self, how: &InputSpec) -> Result<(KeyBuf<'static>, KeyMap), Error> {
        fn of<W: KeyWidth>(pieces: &[Piece], map: KeyMap) -> KeyBuf<'static> {
            let of_word = W::map(map);
            let key = |word| W::of_u64(keys::bits(word, map.descending, map.element)).key(of_word);
            let of_piece = |piece: &Piece| piece.keys.words(0).map(key).collect::<Vec<_>>();
            parallel::map_parts(pieces, of_piece).into()
        }
        let element = how.by.element.map_or_else(|| self.census().element(), Ok)?;
        let map = self.orders[0].map(element);
        let keys = match element.key_words() {
            KeyWords::One => of::<u32>(&self.pieces, map),
            KeyWords::Two => of::<u64>(&self.pieces, map),
        };
        Ok((keys, map))
    }

    /// Returns the census of the numbers of the first key.
    pub fn census(&self) -> Census {
        let descending = self.orders[0].descending;
        let of_piece = |piece: &Piece| {
            let mut census = Census::default();
            piece.keys.words(0).for_each(|word| census.push(word, descending));
            census
        };
        let parts = parallel::map_parts(&self.pieces, of_piece);
        parts.into_iter().fold(Census::default(), Census::merge)
    }
}

/// Reads inputs one after another.
pub struct Batches<'a> {
    /// The format and the keys.
    pub how: &'a InputSpec,
    /// The name of the first input.
    pub name: String,
    /// The bytes of the inputs.
    pub chunks: Chunks<'a>,
    /// The sizes of reads.
    pub stretches: Stretches,
    /// The header of the inputs read, and their decisions.
    pub known: Known,
    /// The lines before the records, until the caller takes them.
    pub head: Head,
    /// The counts of all batches read.
    pub counts: Counts,
    wrong: Option<Error>,
    /// The text of the last batch, to be recycled.
    last: Option<Arc<Text>>,
    /// True if files are open only during reads.
    pub shut: bool,
    /// True if records are written, which needs their ranges.
    pub has_ranges: bool,
}

impl<'a> Batches<'a> {
    /// Reads these inputs. The pieces of a merge have no ranges.
    pub fn new(inputs: &'a [Input], how: &'a InputSpec, budget: &'a Budget, stretches: Stretches) -> Self {
        let chunks = Chunks::new(inputs, how, budget);
        let (known, head, counts) = (Known::default(), Head::default(), Counts::default());
        let name = inputs.first().map_or_else(String::new, Input::name);
        let (wrong, last, shut, has_ranges) = (None, None, false, false);
        Self { how, name, chunks, stretches, known, head, counts, wrong, last, shut, has_ranges }
    }

    /// Reads the next records, about `most` bytes, in pieces of at least one record; `None` at the end.
    ///
    /// # Errors
    ///
    /// The error of the next record.
    pub fn next(&mut self, most: usize) -> Result<Option<Vec<Piece>>, Error> {
        if let Some(wrong) = self.wrong.take() {
            self.chunks.end();
            return Err(wrong);
        }
        if let Some(text) = self.last.take().and_then(Arc::into_inner) {
            self.chunks.spare = text.bytes;
        }
        let Some(text) = self.chunks.next_available(most, self.shut)? else { return Ok(None) };
        let text = Arc::new(text);
        let read =
            fields::read_batch(&text, self.how, &mut self.known, self.stretches.piece, self.has_ranges)?;
        self.counts.add_all(&read.counts);
        self.head.append(read.head);
        self.wrong = read.wrong;
        // A merge keeps the text of its records.
        self.last = (!self.has_ranges).then_some(text);
        let compared = |piece: Piece| Piece { keys: piece.keys.by_records(), ..piece };
        let pieces: Vec<Piece> = read.pieces.into_iter().filter(|piece| piece.len() > 0).collect();
        Ok(Some(parallel::map_parts(pieces, compared)))
    }

    /// Returns true if the inputs have ended and no error is pending.
    pub fn is_over(&self) -> bool {
        self.wrong.is_none() && self.chunks.is_over()
    }
}

/// Returns a record for messages: its place, with the column of `key` if there are several keys, and
/// the token of each key.
pub fn shown(piece: &Piece, record: usize, how: &InputSpec, key: Option<usize>) -> (String, Vec<String>) {
    let Bytes::Of { text, start, until, ranges, .. } = &piece.bytes else {
        let mut token = Vec::new();
        piece.push(record, &mut token);
        let token = String::from_utf8_lossy(token.trim_ascii_end()).into_owned();
        return (String::new(), vec![token]);
    };
    let row = ranges.get(record).map_or_else(
        || fields::place_of_token(&text.bytes, *start..*until, record, record + 1 == piece.len()),
        |range| start + range.begin(),
    );
    let layout = Layout::new(text, how);
    let mut place =
        key.map_or_else(String::new, |_| text.line_of(row, how.kind.dialect().fields.are_tokens()));
    if let Some(key) = key.filter(|_| how.keys.len() > 1 && how.has_key()) {
        place.push_str(&format!(", column '{}'", quoted(how.keys[key].label())));
    }
    let shown = |key: usize| {
        let field = |key: usize| layout.token(row, key);
        let Some(axis) = how.keys[key].axis else {
            return shown_field(&how.keys[key], &field(key), piece.keys.is_null(record, key));
        };
        let first = key - axis as usize;
        format!("({}, {})", quoted(field(first)), quoted(field(first + 1)))
    };
    (place, (0..how.keys.len()).map(shown).collect())
}

/// Returns the field of a key for messages.
fn shown_field(key: &ResolvedKey, field: &[u8], is_null: bool) -> String {
    let is_nan = !key.order.leading
        && key.order.reading != Reading::Times
        && matches!(field, [b'+' | b'-', nan @ ..] | nan if nan.eq_ignore_ascii_case(b"nan"));
    match field {
        [] if is_null => "an empty field".to_owned(),
        field if is_null && !is_nan && !key.is_na(field) => format!("{} (invalid)", quoted(field)),
        field => quoted(field),
    }
}
