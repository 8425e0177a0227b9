//! Tables as text: CSV, TSV, and lines of fields. Rows are ordered by some of their columns and preserved byte for byte.
//!
//! Each core reads a part of the table, from one row boundary to another. The parity of the quotes before a
//! line end shows whether it is a boundary; since a stray quote may mislead, a part is accepted only if the
//! part before it ended exactly there, and is otherwise read again from where that ended.

mod column;
mod dialect;
mod header;
mod rows;
mod sort_key;
mod words;

use std::io::{self, Write};
use std::ops::Range;

use self::column::Column;
use self::dialect::trimmed;
use self::rows::{end_of_row, for_each_field, line_end};
use super::counts::Counts;
use super::infer::{Inference, Refused, Spot};
use super::print;
use super::records::touch;
use super::source::{LineEnd, Text};
use super::text::{conflicting, piece_size};
use crate::error::Error;
use crate::key::{ElementType, KeyMap, Word};
use crate::memory::prefetch;
use crate::order::KeyOrder;
use crate::parallel::map_parts;
use crate::words::{Width, Words, by_width, in_one};

pub use self::dialect::{Dialect, Fields};
pub(super) use self::header::{Found, Header};
pub(super) use self::rows::{
    Line, Row, RowReader, UNCLOSED, end_of_first_row, end_of_rows, lacking_end, pieces,
};
pub use self::sort_key::SortKey;

/// The sort key of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// The columns, most significant first: header names or numbers from 1, optionally with `:r` or `:a` for
    /// a direction of their own, or [`SortKey`]s. Empty means the only column.
    pub columns: Vec<String>,
    /// The requested type.
    pub element: Option<ElementType>,
    /// The order of every column without a direction of its own.
    pub order: KeyOrder,
}

/// A table in memory.
#[derive(Debug)]
pub struct Table {
    text: Text,
    fields: Fields,
    /// What comes before the rows: a byte order mark, the header.
    head: Vec<u8>,
    /// Row offsets in input order, without the rows left out.
    starts: Words<'static>,
    /// The key columns, from 0.
    keys: Vec<usize>,
    /// The original row numbers, if some were left out.
    numbers: Option<Vec<u32>>,
    /// Whether there are any quotes.
    quotes: bool,
    /// The end of each input, and its line end for a last row that lacks one.
    ends: Vec<(usize, &'static [u8])>,
    /// The header of a key column, if it is a number and was not requested by name: possibly no header.
    pub doubtful_header: Option<String>,
    /// The names of the types of the key columns.
    pub types: Vec<&'static str>,
    /// Nulls and left-out rows.
    pub counts: Counts,
    /// Whether there is a −0 among integers, which is less than 0 if others make them floats.
    pub(crate) minus_zeros: bool,
}

/// Rows read by one core.
struct Part {
    /// Offset of its first row.
    start: usize,
    /// Offset of the row after its last one.
    end: usize,
    /// Row offsets, relative to `start`.
    starts: Vec<u32>,
    /// Rows left out, by their numbers within this part.
    skipped: Vec<u32>,
    counts: Counts,
    /// One column per key.
    columns: Vec<Column>,
}

/// The offset of a row and its error.
struct Problem(usize, Wrong);

enum Wrong {
    Row(String),
    /// The field of this key is rejected.
    Field(usize, Refused),
}

/// Reads a table and the keys of its rows, as words in lexicographic order, the most significant first.
///
/// # Errors
///
/// A column that does not exist; a row with another number of fields; an unclosed quote; headers that differ;
/// a field that the rules or the type reject; numbers without a common type.
pub fn read(text: Text, dialect: Dialect, by: &By) -> Result<(Table, Vec<Words<'static>>), Error> {
    let mut known = Known::default();
    let read = read_part(text, dialect, by, &mut known)?;
    known.end()?;
    Ok(read)
}

/// What is known of a table after some of it.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// The first row, header or not, and its place.
    pub(super) first: Option<(Header, String)>,
    /// The line end of the first row of the last input.
    line_end: &'static [u8],
    /// The types of the key columns; places are the bytes before a row and the field.
    columns: Vec<Inference<(u64, Spot)>>,
    /// Bytes.
    passed: u64,
}

