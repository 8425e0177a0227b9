//! Keys that are text: where the text of each record is, and rows of bytes that compare as keys do.
//!
//! ```text
//! column   places in what was read ┊ own bytes, where a value is not there as it counts: "a""b"
//! row      number or null: its word ┊ text: a byte, its bytes, end ┊ …      of all keys of a record
//! ```
//!
//! In memory records are ordered by codes of their first bytes ([`codes`]), and [`ties`] settles
//! what has the same. Merges and checks compare rows.

pub(crate) mod codes;
pub(crate) mod ties;

use std::borrow::Cow;
use std::sync::Arc;

use gpusort_values::hex::{is_hex, push_hex};
use gpusort_values::version::push_version;

use super::keys;
use super::piece::Range;
use super::source::Text;
use crate::error::Error;
use crate::order::{Class, KeyOrder, TextForm, TextOrder};

/// Texts in a form whose bytes compare as the texts do.
pub(crate) trait ComparedText {
    /// The bytes of a text that are compared.
    fn compared(self, text: &[u8]) -> Cow<'_, [u8]>;
    /// Appends the bytes of a text that are compared.
    fn push(self, text: &[u8], to: &mut Vec<u8>);
    /// Returns true if a text has this form.
    fn holds(self, text: &[u8]) -> bool;
    /// The name of the type.
    fn name(self) -> &'static str;
}

impl ComparedText for TextForm {
    fn compared(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self == Self::default() {
            return Cow::Borrowed(text);
        }
        let mut compared = Vec::with_capacity(text.len());
        self.push(text, &mut compared);
        Cow::Owned(compared)
    }

    fn push(self, text: &[u8], to: &mut Vec<u8>) {
        let folded;
        let text = if self.nocase {
            folded = text.to_ascii_uppercase();
            &folded
        } else {
            text
        };
        match self.order {
            TextOrder::Bytes => to.extend_from_slice(text),
            TextOrder::Version => push_version(text, to),
            // What is none was found when it was read.
            TextOrder::Hex => push_hex(text.trim_ascii(), to),
        }
    }

    fn holds(self, text: &[u8]) -> bool {
        self.order != TextOrder::Hex || is_hex(text.trim_ascii())
    }

    fn name(self) -> &'static str {
        match self.order {
            TextOrder::Bytes => "text",
            TextOrder::Version => "version",
            TextOrder::Hex => "hex",
        }
    }
}

/// The texts of one key of some records.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextColumn {
    places: Vec<Range>,
    /// Bytes of those that are not there as they count.
    own: Vec<u8>,
    /// What was read, and where places count from.
    read: Option<(Arc<Text>, usize)>,
    order: KeyOrder,
}

/// The bit of the beginning of a text among the own ones.
const OWN: usize = 1 << 31;

/// The beginning of a null; its end is the class.
const NULL: u32 = u32::MAX;

/// There is no room for the text of a key.
#[derive(Debug)]
pub(crate) struct TooLong;

/// The error of that.
pub(crate) fn too_long() -> Error {
    Error::limit("bytes of the keys of one part", 1 << 31, 1 << 31)
}

impl TextColumn {
    pub(super) fn new(order: KeyOrder) -> Self {
        Self { order, ..Self::default() }
    }

