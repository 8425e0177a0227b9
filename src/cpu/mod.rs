//! Sorting without a GPU: the networks themselves, and the fast sort that `auto` uses.

pub mod network;
mod sort;

pub use sort::{Done, Pair, pairs, positions, sort, sort_pairs};
