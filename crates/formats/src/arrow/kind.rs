//! The types of text columns: for each column the narrowest type that preserves all values, though not
//! their spelling.
//!
//! Integers, decimals that f64 preserves, dates, times and booleans have types of their own. Columns
//! with other fields are text; in JSON, mixed types are an error.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, ListArray, StructArray, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields, TimeUnit};

use crate::json;
use gpusort_order::key::ElementType;
use gpusort_values::number::{self, Notation, Reader, Value};
use gpusort_values::time::{Time, time};

use crate::number::integer;
use crate::numbers::span::Span;

/// The type of a column's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Kind {
    #[default]
    Nothing,
    Bool,
    /// Integers, and their range.
    Integer(Span),
    Float,
    /// NaN and infinities only, which may be words.
    Special,
    Date,
    /// Times in UTC or without a zone; flags are set for a time with nanoseconds, and for a time whose
    /// nanoseconds exceed 64 bits.
    Time {
        zone: bool,
        fine: bool,
        far: bool,
    },
    Text,
    Object(Columns),
    List(Box<Kind>),
}

/// The names and types of columns.
pub(super) type Columns = Vec<(String, Kind)>;

/// The number of bytes of a date.
const DATE: usize = "2026-11-21".len();

/// Parses a time in the ISO 8601 form, which is how time columns are written.
fn iso(text: &[u8]) -> Option<Time> {
    let is_iso = matches!(text, [_, _, _, _, b'-', _, _, b'-', ..]);
    let is_joined =
        !text.ends_with(b"UTC") && !text.ends_with(b"GMT") && memchr::memchr_iter(b' ', text).count() < 2;
    if is_iso && is_joined { time(text) } else { None }
}