impl Known {
    /// That of lines of which the first are numbers and nothing else, with this much known of these; `name` is that of the
    /// first input.
    pub(crate) fn after_numbers(numbers: &Inference<(u64, Spot)>, passed: u64, name: String) -> Self {
        if passed == 0 {
            return Self::default();
        }
        let first = Some((Header::of_lines(), name));
        Self { first, line_end: LineEnd::Lf.bytes(), columns: vec![numbers.clone()], passed }
    }

    /// Any error about the types, after all of the table.
    pub(crate) fn end(&self) -> Result<(), Error> {
        self.columns.iter().try_for_each(|column| column.finish().map(|_| ()).map_err(conflicting))
    }

    /// The same of a table of the key fields alone, as [`Table::write_keys`] writes it, and its key. Its form is
    /// that of [`Dialect::of_keys`].
    pub(crate) fn of_keys(&self, by: &By) -> Result<(Self, By), Error> {
        let Some((header, place)) = &self.first else { return Ok((self.clone(), by.clone())) };
        let keys = header.find(by, place)?;
        let first = Some((Header::of_columns(keys.len() + 1), place.clone()));
        let column =
            |(key, number): (Found, usize)| format!("{number}:{}", if key.descending { 'r' } else { 'a' });
        let columns = keys.into_iter().zip(1..).map(column).collect();
        Ok((Self { first, ..self.clone() }, By { columns, ..by.clone() }))
    }

    /// The names of the columns' types, separated by commas.
    pub(crate) fn types(&self) -> String {
        let name = |column: &Inference<_>| {
            column.name().unwrap_or_else(|| column.finish().unwrap_or(ElementType::F64).name())
        };
        let names = self.columns.iter().map(name);
        if self.columns.is_empty() {
            ElementType::U32.name().to_owned()
        } else {
            names.collect::<Vec<_>>().join(",")
        }
    }

    /// Whether each column has decimals.
    pub(crate) fn are_floats(&self) -> impl Iterator<Item = bool> {
        self.columns.iter().map(Inference::is_float)
    }
}

/// Reads a part of a table, of which something is known, and adds to that. Its key columns have types of their own, which
/// are f64 where the rest may make them so.
///
/// # Errors
///
/// As for [`read`], but for numbers without a common type.
pub(crate) fn read_part(
    text: Text,
    dialect: Dialect,
    by: &By,
    known: &mut Known,
) -> Result<(Table, Vec<Words<'static>>), Error> {
    let mut counts = Counts::default();
    let (tops, bodies) = bodies(&text, dialect, &mut counts, known)?;
    let is_empty = known.first.is_none() && bodies.iter().all(|(body, _)| body.is_empty());
    let one = Header::of_columns(1);
    let header = known.first.as_ref().map_or(&one, |(header, _)| header);
    let layout = Layout::new(&text, dialect.fields, header, by, is_empty)?;
    let is_number = |key: &&Found| super::number::spelled(trimmed(key.name.as_bytes())).is_some();
    let is_named = |key: &&Found| by.columns.iter().any(|named| named.starts_with(&key.name));
    let doubtful = layout.keys.iter().find(|key| is_number(key) && !is_named(key));
    let may_be_data = dialect.header && dialect.fields.are_quoted();
    let doubtful_header = doubtful.filter(|_| may_be_data).map(|key| key.name.clone());
    let parts = layout.read(&bodies)?;
    let ends = bodies.into_iter().map(|(body, line_end)| (body.end, line_end)).collect();
    for part in &parts {
        counts = counts.and(part.counts);
        counts.rounded += part.columns.iter().map(|column| column.inference.rounded).sum::<u64>();
        part.columns.iter().flat_map(|column| &column.classes).for_each(|&(_, class)| counts.add(class));
    }
    let minus_zeros = parts.iter().flat_map(|part| &part.columns).any(Column::has_minus_zeros);
    let numbers = (counts.skipped > 0).then(|| numbers(&parts));
    let starts =
        if u32::try_from(text.bytes.len()).is_ok() { starts::<u32>(&parts) } else { starts::<u64>(&parts) };
    let (types, words) = layout.words(parts, &mut known.columns, known.passed);
    let has_mark = known.passed == 0 && dialect.fields != Fields::Tokens;
    let mut head = if has_mark { text.mark().to_vec() } else { Vec::new() };
    known.passed += text.bytes.len() as u64;
    for top in tops.into_iter().filter(|top| !top.is_empty()) {
        head.extend_from_slice(&text.bytes[top]);
        // What has no line end is the end of its input, so any line end is right.
        let end = text.line_end.byte();
        if !head.ends_with(&[end]) {
            head.push(end);
        }
    }
    let fields = dialect.fields;
    let quotes = fields.are_quoted() && memchr::memchr(b'"', &text.bytes).is_some();
    let keys = layout.keys.iter().map(|key| key.index).collect();
    Ok((
        Table {
            text,
            fields,
            head,
            starts,
            keys,
            numbers,
            quotes,
            ends,
            doubtful_header,
            types,
            counts,
            minus_zeros,
        },
        words,
    ))
}

