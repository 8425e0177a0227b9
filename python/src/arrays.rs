//! Arrays of numbers in the memory of whoever owns them, by Python's buffer protocol.
//!
//! The Python side hands over contiguous arrays of native byte order, with the sorted axis last;
//! every row of it is sorted on its own.

use gpusort::columns::Column;
use gpusort::half::f16;
use gpusort::unstable::element::{argsort_on_cpu, is_in_order, sort_on_cpu};
use gpusort::unstable::order::{KeyOrder, Nulls};
use gpusort::unstable::parallel::{self, map_into, map_parts};
use gpusort::{Element, ElementType, Sorter};
use gpusort_planner::plan::Shape;
use pyo3::buffer::{ElementType as Format, PyUntypedBuffer};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::{ArrowArray, directed};
use crate::device::{Device, chosen};
use crate::errors::exception;

/// Evaluates an expression for the type of Rust that an element type is.
macro_rules! by_element {
    ($element:expr, $type:ident => $value:expr) => {{
        macro_rules! with {
            ($rust:ty) => {{
                type $type = $rust;
                $value
            }};
        }
        match $element {
            ElementType::U8 => with!(u8),
            ElementType::I8 => with!(i8),
            ElementType::U16 => with!(u16),
            ElementType::I16 => with!(i16),
            ElementType::F16 => with!(f16),
            ElementType::U32 => with!(u32),
            ElementType::I32 => with!(i32),
            ElementType::F32 => with!(f32),
            ElementType::U64 => with!(u64),
            ElementType::I64 => with!(i64),
            ElementType::F64 => with!(f64),
        }
    }};
}
pub(crate) use by_element;

/// An array of somebody else's.
pub(crate) struct Array {
    buffer: PyUntypedBuffer,
    element: ElementType,
}

impl Array {
    fn of(object: &Bound<PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        let is_native = !matches!(buffer.format().to_bytes(), [b'>' | b'!', _, ..]);
        let element = match Format::from_format(buffer.format()) {
            Format::UnsignedInteger { bytes: 1 } => ElementType::U8,
            Format::UnsignedInteger { bytes: 2 } => ElementType::U16,
            Format::UnsignedInteger { bytes: 4 } => ElementType::U32,
            Format::UnsignedInteger { bytes: 8 } => ElementType::U64,
            Format::SignedInteger { bytes: 1 } => ElementType::I8,
            Format::SignedInteger { bytes: 2 } => ElementType::I16,
            Format::SignedInteger { bytes: 4 } => ElementType::I32,
            Format::SignedInteger { bytes: 8 } => ElementType::I64,
            Format::Float { bytes: 4 } => ElementType::F32,
            Format::Float { bytes: 8 } => ElementType::F64,
            _ if buffer.format().to_bytes() == b"e" => ElementType::F16,
            _ => return Err(PyTypeError::new_err("not an array of numbers")),
        };
        if !is_native || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("not contiguous, or of another byte order"));
        }
        Ok(Self { buffer, element })
    }

    /// The same, to be written to.
    fn writable(object: &Bound<PyAny>) -> PyResult<Self> {
        let array = Self::of(object)?;
        if array.buffer.readonly() {
            return Err(PyValueError::new_err("output array is read-only"));
        }
        Ok(array)
    }

    fn len(&self) -> usize {
        self.buffer.item_count()
    }

    /// Its elements. `T` is their type.
    fn elements<T: Element>(&self) -> &[T] {
        assert_eq!(T::TYPE, self.element);
        if self.len() == 0 {
            return &[];
        }
        // SAFETY:
        // - The buffer is contiguous and has as many elements of this type, in native byte order.
        // - NumPy aligns what it gives out as of these types, and the buffer keeps it alive.
        // - Whoever calls from Python does not change the array until the call returns, as for
        //   NumPy's own functions.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// The same, to be written to.
    #[allow(clippy::mut_from_ref)]
    fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        assert_eq!(T::TYPE, self.element);
        assert!(!self.buffer.readonly());
        if self.len() == 0 {
            return &mut [];
        }
        // SAFETY:
        // - As for `elements`.
        // - The buffer is writable, and whoever calls from Python lets nobody else read or write it
        //   until the call returns.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// A column of the elements.
    pub(crate) fn column(&self) -> Column<'_> {
        by_element!(self.element, T => Column::numbers(self.elements::<T>()))
    }
}

/// An array for so many positions, or ranks, as i64.
pub(crate) struct Places(Array);

impl Places {
    pub(crate) fn of(object: &Bound<PyAny>, count: usize) -> PyResult<Self> {
        let array = Array::writable(object)?;
        if array.element != ElementType::I64 || array.len() != count {
            return Err(PyValueError::new_err(format!("not an array of {count} int64")));
        }
        Ok(Self(array))
    }

    pub(crate) fn elements(&mut self) -> &mut [i64] {
        self.0.elements_mut()
    }
}

/// The order of keys.
pub(crate) fn order(descending: bool, nulls_first: bool) -> KeyOrder {
    let place = if nulls_first { Nulls::First } else { Nulls::Last };
    KeyOrder { descending, nan: place, empty: place, ..KeyOrder::ASCENDING }
}

