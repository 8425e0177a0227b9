//! Text into keys: one type for the whole input, and the spelling kept where it matters.
//!
//! Text is cut at line ends into pieces that all cores read in parallel. The first attempt reads every token
//! as an integer, the common and fast case. If the text is in files and every integer is in canonical form,
//! each core reads its part itself ([`IntegerFiles`]), and no text is kept. At any other token the
//! first attempt ends, and a second one reads all tokens as decimals of one form, such as prices, which need no text
//! either. Where that fails, too, all tokens are read as floats, each with its offset.

mod files;
mod floats;
pub(super) mod integers;

use std::ops::Range;

use self::integers::{Integers, NotInteger};
use super::counts::Counts;
use super::csv;
use super::infer::{Conflict, Inference, Refused, Span, Spot};
use super::number::{PerLine, Tokens, token_at};
use super::records::{Print, Records, Spelling};
use super::source::{Part, Text};
use crate::error::{Error, Hint};
use crate::key::{ElementType, KeyMap};
use crate::order::KeyOrder;
use crate::parallel::{self, map_parts};
use crate::words::{Width, Words};

pub use self::files::{FromFiles, IntegerFiles};

/// Bytes that one core reads at a time: few enough to balance the cores, many enough for keys in huge pages.
const PIECE: Range<usize> = 1 << 18..8 << 20;

/// Reads `text` as numbers of this type, or of the first of u32, i32, u64, i64 and f64 that holds them all.
///
/// # Errors
///
/// A token that is no number or that the type does not hold; integers and decimals without a common type that
/// preserves their order.
pub fn parse(text: Text, element: Option<ElementType>, direction: KeyOrder) -> Result<Records, Error> {
    let (mut text, per_line) = (text, PerLine::Any);
    let (records, inference) = parse_part(&mut text, element, direction, per_line)?;
    inference.finish().map_err(conflicting)?;
    Ok(records)
}

/// What is known of the type of some tokens: places are the bytes before a token and the token.
pub(crate) type Known = Inference<(u64, Spot)>;

pub(super) fn conflicting(conflict: Conflict<(u64, Spot)>) -> Error {
    conflict.into_error(|(_, spot)| spot)
}

/// Reads a text; also returns what is known of its type, but of integers that have one no more than that. The text is taken
/// where it is needed, and left where there is an error.
///
/// # Errors
///
/// As for [`parse`], but for integers without a common type; a line with more numbers than it may have.
pub(crate) fn parse_part(
    text: &mut Text,
    element: Option<ElementType>,
    direction: KeyOrder,
    per_line: PerLine,
) -> Result<(Records, Known), Error> {
    if per_line == PerLine::Whole && !text.mark().is_empty() {
        // It stays first, whichever line does.
        return Err(several(text.place(0)));
    }
    if element.is_some_and(ElementType::is_float) {
        return floats::parse(text, element, direction, per_line);
    }
    match integers(text, element, per_line) {
        Ok(pieces) => {
            let Some(held) = element.or_else(|| Integers::span(&pieces).element()) else {
                return floats::parse(text, None, direction, per_line);
            };
            let (records, canonical) = records_of(pieces, direction.map(held));
            let spelling = if canonical { Spelling::Printed(Print::Shortest) } else { as_read(text) };
            Ok((Records { spelling, ..records }, inference(element, direction)))
        }
        Err(NotInteger(place)) => match element {
            Some(element) => {
                Err(refused(text, place, per_line, |token| Refused::by_integers(token, element)))
            }
            None => floats::parse(text, None, direction, per_line),
        },
    }
}

/// The tokens of a text as integers.
fn integers(
    text: &Text,
    element: Option<ElementType>,
    per_line: PerLine,
) -> Result<Vec<Integers>, NotInteger> {
    let read = |(piece, begun): (Range<usize>, bool)| {
        let mut integers = Integers::new(element, per_line, guess(piece.len()));
        integers.read(&text.bytes[piece.clone()], piece.start, begun).map(|()| integers)
    };
    map_parts(pieces_of(text), read).into_iter().collect()
}

