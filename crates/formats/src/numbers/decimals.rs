//! Tokens as decimals with the same number of digits after the point.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use gpusort_order::key::{ElementType, KeyMap, Word};

use super::pieces::pieces_of;
use crate::number::{PerLine, Tokens, fixed};
use crate::parallel::map_parts;
use crate::records::{Print, Records};
use crate::text::Text;

/// The number of decimals between two checks whether another core has found other tokens.
const FEW: usize = 1 << 10;

/// Reads a text of decimals that print unchanged: all with the same number of digits after the point,
/// and with few digits. Returns `None` for other text, and for types other than f64.
pub(super) fn read(text: &Text, per_line: PerLine, order: KeyMap) -> Option<Records> {
    if order.element != ElementType::F64 {
        return None;
    }
    let map = u64::map(order);
    let is_other = AtomicBool::new(false);
    let read_piece = |piece: Range<usize>| {
        let mut keys = Vec::with_capacity(piece.len() / 8);
        let mut digits = None;
        let bytes = &text.bytes[piece];
        let mut tokens = Tokens::new(bytes, per_line);
        while let Some(start) = tokens.find() {
            let read = fixed(&bytes[start..]).filter(|&(_, of_this, length)| {
                *digits.get_or_insert(of_this) == of_this && tokens.pass(length)
            });
            let Some((value, ..)) = read else {
                is_other.store(true, Ordering::Relaxed);
                break;
            };
            keys.push(value.to_bits().key(map));
            if keys.len() % FEW == 0 && is_other.load(Ordering::Relaxed) {
                break;
            }
        }
        is_other.fetch_or(tokens.excess.is_some(), Ordering::Relaxed);
        (keys, digits)
    };
    let pieces = map_parts(pieces_of(text), read_piece);
    let mut digits = pieces.iter().filter_map(|(_, digits)| *digits);
    let first = digits
        .next()
        .filter(|first| !is_other.load(Ordering::Relaxed) && digits.all(|other| other == *first))?;
    let keys: Vec<Vec<u64>> = pieces.into_iter().map(|(keys, _)| keys).collect();
    Some(Records { order, keys: keys.into(), print: Print::Fixed(first) })
}
