//! The report of a sort or a merge.

use std::time::Duration;

use super::decide::Decisions;
use gpusort_base::clock::Instant;
use gpusort_base::device::AdapterInfo;
use gpusort_base::format::Format;
use gpusort_engine::report::{self, Form};
use gpusort_formats::Counts;
use gpusort_formats::fields::{Axis, ResolvedKey};
use gpusort_order::{ElementType, KeyOrder, Reading};

/// The result of a sort or a merge, apart from the output.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Records read, except rows left out because of an invalid field. A merge of only the first records
    /// counts the records up to its end.
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
    /// The format of the output.
    pub format: Format,
    /// The number of sorted runs in temporary files that were merged; 0 for a sort in memory.
    pub runs: usize,
    /// The bytes of these runs.
    pub spilled_bytes: u64,
    /// Row groups of Parquet that a merge copied as they are.
    pub copied_groups: u64,
    /// The rows of these row groups.
    pub copied_rows: u64,
    /// The time of each phase.
    pub phases: Phases,
    /// The GPUs that sorted; empty if the CPU sorted.
    pub devices: Vec<AdapterInfo>,
    /// The report of the sort itself, without reading and writing.
    pub sort: report::Report,
    /// The reason for the device and the method.
    pub why: String,
}

impl Report {
    /// Makes a report without records.
    pub(super) fn new(format: Format) -> Self {
        Self {
            records: 0,
            repeated: 0,
            cut: 0,
            counts: Counts::default(),
            bytes: 0,
            types: String::new(),
            format,
            runs: 0,
            spilled_bytes: 0,
            copied_groups: 0,
            copied_rows: 0,
            phases: Phases::default(),
            devices: Vec::new(),
            sort: report::Report::on_cpu(Form::InOrder, Duration::ZERO),
            why: String::new(),
        }
    }

    /// Sets what a sort reports, after which `written` records were written.
    pub(super) fn with_sort(self, sort: report::Report, repeated: usize, written: usize) -> Self {
        let (repeated, written) = (repeated as u64, written as u64);
        Self { sort, repeated, cut: self.records - repeated - written, ..self }
    }

    /// Sets the total time of work that began at this time.
    pub(super) fn since(mut self, begin: Instant) -> Self {
        self.phases.total = begin.elapsed();
        self
    }

    /// Adds the report on a further part of the input.
    pub(super) fn add(&mut self, part: Self) {
        self.counts.add_all(&part.counts);
        self.bytes += part.bytes;
        self.phases.read += part.phases.read;
        self.phases.parse += part.phases.parse;
        self.phases.write += part.phases.write;
        self.repeated += part.repeated;
        if part.records > 0 {
            self.records += part.records;
            self.sort = part.sort.after(&self.sort);
        }
    }
}

/// The time of each phase. A device starts while the input is read, so the phases may add up to more
/// than the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// Reading.
    pub read: Duration,
    /// Converting bytes to keys.
    pub parse: Duration,
    /// Starting a device.
    pub device: Duration,
    /// Formatting and writing; where there are runs, writing these.
    pub write: Duration,
    /// Merging runs, and writing the result.
    pub merge: Duration,
    /// From the beginning to the end.
    pub total: Duration,
}

/// The decisions about inputs before the sort.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The format.
    pub format: Format,
    /// The reason for the format: `named`, `default`, or a description of the evidence.
    pub why: &'static str,
    /// The number of rows that stay on top.
    pub header: usize,
    /// The keys, most significant first.
    pub keys: Vec<ExplainedKey>,
}

/// The decisions about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedKey {
    /// The column: its name or number, `0` for the whole record.
    pub column: String,
    /// The kind: `number`, `time`, `size`, `duration`, `version`, `hex`, `month`, `list`, `hilbert` or `text`; for
    /// binary inputs and columns with types an element type, `decimal` or `bool`.
    pub kind: String,
    /// True if the largest value comes first.
    pub descending: bool,
    /// True if the kind was found in the fields; false for a given kind, and for the type of a column.
    pub is_found: bool,
    /// True for the whole record of lines without a key, which decides only between equal keys.
    pub is_last_resort: bool,
}

impl ExplainedKey {
    pub(super) fn of(column: &str, kind: &str, order: KeyOrder, is_found: bool) -> Self {
        let KeyOrder { descending, is_last_resort, .. } = order;
        Self { column: column.to_owned(), kind: kind.to_owned(), descending, is_found, is_last_resort }
    }
}

impl Explained {
    pub(super) fn of(Decisions { format, how, why, .. }: &Decisions) -> Self {
        let key = |key: &ResolvedKey| ExplainedKey::of(key.label(), key.kind_name(), key.order, key.is_found);
        let keys = how.keys.iter().filter(|key| key.axis != Some(Axis::Second));
        let mut keys: Vec<ExplainedKey> = keys.map(key).collect();
        if keys.is_empty() {
            let kind = how.by.element.map_or("number", ElementType::name);
            let is_found = how.by.order.reading == Reading::Any;
            keys.push(ExplainedKey::of("element", kind, how.by.order, is_found));
        }
        Self { format: *format, why, header: how.kind.dialect().header, keys }
    }
}
