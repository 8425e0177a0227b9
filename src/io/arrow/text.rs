//! Tables as text into columns, and back: CSV, TSV and lines of JSON.
//!
//! The type of a column is found in all of its fields, and holds each of them as it is but for its
//! spelling: whole numbers, decimals that f64 holds, dates, times, true and false; else it is text,
//! and in JSON an error where values are of several types. What one format has and the other cannot
//! hold is an error that names the column.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, ListArray, RecordBatch,
    StructArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields as Columns, Schema, SchemaRef, TimeUnit};

use super::arrays::{self, in_utc};
use super::{Stored, failed};
use crate::error::Error;
use crate::format::Format;
use crate::human::quoted;
use crate::io::csv::{Dialect, Fields, end_of_row, end_of_rows, for_each_field, json, unquoted};
use crate::io::number::{integer, spelled};
use crate::io::source::MARK;
use crate::io::time::{self, SECOND};
use crate::parallel::{self, map_parts};

/// What the values of a column are.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Nothing,
    Bool,
    /// Whole numbers: whether any is negative, beyond i64, beyond what f64 holds exactly.
    Integer {
        negative: bool,
        large: bool,
        inexact: bool,
    },
    Float,
    /// NaN and infinities, which may be words.
    Special,
    Date,
    /// Times in UTC or without a zone, with so many decimals.
    Time {
        zone: bool,
        decimals: u8,
    },
    Text,
    Object(Vec<(String, Kind)>),
    List(Box<Kind>),
}

