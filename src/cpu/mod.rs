//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

mod counts;
mod items;
mod local;
pub mod network;
mod radix;
mod slice;
mod sort;
pub(crate) mod step;
mod top;

pub use items::{Item, Pair};
pub(crate) use items::{Piece, join, records};
pub(crate) use slice::{is_in_order, sort_shorts, sort_words};
pub(crate) use sort::{InOrder, sort};
pub(crate) use top::top;
