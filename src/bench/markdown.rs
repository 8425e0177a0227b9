//! Results as Markdown: one table per kind of keys.

use std::io::{self, Write};

use super::report::Report;
use super::table::{cells, titles};
use crate::human::grouped;

/// Writes the results to `out`.
///
/// # Errors
///
/// Errors of `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let machine = &report.machine;
    writeln!(out, "{}  ", machine.headline())?;
    write!(out, "CPU: {}, {}", machine.cpu, machine.details())?;
    report.gpus().try_for_each(|gpu| write!(out, "  \nGPU: {gpu}"))?;
    writeln!(out)?;
    for kind in report.kinds() {
        write!(out, "\n## {}, {}\n\n| n | sort | device |", kind.type_name(), kind.distribution)?;
        titles().try_for_each(|title| write!(out, " {title} |"))?;
        write!(out, "\n|---:|---|---|")?;
        titles().try_for_each(|_| write!(out, "---:|"))?;
        writeln!(out)?;
        for result in report.of_kind(kind) {
            let case = &result.case;
            write!(out, "| {} | {} | {} |", grouped(case.n), case.method(), case.device.replace('|', "\\|"))?;
            cells(report, result).iter().try_for_each(|cell| write!(out, " {cell} |"))?;
            writeln!(out)?;
        }
    }
    if report.results.iter().any(|result| report.grows(result)) {
        writeln!(
            out,
            "\n`!`: the time per element grows by more than 1.3 from one power of two to the next."
        )?;
    }
    Ok(())
}
