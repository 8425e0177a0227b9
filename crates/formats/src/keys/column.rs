//! One key of some records: words, or texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::texts::TextColumn;
use super::words::{EXACT, of_null, whole};
use crate::order::{Class, KeyOrder, Nulls};
use crate::text::Text;

/// The words of one key of some records, or its texts.
#[derive(Clone, Debug)]
pub enum Column {
    /// The higher halves of words with the lower half [`EXACT`].
    High(Vec<u64>),
    /// Words whose lower halves differ, with tails for some of the numbers.
    Whole(Vec<u128>, Tails),
    /// Texts.
    Texts(TextColumn),
}

/// The tail of each record whose number needs a tail.
pub type Tails = BTreeMap<u32, Vec<u8>>;

impl Column {
    /// Creates an empty column, with room for this number of floats.
    pub fn with_capacity(records: usize) -> Self {
        Self::High(Vec::with_capacity(records))
    }

    /// Creates a column of these words, without tails.
    pub fn whole(words: Vec<u128>) -> Self {
        Self::Whole(words, Tails::default())
    }

    /// Creates an empty column for keys in this order.
    pub fn of(order: KeyOrder, records: usize) -> Self {
        if order.reading.is_text() {
            Self::Texts(TextColumn::with_capacity(order, records))
        } else {
            Self::with_capacity(records)
        }
    }

    /// Sets the text read of a column of texts, and the offset that places count from.
    pub fn of_text(self, text: &Arc<Text>, start: usize) -> Self {
        if let Self::Texts(texts) = self { Self::Texts(texts.of_text(text, start)) } else { self }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::High(words) => words.len(),
            Self::Whole(words, _) => words.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Returns true if the key of a record is a null of this class, and its order gives the class a place.
    #[inline]
    pub(super) fn is_null_of(&self, class: Class, record: usize, order: KeyOrder) -> bool {
        order.place(class) != Nulls::Error
            && match self {
                Self::Texts(texts) => texts.null(record) == Some(class),
                numbers => numbers.at(record) == of_null(class, order),
            }
    }

    /// Returns the texts, or `None` for numbers.
    pub fn texts(&self) -> Option<&TextColumn> {
        if let Self::Texts(texts) = self { Some(texts) } else { None }
    }

    /// Returns true if comparing takes more than words.
    pub(crate) fn needs_rows(&self) -> bool {
        match self {
            Self::High(_) => false,
            Self::Whole(_, tails) => !tails.is_empty(),
            Self::Texts(_) => true,
        }
    }

    /// Returns the tail of the number of a record; empty for most records.
    #[inline]
    pub fn tail(&self, record: usize) -> &[u8] {
        let Self::Whole(_, tails) = self else { return &[] };
        tails.get(&(record as u32)).map_or(&[], Vec::as_slice)
    }

    /// Adds the word of a number, a time or a null.
    ///
    /// # Panics
    ///
    /// Panics for a column of texts.
    #[inline]
    pub fn push(&mut self, word: u128) {
        match self {
            Self::High(high) if word as u64 == EXACT => high.push((word >> 64) as u64),
            Self::Whole(words, _) => words.push(word),
            _ => self.widened().0.push(word),
        }
    }

    /// Adds a number with a tail.
    ///
    /// # Panics
    ///
    /// Panics for a column of texts.
    #[cold]
    pub fn push_long(&mut self, word: u128, tail: &[u8]) {
        let (words, tails) = self.widened();
        tails.insert(words.len() as u32, tail.to_vec());
        words.push(word);
    }

    /// Returns whole words, in place of higher halves, and the tails.
    #[cold]
    fn widened(&mut self) -> (&mut Vec<u128>, &mut Tails) {
        if let Self::High(high) = self {
            let mut words = Vec::with_capacity(high.capacity());
            words.extend(high.iter().map(|&high| whole(high)));
            *self = Self::whole(words);
        }
        let Self::Whole(words, tails) = self else { panic!("texts have no words") };
        (words, tails)
    }

    /// Keeps the keys of the first `records` records.
    pub fn truncate(&mut self, records: usize) {
        match self {
            Self::High(words) => words.truncate(records),
            Self::Whole(words, tails) => {
                words.truncate(records);
                tails.retain(|&record, _| (record as usize) < records);
            }
            Self::Texts(texts) => texts.truncate(records),
        }
    }

    /// Returns the word of a record.
    ///
    /// # Panics
    ///
    /// Panics for a column of texts.
    #[inline]
    pub fn at(&self, place: usize) -> u128 {
        match self {
            Self::High(words) => whole(words[place]),
            Self::Whole(words, _) => words[place],
            Self::Texts(_) => panic!("texts have no words"),
        }
    }
}
