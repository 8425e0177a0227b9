//! Stretches of records that all cores look at, so that those in order are passed together.
//!
//! ```text
//! in memory   | piece | piece | piece | piece | part of a line
//! cores       first…last  ≤  first…last  ≤  …        types joined from left to right
//! ```
//!
//! A piece is whole lines. It is passed if its records are in order, none of them is an error, and it follows the
//! piece before it. The first other piece is left to be read record by record, which finds the very record and what to
//! say about it; so nothing here needs to be exact about errors, only about there being none.

use std::cmp::Ordering;
use std::ops::Range;

use super::cell::{Cell, Typing};
use super::{Columns, Form, Stream};
use crate::error::Error;
use crate::io::counts::Counts;
use crate::io::csv::{self, Row};
use crate::io::infer::{Spot, integer_of, limits};
use crate::io::number::{PerLine, Tokens, ends_line, float, has_fraction, is_space, token_at};
use crate::io::text;
use crate::key::ElementType;
use crate::order::KeyOrder;
use crate::parallel;

/// How much is looked at together, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The least that is in memory; less is read record by record.
    pub least: usize,
    /// The most that is in memory, but for longer records.
    pub most: usize,
    /// The least size of a piece.
    pub piece: usize,
}

impl Default for Stretches {
    /// Large enough that all cores are busy, and small enough for their caches.
    fn default() -> Self {
        Self::of(32 << 20)
    }
}

impl Stretches {
    /// At most this many bytes.
    pub(in crate::io) fn of(most: usize) -> Self {
        Self { least: (most / 4).min(1 << 10), most, piece: (most / 4).min(1 << 16) }
    }
}

/// The order that records are expected in.
#[derive(Clone, Copy)]
pub(in crate::io) struct Expected {
    pub(in crate::io) order: KeyOrder,
    /// Whether none repeats a key.
    pub(in crate::io) unique: bool,
}

impl Expected {
    /// Whether a record may follow another one that compares to it like this.
    #[inline]
    pub(in crate::io) fn allows(self, order: Ordering) -> bool {
        order.is_lt() || order.is_eq() && !self.unique
    }

    fn allows_after(self, last: i128, next: i128) -> bool {
        self.allows(if self.order.descending { next.cmp(&last) } else { last.cmp(&next) })
    }
}

/// Records that were read together.
#[derive(Default)]
pub(in crate::io) struct Batch {
    /// The words of their keys: for each record as many as there are keys.
    pub(in crate::io) keys: Vec<u128>,
    /// Their bytes, as they are written.
    pub(in crate::io) bytes: Vec<u8>,
    /// Where each of them ends.
    pub(in crate::io) ends: Vec<usize>,
}

/// What is kept of records that are passed.
trait Keep: Default + Send {
    /// Keeps a key of the next record.
    fn key(&mut self, word: impl FnOnce() -> u128);
    /// Keeps the record, of which these are the bytes.
    fn record(&mut self, bytes: [&[u8]; 2]);
}

/// Nothing is kept.
impl Keep for () {
    fn key(&mut self, _: impl FnOnce() -> u128) {}
    fn record(&mut self, _: [&[u8]; 2]) {}
}

impl Keep for Batch {
    #[inline]
    fn key(&mut self, word: impl FnOnce() -> u128) {
        self.keys.push(word());
    }

    #[inline]
    fn record(&mut self, bytes: [&[u8]; 2]) {
        bytes.into_iter().for_each(|bytes| self.bytes.extend_from_slice(bytes));
        self.ends.push(self.bytes.len());
    }
}

/// The keys of a record.
#[derive(Clone, Default)]
pub(in crate::io) struct Keys {
    pub(in crate::io) cells: Vec<Cell>,
    /// What they were made of.
    pub(in crate::io) tokens: Vec<Vec<u8>>,
}

/// The keys of the first and the last record of a piece, and where in it the last one begins.
type Ends = ([Vec<Cell>; 2], usize);