impl Kind {
    /// Returns the type that holds the values of both types, or `None` if only text does.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (Self::Integer(one), Self::Integer(other)) => {
                let all = one.merge(other);
                all.element()?;
                Self::Integer(all)
            }
            (Self::Integer(all), Self::Float | Self::Special)
            | (Self::Float | Self::Special, Self::Integer(all))
                if all.is_within(1 << f64::MANTISSA_DIGITS) =>
            {
                Self::Float
            }
            (Self::Float, Self::Special) | (Self::Special, Self::Float) => Self::Float,
            (Self::Special, Self::Text) | (Self::Text, Self::Special) => Self::Text,
            (Self::Time { zone, fine, far }, Self::Time { zone: also, fine: also_fine, far: also_far }) => {
                let (fine, far) = (fine | also_fine, far | also_far);
                if zone != also || fine && far {
                    return None;
                }
                Self::Time { zone, fine, far }
            }
            (Self::Object(mut fields), Self::Object(others)) => {
                merge(&mut fields, others).ok()?;
                Self::Object(fields)
            }
            (Self::List(kind), Self::List(other)) => Self::List(Box::new(kind.and(*other)?)),
            (one, other) if one == other => one,
            _ => return None,
        })
    }

    /// Adds the values of another type; text holds all.
    pub(super) fn add(&mut self, other: Self) {
        *self = std::mem::take(self).and(other).unwrap_or(Self::Text);
    }

    /// Returns the type of a table field.
    pub(super) fn of_field(text: &[u8]) -> Self {
        match text {
            b"" => return Self::Nothing,
            b"true" | b"false" => return Self::Bool,
            _ => {}
        }
        if let Some(kind) = Self::of_number(text) {
            return kind;
        }
        if number::look(text, None).is_some_and(|seen| !seen.has_digit) {
            return Self::Special;
        }
        let Some(found) = iso(text) else { return Self::Text };
        if text.len() == DATE {
            return Self::Date;
        }
        // Times in other zones and the second 60 would not keep their spelling, so they stay text.
        let zone = &text[DATE..];
        let is_utc = zone.ends_with(b"Z") || zone.ends_with(b"+00:00");
        let is_plain =
            !text.windows(3).any(|part| part == b":60") && !text.contains(&b',') && !text.contains(&b'\t');
        let fine = found.nanoseconds.rem_euclid(1000) != 0;
        let far = i64::try_from(found.nanoseconds).is_err();
        if found.form.zone != is_utc || !is_plain || fine && far {
            return Self::Text;
        }
        Self::Time { zone: found.form.zone, fine, far }
    }

    /// Returns the type of a number that 64 bits preserve. Leading zeros and a plus sign make a field text.
    fn of_number(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let is_plain = digits.first().is_some_and(u8::is_ascii_digit)
            && !(digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit());
        if !is_plain {
            return None;
        }
        if digits.iter().all(u8::is_ascii_digit) && text != b"-0" {
            return integer(text).map(|value| Self::Integer(Span::of(value)));
        }
        // A decimal whose digits come back from f64.
        let value = Reader::new(Notation::default()).key(text, false, &mut Vec::new());
        matches!(value, Some(Value::Word(word)) if word as u64 == number::MID).then_some(Self::Float)
    }

    /// Returns the type of a JSON value, or an error message.
    pub(super) fn of_json(token: &[u8]) -> Result<Self, String> {
        Ok(match json::Value::of(token) {
            json::Value::Null => Self::Nothing,
            json::Value::Bool => Self::Bool,
            json::Value::String => Self::Text,
            json::Value::Number => {
                let word = token.strip_prefix(b"-").unwrap_or(token);
                if word.starts_with(b"NaN") || word.starts_with(b"Inf") {
                    return Ok(Self::Float);
                }
                Self::of_number(token).ok_or_else(|| {
                    let number = String::from_utf8_lossy(token);
                    format!("has {number}, which neither a 64-bit integer nor an f64 represents exactly")
                })?
            }
            json::Value::Other if token[0] == b'{' => {
                let mut fields: Vec<(String, Self)> = Vec::new();
                for (name, value) in json::members(token) {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    let kind = Self::of_json(&token[value])?;
                    match fields.iter_mut().find(|(other, _)| *other == name) {
                        // The last member of a name counts.
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
                    all = all.and(kind).ok_or("has a list of mixed types")?;
                }
                Self::List(Box::new(all))
            }
        })
    }

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Integer(all) if all.fits(ElementType::I64) => DataType::Int64,
            Self::Integer(_) => DataType::UInt64,
            Self::Float => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Time { zone, fine, .. } => {
                let unit = if *fine { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
                DataType::Timestamp(unit, zone.then(|| "UTC".into()))
            }
            Self::Nothing | Self::Special | Self::Text => DataType::Utf8,
            Self::Object(fields) => DataType::Struct(columns(fields)),
            Self::List(kind) => DataType::List(Arc::new(Field::new("item", kind.data_type(), true))),
        }
    }

    /// Builds the array of these values, which are contents of fields or JSON values.
    pub(super) fn array(&self, values: &[Option<Cow<[u8]>>], is_json: bool) -> Result<ArrayRef, String> {
        const DAY: i128 = 1_000_000_000 * 24 * 60 * 60;
        let texts = || values.iter().map(Option::as_deref);
        let time = |text: &[u8], unit| Some(iso(text)?.nanoseconds.div_euclid(unit) as i64);
        Ok(match self {
            Self::Bool => parsed::<_, BooleanArray>(values, |text| Some(text == b"true")),
            Self::Integer(span) if span.fits(ElementType::I64) => {
                parsed::<_, Int64Array>(values, |text| Some(integer(text)? as i64))
            }
            Self::Integer(_) => parsed::<_, UInt64Array>(values, |text| Some(integer(text)? as u64)),
            Self::Float => {
                parsed::<_, Float64Array>(values, |text| std::str::from_utf8(text).ok()?.parse().ok())
            }
            Self::Date => parsed::<_, Date32Array>(values, |text| Some(time(text, DAY)? as i32)),
            Self::Time { fine, .. } => {
                let unit = if *fine { 1 } else { 1000 };
                let all = parsed::<_, Int64Array>(values, |text| time(text, unit));
                cast(&all, &self.data_type()).expect("times are integers")
            }
            Self::Nothing | Self::Special | Self::Text => {
                let mut all = StringBuilder::with_capacity(values.len(), values.len() * 8);
                for text in texts() {
                    let text = text.map(|text| if is_json { json::content(text) } else { text.into() });
                    let text = text.as_deref().map(std::str::from_utf8).transpose();
                    all.append_option(text.map_err(|_| "has text that is not UTF-8")?);
                }
                Arc::new(all.finish())
            }
            Self::Object(fields) => {
                let inner = members_of(fields, texts());
                let arrays = fields.iter().zip(&inner).map(|((_, kind), values)| kind.array(values, true));
                let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
                let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
                let all =
                    StructArray::try_new_with_length(columns(fields), arrays, Some(nulls), values.len());
                Arc::new(all.expect("arrays have the types of their columns"))
            }
            Self::List(kind) => {
                let (mut inner, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
                for value in texts() {
                    let before = inner.len();
                    for place in value.map(json::elements).unwrap_or_default() {
                        inner.push(json::value(&value.unwrap_or_default()[place]).map(Cow::Borrowed));
                    }
                    lengths.push(inner.len() - before);
                }
                let field = Arc::new(Field::new("item", kind.data_type(), true));
                let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
                let offsets = OffsetBuffer::from_lengths(lengths);
                Arc::new(ListArray::new(field, offsets, kind.array(&inner, true)?, Some(nulls)))
            }
        })
    }
}

