//! Reads text as numbers alone, if printing the numbers gives the same tokens: the common and fast case.
//!
//! Text is cut at line ends into pieces, and all cores read pieces in parallel. The first attempt
//! reads every token as an integer in canonical form. For files, each core reads its pieces itself
//! ([`IntegerFiles`]), and the text never is in memory as a whole. The second attempt reads all
//! tokens as decimals of one form, such as prices. If both attempts fail, tokens become records of a
//! [batch](super::batch).

mod files;
pub(super) mod integers;
pub mod span;

use std::sync::atomic::{AtomicBool, Ordering};

use gpusort_order::key::{ElementType, KeyMap, Word};

use self::integers::Integers;
use super::number::{PerLine, Tokens, fixed};
use super::records::{Print, PrintedNumbers};
use super::text::{Text, TextPart, piece_size};
use crate::fields::{self, Fields, InputSpec};
use crate::parallel::map_parts;

pub use self::files::{DeviceText, FromFiles, IntegerFiles};

/// Reads a part of a text whose numbers print unchanged; `None` for other text and other keys. The type of the
/// records depends on this part alone, unless the caller requested a type.
pub fn parse_printed(text: &Text, how: &InputSpec) -> Option<PrintedNumbers> {
    let ((per_line, direction), element) = (how.numbers()?, how.by.element);
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
    decimals(text, per_line, direction.map(element.unwrap_or(ElementType::F64)))
}

/// Reads a text of decimals that print unchanged: all with the same number of digits after the point,
/// and with few digits. Returns `None` for other text, and for types other than f64.
fn decimals(text: &Text, per_line: PerLine, order: KeyMap) -> Option<PrintedNumbers> {
    if order.element != ElementType::F64 {
        return None;
    }
    let map = u64::map(order);
    let pieces = read_pieces(text, |bytes| {
        let mut keys = Vec::with_capacity(bytes.len() / 8);
        let mut digits = None;
        let mut tokens = Tokens::new(bytes, per_line);
        for (_, token) in &mut tokens {
            let (value, of_this) = fixed(token)?;
            if *digits.get_or_insert(of_this) != of_this {
                return None;
            }
            keys.push(value.to_bits().key(map));
        }
        tokens.excess.is_none().then_some((keys, digits))
    })?;
    let (keys, digits): (Vec<Vec<u64>>, Vec<_>) = pieces.into_iter().unzip();
    let mut digits = digits.into_iter().flatten();
    let first = digits.next().filter(|first| digits.all(|other| other == *first))?;
    Some(PrintedNumbers { order, keys: keys.into(), print: Print::Fixed(first) })
}

/// Reads the pieces of all inputs on all cores. Returns `None` if `read` refuses a piece.
fn read_pieces<T: Send>(text: &Text, read: impl Fn(&[u8]) -> Option<T> + Sync) -> Option<Vec<T>> {
    let size = piece_size(text.bytes.len());
    let of_part = |part: &TextPart| fields::pieces(&text.bytes, part.range.clone(), Fields::Tokens, size);
    // After a refused piece, the others need not be read.
    let is_refused = AtomicBool::new(false);
    let read_piece = |piece| {
        let read = if is_refused.load(Ordering::Relaxed) { None } else { read(&text.bytes[piece]) };
        is_refused.fetch_or(read.is_none(), Ordering::Relaxed);
        read
    };
    map_parts(text.parts.iter().flat_map(of_part), read_piece).into_iter().collect()
}
