//! The timing of a sort: in brief, in full, or serialised as a JSON object.

use std::fmt;
use std::path::Path;

use gpusort::files::{Counts, Report};
use gpusort::unstable::human::{self, counted, grouped, short};
use gpusort::unstable::timing::{Device, milliseconds};
use serde::Serialize;

/// The timing and the properties of a sort.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Timing {
    /// The file, if several were sorted separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// Elements sorted.
    pub(super) n: usize,
    /// Bytes of input.
    pub(super) bytes: u64,
    /// The element type; several columns' types are separated by commas.
    #[serde(rename = "type")]
    pub(super) element: String,
    /// The algorithm used; `cpu` is the fast CPU sort.
    pub(super) algo: &'static str,
    /// Its variant.
    pub(super) variant: &'static str,
    /// The device used; the first of several.
    pub(super) device: Device,
    /// All devices used.
    pub(super) devices: Vec<Device>,
    /// Number of passes over the data.
    pub(super) dispatches: u64,
    /// Bytes of memory read and written by the passes.
    pub(super) bytes_moved: u64,
    /// The clock that timed the sort: `gpu` or `host`.
    pub(super) clock: &'static str,
    /// The phases, in milliseconds.
    pub(super) ms: Phases,
    /// Elements per second of the sort itself.
    pub(super) keys_per_s: f64,
    /// The number of sorted runs that were merged, in temporary files or in memory; none where all was sorted at once.
    pub(super) runs: usize,
    /// Bytes of runs in temporary files.
    pub(super) spilled_bytes: u64,
    /// The reason for this device and algorithm.
    pub(super) why: String,
    /// Counts of left-out records and of nulls.
    #[serde(flatten)]
    pub(super) left_out: LeftOut,
    /// Whether the type was assumed, as for `.bin`.
    #[serde(skip)]
    pub(super) type_assumed: bool,
}

/// Counts of left-out records by reason, and of nulls.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct LeftOut {
    /// Records left out as repetitions of the key before them.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) repeated: u64,
    /// Records left out after the first few.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) cut: u64,
    /// NaN.
    #[serde(skip_serializing_if = "is_none")]
    nan: u64,
    /// Empty fields.
    #[serde(skip_serializing_if = "is_none")]
    empty: u64,
    /// Fields that are not numbers.
    #[serde(skip_serializing_if = "is_none")]
    invalid: u64,
    /// Records left out because of an invalid field.
    #[serde(skip_serializing_if = "is_none")]
    skipped: u64,
    /// Blank lines that are not rows.
    #[serde(skip_serializing_if = "is_none")]
    blank: u64,
    /// Comments that are no records, and are not written.
    #[serde(skip_serializing_if = "is_none")]
    comments: u64,
    /// Integers that the requested type of floats does not hold exactly.
    #[serde(skip_serializing_if = "is_none")]
    rounded: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl LeftOut {
    /// The nonzero counts with their descriptions.
    fn told(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let Self { nan, empty, invalid, skipped, blank, comments, rounded, .. } = *self;
        let plural = |count, one, more| (if count == 1 { one } else { more }, count);
        let all = [
            ("NaN", nan),
            ("empty", empty),
            ("invalid", invalid),
            plural(skipped, "row skipped", "rows skipped"),
            plural(blank, "blank line skipped", "blank lines skipped"),
            plural(rounded, "integer rounded", "integers rounded"),
            plural(comments, "comment left out", "comments left out"),
            plural(self.repeated, "repeated key left out", "repeated keys left out"),
            ("after the top left out", self.cut),
        ];
        all.into_iter().filter(|(_, count)| *count > 0)
    }
}

/// The time of each phase in milliseconds. `device` overlaps with others: the device starts while the input
/// is read, and the kernels are made ready during the upload; so the phases may add up to more than `total`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Phases {
    /// Reading the input.
    pub(super) read: f64,
    /// Converting bytes to keys.
    pub(super) parse: f64,
    /// Starting the device and making the kernels ready.
    pub(super) device: f64,
    /// Transfer of the keys to the device.
    pub(super) upload: f64,
    /// The sort itself.
    pub(super) sort: f64,
    /// Transfer of the result back.
    pub(super) download: f64,
    /// Formatting and writing; where there are runs, writing these.
    pub(super) write: f64,
    /// Merging runs, and writing the result.
    pub(super) merge: f64,
    /// From the start of the process's work to its end.
    pub(super) total: f64,
}

