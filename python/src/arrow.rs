//! Arrays and tables exchanged through Arrow's C interface.

use std::cmp::Ordering;
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayRef, LargeBinaryArray, RecordBatch, RecordBatchIterator, UInt32Array, make_array,
};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use gpusort::columns::Column;
use gpusort::columns::arrow::{Decoded, element_of, gathered, joined, numbers_of};
use gpusort::{Element, Sorter, by_element};
use gpusort_base::parallel::{map_into, map_parts};
use gpusort_order::{KeyOrder, Nulls};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::caller::{self, ROWS, Threads, guarded, order, sorter, unlocked};
use crate::device::Device;
use crate::errors::exception;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Converts an Arrow error.
fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns the error for an unknown type or invalid Arrow data.
fn refused(error: ArrowError) -> PyErr {
    let error = error.to_string();
    let error = error.strip_prefix("C Data interface error: ").unwrap_or(&error);
    PyTypeError::new_err(format!("this Arrow data cannot be read; cast it to other types first: {error}"))
}

/// The field and chunks of an object with Arrow's C interface.
fn chunks(object: &Bound<PyAny>) -> PyResult<(Field, Vec<ArrayRef>)> {
    if let Ok(method) = object.getattr("__arrow_c_array__") {
        let (schema, array): (Bound<PyCapsule>, Bound<PyCapsule>) = method.call0()?.extract()?;
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: a capsule of this name holds an array, by Arrow's capsule interface.
        if unsafe { array.as_ref() }.is_released() {
            let problem = "this Arrow array was given to another reader; export it again";
            return Err(PyTypeError::new_err(problem));
        }
        // SAFETY:
        // - Capsules of these names hold these structs, by Arrow's capsule interface.
        // - `from_raw` leaves a released array in the capsule, which is not released again.
        // - The array is of this schema.
        let (field, data) = unsafe {
            let schema = schema.as_ref();
            let array = FFI_ArrowArray::from_raw(array.as_ptr());
            (Field::try_from(schema), from_ffi(array, schema))
        };
        let (field, data) = (field.map_err(refused)?, data.map_err(refused)?);
        return Ok((field, vec![guarded(|| make_array(data))?]));
    }
    let stream = object.call_method0("__arrow_c_stream__")?;
    let stream = stream.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name holds a stream, by Arrow's capsule interface.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    let reader = reader.map_err(refused)?;
    let field = arrow_array::ArrayReader::field(&reader).as_ref().clone();
    let chunks = guarded(|| reader.collect::<Result<Vec<_>, _>>())?.map_err(refused)?;
    Ok((field, chunks))
}

/// An Arrow array.
#[pyclass(frozen, module = "gpusort._gpusort")]
pub(crate) struct ArrowArray {
    pub(crate) field: Field,
    pub(crate) array: ArrayRef,
}

#[pymethods]
impl ArrowArray {
    /// Takes an array, or a stream of its chunks.
    #[new]
    fn new(py: Python, object: &Bound<PyAny>) -> PyResult<Self> {
        let (field, chunks) = chunks(object)?;
        let n = chunks.iter().map(Array::len).sum();
        let array = unlocked(py, n, None, || joined(field.data_type(), &chunks))?.map_err(failed)?;
        Ok(Self { field, array })
    }

