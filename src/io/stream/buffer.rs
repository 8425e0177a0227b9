//! A sliding window over an input: bytes read and not yet consumed.

use crate::error::Error;
use crate::io::number::ends_line;
use crate::io::source::{LineEnd, MARK, Opened};
use crate::memory;

pub(super) struct Buffer {
    opened: Opened,
    /// Bytes read, and room for more.
    bytes: Vec<u8>,
    /// Start of the unconsumed bytes.
    at: usize,
    /// End of the bytes read.
    end: usize,
    /// Initial size of the room.
    block: usize,
    /// Whether the input has ended.
    ended: bool,
    /// Whether a line end was appended to it.
    pub(super) completed: bool,
    /// The line of byte `counted` in `bytes`, from 1; updated only where others count, and when bytes are discarded.
    line: u64,
    /// No byte before it is looked at for its line again.
    counted: usize,
    /// Bytes discarded.
    discarded: u64,
    /// What ends a line.
    line_end: u8,
    /// Whether a CR alone ends a line, too.
    cr_ends_lines: bool,
    /// Whether the byte before that one is a CR, which ends a line unless an LF follows.
    after_cr: bool,
    /// The last byte consumed.
    last: u8,
}

impl Buffer {
    /// A buffer that reads blocks of this size, or larger ones where a record does not fit.
    pub(super) fn new(opened: Opened, block: usize, line_end: LineEnd, cr_ends_lines: bool) -> Self {
        let line_end = line_end.byte();
        // Room for a whole small file and one byte to detect its end. Special files report size 0.
        let size = opened.size.filter(|&size| size > 0);
        let all = size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX));
        let block = block.min(all.saturating_add(1));
        Self {
            opened,
            bytes: Vec::new(),
            at: 0,
            end: 0,
            block,
            ended: false,
            completed: false,
            line: 1,
            counted: 0,
            discarded: 0,
            line_end,
            cr_ends_lines,
            after_cr: false,
            last: line_end,
        }
    }

    /// The unconsumed bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.at..self.end]
    }

    /// The unconsumed bytes, at least `count` of them unless the input ends.
    pub(super) fn at_least(&mut self, count: usize) -> Result<&[u8], Error> {
        while self.bytes().len() < count && self.refill()? {}
        Ok(self.bytes())
    }

    /// Consumes `count` bytes.
    #[inline]
    pub(super) fn pass(&mut self, count: usize) {
        if count > 0 {
            self.at += count;
            self.last = self.bytes[self.at - 1];
        }
    }

    /// Consumes `count` bytes with this many line ends, the last of which is the last byte.
    pub(super) fn pass_lines(&mut self, count: usize, lines: u64) {
        self.line += self.lines_before(self.at) + lines;
        self.pass(count);
        self.counted = self.at;
    }

    /// The line of this byte, which is not before those counted.
    fn line_of(&self, byte: usize) -> u64 {
        self.line + self.lines_before(byte)
    }

    /// The number of line ends from the last byte counted to this one, among those read.
    fn lines_before(&self, byte: usize) -> u64 {
        let read = &self.bytes[self.counted..self.end];
        let is_after_cr = self.cr_ends_lines && self.counted == 0 && self.after_cr;
        let ended = is_after_cr && read.first().is_some_and(|&next| next != b'\n');
        self.line_ends(read, byte - self.counted) + u64::from(ended)
    }

    /// The number of line ends in the first `count` of these bytes.
    pub(super) fn line_ends(&self, bytes: &[u8], count: usize) -> u64 {
        let before = &bytes[..count];
        let mut lines = memchr::memchr_iter(self.line_end, before).count();
        if self.cr_ends_lines {
            let alone = |after: usize| bytes.get(after).is_some_and(|&next| next != b'\n');
            lines += memchr::memchr_iter(b'\r', before).filter(|at| alone(at + 1)).count();
        }
        lines as u64
    }

    /// Bytes consumed so far.
    pub(super) fn passed(&self) -> u64 {
        self.discarded + self.at as u64
    }

    /// Skips a byte order mark, if there is one.
    pub(super) fn pass_mark(&mut self) -> Result<bool, Error> {
        let is_there = !self.opened.is_run && self.at_least(MARK.len())?.starts_with(MARK);
        if is_there {
            self.at += MARK.len();
        }
        Ok(is_there)
    }

    /// Reads more; false at the end of the input.
    pub(super) fn refill(&mut self) -> Result<bool, Error> {
        if self.ended {
            return Ok(false);
        }
        if self.end == self.bytes.len() {
            self.make_room()?;
        }
        // Only what a pipe has available, since its writer may be slow.
        let count = self.opened.read_some(&mut self.bytes[self.end..])?;
        self.end += count;
        self.ended = count == 0;
        Ok(count > 0)
    }

    /// As [`Self::refill`], into room that becomes larger each time it was filled, up to `most`.
    pub(super) fn refill_much(&mut self, most: usize) -> Result<(), Error> {
        let larger = (2 * self.block).min(most);
        // Threads need what is left of a limit, too.
        let fits = || memory::address_space_left().is_none_or(|left| left / 4 > larger as u64);
        if self.block > most {
            self.keep_room(most)?;
        } else if larger > self.block && self.end == self.bytes.len() && fits() {
            self.block = larger;
        }
        if self.bytes.len() - self.end < self.block / 2 {
            self.make_room()?;
        }
        self.refill()?;
        Ok(())
    }

    /// Keeps no more room than for this many bytes, if no more are unread: it was larger when there were fewer others.
    pub(super) fn keep_room(&mut self, most: usize) -> Result<(), Error> {
        if self.block > most {
            self.block = most;
            if self.bytes().len() < most && self.bytes.len() > 2 * most {
                self.make_room()?;
                self.bytes.truncate(self.end.max(most));
                self.bytes.shrink_to_fit();
            }
        }
        Ok(())
    }

    /// Makes room for as many bytes again, so that each byte is moved a few times at most.
    fn make_room(&mut self) -> Result<(), Error> {
        self.line = self.line_of(self.at);
        // A CR that is not counted yet, since the byte after it is unknown.
        self.after_cr = self.last == b'\r' && self.at == self.end && (self.at > 0 || self.after_cr);
        self.bytes.copy_within(self.at..self.end, 0);
        self.discarded += self.at as u64;
        (self.at, self.end, self.counted) = (0, self.end - self.at, 0);
        let room = (2 * self.end).max(self.block);
        if room > self.bytes.len() {
            let more = room - self.bytes.len();
            self.opened.grow(&mut self.bytes, more)?;
            self.bytes.resize(room, 0);
        }
        Ok(())
    }

    /// As [`Self::refill`], with a missing line end appended at the end of the input.
    pub(super) fn refill_rows(&mut self) -> Result<bool, Error> {
        if self.refill()? {
            return Ok(true);
        }
        if self.completed || self.bytes().is_empty() || self.bytes().ends_with(&[self.line_end]) {
            return Ok(false);
        }
        if self.end == self.bytes.len() {
            self.make_room()?;
        }
        self.completed = true;
        self.bytes[self.end] = self.line_end;
        self.end += 1;
        Ok(true)
    }

    /// Whether the next byte begins a line.
    pub(super) fn at_line_start(&self) -> bool {
        self.last == self.line_end || self.cr_ends_lines && ends_line(self.last)
    }

    /// Whether reading never waits for others, since it is a file.
    pub(super) fn is_ready(&self) -> bool {
        self.opened.is_ready()
    }

    /// The input's name in messages.
    pub(super) fn name(&self) -> &str {
        &self.opened.name
    }

    /// What ends a line.
    pub(super) fn line_end(&self) -> u8 {
        self.line_end
    }

    /// `file:line` of the next byte.
    pub(super) fn place(&self) -> String {
        self.place_after(0)
    }

    /// `file:line` of the byte after the next `count`.
    pub(super) fn place_after(&self, count: usize) -> String {
        format!("{}:{}", self.name(), self.line + self.lines_before(self.at + count))
    }
}