impl Timing {
    /// The timing of what this reports, which was done for this reason.
    pub(super) fn new(report: &Report, why: String, type_assumed: bool) -> Self {
        let Report { phases, sort, counts, .. } = report;
        let devices = Device::all(&report.devices);
        let seconds = sort.sort.time.as_secs_f64();
        let n = report.records as usize;
        let &Counts { nan, empty, invalid, skipped, blank, comments, rounded } = counts;
        let (repeated, cut) = (report.repeated, report.cut);
        let mut why = sort.why.iter().fold(why, |why, chosen| why + "; " + chosen);
        if type_assumed {
            why.push_str("; the type is assumed");
        }
        Self {
            file: None,
            n,
            bytes: report.bytes,
            element: report.types.clone(),
            algo: sort.ran.algorithm(),
            variant: sort.ran.variant(),
            device: devices[0].clone(),
            devices,
            dispatches: sort.dispatches,
            bytes_moved: sort.bytes_moved,
            clock: sort.sort.clock.name(),
            ms: Phases {
                read: milliseconds(phases.read),
                parse: milliseconds(phases.parse),
                device: milliseconds(sort.prepare + phases.device),
                upload: milliseconds(sort.upload),
                sort: milliseconds(sort.sort.time),
                download: milliseconds(sort.download),
                write: milliseconds(phases.write),
                merge: milliseconds(sort.merge + phases.merge),
                total: milliseconds(phases.total),
            },
            keys_per_s: if seconds > 0.0 { (n as f64 / seconds).round() } else { 0.0 },
            runs: if report.runs > 0 { report.runs } else { sort.shares },
            spilled_bytes: report.spilled_bytes,
            why,
            left_out: LeftOut { repeated, cut, nan, empty, invalid, skipped, blank, comments, rounded },
            type_assumed,
        }
    }
}

/// The columns of a terminal, without those of the sign of a comment.
const COLUMNS: usize = 80 - "# ".len();

impl Timing {
    /// What was sorted, where, how long that took, and what needs attention, in one line of at most 80 columns with the sign
    /// of a comment.
    pub(super) fn brief(&self) -> String {
        /// The most columns of a device's name, and those that the name of a file leaves to others.
        const NAME: usize = 24;
        const REST: usize = 56;
        const MORE: &str = "; -v tells more";
        let device = match &self.devices[..] {
            [device] => human::cut(&device.name, NAME),
            devices => format!("{} GPUs", devices.len()),
        };
        let file = self.file.as_ref().map(|file| format!("{}: ", human::cut(file, COLUMNS - REST)));
        let time = human::time(self.ms.total);
        let mut line = file.unwrap_or_default();
        line.push_str(&format!("{} {} in {time} on {device}", self.did(), grouped(self.n)));
        let assumed = self.type_assumed.then(|| format!("{} is assumed", self.element));
        let counts = self.left_out.told().map(|(what, count)| format!("{} {what}", grouped(count)));
        let mut told = assumed.into_iter().chain(counts).peekable();
        while let Some(item) = told.next() {
            let after = if told.peek().is_some() { MORE.len() } else { 0 };
            if line.chars().count() + "; ".len() + item.len() + after > COLUMNS {
                return line + MORE;
            }
            line.push_str("; ");
            line.push_str(&item);
        }
        line
    }

    /// What was done.
    fn did(&self) -> &'static str {
        if self.variant == "merge" { "merged" } else { "sorted" }
    }
}

/// In full, on one line.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = &self.ms;
        let assumed = if self.type_assumed { " (assumed)" } else { "" };
        if let Some(file) = &self.file {
            write!(f, "{}: ", human::path(Path::new(file)))?;
        }
        let did = self.did();
        write!(f, "{did} {} {}{assumed} in {} ms: ", grouped(self.n), self.element, short(ms.total))?;
        let phases = [
            ("read", ms.read),
            ("parse", ms.parse),
            ("device", ms.device),
            ("upload", ms.upload),
            ("sort", ms.sort),
            ("download", ms.download),
            ("write", ms.write),
            ("merge", ms.merge),
        ];
        for (number, (name, time)) in phases.iter().filter(|(_, time)| *time > 0.0).enumerate() {
            write!(f, "{}{name} {}", if number > 0 { ", " } else { "" }, short(*time))?;
        }
        write!(f, "; {} {}", self.algo, self.variant)?;
        if self.dispatches > 0 {
            write!(f, ", {}", counted(self.dispatches, "pass", "passes"))?;
        }
        let names = self.devices.iter().map(|device| &device.name[..]).collect::<Vec<_>>();
        write!(f, " on {}", names.join(" and "))?;
        if self.device.kind != "cpu" {
            write!(f, " ({}, {}), {} clock", self.device.backend, self.device.kind, self.clock)?;
        }
        if self.spilled_bytes > 0 {
            let runs = counted(self.runs as u64, "run", "runs");
            write!(f, "; {runs} of {} in temporary files", human::bytes(self.spilled_bytes))?;
        }
        for (what, count) in self.left_out.told() {
            write!(f, "; {} {what}", grouped(count))?;
        }
        write!(f, "; {}", self.why)
    }
}