    /// Takes texts as bytes, a zero and then the end offset of each text, and for each a byte that is 0 for a null.
    #[staticmethod]
    fn of_texts(
        py: Python,
        texts: &Bound<PyAny>,
        ends: &Bound<PyAny>,
        valid: Option<&Bound<PyAny>>,
    ) -> PyResult<Self> {
        let texts = PyBuffer::<u8>::get(texts)?.to_vec(py)?;
        let ends = ScalarBuffer::from(PyBuffer::<i64>::get(ends)?.to_vec(py)?);
        let valid = valid.map(|valid| PyBuffer::<u8>::get(valid)?.to_vec(py)).transpose()?;
        let valid =
            valid.map(|valid| valid.into_iter().map(|is_valid| is_valid != 0).collect::<NullBuffer>());
        let array = guarded(|| LargeBinaryArray::try_new(OffsetBuffer::new(ends), texts.into(), valid))?;
        Ok(Self {
            field: Field::new("", DataType::LargeBinary, true),
            array: Arc::new(array.map_err(failed)?),
        })
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// Returns the sorted array.
    fn sort(
        &self,
        py: Python,
        descending: bool,
        nulls_first: bool,
        device: Option<&Bound<Device>>,
        threads: Threads,
    ) -> PyResult<Self> {
        let n = self.array.len();
        let sorter = sorter(device, threads, n, ROWS)?;
        let array = unlocked(py, n, threads, || {
            let decoded = decoded(&self.field, &self.array)?;
            if let Some(element) = element_of(self.array.data_type()) {
                return by_element!(element, T => {
                    sorted::<T>(&decoded, &self.array, order(descending, nulls_first), sorter)
                });
            }
            let columns = directed(decoded.columns(), descending, nulls_first).collect::<Vec<_>>();
            let (positions, _) = sorter.argsort_columns(&columns).map_err(exception)?;
            taken(&self.array, &positions).map_err(failed)
        })??;
        Ok(Self { field: self.field.clone(), array })
    }

    /// Returns the elements at these i64 positions.
    fn take(&self, py: Python, positions: &Bound<PyAny>) -> PyResult<Self> {
        let positions = PyBuffer::<i64>::get(positions)?.to_vec(py)?;
        let array = unlocked(py, positions.len(), None, || {
            let positions: Vec<u32> = positions.iter().map(|&position| position as u32).collect();
            taken(&self.array, &positions)
        });
        Ok(Self { field: self.field.clone(), array: array?.map_err(failed)? })
    }

    /// Writes the rank of each element in this order, from 0, as i64. Equal elements share a rank, as do zeros
    /// of both signs, all NaN, and all nulls.
    fn ranks(
        &self,
        py: Python,
        ranks: &Bound<PyAny>,
        descending: bool,
        nulls_first: bool,
        threads: Threads,
    ) -> PyResult<()> {
        let n = self.array.len();
        let mut ranks = caller::Array::positions(ranks, n)?;
        unlocked(py, n, threads, || {
            let decoded = decoded(&self.field, &self.array)?;
            let columns = directed(decoded.columns(), descending, nulls_first).collect::<Vec<_>>();
            let order = gpusort::columns::argsort(&columns).map_err(exception)?;
            let places = ranks.elements_mut::<i64>();
            decoded.rank(&order, |row, rank| places[row] = rank.into());
            Ok(())
        })?
    }

    /// Returns true if the elements are in this order.
    fn is_sorted(&self, py: Python, descending: bool, nulls_first: bool, threads: Threads) -> PyResult<bool> {
        unlocked(py, self.array.len(), threads, || {
            let decoded = decoded(&self.field, &self.array)?;
            let columns = directed(decoded.columns(), descending, nulls_first).collect::<Vec<_>>();
            gpusort::columns::is_sorted(&columns).map_err(exception)
        })?
    }

    /// Arrow's capsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The consumer can cast by itself.
        let _ = requested_schema;
        let (array, _) = to_ffi(&self.array.to_data()).map_err(failed)?;
        let schema = FFI_ArrowSchema::try_from(&self.field).map_err(failed)?;
        Ok((PyCapsule::new_with_value(py, schema, SCHEMA)?, PyCapsule::new_with_value(py, array, ARRAY)?))
    }
}

/// Returns the elements at these positions, gathered by all cores if there are many.
fn taken(array: &ArrayRef, positions: &[u32]) -> Result<ArrayRef, ArrowError> {
    let parts = map_parts(positions.chunks(part(positions.len())), |positions| {
        take(array, &UInt32Array::from(positions.to_vec()), None)
    });
    joined(array.data_type(), &parts.into_iter().collect::<Result<Vec<_>, _>>()?)
}

/// The rows that a core gathers at a time.
fn part(rows: usize) -> usize {
    const FEW: usize = 1 << 16;
    const MANY: usize = 1 << 20;
    rows.div_ceil(4 * gpusort_base::parallel::cores()).clamp(FEW, MANY)
}