impl Kind {
    /// What holds both; `None` if nothing but text does.
    fn and(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (
                Self::Integer { negative, large, inexact },
                Self::Integer { negative: also_negative, large: also_large, inexact: also_inexact },
            ) => {
                let (negative, large) = (negative | also_negative, large | also_large);
                if negative && large {
                    return None;
                }
                Self::Integer { negative, large, inexact: inexact | also_inexact }
            }
            (Self::Integer { inexact, .. }, Self::Float | Self::Special)
            | (Self::Float | Self::Special, Self::Integer { inexact, .. }) => {
                if inexact {
                    return None;
                }
                Self::Float
            }
            (Self::Float, Self::Special) | (Self::Special, Self::Float) => Self::Float,
            (Self::Special, Self::Text) | (Self::Text, Self::Special) => Self::Text,
            (Self::Time { zone, decimals }, Self::Time { zone: also, decimals: more }) => {
                if zone != also {
                    return None;
                }
                Self::Time { zone, decimals: decimals.max(more) }
            }
            (Self::Object(mut fields), Self::Object(others)) => {
                for (name, kind) in others {
                    match fields.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, known)) => *known = known.clone().and(kind)?,
                        None => fields.push((name, kind)),
                    }
                }
                Self::Object(fields)
            }
            (Self::List(kind), Self::List(other)) => Self::List(Box::new(kind.and(*other)?)),
            (one, other) if one == other => one,
            _ => return None,
        })
    }

    /// That of a field of a table.
    fn of_field(text: &[u8]) -> Self {
        match text {
            b"" => return Self::Nothing,
            b"true" | b"false" => return Self::Bool,
            _ => {}
        }
        if let Some(kind) = Self::of_number(text) {
            return kind;
        }
        if spelled(text).is_some() && !text.iter().any(u8::is_ascii_digit) {
            return Self::Special;
        }
        let Some(found) = time::time(text) else { return Self::Text };
        if text.len() == time::DATE {
            return Self::Date;
        }
        // Those of other zones, and the second 60, would come back otherwise.
        let zone = &text[time::DATE..];
        let is_utc = zone.ends_with(b"Z") || zone.ends_with(b"+00:00");
        let is_plain =
            !text.windows(3).any(|part| part == b":60") && !text.contains(&b',') && !text.contains(&b'\t');
        let is_held = i64::try_from(found.nanoseconds).is_ok() || found.decimals <= 6;
        if found.has_zone != is_utc || !is_plain || !is_held {
            return Self::Text;
        }
        let decimals =
            if i64::try_from(found.nanoseconds).is_ok() { found.decimals } else { found.decimals.max(6) };
        Self::Time { zone: found.has_zone, decimals }
    }

    /// That of a number that 64 bits hold as it is; leading zeros and a plus are no part of it.
    fn of_number(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let is_plain = digits.first().is_some_and(u8::is_ascii_digit)
            && !(digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit());
        if !is_plain {
            return None;
        }
        if digits.iter().all(u8::is_ascii_digit) && text != b"-0" {
            let value = integer(text)?.value?;
            let (negative, large) = (value < 0, value > i128::from(i64::MAX));
            let is_held = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value);
            let inexact = value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS;
            return is_held.then_some(Self::Integer { negative, large, inexact });
        }
        is_exact(text).then_some(Self::Float)
    }

    /// That of a value of JSON.
    fn of_json(token: &[u8]) -> Result<Self, String> {
        Ok(match json::Value::of(token) {
            json::Value::Null => Self::Nothing,
            json::Value::Bool => Self::Bool,
            json::Value::String => Self::Text,
            json::Value::Number => {
                let word = token.strip_prefix(b"-").unwrap_or(token);
                if word.starts_with(b"NaN") || word.starts_with(b"Inf") {
                    return Ok(Self::Float);
                }
                let is_beyond =
                    || format!("has {}, which neither 64 bits nor f64 hold", String::from_utf8_lossy(token));
                Self::of_number(token).ok_or_else(is_beyond)?
            }
            json::Value::Other if token[0] == b'{' => {
                let mut fields: Vec<(String, Self)> = Vec::new();
                for (name, value) in json::members(token) {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    let kind = Self::of_json(&token[value])?;
                    match fields.iter_mut().find(|(other, _)| *other == name) {
                        // The last one counts.
                        Some((_, known)) => *known = kind,
                        None => fields.push((name, kind)),
                    }
                }
                Self::Object(fields)
            }
            json::Value::Other => {
                let mut all = Self::Nothing;
                for value in json::elements(token) {
                    let kind = Self::of_json(&token[value])?;
                    all = all.and(kind).ok_or("has a list of values of several types")?;
                }
                Self::List(Box::new(all))
            }
        })
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Integer { large: true, .. } => DataType::UInt64,
            Self::Integer { .. } => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Time { zone, decimals } => {
                let unit = if *decimals > 6 { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
                DataType::Timestamp(unit, zone.then(|| "UTC".into()))
            }
            Self::Nothing | Self::Special | Self::Text => DataType::Utf8,
            Self::Object(fields) => DataType::Struct(columns(fields)),
            Self::List(kind) => DataType::List(Arc::new(Field::new("item", kind.data_type(), true))),
        }
    }

    /// The array of these values: contents of fields, or values of JSON.
    fn array(&self, values: &[Option<Cow<[u8]>>], is_json: bool) -> Result<ArrayRef, String> {
        let some = || values.iter().map(|value| value.as_deref());
        let integer_of = |value: Option<&[u8]>| value.and_then(|value| integer(value)?.value);
        let time_of = |value: Option<&[u8]>, unit: i128| {
            value.and_then(|value| Some((time::time(value)?.nanoseconds.div_euclid(unit)) as i64))
        };
        Ok(match self {
            Self::Bool => {
                Arc::new(some().map(|value| value.map(|value| value == b"true")).collect::<BooleanArray>())
            }
            Self::Integer { large: true, .. } => Arc::new(
                some().map(|value| integer_of(value).map(|value| value as u64)).collect::<UInt64Array>(),
            ),
            Self::Integer { .. } => Arc::new(
                some().map(|value| integer_of(value).map(|value| value as i64)).collect::<Int64Array>(),
            ),
            Self::Float => {
                let float = |value: &[u8]| std::str::from_utf8(value).ok()?.parse::<f64>().ok();
                Arc::new(some().map(|value| value.and_then(float)).collect::<Float64Array>())
            }
            Self::Date => {
                let day = SECOND * 24 * 60 * 60;
                Arc::new(
                    some().map(|value| time_of(value, day).map(|day| day as i32)).collect::<Date32Array>(),
                )
            }
            Self::Time { zone, decimals } => {
                let zone = zone.then_some("UTC");
                if *decimals > 6 {
                    let all: TimestampNanosecondArray = some().map(|value| time_of(value, 1)).collect();
                    Arc::new(all.with_timezone_opt(zone))
                } else {
                    let all: TimestampMicrosecondArray = some().map(|value| time_of(value, 1000)).collect();
                    Arc::new(all.with_timezone_opt(zone))
                }
            }
            Self::Nothing | Self::Special | Self::Text => {
                let mut all = StringBuilder::with_capacity(values.len(), values.len() * 8);
                for value in some() {
                    let Some(value) = value else {
                        all.append_null();
                        continue;
                    };
                    let text = if is_json { json::content(value) } else { value.into() };
                    all.append_value(std::str::from_utf8(&text).map_err(|_| "has text that is not UTF-8")?);
                }
                Arc::new(all.finish())
            }
            Self::Object(fields) => {
                let mut inner: Vec<Vec<Option<Cow<[u8]>>>> =
                    fields.iter().map(|_| vec![None; values.len()]).collect();
                for (row, value) in some().enumerate() {
                    let Some(value) = value else { continue };
                    for (name, place) in json::members(value) {
                        let field = fields.iter().position(|(other, _)| other.as_bytes() == &name[..]);
                        let token = &value[place];
                        if let Some(field) = field {
                            let is_null = json::Value::of(token) == json::Value::Null;
                            inner[field][row] = if is_null { None } else { Some(token.to_vec().into()) };
                        }
                    }
                }
                let arrays = fields.iter().zip(&inner).map(|((_, kind), values)| kind.array(values, true));
                let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
                let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
                let all =
                    StructArray::try_new_with_length(columns(fields), arrays, Some(nulls), values.len());
                Arc::new(all.map_err(|error| error.to_string())?)
            }
            Self::List(kind) => {
                let (mut inner, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
                for value in some() {
                    let before = inner.len();
                    for place in value.map(json::elements).unwrap_or_default() {
                        let token = &value.unwrap_or_default()[place];
                        let is_null = json::Value::of(token) == json::Value::Null;
                        inner.push(if is_null { None } else { Some(Cow::Owned(token.to_vec())) });
                    }
                    lengths.push(inner.len() - before);
                }
                let field = Arc::new(Field::new("item", kind.data_type(), true));
                let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
                let offsets = OffsetBuffer::from_lengths(lengths);
                let all = ListArray::try_new(field, offsets, kind.array(&inner, true)?, Some(nulls));
                Arc::new(all.map_err(|error| error.to_string())?)
            }
        })
    }
}

