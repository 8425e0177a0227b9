//! The text of inputs in chunks that fit a budget.
//!
//! ```text
//! input 0  ─────────── input 1 ────────────|────────────── input 2 ──
//! chunks   ┌──────── parts ───────────────┐┌───────────────────────┐
//! ```
//!
//! A chunk is parts of inputs, and ends where a record ends. Its size depends on the number of
//! records in it, since each takes memory of its own: a short one more than its text.

use super::batch::InputSpec;
use super::csv::{self, Dialect, Fields};
use super::number::{PerLine, is_space};
use super::source::{BLOCK, Before, Input, MARK, Opened, Text, count, sum};
use crate::error::{Error, Hint};
use crate::human;
use crate::runs::{Budget, RECORDS};

/// The least bytes of a record.
const SHORTEST: u64 = 2;

/// At least the number of records that end in these bytes.
fn count_records(fields: Fields, bytes: &[u8]) -> u64 {
    if fields.are_tokens() {
        // Blanks, and some more; sums of few bytes fit one byte each, so that many are added at
        // once.
        let few = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(byte <= b' ')).sum::<u8>();
        return sum(bytes, |bytes| bytes.chunks(255).map(|bytes| u64::from(few(bytes))).sum());
    }
    count(fields.line_end().byte(), bytes)
}

/// Reads inputs in chunks.
pub(crate) struct Chunks<'a> {
    inputs: &'a [Input],
    dialect: Dialect,
    /// How many numbers a line may have, in text.
    per_line: Option<PerLine>,
    keys: u64,
    /// Bytes of copies of the keys for each byte that is read, and those of quotes in quotes, once
    /// there are any.
    copies: u64,
    copies_of_quotes: u64,
    has_quotes_in_quotes: bool,
    budget: &'a Budget,
    open: Option<Opened>,
    /// Bytes of the open input that were read and not given yet.
    rest: Vec<u8>,
    /// What of it was given.
    before: Option<Before>,
    /// Bytes read so far.
    pub(crate) bytes: u64,
    /// Whether one was given.
    is_begun: bool,
    /// How much of an input is read at once that may be a pipe.
    room: usize,
    /// Room for a text, which may have bytes of an earlier one.
    spare: Vec<u8>,
}

/// Writes these bytes at a place of others, or after them, and returns where they end.
fn put(bytes: &mut Vec<u8>, at: usize, these: &[u8]) -> usize {
    let end = at + these.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[at..end].copy_from_slice(these);
    end
}

impl<'a> Chunks<'a> {
    /// The text of inputs from the beginning.
    pub(crate) fn new(inputs: &'a [Input], how: &InputSpec, budget: &'a Budget) -> Self {
        let (open, rest, before) = (None, Vec::new(), None);
        let ((dialect, per_line), (copies, quotes)) = (how.kind.divided(), how.copies());
        Self {
            inputs,
            dialect,
            per_line,
            keys: how.keys.len() as u64,
            copies,
            copies_of_quotes: if matches!(dialect.fields, Fields::Quoted(_)) { quotes } else { 0 },
            has_quotes_in_quotes: false,
            budget,
            open,
            rest,
            before,
            bytes: 0,
            is_begun: false,
            room: 0,
            spare: Vec::new(),
        }
    }

    /// Leaves out what was not read.
    pub(crate) fn end(&mut self) {
        (self.inputs, self.open) = (&[], None);
    }

    /// Leaves out this many inputs, and of the next one what comes before the place at which it is
    /// open: this many bytes in all.
    pub(crate) fn begin_with(&mut self, inputs: usize, open: Option<(Opened, Before)>, bytes: u64) {
        self.inputs = &self.inputs[inputs + usize::from(open.is_some())..];
        (self.open, self.before) = open.unzip();
        self.bytes = bytes;
    }

    /// Whether all was given.
    pub(crate) fn is_over(&self) -> bool {
        self.inputs.is_empty() && self.open.is_none()
    }

