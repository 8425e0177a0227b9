//! Results as JSON, with every sample and the full description of the machine.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::report::{Measurement, Report, Skipped};

/// Writes the report to `out`.
///
/// # Errors
///
/// Errors of `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
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
