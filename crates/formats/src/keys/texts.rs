//! Text keys: the place of each record's text, and rows of bytes that compare as keys do.
//!
//! ```text
//! column   places in the text read ┊ own bytes of texts that compare as other bytes: "a""b", versions
//! row      number or null: its word ┊ text: a byte, its bytes, end ┊ …      of all keys of a record
//! ```
//!
//! In memory, [codes](super::super::packing::codes) of their first bytes order the records. Merges and checks
//! compare rows.

use std::sync::Arc;

use gpusort_values::text_kind::{TEXT_KINDS, TextKind};

use super::words::of_null;
use crate::error::Error;
use crate::order::{Class, KeyOrder, TextOrder};
use crate::records::range::Range;
use crate::text::Text;

/// Returns the kind of texts that compare by this value.
pub fn kind_of(order: TextOrder) -> &'static TextKind {
    &TEXT_KINDS[order as usize]
}

/// The texts of one key of some records, as bytes that compare as the texts do.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    places: Vec<Range>,
    /// The places in the text read of texts with bytes in `own`; may end early.
    sources: Vec<Range>,
    /// For each record the first one with the same text, as far as known; may end early.
    pub(super) firsts: Vec<u32>,
    /// The ranges of lines with their line ends, if the texts are these lines.
    lines: Option<Arc<Vec<Range>>>,
    /// The bytes of texts that compare as other bytes than those of the text read.
    own: Vec<u8>,
    /// The text read, and the offset that places count from.
    read: Option<(Arc<Text>, usize)>,
    /// The order of the texts.
    pub order: KeyOrder,
}

/// The bit that marks the begin of a text in `own`.
const OWN: usize = 1 << 31;

/// The begin of a null; its end is the class.
const NULL: u32 = u32::MAX;

/// The error for texts that exceed the room of a column.
#[derive(Debug)]
pub struct TooLong;

/// Returns the error for a user.
pub fn too_long() -> Error {
    Error::limit("bytes of the keys of one part", 1 << 31, 1 << 31)
}

impl TextColumn {
    /// Creates an empty column for keys in this order.
    pub fn new(order: KeyOrder) -> Self {
        Self { order, ..Self::default() }
    }

    /// Creates an empty column, with room for this number of texts.
    pub fn with_capacity(order: KeyOrder, records: usize) -> Self {
        Self { places: Vec::with_capacity(records), ..Self::new(order) }
    }

    /// Creates a column of these lines of a text, which end in LF. The ranges count from `start`.
    pub(crate) fn of_lines(order: KeyOrder, lines: &Arc<Vec<Range>>, text: &Arc<Text>, start: usize) -> Self {
        let texts = Self { read: Some((text.clone(), start)), ..Self::new(order) };
        if order.reading.is_text() && order.compares_bytes() {
            return Self { lines: Some(lines.clone()), ..texts };
        }
        let read = &text.bytes[start..];
        lines.iter().fold(texts, |mut texts, line| {
            let line = line.without_last();
            texts.push(read, line.begin(), line.end()).expect("lines of numbers are short");
            texts
        })
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.lines.as_ref().map_or(self.places.len(), |lines| lines.len())
    }

    /// Keeps the texts of the first `records` records.
    pub fn truncate(&mut self, records: usize) {
        if records < self.len() && self.lines.is_some() {
            self.places = (0..records).map(|record| self.range(record)).collect();
            self.lines = None;
        }
        self.places.truncate(records);
        self.sources.truncate(records);
        self.firsts.truncate(records);
    }

    #[inline]
    fn range(&self, record: usize) -> Range {
        self.lines.as_ref().map_or_else(|| self.places[record], |lines| lines[record].without_last())
    }

    /// Adds a null.
    pub fn push_null(&mut self, class: Class) {
        self.places.push(Range::new(NULL, class as u32));
    }

    /// Adds the text of an earlier record, which is the first one with this text.
    pub fn push_again(&mut self, first: u32) {
        self.firsts.extend(self.firsts.len() as u32..self.places.len() as u32);
        self.firsts.push(first);
        self.places.push(self.places[first as usize]);
    }

