//! Integers straight from files, whose text is not kept.
//!
//! Each core reads a stretch of a file, some hundred kilobytes at a time into the same memory, and keeps the
//! values alone. That will do where every integer is spelled as it would be printed; where not, or where
//! anything else is in the way, nothing was lost: the caller reads the text as a whole, and tells what is wrong with
//! it, if anything is.

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

/// Bytes read at once: a part of a core's cache.
const BLOCK: usize = 1 << 18;

/// More files are not held open together: systems limit how many a process may have.
const OPEN: usize = 64;

/// Bytes of a line, mostly.
const LINE: usize = 1 << 10;

/// Longer lines are not read in this manner, since all of a line has to be there.
const LONGEST: usize = 16 * BLOCK;

/// What was read from files.
#[derive(Debug)]
pub struct FromFiles {
    /// The records, which need no spelling.
    pub records: Records,
    /// Bytes that were read.
    pub bytes: u64,
    /// How long a core spent on reading, on average.
    pub reading: Duration,
}

/// Reads integers of this type, or of the first of u32, i32, u64 and i64 that holds them all, calling
/// `progress` with the number of bytes read so far, from any thread.
///
/// `None` says that the text has to be read as a whole: an input is no regular file, they are many or small, or not every
/// token is an integer spelled as it would be printed, or no type holds them all.
///
/// # Errors
///
/// What the system says.
pub fn integers_from_files(
    inputs: &[Input],
    element: Option<ElementType>,
    direction: KeyOrder,
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
            // There may be fewer open together here than elsewhere.
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
    let shared = Shared {
        element,
        stop: AtomicBool::new(false),
        read: AtomicU64::new(0),
        reading: AtomicU64::new(0),
        progress,
    };
    let pieces: Result<Vec<Option<Integers>>, Error> = parallel::take(stretches)
        .map_init(Vec::new, |buffer, (file, stretch)| {
            let piece = shared.read(file, stretch, buffer);
            if !matches!(piece, Ok(Some(_))) {
                shared.stop.store(true, Ordering::Relaxed);
            }
            piece
        })
        .collect();
    let Some(pieces) = pieces?.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    // The stretches were cut by a size that must be the file's still.
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
        reading: Duration::from_nanos(shared.reading.into_inner() / cores),
    }))
}

/// What all stretches have in common.
struct Shared<F> {
    element: Option<ElementType>,
    /// Whether one of them cannot be read in this manner.
    stop: AtomicBool,
    /// Bytes read so far.
    read: AtomicU64,
    /// Nanoseconds that reading them took, on all cores together.
    reading: AtomicU64,
    progress: F,
}

impl<F: Fn(u64) + Sync> Shared<F> {
    /// Reads the lines that begin in this stretch of a file; `None` if they cannot be read in this manner.
    fn read(
        &self,
        file: &RegularFile,
        stretch: Range<u64>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Integers>, Error> {
        let mut integers = Integers::new(self.element, guess((stretch.end - stretch.start) as usize));
        // From the byte before, which tells whether a line begins with the stretch.
        let mut next = stretch.start.saturating_sub(1);
        let mut at_line = stretch.start == 0;
        let mut filled = 0;
        while !self.stop.load(Ordering::Relaxed) {
            // No more than the stretch and mostly its last line; what is behind that is another core's.
            let room = (stretch.end.saturating_sub(next) as usize).saturating_add(LINE).min(BLOCK);
            if buffer.len() < filled + room {
                buffer.resize(filled + room, 0);
            }
            let first = next - filled as u64;
            let count = self.read_block(file, &mut buffer[filled..filled + room], next)?;
            (next, filled) = (next + count as u64, filled + count);
            let ended = count == 0;

            // The lines that are to be read now, among the bytes that are there.
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
            // The line end at the last byte of the stretch or behind it, unless the first one was behind it.
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
            // Places are for messages, and there are none from here.
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

    /// Fills the block from this place of the file; less than all of it only at the end.
    fn read_block(&self, file: &RegularFile, block: &mut [u8], place: u64) -> Result<usize, Error> {
        let start = Instant::now();
        let count = file.read_at(block, place)?;
        self.reading.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let read = self.read.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
        (self.progress)(read);
        Ok(count)
    }
}
