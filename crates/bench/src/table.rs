//! Results as a table for a terminal: a group of lines per size, with the best of each group marked. A line
//! too narrow for all columns leaves out the less important ones.

use std::fmt::Write;

use console::Style;

use crate::report::{Case, Measurement, Report, Skipped, least};
use crate::statistics::Crossover;
use gpusort_base::human::{bytes, count, grouped, short, time, wrapped};

/// A column after size and method.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    width: usize,
    /// A line of the legend.
    meaning: &'static str,
    /// Columns of the highest rank are left out first.
    rank: usize,
}

pub(crate) const COLUMNS: [Column; 11] = [
    Column::new("median", 7, 0, "time of the sort alone, by the device's own clock if it has one"),
    Column::new(
        "ns/elem",
        7,
        1,
        "nanoseconds per element; !: more than 1.3 times that of the previous power of two",
    ),
    Column::new("bytes/s", 7, 4, "bytes of elements per second, by the median"),
    Column::new("min", 7, 7, "the shortest time"),
    Column::new("spread", 6, 6, "longest time minus shortest time, relative to the median"),
    Column::new("keys/s", 6, 5, "elements per second, by the median"),
    Column::new("passes", 10, 9, "passes over all keys"),
    Column::new("moved", 8, 10, "bytes that the passes read and write"),
    Column::new("vs copy", 7, 8, "speed of the passes relative to a plain copy on the device"),
    Column::new("vs CPU", 8, 2, "speed relative to the faster CPU sort, by the medians"),
    Column::new("end to end", 10, 3, "median time including the transfers to the device and back"),
];

impl Column {
    const fn new(title: &'static str, width: usize, rank: usize, meaning: &'static str) -> Self {
        Self { title, width, meaning, rank }
    }
}

/// Columns with a highlighted best result.
const MEDIAN: usize = 0;
const END_TO_END: usize = 10;

/// The width of a line outside a terminal.
pub const WIDTH: usize = 80;

/// A table, printed as results arrive.
#[derive(Clone, Debug)]
pub struct Table {
    /// Width of a line.
    width: usize,
    size_width: usize,
    method_width: usize,
    /// Columns below this rank fit.
    ranks: usize,
    colour: bool,
}

impl Table {
    /// A table for these cases of at most `largest` elements, in lines of this width; with colours
    /// if the terminal supports them.
    pub fn new(report: &Report, cases: &[Case], largest: usize, width: usize, colour: bool) -> Self {
        let size_width = grouped(largest).len();
        let method_width = cases.iter().map(|case| method(report, case).len()).max().unwrap_or_default();
        let fits = |ranks: &usize| {
            let columns = COLUMNS.iter().filter(|column| column.rank < *ranks);
            size_width + 2 + method_width + columns.map(|column| 2 + column.width).sum::<usize>() <= width
        };
        let ranks = (0..=COLUMNS.len()).rev().find(fits).unwrap_or(0);
        Self { width, size_width, method_width, ranks, colour }
    }

    /// The columns that fit, with their places.
    fn columns(&self) -> impl Iterator<Item = (usize, &'static Column)> {
        COLUMNS.iter().enumerate().filter(|(_, column)| column.rank < self.ranks)
    }

    fn style(&self, style: Style) -> Style {
        style.force_styling(self.colour)
    }

    /// The introduction: the machine, its devices and the legend.
    pub fn introduction(&self, report: &Report) -> String {
        let machine = &report.machine;
        let cpu = format!("CPU: {}, {}", machine.cpu, machine.details());
        let mut text = wrapped(&machine.headline(), self.width, 2) + &wrapped(&cpu, self.width, 5);
        for gpu in report.gpus() {
            let mut line = format!("GPU:{} {gpu}", mark(report, &gpu.device.name));
            if let Some(start) = gpu.start_ms {
                let _ = write!(line, "; started in {}", time(start));
            }
            if let Some(copy) = gpu.copy_bytes_per_s {
                let _ = write!(line, ", copies at {:.0} GB/s", copy / 1e9);
            }
            text += &wrapped(&line, self.width, 5);
        }
        let mut legend = String::new();
        for (_, Column { title, meaning, .. }) in self.columns() {
            legend += &wrapped(&format!("{title:10}  {meaning}"), self.width, 12);
        }
        if self.columns().count() < COLUMNS.len() {
            let more = "A wider terminal shows more columns; --export-markdown writes all.";
            legend += &wrapped(more, self.width, 0);
        }
        let _ = write!(text, "\n{}", self.style(Style::new().dim()).apply_to(legend));
        text
    }

