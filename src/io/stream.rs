//! Records one at a time, for inputs larger than memory or without an end yet.

mod buffer;
pub(super) mod cell;
mod stretch;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use self::buffer::Buffer;
use self::cell::{Cell, Typing};
pub use self::stretch::Stretches;
pub(super) use self::stretch::{Batch, Expected, Keys};
use super::counts::Counts;
use super::csv::{self, By, Dialect, Fields, Found, Header, Line, Row, RowReader, UNCLOSED, lacking_end};
use super::number::{PerLine, ends_line, is_space};
use super::source::{LineEnd, Opened};
use super::text::several;
use crate::error::Error;
use crate::io::binary::Source;
use crate::order::KeyOrder;

/// The common format of all inputs.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Numbers separated by white space.
    Text(PerLine),
    /// Rows of a table.
    Table(Dialect),
    /// Binary elements, with the source for each input.
    Bits(Vec<Source>),
}

/// The format of inputs and the order of their records.
#[derive(Clone, Debug)]
pub struct How {
    /// The common format.
    pub kind: Kind,
    /// The order and the requested type; for tables, also the columns.
    pub by: By,
}

/// The records of one input.
pub(super) struct Stream {
    buffer: Buffer,
    form: Form,
    /// Whether the input begins with a byte order mark.
    pub(super) mark: bool,
    /// The lines that stay on top.
    pub(super) comments: Vec<u8>,
    /// Length of the current record in bytes, including the line end of a row.
    length: usize,
    /// Ranges of its key fields within it.
    fields: Vec<Range<usize>>,
    /// Its sort keys.
    pub(super) cells: Vec<Cell>,
    /// Counts of rows and lines left out.
    pub(super) left_out: Counts,
    /// Records are read one by one up to this many bytes from the beginning.
    closely: u64,
}

enum Form {
    /// Numbers, so many on a line, and whether one of the current line was read.
    Text { per_line: PerLine, begun: bool },
    /// Rows; `None` while the input has only blank lines.
    Table(Option<Columns>),
}

/// The known properties of a table.
pub(super) struct Columns {
    pub(super) model: Model,
    rows: RowReader,
    /// The header with its line end; empty without one.
    pub(super) header: Vec<u8>,
    /// The line end of the first row.
    line_end: &'static [u8],
    /// The order of lines that are numbers and nothing else, if they are sorted by these.
    numbers: Option<KeyOrder>,
}

impl Columns {
    /// The columns of the model, without a header.
    fn new(model: Model, dialect: Dialect, by: &By) -> Self {
        let rows = RowReader::new(dialect.fields, model.names.columns, Found::by_column(&model.keys), by);
        let numbers = dialect.first_number(by);
        Self { model, rows, header: Vec::new(), line_end: dialect.fields.line_end().bytes(), numbers }
    }

    /// The name of a key in messages; a token of text has none.
    fn name(&self, key: &Found) -> Option<String> {
        (self.rows.fields != Fields::Tokens).then(|| key.shown())
    }

    /// The content of a field.
    fn value<'a>(&self, field: &'a [u8]) -> Cow<'a, [u8]> {
        self.rows.fields.value(field)
    }
}

/// The columns common to all inputs, from the first one that determines them.
#[derive(Clone)]
pub(crate) struct Model {
    names: Header,
    keys: Vec<Found>,
}

impl Model {
    /// The columns of a table of which this is known, if that is enough.
    pub(crate) fn of(known: &csv::Known, by: &By) -> Result<Option<Self>, Error> {
        let Some((header, place)) = &known.first else { return Ok(None) };
        Ok(Some(Self { keys: header.find(by, place)?, names: header.clone() }))
    }

    /// The columns of inputs that have only blank lines.
    pub(super) fn of_blank_lines(by: &By, table: &str) -> Result<Self, Error> {
        let names = Header::of_columns(1);
        Ok(Self { keys: names.find(by, table)?, names })
    }
}

impl Stream {
    pub(super) fn text(opened: Opened, block: usize, per_line: PerLine) -> Result<Self, Error> {
        let mut buffer = Buffer::new(opened, block, LineEnd::Lf, true);
        let mark = buffer.pass_mark()?;
        Ok(Self::new(buffer, Form::Text { per_line, begun: false }, mark))
    }

