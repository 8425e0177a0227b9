//! One process's part in a sort of several, for whoever runs the processes in Python.
//!
//! What a task says to others is JSON, which nobody reads between them; ranges of runs are words.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gpusort::files::distributed::{self, Before, Looked, Mapped, RunRange, Source, Splitter, Stretch};
use gpusort::files::internal::{Compression, Decompressor, Extension, To, checksum, compression_of};
use gpusort::files::{Cancel, Format, Input, Sort};
use gpusort::{Error, Sorter};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Threads;
use crate::device::Device;
use crate::errors::exception;
use crate::files::{Arguments, Told, formats, named, report_dict, waited};

/// A name for messages, bytes or a path, and of bytes how many lines come before them in their file
/// and whether the first of these ends with CR LF; nothing of what begins there.
type Given<'py> = (String, Bound<'py, PyAny>, Option<(u64, bool)>);

/// Where a range of a run is: a name for messages, its element type, its range, and an address with
/// what is to be said there, or nothing and a path.
type Place = (String, Option<String>, (u64, u64, u64, u64), Option<String>, String);

/// The element type of a run, and its ranges.
type MappedRun<'py> = (Option<String>, Bound<'py, PyBytes>);

/// See [`Task::map`].
type Said<'py> = (Vec<MappedRun<'py>>, Vec<u64>, (u64, u64));

/// See [`Task::tally`].
type Tallied = (u64, u64, Vec<String>, Vec<String>, u64);

/// How long another node may say nothing.
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

/// A range of bytes in a file here, or in one of another node's, opened when it is first read.
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
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(room.len());
        if most == 0 {
            return Ok(0);
        }
        if self.from.is_none() {
            self.from = Some(self.open()?);
        }
        let Some(from) = &mut self.from else { return Ok(0) };
        let count = from.read(&mut room[..most])?;
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
        let work = || work(&self.task).map_err(|error| exception(&error));
        waited(py, threads, None, &self.cancel, &Told::default(), work)
    }
}

/// The content of the beginning of a compressed file, at most so many bytes of it.
#[pyfunction]
pub(crate) fn unpacked<'py>(py: Python<'py>, packed: &[u8], most: u64) -> PyResult<Bound<'py, PyBytes>> {
    let source = Box::new(Cursor::new(packed.to_vec()));
    let mut content = Vec::new();
    let read = Decompressor::new(source, None, Box::new(|| (0, 0))).take(most).read_to_end(&mut content);
    match read {
        // The end is missing, of course.
        Err(error) if content.is_empty() => Err(PyOSError::new_err(error.to_string())),
        _ => Ok(PyBytes::new(py, &content)),
    }
}

/// Whether a file of this name that begins so is compressed. Elements of binary are only where the
/// name says so, since they may begin like anything.
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
    /// A task by what inputs begin with, one after another, `LOOKED` bytes in all or all of them: of each
    /// its name, its first bytes, and whether these are all of them.
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
            sort = sort.to(named("to", to, &formats())?);
        }
        sort = temp_dir.into_iter().fold(sort, Sort::temp_dir);
        let looked = looked.into_iter().map(|(name, bytes, is_all)| Looked { name, bytes, is_all });
        let task = sort.task(looked.collect()).map_err(|error| exception(&error))?;
        Ok(Self { task, cancel })
    }

    /// The name of the format, and the size of an element if it is binary.
    #[getter]
    fn format(&self) -> (&'static str, Option<usize>) {
        let (format, size) = self.task.format();
        (format.name(), size)
    }

    /// Where the records of an input begin, and whether its first line ends with CR LF; None if more
    /// bytes decide.
    fn records(&self, beginning: &[u8], is_all: bool) -> Option<(usize, bool)> {
        self.task.records(beginning, is_all)
    }

    /// Where a record probably begins in these bytes, after the first.
    fn begin(&self, bytes: &[u8]) -> Option<usize> {
        self.task.begin(bytes)
    }

    /// Where the first record begins that is not before a place, in bytes that begin with one.
    fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.task.end(bytes, at)
    }

    /// Samples of keys, as JSON.
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

    /// The splitters of so many parts, or fewer, and how many parts these make.
    fn splitters(&self, samples: Vec<String>, parts: usize) -> PyResult<(String, usize)> {
        let samples = samples.iter().map(|all| heard::<Vec<Splitter>>(all)).collect::<PyResult<Vec<_>>>()?;
        let splitters = self.task.splitters(samples.concat(), parts);
        Ok((said(&splitters)?, splitters.len() + 1))
    }

    /// Writes the runs of these stretches to a file, and says what they are: of each run its element type
    /// and four words for each part, which are its range; the sums of stretches, and how many records
    /// were left out as invalid and as repeated.
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

    /// What a part has, as it was written: records, the sum of their checksums, the keys of the first
    /// and the last; and a checksum of the whole file.
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
