//! Reads tables in text formats (CSV, TSV and JSON Lines) into columns.
//!
//! A first pass over all fields finds the type of each column; a second pass reads the values. A value
//! that the type cannot hold is an error, which names the column.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;

use super::arrays;
use super::kind::{self, Columns, Kind, columns, members_of};
use super::stored::{Stored, failed};
use crate::error::Error;
use crate::fields::{Dialect, Fields, end_of_first_row, end_of_row, end_of_rows, for_each_field, unquoted};
use crate::human::quoted;
use crate::parallel::{self, map_parts};
use crate::text::MARK;

/// A table in a text format.
pub struct TextTable {
    name: String,
    stored: Stored,
    fields: Fields,
    /// The offset of the first record.
    start: u64,
    /// The names and types of the columns.
    kinds: Columns,
    /// Words that count as empty.
    na: Vec<Vec<u8>>,
}

/// Returns the JSON line at this offset, without surrounding blanks.
fn line_at(bytes: &[u8], row: usize) -> &[u8] {
    let rest = &bytes[row..];
    rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii()
}

/// The number of bytes read at once.
const CHUNK: usize = 16 << 20;

impl TextTable {
    /// Finds the columns of a table and their types.
    ///
    /// # Errors
    ///
    /// I/O errors; JSON values without a common type.
    pub fn open(name: String, stored: Stored, dialect: Dialect, na: &[Vec<u8>]) -> Result<Self, Error> {
        let mut table =
            Self { name, stored, fields: dialect.fields, start: 0, kinds: Vec::new(), na: na.to_vec() };
        table.read_head(dialect)?;
        let mut kinds = table.kinds.clone();
        table.for_each_part(Self::kinds_of, |found| table.merge(&mut kinds, found))?;
        table.kinds = kinds;
        Ok(table)
    }

    /// Adds the types of the columns of other records.
    fn merge(&self, all: &mut Columns, others: Columns) -> Result<(), Error> {
        if self.fields == Fields::Json {
            let problem = "has mixed types, or numbers that no type represents exactly";
            return kind::merge(all, others).map_err(|name| self.wrong(&name, problem));
        }
        all.iter_mut().zip(others).for_each(|((_, known), (_, kind))| known.add(kind));
        Ok(())
    }

    fn wrong(&self, column: &str, problem: &str) -> Error {
        Error::input(&self.name, format!("column '{}' {problem}", quoted(column)))
    }

