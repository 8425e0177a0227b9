//! One process's part in a sort by several processes, which a Python program runs.
//!
//! Samples and splitters pass between tasks as JSON, which the caller does not interpret; ranges of runs
//! are 64-bit words.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gpusort::files::distributed::{self, Before, Looked, Mapped, RunRange, Source, Splitter, Stretch};
use gpusort::files::{Cancel, Format, Input, Sort};
use gpusort::{Error, Sorter};
use gpusort_files::{Compression, Decompressor, Extension, To, checksum, compression_of};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Threads;
use crate::device::Device;
use crate::errors::exception;
use crate::files::{Arguments, Told, format, report_dict, waited};

/// A stretch: a name for messages, bytes or a path, and the fields of [`Before`]; `None` for binary, and
/// for a stretch that begins its file.
type Given<'py> = (String, Bound<'py, PyAny>, Option<(u64, bool)>);

/// A range of a run, and its source: a name for messages, the element type, the fields of [`RunRange`],
/// and the address of another node with its name for the file, or `None` with a path.
type Place = (String, Option<String>, (u64, u64, u64, u64), Option<String>, String);

/// The element type of a run, and its ranges.
type MappedRun<'py> = (Option<String>, Bound<'py, PyBytes>);

/// See [`Task::map`].
type Said<'py> = (Vec<MappedRun<'py>>, Vec<u64>, (u64, u64));

/// See [`Task::tally`].
type Tallied = (u64, u64, Vec<String>, Vec<String>, u64);

/// The longest wait for bytes from another node.
const SILENCE: Duration = Duration::from_secs(120);

#[pyclass(frozen, module = "gpusort._gpusort")]
pub(crate) struct Task {
    task: distributed::Task<'static>,
    cancel: Cancel,
}

fn said<T: Serialize>(what: &T) -> PyResult<String> {
    serde_json::to_string(what).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn heard<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn stretches(given: Vec<Given>) -> PyResult<Vec<Stretch>> {
    let stretch = |(name, what, before): Given| {
        let before = before.map(|(lines, is_crlf)| Before { lines, is_crlf });
        if let Ok(bytes) = what.cast::<PyBytes>() {
            return Ok(Stretch { input: Input::bytes(&name, bytes.as_bytes()), before });
        }
        let path: PathBuf =
            what.extract().map_err(|_| PyTypeError::new_err("a stretch is bytes or a path"))?;
        Ok(Stretch { input: Input::File(path), before })
    };
    given.into_iter().map(stretch).collect()
}

/// A range of bytes in a file of this node or another one, opened by the first read.
struct Pulled {
    address: Option<String>,
    path: String,
    offset: u64,
    left: u64,
    from: Option<Box<dyn Read + Send + Sync>>,
}

impl Pulled {
    fn open(&self) -> io::Result<Box<dyn Read + Send + Sync>> {
        let Some(address) = &self.address else {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.offset))?;
            return Ok(Box::new(file));
        };
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(SILENCE))?;
        writeln!(stream, "{} {} {}", self.path, self.offset, self.left)?;
        Ok(Box::new(stream))
    }
}

impl Read for Pulled {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || room.is_empty() {
            return Ok(0);
        }
        let from = match &mut self.from {
            Some(from) => from,
            None => self.from.insert(self.open()?),
        };
        let count = from.take(self.left).read(room)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        if self.left == 0 {
            self.from = None;
        }
        Ok(count)
    }
}

impl Task {
    fn work<T: Send>(
        &self,
        py: Python,
        threads: Threads,
        work: impl FnOnce(&distributed::Task) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let work = || work(&self.task).map_err(exception);
        waited(py, threads, None, &self.cancel, &Told::default(), work)
    }
}

/// Decompresses the beginning of a file to at most `most` bytes.
#[pyfunction]
pub(crate) fn unpacked<'py>(py: Python<'py>, packed: &[u8], most: u64) -> PyResult<Bound<'py, PyBytes>> {
    let source = Box::new(Cursor::new(packed.to_vec()));
    let mut content = Vec::new();
    let read = Decompressor::new(source, None, Box::new(|| 0)).take(most).read_to_end(&mut content);
    match read {
        // Decompression may fail at the end of `packed`, where the file continues.
        Err(error) if content.is_empty() => Err(PyOSError::new_err(error.to_string())),
        _ => Ok(PyBytes::new(py, &content)),
    }
}

/// Returns true if a file with this name and these first bytes is compressed. For binary elements only
/// the name decides, because they may begin with any bytes.
#[pyfunction]
pub(crate) fn is_packed(name: &str, is_binary: bool, begin: &[u8]) -> PyResult<bool> {
    let path = Path::new(name);
    if Compression::of_name(path).is_some() {
        return Ok(true);
    }
    let is_binary = is_binary || Extension::of(path).format.is_some_and(Format::is_bits);
    let unread = |error| PyValueError::new_err(format!("{name}: {error}"));
    Ok(!is_binary && compression_of(begin).map_err(unread)?.is_some())
}