/// Does work with as many threads, without the lock of the interpreter if that pays.
pub(crate) fn unlocked<T: Send>(
    py: Python,
    n: usize,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    /// Fewer elements are sorted before another thread could have the lock.
    const FEW: usize = 1 << 10;
    match threads {
        None if n < FEW => Ok(work()),
        None => Ok(py.detach(work)),
        Some(threads) => py.detach(|| parallel::within(threads, work)).map_err(PyOSError::new_err),
    }
}

/// The sorter that was asked for, or the one for rows of so many elements.
pub(crate) fn sorter<'a>(
    device: Option<&'a Bound<Device>>,
    threads: Option<usize>,
    n: usize,
    shape: Shape,
) -> PyResult<&'a Sorter> {
    match device {
        Some(device) => device.get().sorter(),
        None if threads.is_some() => Ok(chosen(0, shape)),
        None => Ok(chosen(n, shape)),
    }
}

/// Rows of the last axis, of which some are worked on together.
fn groups(rows: usize, row: usize) -> usize {
    /// Elements that are worth a thread's while.
    const PART: usize = 1 << 15;
    (PART / row.max(1)).clamp(1, rows.max(1))
}

fn shape_of(element: ElementType, payload: bool) -> Shape {
    Shape { key: element.key_words(), payload }
}

/// Writes rows of `row` elements in order, to an array that may be the same.
#[pyfunction]
#[pyo3(signature = (array, result, row, descending, nulls_first, device, threads))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn sort(
    py: Python,
    array: &Bound<PyAny>,
    result: &Bound<PyAny>,
    row: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Option<usize>,
) -> PyResult<()> {
    let is_same = array.is(result);
    let mut result = Array::writable(result)?;
    let source = if is_same { None } else { Some(Array::of(array)?) };
    let (n, order) = (result.len(), order(descending, nulls_first));
    if source.as_ref().is_some_and(|source| source.len() != n || source.element != result.element) {
        return Err(PyValueError::new_err("results are as many elements of the same type"));
    }
    let sorter = sorter(device, threads, row, shape_of(result.element, false))?;
    by_element!(result.element, T => unlocked(py, n, threads, || {
        let elements = result.elements_mut::<T>();
        if let Some(source) = &source {
            // By all cores, since memory that nobody has touched takes longer than the sort.
            map_into(source.elements::<T>(), elements, |&element| element);
        }
        if sorter.started().is_some() {
            return elements.chunks_mut(row.max(1)).try_for_each(|row| sorter.sort_as(row, order).map(drop));
        }
        // Without a report, for which the clock would be read.
        let sort = |row: &mut [T]| drop(sort_on_cpu(row, order));
        if n <= row {
            sort(elements);
        } else {
            let parts = elements.chunks_mut(row * groups(n / row, row));
            map_parts(parts, |rows| rows.chunks_mut(row).for_each(sort));
        }
        Ok(())
    }))?
    .map_err(|error| exception(&error))
}

/// Writes the positions of each row of `row` elements in order, as i64.
#[pyfunction]
#[pyo3(signature = (array, positions, row, descending, nulls_first, device, threads))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn argsort(
    py: Python,
    array: &Bound<PyAny>,
    positions: &Bound<PyAny>,
    row: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Option<usize>,
) -> PyResult<()> {
    first(py, array, positions, [row, row], descending, nulls_first, device, threads)
}

/// Writes the positions of the first `k` of each row of `row` elements, as i64.
#[pyfunction]
#[pyo3(signature = (array, positions, row, k, descending, nulls_first, device, threads))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn argtop(
    py: Python,
    array: &Bound<PyAny>,
    positions: &Bound<PyAny>,
    row: usize,
    k: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Option<usize>,
) -> PyResult<()> {
    first(py, array, positions, [row, k], descending, nulls_first, device, threads)
}

#[allow(clippy::too_many_arguments)]
fn first(
    py: Python,
    array: &Bound<PyAny>,
    positions: &Bound<PyAny>,
    [row, k]: [usize; 2],
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Option<usize>,
) -> PyResult<()> {
    let array = Array::of(array)?;
    let (n, order, k) = (array.len(), order(descending, nulls_first), k.min(row));
    let mut positions = Places::of(positions, n / row.max(1) * k)?;
    if k == 0 {
        return Ok(());
    }
    let sorter = sorter(device, threads, row, shape_of(array.element, true))?;
    by_element!(array.element, T => unlocked(py, n, threads, || {
        let (elements, places) = (array.elements::<T>(), positions.elements());
        let first = |(row, places): (&[T], &mut [i64])| {
            let on_cpu = if k < row.len() || sorter.started().is_some() { None } else { argsort_on_cpu(row, order) };
            let positions = match on_cpu {
                Some((positions, _)) => positions,
                None if k < row.len() => sorter.argtop_as(row, k, order)?,
                None => sorter.argsort_as(row, order)?.0,
            };
            map_into(&positions, places, |&position| position.into());
            Ok(())
        };
        if n <= row || sorter.started().is_some() {
            elements.chunks(row).zip(places.chunks_mut(k)).try_for_each(first)
        } else {
            let group = groups(n / row, row);
            let parts = elements.chunks(row * group).zip(places.chunks_mut(k * group));
            map_parts(parts, |(rows, places)| {
                rows.chunks(row).zip(places.chunks_mut(k)).try_for_each(first)
            })
            .into_iter()
            .collect()
        }
    }))?
    .map_err(|error: gpusort::Error| exception(&error))
}