    /// The heading of one kind of keys.
    pub fn heading(&self, kind: &Case) -> String {
        let (size, method) = (self.size_width, self.method_width);
        let mut titles = format!("{:>size$}  {:method$}", "n", "sort");
        for (_, Column { title, width, .. }) in self.columns() {
            let _ = write!(titles, "  {title:>width$}");
        }
        let positions = if kind.positions { " with positions" } else { "" };
        let kind = format!("{}{positions}, {}", kind.element.name(), kind.distribution);
        let bold = self.style(Style::new().bold());
        format!("\n{}\n{}\n", bold.apply_to(kind), bold.apply_to(titles))
    }

    /// The lines of one size.
    pub fn group(&self, report: &Report, results: &[Measurement], skipped: &[Skipped]) -> String {
        let medians: Vec<[f64; 2]> = results.iter().map(Measurement::medians).collect();
        let best = medians.iter().copied().reduce(least).filter(|_| results.len() > 1);
        let (best_style, dim) = (Style::new().green().bold(), self.style(Style::new().dim()));
        let measured = results.iter().zip(&medians).map(|(result, medians)| {
            let cells = cells(report, result);
            let shown = self.columns().map(|(place, column)| {
                let which = [MEDIAN, END_TO_END].iter().position(|&best| best == place);
                let is_best = which.zip(best).is_some_and(|(which, best)| medians[which] <= best[which]);
                let style = if is_best { best_style.clone() } else { Style::new() };
                format!("  {}", self.style(style).apply_to(format!("{:>1$}", cells[place], column.width)))
            });
            (&result.case, shown.collect::<String>())
        });
        let indent = self.size_width + self.method_width + 4;
        let skipped = skipped.iter().map(|Skipped { case, why }| {
            let note = wrapped(&format!("{:indent$}skipped: {why}", ""), self.width, indent);
            (case, format!("  {}", dim.apply_to(note.trim())))
        });
        let mut text = String::new();
        for (number, (case, rest)) in measured.chain(skipped).enumerate() {
            let n = if number == 0 { grouped(case.n) } else { String::new() };
            let (size, width) = (self.size_width, self.method_width);
            let _ = writeln!(text, "{n:>size$}  {:width$}{rest}", method(report, case));
        }
        text
    }

    /// The conclusion: the size where each GPU overtakes the CPU.
    pub fn conclusion(&self, report: &Report) -> String {
        let mut text = String::new();
        for (kind, gpu, crossovers) in report.crossovers() {
            let (what, [alone, whole]) = (kind.type_name(), crossovers.map(overtakes));
            let what = format!("{what} {} on {}", kind.distribution, gpu.device.name);
            let line = format!("{what}: the sort alone {alone}; with transfers, it {whole}.");
            text += &format!("\n{}", wrapped(&line, self.width, 2));
        }
        text
    }
}

/// The number that marks the methods of a device among several.
fn mark(report: &Report, device: &str) -> String {
    match report.devices.iter().position(|it| it.device.name == device) {
        Some(number) if report.devices.len() > 1 => format!(" [{}]", number + 1),
        _ => String::new(),
    }
}

fn method(report: &Report, case: &Case) -> String {
    let mark = if case.is_baseline() { String::new() } else { mark(report, &case.device) };
    case.method() + &mark
}

fn overtakes(crossover: Crossover) -> String {
    match crossover {
        Crossover::Always => "is faster than the CPU at every size".to_owned(),
        Crossover::Never => "is not faster than the CPU at the largest size".to_owned(),
        Crossover::From(size) => format!("is faster than the CPU from about {} elements on", rounded(size)),
    }
}

