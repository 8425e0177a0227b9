//! Columns written as text: CSV, TSV and JSON Lines.
//!
//! A type that the format cannot represent is an error that names the column before anything is written; such
//! a value is an error when reached.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Schema};

use super::arrays::in_utc;
use super::stored::failed;
use crate::error::{Error, Hint};
use crate::format::Format;
use crate::human::quoted;

/// The header before the rows of text in this format.
///
/// # Errors
///
/// A column type that the format lacks.
pub fn head(format: Format, schema: &Schema) -> Result<Vec<u8>, Error> {
    for field in schema.fields() {
        if let Some(problem) = refused(field.data_type(), format == Format::JsonLines) {
            let problem = format!(
                "column '{}' is {problem}, which {} cannot represent",
                quoted(field.name()),
                format.name()
            );
            return Err(Error::options(problem));
        }
    }
    let mut head = Vec::new();
    if format != Format::JsonLines {
        let delimiter = delimiter(format);
        push_all(schema.fields(), delimiter, &mut head, |field, head| {
            push_field(field.name(), delimiter, head);
            Ok(())
        })?;
        head.push(b'\n');
    }
    Ok(head)
}

fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

/// The unsupported part of a type.
fn refused(kind: &DataType, is_json: bool) -> Option<String> {
    use DataType::{Dictionary, FixedSizeList, LargeList, List, Struct};
    match kind {
        kind if kind.is_binary() => Some("binary".to_owned()),
        Dictionary(_, values) => refused(values, is_json),
        Struct(fields) if is_json => fields.iter().find_map(|field| refused(field.data_type(), true)),
        List(field) | LargeList(field) | FixedSizeList(field, _) if is_json => {
            refused(field.data_type(), true)
        }
        kind if kind.is_nested() => Some(format!("nested ({kind})")),
        _ => None,
    }
}

/// Adds a CSV field, quoted if necessary; quotes distinguish an empty text from a null.
fn push_field(text: &str, delimiter: u8, to: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let needs = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !bytes.is_empty() && !bytes.iter().any(needs) {
        to.extend_from_slice(bytes);
        return;
    }
    to.push(b'"');
    let mut from = 0;
    for at in memchr::memchr_iter(b'"', bytes) {
        to.extend_from_slice(&bytes[from..=at]);
        // The next part begins with the same quote.
        from = at;
    }
    to.extend_from_slice(&bytes[from..]);
    to.push(b'"');
}

/// The rows of a batch as text in this format.
///
/// # Errors
///
/// Unrepresentable values.
pub fn rows(format: Format, batch: &RecordBatch) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(batch.num_rows() * batch.num_columns() * 8);
    let schema = batch.schema();
    let columns: Vec<ArrayRef> = batch.columns().iter().map(in_utc).collect();
    let (mut text, delimiter) = (String::new(), delimiter(format));
    let writers = columns.iter().zip(schema.fields()).map(|(array, field)| Cell::of(array, field));
    let writers = writers.collect::<Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        if format == Format::JsonLines {
            push_object(&writers, row, &mut text, &mut bytes)?;
        } else {
            push_all(&writers, delimiter, &mut bytes, |writer, bytes| {
                if !writer.array.is_null(row) {
                    writer.set_text(row, &mut text)?;
                    push_field(&text, delimiter, bytes);
                }
                Ok(())
            })?;
        }
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Writes the values of a column.
struct Cell<'a> {
    array: &'a ArrayRef,
    name: &'a str,
    formatter: ArrayFormatter<'a>,
    inner: Inner<'a>,
}

/// The values within a value.
enum Inner<'a> {
    None,
    Struct(Vec<Cell<'a>>),
    /// The values of all lists, and the offset of each list.
    List(Box<Cell<'a>>, Vec<usize>),
}

impl<'a> Cell<'a> {
    fn of(array: &'a ArrayRef, field: &'a Field) -> Result<Self, Error> {
        const OPTIONS: FormatOptions = FormatOptions::new().with_display_error(false);
        let formatter = ArrayFormatter::try_new(array, &OPTIONS).map_err(failed)?;
        let inner = match field.data_type() {
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns().iter().zip(fields);
                let cells = columns.map(|(array, field)| Cell::of(array, field));
                Inner::Struct(cells.collect::<Result<_, _>>()?)
            }
            DataType::List(inner) => of_lists(array.as_list::<i32>(), inner)?,
            DataType::LargeList(inner) => of_lists(array.as_list::<i64>(), inner)?,
            DataType::FixedSizeList(inner, length) => {
                let offsets = (0..=array.len()).map(|row| row * *length as usize);
                let cell = Cell::of(array.as_fixed_size_list().values(), inner)?;
                Inner::List(Box::new(cell), offsets.collect())
            }
            _ => Inner::None,
        };
        Ok(Self { array, name: field.name(), formatter, inner })
    }

    fn set_text(&self, row: usize, text: &mut String) -> Result<(), Error> {
        text.clear();
        write!(text, "{}", self.formatter.value(row)).map_err(|_| {
            Error::options(format!(
                "column '{}' has a value outside the range of dates and times that can be written as text",
                quoted(self.name)
            ))
        })
    }

    fn push_json(&self, row: usize, text: &mut String, to: &mut Vec<u8>) -> Result<(), Error> {
        if self.array.is_null(row) {
            to.extend_from_slice(b"null");
            return Ok(());
        }
        match &self.inner {
            Inner::Struct(cells) => return push_object(cells, row, text, to),
            Inner::List(cell, offsets) => {
                to.push(b'[');
                push_all(offsets[row]..offsets[row + 1], b',', to, |place, to| {
                    cell.push_json(place, text, to)
                })?;
                to.push(b']');
                return Ok(());
            }
            Inner::None => {}
        }
        self.set_text(row, text)?;
        let kind = self.array.data_type();
        // NaN and infinities are words.
        if kind.is_floating() && !text.bytes().any(|byte| byte.is_ascii_digit()) {
            let problem = format!("column '{}' has {text}, which JSON cannot represent", quoted(self.name));
            return Err(Error::options(problem).hinting(Hint::To(Format::Csv)));
        }
        let is_number = kind.is_numeric() || matches!(kind, DataType::Boolean | DataType::Null);
        if is_number {
            to.extend_from_slice(text.as_bytes());
        } else {
            push_string(text, to);
        }
        Ok(())
    }
}

/// The values within lists.
fn of_lists<'a, O: OffsetSizeTrait>(
    lists: &'a GenericListArray<O>,
    inner: &'a Field,
) -> Result<Inner<'a>, Error> {
    let offsets = lists.offsets().iter().map(|at| at.as_usize()).collect();
    Ok(Inner::List(Box::new(Cell::of(lists.values(), inner)?), offsets))
}

/// A JSON object with a member for each cell.
fn push_object(cells: &[Cell], row: usize, text: &mut String, to: &mut Vec<u8>) -> Result<(), Error> {
    to.push(b'{');
    push_all(cells, b',', to, |cell, to| {
        push_string(cell.name, to);
        to.push(b':');
        cell.push_json(row, text, to)
    })?;
    to.push(b'}');
    Ok(())
}

/// Adds items with a separator between.
fn push_all<T>(
    items: impl IntoIterator<Item = T>,
    separator: u8,
    to: &mut Vec<u8>,
    mut push: impl FnMut(T, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            to.push(separator);
        }
        push(item, to)?;
    }
    Ok(())
}

/// A JSON string.
fn push_string(text: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', byte]),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\t' => to.extend_from_slice(b"\\t"),
            0..0x20 => to.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => to.push(byte),
        }
    }
    to.push(b'"');
}
