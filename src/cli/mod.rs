//! The commands: argument parsing, messages and output. The only folder that uses clap, anyhow and
//! indicatif.

mod allocator;
mod args;
mod bench;
mod check;
#[cfg(unix)]
mod descriptors;
mod device;
mod devices;
mod digits;
mod end;
mod format;
mod generate;
mod manifest;
mod manual;
mod remedies;
mod report;
mod sort;
mod trace;
mod tune;

use std::ffi::OsString;
use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches};
use console::Term;
use gpusort::files::{Input, Output};
use gpusort_bench::machine::Machine;
use gpusort_bench::table;

pub(crate) use self::allocator::Counting;
use self::args::Command;

/// Runs the command in the arguments.
///
/// Exit codes: 0 success, including a closed output pipe; 1 a check found disorder; 2 any error,
/// including clap's; 130 interrupted.
pub(crate) fn main() -> ExitCode {
    prepare_environment();
    allocator::have_few_heaps(u64::MAX);
    end::install();
    match remedies::check_command().and_then(|()| parse().map_or_else(remedies::usage::answer, run)) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(remedies::hints::shown(&error));
            ExitCode::from(2)
        }
    }
}

fn run(cli: args::Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Merge(args) => return sort::run(args::SortArgs { merge: true, ..args }),
        Command::Count(args) => return sort::run(args::SortArgs { counts_keys: true, ..args }),
        Command::Shuffle(args::ShuffleArgs { seed, sort: args }) => {
            // A hasher has random keys.
            let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
            return sort::run(args::SortArgs { shuffle: Some(seed), ..args });
        }
        Command::Sort(args) => return sort::run(args),
        Command::Check(args) => return check::run(args),
        Command::Bench(args) => bench::run(args)?,
        Command::Devices { json } => devices::run(json)?,
        Command::Gen(args) => generate::run(args)?,
        Command::Trace(args) => trace::run(args)?,
        Command::Tune(args) => tune::run(&args)?,
        Command::Completions { shell } => manual::completions(shell)?,
        Command::Man { command } => manual::page(command.as_deref())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes repeated values.
fn distinct<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut distinct = Vec::with_capacity(values.len());
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Characters of a line on this terminal.
fn width(terminal: &Term) -> usize {
    terminal.size_checked().map_or(table::WIDTH, |(_, columns)| columns.into())
}

/// Makes the clap command.
fn command() -> clap::Command {
    // The sorts have it too, for users of `sort --version`.
    let version = || Arg::new("version").long("version").action(ArgAction::Version).help("Print version");
    // Help is short; the manual pages have the details.
    let help = || Arg::new("help").long("help").action(ArgAction::HelpShort).help("Print help");
    // The last of a repeated option counts, but the first of several outputs would be lost. Help does not show
    // the values of variables.
    let all = |command: clap::Command| {
        let command = command.mut_args(|argument| {
            let id = argument.get_id().clone();
            let is_repeatable = matches!(argument.get_action(), ArgAction::Append) || id == "output";
            let argument = if is_repeatable { argument } else { argument.overrides_with(id) };
            // A value below zero is an error about this option.
            let takes_number = !argument.is_positional() && argument.get_action().takes_values();
            argument.hide_env_values(true).allow_negative_numbers(takes_number)
        });
        // In sorts and checks, -h is the letter of sizes.
        let has_h = command.get_arguments().any(|argument| argument.get_short() == Some('h'));
        let command = command.disable_help_flag(true);
        if !has_h {
            return command.arg(help().short('h'));
        }
        let both = [help(), version()].map(|it| it.help_heading(args::MESSAGES).hide_short_help(true));
        // The help texts name the values, and the manual page names the variables.
        let command = command.mut_args(|argument| argument.hide_env(true)).hide_possible_values(true);
        command.long_version(VERSION.as_str()).disable_version_flag(true).args(both)
    };
    // Arguments shared with `sort` that `check` treats differently.
    let check = |command: clap::Command| {
        command
            .mut_arg("files", |files| files.help("Files to check, as one input; without any, standard input"))
            .mut_arg("unique", |unique| unique.help("Report equal keys, too").long_help(None))
    };
    let sort = |command: clap::Command| command.mut_arg("files", |files| files.hide_short_help(true));
    let mut command = args::Cli::command().mut_subcommands(all).mut_subcommand("check", check);
    // These hide the options that only a sort uses.
    let others: [(_, &[&str], _, _); 3] = [
        ("merge", &args::METHOD, include_str!("help/merge.txt"), "Sorted input files"),
        ("count", &args::NOT_COUNTED, include_str!("help/count.txt"), "Input files, counted together"),
        ("shuffle", &args::NOT_SHUFFLED, include_str!("help/shuffle.txt"), "Input files"),
    ];
    for (name, hidden, after, files) in others {
        command = command.mut_subcommand(name, |command| {
            let hide = |command: clap::Command, name| command.mut_arg(name, |argument| argument.hide(true));
            let command = args::OF_SORT.iter().chain(hidden).fold(command, hide).after_help(after.trim_end());
            let files = format!("{files}; without any, standard input");
            command.after_long_help(None::<&str>).mut_arg("files", |argument| argument.help(files))
        });
    }
    command = command.mut_subcommand("sort", sort).disable_help_flag(true);
    command.arg(help().short('h')).long_version(VERSION.as_str())
}

const COMPILER: &str = env!("GPUSORT_COMPILER");

/// The revision of the sources, if they were in a repository.
fn revision() -> Option<&'static str> {
    Some(env!("GPUSORT_REVISION")).filter(|revision| !revision.is_empty())
}

