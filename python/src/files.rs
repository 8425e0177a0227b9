//! Sorts, checks and merges of files: from arguments to the library's options, and from its report
//! to a dictionary.
//!
//! The work runs on a thread of its own. The calling thread, which handles signals, waits for the work,
//! reports its progress, and cancels it at Ctrl-C.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use gpusort::files::{Cancel, Check, Input, Key, Kind, Options, Phase, Progress, Report, Sort};
use gpusort::{ElementType, Error, Format, Method, Sorter};
use gpusort_base::human::size;
use gpusort_base::memory;
use gpusort_base::parallel::lock;
use gpusort_files::{ChooseSorter, Chosen, To};
use gpusort_order::{Invalid, Nulls, Shape};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::caller::{self, Threads};
use crate::device::{Device, chosen};
use crate::errors::exception;

/// The arguments that all calls on files share. The Python package always passes all of them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Arguments {
    /// The keys: a column name with true for descending, or with `None` a key to parse, as in `price:r`.
    keys: Vec<(String, Option<bool>)>,
    r#type: Option<String>,
    from_: Option<String>,
    header: Option<usize>,
    comments: bool,
    delimiter: Option<String>,
    zero_terminated: bool,
    leading: bool,
    na: Vec<String>,
    decimal: Option<char>,
    thousands: Option<char>,
    time_format: Option<String>,
    reverse: bool,
    unique: bool,
    nan: String,
    empty: Option<String>,
    invalid: Option<String>,
    numeric_sort: bool,
    ignore_case: bool,
    memory: Option<String>,
}

/// The further arguments of a sort, a merge of sorted inputs, or a count of keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Output {
    /// `sort`, `merge` or `count`.
    work: String,
    to: Option<String>,
    top: Option<u64>,
    per: Option<String>,
    argsort: bool,
    count: bool,
    keep_order: bool,
    /// The seed of a random order.
    seed: Option<u64>,
    bgzf: bool,
    parquet_compression: Option<String>,
    row_group_rows: Option<u64>,
    row_group_size: Option<String>,
    split_size: Option<String>,
    algo: Option<String>,
    variant: Option<String>,
    temp_dir: Vec<PathBuf>,
}

/// Sets an option.
type Set = fn(Options) -> Options;

/// Finds the value with this name.
fn named<T: Copy>(what: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("{what} is {}; not {name:?}", names.join(", ")))
    })
}

/// Finds the format with this name.
pub(crate) fn format(what: &str, name: &str) -> PyResult<Format> {
    named(what, name, &Format::ALL.map(|format| (format.name(), format)))
}

/// Parses a name by the library's own parser.
fn parsed<T: std::str::FromStr<Err: ToString>>(what: &str, name: &str) -> PyResult<T> {
    name.parse().map_err(|error: T::Err| PyValueError::new_err(format!("{what}: {}", error.to_string())))
}

impl Arguments {
    pub(crate) fn options(self, inputs: Vec<Input>, cancel: &Cancel) -> PyResult<Options> {
        let mut options = Options::new().nan(named("nan", &self.nan, &Nulls::ALL)?).cancel(cancel);
        options = inputs.into_iter().fold(options, Options::input);
        for (name, direction) in self.keys {
            options = options.key(match direction {
                None => Key::parse(&name),
                Some(true) => Key::column(name).descending(),
                Some(false) => Key::column(name).ascending(),
            });
        }
        if let Some(name) = self.r#type.filter(|name| name != "auto") {
            options = match Kind::ALL.into_iter().find(|(known, _)| *known == name) {
                Some((_, kind)) => options.kind(kind),
                None => options.element(named("type", &name, &ElementType::ALL.map(|it| (it.name(), it)))?),
            };
        }
        if let Some(name) = self.from_.filter(|name| name != "auto") {
            options = options.format(format("from_", &name)?);
        }
        if let Some(text) = &self.delimiter {
            options = options.delimiter(match text.as_bytes() {
                b"tab" => b'\t',
                &[byte] if byte.is_ascii() && byte != b'\n' => byte,
                _ => return Err(PyValueError::new_err("delimiter is one ASCII character, or \"tab\"")),
            });
        }
        if let Some(name) = &self.empty {
            options = options.empty(named("empty", name, &Nulls::ALL)?);
        }
        if let Some(name) = &self.invalid {
            options = options.invalid(named("invalid", name, &Invalid::ALL)?);
        }
        if let Some(text) = &self.memory {
            let bytes =
                memory::parse(text).map_err(|error| PyValueError::new_err(format!("memory: {error}")))?;
            options = options.memory(bytes);
        }
        options = self.header.into_iter().fold(options, Options::header_rows);
        options = self.na.into_iter().fold(options, Options::na);
        options = self.decimal.into_iter().fold(options, Options::decimal);
        options = self.thousands.into_iter().fold(options, Options::thousands);
        options = self.time_format.into_iter().fold(options, Options::time_format);
        let flags: [(bool, Set); 7] = [
            (self.comments, Options::comments),
            (self.zero_terminated, Options::zero_terminated),
            (self.leading, Options::leading),
            (self.reverse, Options::descending),
            (self.unique, Options::unique),
            (self.numeric_sort, Options::numeric),
            (self.ignore_case, Options::ignore_case),
        ];
        Ok(flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |options, (_, set)| set(options)))
    }
}

