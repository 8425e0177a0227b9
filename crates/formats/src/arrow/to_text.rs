//! Columns written as text: CSV, TSV and JSON Lines.
//!
//! A type that the format cannot represent is an error that names the column before anything is written; such
//! a value is an error when reached.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{LineDelimited, NullableEncoder, WriterBuilder};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema};

use super::arrays;
use super::kind::{RAW, SPELLING, written};
use super::stored::failed;
use crate::error::{Error, Hint};
use crate::format::Format;
use crate::human::quoted;
use crate::text::MARK;

/// The header before the rows of text in this format.
///
/// # Errors
///
/// A column type that the format lacks.
pub fn head(format: Format, schema: &Schema) -> Result<Vec<u8>, Error> {
    plain_all(schema.fields(), format).map_err(|(name, problem)| {
        let problem = format!("column '{name}' is {problem}, which {} cannot represent", format.name());
        Error::options(problem).hinting(Hint::To(Format::Arrow))
    })?;
    let mut head = Vec::new();
    if format != Format::JsonLines {
        let delimiter = delimiter(format);
        for (number, field) in schema.fields().iter().enumerate() {
            push_field(number, Some(field.name()), delimiter, &mut head);
        }
        head.push(b'\n');
    }
    Ok(head)
}

fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

/// The types of fields as they are written; else the name of a field, and its unsupported part.
fn plain_all(fields: &Fields, format: Format) -> Result<Fields, (String, String)> {
    let mut names = HashSet::new();
    let field = |field: &FieldRef| {
        let wrong = |problem| (quoted(field.name()), problem);
        if format == Format::JsonLines && !names.insert(field.name().clone()) {
            return Err(wrong("named like another column".to_owned()));
        }
        let kind = plain(field.data_type(), format).map_err(wrong)?;
        Ok(Field::new(field.name(), kind, field.is_nullable()))
    };
    fields.iter().map(field).collect()
}

/// The written type: dictionaries and runs become their values, and instants of named zones are in UTC, since the
/// offsets of these zones are unknown here. Else the unsupported part.
fn plain(kind: &DataType, format: Format) -> Result<DataType, String> {
    use DataType::{
        Dictionary, FixedSizeList, LargeList, LargeListView, List, ListView, RunEndEncoded, Struct, Timestamp,
    };
    let inner = |field: &FieldRef| {
        let kind = plain(field.data_type(), format)?;
        Ok::<_, String>(Arc::new(Field::new(field.name(), kind, field.is_nullable())))
    };
    let is_json = format == Format::JsonLines;
    Ok(match kind {
        kind if kind.is_binary() => return Err("binary".to_owned()),
        Dictionary(_, values) => plain(values, format)?,
        RunEndEncoded(_, values) => plain(values.data_type(), format)?,
        Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => Timestamp(*unit, Some("+00:00".into())),
        // f32 is written with a point.
        DataType::Float16 => DataType::Float32,
        List(field) if is_json => List(inner(field)?),
        LargeList(field) if is_json => LargeList(inner(field)?),
        ListView(field) if is_json => ListView(inner(field)?),
        LargeListView(field) if is_json => LargeListView(inner(field)?),
        FixedSizeList(field, length) if is_json => FixedSizeList(inner(field)?, *length),
        Struct(fields) if is_json => Struct(
            plain_all(fields, format)
                .map_err(|(name, problem)| format!("a struct whose field '{name}' is {problem}"))?,
        ),
        kind if kind.is_nested() => return Err(format!("nested ({kind})")),
        kind => kind.clone(),
    })
}

