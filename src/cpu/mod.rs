//! Sorting without a GPU: the networks, and the fast radix sort that `auto` uses.

mod counts;
#[cfg(feature = "gpu")]
mod in_order;
mod items;
mod local;
mod network;
mod radix;
mod slice;
mod sort;
mod top;

#[cfg(feature = "gpu")]
pub(crate) use in_order::InOrder;
pub(crate) use items::{Piece, join, records};
pub(crate) use network::sort as sort_by_network;
pub(crate) use slice::{is_in_order, sort_shorts, sort_words};
pub(crate) use sort::sort;
pub(crate) use top::top;
