//! `gpusort check`: checks whether the inputs are in order.

use std::io::{self, Write};
use std::process::ExitCode;

use gpusort::unstable::io::Input;
use gpusort::unstable::io::Stretches;
use gpusort::unstable::io::ordered::{self, Disorder};

use super::args::{CheckArgs, Progress as When};
use super::meant::{self, FileAsKey};
use super::progress::{Progress, Unit};
use super::sort::options::{self, InputOptions, Surroundings};
use super::usage;

/// The exit code for disorder.
const DISORDER: u8 = 1;

pub(super) fn run(mut args: CheckArgs) -> anyhow::Result<ExitCode> {
    let quiet = args.quiet;
    if args.order.sizes && usage::asks_for_help(std::env::args_os().len()) {
        return usage::help_of("check");
    }
    options::expand(&mut args.order)?;
    let (file, is_typed_in) = (FileAsKey::of(&args.order), args.order.files.is_empty());
    file.check()?;
    if is_typed_in {
        meant::tell_of_terminal(quiet);
    }
    let options = InputOptions::new(args.order, Surroundings::default())?;
    let how = options.how()?;
    let progress = Progress::new(if quiet { When::Never } else { args.progress.progress });
    options.note.filter(|_| !quiet).into_iter().for_each(|note| progress.note(note));
    progress.phase("check", Unit::Bytes, options.inputs.iter().map(Input::size).sum());
    let read = |done| progress.set(done);
    let found = ordered::check(&options.inputs, &how, options.unique, Stretches::default(), read);
    let found = found.map_err(|error| file.explain(error.into()))?;
    progress.end();
    let Some(Disorder { place, value, before }) = found else { return Ok(ExitCode::SUCCESS) };
    if !quiet {
        // If this cannot be written, the exit code remains.
        let _ = writeln!(io::stderr(), "gpusort: {place}: disorder: {value} after {before}");
    }
    Ok(ExitCode::from(DISORDER))
}
