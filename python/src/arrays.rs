//! Arrays of numbers in their owners' memory, through Python's buffer protocol.
//!
//! The Python side passes contiguous arrays in native byte order and the rows of an axis; each row is sorted
//! separately.

use gpusort::columns::Column;
use gpusort::columns::arrow::Decoded;
use gpusort::{Error, by_element};
use gpusort_base::parallel::{Places, map_into, map_parts};
use gpusort_engine::element::{argsort_on_cpu, is_in_order, sort_on_cpu};
use gpusort_order::Shape;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow::{ArrowArray, decoded, directed};
use crate::caller::{Array, ROWS, Threads, finished, order, sorter, unlocked};
use crate::device::{Device, cpu};
use crate::errors::exception;

/// An axis: rows of `row_len` elements with a stride of `inner`, the number of interleaved rows. The result of a
/// row has `result_len` elements.
#[derive(Clone, Copy)]
struct Axis {
    row_len: usize,
    inner: usize,
    result_len: usize,
}

/// Makes a result of a row.
type OfRow<'a, T, R> = dyn Fn(&[T], &mut [R]) -> Result<(), Error> + Sync + 'a;

impl Axis {
    /// The axis of arrays of these lengths.
    fn new([row_len, inner, result_len]: [usize; 3], elements: usize, results: usize) -> PyResult<Self> {
        let (rows, result_len) = (elements.checked_div(row_len).unwrap_or(0), result_len.min(row_len));
        let is_whole = rows * row_len == elements && rows * result_len == results;
        if !is_whole || !rows.is_multiple_of(inner.max(1)) {
            return Err(PyValueError::new_err("arrays do not have so many rows"));
        }
        Ok(Self { row_len, inner, result_len })
    }

    /// Calls `of_row` for each row of the source and its result, on all cores unless `is_in_turn`.
    fn each<T: Copy + Send + Sync, R: Copy + Send + Sync + Default>(
        self,
        source: &[T],
        results: &mut [R],
        is_in_turn: bool,
        of_row: &OfRow<T, R>,
    ) -> Result<(), Error> {
        /// Elements worth a thread.
        const PART: usize = 1 << 15;
        let Self { row_len, inner, result_len } = self;
        if results.is_empty() {
            return Ok(());
        }
        if inner == 1 {
            let of_rows = |(rows, results): (&[T], &mut [R])| {
                let mut rows = rows.chunks(row_len).zip(results.chunks_mut(result_len));
                rows.try_for_each(|(row, result)| of_row(row, result))
            };
            if is_in_turn || source.len() == row_len {
                return of_rows((source, results));
            }
            let group = (PART / row_len).max(1);
            let parts = source.chunks(group * row_len).zip(results.chunks_mut(group * result_len));
            return map_parts(parts, of_rows).into_iter().collect();
        }
        // Adjacent rows share cache lines.
        let width = (PART / row_len).clamp(1, 16).min(inner);
        let blocks = (0..source.len() / (row_len * inner))
            .flat_map(|outer| (0..inner).step_by(width).map(move |first| (outer, first)));
        let places = Places::of_all(results);
        let of_block = |(outer, first): (usize, usize)| {
            let width = width.min(inner - first);
            let mut rows = Vec::with_capacity(width * row_len);
            for column in first..first + width {
                rows.extend((0..row_len).map(|at| source[(outer * row_len + at) * inner + column]));
            }
            let mut of_rows = vec![R::default(); width * result_len];
            for (row, result) in rows.chunks(row_len).zip(of_rows.chunks_mut(result_len)) {
                of_row(row, result)?;
            }
            for at in 0..result_len {
                for column in 0..width {
                    let place = (outer * result_len + at) * inner + first + column;
                    // SAFETY:
                    // - `place` is in `places`, borrowed until all blocks are done.
                    // - Each block has its own columns.
                    unsafe { places.write(place, of_rows[column * result_len + at]) };
                }
            }
            Ok(())
        };
        if is_in_turn {
            return blocks.into_iter().try_for_each(of_block);
        }
        map_parts(blocks, of_block).into_iter().collect()
    }
}

/// Writes the sorted rows of an axis, to another array or in place.
#[pyfunction]
pub(crate) fn sort(
    py: Python,
    array: &Bound<PyAny>,
    result: &Bound<PyAny>,
    row: usize,
    inner: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Threads,
) -> PyResult<()> {
    let is_same = array.is(result);
    let mut result = Array::writable(result)?;
    let source = if is_same { None } else { Some(Array::of(array)?) };
    let (n, order) = (result.len(), order(descending, nulls_first));
    if source.as_ref().is_some_and(|source| source.len() != n || source.element != result.element) {
        return Err(PyValueError::new_err("results are as many elements of the same type"));
    }
    let axis = Axis::new([row, inner, row], n, n)?;
    let sorter = sorter(device, threads, row, Shape::of(result.element, false))?;
    by_element!(result.element, T => {
        let work = || {
            let elements = result.elements_mut::<T>();
            let is_on_gpu = sorter.started().is_some();
            let sort = |row: &mut [T]| {
                if is_on_gpu {
                    sorter.sort_as(row, order).map(drop)
                } else {
                    // This makes no report, and thus reads no clock.
                    sort_on_cpu(row, order);
                    Ok(())
                }
            };
            let Some(source) = &source else {
                return elements.chunks_mut(row.max(1)).try_for_each(sort);
            };
            axis.each(source.elements::<T>(), elements, is_on_gpu, &|row, sorted| {
                // All cores copy, since touching new memory takes longer than the sort.
                map_into(row, sorted, |&element| element);
                sort(sorted)
            })
        };
        // In place, an interrupted sort would lose elements.
        if is_same { finished(py, threads, work) } else { unlocked(py, n, threads, work) }
    })?
    .map_err(exception)
}