/// What a piece is found to be, if its records are in order.
struct Seen<K> {
    /// If there are any records.
    ends: Option<Ends>,
    typings: Vec<Typing>,
    left_out: Counts,
    /// Bytes of it, and line ends in them.
    length: usize,
    lines: u64,
    kept: K,
}

impl Stream {
    /// Passes the records from the next one on that follow `last` and each other as expected, as far as pieces of them
    /// do. Leaves `last` and the types as after them. Calls `progress` with the bytes consumed so far.
    pub(in crate::io) fn pass_ordered(
        &mut self,
        typings: &mut Vec<Typing>,
        last: &mut Option<Keys>,
        expected: Expected,
        stretches: &Stretches,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        self.buffer.pass(std::mem::take(&mut self.length));
        while self.pass_stretch::<()>(typings, last, expected, stretches, &mut Vec::new())? {
            progress(self.buffer.passed());
        }
        Ok(())
    }

    /// As [`Self::pass_ordered`], but only some records, which are added in batches, one after the other; none if the next
    /// one is to be read by itself.
    pub(in crate::io) fn read_ordered(
        &mut self,
        typings: &mut Vec<Typing>,
        last: &mut Option<Keys>,
        expected: Expected,
        stretches: &Stretches,
    ) -> Result<Vec<Batch>, Error> {
        self.buffer.pass(std::mem::take(&mut self.length));
        let mut batches: Vec<Batch> = Vec::new();
        while self.pass_stretch(typings, last, expected, stretches, &mut batches)?
            && batches.iter().all(|batch| batch.ends.is_empty())
        {}
        batches.retain(|batch| !batch.ends.is_empty());
        Ok(batches)
    }

    /// Passes the pieces in memory as far as they are in order; whether the next record needs not be read by itself.
    fn pass_stretch<K: Keep>(
        &mut self,
        typings: &mut Vec<Typing>,
        last: &mut Option<Keys>,
        expected: Expected,
        stretches: &Stretches,
        kept: &mut Vec<K>,
    ) -> Result<bool, Error> {
        if self.buffer.passed() < self.closely {
            return Ok(false);
        }
        // Reading may wait for the writer of a pipe, who may wait for what is said of the records that are here.
        if !self.has_record() {
            self.buffer.refill_much(stretches.most)?;
        }
        self.pass_blanks();
        let (begin, bytes) = (self.buffer.passed(), self.buffer.bytes());
        let line_end = self.buffer.line_end();
        let end = memchr::memrchr(line_end, bytes).map_or(0, |last| last + 1);
        if end == 0 || end < stretches.least {
            self.closely = begin + bytes.len() as u64;
            return Ok(false);
        }
        let pieces = if self.buffer.at_line_start() {
            self.see(end, typings, expected, stretches)
        } else {
            // The rest of a line, in which # begins no comment.
            vec![(0..memchr::memchr(line_end, bytes).map_or(end, |first| first + 1), None)]
        };
        for (piece, seen) in pieces {
            if begin + piece.start as u64 != self.buffer.passed() {
                // It was cut within a row; the next ones are cut where that ended.
                break;
            }
            if !seen.is_some_and(|seen| self.pass(seen, typings, last, expected, kept)) {
                self.closely = begin + piece.end as u64;
                break;
            }
        }
        Ok(true)
    }

    /// Whether there may be a whole record in memory after the current one.
    pub(in crate::io) fn has_record(&self) -> bool {
        let bytes = &self.buffer.bytes()[self.length..];
        if self.has_line_ends() {
            return memchr::memchr(self.buffer.line_end(), bytes).is_some();
        }
        let first = bytes.iter().position(|&byte| !is_space(byte));
        first.is_some_and(|first| bytes[first..].iter().any(|&byte| is_space(byte)))
    }

