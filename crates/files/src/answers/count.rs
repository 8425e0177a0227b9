//! Counts how often each key occurs.

use std::io::Write;
use std::path::Path;

use gpusort_base::error::Error;

use crate::options::{Options, has_options};
use crate::progress::Progress;
use crate::report::Report;
use crate::sort::Sort;

/// A count of the keys of files, readers or bytes: how often each occurs, the most frequent first, and equally
/// frequent ones in the order of the keys.
///
/// Without a key, whole lines are counted. A key is written as its first record spells it: for lines after the count,
/// padded to seven characters, and a blank; for tables and JSON after a field `count`.
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
    /// Writes only the `first` most frequent keys.
    pub fn top(self, first: u64) -> Self {
        Self(self.0.top(first))
    }

    /// Adds a folder for temporary files. The default is /var/tmp or the system's folder.
    pub fn temp_dir(self, folder: impl Into<std::path::PathBuf>) -> Self {
        Self(self.0.temp_dir(folder))
    }

    /// Calls `tell`, from any thread, as the work progresses.
    pub fn progress(self, tell: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        Self(self.0.progress(tell))
    }

    /// Counts into this file, which is replaced once the result is complete. In the report, `repeated` counts
    /// the records after the first one of each key.
    ///
    /// # Errors
    ///
    /// Binary input; an invalid option; errors of an input or the output.
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
