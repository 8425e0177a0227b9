//! The timing of a sort: in brief, in full, or as a JSON object.

use std::fmt;
use std::path::Path;

use gpusort::Format;
use gpusort::files::{Explained, Report};
use gpusort_base::human::{self, counted, grouped, short};
use gpusort_engine::report::timing::{Device, milliseconds};
use serde_json::{Map, Value, json};

use crate::cli::report::explain;

/// The facts that the timing reports about a sort.
pub(in crate::cli) struct Timing<'a> {
    pub(in crate::cli) report: &'a Report,
    /// The file, if several were sorted separately.
    pub(in crate::cli) file: Option<&'a Path>,
    /// The verb for the work.
    pub(in crate::cli) did: &'static str,
    /// True if the element type was assumed, as for `.bin`.
    pub(in crate::cli) type_assumed: bool,
    /// The decisions about the input.
    pub(in crate::cli) explained: Explained,
}

impl Timing<'_> {
    /// Returns the phases, in milliseconds. `device` overlaps other phases: the device starts while the
    /// input is read, and the kernels are made ready during the upload. So the phases may add up to
    /// more than `total`.
    fn phases(&self) -> [(&'static str, f64); 9] {
        let Report { phases, sort, .. } = self.report;
        [
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
        ]
        .map(|(name, time)| (name, milliseconds(time)))
    }

    /// Returns the nonzero counts of nulls and of records left out, in the order of the report, with the
    /// words for one and for more.
    fn left_out(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str, u64)> + use<> {
        let Report { counts, repeated, cut, .. } = self.report;
        let all = [
            ("nan", "NaN", "NaN", counts.nan),
            ("empty", "empty", "empty", counts.empty),
            ("invalid", "invalid", "invalid", counts.invalid),
            ("skipped", "row skipped", "rows skipped", counts.skipped),
            ("repeated", "repeated key omitted", "repeated keys omitted", *repeated),
            ("cut", "cut by --top", "cut by --top", *cut),
        ];
        all.into_iter().filter(|&(.., count)| count > 0)
    }

    fn told(&self) -> impl Iterator<Item = String> {
        let fields = &self.report.counts.invalid_fields;
        let few = fields.iter().map(|field| human::cut(&human::quoted(field), 16));
        let few = few.collect::<Vec<_>>().join(", ");
        self.left_out().map(move |(name, one, more, count)| match (name, fields.len() as u64) {
            ("invalid", 1..) => {
                let others = if count > fields.len() as u64 { ", ..." } else { "" };
                format!("{count} invalid: {few}{}", if fields.len() > 2 { others } else { "" })
            }
            _ => counted(count, one, more),
        })
    }

    /// Returns the number of sorted runs that were merged, in temporary files or in memory; 0 if everything
    /// was sorted at once.
    fn runs(&self) -> usize {
        if self.report.runs > 0 { self.report.runs } else { self.report.sort.shares }
    }

    fn why(&self) -> String {
        let assumed = self.type_assumed.then_some("the type is assumed");
        let more = self.report.sort.why.as_deref().into_iter().chain(assumed);
        more.fold(self.report.why.clone(), |why, more| why + "; " + more)
    }

    /// Returns a JSON object on one line. Its strings hold no control characters, which a terminal would
    /// obey: `serde_json` escapes those of ASCII alone.
    pub(in crate::cli) fn json(&self) -> String {
        let line = self.object().to_string();
        let escaped = |c: char| {
            if matches!(c, '\u{7F}'..='\u{9F}') { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }
        };
        if line.contains(char::is_control) { line.chars().map(escaped).collect() } else { line }
    }

    fn object(&self) -> Value {
        let Report { sort, records, .. } = self.report;
        let devices = Device::all(&self.report.devices);
        let ms: Map<_, _> =
            self.phases().map(|(name, ms)| (name.to_owned(), ms.into())).into_iter().collect();
        let seconds = sort.sort.time.as_secs_f64();
        let mut all = json!({
            "schema": explain::SCHEMA,
            "file": self.file.map(|file| file.display().to_string()),
            "n": records,
            "bytes": self.report.bytes,
            "type": self.report.types,
            // `cpu` is the fast CPU sort.
            "algo": sort.ran.algorithm(),
            "variant": sort.ran.variant(),
            "device": devices[0],
            "devices": devices,
            "dispatches": sort.dispatches,
            "bytes_moved": sort.bytes_moved,
            "clock": sort.sort.clock.name(),
            "ms": ms,
            // The rate of the phase `sort` alone.
            "keys_per_s": if seconds > 0.0 { (*records as f64 / seconds).round() } else { 0.0 },
            "runs": self.runs(),
            "spilled_bytes": self.report.spilled_bytes,
            "copied_groups": Some(self.report.copied_groups).filter(|&groups| groups > 0),
            "copied_rows": Some(self.report.copied_rows).filter(|&rows| rows > 0),
            "why": self.why(),
            "respelled": self.report.counts.respelled.as_ref().map(|respelled| {
                json!({"place": respelled.place, "value": respelled.value, "kept": respelled.kept})
            }),
        });
        if let (Some(all), Value::Object(decided)) = (all.as_object_mut(), explain::object(&self.explained)) {
            all.extend(decided);
        }
        self.left_out().for_each(|(name, .., count)| all[name] = count.into());
        let fields = self.report.counts.invalid_fields.iter();
        let fields: Vec<Value> = fields.map(|field| String::from_utf8_lossy(field).into()).collect();
        if !fields.is_empty() {
            all["invalid_fields"] = fields.into();
        }
        // `file` is null unless several files were sorted separately.
        all.as_object_mut().into_iter().for_each(|all| all.retain(|_, value| !value.is_null()));
        all
    }

    /// Returns one line with the records, the time, the device, and facts that need attention. With the
    /// sign of a comment before it, the line has at most 80 columns.
    pub(in crate::cli) fn brief(&self) -> String {
        /// The columns of a terminal, less the sign of a comment.
        const COLUMNS: usize = 80 - "# ".len();
        /// The most columns of a device's name, and the columns that a file's name leaves for the rest.
        const NAME: usize = 24;
        const REST: usize = 56;
        const MORE: &str = "; more with -v";
        let Report { records, phases, types, .. } = self.report;
        let device = match &Device::all(&self.report.devices)[..] {
            [device] => human::cut(&device.name, NAME),
            devices => format!("{} GPUs", devices.len()),
        };
        let file = |file: &Path| format!("{}: ", human::cut(&file.display().to_string(), COLUMNS - REST));
        let mut line = self.file.map(file).unwrap_or_default();
        let time = human::time(milliseconds(phases.total));
        line.push_str(&format!("{} {} in {time} on {device}", self.did, grouped(records)));
        let assumed = self.type_assumed.then(|| format!("{types} is assumed"));
        let mut told = assumed.into_iter().chain(self.told()).peekable();
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

    /// Describes the records and their order: `3 rows by 'price' (number)`.
    fn records(&self) -> String {
        let Report { records, types, .. } = self.report;
        let (one, more) = match self.explained.format {
            Format::Lines => ("line", "lines"),
            Format::Text => ("number", "numbers"),
            format if format.is_bits() => {
                let assumed = if self.type_assumed { " (assumed)" } else { "" };
                return format!("{} {types}{assumed}", grouped(records));
            }
            _ => ("row", "rows"),
        };
        counted(*records, one, more) + &explain::by(&self.explained)
    }
}

/// In full, on one line.
impl fmt::Display for Timing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { sort, spilled_bytes, phases, .. } = self.report;
        if let Some(file) = self.file {
            write!(f, "{}: ", human::path(file))?;
        }
        let total = short(milliseconds(phases.total));
        write!(f, "{} {} in {total} ms: ", self.did, self.records())?;
        let phases = self.phases().into_iter().filter(|&(name, time)| name != "total" && time > 0.0);
        let phases: Vec<_> = phases.map(|(name, time)| format!("{name} {}", short(time))).collect();
        write!(f, "{}; {} {}", phases.join(", "), sort.ran.algorithm(), sort.ran.variant())?;
        if sort.dispatches > 0 {
            write!(f, ", {}", counted(sort.dispatches, "pass", "passes"))?;
        }
        let devices = Device::all(&self.report.devices);
        let names = devices.iter().map(|device| &device.name[..]).collect::<Vec<_>>();
        write!(f, " on {}", names.join(" and "))?;
        if let Some(gpu) = self.report.devices.first() {
            write!(f, " ({}, {}), {} clock", gpu.backend, gpu.kind.name(), sort.sort.clock.name())?;
        }
        if *spilled_bytes > 0 {
            let runs = counted(self.runs() as u64, "run", "runs");
            write!(f, "; {runs} of {} in temporary files", human::bytes(*spilled_bytes))?;
        }
        if self.report.copied_groups > 0 {
            let groups = counted(self.report.copied_groups, "row group", "row groups");
            write!(f, "; copied {groups} of {}", counted(self.report.copied_rows, "row", "rows"))?;
        }
        self.told().try_for_each(|told| write!(f, "; {told}"))?;
        write!(f, "; {}", explain::format(&self.explained))?;
        if self.explained.keys.iter().any(|key| key.is_found) {
            write!(f, "; kinds found in the fields")?;
        }
        write!(f, "; {}", self.why())
    }
}