    /// Passes what is left of a line of text after its last token.
    fn pass_blanks(&mut self) {
        if self.has_line_ends() {
            return;
        }
        let bytes = self.buffer.bytes();
        let blanks = bytes.iter().position(|&byte| !is_space(byte)).unwrap_or(bytes.len());
        let line = bytes[..blanks].iter().rposition(|&byte| ends_line(byte));
        self.buffer.pass(line.map_or(0, |end| end + 1));
    }

    /// Passes a piece whose records are in order, if they also follow those before it.
    fn pass<K: Keep>(
        &mut self,
        seen: Seen<K>,
        typings: &mut Vec<Typing>,
        last: &mut Option<Keys>,
        expected: Expected,
        kept: &mut Vec<K>,
    ) -> bool {
        if let (Some(last), Some(([first, _], _))) = (&last, &seen.ends)
            && !expected.allows(self.compare(&last.cells, first, expected.order).0)
        {
            return false;
        }
        let joined = typings.iter().zip(seen.typings).map(|(typing, fork)| typing.join(fork));
        let Ok(joined) = joined.collect() else { return false };
        *typings = joined;
        self.left_out = self.left_out.and(seen.left_out);
        if let Some(([_, cells], at)) = seen.ends {
            *last = Some(Keys { cells, tokens: self.tokens_at(at) });
        }
        self.buffer.pass_lines(seen.length, seen.lines);
        kept.push(seen.kept);
        true
    }

    /// What the keys of the record at this byte are made of.
    fn tokens_at(&self, at: usize) -> Vec<Vec<u8>> {
        let bytes = self.buffer.bytes();
        let Form::Table(Some(columns)) = &self.form else { return vec![token_at(bytes, at).to_vec()] };
        let mut fields = vec![0..0; columns.model.keys.len()];
        // It was read before.
        let _ = columns.rows.read(&mut Row::new(at), bytes, &mut fields, &mut Counts::default());
        fields.into_iter().map(|field| columns.value(&bytes[field]).into_owned()).collect()
    }

    /// Bytes read so far.
    pub(in crate::io) fn passed(&self) -> u64 {
        self.buffer.passed()
    }

    /// What the pieces of the next `end` bytes are, which are whole lines.
    fn see<K: Keep>(
        &self,
        end: usize,
        typings: &[Typing],
        expected: Expected,
        stretches: &Stretches,
    ) -> Vec<(Range<usize>, Option<Seen<K>>)> {
        let bytes = &self.buffer.bytes()[..end];
        // Some for each core, so that those that are done early find more.
        let size = (end / parallel::threads() / 4).max(stretches.piece);
        let pieces = match &self.form {
            Form::Text { .. } => text::pieces(bytes, 0..end, size),
            Form::Table(Some(columns)) => csv::pieces(bytes, 0..end, columns.rows.fields, size),
            Form::Table(None) => return vec![(0..end, None)],
        };
        parallel::map_parts(pieces, |piece| {
            let typings = || typings.iter().map(|typing| typing.fork(piece.start as u64)).collect();
            let numbers = |expected| {
                let integers = self.integers_of(piece.clone(), typings(), expected);
                integers.or_else(|| self.numbers_of(piece.clone(), typings(), expected))
            };
            let seen = match &self.form {
                Form::Table(Some(columns)) => {
                    let order = columns.numbers.map(|order| Expected { order, ..expected });
                    order
                        .and_then(numbers)
                        .or_else(|| self.rows_of(columns, piece.clone(), end, typings(), expected))
                }
                _ => numbers(expected),
            };
            (piece, seen)
        })
    }

    fn seen<K>(
        &self,
        piece: Range<usize>,
        ends: Option<Ends>,
        typings: Vec<Typing>,
        left_out: Counts,
        kept: K,
    ) -> Seen<K> {
        let lines = self.buffer.line_ends(&self.buffer.bytes()[piece.clone()], piece.len());
        Seen { ends, typings, left_out, length: piece.len(), lines, kept }
    }

