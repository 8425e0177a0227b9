//! Raw binary: little-endian elements, one after another, no header.

use rayon::prelude::*;

use super::records::Records;
use super::source::{BLOCK, Input};
use crate::error::Error;
use crate::key::{ElementType, Keys, Order, Word, to_keys};

/// Elements that were read but not yet mapped to keys; [`Elements::into_records`] does that.
pub struct Elements(Keys);

impl Elements {
    /// Reads all inputs, in order, calling `progress` with the number of bytes read so far.
    ///
    /// # Errors
    ///
    /// What the system says; an input that is not a whole number of elements.
    pub fn read(inputs: &[Input], element: ElementType, progress: impl FnMut(u64)) -> Result<Self, Error> {
        Ok(Self(match element.bytes() {
            4 => Keys::One(read(inputs, element, progress)?),
            _ => Keys::Two(read(inputs, element, progress)?),
        }))
    }

    /// Maps the elements to keys.
    #[must_use]
    pub fn into_records(mut self, order: Order) -> Records {
        match &mut self.0 {
            Keys::One(words) => {
                if cfg!(target_endian = "big") {
                    words.par_iter_mut().for_each(|word| *word = u32::from_le(*word));
                }
                to_keys(words, order);
            }
            Keys::Two(words) => {
                if cfg!(target_endian = "big") {
                    words.par_iter_mut().for_each(|word| *word = u64::from_le(*word));
                }
                to_keys(words, order);
            }
        }
        Records { order, keys: self.0.into(), spelling: None }
    }
}

fn read<W: Word>(
    inputs: &[Input],
    element: ElementType,
    mut progress: impl FnMut(u64),
) -> Result<Vec<W>, Error> {
    let size = size_of::<W>();
    let mut words: Vec<W> = Vec::new();
    let mut total = 0;
    for input in inputs {
        let mut opened = input.open()?;
        opened.reserve(&mut words, size as u64)?;
        let begin = words.len();
        let mut filled = 0;
        loop {
            let end = words.len();
            // No more than expected and one element, by which the end is seen.
            let expected = opened.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
            let block = (expected.saturating_sub(filled) / size + 1).min(BLOCK / size);
            opened.grow(&mut words, block)?;
            words.resize(end + block, W::default());
            let count = opened.fill(bytemuck::cast_slice_mut(&mut words[end..]))?;
            filled += count;
            progress(total + filled as u64);
            if count < block * size {
                break;
            }
        }
        if filled % size != 0 {
            let problem =
                format!("{filled} bytes are not a whole number of {element} elements of {size} bytes");
            return Err(Error::input(input.name(), problem));
        }
        words.truncate(begin + filled / size);
        total += filled as u64;
    }
    Ok(words)
}
