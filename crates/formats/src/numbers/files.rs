//! Reads integers directly from files, without keeping the text.
//!
//! Each core reads a piece of a file in blocks of some hundred kilobytes into one buffer, and keeps
//! only the values. This works if every integer is in canonical form. At any other token or obstacle,
//! nothing is lost: the caller reads the text from there on and reports any error in it.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use gpusort_order::key::{ElementType, KeyMap};

use super::integers::{Integers, records_of};
use super::span::Span;
use crate::budget::Budget;
use crate::clock::Instant;
use crate::error::Error;
use crate::fields::InputSpec;
use crate::input::Input;
use crate::input::opened::{Opened, RegularFile};
use crate::number::PerLine;
use crate::order::KeyOrder;
use crate::parallel::{self, lock};
use crate::records::PrintedNumbers;
use crate::text::{Before, MARK, PIECE, piece_size};

/// The number of bytes per read, which fits a core's cache.
const BLOCK: usize = 1 << 18;

/// The maximum number of files open at once, since systems limit open files per process.
const OPEN: usize = 64;

/// The number of bytes per read in search of a line end.
const LINE: usize = 1 << 12;

/// The maximum length of a line here, since a whole line must fit the buffer.
const LONGEST: usize = 16 * BLOCK;

/// Files whose integers are read without keeping the text.
pub struct IntegerFiles {
    files: Vec<RegularFile>,
    element: Option<ElementType>,
    direction: KeyOrder,
    per_line: PerLine,
    /// The next file to read, and the offset of a line in it.
    file: usize,
    place: u64,
}

/// The bytes of a sample.
const SAMPLE: usize = 1 << 14;

/// Integers from files.
#[derive(Debug)]
pub struct FromFiles {
    /// The records, without spelling.
    pub records: PrintedNumbers,
    /// Number of bytes read.
    pub bytes: u64,
    /// Average time that a core spent reading.
    pub reading: Duration,
}

/// Ranges of whole lines to read together, with the numbers of their files.
type Group = Vec<(usize, Range<u64>)>;

