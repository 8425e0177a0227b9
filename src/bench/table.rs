//! Results as a table for a terminal: a group of lines per size, with the best of each group
//! marked.

use std::fmt::Write;

use console::Style;

use super::report::{Case, Measurement, ONE_CORE, Report, Skipped};
use super::statistics::Crossover;
use crate::human::{bytes, count, grouped, time};

/// The columns after size and method, with their widths.
const COLUMNS: [(&str, usize); 9] = [
    ("median", 8),
    ("min", 8),
    ("spread", 6),
    ("keys/s", 6),
    ("passes", 7),
    ("moved", 8),
    ("of copy", 7),
    ("vs CPU", 8),
    ("end to end", 10),
];
/// The columns with times by which a result can be the best.
const MEDIAN: usize = 0;
const END_TO_END: usize = 8;
/// Width of the largest size of one sort, with grouped digits.
const SIZE_WIDTH: usize = 13;

/// The legend of the columns.
const LEGEND: &str = include_str!("legend.txt");

/// A table that is printed as results arrive.
#[derive(Clone, Debug)]
pub struct Table {
    /// The devices, to distinguish their methods if there are several.
    devices: Vec<String>,
    method_width: usize,
    colour: bool,
}

impl Table {
    /// A table for these cases; with colours if the terminal supports them.
    pub fn new(report: &Report, cases: &[Case], colour: bool) -> Self {
        let devices = report.devices.iter().map(|device| device.name.clone()).collect();
        let mut table = Self { devices, method_width: 0, colour };
        table.method_width = cases.iter().map(|case| table.method(case).len()).max().unwrap_or_default();
        table
    }

    fn style(&self, style: Style) -> Style {
        style.force_styling(self.colour)
    }

    /// The number that marks a device's methods.
    fn mark(&self, device: &str) -> String {
        let number = self.devices.iter().position(|name| name == device);
        match number {
            Some(number) if self.devices.len() > 1 => format!(" [{}]", number + 1),
            _ => String::new(),
        }
    }

    fn method(&self, case: &Case) -> String {
        let note = match case.variant {
            _ if !case.is_baseline() => self.mark(&case.device),
            ONE_CORE => ", 1 core".to_owned(),
            _ => String::new(),
        };
        format!("{}{note}", case.method())
    }

    /// The introduction: the machine, its devices and the legend.
    pub fn introduction(&self, report: &Report) -> String {
        let machine = &report.machine;
        let cores = if machine.cores == 1 { "core" } else { "cores" };
        let memory = bytes(machine.memory_bytes);
        let mut text = machine.headline();
        let _ = writeln!(text, "\nCPU: {}, {} {cores}, {memory} of memory", machine.cpu, machine.cores);
        for gpu in report.gpus() {
            let _ = write!(text, "GPU:{} {gpu}", self.mark(&gpu.name));
            if let Some(start) = gpu.start_ms {
                let _ = write!(text, "; started in {}", time(start));
            }
            if let Some(copy) = gpu.copy_bytes_per_s {
                let _ = write!(text, ", copies at {:.0} GB/s", copy / 1e9);
            }
            text.push('\n');
        }
        let _ = writeln!(text, "\n{}", self.style(Style::new().dim()).apply_to(LEGEND.trim_end()));
        text
    }

    /// The heading of one kind of keys.
    pub fn heading(&self, kind: &Case) -> String {
        let mut titles = format!("{:>SIZE_WIDTH$}  {:method$}", "n", "sort", method = self.method_width);
        for (title, width) in COLUMNS {
            let _ = write!(titles, "  {title:>width$}");
        }
        let positions = if kind.positions { " with positions" } else { "" };
        let kind = format!("{}{positions}, {}", kind.element.name(), kind.distribution);
        let bold = self.style(Style::new().bold());
        format!("\n{}\n{}\n", bold.apply_to(kind), bold.apply_to(titles))
    }