/// A file object of Python.
struct File(Py<PyAny>);

impl Read for File {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.bind(py).call_method1("read", (room.len(),)).map_err(io::Error::other)?;
            let bytes = read.cast::<PyBytes>().map_err(|_| {
                io::Error::other(PyTypeError::new_err(
                    "a file to be read gives bytes; open it with mode \"rb\"",
                ))
            })?;
            let bytes = bytes.as_bytes();
            let room =
                room.get_mut(..bytes.len()).ok_or_else(|| io::Error::other("more than was asked for"))?;
            room.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let bytes = PyBytes::new(py, bytes);
            let written = self.0.bind(py).call_method1("write", (&bytes,)).map_err(io::Error::other)?;
            let all = bytes.as_bytes().len();
            // A raw file may write less; a file that returns None wrote everything.
            let count = if written.is_none() { all } else { written.extract().map_err(io::Error::other)? };
            if count <= all { Ok(count) } else { Err(io::Error::other("more was written than was given")) }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A path, or a file object.
enum Place {
    Path(PathBuf),
    File(File),
}

impl Place {
    /// Converts the argument for an input or an output, as `what` calls it. A file object has this method.
    fn of(object: &Bound<PyAny>, what: &str, method: &str) -> PyResult<Self> {
        if let Ok(path) = object.extract::<PathBuf>() {
            return Ok(Self::Path(path));
        }
        if !object.hasattr(method)? {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("an {what} is a path or a file object, not {kind}")));
        }
        Ok(Self::File(File(object.clone().unbind())))
    }

    fn path(&self) -> Option<&Path> {
        if let Self::Path(path) = self { Some(path) } else { None }
    }
}

fn inputs(objects: &[Bound<PyAny>]) -> PyResult<Vec<Input>> {
    let input = |object: &Bound<PyAny>| {
        Ok(match Place::of(object, "input", "read")? {
            Place::Path(path) => Input::File(path),
            Place::File(file) => {
                let name = object.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
                Input::reader(name.unwrap_or_else(|| "input".to_owned()), file)
            }
        })
    };
    objects.iter().map(input).collect()
}

/// Chooses the named device, or without a name the device expected to finish each sort first.
struct Choice<'a>(Option<&'a Sorter>);

impl ChooseSorter for Choice<'_> {
    fn choose(&mut self, n: u64, shape: Shape, _: u64) -> Result<Chosen<'_>, Error> {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let (sorter, why) = match self.0 {
            Some(sorter) => (sorter, "chosen by device"),
            None => (chosen(n, shape), "expected to finish first"),
        };
        Ok(Chosen { sorter, started: Duration::ZERO, why: why.to_owned() })
    }
}

/// The latest progress of work, until the waiting thread takes it.
pub(crate) type Told = Mutex<Option<Progress>>;

/// Runs `work` as [`caller::waited`] does, and passes its progress on.
pub(crate) fn waited<T: Send>(
    py: Python,
    threads: Threads,
    progress: Option<&Bound<PyAny>>,
    cancel: &Cancel,
    told: &Told,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    let tell = |progress: Progress, to: &Bound<PyAny>| {
        let phase = match progress.phase {
            Phase::Read => "read",
            Phase::Parse => "parse",
            Phase::Order => "sort",
            Phase::Write => "write",
            _ => "merge",
        };
        to.call1((phase, progress.done, progress.total)).map(drop)
    };
    let mut tick = |py: Python| {
        // Without the lock: the callback may wait for the work.
        let latest = lock(told).take();
        progress.zip(latest).map_or(Ok(()), |(to, progress)| tell(progress, to))?;
        py.check_signals()
    };
    caller::waited(py, threads, cancel, &mut tick, work).flatten()
}