/// This machine, with this build of the program.
fn machine() -> Machine {
    Machine::here(revision(), COMPILER)
}

/// The output of `--version`, with the revision, compiler, features and back ends.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let if_on = |on, name| if on { name } else { "" };
    let gpu = cfg!(feature = "gpu");
    format!(
        "{}\nrevision {}, {}\nfeatures: cli{}{}{}\nback ends: cpu ({}){}{}{}",
        env!("CARGO_PKG_VERSION"),
        revision().unwrap_or("unknown"),
        COMPILER,
        if_on(gpu, " gpu"),
        if_on(cfg!(feature = "arrow"), " arrow"),
        if_on(cfg!(feature = "distributed"), " distributed"),
        gpusort_cpu::instructions(),
        if_on(gpu, " vulkan"),
        if_on(gpu && cfg!(target_vendor = "apple"), " metal"),
        if_on(gpu && cfg!(windows), " dx12"),
    )
});

/// The arguments of this process, completed as clap needs them.
static ARGUMENTS: LazyLock<Vec<OsString>> = LazyLock::new(|| {
    #[cfg(windows)]
    let all = wild::args_os();
    #[cfg(not(windows))]
    let all = std::env::args_os();
    let is_terminal = io::stdin().is_terminal();
    args::with_ignore_case(args::with_command(all.collect(), is_terminal, comes_in))
});

/// Returns true if standard input is neither a terminal nor `/dev/null`.
fn comes_in() -> bool {
    !io::stdin().is_terminal() && !Input::Stdin.is_nothing()
}

/// Parses the arguments, and notes options that were typed, not set by variables: only clap knows them.
fn parse() -> Result<args::Cli, clap::Error> {
    let matches = command().try_get_matches_from(&*ARGUMENTS)?;
    let mut cli = args::Cli::from_arg_matches(&matches)?;
    let Some((_, matches)) = matches.subcommand() else { return Ok(cli) };
    let is_typed = |option: &&str| matches.value_source(option) == Some(ValueSource::CommandLine);
    let refused: [&[&str]; 2] = match &cli.command {
        Command::Merge(_) => [&args::NOT_MERGED, &[]],
        Command::Count(_) => [&args::OF_SORT, &args::NOT_COUNTED],
        Command::Shuffle(_) => [&args::OF_SORT, &args::NOT_SHUFFLED],
        _ => [&[]; 2],
    };
    if let Some(&option) = refused.into_iter().flatten().find(|option| is_typed(option)) {
        let option = if option == "check_quietly" { "C" } else { &format!("-{}", option.replace('_', "-")) };
        let problem = format!("-{option} is for 'gpusort sort'; leave it out\n");
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, problem));
    }
    // A requirement in clap would also ask for --unique in 'gpusort count', which refuses both options.
    if let Command::Sort(args) = &cli.command
        && !args.order.unique
        && let Some(option) = ["count", "keep_order"].into_iter().find(is_typed)
    {
        let problem = format!("--{} needs --unique (-u); add it\n", option.replace('_', "-"));
        return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, problem));
    }
    if let Command::Sort(args)
    | Command::Merge(args)
    | Command::Count(args)
    | Command::Shuffle(args::ShuffleArgs { sort: args, .. }) = &mut cli.command
    {
        args.typed = args::METHOD.into_iter().chain(["timing", "progress"]).filter(is_typed).collect();
    }
    Ok(cli)
}

/// Prints a message on standard error, in one write, since other processes may write there too. A message that
/// cannot be written is lost.
fn say(message: impl Display) {
    drop(io::stderr().write_all(format!("gpusort: {message}\n").as_bytes()));
}

/// Prints `text` on standard output.
fn print(text: &str) -> anyhow::Result<()> {
    write(None, text.as_bytes())
}

/// Writes `text` into a file, or on standard output without one.
fn write(path: Option<&Path>, text: &[u8]) -> anyhow::Result<()> {
    let mut output = path.map_or_else(Output::stdout, Output::file)?;
    output.write_all(text).map_err(|error| output.failed(error))?;
    Ok(output.finish()?)
}

/// Returns the names of the variables that set defaults of options.
fn variables() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("GPUSORT_"))
}

fn prepare_environment() {
    for name in variables().filter(|name| std::env::var_os(name).is_some_and(|value| value.is_empty())) {
        // SAFETY: this runs first in the process, so no other thread reads the environment.
        unsafe { std::env::remove_var(name) };
    }
    // Mesa's device-select layer asks the display server for its preferred GPU, which takes 0.2 seconds,
    // and complains on stderr without a server. gpusort orders the devices itself.
    if cfg!(target_os = "linux") {
        // SAFETY: as above.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<gpusort::Error>().is_some_and(gpusort::Error::is_broken_pipe)
            || cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}
