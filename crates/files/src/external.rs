//! Sorting what a program has: records, or batches of Arrow.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::PathBuf;

#[cfg(feature = "arrow")]
use arrow_array::RecordBatchReader;
#[cfg(feature = "arrow")]
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::options::{Options, has_options};
use super::sort::Sort;
use gpusort_base::error::Error;
use gpusort_engine::sorter::Sorter;
use gpusort_external::Folders;
#[cfg(feature = "arrow")]
use gpusort_formats::arrow::failed;
use gpusort_formats::text::MARK;
use gpusort_formats::{Input, compression};

/// The bytes of lines made at once.
const SOME: usize = 1 << 16;

/// A sort of records or batches that a program has, in temporary files where they exceed the
/// [`memory`](Self::memory). That budget bounds what is sorted at once, and the process needs some 30 MB
/// beside it: with 16 MiB, one took 48 MB.
///
/// ```
/// use gpusort::files::{External, Key};
///
/// let lines = ["pear 3", "fig 12", "apple 7"];
/// let sorted = External::new().key(Key::number(2)).memory(64 << 20).records(lines)?;
/// let sorted: Vec<Vec<u8>> = sorted.collect::<Result<_, _>>()?;
/// assert_eq!(sorted, [&b"pear 3"[..], b"apple 7", b"fig 12"]);
///
/// // Rows of a table, below their header, by the column of this name.
/// let rows = vec!["item,price".to_owned(), "pen,1.20".to_owned(), "desk,249".to_owned()];
/// let mut sorted = External::new().format(gpusort::Format::Csv).key("price:r").records(rows)?.skip(1);
/// assert_eq!(sorted.next().unwrap()?, b"desk,249");
/// # Ok::<(), gpusort::Error>(())
/// ```
///
/// [`Error::advice`] names the call that helps with an error, for example `key("price")`.
#[derive(Default)]
#[must_use]
pub struct External<'a>(Sort<'a>);

has_options!(External<'_>, self => self.0.options);

impl<'a> External<'a> {
    /// Returns only the first `first` records or rows.
    pub fn top(self, first: u64) -> Self {
        Self(self.0.top(first))
    }

    /// Sorts with this sorter; the default sorts on the CPU.
    pub fn sorter(self, sorter: &'a Sorter) -> Self {
        Self(self.0.sorter(sorter))
    }

    /// Adds a folder for temporary files. The default is /var/tmp or the system's folder.
    pub fn temp_dir(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.temp_dir(folder))
    }

    /// Sorts records: lines, rows of CSV or TSV, or objects of JSON, each without its line end. The first row of
    /// a table is its header. Reads all records before it returns. The iterator owns its data (`'static`), as
    /// that of a `Vec` does.
    ///
    /// # Errors
    ///
    /// Another format; a record that contains a line end; see [`Sort::output`].
    pub fn records<R: AsRef<[u8]>>(
        self,
        records: impl IntoIterator<Item = R, IntoIter: Send + 'static>,
    ) -> Result<Records, Error> {
        let options = &self.0.options;
        if options.format.is_some_and(|format| !format.is_table()) {
            return Err(Error::options("records are lines, rows of CSV or TSV, or objects of JSON"));
        }
        let end = if options.zero_terminated { 0 } else { b'\n' };
        let mut records = (1_u64..).zip(records);
        let fill = move |bytes: &mut VecDeque<u8>| {
            while bytes.len() < SOME
                && let Some((number, record)) = records.next()
            {
                let record = record.as_ref();
                if let Some(problem) = problem_of(record, number, end) {
                    return Err(io::Error::other(Error::input(format!("record {number}"), problem)));
                }
                bytes.extend(record);
                bytes.push_back(end);
            }
            Ok(())
        };
        let sorted = self.sorted(Input::reader("records", Filled { fill, bytes: VecDeque::new() }))?;
        Ok(Records { sorted: BufReader::new(sorted).split(end) })
    }

    /// Sorts the rows of batches. Reads all batches before it returns. The reader owns its data (`'static`).
    ///
    /// # Errors
    ///
    /// See [`Sort::output`].
    #[cfg(feature = "arrow")]
    pub fn batches(
        self,
        mut batches: impl RecordBatchReader + Send + 'static,
    ) -> Result<impl RecordBatchReader + Send, Error> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batches.schema()).map_err(failed)?;
        let mut is_over = false;
        let fill = move |bytes: &mut VecDeque<u8>| {
            // The writer has the schema before the first batch.
            if writer.get_ref().is_empty() && !is_over {
                let batch = batches.next();
                is_over = batch.is_none();
                let written = match batch {
                    Some(batch) => batch.and_then(|batch| writer.write(&batch)),
                    None => writer.finish(),
                };
                written.map_err(io::Error::other)?;
            }
            // The next batch takes the room of the bytes read.
            let room = Vec::from(std::mem::take(bytes));
            *bytes = std::mem::replace(writer.get_mut(), room).into();
            Ok(())
        };
        let input = Input::reader("batches", Filled { fill, bytes: VecDeque::new() });
        let sorted = self.format(gpusort_base::format::Format::Arrow).sorted(input)?;
        StreamReader::try_new(BufReader::new(sorted), None).map_err(failed)
    }

    /// Sorts an input into a temporary file, if memory does not hold it.
    fn sorted(self, input: Input) -> Result<SpooledTempFile, Error> {
        const FEW: usize = 1 << 20;
        let mut sorted = spooled_tempfile_in(FEW, Folders::new(self.0.folders.clone()).first());
        self.0.input(input).write_to(&mut sorted)?;
        sorted.rewind().map_err(|error| Error::io("a temporary file", "read", error))?;
        Ok(sorted)
    }
}

/// Sorted records without their line ends.
#[derive(Debug)]
pub struct Records {
    sorted: io::Split<BufReader<SpooledTempFile>>,
}

impl Iterator for Records {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.sorted.next()?;
        Some(record.map_err(|error| Error::io("a temporary file", "read", error)))
    }
}

/// Bytes that `fill` provides piece by piece, until it adds none.
struct Filled<F> {
    fill: F,
    bytes: VecDeque<u8>,
}

impl<F: FnMut(&mut VecDeque<u8>) -> io::Result<()>> Read for Filled<F> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() {
            (self.fill)(&mut self.bytes)?;
        }
        self.bytes.read(room)
    }
}

/// Returns the problem of record number `number`, from 1, as a line that ends in this byte.
fn problem_of(record: &[u8], number: u64, end: u8) -> Option<&'static str> {
    if record.contains(&end) {
        return Some("contains a line end, which would divide it; pass each line as a record");
    }
    // The sort would decompress the records, or keep the mark in front of all of them.
    let is_no_text = || record.starts_with(MARK) || !matches!(compression::of_beginning(record), Ok(None));
    (number == 1 && is_no_text())
        .then_some("begins like compressed data or with a byte order mark; pass plain text without a mark")
}
