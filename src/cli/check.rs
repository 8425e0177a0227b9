//! `gpusort check`: checks whether the inputs are in order.

use std::fmt::Display;
use std::process::ExitCode;

use gpusort::files::{Progress as Done, Sort};

use super::args::{CheckArgs, Progress as When};
use super::manifest::{self, Found};
use super::meant::{self, FileAsKey};
use super::progress::{Progress, Unit};
use super::sort::{notes, options};
use super::usage;

/// The exit code for disorder.
const DISORDER: u8 = 1;

pub(super) fn run(mut args: CheckArgs) -> anyhow::Result<ExitCode> {
    let quiet = args.quiet;
    if args.order.sizes && usage::asks_for_help() {
        return usage::help_of("check");
    }
    options::expand(&mut args.order)?;
    let (file, is_typed_in) = (FileAsKey::of(&args.order), args.order.files.is_empty());
    file.check()?;
    if is_typed_in {
        meant::tell_of_terminal(quiet);
    }
    let options = match manifest::find(&args.order)? {
        None => options::of(&args.order)?,
        Some(Found { problems, .. }) if !problems.is_empty() => {
            tell(quiet, &problems);
            return Ok(ExitCode::from(DISORDER));
        }
        Some(Found { options: Some(options), .. }) => options,
        Some(_) => return Ok(ExitCode::SUCCESS),
    };
    let progress = Progress::new(if quiet { When::Never } else { args.progress.progress });
    let watched = progress.clone();
    let watch = move |Done { done, total, .. }: Done| match done {
        0 => watched.phase("check", Unit::Bytes, total),
        done => watched.set(done),
    };
    let job = Sort::new().options(options).progress(watch).resolve(None)?;
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
