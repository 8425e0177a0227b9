//! The first k of many elements for any k: passes find the last selected key digit by digit, and bring the selected
//! elements together before a sort.
//!
//! ```text
//! [clear] [histogram] [choose] [histogram] [choose] [histogram] [choose] [count] [keep] [sort of k elements]
//! ```
//!
//! A histogram counts a digit of the keys that agree with the last selected key in all higher digits; sums of counts
//! from the lowest value give the next digit of this key. This is a radix sort that continues in a single bucket
//! (radix select; T. Alabi et al., "Fast k-selection algorithms for graphics processing units", 2012). It ends early
//! if the selection includes a whole bucket, as usual for long keys: the remaining passes detect this and return.
//!
//! More keys may equal the last key than the selection has room for. The first equal keys complete k: chunks of the
//! array count lower and equal keys before the first write, so that each element has its place, and selected elements
//! keep their order. No workgroup waits for another, and the host reads nothing back: it knows k, and so the sort of
//! the selected elements.
//!
//! On an H200, milliseconds, beside the radix sort of all: the first 2^22 of 2^26 u32 0.645 of
//! 1.49, with positions 0.709 of 2.11, of u64 1.08 of 3.64, with positions 1.21 of 5.56; the first
//! 2^24 of 2^26 u32 0.916. The 0.645 include 0.087 for the first histogram, 0.068 for each later histogram, 0.065 for
//! counting, 0.2 for keeping, 0.13 for the sort. A whole sort of up to 2^20 u32 is as fast: nine passes or more cost
//! about 5 µs each, even without work.

use super::PlanElements;
use crate::error::Error;
use crate::kernels::{Dispatch, Select, SelectWork};

/// Returns the passes that leave the first `k` elements by the lowest `bits` of keys at the beginning of the other
/// array, in their original order and with their payload.
pub(super) fn plan(elements: PlanElements, k: u32, bits: u32) -> Result<Vec<Dispatch>, Error> {
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

/// Copies the selected elements back to their original array.
pub(super) fn bring_back(elements: PlanElements, k: u32) -> Result<Dispatch, Error> {
    elements.dispatch(Select { work: SelectWork::Return, k, digit: 0, iota: false })
}
