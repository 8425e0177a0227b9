//! Reads the text of inputs in chunks that fit a budget.
//!
//! ```text
//! input 0  ─────────── input 1 ────────────|────────────── input 2 ──
//! chunks   ┌──────── parts ───────────────┐┌───────────────────────┐
//! ```
//!
//! A chunk consists of parts of inputs and ends at the end of a record. Its size depends on its
//! number of records, since each record takes memory of its own: a short record more than its text.

use super::fields::{self, Dialect, Fields, InputKind, InputSpec, LongRow, UNCLOSED};
use super::input::Input;
use super::input::opened::{Opened, RegularFile};
use super::number::{PerLine, is_space};
use super::text::{BLOCK, Before, MARK, Text, count, sum};
use crate::budget::{Budget, RECORDS};
use crate::error::{Error, Hint};
use crate::human;

/// The minimum number of bytes of a record.
const SHORTEST: u64 = 2;

/// Returns at least the number of records that end in these bytes.
fn count_records(fields: Fields, bytes: &[u8]) -> u64 {
    if fields.are_tokens() {
        // Counts blanks and control characters. A sum over 255 bytes fits one byte, which lets the
        // compiler add many bytes at once.
        let few = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(byte <= b' ')).sum::<u8>();
        return sum(bytes, |bytes| bytes.chunks(255).map(|bytes| u64::from(few(bytes))).sum());
    }
    count(fields.line_end().byte(), bytes)
}

/// Reads inputs in chunks.
pub struct Chunks<'a> {
    inputs: &'a [Input],
    how: &'a InputSpec,
    dialect: Dialect,
    budget: &'a Budget,
    open: Option<Opened>,
    /// Bytes of the open input after the last chunk.
    rest: Vec<u8>,
    /// The position of `rest` in the open input; `None` at its beginning.
    before: Option<Before>,
    /// Bytes read so far.
    pub bytes: u64,
    /// True once a chunk was returned.
    is_begun: bool,
    /// The number of bytes read at once from an input that may be a pipe.
    room: usize,
    /// A buffer for a text, with the bytes of an earlier one: new pages would cost page faults.
    pub spare: Vec<u8>,
}

impl<'a> Chunks<'a> {
    /// Creates a reader of these inputs, from their beginning.
    pub fn new(inputs: &'a [Input], how: &'a InputSpec, budget: &'a Budget) -> Self {
        let (dialect, open, rest, before) = (how.kind.dialect(), None, Vec::new(), None);
        let (bytes, is_begun, room, spare) = (0, false, 0, Vec::new());
        Self { inputs, how, dialect, budget, open, rest, before, bytes, is_begun, room, spare }
    }

    /// Drops the unread inputs.
    pub fn end(&mut self) {
        (self.inputs, self.open) = (&[], None);
    }

    /// Skips this many inputs, and continues the next one at its open position, after `bytes` bytes in
    /// total.
    pub fn begin_with(&mut self, inputs: usize, open: Option<(Opened, Before)>, bytes: u64) {
        self.inputs = &self.inputs[inputs + usize::from(open.is_some())..];
        (self.open, self.before) = open.unzip();
        self.bytes = bytes;
    }

    /// Returns true if all text was returned.
    pub fn is_over(&self) -> bool {
        self.inputs.is_empty() && self.open.is_none()
    }

    /// Returns the approximate memory of a record besides its text.
    fn bytes_per_record(&self) -> u64 {
        // The keys and ranges of this chunk, the places of copied texts, plus a record of the next chunk, which is
        // read at the same time.
        let (keys, (copies, _)) = (self.how.keys.len() as u64, self.how.copies());
        let next = if self.is_begun { 36 + 20 * keys + 8 * copies } else { 0 };
        let is_text = matches!(self.how.kind, InputKind::Text(_));
        let this = if is_text { 40 } else { 32 + 40 * keys.max(1) + 8 * copies };
        this + self.budget.of_position() + next
    }

    /// Returns true if a chunk of this size is full.
    pub fn is_full(&self, bytes: u64, records: u64) -> bool {
        !self.fits_in_any_case(bytes) && (self.left(bytes, records) == 0 || records > RECORDS)
    }

    /// Returns the remaining memory for a chunk with this much text and this number of records.
    fn left(&self, bytes: u64, records: u64) -> u64 {
        let memory = (bytes * self.copies_per_byte()).saturating_add(records * self.bytes_per_record());
        (self.budget.bytes() / 4 * 3).saturating_sub(memory)
    }

    /// Returns the number of copies in memory of each byte read.
    fn copies_per_byte(&self) -> u64 {
        // The next chunk may be read while this one sorts.
        let (texts, (copies, quotes)) = (if self.is_begun { 2 } else { 1 }, self.how.copies());
        texts * (1 + copies) + quotes
    }

