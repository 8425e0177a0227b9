//! A part of an input in memory: what was read and not passed yet.

use crate::error::Error;
use crate::io::source::{Input, MARK, Opened};

/// Bytes read at once.
const BLOCK: usize = 1 << 18;

pub(super) struct Buffer {
    opened: Opened,
    bytes: Vec<u8>,
    /// Where those begin that were not passed.
    at: usize,
    /// Whether the input has no more.
    ended: bool,
    /// Whether a line end was put behind it.
    completed: bool,
    /// The line that the first byte is in, from 1.
    line: u64,
    /// The byte that was passed last.
    last: u8,
}

impl Buffer {
    pub(super) fn new(input: &Input) -> Result<Self, Error> {
        let opened = input.open()?;
        Ok(Self { opened, bytes: Vec::new(), at: 0, ended: false, completed: false, line: 1, last: b'\n' })
    }

    /// What was read and not passed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// The same, with so many bytes at least, or all that are left.
    pub(super) fn at_least(&mut self, count: usize) -> Result<&[u8], Error> {
        while self.bytes().len() < count && self.refill()? {}
        Ok(self.bytes())
    }

    /// Goes on behind so many bytes.
    pub(super) fn pass(&mut self, count: usize) {
        let passed = &self.bytes[self.at..self.at + count];
        if let Some(&last) = passed.last() {
            self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.last = last;
            self.at += count;
        }
    }

    /// Goes on behind a byte order mark, if there is one.
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
        self.bytes.drain(..self.at);
        self.at = 0;
        let before = self.bytes.len();
        // Twice as much where that was not enough, so that a long row is not looked at time and again.
        let more = before.max(BLOCK);
        self.opened.grow(&mut self.bytes, more)?;
        self.bytes.resize(before + more, 0);
        // No more than a pipe has by now, since whoever writes to it may take his time.
        let count = self.opened.read_some(&mut self.bytes[before..])?;
        self.bytes.truncate(before + count);
        self.ended = count == 0;
        Ok(count > 0)
    }

    /// Reads more, at the end a line end that was lacking.
    pub(super) fn refill_rows(&mut self) -> Result<bool, Error> {
        if self.refill()? {
            return Ok(true);
        }
        if self.completed || self.bytes().is_empty() || self.bytes().ends_with(b"\n") {
            return Ok(false);
        }
        self.completed = true;
        self.bytes.push(b'\n');
        Ok(true)
    }

    /// Whether a line end was put behind the input.
    pub(super) fn is_completed(&self) -> bool {
        self.completed
    }

    /// Whether the next byte begins a line.
    pub(super) fn at_line_start(&self) -> bool {
        self.last == b'\n'
    }

    /// What a person calls the input.
    pub(super) fn name(&self) -> &str {
        &self.opened.name
    }

    /// `file:line` of the next byte.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.name(), self.line)
    }
}
