//! The types of columns of text. A column gets the first type that writes every value as its field is
//! spelled; JSON numbers only need the same value.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::display::FormatOptions;
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};

use super::arrays::with_type;
use crate::fields::unquoted;
use crate::format::Format;
use crate::json::{self, Value};
use crate::number::integer;
use crate::parallel::map_parts;
use gpusort_values::number::{Notation, Reader};

/// The key of a field's metadata that says how its values are spelled, unless as Arrow writes them.
pub(super) const SPELLING: &str = "gpusort:spelling";

/// The spelling of floats without `.0`.
const SHORT: &str = "short";

/// The spelling of JSON numbers kept as text.
pub(super) const RAW: &str = "raw";

/// The source of the values of columns.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// True for values of JSON, false for fields of a table.
    pub(super) is_json: bool,
    /// The format to write.
    pub(super) to: Format,
    /// True if options change the notation of numbers.
    pub(super) has_marks: bool,
}

/// The values of a column, or of part of one: fields, or JSON values; `None` for null.
pub(super) type Values<'v> = Vec<Option<&'v [u8]>>;

/// The names and types of columns.
pub(super) type Columns = Vec<(String, Kind)>;

/// A value that a column cannot hold, and the problem.
pub(super) struct Misfit<'v>(pub(super) &'v [u8], pub(super) Cow<'static, str>);

/// A type that holds some values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Type {
    data: DataType,
    /// The kind of the JSON values; `None` for fields.
    token: Option<Value>,
    /// The spelling: a strftime pattern, [`SHORT`], [`RAW`], or empty for the one of Arrow.
    spelling: String,
}

/// The types of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// The candidate types, and the values to try with the second and later types; the first type holds all values.
    /// Empty for nulls alone, which are text.
    Leaf(Vec<Type>, Vec<ArrayRef>),
    /// JSON objects.
    Object(Columns),
    /// JSON arrays.
    List(Box<Kind>),
}

/// Returns these values as text in this spelling.
///
/// # Errors
///
/// Times outside the range of years that can be written.
pub(super) fn spelled(array: &dyn Array, spelling: &str) -> Result<ArrayRef, ArrowError> {
    let pattern = spelling.contains('%').then_some(spelling);
    let format = FormatOptions::new().with_timestamp_format(pattern).with_timestamp_tz_format(pattern);
    let texts =
        cast_with_options(array, &DataType::Utf8, &CastOptions { safe: false, format_options: format })?;
    if spelling != SHORT {
        return Ok(texts);
    }
    let short = |text: &'_ str| text.strip_suffix(".0").unwrap_or(text).to_owned();
    Ok(Arc::new(texts.as_string::<i32>().iter().map(|text| text.map(short)).collect::<StringArray>()))
}

/// Returns these values as text in this spelling, if they come back from that, else as Arrow writes them.
///
/// # Errors
///
/// See [`spelled`].
pub(super) fn written(array: &ArrayRef, spelling: &str) -> Result<ArrayRef, ArrowError> {
    let is_back = |texts: &ArrayRef| cast(texts, array.data_type()).is_ok_and(|back| *back == **array);
    let texts = spelled(array, spelling).ok().filter(|texts| spelling.is_empty() || is_back(texts));
    texts.map_or_else(|| spelled(array, ""), Ok)
}

/// Returns true if two JSON numbers have the same value and sign.
fn is_same_number(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| {
        let mut tail = Vec::new();
        let key = Reader::new(Notation::default()).key(text.as_bytes(), false, &mut tail);
        (key, tail, text.starts_with('-'))
    });
    one == other
}

/// Returns the text of these values, all of them of one kind.
fn texts<'v>(values: &Values<'v>, token: Option<Value>) -> Result<ArrayRef, Misfit<'v>> {
    let mut all = StringBuilder::with_capacity(values.len(), values.len() * 8);
    for value in values {
        let Some(value) = *value else {
            all.append_null();
            continue;
        };
        let text = match token {
            None => unquoted(value),
            Some(token) if Value::of(value) != token => return Err(Misfit(value, MIXED)),
            Some(Value::String) => json::string(value).ok_or(Misfit(value, HALF))?,
            Some(_) => value.into(),
        };
        all.append_value(
            std::str::from_utf8(&text).map_err(|_| Misfit(value, "has text that is not UTF-8".into()))?,
        );
    }
    Ok(Arc::new(all.finish()))
}

