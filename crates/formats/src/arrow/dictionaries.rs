//! The dictionaries of tables: each field has one for all inputs and batches, since an Arrow file holds no other, and
//! rows of one dictionary move without a comparison of its values.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array, UInt64Array, make_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use arrow_select::take::take;

use super::arrays::{converted, joined, within};
use super::{Part, Table, failed};
use crate::error::Error;
use crate::human::quoted;
use crate::parallel::{lock, map_parts};

/// The dictionaries by the path of their field: the number of its column, and the number of each field within.
#[derive(Default)]
pub struct Dictionaries(HashMap<Vec<usize>, Values>);

/// The values of a dictionary in all inputs.
#[derive(Default)]
struct Values {
    /// The number of each value by its bytes, `None` for null. Empty if all dictionaries are equal.
    numbers: HashMap<Option<Box<[u8]>>, u32>,
    /// The values in the order of their numbers.
    chunks: Vec<ArrayRef>,
    all: Option<ArrayRef>,
    /// The first input whose values differ from the values of an earlier input or batch.
    differs: Option<usize>,
    /// The values last seen, and their numbers.
    last: Mutex<Option<(ArrayRef, UInt32Array)>>,
}

impl Dictionaries {
    /// Finds the values of all dictionaries. The columns of Parquet with dictionaries are read for it.
    ///
    /// # Errors
    ///
    /// I/O errors; a dictionary of more values than its keys number.
    pub fn of(tables: &[Table], schema: &Schema) -> Result<Self, Error> {
        let mut all = Self::default();
        for (number, table) in tables.iter().enumerate() {
            match table {
                Table::Arrow(file) => {
                    each_field(&mut Vec::new(), file.schema.fields(), &mut |path, field| {
                        file.dictionaries(field).try_for_each(|values| all.add(path, number, table, values))
                    })?;
                }
                Table::Parquet(_) => all.read(number, table)?,
            }
        }
        each_field(&mut Vec::new(), schema.fields(), &mut |path, field| {
            let DataType::Dictionary(keys, kind) = field.data_type() else { return Ok(()) };
            let values = all.0.entry(path.to_vec()).or_default();
            let values = values.all.insert(joined(kind, &mem::take(&mut values.chunks)).map_err(failed)?);
            let last: ArrayRef = Arc::new(UInt64Array::from(vec![values.len().saturating_sub(1) as u64]));
            converted(&last, keys).map(drop).map_err(|_| {
                let (name, count) = (quoted(schema.field(path[0]).name()), values.len());
                Error::options(format!(
                    "the dictionaries of column '{name}' have {count} values, too many for {keys} keys; cast the \
                     column to the type of its values"
                ))
            })
        })?;
        Ok(all)
    }

    /// Reads the dictionaries of a Parquet file.
    fn read(&mut self, number: usize, table: &Table) -> Result<(), Error> {
        /// The rows of a batch.
        const ROWS: usize = 1 << 16;
        let mut columns = Vec::new();
        each_field(&mut Vec::new(), table.schema().fields(), &mut |path, _| {
            columns.push(path[0]);
            Ok(())
        })?;
        columns.dedup();
        if columns.is_empty() {
            return Ok(());
        }
        let of_part = |part: &Part| {
            let mut found: Vec<(Vec<usize>, ArrayRef)> = Vec::new();
            for batch in table.read(part.number, &columns, ROWS, false) {
                for (array, &column) in batch?.columns().iter().zip(&columns) {
                    each_array(&mut vec![column], array, &mut |path, array| {
                        found.push((path.to_vec(), array.as_any_dictionary().values().clone()));
                        Ok(array.clone())
                    })
                    .map_err(failed)?;
                }
                found.dedup_by(|one, other| one.0 == other.0 && is_same(&one.1, &other.1));
            }
            Ok::<_, Error>(found)
        };
        for found in map_parts(&table.parts(number, 0), of_part) {
            found?.iter().try_for_each(|(path, values)| self.add(path, number, table, values))?;
        }
        Ok(())
    }

    fn add(&mut self, path: &[usize], number: usize, table: &Table, values: &ArrayRef) -> Result<(), Error> {
        let known = self.0.entry(path.to_vec()).or_default();
        match &known.chunks[..] {
            [] => {
                known.chunks.push(values.clone());
                return Ok(());
            }
            [first] if is_same(first, values) || **first == **values => return Ok(()),
            _ => {}
        }
        if values.data_type().is_nested() {
            let name = quoted(table.schema().field(path[0]).name());
            let problem = format!(
                "column '{name}' has dictionaries of nested values that differ between batches; cast the column to \
                 the type of its values"
            );
            return Err(Error::input(table.name(), problem));
        }
        known.differs.get_or_insert(number);
        if known.numbers.is_empty() {
            let first = known.chunks.remove(0);
            known.add(&first).map_err(failed)?;
        }
        known.add(values).map_err(failed)
    }

    /// Returns the first input whose dictionary at this path differs from an earlier one.
    #[must_use]
    pub fn differs(&self, path: &[usize]) -> Option<usize> {
        self.0.get(path)?.differs
    }

    /// Gives an array of this column the dictionaries of all inputs; with `is_known`, its keys already refer to these.
    ///
    /// # Errors
    ///
    /// A changed file.
    pub fn give(&self, column: usize, array: &ArrayRef, is_known: bool) -> Result<ArrayRef, ArrowError> {
        each_array(&mut vec![column], array, &mut |path, array| match self.0.get(path) {
            Some(values) => values.give(array, is_known),
            None => Ok(array.clone()),
        })
    }
}

