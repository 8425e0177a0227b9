//! Results in files: as CSV and Markdown, and as JSON with every sample and the full description of the
//! machine.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::report::{Measurement, Report, Skipped};
use super::table::{cells, titles};
use crate::human::grouped;

/// Writes the results as CSV, with a header: a line for each [`Row`](super::Row).
///
/// # Errors
///
/// Errors of `out`.
pub fn csv(report: &Report, out: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for result in &report.results {
        writer.serialize(report.row(result))?;
    }
    writer.flush()
}

/// Writes the report as JSON.
///
/// # Errors
///
/// Errors of `out`.
pub fn json(report: &Report, out: &mut Vec<u8>) -> io::Result<()> {
    let mut machine = json!(report.machine);
    machine["devices"] = json!(report.devices);
    let result = |result: &Measurement| {
        let mut row = json!(report.row(result));
        let clock = result.samples.first().map_or("host", |sample| sample.sort.clock.name());
        row["clock"] = clock.into();
        // Time to build the kernels and allocate device memory before the first run.
        row["prepare_ms"] = result.prepare_ms.into();
        row["upload_ms"] = result.median_ms(|sample| sample.upload).into();
        row["download_ms"] = result.median_ms(|sample| sample.download).into();
        // The bandwidth of the passes relative to the device's copies.
        row["part_of_copy"] = report.part_of_copy(result).into();
        row["samples_ms"] = result.each_ms(|sample| sample.sort.time).into();
        row["end_to_end_samples_ms"] = result.each_ms(|sample| sample.end_to_end).into();
        row
    };
    let skipped = |Skipped { case, why }: &Skipped| {
        json!({
            "device": case.device,
            "algo": case.algorithm,
            "variant": case.variant,
            "type": case.type_name(),
            "dist": case.distribution.name(),
            "n": case.n,
            "why": why,
        })
    };
    let whole = json!({
        "machine": machine,
        "results": report.results.iter().map(result).collect::<Vec<Value>>(),
        "skipped": report.skipped.iter().map(skipped).collect::<Vec<Value>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

/// Writes the results as Markdown: a table for each kind of keys.
///
/// # Errors
///
/// Errors of `out`.
pub fn markdown(report: &Report, out: &mut Vec<u8>) -> io::Result<()> {
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
