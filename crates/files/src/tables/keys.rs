//! The keys of tables: their columns, and the order of rows by them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, make_array, new_empty_array};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields, Schema};

use crate::columns::arrow::{Decoded, element_of, is_ordered, is_text};
use crate::columns::{Column, argsort};
use gpusort_base::error::{Error, Hint, Remedy};
use gpusort_base::human::quoted;
use gpusort_base::parallel::map_parts;
use gpusort_formats::Counts;
use gpusort_formats::arrow::arrays::in_utc;
use gpusort_formats::arrow::failed;
use gpusort_formats::fields::{Axis, ColumnAt, Header, KeySpec, ResolvedKey};
use gpusort_formats::keys::Keys;
use gpusort_order::{ElementType, KeyOrder, Nulls, Reading, TextOrder};
use gpusort_values::hilbert;

/// A key: a column, or a field within it.
#[derive(Clone, Debug)]
pub(crate) struct TableKey {
    /// The name in messages.
    pub(crate) name: String,
    /// The numbers of the column, and of fields within fields.
    pub(super) path: Vec<usize>,
    pub(super) field: Arc<Field>,
    pub(crate) order: KeyOrder,
    /// The column of points.
    pub(super) axis: Option<Axis>,
}

/// The number of a column that a sort adds behind those of the table.
const ADDED: usize = usize::MAX;

/// Finds the keys of a table with these columns: columns by name, and fields within them as `user.id`.
///
/// # Errors
///
/// A missing column, or a column whose type does not fit the kind of its key.
pub(crate) fn find(by: &KeySpec, schema: &Schema, table: &str) -> Result<Vec<TableKey>, Error> {
    let mut places = Vec::new();
    push_fields(schema.fields(), "", &[], &mut places);
    // Fields within columns follow all columns.
    places.sort_by_key(|(_, path, _)| path.len() > 1);
    let header = Header::of_names(schema.fields().len(), places.iter().map(|(name, ..)| &name[..]));
    let key = |found: ResolvedKey| {
        let column = if let ColumnAt::Field(column) = found.column { Some(column) } else { None };
        let Some((_, path, field)) = column.and_then(|column| places.get(column).cloned()) else {
            return Err(Error::input(table, "has columns; name one of them with a key"));
        };
        let wrong = |problem: String| Error::input(table, format!("column '{}' {problem}", found.shown()));
        let kind = field.data_type();
        let values = values_of(kind);
        let (is_number, is_text) = (element_of(values).is_some(), is_text(values));
        let is_of_kind = match found.order.reading {
            Reading::Any => true,
            _ if found.axis.is_some() => values.is_numeric(),
            Reading::Numbers => is_number || matches!(values, DataType::Decimal128(..) | DataType::Boolean),
            Reading::Times => {
                use DataType::{Date32, Date64, Time32, Time64, Timestamp};
                matches!(values, Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..))
            }
            Reading::Durations => matches!(values, DataType::Duration(_)),
            Reading::Text(TextOrder::Bytes | TextOrder::Version | TextOrder::Month) => is_text,
            _ => false,
        };
        if !is_of_kind {
            let is_point = found.axis.is_some();
            let remedy = if is_point {
                "but hilbert takes numbers; cast the column"
            } else {
                "which decides its kind; leave the kind out"
            };
            return Err(wrong(format!("has type {values}, {remedy}")));
        }
        let order = KeyOrder { nocase: found.order.nocase && is_text, ..found.order };
        if matches!(kind, DataType::Dictionary(..)) && !order.compares_bytes() {
            let change = if order.nocase { "nocase or ignore-case" } else { "the kind" };
            let problem =
                "is a dictionary, which sorts by the bytes of its strings, or by code if it is ordered";
            return Err(wrong(format!("{problem}; leave out {change}")));
        }
        // Read as text, a dictionary has the order of its strings.
        let field = if found.order.reading == Reading::Any {
            field
        } else {
            Arc::new(Field::new("", kind.clone(), true))
        };
        Ok(TableKey { name: quoted(found.label()), path, field, order, axis: found.axis })
    };
    let has_order =
        |place: &&Place| Decoded::decode(&place.2, &new_empty_array(place.2.data_type()), false).is_ok();
    let found = header.find(by, table).map_err(|error| match places.iter().find(has_order) {
        _ if !by.keys.is_empty() => error,
        Some((name, ..)) => error.hinting(Hint::Remedies([Remedy::Key(name.as_str().into())].into())),
        None => error.unhinted(),
    });
    found?.into_iter().map(key).collect()
}

