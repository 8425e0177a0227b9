//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

mod counts;
#[cfg(feature = "gpu")]
mod in_order;
mod items;
mod local;
mod radix;
mod slice;
mod sort;
pub(crate) mod step;
mod top;

#[cfg(feature = "gpu")]
pub(crate) use in_order::InOrder;
pub use items::{Item, Pair};
pub(crate) use items::{Piece, join, records};
pub(crate) use slice::{is_in_order, sort_shorts, sort_words};
pub(crate) use sort::sort;
pub(crate) use top::top;