    /// The tokens of whole lines of text, or of lines that are numbers and nothing else.
    fn tokens<'a>(&self, bytes: &'a [u8]) -> Tokens<'a> {
        let per_line = if let Form::Text { per_line, .. } = self.form { per_line } else { PerLine::Whole };
        Tokens::per_line(bytes, per_line, false)
    }

    /// A piece of text of which these are all tokens; `None` where a line has more than it may have.
    fn seen_in_text<K>(
        &self,
        piece: Range<usize>,
        ends: Option<([Vec<Cell>; 2], usize)>,
        typings: Vec<Typing>,
        tokens: &Tokens,
        kept: K,
    ) -> Option<Seen<K>> {
        let left_out = Counts { comments: tokens.comments, ..Counts::default() };
        tokens.excess.is_none().then(|| self.seen(piece, ends, typings, left_out, kept))
    }

    /// A piece of text that has integers alone, which need no decision between integers and floats.
    fn integers_of<K: Keep>(
        &self,
        piece: Range<usize>,
        mut typings: Vec<Typing>,
        expected: Expected,
    ) -> Option<Seen<K>> {
        let typing = &mut typings[0];
        let asked = typing.asked();
        if typing.is_float() || asked.is_some_and(ElementType::is_float) {
            return None;
        }
        let bytes = &self.buffer.bytes()[piece.clone()];
        let descending = expected.order.descending;
        let (mut tokens, mut kept) = (self.tokens(bytes), K::default());
        let mut ends: Option<[i128; 2]> = None;
        let mut last = 0;
        loop {
            if let Some([_, end]) = &mut ends {
                let keep = |value: i64, start: usize, length: usize| {
                    last = start;
                    kept.key(|| Cell::of_integer(value.into()).word(descending));
                    kept.record([&bytes[start..start + length], b"\n"]);
                };
                *end = pass_short(&mut tokens, *end, typing, expected, keep)?;
            }
            let Some(start) = tokens.find() else { break };
            last = start;
            let token = tokens.take_token();
            let (value, canonical) = integer_of(token, asked)?;
            // −0 may be less than 0.
            if value == 0 && !canonical {
                return None;
            }
            typing.push_integer(value, || self.spot(piece.start + start));
            kept.key(|| Cell::of_integer(value).word(descending));
            kept.record([token, b"\n"]);
            match &mut ends {
                None => ends = Some([value, value]),
                Some([_, end]) if expected.allows_after(*end, value) => *end = value,
                Some(_) => return None,
            }
        }
        let ends = ends.map(|ends| (ends.map(|value| vec![Cell::of_integer(value)]), last));
        self.seen_in_text(piece, ends, typings, &tokens, kept)
    }

    /// A piece of text.
    fn numbers_of<K: Keep>(
        &self,
        piece: Range<usize>,
        mut typings: Vec<Typing>,
        expected: Expected,
    ) -> Option<Seen<K>> {
        let typing = &mut typings[0];
        let element = typing.asked().unwrap_or(ElementType::F64);
        let bytes = &self.buffer.bytes()[piece.clone()];
        let descending = expected.order.descending;
        let (mut tokens, mut kept) = (self.tokens(bytes), K::default());
        let mut ends: Option<[Cell; 2]> = None;
        let mut begin = 0;
        while let Some(start) = tokens.find() {
            begin = start;
            let read = if typing.is_float() { float(&bytes[start..], element) } else { None };
            let (cell, token) = match read.filter(|&(value, _)| has_fraction(value)) {
                // A number with a fraction always has a point or an exponent.
                Some((value, length)) if tokens.pass(length) => {
                    typing.push_number(|| self.spot(piece.start + start));
                    (Cell::of_float(value), &bytes[start..start + length])
                }
                _ => {
                    let token = tokens.take_token();
                    let place = || (self.buffer.place_after(piece.start + start), self.column());
                    (typing.cell(token, place).ok()??, token)
                }
            };
            kept.key(|| cell.word(descending));
            kept.record([token, b"\n"]);
            match &mut ends {
                None => ends = Some([cell, cell]),
                Some([_, last]) => {
                    if !expected.allows(last.compare(&cell, descending)) {
                        return None;
                    }
                    *last = cell;
                }
            }
        }
        let ends = ends.map(|ends| (ends.map(|cell| vec![cell]), begin));
        self.seen_in_text(piece, ends, typings, &tokens, kept)
    }

    /// The token at this byte, for a message.
    fn spot(&self, at: usize) -> Spot {
        let token = token_at(self.buffer.bytes(), at).to_vec();
        Spot { place: self.buffer.place_after(at), column: self.column(), token }
    }

    /// The name of the only key of lines, for a message; text has none.
    fn column(&self) -> Option<String> {
        self.columns().and_then(|columns| columns.name(&columns.model.keys[0]))
    }

    /// The rows that begin in a piece.
    fn rows_of<K: Keep>(
        &self,
        columns: &Columns,
        piece: Range<usize>,
        end: usize,
        mut typings: Vec<Typing>,
        expected: Expected,
    ) -> Option<Seen<K>> {
        let bytes = &self.buffer.bytes()[..end];
        let keys = &columns.model.keys;
        let mut kept = K::default();
        let mut left_out = Counts::default();
        let mut fields = vec![0..0; keys.len()];
        let (mut first, mut last, mut begin) = (None, Vec::new(), 0);
        let mut cells = Vec::with_capacity(keys.len());
        let mut at = piece.start;
        while at < piece.end {
            let (next, line) =
                columns.rows.read(&mut Row::new(at), bytes, &mut fields, &mut left_out).ok()??;
            if let csv::Line::Row = line {
                cells.clear();
                for ((field, key), typing) in fields.iter().zip(keys).zip(&mut typings) {
                    let place = || (self.buffer.place_after(at), columns.name(key));
                    let cell = typing.cell(&columns.value(&bytes[field.clone()]), place).ok()??;
                    kept.key(|| cell.word(key.descending));
                    cells.push(cell);
                }
                kept.record(self.written_row(at, next));
                if first.is_none() {
                    first = Some(cells.clone());
                } else if !expected.allows(self.compare(&last, &cells, expected.order).0) {
                    return None;
                }
                std::mem::swap(&mut last, &mut cells);
                begin = at;
            }
            at = next;
        }
        Some(self.seen(
            piece.start..at,
            first.map(|first| ([first, last], begin - piece.start)),
            typings,
            left_out,
            kept,
        ))
    }
}

