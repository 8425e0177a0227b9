//! Sorting what a program has: records, or batches of Arrow.

use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::PathBuf;

#[cfg(feature = "arrow")]
use arrow_array::RecordBatchReader;
#[cfg(feature = "arrow")]
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::options::{Options, has_options};
use super::sort::Sort;
use crate::error::Error;
use crate::external::Folders;
#[cfg(feature = "arrow")]
use crate::io::arrow::failed;
use crate::io::{Input, compression};
use crate::sorter::Sorter;

/// A sort of records or batches that a program has, in temporary files where they exceed the
/// [`memory`](Self::memory).
///
/// ```
/// use gpusort::files::{External, Key};
///
/// let lines = ["pear 3", "fig 12", "apple 7"];
/// let sorted = External::new().key(Key::number(2)).memory(64 << 20).records(lines)?;
/// let sorted: Vec<Vec<u8>> = sorted.collect::<Result<_, _>>()?;
/// assert_eq!(sorted, [&b"pear 3"[..], b"apple 7", b"fig 12"]);
/// # Ok::<(), gpusort::Error>(())
/// ```
#[derive(Default)]
pub struct External<'a>(Sort<'a>);

has_options!(External<'_>, self => self.0.options);

impl<'a> External<'a> {
    /// Returns only the first `first` records or rows.
    #[must_use]
    pub fn top(self, first: u64) -> Self {
        Self(self.0.top(first))
    }

    /// Sorts with this sorter; the default sorts on the CPU.
    #[must_use]
    pub fn sorter(self, sorter: &'a Sorter) -> Self {
        Self(self.0.sorter(sorter))
    }

    /// Adds a folder for temporary files. The default is /var/tmp or the system's folder.
    #[must_use]
    pub fn temp_dir(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.temp_dir(folder))
    }

    /// Sorts records: lines, rows of CSV or TSV, or objects of JSON, each without its line end. A row of a table
    /// comes first if it is a header. Reads all records before it returns.
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
        let lines = Lines { records: records.into_iter(), end, line: io::Cursor::default(), count: 0 };
        let sorted = self.sorted(Input::reader("records", lines))?;
        Ok(Records { sorted: BufReader::new(sorted), end })
    }

    /// Sorts the rows of batches. Reads all batches before it returns.
    ///
    /// # Errors
    ///
    /// See [`Sort::output`].
    #[cfg(feature = "arrow")]
    pub fn batches(
        self,
        batches: impl RecordBatchReader + Send + 'static,
    ) -> Result<impl RecordBatchReader + Send, Error> {
        let writer = StreamWriter::try_new(Vec::new(), &batches.schema()).map_err(failed)?;
        let input = Input::reader("batches", Stream { batches, writer, at: 0 });
        let sorted = self.format(crate::format::Format::Arrow).sorted(input)?;
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
    sorted: BufReader<SpooledTempFile>,
    end: u8,
}

impl Iterator for Records {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Vec::new();
        match self.sorted.read_until(self.end, &mut record) {
            Ok(0) => None,
            Ok(_) => {
                record.pop();
                Some(Ok(record))
            }
            Err(error) => Some(Err(Error::io("a temporary file", "read", error))),
        }
    }
}

/// Records as lines.
struct Lines<I> {
    records: I,
    end: u8,
    line: io::Cursor<Vec<u8>>,
    /// The number of records read.
    count: u64,
}

impl<I: Iterator<Item: AsRef<[u8]>>> Read for Lines<I> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < room.len() {
            let count = self.line.read(&mut room[filled..])?;
            filled += count;
            if count == 0 {
                let Some(record) = self.records.next() else { break };
                self.line = io::Cursor::new(self.line_of(record.as_ref())?);
            }
        }
        Ok(filled)
    }
}

impl<I> Lines<I> {
    fn line_of(&mut self, record: &[u8]) -> io::Result<Vec<u8>> {
        let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        self.count += 1;
        if record.contains(&self.end) {
            return Err(wrong(format!("record {} contains a line end", self.count)));
        }
        // The sort would decompress the records, or keep the mark in front of all of them.
        let is_no_text =
            record.starts_with(b"\xEF\xBB\xBF") || !matches!(compression::of_beginning(record), Ok(None));
        if self.count == 1 && is_no_text {
            return Err(wrong(
                "the first record begins like compressed data or with a byte order mark".to_owned(),
            ));
        }
        Ok([record, &[self.end]].concat())
    }
}

/// Batches as a stream of Arrow IPC.
#[cfg(feature = "arrow")]
struct Stream<B> {
    batches: B,
    writer: StreamWriter<Vec<u8>>,
    /// The number of bytes of the writer that were read.
    at: usize,
}

#[cfg(feature = "arrow")]
impl<B: RecordBatchReader> Read for Stream<B> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.at == self.writer.get_ref().len() {
            self.writer.get_mut().clear();
            self.at = 0;
            match self.batches.next() {
                Some(batch) => batch.and_then(|batch| self.writer.write(&batch)).map_err(io::Error::other)?,
                // The stream ends with its last batch.
                None => return Ok(0),
            }
        }
        let count = (&self.writer.get_ref()[self.at..]).read(room)?;
        self.at += count;
        Ok(count)
    }
}