    /// The lines of one size.
    pub fn group(&self, report: &Report, results: &[Measurement], skipped: &[Skipped]) -> String {
        let rows: Vec<_> = results.iter().map(|result| (result, report.row(result))).collect();
        let best = |value: fn(&super::Row) -> f64| {
            rows.iter().map(|(_, row)| value(row)).fold(f64::INFINITY, f64::min)
        };
        let best = [best(|row| row.median_ms), best(|row| row.end_to_end_ms)];
        let (best_style, mut text) = (self.style(Style::new().green().bold()), String::new());
        let mut cases = results.iter().map(|it| &it.case).chain(skipped.iter().map(|it| &it.case));
        let mut size = cases.next().map_or_else(String::new, |case| grouped(case.n));
        let mut begin = |text: &mut String, case: &Case| {
            let (n, method) = (std::mem::take(&mut size), self.method(case));
            let _ = write!(text, "{n:>SIZE_WIDTH$}  {method:width$}", width = self.method_width);
        };
        for (result, row) in &rows {
            begin(&mut text, &result.case);
            for (index, (cell, (_, width))) in cells(report, result).iter().zip(COLUMNS).enumerate() {
                let is_best = index == MEDIAN && row.median_ms <= best[0]
                    || index == END_TO_END && row.end_to_end_ms <= best[1];
                let cell = format!("{cell:>width$}");
                let _ = match is_best && rows.len() > 1 {
                    true => write!(text, "  {}", best_style.apply_to(cell)),
                    false => write!(text, "  {cell}"),
                };
            }
            text.push('\n');
        }
        for skipped in skipped {
            begin(&mut text, &skipped.case);
            let note = format!("  skipped: {}", skipped.why);
            let _ = writeln!(text, "{}", self.style(Style::new().dim()).apply_to(note));
        }
        text
    }

    /// The conclusion: the size from which on each GPU is faster than the CPU.
    pub fn conclusion(&self, report: &Report) -> String {
        let mut text = String::new();
        for (kind, gpu, crossovers) in report.crossovers() {
            let (what, [kernel, whole]) = (kind.type_name(), crossovers.map(overtakes));
            let _ = writeln!(
                text,
                "\n{what} {} on {}: the sort alone {kernel}; end to end it {whole}.",
                kind.distribution, gpu.name,
            );
        }
        text
    }
}

fn overtakes(crossover: Crossover) -> String {
    match crossover {
        Crossover::Always => "is faster than the CPU's at every size here".to_owned(),
        Crossover::Never => "does not overtake the CPU's here".to_owned(),
        Crossover::Between { about, .. } => format!("overtakes the CPU's at about {}", rounded(about)),
    }
}

/// Two significant digits: more would exceed the precision.
pub(super) fn rounded(size: f64) -> String {
    let unit = 10_f64.powf(size.log10().floor() - 1.0).max(1.0);
    grouped(((size / unit).round() * unit) as u64)
}

/// The cells of a row, in column order.
pub(super) fn cells(report: &Report, result: &Measurement) -> [String; COLUMNS.len()] {
    let row = report.row(result);
    let nothing = || "-".to_owned();
    let passes = row.dispatches > 0;
    [
        time(row.median_ms),
        time(row.min_ms),
        format!("{:.0} %", (row.max_ms - row.min_ms) / row.median_ms * 100.0),
        count(row.keys_per_s),
        if passes { grouped(row.dispatches) } else { nothing() },
        if passes { bytes(row.bytes_moved) } else { nothing() },
        report.part_of_copy(result).map_or_else(nothing, |part| format!("{:.0} %", part * 100.0)),
        row.vs_cpu.map_or_else(nothing, times),
        time(row.end_to_end_ms),
    ]
}

/// The titles of the columns.
pub(super) fn titles() -> impl Iterator<Item = &'static str> {
    COLUMNS.into_iter().map(|(title, _)| title)
}

/// A ratio.
fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 9.95 => format!("{ratio:.0} ×"),
        ratio if ratio >= 0.095 => format!("{ratio:.1} ×"),
        ratio if ratio >= 0.0095 => format!("{ratio:.2} ×"),
        ratio if ratio >= 0.000_95 => format!("{ratio:.3} ×"),
        _ => "<0.001 ×".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_exactly_as_they_are_known() {
        assert_eq!([31_400.0, 7.2, 1_048_576.0].map(rounded), ["31,000", "7", "1,000,000"]);
        assert_eq!(
            [1234.5, 12.34, 1.26, 0.31, 0.042, 0.002, 0.0001].map(times),
            ["1234 ×", "12 ×", "1.3 ×", "0.3 ×", "0.04 ×", "0.002 ×", "<0.001 ×"]
        );
    }
}
