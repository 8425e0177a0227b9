//! Pieces of text for the cores.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::fields::{self, Fields};
use crate::parallel::map_parts;
use crate::text::{Text, TextPart, piece_size};

/// Reads the pieces of all inputs on all cores. Returns `None` if `read` refuses a piece.
pub(super) fn read_pieces<T: Send>(text: &Text, read: impl Fn(&[u8]) -> Option<T> + Sync) -> Option<Vec<T>> {
    let size = piece_size(text.bytes.len());
    let of_part = |part: &TextPart| fields::pieces(&text.bytes, part.range.clone(), Fields::Tokens, size);
    let is_refused = AtomicBool::new(false);
    let read_piece = |piece| {
        let read = if is_refused.load(Ordering::Relaxed) { None } else { read(&text.bytes[piece]) };
        is_refused.fetch_or(read.is_none(), Ordering::Relaxed);
        read
    };
    map_parts(text.parts.iter().flat_map(of_part), read_piece).into_iter().collect()
}