/// Returns the type of the values of a dictionary, or the type itself.
fn values_of(kind: &DataType) -> &DataType {
    if let DataType::Dictionary(_, values) = kind { values } else { kind }
}

/// A field with its name and its path.
type Place = (String, Vec<usize>, Arc<Field>);

/// Adds fields, each before the fields within; the names begin with `before`.
fn push_fields(fields: &Fields, before: &str, path: &[usize], places: &mut Vec<Place>) {
    for (number, field) in fields.iter().enumerate() {
        let (name, path) = (format!("{before}{}", field.name()), [path, &[number]].concat());
        places.push((name.clone(), path.clone(), field.clone()));
        if let DataType::Struct(inner) = field.data_type() {
            push_fields(inner, &format!("{name}."), &path, places);
        }
    }
}

impl TableKey {
    /// A key of random numbers, which are in an added column.
    pub(super) fn random() -> Self {
        let field = Arc::new(Field::new("", DataType::UInt64, false));
        Self { name: String::new(), path: vec![ADDED], field, order: KeyOrder::ASCENDING, axis: None }
    }

    /// Returns true if a null or a NaN is an error.
    pub(super) fn refuses_nulls(&self) -> bool {
        [self.order.empty, self.order.nan].contains(&Nulls::Error)
    }

    /// Returns the number of the key's column.
    pub(crate) fn column(&self) -> usize {
        self.path[0]
    }

    /// Returns the field of the key in a schema, with the names of its path.
    pub(super) fn column_in(&self, schema: &Schema) -> Field {
        let mut field = schema.field(self.column()).clone();
        for &number in &self.path[1..] {
            let DataType::Struct(inner) = field.data_type() else { panic!("a path leads through structs") };
            field = inner[number].as_ref().clone().with_name(format!(
                "{}.{}",
                field.name(),
                inner[number].name()
            ));
        }
        field.with_nullable(true)
    }

    /// Returns true if the values of the key have the order of their codes in a dictionary.
    pub(super) fn is_by_code(&self) -> bool {
        matches!(self.field.data_type(), DataType::Dictionary(..)) && is_ordered(&self.field)
    }

    /// Returns true if the key is a whole column, in the order that readers of Parquet expect.
    pub(crate) fn is_plain(&self) -> bool {
        self.path.len() == 1
            && self.column() != ADDED
            && self.axis.is_none()
            && self.order.compares_bytes()
            && !matches!(self.field.data_type(), DataType::Dictionary(..))
    }

    /// Returns the number of columns of words or texts that the key compares by.
    pub(crate) fn width(&self) -> usize {
        let is_wide = matches!(values_of(self.field.data_type()), DataType::Decimal128(..));
        if is_wide && self.axis.is_none() { 2 } else { 1 }
    }

    /// Returns true if the key's values are texts.
    pub(crate) fn is_text(&self) -> bool {
        is_text(values_of(self.field.data_type()))
    }

    /// Returns the type in reports.
    pub(crate) fn kind(&self) -> String {
        let kind = self.field.data_type();
        match kind {
            _ if self.axis.is_some() => "hilbert".to_owned(),
            kind if is_text(kind) => "text".to_owned(),
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "time".to_owned(),
            kind if kind.is_decimal() => "decimal".to_owned(),
            DataType::Boolean => "bool".to_owned(),
            kind => element_of(kind)
                .map_or_else(|| kind.to_string(), |element: ElementType| element.name().to_owned()),
        }
    }