const MIXED: Cow<'static, str> = Cow::Borrowed("has a value of another type than the values before");
const HALF: Cow<'static, str> = Cow::Borrowed("has an unpaired surrogate");

impl Type {
    fn new(data: DataType, token: Option<Value>) -> Self {
        Self { data, token, spelling: String::new() }
    }

    fn spelled(self, spelling: impl Into<String>) -> Self {
        Self { spelling: spelling.into(), ..self }
    }

    /// Returns the types that may hold a column with this value, the most fitting first.
    fn all(first: &str, token: Option<Value>, origin: &Origin) -> Vec<Self> {
        let text = Self::new(DataType::Utf8, token);
        if !origin.to.has_columns() {
            let numbers = text.clone().spelled(RAW);
            let has_values = origin.to == Format::JsonLines && !origin.is_json;
            return if has_values {
                vec![Self::new(DataType::Boolean, None), numbers, text]
            } else {
                vec![text]
            };
        }
        let own = |data| Self::new(data, token);
        let (number, exponent) = first.split_once(['e', 'E']).unwrap_or((first, ""));
        let places = number.split_once('.').map_or(0, |(_, places)| places.len().min(38) as i8);
        let decimal = |places| own(DataType::Decimal128(38, places));
        let mut types = match token {
            Some(Value::String) => vec![],
            Some(Value::Bool) => vec![own(DataType::Boolean)],
            _ => vec![own(DataType::Int64), own(DataType::UInt64)],
        };
        if token == Some(Value::Number) {
            types.extend([decimal(places), own(DataType::Float64)]);
            types.extend([places, 3, 6, 9, 18].map(decimal));
        } else if token.is_none() {
            if !origin.has_marks && exponent.is_empty() {
                types.push(decimal(places));
            }
            if !origin.has_marks {
                types.extend([own(DataType::Float64), own(DataType::Float64).spelled(SHORT)]);
            }
            types.extend([own(DataType::Boolean), own(DataType::Date32)]);
            types.extend(Self::times(first));
        }
        if token.is_none_or(|token| token == Value::String) {
            types.push(text);
        }
        types
    }

    /// Returns the types of times with the spelling of this time.
    fn times(first: &str) -> Vec<Self> {
        const SECONDS: usize = "2026-11-21T10:00:00".len();
        let Some((day, rest)) = first.split_at_checked(SECONDS) else { return Vec::new() };
        let Some(separator @ (b'T' | b' ')) = day.as_bytes().get(10) else { return Vec::new() };
        let zone = rest.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
        let (offset, suffix) = match zone {
            "" => (None, ""),
            "Z" => (Some("+00:00"), "Z"),
            zone => (Some(zone), "%:z"),
        };
        let places = if rest.len() > zone.len() { &["%.f", "%.3f", "%.6f", "%.9f"][..] } else { &["%.f"] };
        let mut types = Vec::new();
        for unit in [TimeUnit::Microsecond, TimeUnit::Nanosecond] {
            for places in places {
                let pattern = format!("%Y-%m-%d{}%H:%M:%S{places}{suffix}", char::from(*separator));
                let is_usual = *separator == b'T' && *places == "%.f" && zone != "+00:00";
                let data = DataType::Timestamp(unit, offset.map(Into::into));
                types.push(Self::new(data, None).spelled(if is_usual { "" } else { &pattern }));
            }
        }
        types
    }

    /// Returns the type in files: the offset 0 is named UTC.
    fn data_type(&self) -> DataType {
        match &self.data {
            DataType::Timestamp(unit, Some(zone)) if &**zone == "+00:00" => {
                DataType::Timestamp(*unit, Some("UTC".into()))
            }
            data => data.clone(),
        }
    }

    fn field(&self, name: &str) -> Field {
        let field = Field::new(name, self.data_type(), true);
        if self.spelling.is_empty() {
            return field;
        }
        field.with_metadata(HashMap::from([(SPELLING.to_owned(), self.spelling.clone())]))
    }

