//! Reads text as numbers alone, if printing the numbers gives the same tokens: the common and fast case.
//!
//! Text is cut at line ends into pieces, and all cores read pieces in parallel. The first attempt
//! reads every token as an integer in canonical form. For files, each core reads its pieces itself
//! ([`IntegerFiles`]), and the text never is in memory as a whole. The second attempt reads all
//! tokens as decimals of one form, such as prices. If both attempts fail, tokens become records of a
//! [batch](super::batch).

mod decimals;
mod files;
pub(super) mod integers;
mod pieces;
pub mod span;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use gpusort_order::key::ElementType;

use self::integers::{Integers, NotInteger};
use self::pieces::{guess, pieces_of};
use super::number::PerLine;
use super::records::Records;
use super::text::Text;
use crate::order::KeyOrder;
use crate::parallel::map_parts;

pub use self::files::{FromFiles, IntegerFiles};

/// Reads the tokens of a text as integers in canonical form.
fn integers(
    text: &Text,
    element: Option<ElementType>,
    per_line: PerLine,
) -> Result<Vec<Integers>, NotInteger> {
    let is_other = AtomicBool::new(false);
    let read = |piece: Range<usize>| {
        if is_other.load(Ordering::Relaxed) {
            return Err(NotInteger);
        }
        let mut integers = Integers::new(element, per_line, guess(piece.len()));
        let read = integers.read(&text.bytes[piece]).map(|()| integers);
        is_other.fetch_or(read.is_err(), Ordering::Relaxed);
        read
    };
    map_parts(pieces_of(text), read).into_iter().collect()
}

/// Reads a part of a text whose numbers print unchanged; `None` for other text. The type of the records
/// depends on this part alone, unless `element` sets it.
pub fn parse_printed(
    text: &Text,
    element: Option<ElementType>,
    direction: KeyOrder,
    per_line: PerLine,
) -> Option<Records> {
    if per_line == PerLine::Whole && !text.mark().is_empty() {
        return None;
    }
    let of_floats = element.is_some_and(ElementType::is_float);
    let read = if of_floats { None } else { integers(text, element, per_line).ok() };
    if let Some(pieces) = read {
        let held = element.or_else(|| Integers::span(&pieces).element())?;
        return Some(integers::records_of(pieces, direction.map(held)));
    }
    decimals::read(text, per_line, direction.map(element.unwrap_or(ElementType::F64)))
}