    /// Takes the array of the key from a batch of these columns.
    fn array(&self, batch: &RecordBatch, columns: &[usize]) -> ArrayRef {
        let place = columns.iter().position(|&column| column == self.column());
        let added = (self.column() == ADDED).then(|| batch.num_columns() - 1);
        let mut array = batch.column(place.or(added).expect("the columns of keys are read")).clone();
        for &number in &self.path[1..] {
            let parent = array.as_struct();
            let nulls = NullBuffer::union(parent.nulls(), parent.column(number).logical_nulls().as_ref());
            let inner = parent.column(number).to_data();
            // A field of a null value is null.
            let data = inner.clone().into_builder().nulls(nulls).build();
            array = make_array(data.unwrap_or(inner));
        }
        array
    }
}

/// The arrays of the keys of some rows.
pub(crate) struct KeyArrays<'a> {
    pub(super) keys: &'a [TableKey],
    /// The name of the table, for messages.
    pub(super) table: &'a str,
    /// An array for each key.
    pub(super) arrays: Vec<ArrayRef>,
}

impl<'a> KeyArrays<'a> {
    /// Takes the key arrays from a batch of these columns.
    pub(crate) fn of(keys: &'a [TableKey], table: &'a str, batch: &RecordBatch, columns: &[usize]) -> Self {
        Self { keys, table, arrays: keys.iter().map(|key| key.array(batch, columns)).collect() }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.arrays.first().map_or(0, Array::len)
    }

    /// Returns the keys in a form that compares across batches.
    ///
    /// # Errors
    ///
    /// See [`KeyArrays::decoded`]; texts of 2 GiB.
    pub(crate) fn keys(&self) -> Result<Keys, Error> {
        self.decoded(true)?.keys(self.rows())
    }

    /// Returns a row's values of all keys as comparable bytes.
    ///
    /// # Errors
    ///
    /// See [`KeyArrays::keys`].
    pub(crate) fn key(&self, row: usize) -> Result<Vec<u8>, Error> {
        let arrays = self.arrays.iter().map(|array| array.slice(row, 1)).collect();
        Ok(Self { arrays, ..*self }.keys()?.key(0))
    }

    /// Returns the numbers of the rows in order.
    ///
    /// # Errors
    ///
    /// See [`KeyArrays::decoded`].
    pub(crate) fn order(&self) -> Result<Vec<u32>, Error> {
        argsort(&self.decoded(false)?.columns())
    }

    /// Decodes the arrays to columns that compare; if `is_across`, columns of different batches compare, too.
    ///
    /// # Errors
    ///
    /// A type without an order.
    pub(crate) fn decoded(&self, is_across: bool) -> Result<DecodedKeys<'a>, Error> {
        let Self { keys, table, arrays } = self;
        let mut arrays = arrays.clone();
        for (number, _) in keys.iter().enumerate().filter(|(_, key)| key.axis == Some(Axis::First)) {
            let points = arrays[number..].first_chunk_mut().expect("points have two columns");
            *points = on_curve(points)?;
        }
        let of_key = |(key, array): (&'a TableKey, &ArrayRef)| {
            let decoded = Decoded::decode(&key.field, array, is_across);
            let decoded = decoded.map_err(|error| {
                Error::input(format!("{table}, column '{}'", key.name), error.to_string())
            })?;
            Ok::<_, Error>((decoded, key))
        };
        Ok(DecodedKeys(keys.iter().zip(&arrays).map(of_key).collect::<Result<_, _>>()?))
    }

    /// Formats the key of a row for messages.
    pub(crate) fn shown(&self, key: usize, row: usize) -> String {
        let Some(axis) = self.keys[key].axis else { return self.shown_value(key, row) };
        let first = key - axis as usize;
        format!("({}, {})", self.shown_value(first, row), self.shown_value(first + 1, row))
    }

    fn shown_value(&self, key: usize, row: usize) -> String {
        let options = FormatOptions::new().with_null("an empty field");
        let array = in_utc(&self.arrays[key]);
        let shown = ArrayFormatter::try_new(&array, &options);
        shown.map_or_else(|error| error.to_string(), |shown| quoted(shown.value(row).to_string()))
    }
}

