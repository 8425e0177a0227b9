//! Counts how often each key occurs.

use std::io::{Seek, Write};
use std::path::Path;

use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_external::Folders;
use gpusort_formats::fields::{Fields, Key, Kind};
use gpusort_formats::{Input, Output};
use tempfile::spooled_tempfile_in;

use super::dataset::Answer;
use super::job::{ChooseSorter, Job, SortOfCounts, To};
use super::options::{Options, has_options};
use super::progress::Progress;
use super::report::Report;
use super::sort::Sort;

/// A count of the keys of files, readers or bytes: how often each occurs, the most frequent first, and equally
/// frequent ones in the order of the keys.
///
/// Without a key, whole lines are counted. A key is written as in its first record; of lines behind the count in
/// seven places and a blank, of tables and JSON in columns behind a column `count`.
///
/// ```
/// use gpusort::files::{Count, Input};
///
/// let mut counts = Vec::new();
/// let report = Count::new().input(Input::bytes("words", b"b\na\nb\n")).write_to(&mut counts)?;
/// assert_eq!(counts, b"      2 b\n      1 a\n");
/// assert_eq!((report.records, report.repeated), (3, 1));
/// # Ok::<(), gpusort::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct Count<'a>(Sort<'a>);

has_options!(Count<'_>, self => self.0.options);

impl<'a> Count<'a> {
    /// Sets the format of the output. The default follows from the output's name, then from the input.
    pub fn to(self, format: Format) -> Self {
        Self(self.0.to(format))
    }

    /// Writes only the `first` most frequent keys.
    pub fn top(self, first: u64) -> Self {
        Self(self.0.top(first))
    }

    /// Compresses what is written to a writer with gzip, in blocks like `bgzip`.
    pub fn bgzf(self) -> Self {
        Self(self.0.bgzf())
    }

    /// Adds a folder for temporary files. The default is /var/tmp or the system's folder.
    pub fn temp_dir(self, folder: impl Into<std::path::PathBuf>) -> Self {
        Self(self.0.temp_dir(folder))
    }

    /// Calls `tell`, from any thread, as the work progresses.
    pub fn progress(self, tell: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        Self(self.0.progress(tell))
    }

    /// Counts into this file, which is replaced once the result is complete. In the report, `repeated` is the number
    /// of records beside the first of each key.
    ///
    /// # Errors
    ///
    /// Input other than text; an invalid option; errors of an input or the output.
    pub fn output(self, path: impl AsRef<Path>) -> Result<Report, Error> {
        self.0.counts_of_keys().output(path)
    }

    /// Counts into this writer. After an error, the writer may hold a part of the result.
    ///
    /// # Errors
    ///
    /// See [`Count::output`].
    pub fn write_to(self, writer: &mut (impl Write + Send)) -> Result<Report, Error> {
        self.0.counts_of_keys().write_to(writer)
    }
}

impl Job<'_> {
    /// Counts the keys, in their order, and sorts the counts.
    pub(super) fn count(
        &self,
        then: &SortOfCounts,
        devices: &mut dyn ChooseSorter,
        to: To,
    ) -> Result<Report, Error> {
        let most = usize::try_from(self.budget.bytes() / 16).unwrap_or(usize::MAX);
        let mut counts = spooled_tempfile_in(most, Folders::new(self.folders.clone()).first());
        let name = "the counts".to_owned();
        let report = self.answer(Answer::CountsOfKeys, devices, Output::writer(&mut counts, name.clone()))?;
        counts.rewind().map_err(|error| Error::io(&name, "read", error))?;
        let dialect = self.decisions.how.kind.dialect();
        let key = if dialect.fields == Fields::Json { Key::column("count") } else { Key::number(1) };
        let format = if dialect.fields.are_tokens() { Format::Lines } else { self.decisions.format };
        let mut sort = Sort::new().input(Input::reader(name, counts)).format(format);
        sort = sort.key(key.kind(Kind::Number).descending()).cancel(&self.cancel);
        sort = match dialect.fields {
            Fields::Quoted(byte) => sort.delimiter(byte),
            Fields::Split(..) | Fields::Words(_) if dialect.fields.line_end().byte() == 0 => sort.zero_terminated(),
            _ => sort,
        };
        if dialect.fields != Fields::Json && !dialect.fields.are_tokens() {
            sort = sort.header(dialect.header > 0);
        }
        sort = self.converted.into_iter().fold(sort, Sort::to);
        sort = then.first.into_iter().fold(sort, Sort::top);
        sort = then.parquet.iter().fold(sort, Sort::parquet_compression);
        sort = then.memory.into_iter().fold(sort, Sort::memory);
        sort = self.folders.iter().fold(sort, Sort::temp_dir);
        sort = if then.bgzf { sort.bgzf() } else { sort };
        let path = if let To::File(path) = to { Some(path) } else { None };
        let mut job = sort.resolve(path)?;
        job.is_last = self.is_last;
        let done = job.run(devices, to)?;
        let mut report = Report { format: done.format, cut: done.cut, ..report };
        report.phases.write = done.phases.total;
        Ok(report)
    }
}
