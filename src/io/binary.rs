//! Raw binary: little-endian elements, one after another, no header.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

use super::source::{BLOCK, Input, RegularFile};
use crate::error::Error;
use crate::key::{Keys, KeysRef, Order, Word};

/// Bytes of a file that one core reads at a time: enough for most of them to be in large pages.
const PIECE: Range<u64> = 8 << 20..64 << 20;

/// Reads all inputs as keys of this order and gives them to `take`, piece by piece, in order, calling `progress` with
/// the number of bytes read so far. Regular files are read by all cores. Returns the number of bytes.
///
/// # Errors
///
/// What the system says; an input that is not a whole number of elements; a file that changes its size meanwhile; what
/// `take` says, with which it ends.
pub fn read(
    inputs: &[Input],
    order: Order,
    progress: impl Fn(u64),
    mut take: impl FnMut(Keys) -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut total = 0;
    for input in inputs {
        let before = total;
        let mut count = |bytes: usize| {
            total += bytes as u64;
            progress(total);
        };
        match order.element.bytes() {
            4 => read_one::<u32>(input, order, &mut count, |keys| take(Keys::One(keys)))?,
            _ => read_one::<u64>(input, order, &mut count, |keys| take(Keys::Two(keys)))?,
        }
        let (bytes, element) = (total - before, order.element);
        let size = element.bytes();
        if bytes % size as u64 != 0 {
            let problem =
                format!("{bytes} bytes are not a whole number of {element} elements of {size} bytes");
            return Err(Error::input(input.name(), problem));
        }
    }
    Ok(total)
}

fn read_one<W: Word>(
    input: &Input,
    order: Order,
    count: &mut impl FnMut(usize),
    mut take: impl FnMut(Vec<W>) -> Result<(), Error>,
) -> Result<(), Error> {
    let file = input.open_regular()?.filter(|file| file.size > BLOCK as u64);
    if let Some(file) = file {
        return read_file(&file, order, count, take);
    }
    let mut opened = input.open()?;
    let mut left = opened.size;
    loop {
        // No more than expected and one element, by which the end is seen.
        let expected = left.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
        let room = (expected / size_of::<W>() + 1).min(BLOCK / size_of::<W>()) * size_of::<W>();
        let (keys, bytes) = read_keys(room, order, |bytes| opened.fill(bytes))?;
        count(bytes);
        take(keys)?;
        if bytes < room {
            return Ok(());
        }
        left = left.map(|left| left.saturating_sub(bytes as u64));
    }
}

/// Reads a file of a known size by all cores.
fn read_file<W: Word>(
    file: &RegularFile,
    order: Order,
    count: &mut impl FnMut(usize),
    mut take: impl FnMut(Vec<W>) -> Result<(), Error>,
) -> Result<(), Error> {
    let cores = rayon::current_num_threads();
    let size =
        (file.size / cores as u64 / 4).clamp(PIECE.start, PIECE.end).next_multiple_of(size_of::<W>() as u64);
    let starts: Vec<u64> = (0..file.size).step_by(size as usize).collect();
    // A piece for each core at a time, so that no more than that waits for those before it.
    for starts in starts.chunks(cores) {
        let pieces: Vec<_> = starts
            .par_iter()
            .map(|&start| {
                let room = (file.size - start).min(size) as usize;
                let (keys, bytes) = read_keys(room, order, |bytes| file.read_at(bytes, start))?;
                if bytes < room { Err(file.has_changed()) } else { Ok((keys, bytes)) }
            })
            .collect();
        for piece in pieces {
            let (keys, bytes) = piece?;
            count(bytes);
            take(keys)?;
        }
    }
    if file.size_now()? == file.size { Ok(()) } else { Err(file.has_changed()) }
}

/// Fills so many bytes, or as many of them as there are, with `fill`; returns the keys of the whole elements among
/// them, and their number.
fn read_keys<W: Word>(
    room: usize,
    order: Order,
    fill: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
) -> Result<(Vec<W>, usize), Error> {
    let mut words = vec![W::default(); room.div_ceil(size_of::<W>())];
    let bytes = fill(&mut bytemuck::cast_slice_mut(&mut words)[..room])?;
    words.truncate(bytes / size_of::<W>());
    if !order.is_bits() {
        words.iter_mut().for_each(|word| *word = W::from_le(*word).key(order));
    }
    Ok((words, bytes))
}

/// Turns keys back into the bits of their elements and writes those, little-endian, calling `progress` with the
/// number of bytes written so far.
///
/// # Errors
///
/// What the system says.
pub fn write(keys: KeysRef, order: Order, to: &mut impl Write, progress: impl FnMut(u64)) -> io::Result<()> {
    match keys {
        KeysRef::One(keys) => write_words(keys, order, to, progress),
        KeysRef::Two(keys) => write_words(keys, order, to, progress),
    }
}

fn write_words<W: Word>(
    keys: &[W],
    order: Order,
    to: &mut impl Write,
    mut progress: impl FnMut(u64),
) -> io::Result<()> {
    // What one core turns back at a time, and few enough not to wake others for.
    const PART: usize = 1 << 16;
    let mut block = Vec::new();
    let mut written = 0;
    for keys in keys.chunks(BLOCK / size_of::<W>()) {
        let words = if order.is_bits() {
            keys
        } else {
            block.resize(keys.len(), W::default());
            let turn = |(words, keys): (&mut [W], &[W])| {
                words.iter_mut().zip(keys).for_each(|(word, key)| *word = key.bits(order).to_le());
            };
            if keys.len() <= PART {
                turn((&mut block, keys));
            } else {
                block.par_chunks_mut(PART).zip(keys.par_chunks(PART)).for_each(turn);
            }
            &block[..]
        };
        to.write_all(bytemuck::cast_slice(words))?;
        written += size_of_val(words) as u64;
        progress(written);
    }
    Ok(())
}
