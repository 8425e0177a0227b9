//! Arguments of a call of the module: arrays in their owners' memory, an order, a device and a number of
//! threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use gpusort::files::Cancel;
use gpusort::{Element, ElementType, Sorter};
use gpusort_base::error::of_panic;
use gpusort_base::parallel::{self, lock};
use gpusort_order::{KeyOrder, KeyWords, Nulls, Shape};
use pyo3::buffer::{ElementType as Format, PyUntypedBuffer};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::device::{Device, chosen, cpu};

/// A Python buffer of numbers.
pub(crate) struct Array {
    buffer: PyUntypedBuffer,
    pub(crate) element: ElementType,
}

impl Array {
    pub(crate) fn of(object: &Bound<PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        let not_numbers = || PyTypeError::new_err("not an array of numbers");
        let is_native = !matches!(buffer.format().to_bytes(), [b'>' | b'!', _, ..]);
        let (form, bytes) = match Format::from_format(buffer.format()) {
            Format::UnsignedInteger { bytes } => ("u", bytes),
            Format::SignedInteger { bytes } => ("i", bytes),
            Format::Float { bytes } => ("f", bytes),
            _ if buffer.format().to_bytes() == b"e" => ("f", 2),
            _ => return Err(not_numbers()),
        };
        let is_it = |it: &ElementType| it.bytes() == bytes && it.name().starts_with(form);
        let element = ElementType::ALL.into_iter().find(is_it).ok_or_else(not_numbers)?;
        let is_aligned = (buffer.buf_ptr() as usize).is_multiple_of(buffer.item_size());
        if !is_native || !is_aligned || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("not contiguous and aligned, or of another byte order"));
        }
        Ok(Self { buffer, element })
    }

    /// A writable array.
    pub(crate) fn writable(object: &Bound<PyAny>) -> PyResult<Self> {
        let array = Self::of(object)?;
        if array.buffer.readonly() {
            return Err(PyValueError::new_err("output array is read-only"));
        }
        Ok(array)
    }

    /// A writable array of this number of positions or ranks, as i64.
    pub(crate) fn positions(object: &Bound<PyAny>, count: usize) -> PyResult<Self> {
        let array = Self::writable(object)?;
        if array.element != ElementType::I64 || array.len() != count {
            return Err(PyValueError::new_err(format!("not an array of {count} int64")));
        }
        Ok(array)
    }

    pub(crate) fn len(&self) -> usize {
        self.buffer.item_count()
    }

    /// The elements, of type `T`.
    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        assert_eq!(T::TYPE, self.element);
        if self.len() == 0 {
            return &[];
        }
        // SAFETY:
        // - The buffer is contiguous and has `len` elements of type `T`, in native byte order.
        // - `of` checked the alignment.
        // - The buffer keeps the elements alive.
        // - The Python caller does not change the array until the call returns, as for NumPy's functions.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// The mutable elements.
    pub(crate) fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        assert_eq!(T::TYPE, self.element);
        assert!(!self.buffer.readonly());
        if self.len() == 0 {
            return &mut [];
        }
        // SAFETY:
        // - See `elements`.
        // - The buffer is writable.
        // - The Python caller lets nobody else read or write it until the call returns.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.len()) }
    }
}

/// The order of keys.
pub(crate) fn order(descending: bool, nulls_first: bool) -> KeyOrder {
    let place = if nulls_first { Nulls::First } else { Nulls::Last };
    KeyOrder { descending, nan: place, empty: place, ..KeyOrder::ASCENDING }
}

/// The shape of a sort of rows by several keys: words of 64 bits, with positions.
pub(crate) const ROWS: Shape = Shape { key: KeyWords::Two, payload: true };

/// The requested number of threads, if any.
pub(crate) type Threads = Option<i64>;

/// Checks a number of threads, and lowers it to the number of cores.
pub(crate) fn threads_of(threads: i64) -> PyResult<usize> {
    match usize::try_from(threads) {
        Ok(threads) if threads > 0 => Ok(threads.min(parallel::cores())),
        _ => Err(PyValueError::new_err(format!("threads is at least 1, not {threads}"))),
    }
}

/// Runs `work` with these threads, and without the interpreter lock if worthwhile. A panic becomes a `RuntimeError`.
pub(crate) fn unlocked<T: Send>(
    py: Python,
    n: usize,
    threads: Threads,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    /// Sorting fewer takes less time than passing on the lock.
    const FEW: usize = 1 << 10;
    /// Sorting fewer takes less time than a look for signals.
    const MANY: usize = 1 << 20;
    if n < FEW && threads.is_none() {
        return guarded(work);
    }
    if n < MANY {
        return finished(py, threads, work);
    }
    let cancel = Cancel::new();
    let work = || parallel::until(Some(cancel.clone()), work);
    waited(py, threads, &cancel, &mut |py| py.check_signals(), work)
}

/// Runs `work` to its end, as [`unlocked`] does, even if a signal comes.
pub(crate) fn finished<T: Send>(
    py: Python,
    threads: Threads,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| with_threads(threads, || guarded(work)))?
}

/// The interval between checks for signals, and between reports of progress.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` with these threads on a thread of its own, and waits for it. Calls `tick` in between; its error, such as
/// Ctrl-C, cancels the work. A panic becomes a `RuntimeError`.
pub(crate) fn waited<T: Send>(
    py: Python,
    threads: Threads,
    cancel: &Cancel,
    tick: &mut dyn FnMut(Python) -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel::<()>();
    // Threads cannot share a receiver without a lock.
    let receiver = Mutex::new(receiver);
    let work = move || {
        // Dropped at the end.
        let _sender = sender;
        with_threads(threads, || guarded(work)).flatten()
    };
    let waiting = Mutex::new(Some(work));
    let run = || lock(&waiting).take().map(|work| work());
    let done = thread::scope(|scope| {
        // The system may refuse a thread.
        let Ok(worker) = thread::Builder::new().spawn_scoped(scope, run) else { return py.detach(run) };
        let mut ended = None;
        while py.detach(|| lock(&receiver).recv_timeout(TICK)) == Err(mpsc::RecvTimeoutError::Timeout) {
            if ended.is_none() {
                ended = tick(py).err();
                ended.iter().for_each(|_| cancel.cancel());
            }
        }
        let done = py.detach(|| worker.join());
        ended.map(Err).or_else(|| done.ok().flatten())
    });
    done.unwrap_or_else(|| Err(PyRuntimeError::new_err("internal error, please report it")))
}

/// Runs `work`; a panic becomes a `RuntimeError`.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let said = of_panic(&*panic).unwrap_or("unknown");
        PyRuntimeError::new_err(format!("internal error, or data that was changed or is damaged: {said}"))
    })
}

/// Runs `work` with these threads.
fn with_threads<T>(threads: Threads, work: impl FnOnce() -> T) -> PyResult<T> {
    match threads {
        None => Ok(work()),
        Some(threads) => parallel::within(threads_of(threads)?, work).map_err(PyOSError::new_err),
    }
}

/// The requested sorter, or a sorter chosen for `n` elements.
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