impl Values {
    /// Adds the values without a number.
    fn add(&mut self, values: &ArrayRef) -> Result<(), ArrowError> {
        let mut new: Vec<u32> = Vec::new();
        for (row, bytes) in (0..).zip(bytes_of(values)?) {
            let next = self.numbers.len() as u32;
            self.numbers.entry(bytes).or_insert_with(|| {
                new.push(row);
                next
            });
        }
        let is_all = new.len() == values.len();
        let new = if is_all { values.clone() } else { take(values, &UInt32Array::from(new), None)? };
        self.chunks.push(new);
        Ok(())
    }

    fn give(&self, array: &ArrayRef, is_known: bool) -> Result<ArrayRef, ArrowError> {
        let all = self.all.as_ref().expect("all values have been found");
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values();
        let are_equal = self.numbers.is_empty() && values.len() == all.len();
        if is_known || are_equal || is_same(values, all) {
            return Ok(dictionary.with_values(all.clone()));
        }
        let last = lock(&self.last).clone().filter(|(last, _)| is_same(last, values));
        let numbers = if let Some((_, numbers)) = last {
            numbers
        } else {
            let numbers = bytes_of(values)?.into_iter().map(|bytes| self.numbers.get(&bytes).copied());
            let numbers = numbers.collect::<Option<Vec<_>>>();
            let changed = || ArrowError::InvalidArgumentError("the file has changed".to_owned());
            let numbers = UInt32Array::from(numbers.ok_or_else(changed)?);
            *lock(&self.last) = Some((values.clone(), numbers.clone()));
            numbers
        };
        let keys = if numbers.values().iter().zip(0..).all(|(&number, place)| number == place) {
            dictionary.keys().slice(0, array.len())
        } else {
            let numbers: ArrayRef = Arc::new(numbers);
            let too_many = |_| ArrowError::DictionaryKeyOverflowError;
            let numbers = converted(&numbers, dictionary.keys().data_type()).map_err(too_many)?;
            take(&numbers, dictionary.keys(), None)?
        };
        let keys = keys.to_data().into_builder().data_type(array.data_type().clone());
        Ok(make_array(keys.add_child_data(all.to_data()).build()?))
    }
}

fn is_same(one: &ArrayRef, other: &ArrayRef) -> bool {
    Arc::ptr_eq(one, other) || one.to_data().ptr_eq(&other.to_data())
}

/// The bytes of each value; equal bytes mean equal values.
///
/// # Errors
///
/// Nested values.
fn bytes_of(values: &ArrayRef) -> Result<Vec<Option<Box<[u8]>>>, ArrowError> {
    let of_row = |row: usize, bytes: &[u8]| values.is_valid(row).then(|| bytes.into());
    if let Some(width) = values.data_type().primitive_width() {
        let data = values.to_data();
        let bytes = &data.buffers()[0].as_slice()[data.offset() * width..][..values.len() * width];
        return Ok(bytes.chunks(width).enumerate().map(|(row, bytes)| of_row(row, bytes)).collect());
    }
    let kind = if *values.data_type() == DataType::Boolean { DataType::UInt8 } else { DataType::LargeBinary };
    let plain = cast(values, &kind)?;
    if kind == DataType::UInt8 {
        return bytes_of(&plain);
    }
    let plain = plain.as_binary::<i64>();
    Ok((0..values.len()).map(|row| of_row(row, plain.value(row))).collect())
}

/// A callback with a dictionary's path and field.
type Take<'a> = &'a mut dyn FnMut(&[usize], &Field) -> Result<(), Error>;

/// A callback that makes an array of a dictionary's path and array.
type Make<'a> = &'a mut dyn FnMut(&[usize], &ArrayRef) -> Result<ArrayRef, ArrowError>;

/// Calls `take` with each dictionary within these fields, which are at `path`.
fn each_field<'f>(
    path: &mut Vec<usize>,
    fields: impl IntoIterator<Item = &'f FieldRef>,
    take: Take,
) -> Result<(), Error> {
    for (number, field) in fields.into_iter().enumerate() {
        path.push(number);
        match field.data_type() {
            DataType::Dictionary(..) => take(path, field)?,
            kind => each_field(path, within(kind), take)?,
        }
        path.pop();
    }
    Ok(())
}

/// Replaces each dictionary within an array by the result of `make`.
fn each_array(path: &mut Vec<usize>, array: &ArrayRef, make: Make) -> Result<ArrayRef, ArrowError> {
    if matches!(array.data_type(), DataType::Dictionary(..)) {
        return make(path, array);
    }
    let has_any = Schema::new(vec![Field::new("", array.data_type().clone(), true)]);
    if !has_any.flattened_fields().iter().any(|field| matches!(field.data_type(), DataType::Dictionary(..))) {
        return Ok(array.clone());
    }
    let data = array.to_data();
    let mut children = data.child_data().to_vec();
    // The ends of runs come before their values.
    let first = children.len() - within(array.data_type()).len();
    for (number, child) in children[first..].iter_mut().enumerate() {
        path.push(number);
        *child = each_array(path, &make_array(child.clone()), make)?.to_data();
        path.pop();
    }
    Ok(make_array(data.into_builder().child_data(children).build()?))
}