fn columns(fields: &[(String, Kind)]) -> Columns {
    fields.iter().map(|(name, kind)| Field::new(name, kind.data_type(), true)).collect()
}

/// Whether f64 holds this decimal so that its digits come back.
fn is_exact(text: &[u8]) -> bool {
    /// So many digits always come back.
    const ALWAYS: usize = 15;
    let Some(value) = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) else {
        return false;
    };
    if !value.is_finite() {
        return false;
    }
    let Some((digits, power)) = digits_of(text) else { return false };
    if digits.len() <= ALWAYS && value != 0.0 {
        return true;
    }
    digits_of(format!("{value:e}").as_bytes()) == Some((digits, power))
}

/// The digits of a number without zeros around them, and the power of ten of the last.
fn digits_of(text: &[u8]) -> Option<(Vec<u8>, i64)> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mantissa = text.iter().take_while(|&&byte| !matches!(byte, b'e' | b'E')).count();
    let mut power = match text.get(mantissa + 1..) {
        None | Some([]) if mantissa == text.len() => 0,
        exponent => std::str::from_utf8(exponent?).ok()?.parse::<i64>().ok()?,
    };
    let mut digits = Vec::with_capacity(mantissa);
    let mut is_fraction = false;
    for &byte in &text[..mantissa] {
        match byte {
            b'.' if !is_fraction => is_fraction = true,
            b'0'..=b'9' => {
                digits.push(byte);
                power -= i64::from(is_fraction);
            }
            _ => return None,
        }
    }
    while digits.last() == Some(&b'0') {
        digits.pop();
        power += 1;
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros);
    Some(if digits.is_empty() { (digits, 0) } else { (digits, power) })
}

