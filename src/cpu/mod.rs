//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

mod counts;
mod divided;
mod items;
mod local;
mod network;
mod packed;
mod radix;
mod slice;
mod sort;
mod top;
mod vector;

pub(crate) use items::{Keyed, Piece, join, records};
pub(crate) use network::sort as sort_by_network;
pub(crate) use packed::positions;
pub(crate) use slice::{is_in_order, sort_shorts, sort_words};
pub(crate) use sort::sort;
pub(crate) use top::top;

/// The instructions by which keys are sorted on the CPU.
pub fn instructions() -> &'static str {
    vector::Instructions::chosen().name()
}
