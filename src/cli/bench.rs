//! `gpusort bench`: resolves the options, prints results as they arrive, and writes exports at the
//! end.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, bail};
use console::Term;
use gpusort::files::Output;
use gpusort::{ErrorKind, Select};
use gpusort_base::parallel::lock;
use gpusort_base::{human, memory};
use gpusort_bench::table::Table;
use gpusort_bench::{self as bench, Case, Event, Pace, Report, Suite, export, plot};
use gpusort_engine::gpu::Gpu;
use gpusort_planner::plan::{Algorithm, Variant};

use super::end;

use super::args::{BenchArgs, OrAuto, Progress as When};
use super::device::Device;
use super::format::{check_picture, unless_stdout};
use super::report::progress::{Progress, Unit};

type Text = fn(&Report) -> anyhow::Result<String>;

/// A file to be written from the results; without a path it goes to standard output.
struct Export {
    option: &'static str,
    path: Option<PathBuf>,
    text: Text,
    /// True for data that a program reads: standard output then has nothing else.
    is_data: bool,
}

const NO_RESULT: &str = "no result to plot: every case was skipped; raise --time-limit or lower --sizes";

fn terminal_plot(report: &Report) -> anyhow::Result<String> {
    let (rows, columns) = Term::stdout().size();
    let (columns, rows) = (usize::from(columns).clamp(60, 120), usize::from(rows).clamp(20, 32) - 2);
    let plot = plot::terminal(report, columns, rows).context(NO_RESULT)?;
    Ok(if console::colors_enabled() { plot } else { console::strip_ansi_codes(&plot).into_owned() })
}

/// The files to be written, each checked.
fn exports(args: &BenchArgs) -> anyhow::Result<Vec<Export>> {
    let json: Text = |report| Ok(export::json(report));
    let stdout = args.json.then(|| PathBuf::from("-"));
    let exports: [(_, _, Text); 5] = [
        ("--json", &stdout, json),
        ("--export-json", &args.export_json, json),
        ("--export-csv", &args.export_csv, |report| Ok(export::csv(report)?)),
        ("--export-markdown", &args.export_markdown, |report| Ok(export::markdown(report))),
        ("--plot", &args.plot, |report| plot::svg(report).context(NO_RESULT)),
    ];
    let export = |(option, path, text): (_, &Option<PathBuf>, Text)| {
        let (path, is_data) = (unless_stdout(Some(path.clone()?)), option != "--plot");
        let text = if is_data || path.is_some() { text } else { terminal_plot };
        Some(Export { option, path, text, is_data })
    };
    let exports: Vec<Export> = exports.into_iter().filter_map(export).collect();
    for (number, Export { option, path, is_data, .. }) in exports.iter().enumerate() {
        if let Some(other) = exports[..number].iter().find(|other| other.path == *path) {
            let place = path.as_deref().map_or_else(|| "standard output".to_owned(), human::path);
            bail!("{place}: {} and {option} both write there; name another file for {option}", other.option);
        }
        let Some(path) = path else { continue };
        if !is_data {
            check_picture(path, option)?;
        }
        Output::check(path)?;
    }
    Ok(exports)
}

/// Each algorithm with its requested variants; `None` requests all variants. Without a request, each device
/// uses its default.
fn methods(
    algorithms: &[OrAuto<Algorithm>],
    variants: &[OrAuto<Variant>],
) -> anyhow::Result<Vec<(Algorithm, Option<Variant>)>> {
    let named: Option<Vec<Algorithm>> = algorithms.iter().copied().collect();
    let algorithms = named.as_deref().unwrap_or(&Algorithm::ALL);
    if variants.is_empty() {
        return Ok(algorithms.iter().map(|&algorithm| (algorithm, None)).collect());
    }
    let is_asked = |variant: Variant| variants.iter().any(|asked| asked.is_none_or(|asked| asked == variant));
    let mut methods = Vec::new();
    for &algorithm in algorithms {
        let asked = algorithm.variants().iter().filter(|&&variant| is_asked(variant));
        methods.extend(asked.map(|&variant| (algorithm, Some(variant))));
    }
    for variant in variants.iter().flatten() {
        if !methods.iter().any(|(_, has)| *has == Some(*variant)) {
            // Fails with the message.
            algorithms[0].variant(Some(*variant))?;
        }
    }
    Ok(methods)
}

fn start(names: &[String], quiet: bool, progress: &Progress) -> anyhow::Result<Vec<bench::Device>> {
    let gpu = |select: &Select| {
        let begin = Instant::now();
        let gpu = Gpu::start(select)?;
        let started = begin.elapsed();
        bench::Device::gpu(gpu, started)
    };
    let asked = names.iter().map(|name| Device::named(name.trim()));
    let mut devices = Vec::new();
    for device in super::distinct(asked.collect::<Result<_, _>>()?) {
        progress.phase("starting the device", Unit::Time, None);
        let device = match device {
            Device::Cpu => Ok(bench::Device::cpu()),
            Device::Gpu(select) => gpu(&select),
            Device::Auto => gpu(&Select::Hardware).or_else(|error| match error.kind() {
                ErrorKind::NoDevice { .. } => {
                    if !quiet {
                        progress.note(
                            "no hardware GPU found: the networks run on the CPU, and radix is left out; \
                             to time a software GPU in 'gpusort devices', use --device 0",
                        );
                    }
                    Ok(bench::Device::cpu())
                }
                _ => Err(error),
            }),
        }?;
        // There is only one CPU, whether requested or a replacement for a missing GPU.
        if device.report.is_gpu() || devices.iter().all(|other: &bench::Device| other.report.is_gpu()) {
            devices.push(device);
        }
    }
    bench::Device::number(&mut devices);
    Ok(devices)
}

