//! Tokens as decimals with the same number of digits after the point.

use gpusort_order::key::{ElementType, KeyMap, Word};

use super::pieces::read_pieces;
use crate::number::{PerLine, Tokens, fixed};
use crate::records::{Print, Records};
use crate::text::Text;

/// Reads a text of decimals that print unchanged: all with the same number of digits after the point,
/// and with few digits. Returns `None` for other text, and for types other than f64.
pub(super) fn read(text: &Text, per_line: PerLine, order: KeyMap) -> Option<Records> {
    if order.element != ElementType::F64 {
        return None;
    }
    let map = u64::map(order);
    let pieces = read_pieces(text, |bytes| {
        let mut keys = Vec::with_capacity(bytes.len() / 8);
        let mut digits = None;
        let mut tokens = Tokens::per_line(bytes, per_line);
        while let Some(start) = tokens.find() {
            let (value, of_this, length) = fixed(&bytes[start..])?;
            if *digits.get_or_insert(of_this) != of_this || !tokens.pass(length) {
                return None;
            }
            keys.push(value.to_bits().key(map));
        }
        tokens.excess.is_none().then_some((keys, digits))
    })?;
    let (keys, digits): (Vec<Vec<u64>>, Vec<_>) = pieces.into_iter().unzip();
    let mut digits = digits.into_iter().flatten();
    let first = digits.next().filter(|first| digits.all(|other| other == *first))?;
    Some(Records { order, keys: keys.into(), print: Print::Fixed(first) })
}
