//! Results in files: as CSV and Markdown, and as JSON with every sample and the full description of the
//! machine.

use std::io;

use serde_json::{Value, json};

use crate::report::{Measurement, Report, Skipped};
use crate::table::{COLUMNS, cells};
use gpusort_base::human::grouped;

/// The results as CSV, with a header: a line for each [`Row`](crate::Row).
///
/// # Errors
///
/// A field that CSV cannot hold.
pub fn csv(report: &Report) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for result in &report.results {
        writer.serialize(report.row(result))?;
    }
    let text = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// The report as JSON.
pub fn json(report: &Report) -> String {
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
    format!("{whole:#}\n")
}

/// The results as Markdown: a table for each kind of keys.
pub fn markdown(report: &Report) -> String {
    let machine = &report.machine;
    let mut text = format!("{}  \nCPU: {}, {}", machine.headline(), machine.cpu, machine.details());
    text.extend(report.gpus().map(|gpu| format!("  \nGPU: {gpu}")));
    text.push('\n');
    let titles: Vec<&str> = COLUMNS.iter().map(|column| column.title).collect();
    let (rules, titles) = ("---:|".repeat(titles.len()), titles.join(" | "));
    for kind in report.kinds() {
        text += &format!("\n## {}, {}\n\n", kind.type_name(), kind.distribution);
        text += &format!("| n | sort | device | {titles} |\n|---:|---|---|{rules}\n");
        for result in report.of_kind(kind) {
            let case = &result.case;
            let (n, device) = (grouped(case.n), case.device.replace('|', "\\|"));
            let cells = cells(report, result).join(" | ");
            text += &format!("| {n} | {} | {device} | {cells} |\n", case.method());
        }
    }
    if report.results.iter().any(|result| report.grows(result)) {
        text += "\n`!`: the time per element is more than 1.3 times that of the previous power of two.\n";
    }
    text
}
