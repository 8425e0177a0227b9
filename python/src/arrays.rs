//! Arrays of numbers in the memory of whoever owns them, by Python's buffer protocol.
//!
//! The Python side hands over contiguous arrays of native byte order, and says which rows of them an
//! axis has; each is sorted on its own.

use gpusort::columns::Column;
use gpusort::unstable::element::{argsort_on_cpu, is_in_order, sort_on_cpu};
use gpusort::unstable::order::{KeyOrder, Nulls};
use gpusort::unstable::parallel::{self, Places, map_into, map_parts};
use gpusort::{Element, ElementType, Error, Sorter};
use gpusort_order::Shape;
use gpusort_order::key::KeyWords;
use pyo3::buffer::{ElementType as Format, PyUntypedBuffer};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::{ArrowArray, directed};
use crate::device::{Device, chosen, cpu};
use crate::errors::exception;

pub(crate) use gpusort::by_element;

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
        let is_aligned = (buffer.buf_ptr() as usize).is_multiple_of(buffer.item_size());
        if !is_native || !is_aligned || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("not contiguous and aligned, or of another byte order"));
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
        // - They are aligned, as `of` has found, and the buffer keeps them alive.
        // - Whoever calls from Python does not change the array until the call returns, as for
        //   NumPy's own functions.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// The same, to be written to.
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
pub(crate) struct Positions(Array);

impl Positions {
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

/// What sorts of rows by several keys are to a device: words of 64 bits, with positions.
pub(crate) const ROWS: Shape = Shape { key: KeyWords::Two, payload: true };

/// The number of threads that was asked for, if any was.
pub(crate) type Threads = Option<i64>;

/// At least one, and no more than there are cores.
pub(crate) fn threads_of(threads: i64) -> PyResult<usize> {
    match usize::try_from(threads) {
        Ok(threads) if threads > 0 => Ok(threads.min(parallel::cores())),
        _ => Err(PyValueError::new_err(format!("threads is at least 1, not {threads}"))),
    }
}

/// Does work with as many threads, without the lock of the interpreter if that pays.
pub(crate) fn unlocked<T: Send>(
    py: Python,
    n: usize,
    threads: Threads,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    /// Fewer elements are sorted before another thread could have the lock.
    const FEW: usize = 1 << 10;
    match threads {
        None if n < FEW => Ok(work()),
        None => Ok(py.detach(work)),
        Some(threads) => {
            let threads = threads_of(threads)?;
            py.detach(|| parallel::within(threads, work)).map_err(PyOSError::new_err)
        }
    }
}

/// The sorter that was asked for, or the one for rows of so many elements.
pub(crate) fn sorter<'a>(
    device: Option<&'a Bound<Device>>,
    threads: Threads,
    n: usize,
    shape: Shape,
) -> PyResult<&'a Sorter> {
    match device {
        Some(device) => device.get().sorter(),
        None if threads.is_some() => Ok(cpu()),
        None => Ok(chosen(n, shape)),
    }
}

/// The rows of an axis of `row` elements that are `inner` apart: so many rows are beside each other.
/// What is made of each has `made` elements.
#[derive(Clone, Copy)]
struct Axis {
    row: usize,
    inner: usize,
    made: usize,
}

/// Makes something of a row.
type OfRow<'a, T, R> = dyn Fn(&[T], &mut [R]) -> Result<(), Error> + Sync + 'a;

impl Axis {
    /// The axis for arrays of so many elements.
    fn new([row, inner, made]: [usize; 3], elements: usize, results: usize) -> PyResult<Self> {
        let rows = elements.checked_div(row).unwrap_or(0);
        if rows * row != elements || rows * made.min(row) != results || !rows.is_multiple_of(inner.max(1)) {
            return Err(PyValueError::new_err("arrays do not have so many rows"));
        }
        Ok(Self { row, inner, made: made.min(row) })
    }

