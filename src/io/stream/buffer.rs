//! A part of an input in memory: what was read and not passed yet.

use crate::error::Error;
use crate::io::csv::line_end;
use crate::io::number::ends_line;
use crate::io::source::{MARK, Opened};

pub(super) struct Buffer {
    opened: Opened,
    /// What was read, and room for more.
    bytes: Vec<u8>,
    /// Where those begin that were not passed.
    at: usize,
    /// Where the room begins.
    end: usize,
    /// How much room there is at first.
    block: usize,
    /// Whether the input has no more.
    ended: bool,
    /// Whether a line end was put after it.
    completed: bool,
    /// The line that the first byte is in which was read, passed or not, from 1. Lines are counted when one is to be told, or
    /// bytes are to be forgotten.
    line: u64,
    /// Whether a CR alone ends a line.
    cr_ends_lines: bool,
    /// Whether a CR is before that byte which ends a line unless an LF follows.
    after_cr: bool,
    /// The byte that was passed last.
    last: u8,
}

impl Buffer {
    /// Of an input that is read in blocks of this size, or larger ones where a record does not fit.
    pub(super) fn new(opened: Opened, block: usize, cr_ends_lines: bool) -> Self {
        // Room for all of a small file, and a byte more, by which its end is seen.
        // Files of the system's own have no size.
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
            cr_ends_lines,
            after_cr: false,
            last: b'\n',
        }
    }

    /// What was read and not passed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.at..self.end]
    }

    /// The same, with so many bytes at least, or all that are left.
    pub(super) fn at_least(&mut self, count: usize) -> Result<&[u8], Error> {
        while self.bytes().len() < count && self.refill()? {}
        Ok(self.bytes())
    }

    /// Bytes of the line end that comes next, if one does, which at the end of the input may lack its LF; else 0.
    pub(super) fn line_end(&mut self) -> Result<usize, Error> {
        if self.at_least(1)? == b"\r" {
            self.refill_rows()?;
        }
        Ok(line_end(self.bytes()))
    }

    /// Goes on after so many bytes.
    #[inline]
    pub(super) fn pass(&mut self, count: usize) {
        if count > 0 {
            self.at += count;
            self.last = self.bytes[self.at - 1];
        }
    }

    /// How many lines end before this byte, of those that were read.
    fn lines_before(&self, byte: usize) -> u64 {
        let (read, before) = (&self.bytes[..self.end], &self.bytes[..byte]);
        let mut lines = memchr::memchr_iter(b'\n', before).count();
        if self.cr_ends_lines {
            let alone = |after: usize| read.get(after).is_some_and(|&next| next != b'\n');
            lines += memchr::memchr_iter(b'\r', before).filter(|at| alone(at + 1)).count();
            lines += usize::from(self.after_cr && alone(0));
        }
        lines as u64
    }

    /// Goes on after a byte order mark, if there is one.
    pub(super) fn pass_mark(&mut self) -> Result<bool, Error> {
        let is_there = self.at_least(MARK.len())?.starts_with(MARK);
        if is_there {
            self.at += MARK.len();
        }
        Ok(is_there)
    }

    /// Reads more; false if there is no more.
    pub(super) fn refill(&mut self) -> Result<bool, Error> {
        if self.ended {
            return Ok(false);
        }
        if self.end == self.bytes.len() {
            self.make_room()?;
        }
        // No more than a pipe has by now, since whoever writes to it may take his time.
        let count = self.opened.read_some(&mut self.bytes[self.end..])?;
        self.end += count;
        self.ended = count == 0;
        Ok(count > 0)
    }

    /// Makes room for as many bytes as are there, by which each byte is moved a few times at the most.
    fn make_room(&mut self) -> Result<(), Error> {
        self.line += self.lines_before(self.at);
        // One that is not counted yet, since nothing is known of what follows.
        self.after_cr = self.last == b'\r' && self.at == self.end && (self.at > 0 || self.after_cr);
        self.bytes.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        let room = (2 * self.end).max(self.block);
        if room > self.bytes.len() {
            let more = room - self.bytes.len();
            self.opened.grow(&mut self.bytes, more)?;
            self.bytes.resize(room, 0);
        }
        Ok(())
    }

    /// Reads more, at the end a line end that was lacking.
    pub(super) fn refill_rows(&mut self) -> Result<bool, Error> {
        if self.refill()? {
            return Ok(true);
        }
        if self.completed || self.bytes().is_empty() || self.bytes().ends_with(b"\n") {
            return Ok(false);
        }
        if self.end == self.bytes.len() {
            self.make_room()?;
        }
        self.completed = true;
        self.bytes[self.end] = b'\n';
        self.end += 1;
        Ok(true)
    }

    /// Whether a line end was put after the input.
    pub(super) fn is_completed(&self) -> bool {
        self.completed
    }

    /// Whether the next byte begins a line.
    pub(super) fn at_line_start(&self) -> bool {
        ends_line(self.last)
    }

    /// What messages call the input.
    pub(super) fn name(&self) -> &str {
        &self.opened.name
    }

    /// `file:line` of the next byte.
    pub(super) fn place(&self) -> String {
        self.place_after(0)
    }

    /// `file:line` of the byte after so many.
    pub(super) fn place_after(&self, count: usize) -> String {
        format!("{}:{}", self.name(), self.line + self.lines_before(self.at + count))
    }
}
