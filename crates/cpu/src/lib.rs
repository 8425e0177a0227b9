//! Sorts, selection and merges on all cores: the fast sort of `auto`, and sorting networks.
//!
//! An internal part of `gpusort`: any release may change all of it.

#[cfg(test)]
mod changing;
mod counts;
mod divided;
mod items;
mod local;
mod merge;
mod network;
mod packed;
mod radix;
mod slice;
mod sort;
mod top;
mod vector;
mod windows;

pub use items::{Keyed, Piece, join, records};
pub use merge::{merge, merge_by};
pub use network::sort as sort_by_network;
pub use packed::positions;
pub use slice::{is_in_order, sort_shorts, sort_words};
pub use sort::is_for_one;
pub use sort::sort;
pub use top::top;
pub use vector::{Digits, prefer_digits};
pub use windows::windows;

/// Returns the next random number, for samples: Knuth's MMIX generator, with good highest bits.
#[inline]
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state
}

/// Returns random numbers for tests: good in all bits, and equal on every machine.
#[cfg(test)]
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 1;
    move || {
        let number = random(&mut state);
        (number ^ number >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Returns the name of the instruction set that sorts keys on the CPU.
pub fn instructions() -> &'static str {
    vector::Instructions::chosen().name()
}
