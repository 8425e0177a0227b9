//! Tokens as integers of 32 bits, or of 64 bits where necessary. Their range determines the type.

use gpusort_order::key::{ElementType, KeyMap, KeyWords, Word};

use super::span::Span;
use crate::key_buf::KeyBuf;
use crate::number::{PerLine, Tokens, integer};
use crate::parallel::map_parts;
use crate::records::{Print, PrintedNumbers};

/// The tokens of a piece of text as integers, and their properties.
pub(super) struct Integers {
    values: Values,
    /// The range of the requested type, or of i64 and u64.
    limits: (i128, i128),
    span: Span,
    pub(super) per_line: PerLine,
}

/// Integers in two's complement.
enum Values {
    /// Modulo 2^32; either u32 or i32 holds all of them.
    Narrow(Vec<u32>),
    /// Modulo 2^64.
    Wide(Vec<u64>),
}

impl Integers {
    /// Creates an empty list with room for the integers of about this many bytes: with seven digits per
    /// integer, most pieces grow at most once.
    pub(super) fn new(asked: Option<ElementType>, per_line: PerLine, bytes: usize) -> Self {
        let values = Values::Narrow(Vec::with_capacity(bytes / 8));
        let limits = asked.map_or((i64::MIN.into(), u64::MAX.into()), ElementType::limits);
        Self { values, limits, span: Span::default(), per_line }
    }

    /// Reads the tokens of whole lines. Returns false for a token other than an integer in canonical form of the
    /// requested type, or of any 64-bit type, and for more tokens than a line may have.
    #[must_use]
    pub(super) fn read(&mut self, bytes: &[u8]) -> bool {
        let mut tokens = Tokens::new(bytes, self.per_line);
        loop {
            // Most tokens are short and fit 32 bits; other tokens take the slow path.
            let Self { values, limits, span, .. } = self;
            let follows = match values {
                Values::Narrow(values) => {
                    read_short(&mut tokens, *limits, span, values, are_narrow, |value| value as u32)
                }
                Values::Wide(values) => {
                    read_short(&mut tokens, *limits, span, values, |_, _| true, i64::cast_unsigned)
                }
            };
            if !follows {
                return tokens.excess.is_none();
            }
            if !self.read_one(&mut tokens) {
                return false;
            }
        }
    }

    /// Reads the current token. Returns false for a token other than an integer within the limits.
    fn read_one(&mut self, tokens: &mut Tokens) -> bool {
        let (least, greatest) = self.limits;
        let value = integer(tokens.take_token()).filter(|value| (least..=greatest).contains(value));
        let Some(value) = value else { return false };
        let signed = self.span.least < 0;
        self.span.push(value);
        let is_narrow = self.span.fits(ElementType::U32) || self.span.fits(ElementType::I32);
        if let Values::Narrow(values) = &mut self.values
            && !is_narrow
        {
            self.values = Values::Wide(widened(std::mem::take(values), signed));
        }
        match &mut self.values {
            Values::Narrow(values) => values.push(value as u32),
            Values::Wide(values) => values.push(value as u64),
        }
        true
    }

    /// Returns the number of integers in these pieces, and the memory of their keys in bytes.
    pub(super) fn size(pieces: &[Self]) -> (u64, u64) {
        let (mut count, mut capacity, mut width) = (0, 0, 4);
        for piece in pieces {
            let (length, room, bytes) = match &piece.values {
                Values::Narrow(values) => (values.len(), values.capacity(), 4),
                Values::Wide(values) => (values.len(), values.capacity(), 8),
            };
            (count, capacity, width) = (count + length as u64, capacity + room as u64, bytes.max(width));
        }
        (count, capacity * width)
    }

    /// Returns the span of all pieces.
    pub(super) fn span(pieces: &[Self]) -> Span {
        pieces.iter().map(|piece| piece.span).fold(Span::default(), Span::merge)
    }
}

/// Reads short tokens while `accepts` admits their range. Returns true if another token follows.
#[inline]
fn read_short<W>(
    tokens: &mut Tokens,
    limits: (i128, i128),
    span: &mut Span,
    values: &mut Vec<W>,
    accepts: impl Fn(i64, i64) -> bool,
    word: impl Fn(i64) -> W,
) -> bool {
    // A local variable keeps the list in registers.
    let mut list = std::mem::take(values);
    let (lowest, highest) = (in_i64(limits.0), in_i64(limits.1));
    // No short integer exceeds i64, but earlier integers may.
    let (mut least, mut greatest) = (in_i64(span.least), in_i64(span.greatest));
    let follows = loop {
        if tokens.find().is_none() {
            break false;
        }
        let Some(short) = tokens.short_integer().filter(|short| short.canonical) else { break true };
        let with = (least.min(short.value), greatest.max(short.value));
        if short.value < lowest || short.value > highest || !accepts(with.0, with.1) {
            break true;
        }
        (least, greatest) = with;
        list.push(word(short.value));
        tokens.pass(short.length);
    };
    *values = list;
    span.push(least.into());
    span.push(greatest.into());
    follows
}

fn in_keys<W: Word>(mut values: Vec<W>, map: KeyMap) -> Vec<W> {
    let map = W::map(map);
    values.iter_mut().for_each(|value| *value = value.key(map));
    values
}

/// Returns the values in 64 bits, sign-extended or zero-extended.
fn widened(values: Vec<u32>, signed: bool) -> Vec<u64> {
    let wide =
        |value: u32| if signed { i64::from(value.cast_signed()).cast_unsigned() } else { value.into() };
    values.into_iter().map(wide).collect()
}

/// Clamps an integer to i64, for integers of at least `i64::MIN`.
#[inline]
fn in_i64(value: i128) -> i64 {
    value.min(i64::MAX.into()) as i64
}

/// Returns true if either u32 or i32 holds all integers in this range, and 0.
#[inline]
fn are_narrow(least: i64, greatest: i64) -> bool {
    let most = if least < 0 { i32::MAX.into() } else { u32::MAX.into() };
    least >= i32::MIN.into() && greatest <= most
}

/// Returns the records of integers, which fit the map's type.
pub(super) fn records_of(pieces: Vec<Integers>, order: KeyMap) -> PrintedNumbers {
    let keys: KeyBuf = if order.element.key_words() == KeyWords::One {
        // The values fit, so the low half is their two's complement in 32 bits.
        let narrow = |piece: Integers| match piece.values {
            Values::Narrow(values) => values,
            Values::Wide(values) => values.into_iter().map(|value| value as u32).collect(),
        };
        map_parts(pieces, |piece| in_keys(narrow(piece), order)).into()
    } else {
        let wide = |piece: Integers| match piece.values {
            Values::Narrow(values) => widened(values, piece.span.least < 0),
            Values::Wide(values) => values,
        };
        map_parts(pieces, |piece| in_keys(wide(piece), order)).into()
    };
    PrintedNumbers { order, keys, print: Print::Shortest }
}
