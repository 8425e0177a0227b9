//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

mod items;
pub mod network;
mod radix;
mod sort;
pub(crate) mod step;
mod top;

pub use items::{Item, Pair};
pub(crate) use items::{Piece, join, records};
pub(crate) use sort::{InOrder, sort};
pub(crate) use top::top;
