//! Sorts without a GPU: the networks, and the fast sort of `auto`.

#[cfg(test)]
mod changing;
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
pub use sort::is_for_one;
pub(crate) use sort::sort;
pub(crate) use top::top;
pub use vector::{Digits, prefer_digits};

/// The next random number, for samples: Knuth's MMIX generator, with good highest bits.
#[inline]
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state
}

/// Random numbers for tests: good in all bits, and equal on every machine.
#[cfg(test)]
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 1;
    move || {
        let number = random(&mut state);
        (number ^ number >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// The name of the instruction set that sorts keys on the CPU.
pub fn instructions() -> &'static str {
    vector::Instructions::chosen().name()
}