/// The results so far, and the number printed.
struct Live {
    report: Report,
    table: Table,
    table_on: Place,
    exports: Vec<Export>,
    /// The kind of keys of the current table section.
    kind: Option<Case>,
    results_told: usize,
    skipped_told: usize,
    is_over: bool,
}

/// The table's destination: stderr if an export takes standard output, nowhere with `--json` or once its
/// reader is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Stdout,
    Stderr,
    Nowhere,
}

impl Live {
    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        match self.table_on {
            Place::Stderr => return io::stderr().write_all(text.as_bytes()).context("standard error"),
            Place::Nowhere => return Ok(()),
            Place::Stdout => {}
        }
        match super::print(text) {
            // The exports remain to be written.
            Err(error) if super::is_broken_pipe(&error) && !self.exports.is_empty() => {
                self.table_on = Place::Nowhere;
                Ok(())
            }
            printed => printed,
        }
    }

    /// Prints the new results as one group.
    fn tell(&mut self) -> anyhow::Result<()> {
        let results = &self.report.results[self.results_told..];
        let skipped = &self.report.skipped[self.skipped_told..];
        let mut cases = results.iter().map(|it| &it.case).chain(skipped.iter().map(|it| &it.case));
        let Some(case) = cases.next() else { return Ok(()) };
        let mut text = String::new();
        if !self.kind.as_ref().is_some_and(|kind| kind.same_kind(case)) {
            text = self.table.heading(case);
            self.kind = Some(case.clone());
        }
        text.push_str(&self.table.group(&self.report, results, skipped));
        self.print(&text)?;
        (self.results_told, self.skipped_told) = (self.report.results.len(), self.report.skipped.len());
        Ok(())
    }

    /// Prints the remaining results and the conclusion, and writes the exports. Takes effect once.
    fn end(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let conclusion = self.table.conclusion(&self.report);
        let told = self.tell().and_then(|()| self.print(&conclusion));
        if self.report.results.is_empty() && self.report.skipped.is_empty() {
            // Keep earlier exports rather than replace them with nothing.
            return told;
        }
        // Independently: one failure must not lose the others.
        let write =
            |export: &Export| super::write(export.path.as_deref(), (export.text)(&self.report)?.as_bytes());
        let exported: Vec<_> = self.exports.iter().map(write).collect();
        exported.into_iter().fold(told, anyhow::Result::and)
    }
}

pub(super) fn run(args: BenchArgs) -> anyhow::Result<()> {
    let exports = exports(&args)?;
    let suite = Suite {
        sizes: args.sizes,
        methods: methods(&args.algo, &args.variant)?,
        types: super::distinct(args.types),
        distributions: super::distinct(args.dist),
        positions: args.with_positions,
        pace: Pace {
            runs: usize::try_from(args.runs)?,
            warm_up: args.warmup,
            limit: args.time_limit,
            seed: args.seed,
        },
    };
    memory::ensure("this benchmark", suite.memory())?;
    let progress = Progress::new(if args.quiet { When::Never } else { args.progress.progress });
    let devices = start(&args.device, args.quiet, &progress)?;
    let report = Report {
        machine: super::machine(),
        devices: devices.iter().map(|device| device.report.clone()).collect(),
        results: Vec::new(),
        skipped: Vec::new(),
    };
    let table_on = match args.json {
        true => Place::Nowhere,
        false if exports.iter().any(|export| export.is_data && export.path.is_none()) => Place::Stderr,
        false => Place::Stdout,
    };
    let to_stdout = table_on == Place::Stdout;
    let terminal = if to_stdout { Term::stdout() } else { Term::stderr() };
    let width = super::width(&terminal);
    let (cases, largest) = (suite.cases(&devices), suite.sizes.0.last().copied().unwrap_or_default());
    let mut live = Live {
        table: Table::new(&report, &cases, largest, width, to_stdout && console::colors_enabled()),
        report,
        table_on,
        exports,
        kind: None,
        results_told: 0,
        skipped_told: 0,
        is_over: false,
    };
    let introduction = live.table.introduction(&live.report);
    progress.suspend(|| live.print(&introduction))?;

    let live = Arc::new(Mutex::new(live));
    let (last, bar) = (Arc::clone(&live), progress.clone());
    end::say_at_last(move || {
        // Before the lock, whose holder may be waiting for the bar.
        bar.end();
        let mut live = lock(&last);
        if let Err(error) = live.end() {
            super::say(format_args!("{error:#}"));
        }
    });
    let measured = suite.run(&devices, &mut |event| tell(event, &live, &progress));
    let mut live = lock(&live);
    progress.end();
    // Results measured before a failure are still printed.
    let ended = live.end();
    measured.and(ended)
}

fn tell(event: Event, live: &Mutex<Live>, progress: &Progress) -> anyhow::Result<()> {
    match event {
        Event::Begins(case, runs) => {
            let n = human::grouped(case.n);
            let name = format!("{n} {} {}, {}", case.type_name(), case.distribution, case.method());
            progress.phase(name, Unit::Runs, Some(runs as u64));
        }
        Event::Ran(runs) => progress.set(runs as u64),
        Event::Measured(result) => lock(live).report.results.push(result),
        Event::Skipped(skipped) => lock(live).report.skipped.push(skipped),
        Event::SizeDone => progress.suspend(|| lock(live).tell())?,
    }
    Ok(())
}