impl IntegerFiles {
    /// Opens files to be read as integers of the requested type, or of the first of u32, i32, u64 and i64 that
    /// holds all of them.
    ///
    /// Returns `None` if the text must be read as a whole: the records are not plain numbers, the type is a float
    /// type, an input is not a regular file, or the inputs are many or small.
    ///
    /// # Errors
    ///
    /// The first file cannot be opened.
    pub fn open(inputs: &[Input], how: &InputSpec, budget: &Budget) -> Result<Option<Self>, Error> {
        let Some((per_line, direction)) = how.numbers() else { return Ok(None) };
        let element = how.by.element;
        if element.is_some_and(ElementType::is_float) || inputs.len() > OPEN {
            return Ok(None);
        }
        let mut files = Vec::with_capacity(inputs.len());
        for input in inputs {
            match input.open_regular() {
                Ok(Some(file)) => files.push(file),
                Ok(None) => return Ok(None),
                // The system may allow fewer open files than [`OPEN`].
                Err(_) if !files.is_empty() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let files = Self { files, element, direction, per_line, file: 0, place: 0 };
        let total = files.total();
        Ok((total > PIECE.start as u64 || !files.fit(budget)).then_some(files))
    }

    fn total(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Returns true if the integers fit the budget in any case.
    fn fit(&self, budget: &Budget) -> bool {
        // Two bytes of text may become an integer of 64 bits.
        budget.allows(self.total() / 2) && budget.fits(self.total(), 4 * budget.times_of_keys())
    }

    /// Returns true if all files were read.
    pub fn is_over(&self) -> bool {
        self.offset() >= self.total()
    }

    /// Reads the next integers, up to the budget. Calls `watch` from any thread with the number of bytes read.
    ///
    /// Returns `None` if the text must be read from here on: a token is not an integer in canonical
    /// form, or no type holds all integers.
    ///
    /// # Errors
    ///
    /// I/O errors; a file that changes its size during the read.
    pub fn next(&mut self, budget: &Budget, watch: impl Fn(u64) + Sync) -> Result<Option<FromFiles>, Error> {
        let is_all = self.offset() == 0 && self.fit(budget);
        let at_once = |read| (budget.bytes() / 32).clamp(Budget::least(read), 1 << 28);
        let most = if is_all { u64::MAX } else { at_once(self.offset()) };
        let (mut pieces, mut span, begin) = (Vec::new(), Span::default(), self.offset());
        let reading = AtomicU64::new(0);
        while !self.is_over() {
            while self.place >= self.files[self.file].size {
                (self.file, self.place) = (self.file + 1, 0);
            }
            let before = self.offset();
            let Some((more, last, end)) = self.read(most, &reading, |read| watch(before + read))? else {
                break;
            };
            let with = span.merge(Integers::span(&more));
            if self.element.is_none() && with.element().is_none() {
                break;
            }
            for file in &self.files[self.file..last + usize::from(end >= self.files[last].size)] {
                if file.size_now()? != file.size {
                    return if self.offset() > 0 { Err(file.has_changed()) } else { Ok(None) };
                }
            }
            (self.file, self.place) = (last, end);
            pieces.extend(more);
            span = with;
            // Sorting takes the same room again, and writing some more, during the next read.
            let (count, held) = Integers::size(&pieces);
            if !is_all && (held * budget.times_of_keys() >= budget.bytes() / 6 || !budget.allows(count)) {
                break;
            }
        }
        let Some(element) = self.element.or_else(|| span.element()).filter(|_| !pieces.is_empty()) else {
            return Ok(None);
        };
        let cores = parallel::threads() as u64;
        Ok(Some(FromFiles {
            records: records_of(pieces, self.direction.map(element)),
            bytes: self.offset() - begin,
            reading: Duration::from_nanos(reading.into_inner() / cores),
        }))
    }

    /// Returns the number of the first input to read as text, and that input, open at the next line,
    /// with the position of the line; `None` if the text starts at the beginning of the input.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn rest(mut self) -> Result<(usize, Option<(Opened, Before)>), Error> {
        if self.place == 0 {
            return Ok((self.file, None));
        }
        let before = self.files[self.file].before(self.place)?;
        let file = self.files.swap_remove(self.file);
        Ok((self.file, Some((file.opened_at(self.place), before))))
    }

    /// Returns the files as one text for a device that reads it. Returns `None` if samples have other lines than
    /// integers in canonical form, one on each line.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn for_device(self) -> Result<Option<DeviceText>, Error> {
        let mut parts = Vec::with_capacity(self.files.len());
        for file in self.files {
            let mut ends = [0; 2 * MARK.len()];
            let (begin, end) = ends.split_at_mut(MARK.len());
            let (last, size) = (&mut end[..usize::from(file.size > 0)], file.size);
            if file.read_at(begin, 0)? == 0 || file.read_at(last, size.saturating_sub(1))? == 0 {
                continue;
            }
            let is_marked = begin == MARK;
            if is_marked && self.per_line == PerLine::Whole {
                return Ok(None);
            }
            let skipped = if is_marked { MARK.len() as u64 } else { 0 };
            let is_open = last != b"\n" && size > skipped;
            parts.push(DevicePart { skipped, size: size - skipped + u64::from(is_open), file });
        }
        let map = KeyMap::ascending(ElementType::I32);
        let text = DeviceText { parts, per_line: self.per_line, map, estimate: 0, most: 0 };
        text.sampled(self.element, self.direction)
    }

    /// Returns the number of bytes read so far.
    fn offset(&self) -> u64 {
        self.files[..self.file].iter().map(|file| file.size).sum::<u64>() + self.place
    }

    /// Returns the next pieces of the files, each of whole lines, of about this many bytes together. Returns `None`
    /// if a line is too long.
    fn group(&self, most: u64) -> Result<Option<Group>, Error> {
        let mut left = most.min(self.total() - self.offset());
        let size = piece_size(usize::try_from(left).unwrap_or(usize::MAX)) as u64;
        let (mut group, mut place) = (Vec::new(), self.place);
        for (number, file) in self.files.iter().enumerate().skip(self.file) {
            let end = file.size.min(place + left);
            let cuts = (place..end).step_by(size as usize).skip(1).chain([end]);
            let lines = parallel::map_parts(cuts, |cut| line_from(file, cut)).into_iter();
            let begin = (place < end).then_some(Ok(Some(place)));
            let lines = begin.into_iter().chain(lines);
            let Some(lines) = lines.collect::<Result<Option<Vec<u64>>, _>>()? else { return Ok(None) };
            if !lines.is_sorted() {
                return Err(file.has_changed());
            }
            group.extend(lines.windows(2).map(|lines| (number, lines[0]..lines[1])));
            (left, place) = (left - (end - place), 0);
        }
        Ok(Some(group))
    }

    /// Reads the integers of the next lines, of about `most` bytes. Returns the integers, the number of the
    /// last file, and the offset of the last line's end in it; `None` if they must be read as text. Adds the
    /// time of reading, in nanoseconds over all cores, to `reading`.
    fn read(
        &self,
        most: u64,
        reading: &AtomicU64,
        progress: impl Fn(u64) + Sync,
    ) -> Result<Option<(Vec<Integers>, usize, u64)>, Error> {
        let Some(group) = self.group(most)? else { return Ok(None) };
        // A flag for a piece to be read as text, and the number of bytes read.
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
        let pieces = parallel::map_parts(&group, |(number, lines)| {
            let mut buffer = buffers().pop().unwrap_or_default();
            let integers = Integers::new(self.element, self.per_line, (lines.end - lines.start) as usize);
            let file = &self.files[*number];
            let piece = read_lines(integers, file, lines.clone(), &mut buffer, &stop, &read_block);
            if !matches!(piece, Ok(Some(_))) {
                stop.store(true, Ordering::Relaxed);
            }
            buffers().push(buffer);
            piece
        });
        let pieces: Option<Vec<Integers>> = pieces.into_iter().collect::<Result<_, _>>()?;
        let (last, lines) = group.last().expect("more lines follow");
        Ok(pieces.map(|pieces| (pieces, *last, lines.end)))
    }
}

/// Files of integers, one on each line, as one text for a device that reads it.
pub struct DeviceText {
    parts: Vec<DevicePart>,
    per_line: PerLine,
    /// The map from integers to keys.
    pub map: KeyMap,
    /// The number of lines, estimated from samples.
    pub estimate: u64,
    /// The maximum number of lines that a sort accepts.
    pub most: usize,
}

/// A file of a text for a device.
struct DevicePart {
    file: RegularFile,
    /// Bytes of a byte order mark.
    skipped: u64,
    /// Bytes of the text, with an end of the last line.
    size: u64,
}

impl DeviceText {
    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.size).sum()
    }

    /// The number of bytes of the files.
    pub fn read_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.file.size).sum()
    }

    /// True if carriage returns before line feeds are left out.
    pub fn may_return(&self) -> bool {
        self.per_line == PerLine::Any
    }

    /// Fills a part of the text from a place on.
    ///
    /// # Errors
    ///
    /// I/O errors; a file that changes its size during the read.
    ///
    /// # Panics
    ///
    /// Panics for a place beyond the text.
    pub fn fill(&self, mut place: u64, mut room: &mut [u8]) -> Result<(), Error> {
        for DevicePart { file, skipped, size } in &self.parts {
            let here = room.len().min(usize::try_from(size.saturating_sub(place)).unwrap_or(usize::MAX));
            let (now, rest) = std::mem::take(&mut room).split_at_mut(here);
            room = rest;
            if let Some(last) = now.len().checked_sub(1) {
                let begin = place + skipped;
                let read = file.read_at(now, begin)?;
                // The end of the last line may be missing in the file.
                let is_end = read == last && begin + read as u64 == file.size && place + here as u64 == *size;
                if is_end {
                    now[last] = b'\n';
                } else if read < here {
                    return Err(file.has_changed());
                }
            }
            place = (place + here as u64).saturating_sub(*size);
        }
        assert!(room.is_empty(), "the text has no such place");
        Ok(())
    }

    /// Returns true if all files still have their sizes.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn is_unchanged(&self) -> Result<bool, Error> {
        let sizes = self.parts.iter().map(|part| Ok(part.file.size_now()? == part.file.size));
        Ok(sizes.collect::<Result<Vec<_>, Error>>()?.into_iter().all(|is_unchanged| is_unchanged))
    }

    /// Chooses the type, unless the caller requested a type, and estimates the number of lines. Returns `None` if a sample
    /// has an invalid line.
    fn sampled(self, asked: Option<ElementType>, direction: KeyOrder) -> Result<Option<Self>, Error> {
        const SAMPLES: u64 = 64;
        let total = self.bytes();
        let mut block = vec![0; total.min(SAMPLE as u64) as usize];
        let places = total.saturating_sub(SAMPLE as u64) / SAMPLES;
        let (mut span, mut lines, mut bytes) = (Span::default(), 0, 0);
        for sample in 0..SAMPLES {
            self.fill(sample * places, &mut block)?;
            let newline = || memchr::memchr(b'\n', &block).map(|newline| newline + 1);
            let begin = if sample == 0 { Some(0) } else { newline() };
            let end = memchr::memrchr(b'\n', &block).map(|newline| newline + 1);
            let (Some(begin), Some(end)) = (begin, end) else { return Ok(None) };
            let text = &block[begin.min(end)..end];
            let mut integers = Integers::new(asked, self.per_line, text.len());
            let is_read = integers.read(text);
            let pieces = [integers];
            let count = Integers::size(&pieces).0;
            if !is_read || count != memchr::memchr_iter(b'\n', text).count() as u64 {
                return Ok(None);
            }
            (span, lines) = (span.merge(Integers::span(&pieces)), lines + count);
            bytes += text.len() as u64;
            if places == 0 {
                break;
            }
        }
        // Signed types come first: a rare negative number is likelier than a rare large one.
        let types = [ElementType::I32, ElementType::U32, ElementType::I64, ElementType::U64];
        let element = asked.or_else(|| types.into_iter().find(|&element| span.fits(element)));
        let Some(element) = element.filter(|_| bytes > 0) else { return Ok(None) };
        let estimate = (u128::from(total) * u128::from(lines)).div_ceil(bytes.into()) as u64;
        let most = (estimate + estimate / 16) as usize + SAMPLE;
        Ok(Some(Self { map: direction.map(element), estimate, most, ..self }))
    }
}