#[pymethods]
impl Task {
    /// Makes a task from the beginnings of the inputs, one after another, `LOOKED` bytes together or all of
    /// them: the name of each input, its first bytes, and true if these are the whole input.
    #[staticmethod]
    fn of(
        arguments: Arguments,
        to: Option<String>,
        temp_dir: Vec<PathBuf>,
        looked: Vec<(String, Vec<u8>, bool)>,
    ) -> PyResult<Self> {
        let cancel = Cancel::new();
        let mut sort = Sort::new().options(arguments.options(Vec::new(), &cancel)?);
        if let Some(to) = &to {
            sort = sort.to(format("to", to)?);
        }
        sort = temp_dir.into_iter().fold(sort, Sort::temp_dir);
        let looked = looked.into_iter().map(|(name, bytes, is_all)| Looked { name, bytes, is_all });
        let task = sort.task(looked.collect()).map_err(exception)?;
        Ok(Self { task, cancel })
    }

    /// Returns the name of the format, and the element size of a binary format.
    #[getter]
    fn format(&self) -> (&'static str, Option<usize>) {
        let (format, size) = self.task.format();
        (format.name(), size)
    }

    /// Returns the offset of the first record of an input, and true if its first line ends with CR LF; None
    /// if more bytes are needed.
    fn records(&self, beginning: &[u8], is_all: bool) -> Option<(usize, bool)> {
        self.task.records(beginning, is_all)
    }

    /// Returns the probable offset of the first record that begins after the first byte.
    fn begin(&self, bytes: &[u8]) -> Option<usize> {
        self.task.begin(bytes)
    }

    /// Returns the offset of the first record at or after `at`, in bytes that begin with a record.
    fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.task.end(bytes, at)
    }

    /// Returns samples of keys, as JSON.
    fn sample(
        &self,
        py: Python,
        given: Vec<Given>,
        many: usize,
        task: u64,
        begin: u32,
        end: u32,
        threads: Threads,
    ) -> PyResult<String> {
        let stretches = stretches(given)?;
        said(&self.work(py, threads, |it| it.sample(stretches, many, task, [begin, end]))?)
    }

    /// Returns the splitters for up to `parts` parts, as JSON, and the number of parts that they make.
    fn splitters(&self, samples: Vec<String>, parts: usize) -> PyResult<(String, usize)> {
        let samples = samples.iter().map(|all| heard::<Vec<Splitter>>(all)).collect::<PyResult<Vec<_>>>()?;
        let splitters = self.task.splitters(samples.concat(), parts);
        Ok((said(&splitters)?, splitters.len() + 1))
    }

    /// Writes the runs of these stretches to a file. Returns the element type of each run, and four words
    /// for each part, its range; the sum of checksums of each stretch; and the numbers of invalid and of
    /// repeated records, which are left out.
    fn map<'py>(
        &self,
        py: Python<'py>,
        given: Vec<Given>,
        task: u64,
        splitters: &str,
        to: PathBuf,
        device: Option<&Bound<Device>>,
        threads: Threads,
    ) -> PyResult<Said<'py>> {
        let stretches = stretches(given)?;
        let splitters: Vec<Splitter> = heard(splitters)?;
        let sorter = device.map(|device| device.get().sorter()).transpose()?;
        let mut file = File::create(&to).map_err(PyOSError::new_err)?;
        let mapped: Mapped = self.work(py, threads, |it| {
            let cpu = Sorter::cpu();
            it.map(sorter.unwrap_or(&cpu), stretches, task, &splitters, &mut file)
        })?;
        let run = |run: distributed::MappedRun| {
            let words = |range: RunRange| [range.offset, range.bytes, range.records, range.checksum];
            let bytes: Vec<u8> = run.ranges.into_iter().flat_map(words).flat_map(u64::to_ne_bytes).collect();
            (run.element, PyBytes::new(py, &bytes))
        };
        let runs = mapped.runs.into_iter().map(run).collect();
        Ok((runs, mapped.sums, (mapped.skipped, mapped.repeated)))
    }

    /// Reads a written part, and returns the number of its records, the sum of their checksums, the keys of
    /// the first and the last record, and a checksum of the whole file.
    fn tally(&self, py: Python, part: PathBuf, threads: Threads) -> PyResult<Tallied> {
        let tally = self.work(py, threads, |it| it.tally(&part))?;
        let file = checksum(&part).map_err(PyOSError::new_err)?;
        Ok((tally.records, tally.checksum, tally.first, tally.last, file))
    }

    /// Merges ranges of runs into a file.
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        places: Vec<Place>,
        has_head: bool,
        to: PathBuf,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyDict>> {
        let source = |(name, element, (offset, bytes, records, checksum), address, path): Place| {
            let range = RunRange { offset, bytes, records, checksum };
            let reader = Box::new(Pulled { address, path, offset, left: bytes, from: None });
            Source { name, element, range, reader }
        };
        let sources = places.into_iter().map(source).collect();
        let report = self.work(py, threads, |it| it.reduce(sources, has_head, To::File(&to)))?;
        report_dict(py, &report)
    }
}