/// A table as text.
pub(crate) struct TextTable {
    name: String,
    stored: Stored,
    fields: Fields,
    /// Where the first record is.
    start: u64,
    /// The columns, as they are named.
    kinds: Vec<(String, Kind)>,
    /// Words that count as empty.
    na: Vec<Vec<u8>>,
}

/// Bytes that are looked at together.
const CHUNK: usize = 16 << 20;

impl TextTable {
    /// Finds the columns of a table and their types.
    ///
    /// # Errors
    ///
    /// I/O errors; values that have no type in common.
    pub(crate) fn open(
        name: String,
        stored: Stored,
        dialect: Dialect,
        na: &[Vec<u8>],
    ) -> Result<Self, Error> {
        let mut table =
            Self { name, stored, fields: dialect.fields, start: 0, kinds: Vec::new(), na: na.to_vec() };
        table.read_head(dialect)?;
        let mut at = table.start;
        let mut all: Option<Kind> = None;
        while let Some((bytes, next)) = table.chunk(at)? {
            let rows = table.rows(&bytes);
            let part = rows.len().div_ceil(4 * parallel::threads()).max(1);
            let known = map_parts(rows.chunks(part), |rows| table.kinds_of(&bytes, rows));
            for known in known {
                let known = known?;
                all = Some(match all {
                    None => known,
                    Some(all) => table.both(all, known)?,
                });
            }
            at = next;
        }
        if let Some(Kind::Object(kinds)) = all {
            table.kinds = kinds;
        }
        Ok(table)
    }

    /// What holds both of two records, or of some.
    fn both(&self, one: Kind, other: Kind) -> Result<Kind, Error> {
        let (Kind::Object(mut all), Kind::Object(others)) = (one, other) else { return Ok(Kind::Nothing) };
        for (number, (name, kind)) in others.into_iter().enumerate() {
            let place = match self.fields {
                Fields::Json => all.iter().position(|(other, _)| *other == name),
                _ => Some(number).filter(|&number| number < all.len()),
            };
            let Some(place) = place else {
                all.push((name, kind));
                continue;
            };
            let known = std::mem::replace(&mut all[place].1, Kind::Nothing);
            all[place].1 = match known.and(kind) {
                Some(kind) => kind,
                // As text each field comes back as it was.
                None if self.fields != Fields::Json => Kind::Text,
                None => {
                    return Err(
                        self.wrong(&name, "has values of several types, or numbers that no type holds")
                    );
                }
            };
        }
        Ok(Kind::Object(all))
    }

    fn wrong(&self, column: &str, problem: &str) -> Error {
        Error::input(&self.name, format!("column '{}' {problem}", quoted(column)))
    }

