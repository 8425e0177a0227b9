//! Integers read directly from files, without keeping the text.
//!
//! Each core reads a stretch of a file in blocks of some hundred kilobytes into one buffer, and keeps only
//! the values. That suffices if every integer is in canonical form; otherwise, or at any other obstacle,
//! nothing is lost: the caller reads the whole text and reports any error in it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::integers::Integers;
use super::{PIECE, guess, piece_size};
use crate::error::Error;
use crate::io::records::Records;
use crate::io::source::{Input, MARK, RegularFile};
use crate::key::ElementType;
use crate::order::KeyOrder;
use crate::parallel::{self, ParallelIterator};

/// Bytes per read: fits a core's cache.
const BLOCK: usize = 1 << 18;

/// The most files open at once: systems limit open files per process.
const OPEN: usize = 64;

/// Usual maximum length of a line, in bytes.
const LINE: usize = 1 << 10;

/// Longer lines are not supported here, since a whole line must fit the buffer.
const LONGEST: usize = 16 * BLOCK;

/// The result of reading integers from files.
#[derive(Debug)]
pub struct FromFiles {
    /// The records, without spelling.
    pub records: Records,
    /// Number of bytes read.
    pub bytes: u64,
    /// Average time that a core spent reading.
    pub reading: Duration,
}

/// Reads integers of this type, or of the first of u32, i32, u64 and i64 that holds them all, calling
/// `progress` from any thread with the number of bytes read so far.
///
/// `None` means that the text must be read as a whole: an input is not a regular file, the inputs are many or
/// small, a token is not an integer in canonical form, no type holds them all, or they take more than `most` bytes.
///
/// # Errors
///
/// I/O errors.
pub fn integers_from_files(
    inputs: &[Input],
    element: Option<ElementType>,
    direction: KeyOrder,
    most: u64,
    progress: impl Fn(u64) + Sync,
) -> Result<Option<FromFiles>, Error> {
    if element.is_some_and(ElementType::is_float) || inputs.len() > OPEN {
        return Ok(None);
    }
    let mut files = Vec::with_capacity(inputs.len());
    for input in inputs {
        match input.open_regular() {
            Ok(Some(file)) => files.push(file),
            Ok(None) => return Ok(None),
            // Fewer files may be open here than elsewhere.
            Err(_) if !files.is_empty() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let total: u64 = files.iter().map(|file| file.size).sum();
    if total <= PIECE.start as u64 {
        return Ok(None);
    }
    let size = piece_size(usize::try_from(total).unwrap_or(usize::MAX)) as u64;
    let stretches: Vec<(&RegularFile, Range<u64>)> = files
        .iter()
        .flat_map(|file| {
            let starts = (0..file.size).step_by(size as usize);
            starts.map(move |start| (file, start..file.size.min(start + size)))
        })
        .collect();
    // Whether a stretch was found that cannot be read this way; bytes read; nanoseconds of reading on all cores.
    let (stop, read, reading) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let held = AtomicU64::new(0);
    let read_block = |file: &RegularFile, block: &mut [u8], place| {
        let start = Instant::now();
        let count = file.read_at(block, place)?;
        reading.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        progress(read.fetch_add(count as u64, Ordering::Relaxed) + count as u64);
        Ok(count)
    };
    let pieces: Result<Vec<Option<Integers>>, Error> = parallel::iter(stretches)
        .map_init(Vec::new, |buffer, (file, stretch)| {
            let integers = Integers::new(element, guess((stretch.end - stretch.start) as usize));
            let read = |block: &mut [u8], place| read_block(file, block, place);
            let piece = read_stretch(integers, stretch, buffer, &stop, read);
            let bytes = if let Ok(Some(integers)) = &piece { integers.bytes() } else { u64::MAX };
            let others = held.fetch_add(bytes, Ordering::Relaxed);
            if others.checked_add(bytes).is_none_or(|bytes| bytes > most) {
                stop.store(true, Ordering::Relaxed);
                return piece.map(|_| None);
            }
            piece
        })
        .collect();
    let Some(pieces) = pieces?.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    // The stretches are only valid if the files kept their sizes.
    for file in &files {
        if file.size_now()? != file.size {
            return Ok(None);
        }
    }
    let Some(element) = element.or_else(|| Integers::span(&pieces).element()) else { return Ok(None) };
    let order = direction.map(element);
    let keys = Integers::keys(pieces, order);
    let cores = parallel::threads() as u64;
    Ok(Some(FromFiles {
        records: Records { order, keys, spelling: None },
        bytes: total,
        reading: Duration::from_nanos(reading.into_inner() / cores),
    }))
}

/// Adds the integers in the lines that begin in this stretch of a file; `None` if they cannot be read this way. `read`
/// fills a block from a place in the file, less than all of it only at the end.
fn read_stretch(
    mut integers: Integers,
    stretch: Range<u64>,
    buffer: &mut Vec<u8>,
    stop: &AtomicBool,
    read: impl Fn(&mut [u8], u64) -> Result<usize, Error>,
) -> Result<Option<Integers>, Error> {
    // From the byte before, which shows whether a line begins with the stretch.
    let mut next = stretch.start.saturating_sub(1);
    let mut at_line = stretch.start == 0;
    let mut filled = 0;
    while !stop.load(Ordering::Relaxed) {
        // At most the stretch and usually its last line; later lines belong to another core.
        let room = (stretch.end.saturating_sub(next) as usize).saturating_add(LINE).min(BLOCK);
        if buffer.len() < filled + room {
            buffer.resize(filled + room, 0);
        }
        let first = next - filled as u64;
        let count = read(&mut buffer[filled..filled + room], next)?;
        (next, filled) = (next + count as u64, filled + count);
        let ended = count == 0;

        // The complete lines in the buffer.
        let mut begin = 0;
        if !at_line {
            let Some(newline) = memchr::memchr(b'\n', &buffer[..filled]) else {
                if ended || next >= stretch.end {
                    return Ok(Some(integers));
                }
                filled = 0;
                continue;
            };
            (at_line, begin) = (true, newline + 1);
        } else if first == 0 && buffer[..filled].starts_with(MARK) {
            begin = MARK.len();
        }
        // The line end at the last byte of the stretch or after it, unless the first one is after it.
        let last = (stretch.end - 1).saturating_sub(first) as usize;
        let from = last.max(begin.saturating_sub(1)).min(filled);
        let (end, done) = match memchr::memchr(b'\n', &buffer[from..filled]) {
            Some(newline) => (from + newline + 1, true),
            None if ended => (filled, true),
            None => {
                let newline = memchr::memrchr(b'\n', &buffer[begin..filled]);
                (newline.map_or(begin, |newline| begin + newline + 1), false)
            }
        };
        if end == begin && filled >= LONGEST {
            return Ok(None);
        }
        // The place is only for messages, which are not shown from here.
        if integers.read(&buffer[begin..end], 0).is_err() || !integers.canonical {
            return Ok(None);
        }
        if done {
            return Ok(Some(integers));
        }
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
    Ok(None)
}
