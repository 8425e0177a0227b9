//! Records as they come, one at a time, for inputs that are larger than memory or have no end yet.

mod buffer;
pub(super) mod cell;

use std::ops::Range;

use self::buffer::Buffer;
use self::cell::{Cell, NoCell, Typing};
use super::csv::{
    By, Dialect, Found, Header, UNCLOSED, for_each_field, is_invalid, line_end, ragged, trimmed, unquoted,
};
use super::number::is_space;
use super::rules::{Counts, Direction, Place, Rules};
use super::source::Input;
use crate::error::Error;
use crate::io::binary::{self, Source};

/// What inputs are, all of them.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Numbers separated by white space.
    Text,
    /// Rows.
    Table(Dialect),
    /// Elements, and where those of each input are.
    Bits(Vec<Source>),
}

/// What inputs are and how their records are ordered.
#[derive(Clone, Debug)]
pub struct How {
    /// What they are.
    pub kind: Kind,
    /// The direction of numbers in text and binary.
    pub direction: Direction,
    /// The columns of a table and their directions; the type asked for, also of text; what becomes of what is no number.
    pub by: By,
}

/// The records of one input.
pub(super) struct Stream {
    buffer: Buffer,
    form: Form,
    /// Bytes of the record that was found, with its line end if it is a row.
    length: usize,
    /// Where the fields of its keys are in it.
    fields: Vec<Range<usize>>,
    /// What it is ordered by.
    pub(super) cells: Vec<Cell>,
    /// Records passed, for those that have no lines.
    number: u64,
    /// Rows and lines that were left out, and why.
    left_out: Counts,
}

enum Form {
    Text,
    /// Rows, if there is a header or a first row.
    Table(Option<Columns>),
    Bits(Source, Direction),
}

/// What is known of a table from its first row.
struct Columns {
    dialect: Dialect,
    /// Whether there is a byte order mark before it.
    mark: bool,
    /// The header with its line end; nothing if there is none.
    header: Vec<u8>,
    names: Header,
    keys: Vec<Found>,
    skips_invalid: bool,
    /// The line end of the first row that has one.
    line_end: &'static [u8],
}

/// What a table begins with.
pub(super) struct Head<'a> {
    /// Whether it is a byte order mark.
    pub(super) mark: bool,
    /// The header with its line end; nothing if there is none.
    pub(super) header: &'a [u8],
    /// The line end of the first row.
    pub(super) line_end: &'static [u8],
}

impl Stream {
    pub(super) fn text(input: &Input) -> Result<Self, Error> {
        let mut buffer = Buffer::new(input)?;
        buffer.pass_mark()?;
        Ok(Self::new(buffer, Form::Text))
    }

    /// Reads the header too.
    pub(super) fn table(input: &Input, dialect: Dialect, by: &By) -> Result<Self, Error> {
        let mut buffer = Buffer::new(input)?;
        let mark = buffer.pass_mark()?;
        // Blank lines before a header are none of its rows.
        while dialect.header && line_end(buffer.at_least(2)?) > 0 {
            buffer.pass(line_end(buffer.bytes()));
        }
        let columns = loop {
            // The first row that is not blank says how many columns there are.
            let mut start = 0;
            while line_end(&buffer.bytes()[start..]) > 0 {
                start += line_end(&buffer.bytes()[start..]);
            }
            let read = Header::read(buffer.bytes(), start, dialect);
            if let Some((next, names)) = read.filter(|_| start < buffer.bytes().len()) {
                let row = &buffer.bytes()[start..next];
                let line_end: &[u8] = if row.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
                let keys = names.find(by, buffer.name())?;
                let header = if dialect.header { row.to_vec() } else { Vec::new() };
                if dialect.header {
                    buffer.pass(next);
                }
                let skips_invalid = by.rules.invalid == Place::Skip;
                break Some(Columns { dialect, mark, header, names, keys, skips_invalid, line_end });
            }
            if !buffer.refill_rows()? {
                if start < buffer.bytes().len() {
                    return Err(unclosed(&buffer));
                }
                break None;
            }
        };
        Ok(Self::new(buffer, Form::Table(columns)))
    }

