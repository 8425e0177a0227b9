//! How a sort went.

#[cfg(feature = "costs")]
pub mod timing;

use std::time::Duration;

use gpusort_order::{Algorithm, Variant};

use crate::clock::{Clock, Elapsed};

/// How a sort went.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What ran.
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
    /// The time from when all partitions are sorted until they are merged in memory. Where one GPU
    /// merges them, until it begins: its merges are part of the download.
    pub merge: Duration,
    /// In how many partitions the keys were sorted; 0 where the device took all at once.
    pub shares: usize,
    /// Why this algorithm ran, where it was chosen on a GPU.
    pub why: Option<String>,
}

/// What ran: an algorithm, and which form of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The network; `None` is what the CPU chose by itself.
    pub algorithm: Option<Algorithm>,
    /// Its form.
    pub form: Form,
}

/// The form in which a sort ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The keys were in order, and were left so.
    InOrder,
    /// The keys were in falling order, and were reversed.
    Reversed,
    /// Few keys, sorted by comparisons on one core.
    Comparison,
    /// Radix sort.
    Radix,
    /// Quicksort by vector instructions.
    Quicksort,
    /// Only the first of the result were searched for.
    Top,
    /// Sorted inputs were merged.
    Merge,
    /// A network on the CPU.
    Network,
    /// The kernels of a variant.
    Variant(Variant),
}

impl Ran {
    /// A form of the CPU's own choice.
    #[must_use]
    pub fn on_cpu(form: Form) -> Self {
        Self { algorithm: None, form }
    }

    /// The name of the algorithm in reports.
    #[must_use]
    pub fn algorithm(self) -> &'static str {
        self.algorithm.map_or("cpu", Algorithm::name)
    }

    /// The name of the form in reports.
    #[must_use]
    pub fn variant(self) -> &'static str {
        match self.form {
            Form::InOrder => "in-order",
            Form::Reversed => "reversed",
            Form::Comparison => "comparison",
            Form::Radix => "radix",
            Form::Quicksort => "quicksort",
            Form::Top => "top",
            Form::Merge => "merge",
            Form::Network => "network",
            Form::Variant(variant) => variant.name(),
        }
    }
}

impl Report {
    /// Of work on the CPU that has no passes.
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

    /// With the time of bringing the result back.
    pub(crate) fn with_download(self, download: Duration) -> Self {
        Self { download: self.download + download, ..self }
    }

    /// Of this sort and one before it, together.
    pub(crate) fn after(self, before: &Self) -> Self {
        Self {
            ran: self.ran,
            dispatches: before.dispatches + self.dispatches,
            bytes_moved: before.bytes_moved + self.bytes_moved,
            prepare: before.prepare + self.prepare,
            upload: before.upload + self.upload,
            sort: Elapsed { time: before.sort.time + self.sort.time, clock: self.sort.clock },
            download: before.download + self.download,
            merge: before.merge + self.merge,
            shares: before.shares + self.shares,
            why: self.why,
        }
    }
}
