//! Results as CSV: a line each, the columns those of [`Row`](super::Row).

use std::io::{self, Write};

use super::report::Report;

/// Writes the results to `out`, with a header.
///
/// # Errors
///
/// What `out` says.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for result in &report.results {
        writer.serialize(report.row(result))?;
    }
    writer.flush()
}