/// Builds an array of the values that `parse` finds in texts.
fn parsed<T, A: Array + FromIterator<Option<T>> + 'static>(
    texts: &[Option<Cow<[u8]>>],
    parse: impl Fn(&[u8]) -> Option<T>,
) -> ArrayRef {
    let value = |text: &Option<Cow<[u8]>>| {
        text.as_deref().map(|text| parse(text).expect("texts have the type of their column"))
    };
    Arc::new(texts.iter().map(value).collect::<A>())
}

/// Adds the columns of other records.
///
/// # Errors
///
/// The name of a column whose values only text holds.
pub(super) fn merge(all: &mut Columns, others: Columns) -> Result<(), String> {
    for (name, kind) in others {
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, known)) => *known = std::mem::take(known).and(kind).ok_or(name)?,
            None => all.push((name, kind)),
        }
    }
    Ok(())
}

/// Returns the values of JSON objects in these columns.
pub(super) fn members_of<'v>(
    columns: &Columns,
    objects: impl ExactSizeIterator<Item = Option<&'v [u8]>>,
) -> Vec<Vec<Option<Cow<'v, [u8]>>>> {
    let mut values = vec![vec![None; objects.len()]; columns.len()];
    for (row, object) in objects.map(Option::unwrap_or_default).enumerate() {
        for (name, place) in json::members(object) {
            if let Some(column) = columns.iter().position(|(other, _)| other.as_bytes() == &name[..]) {
                values[column][row] = json::value(&object[place]).map(Cow::Borrowed);
            }
        }
    }
    values
}

pub(super) fn columns(fields: &[(String, Kind)]) -> Fields {
    fields.iter().map(|(name, kind)| Field::new(name, kind.data_type(), true)).collect()
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
            (&["9999-11-21T10:00:00", "2026-11-21T10:00:00.123456"], micros(false)),
            (&["9999-11-21T10:00:00", "2026-11-21T10:00:00.123456789"], DataType::Utf8),
            (&["9999-11-21T10:00:00.1234567"], DataType::Utf8),
            (&["1", "x"], DataType::Utf8),
        ] {
            assert_eq!(kind(fields), expected, "{fields:?}");
        }
    }
}