    pub(super) fn bits(source: &Source, direction: Direction) -> Result<Self, Error> {
        let mut buffer = Buffer::new(source.input())?;
        let header = source.skip();
        if buffer.at_least(header)?.len() < header {
            source.check(0)?;
        }
        buffer.pass(header.min(buffer.bytes().len()));
        Ok(Self::new(buffer, Form::Bits(source.clone(), direction)))
    }

    fn new(buffer: Buffer, form: Form) -> Self {
        Self {
            buffer,
            form,
            length: 0,
            fields: Vec::new(),
            cells: Vec::new(),
            number: 0,
            left_out: Counts::default(),
        }
    }

    /// Looks at all keys of the record that was found, for the sake of their types.
    pub(super) fn look_at(&self, typings: &mut [Typing]) {
        for (key, typing) in typings.iter_mut().enumerate().take(self.keys()) {
            let said = if self.has_rows() {
                unquoted(&self.bytes()[self.fields[key].clone()])
            } else {
                self.bytes().into()
            };
            // What is wrong is told when its turn comes.
            let _ = typing.cell(trimmed(&said), String::new);
        }
    }

    /// Goes on to the next record, which `read` makes something of; false at the end.
    pub(super) fn find(&mut self) -> Result<bool, Error> {
        self.buffer.pass(std::mem::take(&mut self.length));
        match &self.form {
            Form::Text => self.find_token(),
            Form::Table(None) => Ok(false),
            Form::Table(Some(_)) => self.find_row(),
            Form::Bits(source, _) => {
                let size = source.element().bytes();
                let there = self.buffer.at_least(size)?.len();
                if there < size {
                    source.check(self.number * size as u64 + there as u64)?;
                    return Ok(false);
                }
                self.length = size;
                self.number += 1;
                Ok(true)
            }
        }
    }

    fn find_token(&mut self) -> Result<bool, Error> {
        let mut comment = false;
        loop {
            let bytes = self.buffer.bytes();
            let other = bytes.iter().position(|&byte| if comment { byte == b'\n' } else { !is_space(byte) });
            let passed = other.unwrap_or(bytes.len());
            self.buffer.pass(passed);
            comment &= other.is_none();
            let bytes = self.buffer.bytes();
            let length = bytes.iter().position(|&byte| is_space(byte));
            match (bytes.first().copied(), length) {
                (Some(b'\n'), _) => {}
                (Some(b'#'), _) if self.buffer.at_line_start() => comment = true,
                (Some(_), Some(length)) => {
                    self.length = length;
                    return Ok(true);
                }
                // A token may go on.
                _ if self.buffer.refill()? => {}
                (None, _) => return Ok(false),
                (Some(_), None) => {
                    self.length = self.buffer.bytes().len();
                    return Ok(true);
                }
            }
        }
    }

    fn find_row(&mut self) -> Result<bool, Error> {
        let Form::Table(Some(columns)) = &self.form else { return Ok(false) };
        loop {
            let bytes = self.buffer.at_least(2)?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let blank = line_end(bytes);
            if blank > 0 && columns.names.columns > 1 {
                self.left_out.blank += 1;
                self.buffer.pass(blank);
                continue;
            }
            self.fields.resize(columns.keys.len(), 0..0);
            let fields = &mut self.fields;
            let read = for_each_field(bytes, 0, columns.dialect.delimiter, |column, field| {
                for (place, _) in fields.iter_mut().zip(&columns.keys).filter(|(_, key)| key.index == column)
                {
                    *place = field.clone();
                }
            });
            let Some((next, count)) = read else {
                if self.buffer.refill_rows()? {
                    continue;
                }
                return Err(unclosed(&self.buffer));
            };
            if count != columns.names.columns {
                return Err(Error::input(self.buffer.place(), ragged(count, columns.names.columns)));
            }
            self.number += 1;
            let invalid =
                |field: &&Range<usize>| columns.skips_invalid && is_invalid(&bytes[(*field).clone()]);
            let invalid = self.fields.iter().filter(invalid).count() as u64;
            if invalid > 0 {
                self.left_out.skipped += 1;
                self.left_out.invalid += invalid;
                self.buffer.pass(next);
                continue;
            }
            self.length = next;
            return Ok(true);
        }
    }