    /// Returns the size of the next read for a chunk of this size: half of the remaining room, assuming
    /// that further records resemble the records so far.
    fn block(&self, bytes: u64, records: u64) -> usize {
        const LEAST: usize = 1 << 16;
        // A shorter text says little about the records after it.
        const FEW: u64 = 1 << 12;
        // At first no more than the size of most inputs.
        let most = self.budget.step(self.bytes).min(BLOCK.max(bytes as usize));
        if self.budget.known().is_none() {
            return most;
        }
        match self.left(bytes, records) {
            // A record exceeds the memory.
            0 if self.is_full(bytes, records) => most.max((bytes as usize / 8).min(1 << 27)),
            left => {
                let (bytes, records) = if bytes < FEW { (SHORTEST, 1) } else { (bytes, records) };
                let each = self.copies_per_byte() + (records * self.bytes_per_record()).div_ceil(bytes);
                usize::try_from(left / each / 2).unwrap_or(most).max(LEAST).min(most)
            }
        }
    }

    /// Returns the next chunk, or `None` at the end. Calls `progress` with the bytes read so far.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn next(&mut self, progress: impl Fn(u64)) -> Result<Option<Text>, Error> {
        let mut text = Text { line_end: self.dialect.fields.line_end(), ..Text::default() };
        let mut records = 0;
        while !self.is_over() && !self.is_full(text.bytes.len() as u64, records) {
            if let Some(file) = self.whole_file()? {
                text = file;
                self.bytes = text.size();
                progress(self.bytes);
                break;
            }
            let begin = text.bytes.len();
            self.open_next(false)?;
            // Frees the memory of a long record, which `rest` would keep.
            text.bytes.append(&mut std::mem::take(&mut self.rest));
            records += count_records(self.dialect.fields, &text.bytes[begin..]);
            while !self.fill(&mut text.bytes, &mut records, &progress)? {
                if let Some(cut) = self.cut(&text.bytes, begin) {
                    self.rest = text.bytes.split_off(cut);
                    // A chunk may end with the parts before this one.
                    if cut > begin {
                        self.end_part(&mut text, begin);
                    }
                    self.is_begun = true;
                    return Ok(Some(text));
                }
                // The record is longer than the chunk, so more of it must be read.
                self.check_record(&mut text, begin)?;
            }
            self.end_part(&mut text, begin);
            self.open = None;
        }
        self.is_begun = true;
        Ok((!text.parts.is_empty()).then_some(text))
    }

    /// Returns an error if the record at the end of the text is longer than the budget allows.
    fn check_record(&mut self, text: &mut Text, begin: usize) -> Result<(), Error> {
        let most = self.budget.record();
        if (text.bytes.len() - begin) as u64 <= most {
            return Ok(());
        }
        let end = text.bytes.len();
        self.end_part(text, begin);
        let start = text.parts.last().map_or(begin, |part| part.range.start);
        let place = text.line_of(start, self.dialect.fields.are_tokens());
        let all = human::bytes(self.budget.total());
        let opened = self.open.as_mut().filter(|opened| opened.size.is_some());
        let problem = if let Some(opened) = opened {
            let mut row = LongRow::new(&text.bytes[begin..end], self.dialect.fields);
            let (mut length, mut block) = ((end - begin) as u64, vec![0; 1 << 16]);
            while let count @ 1.. = opened.read_some(&mut block)? {
                let end = row.end(&block[..count]);
                length += end.unwrap_or(count) as u64;
                if end.is_some() {
                    break;
                }
            }
            if row.is_quoted {
                return Err(Error::input(place, UNCLOSED));
            }
            let (length, needed) = (human::bytes(length), self.budget.needed(length));
            format!("this record has {length} and needs a memory budget of {needed} MiB instead of {all}")
        } else {
            // A pipe may have no end.
            let most = human::bytes(most);
            format!("this record has more than {most}, too much for a memory budget of {all}")
        };
        Err(Error::input(place, problem).hinting(Hint::Memory))
    }

    /// Opens the next input, closed between reads if `shut`, unless an input is open.
    fn open_next(&mut self, shut: bool) -> Result<(), Error> {
        if self.open.is_none() {
            self.open = Some(self.inputs[0].open_as(shut)?);
            self.before = self.inputs[0].before();
            self.inputs = &self.inputs[1..];
        }
        Ok(())
    }

    /// Returns the next available records, about `most` bytes but at least one record; `None` at the
    /// end. Waits for another process only if no record is complete. If `shut`, files are open only
    /// during reads.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn next_available(&mut self, most: usize, shut: bool) -> Result<Option<Text>, Error> {
        let mut text = Text { line_end: self.dialect.fields.line_end(), ..Text::default() };
        while !self.is_over() && text.parts.is_empty() {
            text.bytes = std::mem::take(&mut self.spare);
            self.open_next(shut)?;
            let (mut filled, mut looked) = (self.rest.len(), 0);
            if text.bytes.len() < filled {
                text.bytes.resize(filled, 0);
            }
            text.bytes[..filled].copy_from_slice(&self.rest);
            self.rest.clear();
            loop {
                let count = self.read_available(&mut text.bytes, filled, most)?;
                filled += count;
                if count == 0 {
                    text.bytes.truncate(filled);
                    break;
                }
                let new = filled.saturating_sub(count + 1);
                if self.may_have_whole(&text.bytes[new..filled], filled, looked) {
                    looked = filled;
                    if let Some(cut) = self.cut(&text.bytes[..filled], 0) {
                        self.rest.extend_from_slice(&text.bytes[cut..filled]);
                        text.bytes.truncate(cut);
                        self.end_part(&mut text, 0);
                        return Ok(Some(text));
                    }
                }
            }
            self.end_part(&mut text, 0);
            self.open = None;
        }
        Ok((!text.parts.is_empty()).then_some(text))
    }

    /// Reads available bytes of the open input to the offset `filled`; returns 0 at the end. The room
    /// doubles each time a read fills it.
    fn read_available(&mut self, bytes: &mut Vec<u8>, filled: usize, most: usize) -> Result<usize, Error> {
        const FIRST: usize = 1 << 16;
        let Some(opened) = &mut self.open else { return Ok(0) };
        let first = if opened.is_ready { most } else { FIRST };
        // A short text leaves little room for the next one.
        if filled == bytes.len() || bytes.len() - filled < FIRST.min(most) {
            // In proportion to the buffer, for a long record.
            let room = self.room.clamp(first.min(most), most).max(filled / 2).max(1);
            opened.grow(bytes, room)?;
            bytes.resize(filled + room, 0);
        }
        let count = opened.read_some(&mut bytes[filled..])?;
        if filled + count == bytes.len() {
            self.room = (2 * count).max(self.room);
        }
        self.bytes += count as u64;
        Ok(count)
    }

    /// Returns true if a record may end in the `new` bytes of a part of this length. The first `looked`
    /// bytes hold no whole record; a long record is searched only after growing by a quarter, since a
    /// search with every read would take quadratic time.
    fn may_have_whole(&self, new: &[u8], length: usize, looked: usize) -> bool {
        const SHORT: usize = 1 << 16;
        let fields = self.dialect.fields;
        let has_end = if fields.are_tokens() {
            new.iter().any(|&byte| is_space(byte))
        } else {
            memchr::memchr(fields.line_end().byte(), new).is_some()
        };
        has_end && (length < SHORT || length >= looked + looked / 4)
    }

    /// Returns true if reads never wait for another process.
    pub fn is_ready(&self) -> bool {
        self.open.as_ref().is_none_or(|opened| opened.is_ready)
    }

    /// Returns the text of a single, unread input, read by all cores, if the input is a file larger than a
    /// block that fits whole.
    fn whole_file(&mut self) -> Result<Option<Text>, Error> {
        let ([input], 0) = (self.inputs, self.bytes) else { return Ok(None) };
        let file = input.open_regular()?.filter(|file| file.size > BLOCK as u64);
        let Some(file) = file else { return Ok(None) };
        let fits = self.fits_in_any_case(file.size);
        if !fits && self.is_full(file.size, self.expected_records(&file)?) {
            return Ok(None);
        }
        let text = file.text(self.dialect.fields.line_end())?;
        // The records may be shorter than expected.
        if !fits && self.is_full(file.size, count_records(self.dialect.fields, &text.bytes)) {
            return Ok(None);
        }
        self.inputs = &[];
        Ok(Some(text))
    }

    /// Returns more than the number of records of a file whose records are as long as its first ones.
    fn expected_records(&self, file: &RegularFile) -> Result<u64, Error> {
        let mut first = vec![0; 1 << 16];
        let length = file.read_at(&mut first, 0)?;
        let records = count_records(self.dialect.fields, &first[..length]);
        Ok(file.size / length.max(1) as u64 * (records + records / 4))
    }

    /// Returns true if this much text fits whatever its records are.
    fn fits_in_any_case(&self, bytes: u64) -> bool {
        let (copies, quotes) = self.how.copies();
        let times = 1 + copies + quotes + self.bytes_per_record() / SHORTEST;
        bytes / SHORTEST <= RECORDS && self.budget.fits(bytes, times)
    }

    /// Reads until the chunk is full. Returns true if the input has ended.
    fn fill(
        &mut self,
        bytes: &mut Vec<u8>,
        records: &mut u64,
        progress: &impl Fn(u64),
    ) -> Result<bool, Error> {
        let size = self.open.as_ref().and_then(|opened| opened.size);
        // One more byte to detect the end.
        let all =
            size.filter(|&size| self.fits_in_any_case(size)).and_then(|size| usize::try_from(size + 1).ok());
        loop {
            let begin = bytes.len();
            let block = self.block(begin as u64, *records).min(all.unwrap_or(usize::MAX));
            let Some(opened) = &mut self.open else { return Ok(true) };
            if bytes.capacity() - begin < block {
                // In proportion to the size, since memory is short for large inputs.
                let more = all.unwrap_or(block).max(begin / 4).max(block);
                opened.grow(bytes, more)?;
            }
            bytes.resize(begin + block, 0);
            let count = opened.fill(&mut bytes[begin..])?;
            bytes.truncate(begin + count);
            *records += count_records(self.dialect.fields, &bytes[begin..]);
            self.bytes += count as u64;
            progress(self.bytes);
            if count < block {
                return Ok(true);
            }
            if self.is_full(bytes.len() as u64, *records) {
                return Ok(false);
            }
        }
    }

    /// Ends the part of the open input that begins at `begin`.
    fn end_part(&mut self, text: &mut Text, begin: usize) {
        let name = self.open.as_ref().map_or_else(String::new, |opened| opened.name.clone());
        let before = self.before;
        let part = &text.bytes[begin..];
        let part = if before.is_none() { part.strip_prefix(MARK).unwrap_or(part) } else { part };
        let fields = self.dialect.fields;
        let after = before.unwrap_or_default().after(part, fields.are_tokens(), fields.line_end());
        self.before = Some(after);
        text.end_part(name, begin, before);
    }

    /// Returns the offset to cut these bytes at, such that the part at `begin` keeps only whole records. If
    /// that part has no whole record, returns `begin` after other parts, and `None` for the first part.
    fn cut(&self, bytes: &[u8], begin: usize) -> Option<usize> {
        let part = &bytes[begin..];
        let fields = self.dialect.fields;
        let cut = match self.how.kind {
            InputKind::Text(PerLine::One | PerLine::Whole) => end_of_lines(part),
            // At the last line end, or else at the last blank of the line.
            _ if fields.are_tokens() => end_of_lines(part).or_else(|| {
                let without = &part[..part.len().saturating_sub(1)];
                without.iter().rposition(|&byte| is_space(byte)).map(|blank| blank + 1)
            }),
            _ if self.before.is_none() => fields::end_of_first_rows(part, self.dialect),
            _ => fields::end_of_rows(part, self.dialect),
        };
        cut.map(|cut| begin + cut).or_else(|| (begin > 0).then_some(begin))
    }
}

