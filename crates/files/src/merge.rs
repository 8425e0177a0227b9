//! Merges sorted inputs.

use std::io::Write;
use std::path::Path;

use super::job::{Job, To};
use super::options::{Options, has_options};
use super::progress::{Phase, Progress};
use super::report::Report;
use super::sort::Sort;
use gpusort_base::clock::Instant;
use gpusort_base::error::{Error, Hint};
use gpusort_base::format::Format;
use gpusort_engine::report::{self, Form};
use gpusort_external::Merged;
use gpusort_formats::binary::BinaryInput;
use gpusort_formats::{Input, Output, Print};

/// A merge of sorted files, readers or bytes, in little memory.
///
/// ```no_run
/// gpusort::files::Merge::new().input("a.txt").input("b.txt").output("c.txt")?;
/// # Ok::<(), gpusort::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct Merge<'a>(Sort<'a>);

has_options!(Merge<'_>, self => self.0.options);

impl<'a> Merge<'a> {
    /// Sets the format of the output. The default follows from the output's name, then from the inputs.
    pub fn to(self, format: Format) -> Self {
        Self(self.0.to(format))
    }

    /// Writes only the first `first` records of the result.
    pub fn top(self, first: u64) -> Self {
        Self(self.0.top(first))
    }

    /// Compresses the output to a writer with gzip, in blocks like `bgzip`. Files whose names end in
    /// `.gz` or `.bgz` are written so in any case; other names are refused.
    pub fn bgzf(self) -> Self {
        Self(self.0.bgzf())
    }

    /// Sets the compression of Parquet: see [`Sort::parquet_compression`].
    pub fn parquet_compression(self, name: impl Into<String>) -> Self {
        Self(self.0.parquet_compression(name))
    }

    /// Sets the maximum number of rows of a row group of Parquet: see [`Sort::row_group_rows`]. Only row
    /// groups of `rows / 2` to `rows` rows are copied.
    pub fn row_group_rows(self, rows: u64) -> Self {
        Self(self.0.row_group_rows(rows))
    }

    /// Sets the approximate size of a row group of Parquet: see [`Sort::row_group_size`]. Only row groups of
    /// half to twice this size are copied.
    pub fn row_group_size(self, bytes: u64) -> Self {
        Self(self.0.row_group_size(bytes))
    }

    /// Writes files of Parquet into a folder: see [`Sort::split_size`].
    pub fn split_size(self, bytes: u64) -> Self {
        Self(self.0.split_size(bytes))
    }

    /// Calls `tell` as the work progresses.
    pub fn progress(self, tell: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        Self(self.0.progress(tell))
    }

    /// Merges into this file. The file is replaced once the result is complete, so it may be an input.
    ///
    /// # Errors
    ///
    /// An unsorted input; an invalid option; errors of an input or the output.
    pub fn output(self, path: impl AsRef<Path>) -> Result<Report, Error> {
        let path = path.as_ref();
        self.0.resolve(Some(path))?.merge(To::File(path))
    }

    /// Merges into this writer. After an error, the writer may hold a part of the result.
    ///
    /// # Errors
    ///
    /// See [`Merge::output`].
    pub fn write_to(self, writer: &mut (impl Write + Send)) -> Result<Report, Error> {
        self.0.resolve(None)?.merge(To::Writer(writer))
    }
}

impl Job<'_> {
    /// Merges the inputs instead of sorting them.
    ///
    /// # Errors
    ///
    /// See [`Merge::output`].
    pub fn merge(&self, to: To) -> Result<Report, Error> {
        // The output may replace an input.
        let (begin, bytes, from) = (Instant::now(), self.known_size(), self.decisions.format);
        if from != self.ask.format && !from.is_bits() && !from.has_columns() {
            let problem = format!("cannot convert {0} to another format; sort instead", from.name());
            return Err(Error::option("merge", problem));
        }
        let report = match from.has_columns() {
            #[cfg(feature = "arrow")]
            true => self.merge_tables(begin, to)?,
            _ => self.write_text(to, |output| self.merge_text(begin, output))?,
        };
        Ok(Report { bytes, ..report }.since(begin))
    }

    /// Merges text or binary.
    fn merge_text(&self, begin: Instant, mut output: Output) -> Result<Report, Error> {
        let (how, ask, inputs) = (&self.decisions.how, self.ask, &self.inputs);
        if let Some(input) = inputs.iter().find(|input| output.feeds(input)) {
            let problem = "is both input and output, so the merge would never end";
            return Err(Error::input(input.name(), problem).hinting(Hint::Replace));
        }
        let element = how.element();
        if let Some(sources) = how.bits() {
            self.check_promise(element, &output)?;
            if ask.format == Format::Npy {
                let size: Option<u64> = sources.iter().map(BinaryInput::size).sum();
                let size = size.filter(|_| !ask.selection.unique).ok_or_else(|| {
                    let problem =
                        "the header of a .npy file needs the number of elements, which is known only at the end";
                    Error::options(problem).hinting(Hint::ToBinary)
                })?;
                let n = size / sources[0].element.bytes() as u64;
                let n = n.min(ask.selection.first.map_or(u64::MAX, |top| top as u64));
                output.write_header(sources[0].element, n)?;
            }
        }
        if let Some(bytes) = inputs.iter().map(Input::size).sum() {
            let n = element.map_or(bytes, |element| bytes / element.bytes() as u64);
            output.expect(self.bytes_of(n, bytes, element), false);
        }
        self.watch.phase(Phase::Merge, None);
        let print = (ask.format == Format::Text).then_some(Print::Shortest);
        let progress = |read| self.watch.set(read);
        let merged = gpusort_external::merge(inputs, how, ask.selection, print, &mut output, progress)?;
        output.finish_as(self.is_last)?;
        Ok(self.merge_report(begin, how.kinds(), merged))
    }

    /// Returns the report of a merge that began at this time.
    pub(super) fn merge_report(&self, begin: Instant, types: String, merged: Merged) -> Report {
        let Merged { read, repeated, counts, .. } = merged;
        let sort = report::Report::on_cpu(Form::Merge, begin.elapsed());
        let (why, report) = ("a merge runs on the CPU".to_owned(), Report::new(self.ask.format));
        Report { records: read, repeated, counts, types, sort, why, ..report }
    }
}
