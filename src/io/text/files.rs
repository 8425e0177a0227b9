//! Integers read directly from files, without keeping the text.
//!
//! Each core reads a piece of a file in blocks of some hundred kilobytes into one buffer, and
//! keeps only the values. That suffices if every integer is in canonical form; otherwise, or at any
//! other obstacle, nothing is lost: the caller reads the text from there on and reports any error
//! in it.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use gpusort_order::key::ElementType;

use super::integers::Integers;
use super::span::Span;
use super::{guess, records_of};
use crate::clock::Instant;
use crate::error::Error;
use crate::io::number::PerLine;
use crate::io::records::Records;
use crate::io::source::{Before, Input, MARK, Opened, PIECE, RegularFile, piece_size};
use crate::order::KeyOrder;
use crate::parallel;
use crate::parallel::lock;
use crate::runs::Budget;

/// Bytes per read: fits a core's cache.
const BLOCK: usize = 1 << 18;

/// The most files open at once: systems limit open files per process.
const OPEN: usize = 64;

/// Usual maximum length of a line, in bytes.
const LINE: usize = 1 << 10;

/// Longer lines are not supported here, since a whole line must fit the buffer.
const LONGEST: usize = 16 * BLOCK;

/// Files whose integers are read without keeping the text.
pub struct IntegerFiles {
    files: Vec<RegularFile>,
    element: Option<ElementType>,
    direction: KeyOrder,
    per_line: PerLine,
    /// The file that is read next, and the place of a line in it.
    file: usize,
    place: u64,
    /// Whether what is there cannot be read this way.
    is_odd: bool,
}

/// Integers from files.
#[derive(Debug)]
pub struct FromFiles {
    /// The records, without spelling.
    pub records: Records,
    /// Number of bytes read.
    pub bytes: u64,
    /// Average time that a core spent reading.
    pub reading: Duration,
}

/// Stretches of files that are read together.
type Group = Vec<(usize, Range<u64>)>;

impl IntegerFiles {
    /// Files to be read as integers of this type, or of the first of u32, i32, u64 and i64 that
    /// holds them all.
    ///
    /// `None` means that the text must be read as a whole: an input is not a regular file, or the
    /// inputs are many or small.
    ///
    /// # Errors
    ///
    /// The first file cannot be opened.
    pub fn open(
        inputs: &[Input],
        element: Option<ElementType>,
        direction: KeyOrder,
        per_line: PerLine,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
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
        let files = Self { files, element, direction, per_line, file: 0, place: 0, is_odd: false };
        let total = files.total();
        Ok((total > PIECE.start as u64 || !files.fit(budget)).then_some(files))
    }

