//! Pieces of text for the cores.

use std::ops::Range;

use crate::fields::{self, Fields};
use crate::text::{Text, TextPart, piece_size};

/// Returns the expected number of integers in this many bytes: with seven digits per integer, most
/// pieces grow at most once.
pub(super) fn guess(bytes: usize) -> usize {
    bytes / 8
}

/// Returns the pieces of all inputs for all cores.
pub(super) fn pieces_of(text: &Text) -> Vec<Range<usize>> {
    let size = piece_size(text.bytes.len());
    let of_part = |part: &TextPart| fields::pieces(&text.bytes, part.range.clone(), Fields::Tokens, size);
    text.parts.iter().flat_map(of_part).collect()
}
