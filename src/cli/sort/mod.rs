//! `gpusort sort`: calls the library, and reports what it did.

mod each;
pub(super) mod options;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use gpusort::files::{Counts, Phase, Progress as Done, Report, Respelled};
use gpusort_base::{human, parallel};
use gpusort_files::{Job, To};

use self::options::TimingTo;
use super::args::{self, CheckArgs, SortArgs};
use super::device::Devices;
use super::remedies::{self, FileAsKey};
use super::report::explain;
use super::report::progress::{Progress, Unit};
use super::report::timing::Timing;
use super::{allocator, check, format, say};

/// Shows the phases on the progress bar; `read` names the phase of reading.
pub(super) fn watched(
    progress: &Progress,
    read: &'static str,
    to_terminal: bool,
) -> impl Fn(Done) + Send + Sync + use<> {
    let progress = progress.clone();
    move |Done { phase, done, total, .. }| {
        // A phase begins with nothing done.
        if done > 0 {
            return progress.set(done);
        }
        let (name, unit) = match phase {
            Phase::Read => (read, Unit::Bytes),
            Phase::Order if total.is_some() => ("sort", Unit::Passes),
            Phase::Order => ("sort", Unit::Time),
            Phase::Write => ("write", Unit::Records),
            Phase::Merge => ("merge", Unit::Records),
            _ => ("parse", Unit::Time),
        };
        // The bar must not appear between records.
        if to_terminal && matches!(phase, Phase::Write | Phase::Merge) {
            progress.end();
        }
        progress.phase(name, unit, total);
    }
}

impl SortArgs {
    /// Returns when to show a progress bar.
    fn when(&self) -> args::Progress {
        let is_silent = self.quiet || self.feeds_a_pipe();
        if is_silent && !self.is_typed("progress") { args::Progress::Never } else { self.progress.progress }
    }

    /// Returns the verb for the work.
    fn did(&self) -> &'static str {
        match self {
            Self { counts_keys: true, .. } => "counted",
            Self { shuffle: Some(_), .. } => "shuffled",
            Self { merge: true, .. } => "merged",
            _ => "sorted",
        }
    }

    /// Returns true if this option was typed.
    fn is_typed(&self, option: &str) -> bool {
        self.typed.contains(&option)
    }

    /// Returns the first typed option that selects the device or the method.
    fn typed_method(&self) -> Option<&'static str> {
        args::METHOD.into_iter().find(|option| self.is_typed(option))
    }

    /// Returns true if standard output is a pipe, and no typed option asks how the data are sorted. The next
    /// program of a pipeline may show its own screen.
    fn feeds_a_pipe(&self) -> bool {
        let is_asked = self.verbose || self.json || self.is_typed("timing") || self.typed_method().is_some();
        !is_asked && stdout_is_pipe()
    }
}

/// Returns true if standard output is a pipe or a socket.
fn stdout_is_pipe() -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FileType, fstat};
        let kind = fstat(io::stdout()).map(|stdout| FileType::from_raw_mode(stdout.st_mode));
        matches!(kind, Ok(FileType::Fifo | FileType::Socket))
    }
    #[cfg(windows)]
    {
        use std::fs::File;
        use std::os::windows::io::AsHandle;
        // Windows has metadata for files, but not for pipes.
        let stdout = io::stdout().as_handle().try_clone_to_owned();
        !io::stdout().is_terminal() && stdout.is_ok_and(|stdout| File::from(stdout).metadata().is_err())
    }
}

