//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

mod items;
pub mod network;
mod radix;
mod sort;
pub(crate) mod step;
mod top;

pub use items::Pair;
pub(crate) use items::{Item, Piece, join, records};
pub(crate) use sort::{InOrder, sort};
pub(crate) use top::top;