/// The range of an input's rows, and the line end of its first row.
type Body = (Range<usize>, &'static [u8]);

/// The ranges of what stays on top, as far as it is here: comments, and the header; and the rows of each input.
fn bodies(
    text: &Text,
    dialect: Dialect,
    counts: &mut Counts,
    known: &mut Known,
) -> Result<(Vec<Range<usize>>, Vec<Body>), Error> {
    let (mut tops, mut bodies) = (Vec::new(), Vec::new());
    for (number, part) in text.parts.iter().enumerate() {
        let range = part.range.clone();
        if dialect.fields.are_tokens() {
            known.first.get_or_insert_with(|| (Header::of_lines(), part.name.clone()));
            known.line_end = text.line_end.bytes();
        }
        if part.before.is_some() || dialect.fields.are_tokens() {
            bodies.push((range, known.line_end));
            continue;
        }
        // With the line end after the input.
        let bytes = &text.bytes[..=range.end];
        let (mut start, comments) = dialect.after_comments(bytes, range.start).unwrap_or((range.end, 0));
        let (body, mut blank) = (start.min(range.end)..range.end, 0);
        if number == 0 && known.passed == 0 {
            tops.push(range.start..body.start);
        } else {
            counts.comments += comments;
        }
        while dialect.fields.are_quoted() && start < range.end && line_end(&bytes[start..]) > 0 {
            start += line_end(&bytes[start..]);
            blank += 1;
        }
        // Where rows begin if there is a header.
        let mut head = start.min(range.end);
        let mut end = text.line_end.bytes();
        if start < range.end {
            let wrong = |problem| Error::input(text.line(start), problem);
            let (next, here) = Header::read(bytes, start, range.end, dialect).map_err(wrong)?;
            let place = start..next.min(range.end);
            // Where there is one column and no header, a blank line is a row.
            let is_blank_first = blank > 0 && !dialect.header && here.columns == 1;
            let row = if is_blank_first { body.start..start } else { place.clone() };
            let is_crlf = bytes[row.start..].starts_with(b"\r\n")
                || text.bytes[row].ends_with(b"\r\n") && !is_blank_first;
            if is_crlf && text.line_end == LineEnd::Lf {
                end = b"\r\n";
            }
            head = place.end;
            match &known.first {
                Some((header, place)) if dialect.header && *header != here => {
                    let problem = format!("has another header than {place}");
                    return Err(Error::input(text.line(start), problem));
                }
                Some(_) => {}
                None => {
                    known.first = Some((here, text.line(start)));
                    if dialect.header {
                        tops.push(place);
                    }
                }
            }
        }
        known.line_end = end;
        // Blank lines without a header after them may be rows.
        if dialect.header {
            counts.blank += blank;
        }
        bodies.push((if dialect.header { head..range.end } else { body }, end));
    }
    Ok((tops, bodies))
}

/// The layout common to all rows.
struct Layout<'a> {
    text: &'a Text,
    rows: RowReader,
    keys: Vec<Found>,
    element: Option<ElementType>,
    rules: KeyOrder,
}

