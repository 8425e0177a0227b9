//! `gpusort check`: checks whether the inputs are in order.

use std::fmt::Display;
use std::process::ExitCode;

use gpusort::files::Sort;

use super::args::{CheckArgs, Progress as When};
use super::manifest;
use super::remedies::FileAsKey;
use super::report::progress::Progress;
use super::sort::{notes, options, watched};

/// The exit code for disorder.
const DISORDER: u8 = 1;

pub(super) fn run(mut args: CheckArgs) -> anyhow::Result<ExitCode> {
    let quiet = args.quiet;
    options::expand(&mut args.order)?;
    let file = FileAsKey::of(&args.order, quiet)?;
    let options = match manifest::find(&args.order)? {
        None => options::of(&args.order)?,
        Some(Ok(Some(options))) => options,
        Some(Ok(None)) => return Ok(ExitCode::SUCCESS),
        Some(Err(problems)) => {
            tell(quiet, &problems);
            return Ok(ExitCode::from(DISORDER));
        }
    };
    let progress = Progress::new(if quiet { When::Never } else { args.progress.progress });
    let job = Sort::new().options(options).progress(watched(&progress, "check", false)).resolve(None)?;
    notes(&job, "compared", quiet, &progress);
    let found = job.check().map_err(|error| file.explain(error.into()))?;
    progress.end();
    let Some(disorder) = found.disorder() else { return Ok(ExitCode::SUCCESS) };
    tell(quiet, &[disorder]);
    Ok(ExitCode::from(DISORDER))
}

fn tell(quiet: bool, problems: &[impl Display]) {
    problems.iter().filter(|_| !quiet).for_each(super::say);
}