    /// Adds the text between these offsets of the text read.
    ///
    /// # Errors
    ///
    /// The texts of the column exceed 2 GiB.
    #[inline]
    pub fn push(&mut self, read: &[u8], begin: usize, end: usize) -> Result<(), TooLong> {
        if end >= OWN {
            return self.push_own(&read[begin..end]);
        }
        let place = Range::new(begin as u32, end as u32);
        if self.order.compares_bytes() {
            self.places.push(place);
            return Ok(());
        }
        // Texts without a source before this one.
        self.sources.resize(self.places.len(), Range::new(OWN as u32, 0));
        self.sources.push(place);
        self.push_own(&read[begin..end])
    }

    /// Adds a text with bytes of its own: the text read lacks it, or it compares as other bytes.
    ///
    /// # Errors
    ///
    /// The texts exceed the room of a column.
    pub fn push_own(&mut self, text: &[u8]) -> Result<(), TooLong> {
        let begin = self.own.len();
        let push = kind_of(self.order.text_order()).push;
        let text = if self.order.nocase { &text.to_ascii_uppercase() } else { text };
        push(text, &mut self.own);
        self.end_own(begin)
    }

    /// Adds a text as bytes that compare as the text does.
    ///
    /// # Errors
    ///
    /// The texts of the column exceed 2 GiB.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let begin = self.own.len();
        self.own.extend_from_slice(bytes);
        self.end_own(begin)
    }

    /// Adds the text in `own` from `begin` on.
    fn end_own(&mut self, begin: usize) -> Result<(), TooLong> {
        if self.own.len() >= OWN {
            return Err(TooLong);
        }
        self.places.push(Range::new((begin | OWN) as u32, self.own.len() as u32));
        Ok(())
    }

    /// Sets the text read, and the offset that places count from. Frees the memory for further texts.
    pub fn of_text(mut self, text: &Arc<Text>, start: usize) -> Self {
        self.own.shrink_to_fit();
        self.sources.shrink_to_fit();
        Self { read: Some((text.clone(), start)), ..self }
    }

    /// Returns the place of a text in the text read; `None` for nulls, and for texts from elsewhere.
    #[inline]
    pub fn place(&self, record: usize) -> Option<[usize; 2]> {
        let place = self.sources.get(record).copied().unwrap_or_else(|| self.range(record));
        (place.begin() & OWN == 0).then(|| [place.begin(), place.end()])
    }

    /// Returns the class of a record's null, or `None` for a text.
    #[inline]
    pub(crate) fn null(&self, record: usize) -> Option<Class> {
        let place = self.range(record);
        if place.begin() as u32 == NULL { Class::of(place.end()) } else { None }
    }

    /// Returns the bytes of a record's text, or the class of its null.
    ///
    /// # Errors
    ///
    /// The class of a null.
    #[inline]
    pub fn get(&self, record: usize) -> Result<&[u8], Class> {
        let place = self.range(record);
        if place.begin() & OWN == 0 {
            let read = self.read.as_ref().map_or(&[][..], |(text, start)| &text.bytes[*start..]);
            return Ok(&read[place.begin()..place.end()]);
        }
        if let Some(class) = self.null(record) {
            return Err(class);
        }
        Ok(&self.own[place.begin() & !OWN..place.end()])
    }

    /// Appends the key of a record to a row.
    pub(crate) fn push_row(&self, record: usize, to: &mut Vec<u8>) {
        let mut rest = match self.get(record) {
            Ok(text) => text,
            // Nulls are encoded like nulls of number keys, since a reader may not know that the key is text.
            Err(class) => return to.extend_from_slice(&of_null(class, self.order).to_be_bytes()),
        };
        to.push(TEXT);
        let begin = to.len();
        while let Some(zero) = memchr::memchr(0, rest) {
            to.extend_from_slice(&rest[..=zero]);
            to.push(1);
            rest = &rest[zero + 1..];
        }
        to.extend_from_slice(rest);
        to.extend_from_slice(&[0, 0]);
        if self.order.descending {
            to[begin..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

/// The first byte of a text in a row, between the first bytes of nulls.
const TEXT: u8 = 0x80;

/// Returns the length of the common prefix.
pub fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(a, b)| a == b).count() * 8;
    words + a[words..].iter().zip(&b[words..]).take_while(|(a, b)| a == b).count()
}
