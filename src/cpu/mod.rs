//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

pub mod network;
mod radix;
mod sort;
pub(crate) mod step;
mod top;

pub use sort::Pair;
pub(crate) use sort::{InOrder, Item, Piece, join, records, sort};
pub(crate) use top::top;