    /// Also reads the header. Without one, the columns are those of the model, if there is one.
    pub(super) fn table(
        opened: Opened,
        block: usize,
        dialect: Dialect,
        by: &By,
        model: Option<&Model>,
    ) -> Result<Self, Error> {
        let are_tokens = dialect.fields.are_tokens();
        let mut buffer = Buffer::new(opened, block, dialect.fields.line_end(), are_tokens);
        let mark = buffer.pass_mark()?;
        if are_tokens {
            let names = Header::of_lines();
            let model = Model { keys: names.find(by, buffer.name())?, names };
            return Ok(Self::new(buffer, Form::Table(Some(Columns::new(model, dialect, by))), false));
        }
        let mut comments = Vec::new();
        while dialect.comments && buffer.at_least(1)?.first() == Some(&b'#') {
            match dialect.after_comments(buffer.bytes(), 0) {
                Some((end, _)) => {
                    comments.extend_from_slice(&buffer.bytes()[..end]);
                    buffer.pass(end);
                }
                None => drop(buffer.refill_rows()?),
            }
        }
        // The first row after blank lines determines the number of columns.
        let (reader, mut blank) = (RowReader::of_first_row(dialect.fields), Counts::default());
        let (mut start, mut row) = (0, Row::new(0));
        loop {
            let read = reader.read(&mut row, buffer.bytes(), &mut [], &mut blank);
            match read.map_err(|problem| Error::input(buffer.place_after(start), problem))? {
                // Before a header they are no rows, and are not kept.
                Some((next, Line::Blank)) if dialect.header => {
                    buffer.pass(next);
                    row = Row::new(0);
                }
                Some((next, Line::Blank)) => (start, row) = (next, Row::new(next)),
                None if buffer.refill_rows()? => {}
                _ => break,
            }
        }
        let bytes = buffer.bytes();
        // Where rows begin if there is a header.
        let (mut columns, mut head) = (None, start);
        if start < bytes.len() {
            let end = bytes.len() - usize::from(buffer.completed);
            let read = Header::read(bytes, start, end, dialect);
            let (next, names) = read.map_err(|problem| Error::input(buffer.place_after(start), problem))?;
            let model = match model.filter(|_| !dialect.header) {
                Some(model) => model.clone(),
                None => Model { keys: names.find(by, buffer.name())?, names },
            };
            let row = &bytes[start..next];
            // Where there is one column and no header, a blank line is a row.
            let is_blank_first = start > 0 && !dialect.header && model.names.columns == 1;
            let is_crlf = if is_blank_first { bytes.starts_with(b"\r\n") } else { row.ends_with(b"\r\n") };
            let header = if dialect.header { row.to_vec() } else { Vec::new() };
            let mut of_rows = Columns { header, ..Columns::new(model, dialect, by) };
            if is_crlf && dialect.fields.line_end() == LineEnd::Lf {
                of_rows.line_end = b"\r\n";
            }
            columns = Some(of_rows);
            head = next;
        }
        if dialect.header {
            buffer.pass(head);
        }
        let mut stream = Self { comments, ..Self::new(buffer, Form::Table(columns), mark) };
        if dialect.header {
            stream.left_out = blank;
        }
        if let Some(model) = model {
            stream.settle(model, dialect, by);
        }
        Ok(stream)
    }

    /// How many lines stay on top.
    pub(super) fn passed_comments(&self) -> u64 {
        memchr::memchr_iter(self.buffer.line_end(), &self.comments).count() as u64
    }

