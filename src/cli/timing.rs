//! The timing of a sort: in brief, in full, or serialised as a JSON object.

use std::fmt;
use std::path::Path;

use gpusort::files::{Counts, Report};
use gpusort::unstable::human::{self, counted, grouped, short};
use gpusort::unstable::report::timing::{Device, milliseconds};
use serde::{Serialize, Serializer};

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
    /// The phases, in milliseconds. `device` overlaps with others: the device starts while the
    /// input is read, and the kernels are made ready during the upload; so the phases may add up to
    /// more than `total`.
    #[serde(serialize_with = "as_object")]
    ms: Vec<(&'static str, f64)>,
    /// From the start of the process's work to its end.
    #[serde(skip)]
    total: f64,
    /// Elements per second of the sort itself.
    pub(super) keys_per_s: f64,
    /// The number of sorted runs that were merged, in temporary files or in memory; none where all
    /// was sorted at once.
    pub(super) runs: usize,
    /// Bytes of runs in temporary files.
    pub(super) spilled_bytes: u64,
    /// The reason for this device and algorithm.
    pub(super) why: String,
    /// Counts of left-out records by reason, and of nulls; none that are 0.
    #[serde(flatten, serialize_with = "as_object")]
    left_out: Vec<(&'static str, u64)>,
    /// The same in words.
    #[serde(skip)]
    told: Vec<String>,
    /// Whether the type was assumed, as for `.bin`.
    #[serde(skip)]
    pub(super) type_assumed: bool,
}

/// Serialises names with what they have.
fn as_object<S: Serializer, T: Copy + Serialize>(
    all: &[(&'static str, T)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(all.iter().copied())
}

impl Timing {
    /// The timing of what this reports, which was done for this reason.
    pub(super) fn new(report: &Report, why: String, type_assumed: bool) -> Self {
        let Report { phases, sort, counts, .. } = report;
        let devices = Device::all(&report.devices);
        let seconds = sort.sort.time.as_secs_f64();
        let n = report.records as usize;
        let &Counts { nan, empty, invalid, skipped, blank, comments, rounded } = counts;
        // In the order in which they are told, with the words for one and for more.
        let mut counts = vec![
            ("nan", "NaN", "NaN", nan),
            ("empty", "empty", "empty", empty),
            ("invalid", "invalid", "invalid", invalid),
            ("skipped", "row skipped", "rows skipped", skipped),
            ("blank", "blank line skipped", "blank lines skipped", blank),
            // Integers that the requested type of floats does not hold exactly.
            ("rounded", "integer rounded", "integers rounded", rounded),
            ("comments", "comment left out", "comments left out", comments),
            ("repeated", "repeated key left out", "repeated keys left out", report.repeated),
            ("cut", "after the top left out", "after the top left out", report.cut),
        ];
        counts.retain(|&(.., count)| count > 0);
        let ms = [
            ("read", phases.read),
            // Converting bytes to keys.
            ("parse", phases.parse),
            // Starting the device and making the kernels ready.
            ("device", sort.prepare + phases.device),
            ("upload", sort.upload),
            ("sort", sort.sort.time),
            ("download", sort.download),
            // Formatting and writing; where there are runs, writing these.
            ("write", phases.write),
            // Merging runs, and writing the result.
            ("merge", sort.merge + phases.merge),
            ("total", phases.total),
        ];
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
            ms: ms.map(|(name, time)| (name, milliseconds(time))).into(),
            total: milliseconds(phases.total),
            keys_per_s: if seconds > 0.0 { (n as f64 / seconds).round() } else { 0.0 },
            runs: if report.runs > 0 { report.runs } else { sort.shares },
            spilled_bytes: report.spilled_bytes,
            why,
            left_out: counts.iter().map(|&(name, .., count)| (name, count)).collect(),
            told: counts.iter().map(|&(_, one, more, count)| counted(count, one, more)).collect(),
            type_assumed,
        }
    }
}

/// The columns of a terminal, without those of the sign of a comment.
const COLUMNS: usize = 80 - "# ".len();

impl Timing {
    /// What was sorted, where, how long that took, and what needs attention, in one line of at most
    /// 80 columns with the sign of a comment.
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
        let time = human::time(self.total);
        let mut line = file.unwrap_or_default();
        line.push_str(&format!("{} {} in {time} on {device}", self.did(), grouped(self.n)));
        let assumed = self.type_assumed.then(|| format!("{} is assumed", self.element));
        let mut told = assumed.iter().chain(&self.told).peekable();
        while let Some(item) = told.next() {
            let after = if told.peek().is_some() { MORE.len() } else { 0 };
            if line.chars().count() + "; ".len() + item.len() + after > COLUMNS {
                return line + MORE;
            }
            line.push_str("; ");
            line.push_str(item);
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
        let assumed = if self.type_assumed { " (assumed)" } else { "" };
        if let Some(file) = &self.file {
            write!(f, "{}: ", human::path(Path::new(file)))?;
        }
        let did = self.did();
        write!(f, "{did} {} {}{assumed} in {} ms: ", grouped(self.n), self.element, short(self.total))?;
        let phases = self.ms.iter().filter(|(name, time)| *name != "total" && *time > 0.0);
        for (number, (name, time)) in phases.enumerate() {
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
        self.told.iter().try_for_each(|told| write!(f, "; {told}"))?;
        write!(f, "; {}", self.why)
    }
}
