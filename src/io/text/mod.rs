//! Reads text of which only the numbers are kept, since printing them gives the same tokens: the
//! common and fast case.
//!
//! Text is cut at line ends into pieces that all cores read in parallel. The first attempt reads
//! every token as an integer in canonical form; if the text is in files, each core reads its piece
//! itself ([`IntegerFiles`]), and no text is in memory. The second one reads all tokens as decimals
//! of one form, such as prices. Where both fail, tokens are records of a [batch](super::batch).

mod decimals;
mod files;
pub(super) mod integers;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use gpusort_order::key::{ElementType, KeyMap};

use self::integers::{Integers, NotInteger};
use super::csv::{self, Fields};
use super::infer::{Inference, Span};
use super::number::{PerLine, Tokens, token_at};
use super::records::{Print, Records};
use super::source::{Spot, Text, TextPart, piece_size};
use crate::order::KeyOrder;
use crate::parallel::map_parts;

pub use self::files::{FromFiles, IntegerFiles};

/// What is known of the type of some tokens: places are the bytes before a token and the token.
pub(crate) type TokenInference = Inference<(u64, Spot)>;

/// The tokens of a text as integers, if all are in canonical form.
fn integers(
    text: &Text,
    element: Option<ElementType>,
    per_line: PerLine,
) -> Result<Vec<Integers>, NotInteger> {
    let is_other = AtomicBool::new(false);
    let read = |(piece, begun): (Range<usize>, bool)| {
        if is_other.load(Ordering::Relaxed) {
            return Err(NotInteger);
        }
        let mut integers = Integers::new(element, per_line, guess(piece.len()));
        let read = integers.read(&text.bytes[piece], begun).map(|()| integers);
        is_other.fetch_or(read.is_err(), Ordering::Relaxed);
        read
    };
    map_parts(pieces_of(text), read).into_iter().collect()
}

/// The records of integers, as they are printed.
fn records_of(pieces: Vec<Integers>, order: KeyMap) -> Records {
    let comments = pieces.iter().map(|piece| piece.comments).sum();
    Records { order, keys: Integers::keys(pieces, order), print: Print::Shortest, comments }
}

/// Reads a part of a text whose numbers are printed as they were read, and adds to what is known;
/// `None` for other text. The records have a type of their own.
pub(crate) fn parse_printed(
    text: &Text,
    element: Option<ElementType>,
    direction: KeyOrder,
    per_line: PerLine,
    known: &mut csv::Known,
) -> Option<Records> {
    if per_line == PerLine::Whole && !text.mark().is_empty() {
        return None;
    }
    let (passed, before) = (known.passed, known.columns.first()?.clone());
    let of_floats = element.is_some_and(ElementType::is_float);
    let read = if of_floats { None } else { integers(text, element, per_line).ok() };
    let (records, after) = if let Some(pieces) = read {
        let span = Integers::span(&pieces);
        let held = element.or_else(|| span.element())?;
        (records_of(pieces, direction.map(held)), known_of(text, span, before, passed))
    } else {
        let order = direction.map(element.unwrap_or(ElementType::F64));
        let records = decimals::read(text, per_line, order)?;
        let mut after = before;
        after.push_decimal();
        (records, after)
    };
    known.columns[0] = after;
    known.passed += text.bytes.len() as u64;
    Some(records)
}

/// What is known of the type after a text of integers of this range, of which some may decide more
/// than the range.
fn known_of(text: &Text, span: Span, mut known: TokenInference, passed: u64) -> TokenInference {
    for part in &text.parts {
        for (start, token) in Tokens::new(&text.bytes[part.range.clone()]) {
            if !known.lacks(span) {
                break;
            }
            let place = part.range.start + start;
            // Integers are never refused without a requested type.
            let _ = known.read(token, || (passed + place as u64, spot(text, place)));
        }
    }
    known.push_span(span);
    known
}

/// The inference for the requested type, or for any, before any token.
pub(crate) fn inference<P>(asked: Option<ElementType>, direction: KeyOrder) -> Inference<P> {
    Inference::new(asked, direction)
}

/// The token at this offset, for a message.
fn spot(text: &Text, place: usize) -> Spot {
    Spot { place: text.place(place), column: None, token: token_at(&text.bytes, place).to_vec() }
}

/// Expected number of integers in this many bytes: with seven digits, most pieces grow at most
/// once.
fn guess(bytes: usize) -> usize {
    bytes / 8
}

/// The text of all inputs in pieces for all cores, and whether a piece begins in a line after a
/// token.
fn pieces_of(text: &Text) -> Vec<(Range<usize>, bool)> {
    let size = piece_size(text.bytes.len());
    let of_part = |part: &TextPart| {
        let (first, begun) = (part.range.start, part.before.is_some_and(|before| before.begun));
        let pieces = csv::pieces(&text.bytes, part.range.clone(), Fields::Tokens, size).into_iter();
        pieces.map(move |piece| (piece.clone(), begun && piece.start == first))
    };
    text.parts.iter().flat_map(of_part).collect()
}
