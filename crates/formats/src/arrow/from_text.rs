//! Tables in text formats (CSV, TSV and JSON Lines) as columns: their types, which a sample decides, and their
//! values.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use bytes::Bytes;

use super::arrays;
use super::kind::{self, Kind, Misfit, Origin, Values, add_all};
use super::parquet::SortedColumn;
use super::stored::Stored;
use crate::error::Error;
use crate::fields::{
    ColumnAt, Dialect, Fields, Header, ResolvedKey, behind_rows, end_of_first_row, end_of_row, end_of_rows,
    for_each_field,
};
use crate::format::Format;
use crate::human::quoted;
use crate::json::{self, Path};
use crate::order::{Nulls, Reading, TextOrder};
use crate::parallel::{self, map_parts};
use crate::spelling::Spelling;
use crate::text;

/// The number of bytes read at once.
const CHUNK: usize = 4 << 20;

/// The most rows whose values are places in the text at once.
const ROWS: usize = 1 << 14;

/// The columns of tables in a text format.
#[derive(Clone, Debug)]
pub struct TextColumns {
    dialect: Dialect,
    origin: Origin,
    /// Words that count as empty.
    na: Vec<Vec<u8>>,
    kinds: kind::Columns,
    /// The number of bytes whose values `kinds` keep.
    looked: usize,
}

impl TextColumns {
    /// Returns the columns of this header, for conversion into this format.
    ///
    /// # Errors
    ///
    /// A description of a name that no column can have.
    pub fn new(dialect: Dialect, spelling: &Spelling, to: Format, header: &Header) -> Result<Self, String> {
        let is_json = dialect.fields == Fields::Json;
        let origin = Origin { is_json, to, has_marks: spelling.marks.is_some() };
        let mut kinds = kind::Columns::new();
        let names: Vec<Cow<[u8]>> = match header.columns {
            // Objects have names of their own, and an empty input has none.
            _ if is_json => Vec::new(),
            columns if header.names().next().is_none() && dialect.header == 0 && columns < usize::MAX => {
                (1..=columns).map(|number| format!("column{number}").into_bytes().into()).collect()
            }
            _ => header.names().map(Cow::Borrowed).collect(),
        };
        for name in names {
            let shown = quoted(&name);
            let name = std::str::from_utf8(&name);
            let wrong = |_| format!("the name of column '{shown}' is not UTF-8; convert the input to UTF-8");
            let name = name.map_err(wrong)?;
            if kinds.iter().any(|(other, _)| other == name) {
                return Err(format!("two columns are named '{shown}'; rename one of them"));
            }
            kinds.push((name.to_owned(), Kind::default()));
        }
        Ok(Self { dialect, origin, na: spelling.empty.clone(), kinds, looked: 0 })
    }