    /// Passes comments and the header, which names the columns.
    fn read_head(&mut self, dialect: Dialect) -> Result<(), Error> {
        if self.fields == Fields::Json {
            let mark = self.bytes(0, MARK.len())?;
            self.start = if mark == MARK { MARK.len() as u64 } else { 0 };
            return Ok(());
        }
        let mut length = CHUNK;
        loop {
            let bytes = self.bytes(0, length)?;
            let is_all = bytes.len() as u64 == self.stored.size();
            let first = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
            let head = dialect.after_comments(&bytes, first).and_then(|(begin, ..)| {
                (0..dialect.header.max(1)).try_fold((begin, begin), |(_, next), _| {
                    Some((next, end_of_row(&bytes, next, self.fields)?))
                })
            });
            match head {
                Some((row, end)) => {
                    for_each_field(&bytes, row, self.fields, usize::MAX, |number, field| {
                        let name = match dialect.header {
                            0 => format!("column{}", number + 1),
                            _ => String::from_utf8_lossy(&unquoted(&bytes[field])).into_owned(),
                        };
                        self.kinds.push((name, Kind::Nothing));
                    });
                    self.start = if dialect.header > 0 { end as u64 } else { row as u64 };
                    break;
                }
                None if is_all => {
                    self.start = self.stored.size();
                    break;
                }
                None => length *= 2,
            }
        }
        let mut names: Vec<&String> = self.kinds.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(self.wrong(twice[0], "is there twice, which columns of types may not be"));
        }
        Ok(())
    }

    /// So many bytes from here on, or as many as there are; the last row ends with LF.
    fn bytes(&self, at: u64, length: usize) -> Result<Vec<u8>, Error> {
        let left = self.stored.size().saturating_sub(at);
        let length = length.min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = self.stored.at(at, length).map_err(|error| Error::io(&self.name, "read", error))?;
        let mut bytes = bytes.to_vec();
        if length as u64 == left && bytes.last().is_some_and(|&byte| byte != b'\n') {
            bytes.push(b'\n');
        }
        Ok(bytes)
    }

    /// The next whole rows, and where those after them begin.
    fn chunk(&self, at: u64) -> Result<Option<(Vec<u8>, u64)>, Error> {
        let mut length = CHUNK;
        loop {
            let mut bytes = self.bytes(at, length)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let is_all = at + bytes.len() as u64 >= self.stored.size();
            match end_of_rows(&bytes, self.fields, false) {
                Some(end) if end > 0 => {
                    let next =
                        if is_all && end == bytes.len() { self.stored.size() } else { at + end as u64 };
                    bytes.truncate(end);
                    return Ok(Some((bytes, next)));
                }
                _ if is_all => return Err(Error::input(&self.name, "a quote is never closed")),
                _ => length *= 2,
            }
        }
    }

    /// Where rows begin; blank ones are none, unless there is one column.
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

    /// The content of a field; none if it is empty, and not in quotes.
    fn content<'a>(&self, field: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let is_empty = field.is_empty() || self.na.iter().any(|word| &word[..] == field);
        (!is_empty).then(|| unquoted(field))
    }

    /// What holds all of these rows.
    fn kinds_of(&self, bytes: &[u8], rows: &[usize]) -> Result<Kind, Error> {
        let mut all: Option<Kind> = None;
        if self.fields == Fields::Json {
            for &row in rows {
                let line = &bytes[row..];
                let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
                let line = line[..end].trim_ascii();
                if line.first() != Some(&b'{') {
                    let problem = "has lines that are no objects, which have no columns";
                    return Err(Error::input(&self.name, problem));
                }
                let kind = Kind::of_json(line).map_err(|problem| Error::input(&self.name, problem))?;
                all = Some(match all {
                    None => kind,
                    Some(all) => self.both(all, kind)?,
                });
            }
            return Ok(all.unwrap_or(Kind::Object(Vec::new())));
        }
        let mut kinds = self.kinds.clone();
        for &row in rows {
            for_each_field(bytes, row, self.fields, usize::MAX, |number, field| {
                let Some((_, kind)) = kinds.get_mut(number).filter(|(_, kind)| *kind != Kind::Text) else {
                    return;
                };
                let Some(content) = self.content(&bytes[field]) else { return };
                // Nothing in quotes is text.
                let found = if content.is_empty() { Kind::Text } else { Kind::of_field(&content) };
                let known = std::mem::replace(kind, Kind::Nothing);
                *kind = known.and(found).unwrap_or(Kind::Text);
            });
        }
        Ok(Kind::Object(kinds))
    }

    /// The columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(columns(&self.kinds)))
    }

    /// Gives all rows to `take`, batch by batch.
    ///
    /// # Errors
    ///
    /// I/O errors; text that is not UTF-8; what `take` returns.
    pub(crate) fn each(&self, take: &mut dyn FnMut(RecordBatch) -> Result<(), Error>) -> Result<(), Error> {
        let mut at = self.start;
        while let Some((bytes, next)) = self.chunk(at)? {
            let rows = self.rows(&bytes);
            let part = rows.len().div_ceil(2 * parallel::threads()).max(1 << 10);
            for batch in map_parts(rows.chunks(part), |rows| self.batch(&bytes, rows)) {
                take(batch?)?;
            }
            at = next;
        }
        Ok(())
    }

    fn batch(&self, bytes: &[u8], rows: &[usize]) -> Result<RecordBatch, Error> {
        let mut values: Vec<Vec<Option<Cow<[u8]>>>> =
            self.kinds.iter().map(|_| Vec::with_capacity(rows.len())).collect();
        let is_json = self.fields == Fields::Json;
        for &row in rows {
            if is_json {
                let line = &bytes[row..];
                let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
                let line = line[..end].trim_ascii();
                values.iter_mut().for_each(|column| column.push(None));
                for (name, place) in json::members(line) {
                    let column = self.kinds.iter().position(|(other, _)| other.as_bytes() == &name[..]);
                    let token = &line[place];
                    if let Some(last) = column.and_then(|column| values[column].last_mut()) {
                        let is_null = json::Value::of(token) == json::Value::Null;
                        *last = (!is_null).then_some(Cow::Borrowed(token));
                    }
                }
                continue;
            }
            for_each_field(bytes, row, self.fields, usize::MAX, |number, field| {
                if let Some(column) = values.get_mut(number) {
                    column.push(self.content(&bytes[field]));
                }
            });
        }
        let array = |((name, kind), values): (&(String, Kind), &Vec<_>)| {
            kind.array(values, is_json).map_err(|problem| self.wrong(name, &problem))
        };
        let arrays = self.kinds.iter().zip(&values).map(array).collect::<Result<Vec<_>, _>>()?;
        arrays::batch(&self.schema(), arrays, rows.len()).map_err(failed)
    }
}

