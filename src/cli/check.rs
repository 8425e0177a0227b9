//! `gpusort check`: checks whether the inputs are in order.

use std::io::{self, Write};
use std::process::ExitCode;

use gpusort::unstable::io::ordered::{self, Disorder};

use super::args::CheckArgs;
use super::sort::options::InputOptions;

/// The exit code for disorder.
const DISORDER: u8 = 1;

pub(super) fn run(args: CheckArgs) -> anyhow::Result<ExitCode> {
    let quiet = args.quiet;
    let options = InputOptions::new(args.order)?;
    let found = ordered::check(&options.inputs, &options.how()?, options.unique)?;
    let Some(Disorder { place, value, before }) = found else { return Ok(ExitCode::SUCCESS) };
    if !quiet {
        // If this cannot be written, the exit code remains.
        let _ = writeln!(io::stderr(), "gpusort: {place}: disorder: {value} after {before}");
    }
    Ok(ExitCode::from(DISORDER))
}