/// Writes the first `k` of each row of `row` elements, in order.
#[pyfunction]
#[pyo3(signature = (array, result, row, k, descending, nulls_first, device, threads))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn top(
    py: Python,
    array: &Bound<PyAny>,
    result: &Bound<PyAny>,
    row: usize,
    k: usize,
    descending: bool,
    nulls_first: bool,
    device: Option<&Bound<Device>>,
    threads: Option<usize>,
) -> PyResult<()> {
    let (array, mut result) = (Array::of(array)?, Array::writable(result)?);
    let (n, order, k) = (array.len(), order(descending, nulls_first), k.min(row));
    if result.element != array.element || result.len() != n / row.max(1) * k {
        return Err(PyValueError::new_err("results are as many elements of the same type"));
    }
    if k == 0 {
        return Ok(());
    }
    let sorter = sorter(device, threads, 0, shape_of(array.element, false))?;
    by_element!(array.element, T => unlocked(py, n, threads, || {
        let (elements, places) = (array.elements::<T>(), result.elements_mut::<T>());
        let first = |(row, places): (&[T], &mut [T])| {
            let (first, _) = sorter.top_as(row, k, order)?;
            places.copy_from_slice(&first);
            Ok::<_, gpusort::Error>(())
        };
        let group = groups(n / row, row);
        let parts = elements.chunks(row * group).zip(places.chunks_mut(k * group));
        map_parts(parts, |(rows, places)| rows.chunks(row).zip(places.chunks_mut(k)).try_for_each(first))
            .into_iter()
            .collect::<Result<(), _>>()
    }))?
    .map_err(|error| exception(&error))
}

/// Whether each row of `row` elements is in order.
#[pyfunction]
#[pyo3(signature = (array, row, descending, nulls_first, threads))]
pub(crate) fn is_sorted(
    py: Python,
    array: &Bound<PyAny>,
    row: usize,
    descending: bool,
    nulls_first: bool,
    threads: Option<usize>,
) -> PyResult<bool> {
    let array = Array::of(array)?;
    let order = order(descending, nulls_first);
    by_element!(array.element, T => unlocked(py, array.len(), threads, || {
        array.elements::<T>().chunks(row.max(1)).all(|row| is_in_order(row, order))
    }))
}

/// A key of rows: an array of numbers, or one of Arrow.
#[derive(FromPyObject)]
pub(crate) enum Key<'py> {
    Arrow(Bound<'py, ArrowArray>),
    Numbers(Bound<'py, PyAny>),
}

/// Writes the positions of rows in the order of the first key, then the next, as i64.
#[pyfunction]
#[pyo3(signature = (keys, positions, descending, nulls_first, device, threads))]
pub(crate) fn lexsort(
    py: Python,
    keys: Vec<Key>,
    positions: &Bound<PyAny>,
    descending: Vec<bool>,
    nulls_first: Vec<bool>,
    device: Option<&Bound<Device>>,
    threads: Option<usize>,
) -> PyResult<()> {
    let n = positions.len()?;
    let mut positions = Places::of(positions, n)?;
    let numbers = keys.iter().map(|key| match key {
        Key::Numbers(object) => Array::of(object).map(Some),
        Key::Arrow(_) => Ok(None),
    });
    let numbers = numbers.collect::<PyResult<Vec<_>>>()?;
    let arrays: Vec<Option<&ArrowArray>> =
        keys.iter().map(|key| if let Key::Arrow(array) = key { Some(array.get()) } else { None }).collect();
    let sorter = sorter(device, threads, n, Shape::ALL[3])?;
    let order = unlocked(py, n, threads, || {
        let decoded = arrays.iter().map(|array| array.map(ArrowArray::decoded).transpose());
        let decoded = decoded.collect::<Result<Vec<_>, _>>()?;
        let mut columns = Vec::new();
        let of_keys = numbers.iter().zip(&decoded).zip(descending.iter().zip(&nulls_first));
        for ((numbers, decoded), (&descending, &nulls_first)) in of_keys {
            let of_key = match (numbers, decoded) {
                (Some(numbers), _) => vec![numbers.column()],
                (None, Some(decoded)) => decoded.columns(),
                (None, None) => Vec::new(),
            };
            columns.extend(directed(of_key, descending, nulls_first));
        }
        sorter.argsort_columns(&columns).map_err(|error| exception(&error))
    })?;
    let (order, _) = order?;
    if order.len() != n {
        return Err(PyValueError::new_err("keys are of different lengths"));
    }
    unlocked(py, n, threads, || {
        map_into(&order, positions.elements(), |&position| position.into());
    })
}
