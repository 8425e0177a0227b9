//! Results as CSV, one line each; the columns are those of [`Row`](super::Row).

use std::io::{self, Write};

use super::report::Report;

/// Writes the results to `out`, with a header.
///
/// # Errors
///
/// Errors of `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for result in &report.results {
        writer.serialize(report.row(result))?;
    }
    writer.flush()
}