/// Adds the CSV field of a column, quoted if necessary; quotes distinguish an empty text from a null.
fn push_field(column: usize, text: Option<&str>, delimiter: u8, to: &mut Vec<u8>) {
    if column > 0 {
        to.push(delimiter);
    }
    let Some(bytes) = text.map(str::as_bytes) else { return };
    let needs = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    // A byte order mark before the header would belong to no name.
    if !bytes.is_empty() && !bytes.iter().any(needs) && !bytes.starts_with(MARK) {
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

/// A value that the format cannot represent.
type Problem = OnceLock<String>;

/// The rows of a batch as text in this format. Only columns made from text (`is_own`) may hold JSON numbers as text.
///
/// # Errors
///
/// Unrepresentable values.
pub fn rows(format: Format, batch: &RecordBatch, is_own: bool) -> Result<Vec<u8>, Error> {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(array, field)| prepared(format, array, field, is_own));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    if format == Format::JsonLines {
        return objects(&columns, batch.num_rows());
    }
    let delimiter = delimiter(format);
    let columns: Vec<&StringArray> = columns.iter().map(|(_, texts)| texts.as_string()).collect();
    let mut bytes = Vec::with_capacity(batch.num_rows() * batch.num_columns() * 8);
    for row in 0..batch.num_rows() {
        for (number, texts) in columns.iter().enumerate() {
            push_field(number, texts.is_valid(row).then(|| texts.value(row)), delimiter, &mut bytes);
        }
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The array of a column for the writer: text for CSV and for a known spelling.
fn prepared(
    format: Format,
    array: &ArrayRef,
    field: &FieldRef,
    is_own: bool,
) -> Result<(Field, ArrayRef), Error> {
    let kind = plain(array.data_type(), format).expect("the columns of a format were checked");
    let mut array =
        if kind == *array.data_type() { array.clone() } else { cast(array, &kind).map_err(failed)? };
    let spelling = field.metadata().get(SPELLING).map_or("", String::as_str);
    let is_spelled = !spelling.is_empty() && matches!(kind, DataType::Timestamp(..) | DataType::Float64);
    let mut is_raw = is_own && spelling == RAW;
    if format != Format::JsonLines || is_spelled {
        array =
            written(&array, if is_spelled { spelling } else { "" }).map_err(|_| unwritable(field.name()))?;
        is_raw |= kind.is_numeric();
        let is_invalid = |text: Option<&str>| text == Some(INVALID);
        if matches!(kind, DataType::Duration(_)) && array.as_string::<i32>().iter().any(is_invalid) {
            return Err(unwritable(field.name()));
        }
    }
    let raw: HashMap<_, _> = is_raw.then(|| (SPELLING.to_owned(), RAW.to_owned())).into_iter().collect();
    Ok((Field::new(field.name(), array.data_type().clone(), true).with_metadata(raw), array))
}

/// The problem of times that no text has.
const OUTSIDE: &str = "has a value outside the range of dates and times that can be written as text";

/// The text of a duration that arrow-rs cannot represent.
const INVALID: &str = "<invalid>";

fn unwritable(column: &str) -> Error {
    Error::options(format!("column '{}' {OUTSIDE}", quoted(column)))
}

/// These columns as JSON objects.
fn objects(columns: &[(Field, ArrayRef)], rows: usize) -> Result<Vec<u8>, Error> {
    let (fields, arrays): (Vec<Field>, _) = columns.iter().cloned().unzip();
    let batch = arrays::batch(&Arc::new(Schema::new(fields)), arrays, rows).map_err(failed)?;
    let (mut bytes, problem) = (Vec::new(), Arc::new(Problem::new()));
    let encoders = Arc::new(Exact(problem.clone()));
    let builder = WriterBuilder::new().with_explicit_nulls(true).with_encoder_factory(encoders);
    let mut writer = builder.build::<_, LineDelimited>(&mut bytes);
    writer.write(&batch).and_then(|()| writer.finish()).map_err(failed)?;
    let Some(problem) = problem.get() else { return Ok(bytes) };
    // One column of several has the value.
    match columns {
        [(field, _)] => {
            let problem = format!("column '{}' {problem}", quoted(field.name()));
            Err(Error::options(problem).hinting(Hint::To(Format::Arrow)))
        }
        _ => columns.chunks(1).try_fold(Vec::new(), |_, column| objects(column, rows)),
    }
}

/// Encodes values that the encoders of arrow-json would alter.
#[derive(Debug)]
struct Exact(Arc<Problem>);

impl EncoderFactory for Exact {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let kind = array.data_type();
        let is_raw = field.metadata().get(SPELLING).is_some_and(|spelling| spelling == RAW);
        let is_number = kind.is_floating() || is_raw;
        if !is_number && !kind.is_temporal() {
            return Ok(None);
        }
        let formatter = ArrayFormatter::try_new(array, &FormatOptions::new().with_display_error(false))?;
        let value = Value { formatter, is_number, text: String::new(), problem: self.0.clone() };
        Ok(Some(NullableEncoder::new(Box::new(value), array.nulls().cloned())))
    }
}

/// A float, a time, or a number kept as text.
struct Value<'a> {
    formatter: ArrayFormatter<'a>,
    is_number: bool,
    text: String,
    problem: Arc<Problem>,
}

impl Encoder for Value<'_> {
    fn encode(&mut self, row: usize, to: &mut Vec<u8>) {
        self.text.clear();
        let written = write!(self.text, "{}", self.formatter.value(row));
        let text = self.text.as_str();
        let is_word = !text.bytes().any(|byte| byte.is_ascii_digit());
        let problem = if written.is_err() || text == INVALID {
            OUTSIDE.to_owned()
        } else if self.is_number && is_word {
            // NaN and infinities are words.
            format!("has {text}, which JSON cannot represent")
        } else {
            let quote: &[u8] = if self.is_number { b"" } else { b"\"" };
            [quote, text.as_bytes(), quote].into_iter().for_each(|part| to.extend_from_slice(part));
            return;
        };
        self.problem.get_or_init(|| problem);
    }
}