    /// Returns a row of some texts that this type does not hold.
    fn first_other(&self, all: &[ArrayRef]) -> Option<usize> {
        // Most types already fail at the first values.
        let few = |texts: &ArrayRef| self.array(&texts.slice(0, texts.len().min(64))).err();
        all.iter().find_map(|texts| few(texts).or_else(|| self.array(texts).err()))
    }

    /// Returns true if a text with a value is certainly in the type's spelling. False asks to write the value, which
    /// is slower.
    fn is_plain(&self, text: &[u8]) -> bool {
        match &self.data {
            DataType::Int64 | DataType::UInt64 | DataType::Decimal128(_, 0) => integer(text).is_some(),
            DataType::Decimal128(_, places) => {
                let point = text.len().saturating_sub(1 + *places as usize);
                let [whole, [b'.', fraction @ ..]] = [&text[..point], &text[point..]] else { return false };
                let is_below_0 = whole == b"-0" && fraction.iter().any(|&digit| digit != b'0');
                text.len() <= 38 && are_digits(fraction) && (is_below_0 || integer(whole).is_some())
            }
            DataType::Date32 => has_form(text, A_DAY),
            DataType::Timestamp(unit, zone) => {
                // A pattern has eight letters before and behind the separator.
                let (separator, places) = match self.spelling.as_bytes() {
                    [] => (b'T', b'f'),
                    pattern => (pattern[8], pattern[19]),
                };
                let zone = zone.as_deref().unwrap_or_default();
                let suffix = if zone == "+00:00" && !self.spelling.ends_with(":z") { "Z" } else { zone };
                let Some(text) = text.strip_suffix(suffix.as_bytes()) else { return false };
                let Some((time, fraction)) = text.split_at_checked(DAY + ".10:00:00".len()) else {
                    return false;
                };
                let clock = &time[DAY + 1..];
                let is_clock = has_form(clock, b"00:00:00") && clock[6] < b'6';
                let is_fraction = match (fraction, places) {
                    ([], b'f') => true,
                    ([b'.', digits @ ..], places) => {
                        let is_whole = match places {
                            b'f' => matches!(digits.len(), 3 | 6 | 9) && !digits.ends_with(b"000"),
                            places => digits.len() == usize::from(places - b'0'),
                        };
                        let is_held = *unit == TimeUnit::Nanosecond || digits.len() < 7;
                        is_whole && is_held && are_digits(digits)
                    }
                    _ => false,
                };
                has_form(&time[..DAY], A_DAY) && time[DAY] == separator && is_clock && is_fraction
            }
            _ => false,
        }
    }

    /// Returns the values of these texts, or the first row with another value or spelling.
    fn array(&self, texts: &ArrayRef) -> Result<ArrayRef, usize> {
        let strings = texts.as_string::<i32>();
        if self.data == DataType::Utf8 {
            let wrong = |text: Option<&str>| text.is_some_and(|text| !json::is_number(text.as_bytes()));
            let row = if self.spelling == RAW { strings.iter().position(wrong) } else { None };
            return row.map_or(Ok(texts.clone()), Err);
        }
        // A text of another type becomes null.
        let Ok(array) = cast(texts, &self.data) else { return Err(0) };
        let is_plain = |(row, text): (usize, Option<&str>)| {
            text.is_none_or(|text| array.is_valid(row) && self.is_plain(text.as_bytes()))
        };
        if strings.iter().enumerate().all(is_plain) {
            return Ok(with_type(&array, self.data_type()));
        }
        let Ok(back) = spelled(&array, &self.spelling) else { return Err(0) };
        let is_same = |text: &str, back: &str| match self.token {
            Some(Value::Number) => text == back || is_same_number(text, back),
            // The total order of floats has two zeros, the order of numbers has one.
            _ => text == back && !matches!(text, "-0" | "-0.0"),
        };
        let is_other = |(text, back): (Option<&str>, Option<&str>)| {
            text.is_some_and(|text| back.is_none_or(|back| !is_same(text, back)))
        };
        match strings.iter().zip(back.as_string::<i32>()).position(is_other) {
            Some(row) => Err(row),
            None => Ok(with_type(&array, self.data_type())),
        }
    }
}

/// The form of a day, and its number of letters.
const A_DAY: &[u8; DAY] = b"0000-00-00";
const DAY: usize = 10;