    /// About how much memory a record takes beside its text.
    fn record(&self) -> u64 {
        // Keys that stay, and the places of records; with those of the one that is read meanwhile.
        let next = if self.is_begun { 36 + 20 * self.keys } else { 0 };
        let this = if self.per_line.is_some() { 40 } else { 32 + 40 * self.keys.max(1) };
        this + self.budget.of_position() + next
    }

    /// Whether this much text of a chunk is enough.
    fn is_full(&self, bytes: u64, records: u64) -> bool {
        !self.fits_in_any_case(bytes) && (self.left(bytes, records) == 0 || records > RECORDS)
    }

    /// How much memory is left for more of a chunk that has this much text and this many records.
    fn left(&self, bytes: u64, records: u64) -> u64 {
        let memory = (bytes * self.copied()).saturating_add(records * self.record());
        (self.budget.bytes() / 4 * 3).saturating_sub(memory)
    }

    /// How often the bytes that are read are in memory.
    fn copied(&self) -> u64 {
        self.texts() + self.copies + if self.has_quotes_in_quotes { self.copies_of_quotes } else { 0 }
    }

    /// There is room for one more, which may be read while this one is sorted.
    fn texts(&self) -> u64 {
        if self.is_begun { 2 } else { 1 }
    }

    /// How much to read next of such a chunk: half of what there is room for if it goes on like
    /// this.
    fn block(&self, bytes: u64, records: u64) -> usize {
        const LEAST: usize = 1 << 16;
        // Fewer bytes tell nothing of the others.
        const FEW: u64 = 1 << 12;
        // At first no more than an input mostly has.
        let most = self.budget.step().min(BLOCK.max(bytes as usize));
        if !self.budget.is_known() {
            return most;
        }
        match self.left(bytes, records) {
            // A record takes more than all memory.
            0 if self.is_full(bytes, records) => most.max((bytes as usize / 8).min(1 << 27)),
            left => {
                let (bytes, records) = if bytes < FEW { (SHORTEST, 1) } else { (bytes, records) };
                let each = self.copied() + (records * self.record()).div_ceil(bytes);
                usize::try_from(left / each / 2).unwrap_or(most).max(LEAST).min(most)
            }
        }
    }