impl<'a> Layout<'a> {
    /// The layout of a table with this header; `is_empty` if it has nothing at all, not even columns.
    fn new(text: &'a Text, fields: Fields, header: &Header, by: &By, is_empty: bool) -> Result<Self, Error> {
        let table = text.parts.first().map_or("", |part| &part.name);
        let keys = if is_empty { Vec::new() } else { header.find(by, table)? };
        let rows = RowReader::new(fields, header.columns, Found::by_column(&keys), by);
        Ok(Self { text, rows, keys, element: by.element, rules: by.order })
    }

    /// Reads the rows of all inputs, in parallel.
    fn read(&self, bodies: &[Body]) -> Result<Vec<Part>, Error> {
        let size = piece_size(self.text.bytes.len());
        let mut pieces = Vec::new();
        for (body, _) in bodies {
            let of_body = rows::pieces(&self.text.bytes[..=body.end], body.clone(), self.rows.fields, size);
            pieces.extend(of_body.into_iter().map(|piece| (body, piece)));
        }
        let read =
            |body: &Range<usize>, start, until| self.read_part(&self.text.bytes[..=body.end], start, until);
        let parts: Vec<Result<Part, Problem>> =
            map_parts(pieces.clone(), |(body, piece)| read(body, piece.start, piece.end));
        let mut right: Vec<Part> = Vec::with_capacity(parts.len());
        let (mut rows, mut next) = (0, 0);
        for ((body, piece), part) in pieces.into_iter().zip(parts) {
            if piece.start == body.start {
                next = piece.start;
            }
            let part = if piece.start == next { part } else { read(body, next, piece.end) };
            let part = part.map_err(|problem| self.error(problem))?;
            next = part.end;
            rows += (part.starts.len() + part.skipped.len()) as u64;
            right.push(part);
        }
        if u32::try_from(rows).is_err() {
            return Err(Error::limit("records in one sort", rows, u32::MAX.into()));
        }
        Ok(right)
    }

    /// Reads the rows that begin at or after `start` and before `until`.
    fn read_part(&self, bytes: &[u8], start: usize, until: usize) -> Result<Part, Problem> {
        const ROW: usize = 32;
        let guess = until.saturating_sub(start) / ROW;
        let columns = self.keys.iter().map(|_| Column::new(self.element, self.rules, guess)).collect();
        let (starts, skipped) = (Vec::with_capacity(guess), Vec::new());
        let mut part = Part { start, end: start, starts, skipped, counts: Counts::default(), columns };
        let mut fields = vec![0..0; self.keys.len()];
        while part.end < until {
            let at = part.end;
            let wrong = |problem| Problem(at, Wrong::Row(problem));
            let read = self.rows.read(&mut Row::new(at), bytes, &mut fields, &mut part.counts);
            let (next, line) = read.map_err(wrong)?.ok_or_else(|| wrong(UNCLOSED.to_owned()))?;
            part.end = next;
            match line {
                Line::Blank => {}
                Line::LeftOut => part.skipped.push((part.starts.len() + part.skipped.len()) as u32),
                Line::Row => {
                    let offset = u32::try_from(at - start);
                    part.starts.push(offset.map_err(|_| wrong("a row is longer than 4 GiB".to_owned()))?);
                    for ((key, field), column) in fields.iter().enumerate().zip(&mut part.columns) {
                        let pushed = column.push(&self.rows.fields.value(&bytes[field.clone()]), at);
                        pushed.map_err(|refused| Problem(at, Wrong::Field(key, refused)))?;
                    }
                }
            }
        }
        Ok(part)
    }