/// Writes the positions of the first `k` elements of each row in order, as i64.
#[pyfunction]
pub(crate) fn argtop(
    py: Python,
    array: &Bound<PyAny>,
    positions: &Bound<PyAny>,
    row: usize,
    inner: usize,
    k: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Threads,
) -> PyResult<()> {
    let (array, n) = (Array::of(array)?, positions.getattr("size")?.extract()?);
    let mut positions = Array::positions(positions, n)?;
    let (axis, order) = (Axis::new([row, inner, k], array.len(), n)?, order(descending, nulls_first));
    let sorter = sorter(device, threads, row, Shape::of(array.element, true))?;
    by_element!(array.element, T => unlocked(py, array.len(), threads, || {
        let is_on_gpu = sorter.started().is_some();
        axis.each(array.elements::<T>(), positions.elements_mut::<i64>(), is_on_gpu, &|row, places| {
            let all = k >= row.len() && !is_on_gpu;
            let positions = if all { argsort_on_cpu(row, order)?.0 } else { sorter.argtop_as(row, k, order)? };
            map_into(&positions, places, |&position| position.into());
            Ok(())
        })
    }))?
    .map_err(exception)
}

/// Writes the first `k` elements of each row, in order.
#[pyfunction]
pub(crate) fn top(
    py: Python,
    array: &Bound<PyAny>,
    result: &Bound<PyAny>,
    row: usize,
    inner: usize,
    k: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Threads,
) -> PyResult<()> {
    let (array, mut result) = (Array::of(array)?, Array::writable(result)?);
    if result.element != array.element {
        return Err(PyValueError::new_err("results are elements of the same type"));
    }
    let axis = Axis::new([row, inner, k], array.len(), result.len())?;
    let order = order(descending, nulls_first);
    // Finding a few takes less time than a transfer to a GPU.
    let sorter = device.map_or(Ok(cpu()), |device| device.get().sorter())?;
    by_element!(array.element, T => unlocked(py, array.len(), threads, || {
        let is_on_gpu = sorter.started().is_some();
        axis.each(array.elements::<T>(), result.elements_mut::<T>(), is_on_gpu, &|row, places| {
            places.copy_from_slice(&sorter.top_as(row, k, order)?.0);
            Ok(())
        })
    }))?
    .map_err(exception)
}

/// Returns true if all rows of `row` elements are in order.
#[pyfunction]
pub(crate) fn is_sorted(
    py: Python,
    array: &Bound<PyAny>,
    row: usize,
    descending: bool,
    nulls_first: bool,
    threads: Threads,
) -> PyResult<bool> {
    let array = Array::of(array)?;
    let order = order(descending, nulls_first);
    by_element!(array.element, T => unlocked(py, array.len(), threads, || {
        array.elements::<T>().chunks(row.max(1)).all(|row| is_in_order(row, order))
    }))
}

/// The values of a key.
enum Values {
    Numbers(Array),
    Arrow(Decoded),
}

/// Writes the positions of the first rows in the order of the first key, then the next, as i64. The length of `positions`
/// is the number of rows to write. A key is an Arrow array, or an array of numbers.
#[pyfunction]
pub(crate) fn lexsort(
    py: Python,
    keys: Vec<Bound<PyAny>>,
    positions: &Bound<PyAny>,
    descending: Vec<bool>,
    nulls_first: Vec<bool>,
    device: Option<&Bound<Device>>,
    threads: Threads,
) -> PyResult<()> {
    let n = keys.first().map_or(Ok(0), PyAnyMethods::len)?;
    let k = positions.len()?;
    let mut positions = Array::positions(positions, k)?;
    let keys = keys.iter().map(|key| match key.cast::<ArrowArray>() {
        Ok(array) => {
            let array = array.get();
            unlocked(py, n, threads, || decoded(&array.field, &array.array))?.map(Values::Arrow)
        }
        Err(_) => Array::of(key).map(Values::Numbers),
    });
    let keys = keys.collect::<PyResult<Vec<_>>>()?;
    let sorter = sorter(device, threads, n, ROWS)?;
    let order = unlocked(py, n, threads, || {
        let orders = descending.iter().zip(&nulls_first);
        let columns = keys.iter().zip(orders).flat_map(|(key, (&descending, &nulls_first))| {
            let columns = match key {
                Values::Numbers(array) => {
                    vec![by_element!(array.element, T => Column::numbers(array.elements::<T>()))]
                }
                Values::Arrow(decoded) => decoded.columns(),
            };
            directed(columns, descending, nulls_first)
        });
        sorter.argtop_columns(&columns.collect::<Vec<_>>(), k).map_err(exception)
    })?;
    let (order, _) = order?;
    if order.len() != k {
        return Err(PyValueError::new_err("keys are of different lengths"));
    }
    unlocked(py, k, threads, || {
        map_into(&order, positions.elements_mut::<i64>(), |&position| position.into());
    })
}