/// Writes columns as text.
#[derive(Clone, Copy)]
pub(crate) struct TextForm {
    pub(crate) format: Format,
}

impl TextForm {
    /// What comes before the rows.
    ///
    /// # Errors
    ///
    /// A column of a type that the format has not.
    pub(crate) fn head(self, schema: &Schema) -> Result<Vec<u8>, Error> {
        for field in schema.fields() {
            if let Some(problem) = self.refused(field.data_type()) {
                let problem = format!(
                    "column '{}' is {problem}, which {} does not hold",
                    quoted(field.name()),
                    self.format.name()
                );
                return Err(Error::options(problem));
            }
        }
        let mut head = Vec::new();
        if self.format != Format::JsonLines {
            for (number, field) in schema.fields().iter().enumerate() {
                if number > 0 {
                    head.push(self.delimiter());
                }
                self.push_field(field.name(), &mut head);
            }
            head.push(b'\n');
        }
        Ok(head)
    }

    fn delimiter(self) -> u8 {
        if self.format == Format::Tsv { b'\t' } else { b',' }
    }

    /// What of a type cannot be written.
    fn refused(self, kind: &DataType) -> Option<String> {
        use DataType::{
            Binary, BinaryView, Dictionary, FixedSizeBinary, FixedSizeList, LargeBinary, LargeList, List,
            Map, Struct,
        };
        let is_json = self.format == Format::JsonLines;
        match kind {
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => Some("binary".to_owned()),
            Dictionary(_, values) => self.refused(values),
            Struct(fields) if is_json => fields.iter().find_map(|field| self.refused(field.data_type())),
            List(field) | LargeList(field) | FixedSizeList(field, _) if is_json => {
                self.refused(field.data_type())
            }
            kind if kind.is_nested() || matches!(kind, Map(..)) => Some(format!("nested ({kind})")),
            _ => None,
        }
    }

