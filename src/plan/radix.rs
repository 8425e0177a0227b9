//! Radix sort, least significant digit first: for each digit of eight bits, elements are distributed to the other array
//! by its value, those of equal values in order. After the last digit they are sorted, and equal keys are in the order in
//! which they came.
//!
//! ```text
//! onesweep      [clear] [histogram] [sweep] [sweep] [sweep] [sweep]
//! reduce-scan   [clear] [count] [scan] [scatter] [count] [scan] [scatter] …
//! ```
//!
//! To distribute a tile, its workgroup needs to know how many elements with each value there are in the
//! tiles before it.

use super::{RadixTuning, Variant};
use crate::device::Limits;
use crate::error::Error;
use crate::kernels::{DIGIT_BITS, Dispatch, Radix, RadixWork, Shape};

/// The passes for all digits, from the lowest. Positions are numbered on the way.
pub(super) fn plan(
    variant: Variant,
    n: u32,
    shape: Shape,
    limits: &Limits,
    tuning: &RadixTuning,
) -> Result<Vec<Dispatch>, Error> {
    if n < 2 {
        return Ok(Vec::new());
    }
    let digits = shape.key_words() * (32 / DIGIT_BITS);
    let chunk = if variant == Variant::ReduceScan { tuning.chunk(n) } else { 0 };
    let pass = |work, digit| {
        let (tile, numbers) = (tuning.tile, shape.positions);
        let radix = Radix { tile, work, digit, digits, chunk, numbers, drops_keys: false };
        Dispatch::new(radix, 0, n, shape, limits)
    };
    let mut dispatches = vec![pass(RadixWork::Clear, 0)?];
    if variant == Variant::Onesweep {
        dispatches.push(pass(RadixWork::Histogram, 0)?);
    }
    for digit in 0..digits {
        if variant == Variant::Onesweep {
            dispatches.push(pass(RadixWork::Sweep(tuning.silence), digit)?);
        } else {
            for work in [RadixWork::Count { first: digit == 0 }, RadixWork::Scan, RadixWork::Scatter] {
                dispatches.push(pass(work, digit)?);
            }
        }
    }
    Ok(dispatches)
}