    pub(crate) fn with_capacity(order: KeyOrder, records: usize) -> Self {
        Self { places: Vec::with_capacity(records), ..Self::new(order) }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn truncate(&mut self, records: usize) {
        self.places.truncate(records);
    }

    pub(super) fn order(&self) -> KeyOrder {
        self.order
    }

    /// Adds a null.
    pub(crate) fn push_null(&mut self, class: Class) {
        self.places.push(Range::new(NULL, class as u32));
    }

    /// Adds the text between these places of what was read.
    #[inline]
    pub(super) fn push(&mut self, read: &[u8], begin: usize, end: usize) -> Result<(), TooLong> {
        if end >= OWN {
            return self.push_own(&read[begin..end]);
        }
        self.places.push(Range::new(begin as u32, end as u32));
        Ok(())
    }

    /// Adds a text that is not in what was read.
    pub(crate) fn push_own(&mut self, text: &[u8]) -> Result<(), TooLong> {
        let begin = self.own.len();
        self.own.extend_from_slice(text);
        self.end_own(begin)
    }

    /// Adds the own text that begins here.
    fn end_own(&mut self, begin: usize) -> Result<(), TooLong> {
        if self.own.len() >= OWN {
            return Err(TooLong);
        }
        self.places.push(Range::new((begin | OWN) as u32, self.own.len() as u32));
        Ok(())
    }

    /// Says what was read, and where places count from.
    pub(super) fn of_text(self, text: &Arc<Text>, start: usize) -> Self {
        Self { read: Some((text.clone(), start)), ..self }
    }

    /// Where a text is in what was read; `None` if it is not there.
    #[inline]
    pub(super) fn place(&self, record: usize) -> Option<[usize; 2]> {
        let place = self.places[record];
        (place.begin() & OWN == 0).then(|| [place.begin(), place.end()])
    }

    /// The class of the null of a record, if it has one.
    #[inline]
    pub(super) fn null(&self, record: usize) -> Option<Class> {
        let place = self.places[record];
        if place.begin() as u32 == NULL { Class::of(place.end()) } else { None }
    }

    /// The text of a record, or the class of its null.
    #[inline]
    pub(super) fn get(&self, record: usize) -> Result<&[u8], Class> {
        self.get_in(record, self.read.as_ref().map_or(&[], |(text, start)| &text.bytes[*start..]))
    }

    /// The same where this was read.
    #[inline]
    fn get_in<'a>(&'a self, record: usize, read: &'a [u8]) -> Result<&'a [u8], Class> {
        let place = self.places[record];
        if place.begin() & OWN == 0 {
            return Ok(&read[place.begin()..place.end()]);
        }
        if let Some(class) = self.null(record) {
            return Err(class);
        }
        Ok(&self.own[place.begin() & !OWN..place.end()])
    }

    /// The texts as they are compared, if that is not as they are.
    pub(super) fn compared(&self) -> Result<Option<Self>, TooLong> {
        let Some(form) = self.order.reading.text().filter(|form| *form != TextForm::default()) else {
            return Ok(None);
        };
        let mut compared = Self::new(self.order);
        compared.places.reserve(self.len());
        // Grown by and by, they would be there twice at times.
        let bytes = (0..self.len()).map(|record| self.get(record).map_or(0, <[u8]>::len)).sum::<usize>();
        compared.own.reserve(if form.order == TextOrder::Version { bytes + bytes / 2 } else { bytes });
        for record in 0..self.len() {
            match self.get(record) {
                Ok(text) => {
                    let begin = compared.own.len();
                    form.push(text, &mut compared.own);
                    compared.end_own(begin)?;
                }
                Err(class) => compared.push_null(class),
            }
        }
        compared.own.shrink_to_fit();
        Ok(Some(compared))
    }

    /// Appends the part of a row that is the key of a record, whose text is where it says.
    pub(super) fn push_key(&self, record: usize, to: &mut Vec<u8>) {
        let read = self.read.as_ref().map_or(&[][..], |(text, start)| &text.bytes[*start..]);
        self.push_row(record, read, to);
    }

    /// Appends the part of a row that is the key of a record.
    fn push_row(&self, record: usize, read: &[u8], to: &mut Vec<u8>) {
        let text = match self.get_in(record, read) {
            // As among numbers, since it may not be known that there are texts.
            Err(class) => {
                let word = keys::whole(keys::of_null(class, self.order));
                return to.extend_from_slice(&word.to_be_bytes());
            }
            Ok(text) => text,
        };
        to.push(TEXT);
        let begin = to.len();
        let text = self.order.reading.text().unwrap_or_default().compared(text);
        let mut rest = &text[..];
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

/// The first byte of a text in a row, between those of nulls.
const TEXT: u8 = 0x80;

/// Rows: the keys of some records as bytes, which compare as the keys do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Rows {
    /// The rows of the keys in these columns, of which texts that are not their own are in `read`;
    /// without that, where they say.
    pub(super) fn of(columns: &[keys::Column], read: Option<&[u8]>) -> Self {
        let records = columns.first().map_or(0, keys::Column::len);
        let mut rows = Self { bytes: Vec::new(), ends: Vec::with_capacity(records) };
        for record in 0..records {
            push_row(columns, record, read, &mut rows.bytes);
            rows.ends.push(rows.bytes.len());
        }
        rows.bytes.shrink_to_fit();
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn truncate(&mut self, records: usize) {
        self.ends.truncate(records);
    }

    #[inline]
    pub(super) fn row(&self, record: usize) -> &[u8] {
        let begin = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.bytes[begin..self.ends[record]]
    }
}

/// Appends the row of a record.
pub(super) fn push_row(columns: &[keys::Column], record: usize, read: Option<&[u8]>, to: &mut Vec<u8>) {
    for column in columns {
        match column {
            keys::Column::Texts(texts) => match read {
                Some(read) => texts.push_row(record, read, to),
                None => texts.push_key(record, to),
            },
            numbers => keys::push_word_row(numbers, record, to),
        }
    }
}

/// How many bytes these begin with alike.
fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(a, b)| a == b).count() * 8;
    words + a[words..].iter().zip(&b[words..]).take_while(|(a, b)| a == b).count()
}