/// Returns true if a text has digits where the form has zeros, and otherwise the letters of the form.
fn has_form(text: &[u8], form: &[u8]) -> bool {
    let is_like = |(byte, of_form): (&u8, &u8)| byte == of_form || *of_form == b'0' && byte.is_ascii_digit();
    text.len() == form.len() && text.iter().zip(form).all(is_like)
}

fn are_digits(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

impl Default for Kind {
    fn default() -> Self {
        Self::Leaf(Vec::new(), Vec::new())
    }
}

impl Kind {
    /// Returns the column of this name.
    pub(super) fn field(&self, name: &str) -> Field {
        match self {
            Self::Leaf(types, _) => {
                types.first().map_or_else(|| Field::new(name, DataType::Utf8, true), |kind| kind.field(name))
            }
            Self::Object(columns) => Field::new(name, DataType::Struct(fields(columns)), true),
            Self::List(kind) => Field::new(name, DataType::List(Arc::new(kind.field("item"))), true),
        }
    }

    /// Keeps the types that hold these values.
    pub(super) fn add<'v>(&mut self, values: &Values<'v>, origin: &Origin) -> Result<(), Misfit<'v>> {
        let Some(first) = values.iter().flatten().next() else { return Ok(()) };
        if *self == Self::default() {
            let token = origin.is_json.then(|| Value::of(first));
            *self = match first[0] {
                b'{' if origin.is_json => Self::Object(Vec::new()),
                b'[' if origin.is_json => Self::List(Box::default()),
                _ => Self::Leaf(
                    Type::all(&String::from_utf8_lossy(&unquoted(first)), token, origin),
                    Vec::new(),
                ),
            };
        }
        match self {
            Self::Object(columns) => {
                let values = members(values, columns, true)?;
                add_all(columns, &values, origin).map_err(|(_, misfit)| misfit)
            }
            Self::List(kind) => kind.add(&elements(values)?.0, origin),
            Self::Leaf(types, looked) => {
                looked.push(texts(values, types[0].token)?);
                let (mut from, mut row) = (looked.len() - 1, 0);
                while let Some(wrong) = types.first().and_then(|kind| kind.first_other(&looked[from..])) {
                    // Values of earlier calls fit a type before this one.
                    row = if from > 0 || looked.len() == 1 { row.max(wrong) } else { row };
                    types.remove(0);
                    from = 0;
                }
                if types.is_empty() {
                    let problem = "has a value that no column type holds exactly with the other values";
                    return Err(Misfit(values[row].expect("nulls have all types"), problem.into()));
                }
                Ok(())
            }
        }
    }

    /// Keeps the types that hold the values kept so far, or the first type alone if no values follow, and frees
    /// these values.
    pub(super) fn narrow(&mut self, is_last: bool) {
        match self {
            Self::Leaf(types, looked) => {
                if is_last {
                    types.truncate(1);
                } else {
                    types.retain(|kind| kind.first_other(looked).is_none());
                }
                looked.clear();
            }
            Self::Object(columns) => columns.iter_mut().for_each(|(_, kind)| kind.narrow(is_last)),
            Self::List(kind) => kind.narrow(is_last),
        }
    }

    /// Returns the array of these values.
    pub(super) fn array<'v>(&self, values: &Values<'v>, origin: &Origin) -> Result<ArrayRef, Misfit<'v>> {
        let nulls = || values.iter().map(Option::is_some).collect::<NullBuffer>();
        match self {
            Self::Leaf(types, _) => {
                let text = Type::new(DataType::Utf8, origin.is_json.then_some(Value::String));
                let kind = types.first().unwrap_or(&text);
                kind.array(&texts(values, kind.token)?).map_err(|row| {
                    let is_raw = kind.spelling == RAW;
                    let name = if is_raw { "numbers".to_owned() } else { kind.data_type().to_string() };
                    let problem = format!("is {name} in the sample of the input, but not here");
                    Misfit(values[row].expect("nulls have all types"), problem.into())
                })
            }
            Self::Object(columns) => {
                let inner = members(values, columns, false)?;
                let arrays =
                    columns.iter().zip(&inner).map(|((_, kind), (_, values))| kind.array(values, origin));
                let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
                let all =
                    StructArray::try_new_with_length(fields(columns), arrays, Some(nulls()), values.len());
                Ok(Arc::new(all.expect("arrays have the types of their columns")))
            }
            Self::List(kind) => {
                let (inner, lengths) = elements(values)?;
                let (field, offsets) = (Arc::new(kind.field("item")), OffsetBuffer::from_lengths(lengths));
                Ok(Arc::new(ListArray::new(field, offsets, kind.array(&inner, origin)?, Some(nulls()))))
            }
        }
    }
}