    /// Whether there are only blank lines, so that other inputs determine whether these are rows.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.form, Form::Table(None)) && !self.buffer.bytes().is_empty()
    }

    /// The columns of a table, if they are known.
    pub(super) fn columns(&self) -> Option<&Columns> {
        if let Form::Table(columns) = &self.form { columns.as_ref() } else { None }
    }

    /// Sets the columns of an input that has only blank lines.
    pub(super) fn settle(&mut self, model: &Model, dialect: Dialect, by: &By) {
        if self.is_open() {
            self.form = Form::Table(Some(Columns::new(model.clone(), dialect, by)));
        }
    }

    fn new(buffer: Buffer, form: Form, mark: bool) -> Self {
        Self {
            buffer,
            form,
            mark,
            comments: Vec::new(),
            length: 0,
            fields: Vec::new(),
            cells: Vec::new(),
            left_out: Counts::default(),
            closely: 0,
        }
    }

    /// Adds the current record's keys to the inference of their types.
    pub(super) fn look_at(&self, typings: &mut [Typing]) {
        for (key, typing) in typings.iter_mut().enumerate().take(self.keys()) {
            // Errors are reported when the record is read for its cells.
            let _ = typing.cell(&self.token(key), || (String::new(), None));
        }
    }

    /// Advances to the next record, for `read` to convert; false at the end.
    pub(super) fn find(&mut self) -> Result<bool, Error> {
        self.buffer.pass(std::mem::take(&mut self.length));
        match &self.form {
            Form::Text { .. } => self.find_token(),
            Form::Table(None) => Ok(false),
            Form::Table(Some(_)) => self.find_row(),
        }
    }

    fn find_token(&mut self) -> Result<bool, Error> {
        let (mut comment, starts_line) = (false, self.buffer.at_line_start());
        let Form::Text { per_line, begun } = &mut self.form else { return Ok(false) };
        *begun &= !starts_line;
        // Bytes known to belong to the token.
        let mut looked = 0;
        loop {
            if looked == 0 {
                let bytes = self.buffer.bytes();
                let other =
                    bytes.iter().position(|&byte| if comment { ends_line(byte) } else { !is_space(byte) });
                let passed = other.unwrap_or(bytes.len());
                *begun &= !bytes[..passed].iter().any(|&byte| ends_line(byte));
                self.buffer.pass(passed);
                comment &= other.is_none();
            }
            let bytes = self.buffer.bytes();
            match bytes.first() {
                // The end of a comment.
                Some(&byte) if is_space(byte) => continue,
                Some(b'#') if looked == 0 && self.buffer.at_line_start() => {
                    comment = true;
                    self.left_out.comments += 1;
                    continue;
                }
                Some(_) if *begun && *per_line != PerLine::Any => {
                    return Err(several(self.buffer.place()));
                }
                _ => {}
            }
            if let Some(length) = bytes[looked..].iter().position(|&byte| is_space(byte)) {
                self.length = looked + length;
                *begun = true;
                return Ok(true);
            }
            // The token may continue.
            looked = bytes.len();
            if !self.buffer.refill()? {
                self.length = looked;
                return Ok(looked > 0);
            }
        }
    }

    fn find_row(&mut self) -> Result<bool, Error> {
        let Form::Table(Some(columns)) = &self.form else { return Ok(false) };
        let next_row = |buffer: &Buffer| Row::new(0).in_line(buffer.at_line_start());
        let mut row = next_row(&self.buffer);
        self.fields.clear();
        self.fields.resize(columns.model.keys.len(), 0..0);
        while !self.buffer.at_least(1)?.is_empty() {
            let read = columns.rows.read(&mut row, self.buffer.bytes(), &mut self.fields, &mut self.left_out);
            match read.map_err(|problem| Error::input(self.buffer.place(), problem))? {
                Some((next, Line::Row)) => {
                    self.length = next;
                    return Ok(true);
                }
                Some((next, Line::LeftOut | Line::Blank)) => {
                    self.buffer.pass(next);
                    row = next_row(&self.buffer);
                }
                None if self.buffer.refill_rows()? => {}
                None => return Err(Error::input(self.buffer.place(), UNCLOSED)),
            }
        }
        Ok(false)
    }

    /// Converts the current record to cells; false if that takes knowing whether there are decimals.
    pub(super) fn read(&mut self, typings: &mut [Typing]) -> Result<bool, Error> {
        let Self { buffer, form, length, fields, cells, .. } = self;
        let bytes = &buffer.bytes()[..*length];
        cells.clear();
        match form {
            Form::Text { .. } => {
                cells.extend(typings[0].cell(bytes, || (buffer.place(), None))?);
                Ok(!cells.is_empty())
            }
            Form::Table(None) => Ok(true),
            Form::Table(Some(columns)) => {
                for ((field, key), typing) in fields.iter().zip(&columns.model.keys).zip(typings) {
                    let place = || (buffer.place(), columns.name(key));
                    let Some(cell) = typing.cell(&columns.value(&bytes[field.clone()]), place)? else {
                        return Ok(false);
                    };
                    cells.push(cell);
                }
                Ok(true)
            }
        }
    }

    /// The bytes of the current record: a token, or a row with its line end.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[..self.length]
    }

    /// Copies the keys of the current record.
    pub(super) fn copy_keys(&self, to: &mut Keys) {
        to.cells.clone_from(&self.cells);
        to.tokens.resize(self.cells.len(), Vec::new());
        for (key, token) in to.tokens.iter_mut().enumerate() {
            token.clear();
            token.extend_from_slice(&self.token(key));
        }
    }

    /// What a key of the current record is made of.
    pub(super) fn token(&self, key: usize) -> Cow<'_, [u8]> {
        match &self.form {
            Form::Table(Some(columns)) => columns.value(&self.bytes()[self.fields[key].clone()]),
            _ => self.bytes().into(),
        }
    }

    /// The place of the record.
    pub(super) fn place(&self, key: usize) -> String {
        match &self.form {
            Form::Table(Some(columns)) if columns.model.keys.len() > 1 => {
                format!("{}, column '{}'", self.buffer.place(), columns.model.keys[key].shown())
            }
            _ => self.buffer.place(),
        }
    }

    /// Whether key `key` is descending.
    pub(super) fn descending(&self, key: usize, direction: KeyOrder) -> bool {
        match &self.form {
            Form::Table(Some(columns)) => columns.model.keys[key].descending,
            _ => direction.descending,
        }
    }

    /// Compares the keys of two records; also returns the first that differs.
    pub(super) fn compare(&self, a: &[Cell], b: &[Cell], direction: KeyOrder) -> (Ordering, usize) {
        let cells = a.iter().zip(b).enumerate();
        let mut orders = cells.map(|(key, (a, b))| (a.compare(b, self.descending(key, direction)), key));
        orders.find(|(order, _)| order.is_ne()).unwrap_or((Ordering::Equal, 0))
    }

    /// The number of keys per record.
    pub(super) fn keys(&self) -> usize {
        match &self.form {
            Form::Table(_) => self.columns().map_or(0, |columns| columns.model.keys.len()),
            Form::Text { .. } => 1,
        }
    }

    /// Whether a record ends with its line, which tokens do not.
    fn has_line_ends(&self) -> bool {
        self.has_rows() && !self.columns().is_some_and(|columns| columns.rows.fields.are_tokens())
    }

    /// Whether its records are rows of a table.
    pub(super) fn has_rows(&self) -> bool {
        matches!(self.form, Form::Table(_))
    }

    /// Whether a table has the same columns as another one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let columns = self.columns().zip(other.columns());
        columns.is_none_or(|(a, b)| a.model.names == b.model.names)
    }

    /// The input's name in messages.
    pub(super) fn name(&self) -> &str {
        self.buffer.name()
    }

    /// Reads the current record into a batch.
    pub(super) fn keep(&self, direction: KeyOrder, batch: &mut Batch) {
        let words = self.cells.iter().enumerate();
        batch.keys.extend(words.map(|(key, cell)| cell.word(self.descending(key, direction))));
        let record = if self.has_rows() { self.written_row(0, self.length) } else { [self.bytes(), b"\n"] };
        record.into_iter().for_each(|bytes| batch.bytes.extend_from_slice(bytes));
        batch.ends.push(batch.bytes.len());
    }

    /// The bytes to write for a row in the buffer, with a missing line end of the last one.
    fn written_row(&self, start: usize, end: usize) -> [&[u8]; 2] {
        let bytes = self.buffer.bytes();
        if self.columns().is_some_and(|columns| columns.rows.fields.are_tokens()) {
            return [&bytes[start..end], b"\n"];
        }
        if !self.buffer.completed || bytes.len() > end {
            return [&bytes[start..end], b""];
        }
        // The appended line end only served to find the end of the row.
        let row = &bytes[start..end - 1];
        [row, lacking_end(row, self.columns().map_or(b"\n", |columns| columns.line_end))]
    }

    /// Keeps no more room than for this many bytes, if no more are unread.
    pub(super) fn keep_room(&mut self, most: usize) -> Result<(), Error> {
        self.buffer.keep_room(most)
    }

    /// Whether reading never waits for others.
    pub(super) fn is_ready(&self) -> bool {
        self.buffer.is_ready()
    }
}
