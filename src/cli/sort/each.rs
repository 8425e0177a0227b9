//! `gpusort sort --each`: sorts file after file on one device. Another thread reads the next file, and
//! further threads write the sorted files.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::{fs, io, thread};

use anyhow::{bail, ensure};
use gpusort::files::Report;
use gpusort::{Error, ErrorKind, PlanError};
use gpusort_base::human;
use gpusort_base::parallel::{self, Meanwhile};
use gpusort_files::{ChooseSorter, Job, To};

use super::{notes, options, tell};
use crate::cli::args::{OrderArgs, SortArgs};
use crate::cli::device::Devices;
use crate::cli::remedies::hints;
use crate::cli::report::progress::Progress;
use crate::cli::{format, is_broken_pipe};

/// One file with its job.
struct One {
    file: PathBuf,
    job: Job<'static>,
    /// The output path.
    target: PathBuf,
}

impl One {
    /// Bytes of the input; the maximum if they are unknown.
    fn bytes(&self) -> u64 {
        self.job.expected().map_or(u64::MAX, |expected| expected.bytes)
    }

    /// Returns true if memory holds this result besides the others, so that they are written at the same
    /// time.
    fn joins<'o>(&self, others: impl ExactSizeIterator<Item = &'o Self>) -> bool {
        let count = others.len();
        let bytes = others.map(Self::bytes).fold(self.bytes(), u64::saturating_add);
        count == 0 || self.job.holds(bytes)
    }

    /// Reports on the file that was written.
    fn end(&self, args: &SortArgs, report: &Report, progress: &Progress) -> anyhow::Result<()> {
        notes(&self.job, "sorted", args.quiet, progress);
        let timing_to = options::timing(args, false, self.job.format())?;
        progress.suspend(|| tell(args, timing_to, &self.job, report, Some(&self.file)))
    }
}

/// The most files written while the next file is sorted. Signal handlers remove the temporary files of up to
/// eight; the limit of open files divided by the most that one sort opens may be less.
fn most_writers() -> usize {
    const MOST: usize = 5;
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        const FILES_OF_A_SORT: u64 = 32;
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        MOST.min(usize::try_from(limit / FILES_OF_A_SORT).unwrap_or(MOST))
    }
    #[cfg(not(unix))]
    MOST
}

/// A result that another thread writes, or the error of its sort.
type Written<'s> = Result<Meanwhile<'s, Result<Report, Error>>, Error>;

/// Sorts every file. A file that fails is reported on stderr; the other files are still
/// sorted.
pub(super) fn run(args: &SortArgs) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    let jobs = jobs(args, &mut wrong)?;
    let progress = Progress::new(args.when());
    let mut devices = Devices::new(args, &progress)?;
    wrong.iter().for_each(|error| progress.note(&hints::shown(error)));
    let expected = jobs.iter().filter_map(|one| one.job.expected());
    devices.expect(expected.max_by_key(|input| input.n));
    thread::scope(|scope| {
        let mut rest = jobs.iter().map(|one| (one, parallel::meanwhile(scope, || one.job.load())));
        let mut next = rest.next();
        let mut failed = wrong.len();
        let mut end = |(one, written): (&One, Written)| {
            let report = written.and_then(Meanwhile::wait).map_err(anyhow::Error::from);
            match report.and_then(|report| one.end(args, &report, &progress)) {
                Err(error) if is_broken_pipe(&error) => return Err(error),
                Err(error) => {
                    progress.note(&hints::shown(&error));
                    failed += 1;
                }
                Ok(()) => {}
            }
            Ok(())
        };
        let most_writers = most_writers();
        let mut writing = VecDeque::new();
        while let Some((one, reading)) = next {
            let loaded = reading.wait();
            next = rest.next();
            let sorted =
                loaded.and_then(|loaded| one.job.sort_only(loaded, &mut devices, To::File(&one.target)));
            while !one.joins(writing.iter().map(|(one, _)| *one)) {
                writing.pop_front().map_or(Ok(()), &mut end)?;
            }
            writing.push_back((one, sorted.map(|write| parallel::meanwhile(scope, write))));
            if writing.len() > most_writers {
                writing.pop_front().map_or(Ok(()), &mut end)?;
            }
        }
        writing.into_iter().try_for_each(&mut end)?;
        ensure!(failed == 0, "{failed} of {} files not sorted", jobs.len() + wrong.len());
        Ok(())
    })
}

/// The jobs of all files, determined before any file is touched; `wrong` gets the errors of files that cannot
/// be sorted.
fn jobs(args: &SortArgs, wrong: &mut Vec<anyhow::Error>) -> anyhow::Result<Vec<One>> {
    let folder = format::unless_stdout(args.output.clone());
    if folder.is_none() && !args.in_place {
        ensure!(args.output.is_some(), "--each needs an output folder (-o DIR) or --in-place");
        bail!("--each cannot write to standard output; name a folder with -o");
    }
    let files = &args.order.files;
    ensure!(!files.is_empty(), "--each needs input files");
    // The options common to all files.
    let rest = SortArgs { order: OrderArgs { files: Vec::new(), ..args.order.clone() }, ..args.clone() };
    let inputs: HashSet<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
    let mut jobs = Vec::with_capacity(files.len());
    let mut targets: HashMap<PathBuf, PathBuf> = HashMap::new();
    for file in files {
        let Some(name) = file.file_name().filter(|name| *name != "-") else {
            bail!("{}: --each sorts files, not standard input", human::path(file));
        };
        let target = folder.as_ref().map_or_else(|| file.clone(), |folder| folder.join(name));
        if folder.is_some() && target.canonicalize().is_ok_and(|real| inputs.contains(&real)) {
            let (target, file) = (human::path(&target), human::path(file));
            bail!(
                "{target}: is the output for {file} and an input; \
                 name another folder, or use --in-place to replace the inputs"
            );
        }
        if let Some(other) = targets.insert(target.clone(), file.clone()) {
            let [other, file, target] = [&other, file, &target].map(|path| human::path(path));
            bail!(
                "{other} and {file} would both be written to {target}; use two calls with different folders"
            );
        }
        let mut one = rest.clone();
        one.order.files.push(file.clone());
        match options::sort(&one)?.resolve(Some(&target)) {
            Ok(job) => {
                ensure!(
                    job.format() == job.decisions.format,
                    "{}: --each keeps the format of each file; leave out --to",
                    human::path(file)
                );
                jobs.push(One { file: file.clone(), job, target });
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::Options { .. } | ErrorKind::Plan(PlanError::NoVariant(_))
                ) =>
            {
                return Err(error.into());
            }
            Err(error) => wrong.push(error.into()),
        }
    }
    if let Some(folder) = folder
        && let Err(error) = fs::create_dir(&folder)
        && !folder.is_dir()
    {
        let folder = human::path(&folder);
        if error.kind() == io::ErrorKind::AlreadyExists {
            bail!("{folder}: is a file; --each needs a folder (-o DIR)");
        }
        bail!("{folder}: cannot create the folder: {}", human::system(&error));
    }
    Ok(jobs)
}