/// The records of integers, as they are printed, and whether they are as they were read then.
fn records_of(pieces: Vec<Integers>, order: KeyMap) -> (Records, bool) {
    let canonical = pieces.iter().all(|piece| piece.canonical);
    let counts = Counts { comments: pieces.iter().map(|piece| piece.comments).sum(), ..Counts::default() };
    let keys = Integers::keys(pieces, order);
    (Records { order, keys, spelling: Spelling::Printed(Print::Shortest), counts }, canonical)
}

/// Reads a part of a text whose numbers are printed as they were read, and adds to what is known; `None` for other text. The
/// records have a type of their own.
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
    let read = if element.is_some_and(ElementType::is_float) {
        None
    } else {
        integers(text, element, per_line).ok()
    };
    let (records, after) = if let Some(pieces) = read {
        let span = Integers::span(&pieces);
        let held = element.or_else(|| span.element())?;
        let (records, canonical) = records_of(pieces, direction.map(held));
        if !canonical {
            return None;
        }
        (records, known_of(text, span, before, passed))
    } else {
        let order = direction.map(element.unwrap_or(ElementType::F64));
        let records = floats::parse_fixed(text, per_line, order)?;
        let mut after = before;
        after.push_decimal();
        (records, after)
    };
    known.columns[0] = after;
    known.passed += text.bytes.len() as u64;
    Some(records)
}

/// What is known of the type after a text of integers of this range, of which some may decide more than the range.
fn known_of(text: &Text, span: Span, mut known: Known, passed: u64) -> Known {
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
    Inference::new(asked, KeyOrder { nan: direction.nan, ..KeyOrder::default() })
}

/// The token at this offset, for a message.
fn spot(text: &Text, place: usize) -> Spot {
    Spot { place: text.place(place), column: None, token: token_at(&text.bytes, place).to_vec() }
}

/// The error that the token at this offset is refused, or that its line has several.
fn refused(text: &Text, place: usize, per_line: PerLine, why: impl FnOnce(&[u8]) -> Refused) -> Error {
    let line = text.line_around(place);
    if per_line != PerLine::Any && Tokens::new(line).nth(1).is_some() {
        return several(text.place(place));
    }
    let spot = spot(text, place);
    why(&spot.token).into_error(spot)
}

/// The error that a line has several tokens, and may have one.
pub(super) fn several(place: String) -> Error {
    Error::input(place, "this line has several fields, and the first one is one number")
        .hinting(Hint::Several)
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

/// The text of all inputs in pieces for all cores, and whether a piece begins in a line after a token.
fn pieces_of(text: &Text) -> Vec<(Range<usize>, bool)> {
    let size = piece_size(text.bytes.len());
    let of_part = |part: &Part| {
        let (first, begun) = (part.range.start, part.before.is_some_and(|before| before.begun));
        let pieces = pieces(&text.bytes, part.range.clone(), size).into_iter();
        pieces.map(move |piece| (piece.clone(), begun && piece.start == first))
    };
    text.parts.iter().flat_map(of_part).collect()
}

/// The text with the offset of every token.
fn as_read(text: &mut Text) -> Spelling {
    fn starts<S: Width>(text: &Text) -> Words<'static> {
        let in_piece = |(piece, _): (Range<usize>, bool)| {
            let tokens = Tokens::new(&text.bytes[piece.clone()]);
            tokens.map(|(start, _)| S::of_usize(piece.start + start)).collect::<Vec<S>>()
        };
        map_parts(pieces_of(text), in_piece).into()
    }
    let starts =
        if u32::try_from(text.bytes.len()).is_ok() { starts::<u32>(text) } else { starts::<u64>(text) };
    Spelling::AsRead { text: std::mem::take(text), starts }
}