pub(super) fn run(mut args: SortArgs) -> anyhow::Result<ExitCode> {
    if let Some(threads) = args.parallel {
        parallel::limit(usize::try_from(threads)?);
    }
    if let Some(memory) = args.buffer_size.or(args.memory) {
        allocator::have_few_heaps(memory);
    }
    options::expand(&mut args.order)?;
    remedies::check_habits(&args.device, &args.order)?;
    let checks = args.check.is_some() || args.check_quietly;
    ensure!(
        args.each || !args.in_place,
        "--in-place works only with --each; to replace one file, use -o FILE"
    );
    if let Some(option) = args.typed_method().filter(|_| checks || args.merge) {
        let does = if checks { "--check" } else { "--merge" };
        bail!("--{option} has no effect with {does}; leave it out");
    }
    if checks {
        let quiet = args.quiet || args.check_quietly || args.check.unwrap_or(false);
        return check::run(CheckArgs { order: args.order, progress: args.progress, quiet });
    }
    if args.each {
        each::run(&args)?;
        return Ok(ExitCode::SUCCESS);
    }
    format::check_output(args.output.as_deref(), args.to, Some(&args.order))?;
    let file = FileAsKey::of(&args.order, args.quiet)?;
    args.output = format::unless_stdout(args.output);
    sort(&args, &file).map_err(|error| file.explain(error))?;
    Ok(ExitCode::SUCCESS)
}

fn sort(args: &SortArgs, file: &FileAsKey) -> anyhow::Result<()> {
    let progress = Progress::new(args.when());
    let output = args.output.as_deref();
    let to_terminal = output.is_none() && io::stdout().is_terminal();
    let sort = options::sort(args)?.progress(watched(&progress, "read", to_terminal));
    let mut job = sort.resolve(output)?;
    if args.explain {
        let explained = job.explain()?;
        drop(progress);
        return super::print(&match args.json {
            true => format!("{}\n", explain::object(&explained)),
            false => explain::lines(&explained),
        });
    }
    // Counts are for readers, also behind a pipe.
    if to_terminal || output.is_none() && args.counts_keys && args.to.is_none() {
        job.print();
    }
    let timing_to = options::timing(args, output.is_none(), job.format())?;
    job.is_last = true;
    notes(&job, args.did(), args.quiet, &progress);
    let to = output.map_or(To::Stdout, To::File);
    let report = if args.merge {
        job.merge(to)?
    } else {
        let mut devices = Devices::new(args, &progress)?;
        if job.decisions.is_nothing {
            file.refuse()?;
        }
        job.run(&mut devices, to)?
    };
    drop(progress);
    tell(args, timing_to, &job, &report, None)
}

/// Prints notes on the decisions about an input that was `did`, sorted or compared.
pub(super) fn notes(job: &Job, did: &str, quiet: bool, progress: &Progress) {
    if !quiet {
        let notes = job.decisions.notes.iter().filter_map(|note| options::note(note, did));
        notes.for_each(|note| progress.note(&note));
    }
}

/// Prints notes on a finished sort, and the timing to `to`, if requested. `file` names the input if several
/// were sorted separately.
fn tell(
    args: &SortArgs,
    to: Option<TimingTo>,
    job: &Job,
    report: &Report,
    file: Option<&Path>,
) -> anyhow::Result<()> {
    let Counts { respelled, skipped, .. } = &report.counts;
    if let Some(Respelled { place, value, kept }) = respelled
        && !args.quiet
        && !args.json
    {
        say(format_args!("{place}: left out '{value}', which equals '{kept}' but is spelled differently"));
    }
    let Some(to) = to else {
        // Without a timing line, nothing else reports the skipped rows.
        if *skipped > 0 && !args.quiet {
            let rows = human::counted(*skipped, "row with an invalid field", "rows with invalid fields");
            say(format_args!("skipped {rows} (--invalid skip)"));
        }
        return Ok(());
    };
    let type_assumed = job.decisions.type_assumed && !args.merge;
    let timing = Timing { report, file, did: args.did(), type_assumed, explained: job.explain()? };
    let line = match (args.json, args.verbose) {
        (true, _) => timing.json(),
        (_, true) => timing.to_string(),
        _ => timing.brief(),
    };
    match to {
        TimingTo::Stdout => super::print(&format!("{line}\n"))?,
        TimingTo::StdoutComment => super::print(&format!("# {line}\n"))?,
        // One write, because other processes may write to standard error too.
        TimingTo::Stderr => drop(io::stderr().write_all(format!("{line}\n").as_bytes())),
    }
    Ok(())
}