    /// Calls `of_row` for each row of the source, and what is made of it; all cores take rows unless
    /// they do so themselves.
    fn each<T: Copy + Send + Sync, R: Copy + Send + Sync + Default>(
        self,
        source: &[T],
        results: &mut [R],
        is_in_turn: bool,
        of_row: &OfRow<T, R>,
    ) -> Result<(), Error> {
        /// Elements that are worth a thread's while.
        const PART: usize = 1 << 15;
        let Self { row, inner, made } = self;
        if results.is_empty() {
            return Ok(());
        }
        if inner == 1 {
            let of_rows = |(rows, made_of): (&[T], &mut [R])| {
                let mut rows = rows.chunks(row).zip(made_of.chunks_mut(made));
                rows.try_for_each(|(row, made)| of_row(row, made))
            };
            if is_in_turn || source.len() == row {
                return of_rows((source, results));
            }
            let group = (PART / row).max(1);
            let parts = source.chunks(group * row).zip(results.chunks_mut(group * made));
            return map_parts(parts, of_rows).into_iter().collect();
        }
        // Rows that are side by side share lines of the cache.
        let width = (PART / row).clamp(1, 16).min(inner);
        let blocks = (0..source.len() / (row * inner))
            .flat_map(|outer| (0..inner).step_by(width).map(move |first| (outer, first)));
        let places = Places::of_all(results);
        let of_block = |(outer, first): (usize, usize)| {
            let width = width.min(inner - first);
            let mut rows = Vec::with_capacity(width * row);
            for column in first..first + width {
                rows.extend((0..row).map(|at| source[(outer * row + at) * inner + column]));
            }
            let mut results = vec![R::default(); width * made];
            for (row, made) in rows.chunks(row).zip(results.chunks_mut(made)) {
                of_row(row, made)?;
            }
            for at in 0..made {
                for column in 0..width {
                    let place = (outer * made + at) * inner + first + column;
                    // SAFETY:
                    // - There are so many results, which are borrowed until all blocks are done.
                    // - Each block has columns of its own.
                    unsafe { places.write(place, results[column * made + at]) };
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

/// Writes the rows of an axis in order, to an array that may be the same.
#[pyfunction]
#[pyo3(signature = (array, result, row, inner, descending, nulls_first, device, threads))]
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
    by_element!(result.element, T => unlocked(py, n, threads, || {
        let elements = result.elements_mut::<T>();
        let is_on_gpu = sorter.started().is_some();
        let sort = |row: &mut [T]| {
            if is_on_gpu {
                sorter.sort_as(row, order).map(drop)
            } else {
                // Without a report, for which the clock would be read.
                sort_on_cpu(row, order);
                Ok(())
            }
        };
        let Some(source) = &source else {
            return elements.chunks_mut(row.max(1)).try_for_each(sort);
        };
        axis.each(source.elements::<T>(), elements, is_on_gpu, &|row, sorted| {
            // By all cores, since memory that nobody has touched takes longer than the sort.
            map_into(row, sorted, |&element| element);
            sort(sorted)
        })
    }))?
    .map_err(|error| exception(&error))
}

/// Writes the positions of the first `k` of each row of an axis in order, as i64.
#[pyfunction]
#[pyo3(signature = (array, positions, row, inner, k, descending, nulls_first, device, threads))]
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
    let mut positions = Positions::of(positions, n)?;
    let (axis, order) = (Axis::new([row, inner, k], array.len(), n)?, order(descending, nulls_first));
    let sorter = sorter(device, threads, row, Shape::of(array.element, true))?;
    by_element!(array.element, T => unlocked(py, array.len(), threads, || {
        let is_on_gpu = sorter.started().is_some();
        axis.each(array.elements::<T>(), positions.elements(), is_on_gpu, &|row, places| {
            let all = if k < row.len() || is_on_gpu { None } else { argsort_on_cpu(row, order) };
            let positions = match all {
                Some((positions, _)) => positions,
                None => sorter.argtop_as(row, k, order)?,
            };
            map_into(&positions, places, |&position| position.into());
            Ok(())
        })
    }))?
    .map_err(|error| exception(&error))
}

/// Writes the first `k` of each row of an axis, in order.
#[pyfunction]
#[pyo3(signature = (array, result, row, inner, k, descending, nulls_first, device, threads))]
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
    threads: Threads,
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
    threads: Threads,
) -> PyResult<()> {
    let n = positions.len()?;
    let mut positions = Positions::of(positions, n)?;
    let numbers = keys.iter().map(|key| match key {
        Key::Numbers(object) => Array::of(object).map(Some),
        Key::Arrow(_) => Ok(None),
    });
    let numbers = numbers.collect::<PyResult<Vec<_>>>()?;
    let arrays: Vec<Option<&ArrowArray>> =
        keys.iter().map(|key| if let Key::Arrow(array) = key { Some(array.get()) } else { None }).collect();
    let sorter = sorter(device, threads, n, ROWS)?;
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