    fn total(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Whether their integers fit, whatever they are.
    fn fit(&self, budget: &Budget) -> bool {
        // Two bytes may become one of 64 bits.
        budget.allows(self.total() / 2) && budget.fits(self.total(), 4 * budget.times_of_keys())
    }

    /// Whether all was read.
    pub fn is_over(&self) -> bool {
        let (here, after) = (&self.files[self.file], &self.files[self.file + 1..]);
        self.place >= here.size && after.iter().all(|file| file.size == 0)
    }

    /// The next integers, as many as the budget allows, after `passed` bytes. Calls `progress` from any
    /// thread with the number of bytes read so far.
    ///
    /// `None` means that the text must be read from here on: a token is not an integer in canonical
    /// form, or no type holds them all.
    ///
    /// # Errors
    ///
    /// I/O errors; a file that changes its size meanwhile.
    pub(crate) fn next(
        &mut self,
        budget: &Budget,
        passed: u64,
        progress: impl Fn(u64) + Sync,
    ) -> Result<Option<FromFiles>, Error> {
        let is_all = (self.file, self.place) == (0, 0) && self.fit(budget);
        let (mut pieces, mut span, mut bytes) = (Vec::new(), Span::default(), 0);
        let reading = AtomicU64::new(0);
        while !self.is_odd && !self.is_over() {
            let group = if is_all { self.whole() } else { self.some(budget) };
            let before = passed + bytes;
            let Some((more, end)) = self.read(&group, &reading, |read| progress(before + read))? else {
                self.is_odd = true;
                break;
            };
            let with = span.merge(Integers::span(&more));
            if self.element.is_none() && with.element().is_none() {
                self.is_odd = pieces.is_empty();
                break;
            }
            if is_all {
                // The stretches are only valid if the files kept their sizes.
                for file in &self.files {
                    if file.size_now()? != file.size {
                        self.is_odd = true;
                        return Ok(None);
                    }
                }
                (self.file, self.place) = (self.files.len() - 1, end);
                bytes = self.total();
            } else {
                // Its lines go at least as far as the group.
                if group.last().is_some_and(|(_, stretch)| end < stretch.end) {
                    return Err(self.files[self.file].has_changed());
                }
                bytes += end - self.place;
                self.place = end;
                let file = &self.files[self.file];
                if end >= file.size && file.size_now()? != file.size {
                    return Err(file.has_changed());
                }
            }
            pieces.extend(more);
            span = with;
            // They are sorted with as much room again, and written with some more, while the next
            // ones are read.
            let is_full = || Integers::held(&pieces) * budget.times_of_keys() >= budget.bytes() / 6;
            if !is_all && (is_full() || !budget.allows(Integers::count(&pieces))) {
                break;
            }
        }
        let Some(element) = self.element.or_else(|| span.element()).filter(|_| !pieces.is_empty()) else {
            return Ok(None);
        };
        let cores = parallel::threads() as u64;
        Ok(Some(FromFiles {
            records: records_of(pieces, self.direction.map(element)),
            bytes,
            reading: Duration::from_nanos(reading.into_inner() / cores),
        }))
    }

    /// The inputs before the one that is to be read as text, that one from where this has come to,
    /// and what of it comes before; nothing of the latter at its beginning.
    pub(crate) fn rest(mut self) -> Result<(usize, Option<(Opened, Before)>), Error> {
        if self.place == 0 {
            return Ok((self.file, None));
        }
        let before = self.files[self.file].before(self.place)?;
        let file = self.files.swap_remove(self.file);
        Ok((self.file, Some((file.opened_at(self.place), before))))
    }

    /// All files in stretches.
    fn whole(&self) -> Group {
        let size = piece_size(usize::try_from(self.total()).unwrap_or(usize::MAX)) as u64;
        let of_file = |(number, file): (usize, &RegularFile)| {
            let starts = (0..file.size).step_by(size as usize);
            let end = file.size;
            starts.map(move |start| (number, start..end.min(start + size))).collect::<Vec<_>>()
        };
        self.files.iter().enumerate().flat_map(of_file).collect()
    }

    /// The next part of a file in stretches, little enough that its integers are a small part of
    /// the budget.
    fn some(&mut self, budget: &Budget) -> Group {
        while self.place >= self.files[self.file].size {
            (self.file, self.place) = (self.file + 1, 0);
        }
        let all = (budget.bytes() / 32).clamp(1 << 6, 1 << 28);
        let size = match all {
            few if few <= PIECE.start as u64 => few,
            many => (many / parallel::threads() as u64 / 4).clamp(PIECE.start as u64, PIECE.end as u64),
        };
        let end = self.files[self.file].size.min(self.place + all);
        let starts = (self.place..end).step_by(size as usize);
        starts.map(|start| (self.file, start..end.min(start + size))).collect()
    }

    /// The integers of the lines that begin in these stretches, and where in its file the last line
    /// ends; `None` if they cannot be read this way. Adds nanoseconds of reading on all cores.
    fn read(
        &self,
        group: &Group,
        reading: &AtomicU64,
        progress: impl Fn(u64) + Sync,
    ) -> Result<Option<(Vec<Integers>, u64)>, Error> {
        // Whether a stretch was found that cannot be read this way; bytes read.
        let (stop, read) = (AtomicBool::new(false), AtomicU64::new(0));
        let read_block = |file: &RegularFile, block: &mut [u8], place| {
            let start = Instant::now();
            let count = file.read_at(block, place)?;
            reading.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            progress(read.fetch_add(count as u64, Ordering::Relaxed) + count as u64);
            Ok(count)
        };
        let buffers: Mutex<Vec<Vec<u8>>> = Mutex::default();
        let buffers = || lock(&buffers);
        let pieces = parallel::map_parts(group, |(number, stretch)| {
            let mut buffer = buffers().pop().unwrap_or_default();
            let integers =
                Integers::new(self.element, self.per_line, guess((stretch.end - stretch.start) as usize));
            let read = |block: &mut [u8], place| read_block(&self.files[*number], block, place);
            let piece = read_stretch(integers, stretch.clone(), &mut buffer, &stop, read);
            if !matches!(piece, Ok(Some(_))) {
                stop.store(true, Ordering::Relaxed);
            }
            buffers().push(buffer);
            piece
        });
        let pieces: Result<Vec<Option<(Integers, u64)>>, Error> = pieces.into_iter().collect();
        let Some(pieces) = pieces?.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (pieces, ends): (Vec<Integers>, Vec<u64>) = pieces.into_iter().unzip();
        // A line may be longer than a stretch.
        let last = group.last().map(|&(number, _)| number);
        let of_last = group.iter().zip(ends).filter(|((number, _), _)| Some(*number) == last);
        Ok(Some((pieces, of_last.map(|(_, end)| end).max().unwrap_or(0))))
    }
}

/// Adds the integers in the lines that begin in this stretch of a file, and tells where the last of
/// them ends, or the stretch begins; `None` if they cannot be read this way. `read` fills a block
/// from a place in the file, less than all of it only at the end.
fn read_stretch(
    mut integers: Integers,
    stretch: Range<u64>,
    buffer: &mut Vec<u8>,
    stop: &AtomicBool,
    read: impl Fn(&mut [u8], u64) -> Result<usize, Error>,
) -> Result<Option<(Integers, u64)>, Error> {
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
                    return Ok(Some((integers, stretch.start)));
                }
                filled = 0;
                continue;
            };
            (at_line, begin) = (true, newline + 1);
        } else if first == 0 && buffer[..filled].starts_with(MARK) {
            if integers.per_line == PerLine::Whole {
                return Ok(None);
            }
            begin = MARK.len();
        }
        // The line end at the last byte of the stretch or after it, unless the first one is after
        // it.
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
        if integers.read(&buffer[begin..end], false).is_err() {
            return Ok(None);
        }
        if done {
            return Ok(Some((integers, first + end as u64)));
        }
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
    Ok(None)
}