    /// Keeps the types that hold these rows.
    ///
    /// # Errors
    ///
    /// The offset of a row without columns or with a value that no type holds, and a description.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), (usize, String)> {
        /// The limit of bytes whose values are kept.
        const MOST: usize = 8 << 20;
        for rows in self.rows(bytes).0.chunks(ROWS) {
            let values = self.values(bytes, rows, true)?;
            let place = |(name, misfit): (String, _)| placed(bytes, rows, &name, misfit);
            add_all(&mut self.kinds, &values, &self.origin).map_err(place)?;
        }
        self.looked += bytes.len();
        if self.looked > MOST {
            map_parts(&mut self.kinds, |(_, kind)| kind.narrow(false));
            self.looked = 0;
        }
        Ok(())
    }

    /// Keeps one type for each column, when the sample is complete.
    pub fn settle(&mut self) {
        self.kinds.iter_mut().for_each(|(_, kind)| kind.narrow(true));
    }

    /// Returns the schema.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(kind::fields(&self.kinds)))
    }

    /// Returns the columns in the order of the leading keys. If `has_empty`, some keys are empty where their columns
    /// have values: these keys do not count.
    pub fn order(&self, keys: &[ResolvedKey], has_empty: bool) -> Vec<SortedColumn> {
        let (is_json, has_na) = (self.origin.is_json, !self.na.is_empty());
        let column = |key: &ResolvedKey| {
            let is_at = |(number, (name, _)): &(usize, &(String, Kind))| match &key.column {
                ColumnAt::Field(column) => column == number,
                ColumnAt::Path(path) => *path == Path::member(name),
                _ => false,
            };
            let (column, (name, kind)) = self.kinds.iter().enumerate().find(is_at)?;
            let order = key.order;
            let spelling = &key.spelling;
            let is_plain = key.axis.is_none()
                && spelling.marks.is_none()
                && spelling.times.is_none()
                && key.sign.is_none()
                && (is_json || !has_na || !has_empty);
            let is_same = match (order.reading, kind.field(name).data_type()) {
                // JSON has a zero with a sign, which is equal to zero as a key.
                (Reading::Numbers, DataType::Float64) => is_plain && !is_json,
                (Reading::Numbers, DataType::Int64 | DataType::UInt64 | DataType::Decimal128(..))
                | (Reading::Times, DataType::Date32 | DataType::Timestamp(..)) => is_plain,
                (Reading::Text(TextOrder::Bytes), DataType::Utf8) => {
                    !order.nocase && if is_json { !has_na } else { !has_empty }
                }
                _ => false,
            };
            let (descending, nulls_first) = (order.descending, order.empty == Nulls::First);
            is_same.then_some(SortedColumn { column, descending, nulls_first })
        };
        keys.iter().map_while(column).collect()
    }

    /// Returns the offsets of the rows, and the end of the last one. Blank rows count only if the table has a single
    /// column.
    fn rows(&self, bytes: &[u8]) -> (Vec<usize>, usize) {
        let (mut rows, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            if let Some(next) = self.dialect.comment(bytes, at) {
                at = next;
                continue;
            }
            let Some(next) = end_of_row(bytes, at, self.dialect.fields) else { break };
            let is_blank = matches!(&bytes[at..next], b"\n" | b"\r\n");
            if !is_blank || self.kinds.len() == 1 && !self.origin.is_json {
                rows.push(at);
            }
            at = next;
        }
        (rows, at)
    }

    /// Returns the values of the columns in these rows, and if `is_open` of other members.
    fn values<'v>(
        &self,
        bytes: &'v [u8],
        rows: &[usize],
        is_open: bool,
    ) -> Result<Vec<(String, Values<'v>)>, (usize, String)> {
        if self.origin.is_json {
            for &row in rows {
                let line = line_at(bytes, row);
                if !line.starts_with(b"{") {
                    return Err((row, "is not a JSON object, so it has no columns".to_owned()));
                }
                json::check(line).map_err(|problem| (row, format!("invalid JSON: {problem}")))?;
            }
            let objects = rows.iter().map(|&row| Some(line_at(bytes, row))).collect();
            let place = |misfit| placed(bytes, rows, ".", misfit);
            return kind::members(&objects, &self.kinds, is_open).map_err(place);
        }
        let column = |(name, _): &(String, Kind)| (name.clone(), Vec::with_capacity(rows.len()));
        let mut values: Vec<(String, Values)> = self.kinds.iter().map(column).collect();
        for &row in rows {
            let read = for_each_field(bytes, row, self.dialect.fields, usize::MAX, |number, field| {
                if let Some((_, column)) = values.get_mut(number) {
                    let field = &bytes[field];
                    let is_empty = field.is_empty() || self.na.iter().any(|word| &word[..] == field);
                    column.push((!is_empty).then_some(field));
                }
            });
            if read.is_none_or(|(_, count)| count != self.kinds.len()) {
                return Err((row, "has more or fewer fields than the header; correct the row".to_owned()));
            }
        }
        Ok(values)
    }

    /// Returns the batch of these rows; else the offset of a row, and a description of its problem.
    fn batch(&self, bytes: &[u8], rows: &[usize]) -> Result<RecordBatch, (usize, String)> {
        let values = self.values(bytes, rows, false)?;
        let array = |((name, kind), (_, values)): (&(String, Kind), &(String, Values))| {
            kind.array(values, &self.origin).map_err(|misfit| placed(bytes, rows, name, misfit))
        };
        let arrays = self.kinds.iter().zip(&values).map(array).collect::<Result<Vec<_>, _>>()?;
        Ok(arrays::batch(&self.schema(), arrays, rows.len()).expect("arrays have the types of their columns"))
    }
}

/// Returns the offset of the row of a value, and a description of its problem.
fn placed(bytes: &[u8], rows: &[usize], column: &str, Misfit(value, problem): Misfit) -> (usize, String) {
    let at = value.as_ptr().addr() - bytes.as_ptr().addr();
    let row = rows[rows.partition_point(|&row| row <= at) - 1];
    (row, format!("column '{}' {problem}: {}", quoted(column), quoted(value)))
}