/// Returns the offset after the last line end.
fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    // An LF may follow the last byte.
    let without = &bytes[..bytes.len().saturating_sub(1)];
    memchr::memrchr(b'\n', bytes).or_else(|| memchr::memrchr(b'\r', without)).map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::KeySpec;
    use crate::text::LineEnd;

    /// Tells if lines of these lengths, each for half of a file, are read whole.
    fn is_read_whole(lengths: [usize; 2]) -> bool {
        const HALF: usize = 4 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let half = |length: usize| [&vec![b'a'; length - 1][..], b"\n"].concat().repeat(HALF / length);
        let content = lengths.map(half).concat();
        std::fs::write(&path, &content).unwrap();
        let inputs = [Input::File(path)];
        let kind =
            InputKind::Table(Dialect { fields: Fields::Words(LineEnd::Lf), header: 0, comments: false });
        let how = InputSpec { kind, by: KeySpec::default(), keys: Vec::new(), columns: 1 };
        let budget = Budget::of(32 << 20);
        let mut chunks = Chunks::new(&inputs, &how, &budget);
        assert!(!chunks.fits_in_any_case(content.len() as u64));
        let mut all = Vec::new();
        let mut keep = |text: &Text| {
            text.parts.iter().for_each(|part| all.extend_from_slice(&text.bytes[part.range.clone()]));
        };
        let whole = chunks.whole_file().unwrap();
        whole.iter().for_each(&mut keep);
        while let Some(text) = chunks.next(|_| {}).unwrap() {
            keep(&text);
        }
        let is_whole = whole.is_some();
        assert!(all == content);
        is_whole
    }

    #[test]
    fn a_file_is_read_whole_if_its_records_fit() {
        assert!(is_read_whole([64, 64]));
        assert!(!is_read_whole([16, 16]));
        // Shorter than the first lines let expect.
        assert!(!is_read_whole([64, 2]));
        assert!(is_read_whole([512, 64]));
    }
}