/// Pairs these columns with a direction and a place for nulls.
pub(crate) fn directed(
    columns: Vec<Column<'_>>,
    descending: bool,
    nulls_first: bool,
) -> impl Iterator<Item = Column<'_>> {
    columns.into_iter().map(move |column| {
        let column = if descending { column.descending() } else { column };
        if nulls_first { column.nulls_first() } else { column }
    })
}

/// Returns the sort keys of an array of this field.
///
/// # Errors
///
/// The array's type has no order.
pub(crate) fn decoded(field: &Field, array: &ArrayRef) -> PyResult<Decoded> {
    if matches!(array.data_type(), DataType::Struct(_)) {
        return Err(PyTypeError::new_err(
            "a table, or an array of structs, has no order of its own; use sort_table(x, keys) or lexsort",
        ));
    }
    Decoded::of(field, array).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// Returns the sorted array of numbers of this type, with nulls at one end.
fn sorted<T: Element + ArrowNativeType>(
    decoded: &Decoded,
    array: &ArrayRef,
    order: KeyOrder,
    sorter: &Sorter,
) -> PyResult<ArrayRef> {
    let (values, n) = (numbers_of::<T>(array), array.len());
    let nulls = decoded.nulls().map_or(0, NullBuffer::null_count);
    let before = if order.empty == Nulls::First { nulls } else { 0 };
    let mut all = vec![T::default(); n];
    let valid = &mut all[before..n - nulls + before];
    match decoded.nulls() {
        None => map_into(values, valid, |&value| value),
        Some(bits) => {
            let mut place = 0;
            for (from, to) in bits.valid_slices() {
                valid[place..][..to - from].copy_from_slice(&values[from..to]);
                place += to - from;
            }
        }
    }
    sorter.sort_as(valid, order).map_err(exception)?;
    let valid = before..n - nulls + before;
    let bits = (nulls > 0).then(|| (0..n).map(|row| valid.contains(&row)).collect::<NullBuffer>());
    let data = ArrayData::builder(array.data_type().clone()).len(n).add_buffer(Buffer::from_vec(all));
    let data = data.nulls(bits).build().map_err(failed)?;
    Ok(make_array(data))
}

/// An Arrow table: record batches of one schema.
#[pyclass(frozen, module = "gpusort._gpusort")]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// The order of a column: descending, nulls first, NaN first.
type Order = (bool, bool, bool);

/// Returns the columns of keys in these orders.
fn ordered<'a>(keys: &'a [Decoded], orders: &[Order]) -> Vec<Column<'a>> {
    let of_key = |(decoded, &(descending, nulls_first, nan_first)): (&'a Decoded, &Order)| {
        directed(decoded.columns(), descending, nulls_first).map(move |column| column.nan_first(nan_first))
    };
    keys.iter().zip(orders).flat_map(of_key).collect()
}

impl ArrowTable {
    /// Returns all columns, each as one array.
    fn columns(&self) -> PyResult<Vec<ArrayRef>> {
        let columns = map_parts(0..self.schema.fields().len(), |number| self.column(number));
        columns.into_iter().collect::<Result<_, _>>().map_err(failed)
    }

    /// Returns a column as one array.
    fn column(&self, number: usize) -> Result<ArrayRef, ArrowError> {
        let chunks: Vec<ArrayRef> = self.batches.iter().map(|batch| batch.column(number).clone()).collect();
        joined(self.schema.field(number).data_type(), &chunks)
    }

    /// Returns the rows of these columns at these positions, batch by batch.
    fn gathered(&self, columns: &[ArrayRef], positions: &[u32]) -> Result<Vec<RecordBatch>, ArrowError> {
        // Part by part, so that positions stay in a core's cache from column to column.
        let parts = positions.chunks(part(positions.len()));
        map_parts(parts, |positions| gathered(&self.schema, columns, positions)).into_iter().collect()
    }
}

#[pymethods]
impl ArrowTable {
    /// Takes a table, or a stream of batches.
    #[new]
    fn new(object: &Bound<PyAny>) -> PyResult<Self> {
        let (field, chunks) = chunks(object)?;
        let DataType::Struct(fields) = field.data_type() else {
            return Err(PyTypeError::new_err("not a table"));
        };
        let schema = Arc::new(Schema::new_with_metadata(fields.clone(), field.metadata().clone()));
        if chunks.iter().any(|chunk| chunk.null_count() > 0) {
            return Err(PyTypeError::new_err("an array of structs with nulls is not a table"));
        }
        let batches = chunks.iter().map(|chunk| RecordBatch::from(chunk.as_struct())).collect();
        Ok(Self { schema, batches })
    }