    /// The names of the key columns' types, and the words that order the rows. Adds to what is known of the types, where this
    /// many bytes were passed before.
    fn words(
        &self,
        parts: Vec<Part>,
        known: &mut Vec<Inference<(u64, Spot)>>,
        passed: u64,
    ) -> (Vec<&'static str>, Vec<Words<'static>>) {
        let rows: Vec<usize> = parts.iter().map(|part| part.starts.len()).collect();
        let mut columns: Vec<Vec<Column>> =
            self.keys.iter().map(|_| Vec::with_capacity(parts.len())).collect();
        for part in parts {
            columns.iter_mut().zip(part.columns).for_each(|(all, column)| all.push(column));
        }
        let (mut types, mut digits) = (Vec::new(), Vec::new());
        for (key, parts) in columns.into_iter().enumerate() {
            let inferences = parts.iter().map(|part| part.inference.clone());
            let inference = inferences.fold(Inference::new(self.element, self.rules), Inference::merge);
            // Others may make floats of integers without a common type, or have made them of all.
            let are_floats = self.element.is_none() && known.get(key).is_some_and(Inference::is_float);
            let decimals = inference.decimals();
            // Times that do not fit are an error in the end.
            let other = if decimals.is_some() { ElementType::I64 } else { ElementType::F64 };
            let is_known = decimals.is_some() || !are_floats;
            let element = inference.finish().ok().filter(|_| is_known).unwrap_or(other);
            let name = inference.name();
            let has_decimals = are_floats || inference.is_float();
            let is_wide = inference.is_wide(has_decimals);
            let inference = inference.at(|row| (passed + row as u64, self.spot(row, key)));
            match known.get_mut(key) {
                Some(known) => *known = known.clone().merge(inference),
                None => known.push(inference),
            }
            let map = KeyMap { descending: self.keys[key].descending, ..KeyMap::ascending(element) };
            digits.extend(if is_wide {
                column::wide_digits(parts, map.descending, has_decimals, self.rules)
            } else {
                column::digits(parts, map, decimals, self.rules)
            });
            types.push(name.unwrap_or(element.name()));
        }
        (types, words::words(digits, &rows))
    }

    /// The field of a key in the row at this offset, for a message.
    fn spot(&self, row: usize, key: usize) -> Spot {
        let bytes = &self.text.bytes;
        let comment = self.rows.fields.comment(bytes, row);
        let mut token = comment.map_or_else(Vec::new, |line| trimmed(&bytes[line]).to_vec());
        for_each_field(&self.text.bytes, row, self.rows.fields, |column, field| {
            if column == self.keys[key].index && token.is_empty() {
                token = self.rows.fields.value(&self.text.bytes[field]).into_owned();
            }
        });
        let column = Some(self.keys[key].shown()).filter(|_| self.rows.fields != Fields::Tokens);
        Spot { place: self.place(row), column, token }
    }

    /// The place of a row, for a message: that of a token has a column.
    fn place(&self, row: usize) -> String {
        if self.rows.fields.are_tokens() { self.text.place(row) } else { self.text.line(row) }
    }

    fn error(&self, Problem(row, wrong): Problem) -> Error {
        match wrong {
            Wrong::Row(problem) => Error::input(self.place(row), problem),
            Wrong::Field(key, refused) => refused.into_error(self.spot(row, key)),
        }
    }
}

/// Where these rows begin.
fn places<S: Word>(rows: &[u32], starts: &[S]) -> impl Iterator<Item = usize> {
    const AHEAD: usize = 32;
    rows.iter().enumerate().map(|(number, &row)| {
        if let Some(&row) = rows.get(number + AHEAD) {
            prefetch(starts, row as usize);
        }
        starts[row as usize].as_usize()
    })
}

/// The original numbers of the rows that were kept.
fn numbers(parts: &[Part]) -> Vec<u32> {
    let mut first = 0;
    let mut numbers = Vec::new();
    for part in parts {
        let count = (part.starts.len() + part.skipped.len()) as u32;
        let mut skipped = part.skipped.iter().peekable();
        numbers.extend((0..count).filter(|row| skipped.next_if_eq(&row).is_none()).map(|row| first + row));
        first += count;
    }
    numbers
}