    /// Skips comments and the header, and sets the names of the columns.
    fn read_head(&mut self, dialect: Dialect) -> Result<(), Error> {
        let (bytes, _) = self.bytes(0, |bytes| end_of_first_row(bytes, dialect))?;
        let mut row = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        while let Some(end) = dialect.comment(&bytes, row) {
            row = end;
        }
        if self.fields == Fields::Json {
            self.start = row as u64;
            return Ok(());
        }
        for _ in 1..dialect.header {
            row = end_of_row(&bytes, row, self.fields).unwrap_or(row);
        }
        let read = for_each_field(&bytes, row, self.fields, usize::MAX, |number, field| {
            let name = match dialect.header {
                0 => format!("column{}", number + 1),
                _ => String::from_utf8_lossy(&unquoted(&bytes[field])).into_owned(),
            };
            self.kinds.push((name, Kind::Nothing));
        });
        self.start = read.filter(|_| dialect.header > 0).map_or(row, |(next, _)| next) as u64;
        let mut names: Vec<&String> = self.kinds.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(self.wrong(twice[0], "appears twice; column names must be unique"));
        }
        Ok(())
    }

    /// Returns the bytes from `at` on, at least as many as have what `find` finds, or all bytes.
    fn bytes<T>(&self, at: u64, find: impl Fn(&[u8]) -> Option<T>) -> Result<(Bytes, Option<T>), Error> {
        let left = usize::try_from(self.stored.size() - at).unwrap_or(usize::MAX);
        let mut length = CHUNK.min(left);
        loop {
            let bytes = self.stored.at(at, length).map_err(|error| Error::io(&self.name, "read", error))?;
            let found = find(&bytes);
            if found.is_some() || length == left {
                return Ok((bytes, found));
            }
            length = length.saturating_mul(2).min(left);
        }
    }

    /// Returns the next whole rows, and the offset of the rows after them.
    fn chunk(&self, at: u64) -> Result<Option<(Bytes, u64)>, Error> {
        let dialect = Dialect { fields: self.fields, header: 0, comments: false };
        let (bytes, end) = self.bytes(at, |bytes| end_of_rows(bytes, dialect))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let end = end.expect("the rows of a sorted table end");
        Ok(Some((bytes.slice(..end), at + end as u64)))
    }

    /// Returns the offsets of the rows. Blank rows count only if the table has a single column.
    fn rows(&self, bytes: &[u8]) -> Vec<usize> {
        let (mut rows, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let Some(next) = end_of_row(bytes, at, self.fields) else { break };
            let is_blank = matches!(&bytes[at..next], b"\n" | b"\r\n");
            if !is_blank || self.kinds.len() == 1 && self.fields != Fields::Json {
                rows.push(at);
            }
            at = next;
        }
        rows
    }

    /// Returns the content of a field, or `None` for an unquoted empty field.
    fn content<'a>(&self, field: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let is_empty = field.is_empty() || self.na.iter().any(|word| &word[..] == field);
        (!is_empty).then(|| unquoted(field))
    }

    /// Returns the types of the columns of these rows.
    fn kinds_of(&self, bytes: &[u8], rows: &[usize]) -> Result<Columns, Error> {
        let mut kinds = self.kinds.clone();
        for &row in rows {
            if self.fields == Fields::Json {
                let line = line_at(bytes, row);
                let kind = if line.starts_with(b"{") { Kind::of_json(line) } else { Ok(Kind::Nothing) };
                let Kind::Object(columns) = kind.map_err(|problem| Error::input(&self.name, problem))? else {
                    let problem = "has lines that are not objects, so they have no columns";
                    return Err(Error::input(&self.name, problem));
                };
                self.merge(&mut kinds, columns)?;
                continue;
            }
            for_each_field(bytes, row, self.fields, usize::MAX, |number, field| {
                let Some((_, kind)) = kinds.get_mut(number).filter(|(_, kind)| *kind != Kind::Text) else {
                    return;
                };
                let Some(content) = self.content(&bytes[field]) else { return };
                // A quoted empty field is text.
                kind.add(if content.is_empty() { Kind::Text } else { Kind::of_field(&content) });
            });
        }
        Ok(kinds)
    }

    /// Returns the schema.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(columns(&self.kinds)))
    }

    /// Passes all rows to `take`, batch by batch.
    ///
    /// # Errors
    ///
    /// I/O errors; text in another encoding than UTF-8; errors of `take`.
    pub fn each(&self, take: &mut dyn FnMut(RecordBatch) -> Result<(), Error>) -> Result<(), Error> {
        self.for_each_part(Self::batch, take)
    }

    /// Reads parts of the rows on all cores, and passes the results to `take` in order.
    fn for_each_part<T: Send>(
        &self,
        read: impl Fn(&Self, &[u8], &[usize]) -> Result<T, Error> + Sync,
        mut take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut at = self.start;
        while let Some((bytes, next)) = self.chunk(at)? {
            let rows = self.rows(&bytes);
            let part = rows.len().div_ceil(2 * parallel::threads()).max(1 << 10);
            for part in map_parts(rows.chunks(part), |rows| read(self, &bytes, rows)) {
                take(part?)?;
            }
            at = next;
        }
        Ok(())
    }

    fn batch(&self, bytes: &[u8], rows: &[usize]) -> Result<RecordBatch, Error> {
        let is_json = self.fields == Fields::Json;
        let values = if is_json {
            members_of(&self.kinds, rows.iter().map(|&row| Some(line_at(bytes, row))))
        } else {
            let mut values: Vec<Vec<_>> = self.kinds.iter().map(|_| Vec::with_capacity(rows.len())).collect();
            for &row in rows {
                for_each_field(bytes, row, self.fields, usize::MAX, |number, field| {
                    if let Some(column) = values.get_mut(number) {
                        column.push(self.content(&bytes[field]));
                    }
                });
            }
            values
        };
        let array = |((name, kind), values): (&(String, Kind), &Vec<_>)| {
            kind.array(values, is_json).map_err(|problem| self.wrong(name, &problem))
        };
        let arrays = self.kinds.iter().zip(&values).map(array).collect::<Result<Vec<_>, _>>()?;
        arrays::batch(&self.schema(), arrays, rows.len()).map_err(failed)
    }
}
