//! Reports of sorts.

#[cfg(feature = "costs")]
pub mod timing;

use std::time::Duration;

pub use gpusort_base::report::{Form, Ran};

use gpusort_base::clock::{Clock, Elapsed};

/// The report of a sort.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The algorithm and its form.
    pub ran: Ran,
    /// Passes over the data.
    pub dispatches: u64,
    /// Bytes of memory that the passes read and wrote.
    pub bytes_moved: u64,
    /// The time of compiling the kernels, during the upload.
    pub prepare: Duration,
    /// The time of uploading the keys, with allocating their memory.
    pub upload: Duration,
    /// The time of the sort itself, and the clock that measured it.
    pub sort: Elapsed,
    /// The time of downloading the result.
    pub download: Duration,
    /// The time from the end of all sorts until the partitions are merged in memory. If one GPU merges them,
    /// the time until its merge begins: its merges are part of the download.
    pub merge: Duration,
    /// The number of partitions that the keys were sorted in; 0 if the device took all keys at once.
    pub shares: usize,
    /// The reason why this algorithm ran, if the sorter chose it for a GPU.
    pub why: Option<String>,
}

impl Report {
    /// Returns the report of work without passes on the CPU.
    #[must_use]
    pub fn on_cpu(form: Form, time: Duration) -> Self {
        Self {
            ran: Ran::on_cpu(form),
            dispatches: 0,
            bytes_moved: 0,
            prepare: Duration::ZERO,
            upload: Duration::ZERO,
            sort: Elapsed { time, clock: Clock::Host },
            download: Duration::ZERO,
            merge: Duration::ZERO,
            shares: 0,
            why: None,
        }
    }

    /// Adds the time of downloading the result.
    pub(crate) fn with_download(self, download: Duration) -> Self {
        Self { download: self.download + download, ..self }
    }

    /// Returns the report of this sort together with an earlier sort.
    #[doc(hidden)]
    #[must_use]
    pub fn after(self, before: &Self) -> Self {
        Self {
            dispatches: before.dispatches + self.dispatches,
            bytes_moved: before.bytes_moved + self.bytes_moved,
            prepare: before.prepare + self.prepare,
            upload: before.upload + self.upload,
            sort: Elapsed { time: before.sort.time + self.sort.time, clock: self.sort.clock },
            download: before.download + self.download,
            merge: before.merge + self.merge,
            shares: before.shares + self.shares,
            ..self
        }
    }
}