    /// A field of CSV, in quotes where it needs them; nothing in quotes is text, and without them
    /// no value.
    fn push_field(self, text: &str, to: &mut Vec<u8>) {
        let delimiter = self.delimiter();
        let bytes = text.as_bytes();
        let needs = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        if !bytes.is_empty() && !bytes.iter().any(needs) {
            to.extend_from_slice(bytes);
            return;
        }
        to.push(b'"');
        for &byte in bytes {
            if byte == b'"' {
                to.push(b'"');
            }
            to.push(byte);
        }
        to.push(b'"');
    }

    /// The rows of a batch.
    ///
    /// # Errors
    ///
    /// NaN in JSON.
    pub(crate) fn rows(self, batch: &RecordBatch) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(batch.num_rows() * batch.num_columns() * 8);
        let schema = batch.schema();
        let columns: Vec<ArrayRef> = batch.columns().iter().map(in_utc).collect();
        let (mut text, is_json) = (String::new(), self.format == Format::JsonLines);
        let writers = columns.iter().zip(schema.fields()).map(|(array, field)| Cell::of(array, field));
        let writers = writers.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            for (number, (writer, field)) in writers.iter().zip(schema.fields()).enumerate() {
                if is_json {
                    bytes.extend_from_slice(if number == 0 { b"{" } else { b"," });
                    push_string(field.name(), &mut bytes);
                    bytes.push(b':');
                    writer.push_json(row, &mut text, &mut bytes)?;
                    continue;
                }
                if number > 0 {
                    bytes.push(self.delimiter());
                }
                if !writer.array.is_null(row) {
                    text.clear();
                    writer.push_text(row, &mut text)?;
                    self.push_field(&text, &mut bytes);
                }
            }
            if is_json {
                bytes.extend_from_slice(if writers.is_empty() { b"{}\n" } else { b"}\n" });
            } else {
                bytes.push(b'\n');
            }
        }
        Ok(bytes)
    }
}

/// Writes the values of a column.
struct Cell<'a> {
    array: &'a ArrayRef,
    name: &'a str,
    formatter: ArrayFormatter<'a>,
    inner: Vec<(String, Cell<'a>)>,
}

impl<'a> Cell<'a> {
    fn of(array: &'a ArrayRef, field: &'a Field) -> Result<Self, Error> {
        const OPTIONS: FormatOptions = FormatOptions::new().with_display_error(false);
        let formatter = ArrayFormatter::try_new(array, &OPTIONS).map_err(failed)?;
        let inner = match field.data_type() {
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns().iter().zip(fields);
                let cell = |(array, field): (&'a ArrayRef, &'a Arc<Field>)| {
                    Ok((field.name().clone(), Cell::of(array, field)?))
                };
                columns.map(cell).collect::<Result<Vec<_>, Error>>()?
            }
            DataType::List(inner) => vec![(String::new(), Cell::of(array.as_list::<i32>().values(), inner)?)],
            DataType::LargeList(inner) => {
                vec![(String::new(), Cell::of(array.as_list::<i64>().values(), inner)?)]
            }
            DataType::FixedSizeList(inner, _) => {
                vec![(String::new(), Cell::of(array.as_fixed_size_list().values(), inner)?)]
            }
            _ => Vec::new(),
        };
        Ok(Self { array, name: field.name(), formatter, inner })
    }

    fn push_text(&self, row: usize, text: &mut String) -> Result<(), Error> {
        write!(text, "{}", self.formatter.value(row)).map_err(|_| {
            Error::options(format!(
                "column '{}' has a value that is beyond what its type can show",
                quoted(self.name)
            ))
        })
    }

    fn push_json(&self, row: usize, text: &mut String, to: &mut Vec<u8>) -> Result<(), Error> {
        if self.array.is_null(row) {
            to.extend_from_slice(b"null");
            return Ok(());
        }
        let range = match self.array.data_type() {
            DataType::Struct(_) => {
                for (number, (name, cell)) in self.inner.iter().enumerate() {
                    to.extend_from_slice(if number == 0 { b"{" } else { b"," });
                    push_string(name, to);
                    to.push(b':');
                    cell.push_json(row, text, to)?;
                }
                to.extend_from_slice(if self.inner.is_empty() { b"{}" } else { b"}" });
                return Ok(());
            }
            DataType::List(_) => {
                let offsets = self.array.as_list::<i32>().value_offsets();
                Some(offsets[row] as usize..offsets[row + 1] as usize)
            }
            DataType::LargeList(_) => {
                let offsets = self.array.as_list::<i64>().value_offsets();
                Some(offsets[row] as usize..offsets[row + 1] as usize)
            }
            DataType::FixedSizeList(_, length) => {
                let first = self.array.as_fixed_size_list().value_offset_at(row);
                Some(first..first + *length as usize)
            }
            _ => None,
        };
        if let (Some(range), Some((_, cell))) = (range, self.inner.first()) {
            to.push(b'[');
            for (number, place) in range.enumerate() {
                if number > 0 {
                    to.push(b',');
                }
                cell.push_json(place, text, to)?;
            }
            to.push(b']');
            return Ok(());
        }
        text.clear();
        self.push_text(row, text)?;
        let kind = self.array.data_type();
        if kind.is_floating() && !self.is_finite(row) {
            let problem = format!("column '{}' has {text}, which JSON does not hold", quoted(self.name));
            return Err(Error::options(problem));
        }
        let is_number = kind.is_numeric() || matches!(kind, DataType::Boolean | DataType::Null);
        if is_number {
            to.extend_from_slice(text.as_bytes());
        } else {
            push_string(text, to);
        }
        Ok(())
    }

    fn is_finite(&self, row: usize) -> bool {
        match self.array.data_type() {
            DataType::Float16 => self.array.as_primitive::<Float16Type>().value(row).is_finite(),
            DataType::Float32 => self.array.as_primitive::<Float32Type>().value(row).is_finite(),
            _ => self.array.as_primitive::<Float64Type>().value(row).is_finite(),
        }
    }
}

