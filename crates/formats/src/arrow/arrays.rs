//! Functions for arrays of any type.

use std::sync::Arc;

use arrow_array::builder::GenericByteViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types::ByteViewType;
use arrow_array::{
    Array, ArrayRef, GenericByteViewArray, RecordBatch, RecordBatchOptions, StructArray, UInt32Array,
    make_array, new_empty_array,
};
use arrow_buffer::Buffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use arrow_select::take::take_arrays;

/// All chunks of a column as one.
///
/// # Errors
///
/// Dictionaries of more values than their keys number.
pub fn joined(kind: &DataType, chunks: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    match chunks {
        [] => Ok(new_empty_array(kind)),
        [one] => Ok(one.clone()),
        _ => concat(&chunks.iter().map(|chunk| &**chunk as &dyn Array).collect::<Vec<_>>()),
    }
}

/// The fields within a type.
pub fn within(kind: &DataType) -> Vec<&FieldRef> {
    use DataType::{
        FixedSizeList, LargeList, LargeListView, List, ListView, Map, RunEndEncoded, Struct, Union,
    };
    match kind {
        List(field)
        | LargeList(field)
        | ListView(field)
        | LargeListView(field)
        | FixedSizeList(field, _)
        | Map(field, _)
        | RunEndEncoded(_, field) => vec![field],
        Struct(fields) => fields.iter().collect(),
        Union(fields, _) => fields.iter().map(|(_, field)| field).collect(),
        _ => Vec::new(),
    }
}

/// Replaces each type within a type by the result of `to`.
pub fn map_within(kind: &DataType, to: &mut dyn FnMut(&DataType) -> DataType) -> DataType {
    use DataType::{
        Dictionary, FixedSizeList, LargeList, LargeListView, List, ListView, Map, RunEndEncoded, Struct,
    };
    let mut with = |field: &FieldRef| Arc::new((**field).clone().with_data_type(to(field.data_type())));
    match kind {
        List(field) => List(with(field)),
        LargeList(field) => LargeList(with(field)),
        ListView(field) => ListView(with(field)),
        LargeListView(field) => LargeListView(with(field)),
        FixedSizeList(field, length) => FixedSizeList(with(field), *length),
        Map(field, is_sorted) => Map(with(field), *is_sorted),
        RunEndEncoded(ends, field) => RunEndEncoded(ends.clone(), with(field)),
        Struct(fields) => Struct(fields.iter().map(with).collect()),
        Dictionary(keys, values) => Dictionary(keys.clone(), Box::new(to(values))),
        kind => kind.clone(),
    }
}

/// The array in another type.
///
/// # Errors
///
/// A value that the other type does not hold.
pub fn converted(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let converted = cast_with_options(array, to, &options)?;
    if cast_with_options(&converted, array.data_type(), &options)?.as_ref() == array.as_ref() {
        return Ok(converted);
    }
    Err(ArrowError::CastError(format!("a value of type {} has no equal of type {to}", array.data_type())))
}

/// The rows at these places, each an array and a row of it, of arrays of one type. Arrays of one dictionary keep it:
/// arrow-rs would repeat its values.
///
/// # Errors
///
/// Dictionaries of more values than their keys number.
pub fn interleaved(arrays: &[&dyn Array], rows: &[(usize, usize)]) -> Result<ArrayRef, ArrowError> {
    let parents: Option<Vec<_>> = arrays.iter().map(|array| array.as_struct_opt()).collect();
    if let Some(parents @ [first, ..]) = parents.as_deref() {
        let bare =
            |parent: &&StructArray| StructArray::new_empty_fields(parent.len(), parent.nulls().cloned());
        let bare: Vec<StructArray> = parents.iter().map(bare).collect();
        let bare = interleave(&bare.iter().map(|bare| bare as &dyn Array).collect::<Vec<_>>(), rows)?;
        let column = |column: usize| {
            interleaved(&parents.iter().map(|parent| &**parent.column(column)).collect::<Vec<_>>(), rows)
        };
        let columns = (0..first.num_columns()).map(column).collect::<Result<_, _>>()?;
        let (fields, nulls) = (first.fields().clone(), bare.nulls().cloned());
        return Ok(Arc::new(StructArray::try_new_with_length(fields, columns, nulls, bare.len())?));
    }
    let dictionaries: Option<Vec<_>> = arrays.iter().map(|array| array.as_any_dictionary_opt()).collect();
    let Some([first, others @ ..]) = dictionaries.as_deref() else { return interleave(arrays, rows) };
    let values = first.values().to_data();
    if others.iter().any(|other| !other.values().to_data().ptr_eq(&values)) {
        return interleave(arrays, rows);
    }
    let keys: Vec<&dyn Array> =
        [first].into_iter().chain(others).map(|dictionary| dictionary.keys()).collect();
    let keys = interleave(&keys, rows)?.to_data().into_builder().data_type(first.data_type().clone());
    Ok(make_array(keys.add_child_data(values).build()?))
}

