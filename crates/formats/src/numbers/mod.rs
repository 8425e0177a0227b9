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

use gpusort_order::key::ElementType;

use self::integers::Integers;
use self::pieces::read_pieces;
use super::number::PerLine;
use super::records::Records;
use super::text::Text;
use crate::order::KeyOrder;

pub use self::files::{FromFiles, IntegerFiles};

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
    let read = |bytes: &[u8]| {
        let mut integers = Integers::new(element, per_line, bytes.len());
        integers.read(bytes).then_some(integers)
    };
    if !element.is_some_and(ElementType::is_float)
        && let Some(pieces) = read_pieces(text, read)
    {
        let held = element.or_else(|| Integers::span(&pieces).element())?;
        return Some(integers::records_of(pieces, direction.map(held)));
    }
    decimals::read(text, per_line, direction.map(element.unwrap_or(ElementType::F64)))
}
