//! `gpusort sort --each`: sorts each file on its own, reading the next one meanwhile, all on one device.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;
use std::{fs, io, thread};

use anyhow::{bail, ensure};
use gpusort::unstable::io::How;
use gpusort::unstable::io::{Input, Output};
use gpusort::unstable::pipeline::{Dataset, Parts, Unwatched};
use gpusort::unstable::runs::Budget;
use gpusort::unstable::{human, parallel};

use super::options::Options;
use super::{sort_all, tell};
use crate::cli::args::{OrderArgs, SortArgs};
use crate::cli::device::Devices;
use crate::cli::is_broken_pipe;
use crate::cli::progress::Progress;
use crate::cli::{format, hints};

/// One file with its options.
struct Job {
    file: PathBuf,
    options: Options,
    /// The output path.
    target: PathBuf,
    in_place: bool,
    how: OnceLock<How>,
    /// That of one of two files, since the next one is read while one is sorted.
    budget: Budget,
}

impl Job {
    /// The first part of it, mostly all, and what is left.
    fn read(&self) -> anyhow::Result<(Dataset<'static>, Parts<'_>)> {
        let metadata = fs::metadata(&self.target);
        // A pipe would be drained, and then wait for a reader of the sorted data.
        if self.in_place && metadata.is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            bail!("{}: is no regular file, which --in-place could replace", human::path(&self.file));
        }
        let input = &self.options.input;
        let how = input.how()?;
        let how = self.how.get_or_init(|| how);
        let mut parts = Parts::new(&input.inputs, how, &self.budget, &Unwatched);
        Ok((parts.next_part()?, parts))
    }
}

/// Sorts every file. Files that cannot be sorted are reported on stderr; the others are still sorted.
pub(super) fn run(args: &SortArgs) -> anyhow::Result<()> {
    let jobs = jobs(args)?;
    // There is at least one job.
    let first = &jobs[0];
    let progress = Progress::new(first.options.progress);
    let mut devices = first.options.devices();
    let expected = jobs.iter().filter_map(|job| job.options.expected());
    devices.expect(expected.max_by_key(|input| input.n));
    thread::scope(|scope| {
        let mut next = Some(parallel::meanwhile(scope, || first.read()));
        let mut failed = 0;
        for (number, job) in jobs.iter().enumerate() {
            let begin = Instant::now();
            let Some(reading) = next.take() else { break };
            let input = reading.wait();
            next = jobs.get(number + 1).map(|job| parallel::meanwhile(scope, || job.read()));
            match input
                .and_then(|(first, parts)| sort_file(job, first, parts, &mut devices, &progress, begin))
            {
                Err(error) if is_broken_pipe(&error) => return Err(error),
                Err(error) => {
                    progress.note(&hints::shown(&error));
                    failed += 1;
                }
                Ok(()) => {}
            }
        }
        ensure!(failed == 0, "{failed} of {} files not sorted", jobs.len());
        Ok(())
    })
}

fn sort_file(
    job: &Job,
    first: Dataset<'static>,
    parts: Parts,
    devices: &mut Devices,
    progress: &Progress,
    begin: Instant,
) -> anyhow::Result<()> {
    let mut output = Output::file(&job.target)?;
    if job.in_place {
        output = output.compressed_as(job.options.input.inputs.first().and_then(Input::compression));
    }
    let timing = sort_all(&job.options, first, parts, output, devices, progress, begin)?;
    let Some(mut timing) = timing else { return Ok(()) };
    timing.file = Some(job.file.display().to_string());
    progress.suspend(|| tell(&timing, &job.options))
}

/// The jobs of all files, at least one, determined before any of them is touched.
fn jobs(args: &SortArgs) -> anyhow::Result<Vec<Job>> {
    let folder = format::unless_stdout(args.output.clone());
    if folder.is_none() && !args.in_place {
        ensure!(args.output.is_some(), "--each needs --in-place, or a folder for the sorted files with -o");
        bail!("--each writes a file for each, and standard output is none; -o names a folder for them");
    }
    let files = &args.order.files;
    ensure!(!files.is_empty(), "--each needs files to sort");
    ensure!(!args.argsort, "--each writes files like those it reads, and --argsort does not");
    // The options common to all files.
    let rest = SortArgs { order: OrderArgs { files: Vec::new(), ..args.order.clone() }, ..args.clone() };
    let inputs: HashMap<PathBuf, &PathBuf> =
        files.iter().filter_map(|file| Some((file.canonicalize().ok()?, file))).collect();
    let mut jobs = Vec::with_capacity(files.len());
    let mut targets: HashMap<PathBuf, PathBuf> = HashMap::new();
    for file in files {
        let Some(name) = file.file_name().filter(|name| *name != "-") else {
            bail!("{}: --each sorts files, each under its name", human::path(file));
        };
        let target = folder.as_ref().map_or_else(|| file.clone(), |folder| folder.join(name));
        if folder.is_some()
            && let Ok(real) = target.canonicalize()
            && let Some(input) = inputs.get(&real)
        {
            let target = human::path(&target);
            if file.canonicalize().is_ok_and(|file| file == real) {
                bail!("{target}: is there already; --in-place sorts it there");
            }
            bail!("{target}: would be what {} becomes, and is {}", human::path(file), human::path(input));
        }
        if let Some(other) = targets.insert(target.clone(), file.clone()) {
            let [other, file, target] = [&other, file, &target].map(|path| human::path(path));
            bail!("{other} and {file} would both become {target}");
        }
        let mut one = SortArgs { output: Some(target.clone()), ..rest.clone() };
        one.order.files.push(file.clone());
        let options = Options::new(one)?;
        ensure!(
            options.ask.format == options.input.format,
            "{}: --each keeps a file's format, which is not what --to names",
            human::path(file)
        );
        let (how, budget) = (OnceLock::new(), options.budget().shared_by(2));
        jobs.push(Job { file: file.clone(), options, target, in_place: args.in_place, how, budget });
    }
    if let Some(folder) = folder
        && let Err(error) = fs::create_dir(&folder)
        && !folder.is_dir()
    {
        let folder = human::path(&folder);
        if error.kind() == io::ErrorKind::AlreadyExists {
            bail!("{folder}: is a file; with --each, -o names a folder");
        }
        bail!("{folder}: no folder for the sorted files: {}", human::system(&error));
    }
    Ok(jobs)
}