    /// The next chunk; `None` at the end. Calls `progress` with the bytes read so far.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn next(&mut self, progress: impl Fn(u64)) -> Result<Option<Text>, Error> {
        let next = self.read_next(progress);
        self.is_begun = true;
        next
    }

    fn read_next(&mut self, progress: impl Fn(u64)) -> Result<Option<Text>, Error> {
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
            if self.open_next(false)? {
                text.bytes.push(b' ');
            }
            text.bytes.append(&mut self.rest);
            records += count_records(self.dialect.fields, &text.bytes[begin..]);
            while !self.fill(&mut text.bytes, &mut records, &progress)? {
                if let Some(cut) = self.cut(&text, begin) {
                    self.rest = text.bytes.split_off(cut);
                    // It is enough if there are only whole parts, too.
                    if cut > begin {
                        self.end_part(&mut text, begin);
                    }
                    return Ok(Some(text));
                }
                // There is no other way than to read more.
                self.check_record(&mut text, begin)?;
            }
            self.end_part(&mut text, begin);
            self.open = None;
        }
        Ok((!text.parts.is_empty()).then_some(text))
    }

    /// Checks that a record may be as long as what begins here.
    fn check_record(&mut self, text: &mut Text, begin: usize) -> Result<(), Error> {
        let most = self.budget.record();
        if (text.bytes.len() - begin) as u64 <= most {
            return Ok(());
        }
        self.end_part(text, begin);
        let start = text.parts.last().map_or(begin, |part| part.range.start);
        let [most, all] = [most, self.budget.total()].map(human::bytes);
        let problem = format!("this record has more than {most}, too much for a memory budget of {all}");
        Err(Error::input(text.line_of(start, self.dialect.fields.are_tokens()), problem)
            .hinting(Hint::Memory))
    }

    /// Opens the next input so, if none is open. Whether what comes is the rest of a line, in
    /// which # begins no comment, so that a blank is to be before it.
    fn open_next(&mut self, shut: bool) -> Result<bool, Error> {
        if self.open.is_some() {
            return Ok(self.before.is_some_and(|before| before.columns > 0));
        }
        self.open = Some(self.inputs[0].open_as(shut)?);
        self.before = self.inputs[0].before();
        self.inputs = &self.inputs[1..];
        Ok(false)
    }

    /// The next records that are there, of about `most` bytes, but at least one; `None` at the end.
    /// Waits for others only where no record is whole. Files that are to be shut are open only while
    /// they are read.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn some(&mut self, most: usize, shut: bool) -> Result<Option<Text>, Error> {
        let mut text = Text { line_end: self.dialect.fields.line_end(), ..Text::default() };
        while !self.is_over() && text.parts.is_empty() {
            text.bytes = std::mem::take(&mut self.spare);
            let begin = 0;
            let mut filled = begin;
            if self.open_next(shut)? {
                filled = put(&mut text.bytes, filled, b" ");
            }
            filled = put(&mut text.bytes, filled, &self.rest);
            self.rest.clear();
            let mut looked = begin;
            loop {
                let count = self.more(&mut text.bytes, filled, most)?;
                filled += count;
                if count == 0 {
                    text.bytes.truncate(filled);
                    break;
                }
                let new = filled.saturating_sub(count + 1).max(begin);
                if self.may_have_whole(&text.bytes[new..filled], filled - begin, looked - begin) {
                    looked = filled;
                    let rest = text.bytes.split_off(filled);
                    if let Some(cut) = self.cut(&text, begin) {
                        self.rest = text.bytes.split_off(cut);
                        self.end_part(&mut text, begin);
                        self.is_begun = true;
                        return Ok(Some(text));
                    }
                    text.bytes.extend_from_slice(&rest);
                }
            }
            self.end_part(&mut text, begin);
            self.open = None;
        }
        self.is_begun = true;
        Ok((!text.parts.is_empty()).then_some(text))
    }

    /// Has the room of a text that nobody needs any more taken for another one: new pages would
    /// cost page faults.
    pub(crate) fn recycle(&mut self, text: Text) {
        self.spare = text.bytes;
    }

    /// Reads what is there of the open input after these bytes, in room that becomes larger each
    /// time it was filled; 0 at the end.
    fn more(&mut self, bytes: &mut Vec<u8>, filled: usize, most: usize) -> Result<usize, Error> {
        const FIRST: usize = 1 << 16;
        let Some(opened) = &mut self.open else { return Ok(0) };
        let first = if opened.is_ready() { most } else { FIRST };
        // A text that was short leaves little room for the next one.
        if filled == bytes.len() || bytes.len() - filled < FIRST.min(most) {
            // In proportion to what is there, where a record is longer.
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

    /// Whether there may be a whole record in so many bytes, of which these are new; so many were
    /// looked at without finding one. To look at a long one with every piece that comes would take
    /// very long.
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

    /// Whether reading never waits for others.
    pub(crate) fn is_ready(&self) -> bool {
        self.open.as_ref().is_none_or(Opened::is_ready)
    }

    /// The only input, if it is a file that fits whatever is in it, and is not begun.
    fn whole_file(&mut self) -> Result<Option<Text>, Error> {
        let [input] = self.inputs else { return Ok(None) };
        if self.bytes > 0 {
            return Ok(None);
        }
        let file = input.open_regular()?.filter(|file| file.size > BLOCK as u64);
        let Some(file) = file.filter(|file| self.fits_in_any_case(file.size)) else { return Ok(None) };
        self.inputs = &[];
        Text::of_file(&file, self.dialect.fields.line_end()).map(Some)
    }

    /// Whether this much text fits, whatever is in it.
    fn fits_in_any_case(&self, bytes: u64) -> bool {
        let times = 1 + self.copies + self.copies_of_quotes + self.record() / SHORTEST;
        bytes / SHORTEST <= RECORDS && self.budget.fits(bytes, times)
    }

    /// Reads until the chunk is full; whether the input has ended.
    fn fill(
        &mut self,
        bytes: &mut Vec<u8>,
        records: &mut u64,
        progress: &impl Fn(u64),
    ) -> Result<bool, Error> {
        let size = self.open.as_ref().and_then(|opened| opened.size);
        // One more byte to detect the end.
        let all = size.filter(|&size| self.fits_in_any_case(size)).map_or(0, |size| size + 1);
        loop {
            let begin = bytes.len();
            let block = self.block(begin as u64, *records);
            let Some(opened) = &mut self.open else { return Ok(true) };
            let block = usize::try_from(all).ok().filter(|&all| all > 0).map_or(block, |all| block.min(all));
            if bytes.capacity() - begin < block {
                // In proportion to the size, since memory is short for large inputs.
                let more = usize::try_from(all).unwrap_or(usize::MAX).max(begin / 4).max(block);
                opened.grow(bytes, more)?;
            }
            bytes.resize(begin + block, 0);
            let count = opened.fill(&mut bytes[begin..])?;
            bytes.truncate(begin + count);
            *records += count_records(self.dialect.fields, &bytes[begin..]);
            if self.copies_of_quotes > 0 && !self.has_quotes_in_quotes {
                self.has_quotes_in_quotes = memchr::memmem::find(&bytes[begin..], b"\"\"").is_some();
            }
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

    /// Ends the part of the open input that begins here.
    fn end_part(&mut self, text: &mut Text, begin: usize) {
        let name = self.open.as_ref().map_or_else(String::new, |opened| opened.name.clone());
        // Without the blank before the rest of a line.
        let before = self.before.map(|before| Before { columns: before.columns.saturating_sub(1), ..before });
        let part = &text.bytes[begin..];
        let part = if before.is_none() { part.strip_prefix(MARK).unwrap_or(part) } else { part };
        let Before { lines, columns, begun, .. } = if self.dialect.fields.are_tokens() {
            Before::of_text(part)
        } else {
            Before::of_rows(part, self.dialect.fields.line_end())
        };
        text.end_part(name, begin, before);
        let before = before.unwrap_or_default();
        let line = if lines == 0 { before } else { Before::default() };
        let columns = line.columns + columns;
        self.before =
            Some(Before { lines: before.lines + lines, columns, begun: line.begun || begun, line_end: None });
    }

    /// Where to cut the part of the text that begins at `begin`, so that only whole records are
    /// before it; at `begin` if the parts before it are enough. `None` if there is no such place
    /// yet.
    fn cut(&self, text: &Text, begin: usize) -> Option<usize> {
        let part = &text.bytes[begin..];
        let fields = self.dialect.fields;
        let cut = match self.per_line {
            Some(PerLine::One | PerLine::Whole) => end_of_lines(part),
            _ if fields.are_tokens() => cut_of_text(part),
            _ if self.before.is_none() => {
                let first = csv::end_of_first_row(part, self.dialect);
                first.and_then(|first| csv::end_of_rows(part, fields, true).filter(|&end| end >= first))
            }
            _ => csv::end_of_rows(part, fields, false),
        };
        cut.map(|cut| begin + cut).or_else(|| (begin > 0).then_some(begin))
    }
}

/// After the last line.
fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    // An LF may follow the last byte.
    let without = &bytes[..bytes.len().saturating_sub(1)];
    memchr::memrchr(b'\n', bytes).or_else(|| memchr::memrchr(b'\r', without)).map(|end| end + 1)
}

/// After the last line, or in a line of many tokens after a blank.
fn cut_of_text(bytes: &[u8]) -> Option<usize> {
    if let Some(end) = end_of_lines(bytes) {
        return Some(end);
    }
    let without = &bytes[..bytes.len().saturating_sub(1)];
    let blank = without.iter().rposition(|&byte| is_space(byte))?;
    Some(blank + 1)
}
