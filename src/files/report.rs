//! The report of a sort or a merge.

use std::time::Duration;

use crate::device::AdapterInfo;
use crate::format::Format;
use crate::io::{Counts, Doubt};
use crate::report;

/// What came of a sort or a merge.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Records read, without rows that were left out because of an invalid field. Of a merge that
    /// wants only the first few, those that were needed.
    pub records: u64,
    /// Records left out because their keys were repeated.
    pub repeated: u64,
    /// Records left out after the first ones.
    pub cut: u64,
    /// Nulls, and other records and lines that were left out.
    pub counts: Counts,
    /// Bytes of input.
    pub bytes: u64,
    /// The names of the types of the keys, separated by commas.
    pub types: String,
    /// The format of what was written.
    pub format: Format,
    /// What is done and may not be meant.
    pub doubts: Vec<Doubt>,
    /// How many sorted runs in temporary files were merged; none where all was in memory.
    pub runs: usize,
    /// Their bytes.
    pub spilled_bytes: u64,
    /// The time of each phase.
    pub phases: Phases,
    /// The GPUs that sorted; none if it was the CPU.
    pub devices: Vec<AdapterInfo>,
    /// How the sort itself went.
    pub sort: report::Report,
    /// Why it was done so.
    pub why: String,
}

impl Report {
    /// Of nothing yet, that was done so and for this reason.
    pub(super) fn new(format: Format, sort: report::Report, why: String) -> Self {
        Self {
            records: 0,
            repeated: 0,
            cut: 0,
            counts: Counts::default(),
            bytes: 0,
            types: String::new(),
            format,
            doubts: Vec::new(),
            runs: 0,
            spilled_bytes: 0,
            phases: Phases::default(),
            devices: Vec::new(),
            sort,
            why,
        }
    }
}

/// The time of each phase. A device starts while the input is read, so that the phases may add up
/// to more than the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// Reading.
    pub read: Duration,
    /// Making keys of bytes.
    pub parse: Duration,
    /// Starting a device.
    pub device: Duration,
    /// Formatting and writing; where there are runs, writing these.
    pub write: Duration,
    /// Merging runs, and writing the result.
    pub merge: Duration,
    /// All of it.
    pub total: Duration,
}