/// Makes a batch of these columns and this number of rows; a batch without columns has rows, too.
///
/// # Errors
///
/// Columns that differ from the schema.
pub fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
}

/// These rows of columns, by their numbers.
///
/// # Errors
///
/// See `batch`.
pub fn gathered(schema: &SchemaRef, columns: &[ArrayRef], rows: &[u32]) -> Result<RecordBatch, ArrowError> {
    let numbers = UInt32Array::from(rows.to_vec());
    batch(schema, take_arrays(columns, &numbers, None)?, rows.len())
}

/// The chunks of each column of these batches.
pub fn chunks(batches: Vec<RecordBatch>) -> Vec<Vec<ArrayRef>> {
    let mut columns: Vec<Vec<ArrayRef>> = Vec::new();
    for batch in batches {
        let (_, arrays, _) = batch.into_parts();
        columns.resize(arrays.len(), Vec::new());
        columns.iter_mut().zip(arrays).for_each(|(column, array)| column.push(array));
    }
    columns
}

/// The same array; an array of views gets buffers with its own texts only, unless that copy would be longer because its
/// views share texts.
pub fn compact(array: &ArrayRef) -> ArrayRef {
    fn views<T: ByteViewType>(array: &GenericByteViewArray<T>) -> ArrayRef {
        let held: usize = array.data_buffers().iter().map(Buffer::len).sum();
        let is_shorter = array.total_buffer_bytes_used() < held;
        Arc::new(if is_shorter { array.gc() } else { array.clone() })
    }
    match array.data_type() {
        DataType::Utf8View => views(array.as_string_view()),
        DataType::BinaryView => views(array.as_binary_view()),
        _ => array.clone(),
    }
}

/// The same array; an array of views gets each text once, so that equal rows give equal bytes.
pub fn deduplicated(array: &ArrayRef) -> ArrayRef {
    fn views<T: ByteViewType>(array: &GenericByteViewArray<T>) -> ArrayRef {
        let mut views = GenericByteViewBuilder::<T>::with_capacity(array.len()).with_deduplicate_strings();
        array.iter().for_each(|value| views.append_option(value));
        Arc::new(views.finish())
    }
    match array.data_type() {
        DataType::Utf8View => views(array.as_string_view()),
        DataType::BinaryView => views(array.as_binary_view()),
        _ => array.clone(),
    }
}

/// The same array with times of a named zone in UTC, which are the same instants: the offsets of the zone are
/// not known here.
pub fn in_utc(array: &ArrayRef) -> ArrayRef {
    let DataType::Timestamp(unit, Some(zone)) = array.data_type() else { return array.clone() };
    if zone.parse::<Tz>().is_ok() {
        return array.clone();
    }
    with_type(array, DataType::Timestamp(*unit, Some("+00:00".into())))
}

/// The same values as another type of the same form.
///
/// # Panics
///
/// Panics if the types have other forms.
pub fn with_type(array: &ArrayRef, kind: DataType) -> ArrayRef {
    if kind == *array.data_type() {
        return array.clone();
    }
    let data = array.to_data().into_builder().data_type(kind);
    make_array(data.build().expect("both types have one form"))
}