/// The row offsets of all parts.
fn starts<S: Width>(parts: &[Part]) -> Words<'static> {
    let of_part = |part: &Part| -> Vec<S> {
        part.starts.iter().map(|&start| S::of_usize(part.start + start as usize)).collect()
    };
    Words::from(map_parts(parts.iter(), of_part)).joined()
}

impl Table {
    /// Takes out what comes before the rows.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.head)
    }

    /// Translates row numbers that count only the rows kept to the original ones.
    #[must_use]
    pub fn numbers(&self, rows: Vec<u32>) -> Vec<u32> {
        match &self.numbers {
            None => rows,
            Some(numbers) => rows.into_iter().map(|row| numbers[row as usize]).collect(),
        }
    }

    /// The number of rows, with those left out.
    pub(crate) fn rows(&self) -> u64 {
        self.starts.len() as u64 + self.counts.skipped
    }

    /// Writes of these rows the key fields as a table of their own, in the order of the keys. It has one more column, which
    /// is empty, so that no field is the last of its line.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(crate) fn write_keys(&self, rows: &[u32], to: &mut impl Write) -> io::Result<()> {
        let bytes = &self.text.bytes;
        by_width!(self.starts.borrowed(), starts => {
            let starts = in_one(starts);
            let expected = bytes.len() / starts.len().max(1);
            print::write(rows, 16 * self.keys.len(), to, |_| {}, |rows, lines| {
                let mut fields = vec![0..0; self.keys.len()];
                touch(bytes, expected, places(rows, &starts), |start| {
                    // A line may lack some.
                    fields.fill(0..0);
                    for_each_field(bytes, start, self.fields, |column, field| {
                        if let Some(key) = self.keys.iter().position(|&key| key == column) {
                            fields[key] = field;
                        }
                    });
                    if self.fields.comment(bytes, start).is_some() {
                        // Any of it is no number, and there may be separators in it.
                        fields.fill(start..start + 1);
                    }
                    for field in &fields {
                        let begin = lines.len();
                        lines.extend_from_slice(&bytes[field.clone()]);
                        if matches!(self.fields, Fields::Blanks(_)) {
                            // One of a time may have a tab before the time of day, which is as good as a space.
                            lines[begin..].iter_mut().filter(|byte| **byte == b'\t').for_each(|tab| *tab = b' ');
                        }
                        lines.push(self.fields.separator());
                    }
                    lines.push(self.text.line_end.byte());
                });
            })
        })
    }

    /// Writes the header and these rows, in this order.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn write(&self, rows: &[u32], to: &mut impl Write, progress: impl FnMut(u64)) -> io::Result<()> {
        to.write_all(&self.head)?;
        by_width!(self.starts.borrowed(), starts => self.write_rows(&in_one(starts), rows, to, progress))
    }

    fn write_rows<S: Word>(
        &self,
        starts: &[S],
        rows: &[u32],
        to: &mut impl Write,
        progress: impl FnMut(u64),
    ) -> io::Result<()> {
        let bytes = &self.text.bytes;
        let expected = bytes.len() / starts.len().max(1) + 1;
        print::write(rows, expected, to, progress, |rows, lines| {
            touch(bytes, expected, places(rows, starts), |start| {
                // Every row was read before, so its end exists.
                let end = end_of_row(bytes, start, self.fields, self.quotes).unwrap_or(bytes.len());
                if self.fields.are_tokens() {
                    lines.extend_from_slice(&bytes[start..end]);
                    return lines.push(b'\n');
                }
                match self.ends.binary_search_by_key(&(end - 1), |&(end, _)| end) {
                    Ok(input) => {
                        lines.extend_from_slice(&bytes[start..end - 1]);
                        lines.extend_from_slice(lacking_end(&bytes[start..end - 1], self.ends[input].1));
                    }
                    Err(_) => lines.extend_from_slice(&bytes[start..end]),
                }
            });
        })
    }
}