/// Returns the offset of the first line that begins at or after `place`, or the end of the file. Returns `None` if
/// the line before is too long.
fn line_from(file: &RegularFile, place: u64) -> Result<Option<u64>, Error> {
    // The byte before `place` tells if a line begins there.
    let Some(mut at) = place.checked_sub(1) else { return Ok(Some(0)) };
    let mut block = [0; LINE];
    while at < place + LONGEST as u64 {
        let count = file.read_at(&mut block, at)?;
        let newline = memchr::memchr(b'\n', &block[..count]);
        at += newline.map_or(count, |newline| newline + 1) as u64;
        if at < place {
            return Err(file.has_changed());
        }
        if newline.is_some() || count < LINE {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Adds the integers of these lines of a file. Returns `None` if they must be read as text. `read` fills a block
/// from an offset, except at the end of the file.
fn read_lines(
    mut integers: Integers,
    file: &RegularFile,
    lines: Range<u64>,
    buffer: &mut Vec<u8>,
    stop: &AtomicBool,
    read: &impl Fn(&RegularFile, &mut [u8], u64) -> Result<usize, Error>,
) -> Result<Option<Integers>, Error> {
    let (mut next, mut filled) = (lines.start, 0);
    while next < lines.end {
        if stop.load(Ordering::Relaxed) || filled >= LONGEST {
            return Ok(None);
        }
        let room = BLOCK.min((lines.end - next) as usize);
        if buffer.len() < filled + room {
            buffer.resize(filled + room, 0);
        }
        if read(file, &mut buffer[filled..filled + room], next)? < room {
            return Err(file.has_changed());
        }
        (next, filled) = (next + room as u64, filled + room);
        let newline = || memchr::memrchr(b'\n', &buffer[..filled]);
        let whole = if next == lines.end { filled } else { newline().map_or(0, |newline| newline + 1) };
        let mut text = &buffer[..whole];
        if next == filled as u64
            && let Some(unmarked) = text.strip_prefix(MARK)
        {
            if integers.per_line == PerLine::Whole {
                return Ok(None);
            }
            text = unmarked;
        }
        if !integers.read(text) {
            return Ok(None);
        }
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
    Ok(Some(integers))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::chunks::Chunks;
    use crate::fields::{InputKind, KeySpec, ResolvedKey};
    use crate::numbers::parse_printed;
    use crate::records::Print;

    fn numbers(element: Option<ElementType>, descending: bool) -> InputSpec {
        let order = KeyOrder { descending, ..KeyOrder::ASCENDING };
        let by = KeySpec { element, order, ..KeySpec::default() };
        let keys = vec![ResolvedKey::first_field(&by)];
        InputSpec { kind: InputKind::Text(PerLine::Any), by, keys, columns: 1 }
    }

    fn files(folder: &tempfile::TempDir, contents: &[&str]) -> Vec<Input> {
        let write = |(number, content): (usize, &&str)| {
            let path: PathBuf = folder.path().join(number.to_string());
            std::fs::write(&path, content).unwrap();
            Input::File(path)
        };
        contents.iter().enumerate().map(write).collect()
    }

    /// Reads files with these contents both ways, straight and as a whole text; whether the first
    /// was possible.
    fn both_ways(contents: &[&str], element: Option<ElementType>) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let inputs = files(&folder, contents);
        let budget = Budget::unlimited();
        let how = numbers(element, true);
        let files = IntegerFiles::open(&inputs, &how, &budget).unwrap();
        let Some(straight) = files.and_then(|mut files| {
            let all = files.next(&budget, |_| {}).unwrap()?;
            assert!(files.is_over());
            Some(all)
        }) else {
            return false;
        };
        let whole = Chunks::new(&inputs, &how, &budget).next(|_| {}).unwrap().unwrap_or_default();
        let whole = parse_printed(&whole, &how).unwrap();
        assert_eq!((whole.print, straight.records.print), (Print::Shortest, Print::Shortest));
        assert_eq!(straight.records.order, whole.order);
        assert!(straight.records.keys == whole.keys);
        assert_eq!(straight.bytes, contents.iter().map(|content| content.len() as u64).sum::<u64>());
        true
    }

    #[test]
    fn integer_files_are_parsed_directly_where_that_changes_nothing() {
        let lines = |n: usize, line: &str| line.repeat(n);
        let many = lines(100_000, "123456\n");
        // Some of these cross all cuts of the file, which are at least 256 KiB apart.
        let long_line = "7 ".repeat(300_000);
        let blank = "\r\n \n".repeat(100_000);
        for (name, contents) in [
            ("lines", vec![many.as_str()]),
            ("no last line end", vec![&many, "\n5"]),
            ("several files", vec!["3\n", &many, "", "4"]),
            ("long line", vec![&long_line]),
            ("blank lines", vec![&many, &blank, "-5"]),
            ("mark", vec!["\u{feff}5\n", &many]),
        ] {
            assert!(both_ways(&contents, None), "{name}, files");
            let one = contents.concat();
            assert!(both_ways(&[&one], Some(ElementType::I64)), "{name}, one file");
        }
        let few_bytes = ["1\n"; 100];
        assert!(!both_ways(&few_bytes, None), "more files than are held open");
        let endless = "7 ".repeat(5 << 20);
        for (name, content) in [
            ("a decimal at the end", format!("{many}1.5\n")),
            ("leading zeros", format!("{many}007\n")),
            ("no number", format!("{many}x\n{many}")),
            ("no type for all", format!("{many}-1\n18446744073709551615\n")),
            ("few", "1\n2\n".to_owned()),
            ("one line of many megabytes", endless),
        ] {
            assert!(!both_ways(&[&content], None), "{name}");
        }
        assert!(!both_ways(&[&format!("{many}-1\n")], Some(ElementType::U32)), "not of the type asked for");
    }

    /// Reads files with these contents in parts: the integers up to where that ends, the bytes of
    /// these, and the first line after them; `None` at the end.
    fn in_parts(contents: &[&str], bytes: u64) -> (Vec<i128>, u64, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let inputs = files(&folder, contents);
        let budget = Budget::of(bytes);
        let mut files = IntegerFiles::open(&inputs, &numbers(None, false), &budget).unwrap().unwrap();
        let (mut all, mut passed, mut parts) = (Vec::new(), 0, 0);
        while !files.is_over() {
            let Some(part) = files.next(&budget, |_| {}).unwrap() else {
                let (file, open) = files.rest().unwrap();
                let (mut opened, before) =
                    open.unwrap_or_else(|| (inputs[file].open().unwrap(), Before::default()));
                let mut rest = vec![0; 1 << 20];
                let count = opened.fill(&mut rest).unwrap();
                let line = String::from_utf8_lossy(&rest[..count]).lines().next().unwrap_or("").to_owned();
                return (all, passed, Some(format!("{file}:{}:{line}", before.lines + 1)));
            };
            parts += 1;
            passed += part.bytes;
            let FromFiles { records: PrintedNumbers { order, keys, .. }, .. } = part;
            let mut text = Vec::new();
            crate::records::write_text(keys, order, Print::Shortest, &mut text, |_| {}).unwrap();
            all.extend(String::from_utf8(text).unwrap().lines().map(|line| line.parse::<i128>().unwrap()));
        }
        assert!(parts > 1);
        (all, passed, None)
    }

    #[test]
    fn integers_come_in_parts_and_the_text_goes_on_where_they_end() {
        let lines = |range: Range<i128>| {
            range.fold(String::new(), |text, number| text + &format!("{}\n", number * 7))
        };
        let values = |range: Range<i128>| range.map(|number| number * 7).collect::<Vec<_>>();
        for bytes in [512, 4096, 100_000] {
            let contents = ["", &lines(0..30_000), "", "\r\n5 6", &lines(-3..1), ""];
            let (all, passed, rest) = in_parts(&contents, bytes);
            assert_eq!(all, [values(0..30_000), vec![5, 6], values(-3..1)].concat());
            assert_eq!((passed, rest), (contents.concat().len() as u64, None));
            let long = format!("{}1.5\n8\n", lines(0..30_000));
            let (all, _, rest) = in_parts(&["1\n", &long, "3"], bytes);
            let line = rest.unwrap();
            assert_eq!(line, format!("1:{}:{}", all.len(), all.len() as i128 * 7 - 7));
            assert_eq!(all[1..], values(0..all.len() as i128 - 1));
            assert!(all.len() > 20_000);
        }
    }

    #[test]
    fn a_file_that_is_cut_meanwhile_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = files(&folder, &[&"12345\n".repeat(1 << 20)]);
        let budget = Budget::of(4096);
        let mut files = IntegerFiles::open(&inputs, &numbers(None, false), &budget).unwrap().unwrap();
        let mut opened = inputs[0].open().unwrap();
        assert_eq!(opened.fill(&mut [0; 600]).unwrap(), 600);
        assert!(files.next(&budget, |_| {}).unwrap().is_some());
        std::fs::File::options().write(true).open(inputs[0].path().unwrap()).unwrap().set_len(6000).unwrap();
        let mut parts = std::iter::repeat_with(|| files.next(&budget, |_| {}));
        assert!(parts.find_map(Result::err).unwrap().to_string().contains("changed its size"));
        let error = opened.fill(&mut [0; 10_000]).unwrap_err().to_string();
        assert!(error.contains("changed while it was being read"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn parsing_files_directly_equals_parsing_the_whole_text(
            seed: u64,
            bits in 1_u32..=64,
            signed: bool,
            separators in "[ \n\r\t]{1,40}",
            end in "[ \n]{0,2}",
        ) {
            // Values that need ever more bits on the way, or ever fewer, so that pieces differ.
            let n = 200_000;
            let mut content = String::new();
            let mut values = Vec::new();
            let mut state = seed | 1;
            for i in 0..n {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let value = state;
                let bits = (u64::from(bits) * (i as u64 + 1)).div_ceil(n as u64) as u32;
                let value = value >> (64 - bits);
                let value: i128 = if signed { i128::from((value << (64 - bits)).cast_signed() >> (64 - bits)) } else { value.into() };
                values.push(value);
                content += &value.to_string();
                let at = i % separators.len();
                content += &separators[at..=at];
                if i % 1000 == 0 {
                    content += "\n";
                }
            }
            content.truncate(content.trim_end().len());
            content += &end;
            prop_assert!(both_ways(&[&content], None));
            let (all, passed, rest) = in_parts(&[&content], 20_000);
            prop_assert!(all == values && passed == content.len() as u64 && rest.is_none());
            let reversed = content.lines().rev().collect::<Vec<_>>().join("\n");
            prop_assert!(both_ways(&[&reversed], None));
        }
    }
}