/// Returns the values of the members of objects: those of these columns, then if `is_open` others.
pub(super) fn members<'v>(
    values: &Values<'v>,
    columns: &Columns,
    is_open: bool,
) -> Result<Vec<(String, Values<'v>)>, Misfit<'v>> {
    let mut all: Vec<(String, Values)> = columns.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    for (row, value) in values.iter().enumerate() {
        let Some(object) = *value else { continue };
        if object.first() != Some(&b'{') {
            return Err(Misfit(object, MIXED));
        }
        for (number, (token, value)) in json::members(object).into_iter().enumerate() {
            let wrong = |problem: &'static str| Misfit(token, problem.into());
            let name = json::string(token).ok_or(Misfit(token, HALF))?;
            let name = std::str::from_utf8(&name).map_err(|_| wrong("has a name that is not UTF-8"))?;
            let is_it = |(other, _): &(String, Values)| other == name;
            let usual = all.get(number).is_some_and(is_it).then_some(number);
            let column = match usual.or_else(|| all.iter().position(is_it)) {
                Some(column) => column,
                None if !is_open => return Err(wrong("has a member that the sample of the input lacks")),
                None => {
                    all.push((name.to_owned(), Vec::new()));
                    all.len() - 1
                }
            };
            let column = &mut all[column].1;
            if column.len() > row {
                return Err(wrong("has two members of this name"));
            }
            column.resize(row, None);
            column.push(value);
        }
    }
    all.iter_mut().for_each(|(_, column)| column.resize(values.len(), None));
    Ok(all)
}

/// Returns the elements of arrays, and the length of each array.
fn elements<'v>(values: &Values<'v>) -> Result<(Values<'v>, Vec<usize>), Misfit<'v>> {
    let (mut inner, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        let before = inner.len();
        if let Some(array) = *value {
            if array.first() != Some(&b'[') {
                return Err(Misfit(array, MIXED));
            }
            inner.extend(json::elements(array));
        }
        lengths.push(inner.len() - before);
    }
    Ok((inner, lengths))
}

/// Keeps the types of columns that hold these values; new columns may follow the known ones.
///
/// # Errors
///
/// The name of a column, and the value.
pub(super) fn add_all<'v>(
    columns: &mut Columns,
    all: &[(String, Values<'v>)],
    origin: &Origin,
) -> Result<(), (String, Misfit<'v>)> {
    columns.extend(all[columns.len()..].iter().map(|(name, _)| (name.clone(), Kind::default())));
    let added = map_parts(columns.iter_mut().zip(all), |((name, kind), (_, values))| {
        kind.add(values, origin).map_err(|misfit| (name.clone(), misfit))
    });
    added.into_iter().collect()
}

pub(super) fn fields(columns: &[(String, Kind)]) -> Fields {
    columns.iter().map(|(name, kind)| kind.field(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the type of a column of these values, and its spelling.
    fn kind(values: &[&str], is_json: bool, to: Format) -> Result<(DataType, String), String> {
        let origin = Origin { is_json, to, has_marks: false };
        let values: Values = values.iter().map(|value| Some(value.as_bytes())).collect();
        let mut kind = Kind::default();
        let shown = |Misfit(value, problem): Misfit| format!("{problem}: {}", String::from_utf8_lossy(value));
        kind.add(&values, &origin).map_err(shown)?;
        assert!(kind.array(&values, &origin).is_ok(), "{values:?}");
        let field = kind.field("a");
        Ok((field.data_type().clone(), field.metadata().get(SPELLING).cloned().unwrap_or_default()))
    }

    #[test]
    fn types_spell_values_as_fields_are() {
        use DataType::{Boolean, Date32, Decimal128, Float64, Int64, Timestamp, UInt64, Utf8};
        const FAR: &str = "9999-11-21T10:00:00";
        let time = |unit, zone: &str| Timestamp(unit, (!zone.is_empty()).then(|| zone.into()));
        let micros = |zone| time(TimeUnit::Microsecond, zone);
        for (fields, expected, spelling) in [
            (&["1", "-2"][..], Int64, ""),
            (&["18446744073709551615", "0"], UInt64, ""),
            (&["18446744073709551615", "-1"], Decimal128(38, 0), ""),
            (&["99999999999999999999999999999999999999"], Decimal128(38, 0), ""),
            (&["100000000000000000000000000000000000000"], Utf8, ""),
            (&["007"], Utf8, ""),
            (&["+1"], Utf8, ""),
            (&["-0"], Utf8, ""),
            (&["1e3"], Utf8, ""),
            (&["1_000"], Utf8, ""),
            (&["1.50", "20.25"], Decimal128(38, 2), ""),
            (&["1.50", "2"], Utf8, ""),
            (&["1.5", "2.25", "NaN", "inf"], Float64, ""),
            (&["1", "0.5"], Float64, SHORT),
            (&["9007199254740993", "0.5"], Utf8, ""),
            (&["0.30000000000000004", "1e-7", "1.7976931348623157e308"], Float64, ""),
            (&["true", "false"], Boolean, ""),
            (&["true", "1"], Utf8, ""),
            (&["2026-11-21"], Date32, ""),
            (&["2026-02-30"], Utf8, ""),
            (&["2026-11-21", "2026-11-21T10:00:00"], Utf8, ""),
            (&["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.500Z"], micros("UTC"), ""),
            (&["2026-11-21T10:00:00+00:00"], micros("UTC"), "%Y-%m-%dT%H:%M:%S%.f%:z"),
            (&["2026-11-21 10:00:00"], micros(""), "%Y-%m-%d %H:%M:%S%.f"),
            (
                &["2026-11-21T10:00:00.000Z", "2026-11-21T10:00:00.120Z"],
                micros("UTC"),
                "%Y-%m-%dT%H:%M:%S%.3fZ",
            ),
            (&["2026-11-21T10:00:00+02:00"], micros("+02:00"), ""),
            (&["2026-11-21T10:00:00+02:00", "2026-11-21T10:00:00+01:00"], Utf8, ""),
            (&["2026-11-21T10:00:00.123456789"], time(TimeUnit::Nanosecond, ""), ""),
            (&[FAR, "2026-11-21T10:00:00.123456"], micros(""), ""),
            (&[FAR, "2026-11-21T10:00:00.123456789"], Utf8, ""),
            (&["2026-11-21T23:59:60"], Utf8, ""),
        ] {
            let found = kind(fields, false, Format::Parquet);
            assert_eq!(found, Ok((expected, spelling.to_owned())), "{fields:?}");
        }
        for (fields, expected, spelling) in [
            (["1.50", "1e999"], Utf8, RAW),
            (["1.50", "NaN"], Utf8, ""),
            (["1.50", "007"], Utf8, ""),
            (["1.50", "true"], Utf8, ""),
            (["false", "true"], Boolean, ""),
        ] {
            assert_eq!(kind(&fields, false, Format::JsonLines), Ok((expected, spelling.to_owned())));
        }
    }

    #[test]
    fn types_have_the_values_of_json() {
        use DataType::{Decimal128, Float64, Int64, Utf8};
        for (values, expected) in [
            (&["1", "-2"][..], Ok(Int64)),
            (&["1", "0.50", "1e3", "-0", "NaN", "-Infinity"], Ok(Float64)),
            (&["9007199254740993", "0.5"], Ok(Decimal128(38, 3))),
            (&["\"1\"", "\"\\u00e9\""], Ok(Utf8)),
            (&["1e999"], Err("has a value that no column type holds exactly with the other values: 1e999")),
            (&["1", "\"x\""], Err("has a value of another type than the values before: \"x\"")),
            (&["\"\\ud800\""], Err("has an unpaired surrogate: \"\\ud800\"")),
            (&["{\"x\":1,\"x\":2}"], Err("has two members of this name: x")),
            (&["[[1],[\"x\"]]"], Err("has a value of another type than the values before: \"x\"")),
        ] {
            let found = kind(values, true, Format::Parquet).map(|(found, _)| found);
            assert_eq!(found, expected.map_err(str::to_owned), "{values:?}");
        }
    }
}