pub(crate) fn report_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let devices: Vec<String> = report.devices.iter().map(|info| info.name.clone()).collect();
    dict.set_item("records", report.records)?;
    dict.set_item("repeated", report.repeated)?;
    dict.set_item("cut", report.cut)?;
    dict.set_item("nan", report.counts.nan)?;
    dict.set_item("empty", report.counts.empty)?;
    dict.set_item("invalid", report.counts.invalid)?;
    dict.set_item("skipped", report.counts.skipped)?;
    dict.set_item("bytes", report.bytes)?;
    dict.set_item("types", report.types.split(',').filter(|name| !name.is_empty()).collect::<Vec<_>>())?;
    dict.set_item("format", report.format.name())?;
    dict.set_item("runs", report.runs)?;
    dict.set_item("spilled_bytes", report.spilled_bytes)?;
    dict.set_item("device", if devices.is_empty() { "CPU".to_owned() } else { devices.join(", ") })?;
    dict.set_item("algorithm", report.sort.ran.algorithm())?;
    dict.set_item("variant", report.sort.ran.variant())?;
    dict.set_item("why", &report.why)?;
    let seconds = PyDict::new(py);
    let phases = &report.phases;
    for (name, time) in [
        ("read", phases.read),
        ("parse", phases.parse),
        ("device", phases.device),
        ("upload", report.sort.upload),
        ("sort", report.sort.sort.time),
        ("download", report.sort.download),
        ("merge", phases.merge.max(report.sort.merge)),
        ("write", phases.write),
        ("total", phases.total),
    ] {
        seconds.set_item(name, time.as_secs_f64())?;
    }
    dict.set_item("seconds", seconds)?;
    Ok(dict)
}

/// Sorts, merges or counts inputs into an output.
#[pyfunction]
pub(crate) fn sort_file<'py>(
    py: Python<'py>,
    from_: Vec<Bound<'py, PyAny>>,
    to: &Bound<'py, PyAny>,
    arguments: Arguments,
    output: Output,
    device: Option<&Bound<'py, Device>>,
    threads: Threads,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let sorter = device.map(|device| device.get().sorter()).transpose()?;
    let (cancel, told) = (Cancel::new(), Told::default());
    let options = arguments.options(inputs(&from_)?, &cancel)?;
    let algorithm = output.algo.as_deref().filter(|name| *name != "auto");
    let method = Method {
        algorithm: algorithm.map(|name| parsed("algo", name)).transpose()?,
        variant: output.variant.as_deref().map(|name| parsed("variant", name)).transpose()?,
    };
    let mut sort =
        Sort::new().options(options).method(method).progress(|progress| *lock(&told) = Some(progress));
    if let Some(name) = &output.to {
        sort = sort.to(format("to", name)?);
    }
    sort = output.top.into_iter().fold(sort, Sort::top);
    sort = output.per.iter().fold(sort, |sort, column| sort.per(Key::parse(column)));
    sort = output.seed.into_iter().fold(sort, Sort::shuffle);
    for (is_set, set) in [
        (output.argsort, Sort::positions as fn(_) -> _),
        (output.count, Sort::counts),
        (output.keep_order, Sort::keep_order),
        (output.bgzf, Sort::bgzf),
        (output.work == "count", Sort::counts_of_keys),
    ] {
        sort = if is_set { set(sort) } else { sort };
    }
    sort = output.parquet_compression.into_iter().fold(sort, Sort::parquet_compression);
    sort = output.row_group_rows.into_iter().fold(sort, Sort::row_group_rows);
    let size = |name, text: Option<String>| {
        let parse = |text: String| size::parse(&text);
        text.map(parse).transpose().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
    };
    sort = size("row_group_size", output.row_group_size)?.into_iter().fold(sort, Sort::row_group_size);
    sort = size("split_size", output.split_size)?.into_iter().fold(sort, Sort::split_size);
    // The library reads no environment variables.
    let folders = std::env::var_os("TMPDIR").filter(|name| !name.is_empty()).map(PathBuf::from);
    let folders = if output.temp_dir.is_empty() { folders.into_iter().collect() } else { output.temp_dir };
    sort = folders.into_iter().fold(sort, Sort::temp_dir);
    let mut target = Place::of(to, "output", "write")?;
    let report = waited(py, threads, progress, &cancel, &told, || {
        let job = sort.resolve(target.path()).map_err(exception)?;
        let to = match &mut target {
            Place::Path(path) => To::File(path),
            Place::File(file) => To::Writer(file),
        };
        let done = if output.work == "merge" { job.merge(to) } else { job.run(&mut Choice(sorter), to) };
        done.map_err(exception)
    })?;
    report_dict(py, &report)
}

/// Returns the xxh3 of the bytes of a whole file.
#[pyfunction]
pub(crate) fn checksum(py: Python, path: PathBuf) -> PyResult<u64> {
    Ok(py.detach(|| gpusort_files::checksum(&path))?)
}

/// Finds the first record out of order. Returns its place, its key, and the key of the record before; None
/// if the records are in order.
#[pyfunction]
pub(crate) fn check_file(
    py: Python,
    from_: Vec<Bound<PyAny>>,
    arguments: Arguments,
    threads: Threads,
    progress: Option<&Bound<PyAny>>,
) -> PyResult<Option<(String, String, String)>> {
    let (cancel, told) = (Cancel::new(), Told::default());
    let options = arguments.options(inputs(&from_)?, &cancel)?;
    let check = Check::new().options(options).progress(|progress| *lock(&told) = Some(progress));
    let found = waited(py, threads, progress, &cancel, &told, || check.run().map_err(exception))?;
    Ok(found.disorder().map(|it| (it.place.clone(), it.value.clone(), it.before.clone())))
}
