//! Text into keys: one type for the whole input, and the spelling kept where it matters.
//!
//! Text is cut at line ends into pieces that all cores read in parallel. The first attempt reads every token
//! as an integer, the common and fast case. If the text is in files and every integer is in canonical form,
//! each core reads its part itself ([`integers_from_files`]), and no text is kept. At any other token the
//! first attempt ends, and a second one reads all tokens as floats.

mod files;
mod floats;
pub(super) mod integers;

use std::ops::Range;

use self::integers::{Integers, NotInteger};
use super::infer::{Inference, Refused, Spot};
use super::number::{Tokens, token_at};
use super::records::{Records, Spelling};
use super::source::Text;
use crate::error::Error;
use crate::key::ElementType;
use crate::order::KeyOrder;
use crate::parallel::{self, map_parts};
use crate::words::{Width, Words};

pub use self::files::{FromFiles, integers_from_files};

/// Bytes that one core reads at a time: few enough to balance the cores, many enough for keys in huge pages.
const PIECE: Range<usize> = 1 << 18..8 << 20;

/// Reads `text` as numbers of this type, or of the first of u32, i32, u64, i64 and f64 that holds them all.
///
/// # Errors
///
/// A token that is no number or that the type does not hold; integers and decimals without a common type that
/// preserves their order.
pub fn parse(text: Text, element: Option<ElementType>, direction: KeyOrder) -> Result<Records, Error> {
    if element.is_some_and(ElementType::is_float) {
        return floats::parse(text, element, direction);
    }
    let read = |piece: Range<usize>| {
        let mut integers = Integers::new(element, guess(piece.len()));
        integers.read(&text.bytes[piece.clone()], piece.start).map(|()| integers)
    };
    match map_parts(pieces_of(&text), read).into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(pieces) => {
            let element = element.or_else(|| Integers::span(&pieces).element());
            let order = direction.map(element.map_or_else(|| infer(&text, direction), Ok)?);
            let canonical = pieces.iter().all(|piece| piece.canonical);
            let keys = Integers::keys(pieces, order);
            let spelling = if canonical { None } else { Some(spelling(text)) };
            Ok(Records { order, keys, spelling })
        }
        Err(NotInteger(place)) => match element {
            Some(element) => {
                let spot = spot(&text, place);
                Err(Refused::by_integers(&spot.token, element).into_error(spot))
            }
            None => floats::parse(text, None, direction),
        },
    }
}

/// The inference for the requested type, or for any; a token's place is its offset.
fn inference(asked: Option<ElementType>, direction: KeyOrder) -> Inference<usize> {
    Inference::new(asked, KeyOrder { nan: direction.nan, ..KeyOrder::default() })
}

/// The type of a text, or the error that explains why it has none, with the tokens at fault.
fn infer(text: &Text, direction: KeyOrder) -> Result<ElementType, Error> {
    let mut inference = inference(None, direction);
    for part in &text.parts {
        for (start, token) in Tokens::new(&text.bytes[part.range.clone()]) {
            let place = part.range.start + start;
            inference.read(token, || place).map_err(|refused| refused.into_error(spot(text, place)))?;
        }
    }
    inference.finish().map_err(|conflict| conflict.into_error(|place| spot(text, place)))
}

/// The token at this offset, for a message.
fn spot(text: &Text, place: usize) -> Spot {
    Spot { place: text.place(place), column: None, token: token_at(&text.bytes, place).to_vec() }
}

/// Expected number of integers in this many bytes: with seven digits, most pieces grow at most once.
fn guess(bytes: usize) -> usize {
    bytes / 8
}

/// Size of a piece, for a text of this size.
pub(super) fn piece_size(text: usize) -> usize {
    match text {
        // Querying the number of threads would start them.
        few if few <= PIECE.start => PIECE.start,
        many => (many / parallel::threads() / 4).clamp(PIECE.start, PIECE.end),
    }
}

/// A range of text in pieces of whole lines, each of about this many bytes.
pub(super) fn pieces(bytes: &[u8], range: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let earliest = (start + size).min(range.end);
        let newline = memchr::memchr(b'\n', &bytes[earliest..range.end]);
        let end = newline.map_or(range.end, |newline| earliest + newline + 1);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// The text of all inputs in pieces for all cores.
fn pieces_of(text: &Text) -> Vec<Range<usize>> {
    let size = piece_size(text.bytes.len());
    text.parts.iter().flat_map(|part| pieces(&text.bytes, part.range.clone(), size)).collect()
}

/// The offset of every token.
fn spelling(text: Text) -> Spelling {
    fn starts<S: Width>(text: &Text) -> Words<'static> {
        let in_piece = |piece: Range<usize>| {
            let tokens = Tokens::new(&text.bytes[piece.clone()]);
            tokens.map(|(start, _)| S::of_usize(piece.start + start)).collect::<Vec<S>>()
        };
        map_parts(pieces_of(text), in_piece).into()
    }
    let starts =
        if u32::try_from(text.bytes.len()).is_ok() { starts::<u32>(&text) } else { starts::<u64>(&text) };
    Spelling { text, starts }
}
