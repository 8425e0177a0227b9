//! Results as JSON, with every sample and the full description of the machine.

use std::io::{self, Write};

use serde::Serialize;

use super::machine::Machine;
use super::report::{DeviceReport, Measurement, Report, Row};

#[derive(Serialize)]
struct Whole<'a> {
    machine: WithDevices<'a>,
    results: Vec<Result<'a>>,
    skipped: Vec<Skipped<'a>>,
}

#[derive(Serialize)]
struct WithDevices<'a> {
    #[serde(flatten)]
    machine: &'a Machine,
    devices: &'a [DeviceReport],
}

#[derive(Serialize)]
struct Result<'a> {
    #[serde(flatten)]
    row: Row,
    clock: &'a str,
    /// Time to build the kernels and allocate device memory before the first run.
    prepare_ms: f64,
    upload_ms: f64,
    download_ms: f64,
    /// The bandwidth of the passes relative to the device's copies.
    part_of_copy: Option<f64>,
    samples_ms: Vec<f64>,
    end_to_end_samples_ms: Vec<f64>,
}

#[derive(Serialize)]
struct Skipped<'a> {
    device: &'a str,
    algo: &'a str,
    variant: &'a str,
    #[serde(rename = "type")]
    element: String,
    dist: &'a str,
    n: usize,
    why: &'a str,
}

/// Writes the report to `out`.
///
/// # Errors
///
/// Errors of `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let result = |result: &Measurement| Result {
        row: report.row(result),
        clock: result.samples.first().map_or("host", |sample| sample.sort.clock.name()),
        prepare_ms: result.prepare_ms,
        upload_ms: result.median_ms(|sample| sample.upload),
        download_ms: result.median_ms(|sample| sample.download),
        part_of_copy: report.part_of_copy(result),
        samples_ms: result.each_ms(|sample| sample.sort.time),
        end_to_end_samples_ms: result.each_ms(|sample| sample.end_to_end),
    };
    let skipped = report.skipped.iter().map(|skipped| Skipped {
        device: &skipped.case.device,
        algo: skipped.case.algorithm,
        variant: skipped.case.variant,
        element: skipped.case.type_name(),
        dist: skipped.case.distribution.name(),
        n: skipped.case.n,
        why: &skipped.why,
    });
    let whole = Whole {
        machine: WithDevices { machine: &report.machine, devices: &report.devices },
        results: report.results.iter().map(result).collect(),
        skipped: skipped.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}
