//! Text into keys: one type for the whole input, and the spelling kept where it matters.
//!
//! Text is cut at line ends into pieces that all cores read at once. The first reading takes every
//! token for an integer, which is the common case and the fast one. Where the text is in files and every integer
//! is spelled as it would be printed, each core reads its part itself ([`integers_from_files`]), and no text is kept.
//! Any token that is something else ends it, and the second reading takes all tokens for floats.

mod files;
mod floats;
pub(super) mod integers;

use std::ops::Range;

use self::integers::Integers;
use super::number::Tokens;
use super::records::{Records, Spelling};
use super::source::Text;
use crate::error::Error;
use crate::key::{ElementType, Word};
use crate::order::KeyOrder;
use crate::parallel::{self, map_parts};
use crate::words::{Width, Words};

pub use self::files::{FromFiles, integers_from_files};

/// Bytes that one core reads at a time: few enough for all cores to end together, many enough for what becomes
/// of them to be in large pages.
const PIECE: Range<usize> = 1 << 18..8 << 20;

/// Reads `text` as numbers of this type, or of the first of u32, i32, u64, i64 and f64 that holds them
/// all.
///
/// # Errors
///
/// A token that is no number or that the type does not hold; integers and decimals that no one type
/// holds without changing their order.
pub fn parse(text: Text, element: Option<ElementType>, direction: KeyOrder) -> Result<Records, Error> {
    if element.is_some_and(ElementType::is_float) {
        return floats::parse(text, element, direction);
    }
    let pieces: Result<Vec<Integers>, _> = each_piece(&text, |piece| {
        let mut integers = Integers::new(element, guess(piece.len()));
        integers.read(&text.bytes[piece.clone()], piece.start).map(|()| integers)
    })
    .into_iter()
    .collect();
    match pieces {
        Ok(pieces) => {
            let summary = Integers::summary(&pieces);
            let element = summary.element().ok_or_else(|| summary.no_element(&text))?;
            let order = direction.map(element);
            let keys = Integers::keys(pieces, order);
            let spelling = if summary.canonical { None } else { Some(spelling(text)) };
            Ok(Records { order, keys, spelling })
        }
        Err(not) => match not.into_error(&text) {
            Some(error) => Err(error),
            None => floats::parse(text, None, direction),
        },
    }
}

/// How many integers to expect in so many bytes: right for seven digits, so that most pieces grow once or never.
fn guess(bytes: usize) -> usize {
    bytes / 8
}

/// Bytes of a piece of a text of this size.
pub(super) fn piece_size(text: usize) -> usize {
    match text {
        // Asking how many threads there are would start them.
        few if few <= PIECE.start => PIECE.start,
        many => (many / parallel::threads() / 4).clamp(PIECE.start, PIECE.end),
    }
}

/// The text in pieces of whole lines.
fn pieces(text: &Text) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let size = piece_size(text.bytes.len());
    for part in text.parts() {
        let mut start = part.range.start;
        while start < part.range.end {
            let earliest = (start + size).min(part.range.end);
            let newline = memchr::memchr(b'\n', &text.bytes[earliest..part.range.end]);
            let end = newline.map_or(part.range.end, |newline| earliest + newline + 1);
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

/// Reads every piece, on all cores if there are several; the results are in order.
fn each_piece<T: Send>(text: &Text, read: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
    map_parts(pieces(text), read)
}

/// Where every token begins.
fn spelling(text: Text) -> Spelling {
    fn starts<S: Width>(text: &Text) -> Words<'static> {
        let starts = each_piece(text, |piece| {
            let tokens = Tokens::new(&text.bytes[piece.clone()]);
            tokens.map(|(start, _)| S::of_usize(piece.start + start)).collect::<Vec<S>>()
        });
        starts.into()
    }
    let starts = if u32::holds(text.bytes.len()) { starts::<u32>(&text) } else { starts::<u64>(&text) };
    Spelling { text, starts }
}

/// What is said of NaN where it is not to be.
pub(super) const NO_NAN: &str = "allowed by --nan error";

/// What is said of an empty field where there are to be none.
pub(super) const NOTHING_THERE: &str = "nothing is there, and --empty is error";

/// What is expected of a number of this type.
pub(super) fn expected(element: ElementType) -> String {
    match element {
        ElementType::U32 => format!("an integer from 0 to {} (u32)", u32::MAX),
        ElementType::I32 => format!("an integer from {} to {} (i32)", i32::MIN, i32::MAX),
        ElementType::U64 => format!("an integer from 0 to {} (u64)", u64::MAX),
        ElementType::I64 => format!("an integer from {} to {} (i64)", i64::MIN, i64::MAX),
        ElementType::F32 => format!("a number up to {:e} (f32)", f32::MAX),
        ElementType::F64 => format!("a number up to {:e} (f64)", f64::MAX),
        // Text is not read as these.
        narrow => format!("{narrow}"),
    }
}