/// Passes short integers that follow `before` and each other, as most do. Returns the last one; `None` where one does not
/// follow. Calls `keep` with each, and with where it begins and its length.
#[inline]
fn pass_short(
    tokens: &mut Tokens,
    before: i128,
    typing: &mut Typing,
    expected: Expected,
    mut keep: impl FnMut(i64, usize, usize),
) -> Option<i128> {
    // All of these are exact in f64.
    const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
    let Ok(before) = i64::try_from(before) else { return Some(before) };
    // The caller notes a first negative one.
    let all = (if typing.has_negative() { -EXACT } else { 0 }.into(), EXACT.into());
    let (lowest, highest) = typing.asked().map_or(all, limits);
    let [lowest, highest] = [lowest, highest].map(|limit| limit.clamp((-EXACT).into(), EXACT.into()) as i64);
    // Inverted where the largest come first, and one more where none may repeat, so that one comparison will do.
    let flip = -i64::from(expected.order.descending);
    let step = i64::from(expected.unique);
    let (mut end, mut count, mut span) = (before ^ flip, 0, [before, before]);
    while let Some(start) = tokens.find() {
        let Some(short) = tokens.short_integer() else { break };
        let value = short.value;
        if value < lowest || value > highest || value == 0 && !short.canonical {
            break;
        }
        if (value ^ flip) < end.saturating_add(step) {
            return None;
        }
        end = value ^ flip;
        span = [span[0].min(value), span[1].max(value)];
        count += 1;
        keep(value, start, short.length);
        tokens.pass(short.length);
    }
    typing.push_short(span, count);
    Some((end ^ flip).into())
}