/// Returns the places of points on a Hilbert curve, as two arrays to compare one after the other. Only the first array
/// has nulls and NaNs: a null if a coordinate is null, otherwise a NaN if a coordinate is NaN.
fn on_curve(points: &[ArrayRef; 2]) -> Result<[ArrayRef; 2], Error> {
    /// The number of rows that a core takes at once.
    const PART: usize = 1 << 14;
    let [x, y] = points.each_ref().map(|array| cast(array, &DataType::Float64));
    let points = [x.map_err(failed)?, y.map_err(failed)?];
    let nulls = NullBuffer::union(points[0].nulls(), points[1].nulls());
    let [x, y] = points.each_ref().map(|array| array.as_primitive::<Float64Type>().values());
    let place = |row: usize| match [x[row], y[row]] {
        _ if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) => [0.0; 2],
        point if point.iter().any(|number| number.is_nan()) => [f64::NAN, 0.0],
        point => hilbert::place(point),
    };
    let [mut high, mut low] = [(); 2].map(|()| vec![0.0; x.len()]);
    let parts = high.chunks_mut(PART).zip(low.chunks_mut(PART)).enumerate();
    map_parts(parts, |(part, (high, low))| {
        for (row, halves) in (part * PART..).zip(high.iter_mut().zip(low)) {
            (*halves.0, *halves.1) = place(row).into();
        }
    });
    Ok([Arc::new(Float64Array::new(high.into(), nulls)), Arc::new(Float64Array::from(low))])
}

/// Decoded keys, in columns that order the rows.
pub(crate) struct DecodedKeys<'a>(Vec<(Decoded, &'a TableKey)>);

impl DecodedKeys<'_> {
    pub(crate) fn columns(&self) -> Vec<Column<'_>> {
        let mut columns = Vec::new();
        for (decoded, key) in &self.0 {
            for mut column in decoded.columns() {
                column.order = key.order;
                columns.push(column);
            }
        }
        columns
    }

    /// Returns the keys of all rows.
    ///
    /// # Errors
    ///
    /// Texts of 2 GiB.
    pub(crate) fn keys(&self, rows: usize) -> Result<Keys, Error> {
        let columns = self.columns();
        let columns = columns.iter().map(|column| column.keys(0..rows));
        Ok(Keys::of(columns.collect::<Result<_, _>>()?).by_records())
    }

    /// Counts nulls and NaN. `place` names the place of a row.
    ///
    /// # Errors
    ///
    /// A null or NaN that the order of its key refuses.
    pub(crate) fn count(&self, counts: &mut Counts, place: impl Fn(usize) -> String) -> Result<(), Error> {
        for (decoded, key) in &self.0 {
            let empty = decoded.nulls().map_or(0, NullBuffer::null_count) as u64;
            if empty > 0 && key.order.empty == Nulls::Error {
                let row = decoded.nulls().and_then(|nulls| nulls.iter().position(|is_valid| !is_valid));
                let row = row.expect("a row is null");
                let place = format!("{}, column '{}'", place(row), key.name);
                return Err(Error::input(place, "the field is empty").hinting(Hint::Empty));
            }
            let (nan, first) = decoded.nans();
            if nan > 0 && key.order.nan == Nulls::Error {
                let problem = format!("column '{}' has NaN", key.name);
                let place = place(first.expect("a row has a NaN"));
                return Err(Error::input(place, problem).hinting(Hint::Nan));
            }
            counts.empty += empty;
            counts.nan += nan;
        }
        Ok(())
    }
}