/// Two significant digits: more would exceed the precision.
fn rounded(size: f64) -> String {
    let unit = 10_f64.powf(size.log10().floor() - 1.0).max(1.0);
    grouped(((size / unit).round() * unit) as u64)
}

/// The cells of a row, in column order.
pub(crate) fn cells(report: &Report, result: &Measurement) -> [String; COLUMNS.len()] {
    let row = report.row(result);
    let nothing = || "-".to_owned();
    let passes = row.dispatches > 0;
    [
        time(row.median_ms),
        count(row.ns_per_element) + if report.grows(result) { "!" } else { "" },
        count(row.bytes_per_s),
        time(row.min_ms),
        percent((row.max_ms - row.min_ms) / row.median_ms),
        count(row.keys_per_s),
        if passes { grouped(row.dispatches) } else { nothing() },
        if passes { bytes(row.bytes_moved) } else { nothing() },
        report.part_of_copy(result).map_or_else(nothing, percent),
        row.vs_cpu.map_or_else(nothing, times),
        time(row.end_to_end_ms),
    ]
}

/// A fraction; a coarse clock may measure its denominator as 0.
fn percent(part: f64) -> String {
    if part < 9.995 { format!("{:.0} %", part * 100.0) } else { ">999 %".to_owned() }
}

/// A ratio.
fn times(ratio: f64) -> String {
    if ratio < 0.0005 { "<0.001 ×".to_owned() } else { short(ratio) + " ×" }
}

#[cfg(test)]
mod tests {
    use gpusort_order::key::ElementType;

    use super::*;
    use crate::generate::Type;
    use crate::report::example;

    /// The whole table of a report, with a skipped case.
    fn whole(report: &Report, width: usize) -> String {
        let cases: Vec<Case> = report.results.iter().map(|result| result.case.clone()).collect();
        let largest = cases.iter().map(|case| case.n).max().unwrap();
        let table = Table::new(report, &cases, largest, width, false);
        let why =
            "3 runs of about 7660186 s (estimated at 16,777,216): more than 10.0 ms; raise --time-limit";
        let skipped = Skipped { case: cases[cases.len() - 1].clone(), why: why.to_owned() };
        let group = table.group(report, &report.results, &[skipped]);
        [table.introduction(report), table.heading(&cases[0]), group, table.conclusion(report)].concat()
    }

    #[test]
    fn tables_fit_their_width() {
        let types = [Type::Number(ElementType::U32), Type::Number(ElementType::F64), Type::Text];
        for (gpus, element) in [0, 1, 2, 10].into_iter().flat_map(|gpus| types.map(|element| (gpus, element)))
        {
            for times in [&[0.000_12, 12.3][..], &[999.0; 8], &[1e-6, 9e4, 9e4, 9e4, 9e4, 9e4]] {
                let report = example(gpus, element, times);
                for width in [80, 100, 150, 200] {
                    let text = whole(&report, width);
                    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                    assert!(widest <= width, "{gpus} {element:?} {times:?}: {widest} > {width}\n{text}");
                    // The most important columns always fit, and all columns fit a wide terminal.
                    assert!(text.contains("  median") && text.contains("  end to end"), "{text}");
                    let has_all = text.contains("\nmoved ");
                    assert!(has_all != text.contains("A wider terminal"), "{text}");
                    assert!(width == 100 || has_all == (width > 100), "{width}: {text}");
                }
            }
        }
    }

    #[test]
    fn numbers_have_the_digits_that_are_known() {
        assert_eq!(
            [0.0, 0.123, 9.99, 25.0, f64::NAN].map(percent),
            ["0 %", "12 %", "999 %", ">999 %", ">999 %"]
        );
        assert_eq!(
            [1234.5, 12.34, 1.26, 0.31, 0.042, 0.002, 0.0001].map(times),
            ["1234 ×", "12.3 ×", "1.26 ×", "0.310 ×", "0.042 ×", "0.002 ×", "<0.001 ×"]
        );
        assert_eq!([31_400.0, 7.2, 1_048_576.0].map(rounded), ["31,000", "7", "1,000,000"]);
    }
}