/// A string of JSON.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_hold_what_fields_are() {
        let kind = |fields: &[&str]| {
            let mut kinds = fields.iter().map(|field| Kind::of_field(field.as_bytes()));
            kinds.try_fold(Kind::Nothing, Kind::and).map_or(DataType::Utf8, |kind| kind.data_type())
        };
        let micros = |zone: bool| DataType::Timestamp(TimeUnit::Microsecond, zone.then(|| "UTC".into()));
        for (fields, expected) in [
            (&["1", "-2", ""][..], DataType::Int64),
            (&["18446744073709551615", "0"], DataType::UInt64),
            (&["18446744073709551615", "-1"], DataType::Utf8),
            (&["18446744073709551616"], DataType::Utf8),
            (&["007"], DataType::Utf8),
            (&["+1"], DataType::Utf8),
            (&["1", "0.50"], DataType::Float64),
            (&["9007199254740993", "0.5"], DataType::Utf8),
            (&["0.1", "nan", "-0"], DataType::Float64),
            (&["nan", "inf"], DataType::Utf8),
            (&["0.12345678901234567890"], DataType::Utf8),
            (&["0.30000000000000004", "1e-7", "1.7976931348623157e308"], DataType::Float64),
            (&["1e999"], DataType::Utf8),
            (&["true", "false"], DataType::Boolean),
            (&["true", "1"], DataType::Utf8),
            (&["2026-11-21", ""], DataType::Date32),
            (&["2026-11-21", "2026-11-21T10:00:00"], DataType::Utf8),
            (&["2026-11-21T10:00:00Z", "2026-11-21 10:00:00.5Z"], micros(true)),
            (&["2026-11-21T10:00:00"], micros(false)),
            (&["2026-11-21T10:00:00+02:00"], DataType::Utf8),
            (&["2026-11-21T10:00:00.123456789"], DataType::Timestamp(TimeUnit::Nanosecond, None)),
            (&["1", "x"], DataType::Utf8),
        ] {
            assert_eq!(kind(fields), expected, "{fields:?}");
        }
    }
}
