//! The first k of many elements for any k: the last of them is found digit by digit, and those up
//! to it are brought together before they are sorted.
//!
//! ```text
//! [clear] [histogram] [choose] [histogram] [choose] [histogram] [choose] [count] [keep] [sort of k elements]
//! ```
//!
//! A histogram counts a digit of those keys that agree with the last selected one in all higher
//! digits; adding up counts from the lowest value gives its next digit. That is a radix sort that
//! goes on into one bucket only (radix select; T. Alabi et al., "Fast k-selection algorithms for
//! graphics processing units", 2012). It ends early where all of a bucket are selected, as it
//! mostly does with long keys: the remaining passes find that out and return.
//!
//! Keys that equal the last one may be more than fit. The first of them complete k: chunks of the
//! array count both kinds before any element is written, so that each has its place, and what is
//! kept stays in the order in which it came. No workgroup waits for another, and nothing is read
//! back: k is known, and so is the sort of what is kept.
//!
//! On an H200, milliseconds, beside the radix sort of all: the first 2^22 of 2^26 u32 0.645 of
//! 1.49, with positions 0.709 of 2.11, of u64 1.08 of 3.64, with positions 1.21 of 5.56; the first
//! 2^24 of as many u32 0.916. Of the 0.645 the first histogram takes 0.087, later ones 0.068 each,
//! counting 0.065, keeping 0.2, the sort 0.13. Of 2^20 u32 and less a whole sort is as fast: nine
//! passes or more cost some 5 µs each, however little they do.

use super::Elements;
use crate::error::Error;
use crate::kernels::{Dispatch, Select, SelectWork};

/// The passes that leave the first `k` elements at the beginning of the other array, in the
/// order in which they came, and with their payload. They are compared by the lowest `bits` of
/// keys.
pub(super) fn plan(elements: Elements, k: u32, bits: u32) -> Result<Vec<Dispatch>, Error> {
    let iota = elements.shape.payload;
    let pass = |work, digit| elements.dispatch(Select { work, k, digit, iota });
    let mut dispatches = vec![pass(SelectWork::Clear, 0)?];
    for digit in (0..Select::digits(bits)).rev() {
        dispatches.push(pass(SelectWork::Histogram, digit)?);
        dispatches.push(pass(SelectWork::Choose, digit)?);
    }
    dispatches.push(pass(SelectWork::Count, 0)?);
    dispatches.push(pass(SelectWork::Keep, 0)?);
    Ok(dispatches)
}

/// Copies the selected elements back to the array in which they were.
pub(super) fn bring_back(elements: Elements, k: u32) -> Result<Dispatch, Error> {
    elements.dispatch(Select { work: SelectWork::Return, k, digit: 0, iota: false })
}