    /// Returns the names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns the table sorted by the columns with these numbers, counted from 0.
    fn sort(
        &self,
        py: Python,
        keys: Vec<usize>,
        orders: Vec<Order>,
        device: Option<&Bound<Device>>,
        threads: Threads,
    ) -> PyResult<Self> {
        let rows = self.__len__();
        let sorter = sorter(device, threads, rows, ROWS)?;
        let batches = unlocked(py, rows, threads, || {
            let columns = self.columns()?;
            let decoded = keys.iter().map(|&number| decoded(self.schema.field(number), &columns[number]));
            let decoded = decoded.collect::<PyResult<Vec<_>>>()?;
            let positions = sorter.argsort_columns(&ordered(&decoded, &orders));
            let (positions, _) = positions.map_err(exception)?;
            self.gathered(&columns, &positions).map_err(failed)
        })??;
        Ok(Self { schema: self.schema.clone(), batches })
    }

    /// Returns the sorted table, cut at the splitters, which are sorted rows of keys. The place of a splitter,
    /// a table number and a share, orders the splitter among rows with equal keys: the rows of earlier tables
    /// come first, then this share of the rows of that table. `number` is the number of this table.
    fn divided(
        &self,
        py: Python,
        keys: Vec<usize>,
        orders: Vec<Order>,
        splitters: &Bound<Self>,
        places: Vec<(u64, f64)>,
        number: u64,
        device: Option<&Bound<Device>>,
        threads: Threads,
    ) -> PyResult<Vec<Self>> {
        let (rows, splitters) = (self.__len__(), splitters.get());
        let cuts = splitters.__len__();
        if (splitters.schema.fields().len(), places.len()) != (keys.len(), cuts) {
            return Err(PyValueError::new_err("splitters have a row and a place each, and the keys"));
        }
        let sorter = sorter(device, threads, rows, ROWS)?;
        unlocked(py, rows, threads, || {
            let columns = self.columns()?;
            // Splitters go before and after the rows, to bound the rows with equal keys.
            let with_splitters = |(at, &number): (usize, &usize)| {
                let field = self.schema.field(number);
                let splitters = splitters.column(at).map_err(failed)?;
                let all = [splitters.clone(), columns[number].clone(), splitters];
                decoded(field, &joined(field.data_type(), &all).map_err(failed)?)
            };
            let decoded = keys.iter().enumerate().map(with_splitters).collect::<PyResult<Vec<_>>>()?;
            let order = sorter.argsort_columns(&ordered(&decoded, &orders));
            let (order, _) = order.map_err(exception)?;
            let (mut positions, mut begins, mut ends) =
                (Vec::with_capacity(rows), vec![0; cuts], vec![0; cuts]);
            for at in order.into_iter().map(|at| at as usize) {
                if at < cuts {
                    begins[at] = positions.len();
                } else if at < cuts + rows {
                    positions.push((at - cuts) as u32);
                } else {
                    ends[at - cuts - rows] = positions.len();
                }
            }
            let place = |((begin, end), (table, share)): ((usize, usize), (u64, f64))| {
                begin
                    + match number.cmp(&table) {
                        Ordering::Less => end - begin,
                        Ordering::Equal => ((end - begin) as f64 * share) as usize,
                        Ordering::Greater => 0,
                    }
            };
            let mut all = vec![0];
            all.extend(begins.into_iter().zip(ends).zip(places).map(place));
            all.push(rows);
            let part = |ends: &[usize]| {
                let positions = positions.get(ends[0]..ends[1]);
                let positions =
                    positions.ok_or_else(|| PyValueError::new_err("the splitters are not in order"))?;
                let batches = self.gathered(&columns, positions).map_err(failed)?;
                Ok(Self { schema: self.schema.clone(), batches })
            };
            all.windows(2).map(part).collect()
        })?
    }

    /// Arrow's capsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The consumer can cast by itself.
        let _ = requested_schema;
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}