/// Returns the JSON line at this offset, without surrounding blanks.
fn line_at(bytes: &[u8], row: usize) -> &[u8] {
    let rest = &bytes[row..];
    rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii()
}

/// A table in a text format.
pub struct TextTable<'c> {
    /// The name for messages.
    pub name: String,
    /// The bytes.
    pub stored: Stored,
    /// The columns.
    pub columns: &'c TextColumns,
}

impl TextTable<'_> {
    /// Returns the bytes from `at` on, up to a result of `find` at least, or all bytes.
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

    /// Passes chunks of whole rows, and their offsets, to `take`, until it finds something.
    fn chunks<T>(
        &self,
        mut take: impl FnMut(&Bytes, u64) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let dialect = self.columns.dialect;
        let (bytes, _) = self.bytes(0, |bytes| end_of_first_row(bytes, dialect))?;
        let mut at = behind_rows(&bytes, dialect, dialect.header).unwrap_or(bytes.len()) as u64;
        let dialect = Dialect { header: 0, ..dialect };
        while at < self.stored.size() {
            let (bytes, end) = self.bytes(at, |bytes| end_of_rows(bytes, dialect))?;
            let end = end.unwrap_or(bytes.len());
            if let Some(found) = take(&bytes.slice(..end), at)? {
                return Ok(Some(found));
            }
            at += end as u64;
        }
        Ok(None)
    }

    /// Passes all rows to `take`, batch by batch. Returns the first row with a value that its column cannot hold, and
    /// a description.
    ///
    /// # Errors
    ///
    /// I/O errors; errors of `take`.
    ///
    /// # Panics
    ///
    /// Panics if the text does not end with a row.
    pub fn each(
        &self,
        take: &mut dyn FnMut(RecordBatch) -> Result<(), Error>,
    ) -> Result<Option<(Vec<u8>, String)>, Error> {
        self.chunks(|bytes, _| {
            let (rows, end) = self.columns.rows(bytes);
            assert_eq!(end, bytes.len(), "chunks have whole rows");
            let part = rows.len().div_ceil(2 * parallel::threads()).max(1 << 10);
            for batch in map_parts(rows.chunks(part), |rows| self.columns.batch(bytes, rows)) {
                match batch {
                    Ok(batch) => take(batch)?,
                    Err((row, problem)) => {
                        let end = end_of_row(bytes, row, self.columns.dialect.fields).unwrap_or(bytes.len());
                        return Ok(Some((bytes[row..end].trim_ascii_end().to_vec(), problem)));
                    }
                }
            }
            Ok(None)
        })
    }

    /// Returns true if one of these columns has a value that keys count as empty: `""`, only blanks, or a word for empty
    /// fields with quotes or blanks around it.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn has_empty(&self, order: &[SortedColumn]) -> Result<bool, Error> {
        let columns = self.columns;
        let is_empty = |field: &[u8]| {
            let value = columns.dialect.fields.value(field);
            value.is_empty() || columns.na.iter().any(|word| **word == *value)
        };
        let found = self.chunks(|bytes, _| {
            let has_any = |rows: &[usize]| {
                // A row without columns is an error of `each`.
                columns.values(bytes, rows, false).map_or(true, |values| {
                    order
                        .iter()
                        .any(|sorted| values[sorted.column].1.iter().flatten().any(|field| is_empty(field)))
                })
            };
            Ok(columns.rows(bytes).0.chunks(ROWS).any(has_any).then_some(()))
        })?;
        Ok(found.is_some())
    }

    /// Returns the line of a row of these bytes, from 1.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub fn line_of(&self, row: &[u8]) -> Result<Option<u64>, Error> {
        let mut line = None;
        self.chunks(|bytes, begin| {
            let head = || self.stored.at(0, begin as usize).map(|head| 1 + text::count(b'\n', &head));
            let before = line.map_or_else(head, Ok).map_err(|error| Error::io(&self.name, "read", error))?;
            line = Some(before + text::count(b'\n', bytes));
            let is_row = |at: &usize| {
                let next = bytes.get(at + row.len()).unwrap_or(&b'\n');
                (*at == 0 || bytes[at - 1] == b'\n') && matches!(next, b'\r' | b'\n')
            };
            let found = memchr::memmem::find_iter(bytes, row).find(is_row);
            Ok(found.map(|at| before + text::count(b'\n', &bytes[..at])))
        })
    }
}