    /// Makes cells of the record that was found.
    pub(super) fn read(&mut self, typings: &mut [Typing]) -> Result<(), NoCell> {
        let Self { buffer, form, length, fields, cells, number, .. } = self;
        let bytes = &buffer.bytes()[..*length];
        cells.clear();
        match form {
            Form::Text => cells.push(typings[0].cell(bytes, || buffer.place())?),
            Form::Bits(source, direction) => {
                let Some(key) = binary::key(bytes, source, *direction) else {
                    let problem = format!("element {} is NaN, and --nan is error", *number - 1);
                    return Err(Error::input(buffer.name(), problem).into());
                };
                cells.push(Cell::of_key(key));
            }
            Form::Table(None) => {}
            Form::Table(Some(columns)) => {
                for ((field, key), typing) in fields.iter().zip(&columns.keys).zip(typings) {
                    let said = unquoted(&bytes[field.clone()]);
                    let place = || format!("{}, column '{}'", buffer.place(), key.name);
                    cells.push(typing.cell(trimmed(&said), place)?);
                }
            }
        }
        Ok(())
    }

    /// The bytes of the record that was found: a token, a row with its line end, an element.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[..self.length]
    }

    /// What a person calls a key with this cell.
    pub(super) fn shown(&self, cell: Cell, rules: Rules) -> String {
        match (&self.form, cell.key()) {
            (Form::Bits(source, direction), Some(key)) => binary::shown(key, direction.of(source.element())),
            _ => cell.shown(rules),
        }
    }

    /// Where the record is: a line, or an element by its number.
    pub(super) fn place(&self, key: usize) -> String {
        match &self.form {
            Form::Bits(..) => format!("{}, element {}", self.buffer.name(), self.number - 1),
            Form::Table(Some(columns)) if columns.keys.len() > 1 => {
                format!("{}, column '{}'", self.buffer.place(), columns.keys[key].name)
            }
            _ => self.buffer.place(),
        }
    }

    /// Whether key `key` is in descending order; in keys of bits the direction is contained.
    pub(super) fn descending(&self, key: usize, direction: Direction) -> bool {
        match &self.form {
            Form::Table(Some(columns)) => columns.keys[key].descending,
            _ => direction.descending,
        }
    }

    /// How many keys its records have.
    pub(super) fn keys(&self) -> usize {
        match &self.form {
            Form::Table(columns) => columns.as_ref().map_or(0, |columns| columns.keys.len()),
            _ => 1,
        }
    }

    /// Whether its records are rows of a table.
    pub(super) fn has_rows(&self) -> bool {
        matches!(self.form, Form::Table(_))
    }

    /// What a table begins with, if it has a first row.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        let Form::Table(Some(columns)) = &self.form else { return None };
        Some(Head { mark: columns.mark, header: &columns.header, line_end: columns.line_end })
    }

    /// Whether a table has the same columns as another one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.form, &other.form) {
            (Form::Table(Some(a)), Form::Table(Some(b))) => a.names == b.names,
            _ => true,
        }
    }

    /// Rows and lines that were left out so far.
    pub(super) fn left_out(&self) -> Counts {
        self.left_out
    }

    /// What a person calls the input.
    pub(super) fn name(&self) -> &str {
        self.buffer.name()
    }

    /// Whether the last line end is not the input's own but was put there.
    pub(super) fn lacks_line_end(&self) -> bool {
        self.buffer.is_completed() && self.buffer.bytes().len() == self.length
    }
}

fn unclosed(buffer: &Buffer) -> Error {
    Error::input(buffer.place(), UNCLOSED)
}
