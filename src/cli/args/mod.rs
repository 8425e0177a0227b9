//! The arguments as typed. Nothing here opens a file or relates one option to another: the commands
//! resolve these into options.

mod bench;
mod sort;
mod trace;
mod typed;
mod values;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use gpusort::Format;
use gpusort_base::human::size;
use gpusort_bench::generate::{Distribution, Type};
use gpusort_order::key::ElementType;

pub(crate) use self::bench::BenchArgs;
pub(crate) use self::sort::{
    METHOD, NOT_COUNTED, NOT_MERGED, NOT_SHUFFLED, OF_SORT, OrderArgs, SortArgs, TimingArg,
};
pub(crate) use self::trace::TraceArgs;
pub(crate) use self::typed::{SORTS, with_command, with_ignore_case};
pub(crate) use self::values::{MESSAGES, OrAuto, Progress, ProgressArgs, TypeArg};

use self::typed::COMMANDS;
use self::values::{OF_NUMBERS, named, named_or};

/// Sort lines and tables by numbers, times and text, on all cores or on the GPU.
///
/// Reads files or standard input: lines, CSV, TSV, JSON Lines, .npy or raw binary.
#[derive(Debug, Parser)]
#[command(
    name = "gpusort",
    override_usage = "gpusort [OPTIONS] [FILE]...\n       gpusort <COMMAND>",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = include_str!("../help/gpusort.txt").trim_end())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sort lines, tables or numbers from files or standard input
    ///
    /// Records are written unchanged. The extension names the format; other input is lines. The kind of
    /// each key is found in the data: number, time, size, duration, version or text.
    Sort(SortArgs),
    /// Check whether inputs are sorted
    ///
    /// The exit code is 0 if they are, or 1 with a message about the first record out of order.
    /// Several inputs are checked as one, up to the first record out of order.
    Check(CheckArgs),
    /// Merge sorted inputs
    ///
    /// A merge takes little memory. It stops at the first record out of order, with an error that names it.
    Merge(SortArgs),
    /// Count how often each line or key occurs
    ///
    /// The most frequent key comes first; equal counts are in the order of the keys. Each line follows its count,
    /// as with uniq -c; a table gets the column count and the columns of the keys. Without a key, whole lines are
    /// counted. Fields are counted together if they are equal as keys: 1 and 1.0 are one number, written as it first
    /// occurs. With --invalid last or first, each spelling is counted.
    Count(SortArgs),
    /// Write the records in a random order
    ///
    /// Each order is equally likely. A seed gives the same order of the same records on every machine, with any
    /// memory and number of threads. --top K draws a sample of K records, each at most once. Headers stay on top.
    Shuffle(ShuffleArgs),
    /// Make test data
    ///
    /// The same options give the same bytes on every machine.
    Gen(GenArgs),
    /// Draw a sort step by step: a list, a terminal picture, an SVG
    ///
    /// Each pass is listed with its steps, tiles and the bytes that it moves; with up to 64
    /// elements, every comparison is shown. No GPU is needed: passes are planned as for a large
    /// GPU, and performed on the CPU.
    Trace(TraceArgs),
    /// Time the algorithms on this machine's devices
    ///
    /// They are compared with the fastest CPU sort, and every result is verified. The table shows
    /// as many columns as fit the terminal, or 80 characters; exports have all columns.
    Bench(BenchArgs),
    /// Measure this machine once, so that sort chooses the faster device
    ///
    /// Sorts several sizes on the CPU and the GPU, including the GPU's start and its transfers, and
    /// saves the times. Takes some tens of seconds; repeat it after a change of hardware or driver.
    Tune(TuneArgs),
    /// List the devices that can sort
    ///
    /// GPUs with their numbers, drivers and limits, and the CPU; the first column is what --device
    /// takes. JSON is an array with an object per device: "device" (what --device takes), "name",
    /// "backend", "kind", "driver" and "limits"; the CPU also has its cores and memory.
    Devices {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Show the manual page of gpusort or of a command
    Man {
        /// The command [default: gpusort as a whole]
        #[arg(value_parser = PossibleValuesParser::new(COMMANDS))]
        command: Option<String>,
    },
}

/// The arguments of `gpusort check`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("../help/check.txt").trim_end())]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) order: OrderArgs,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    /// Print nothing; report by the exit code only
    #[arg(short, long, help_heading = MESSAGES)]
    pub(crate) quiet: bool,
}

/// The arguments of `gpusort shuffle`.
#[derive(Args, Debug)]
pub(crate) struct ShuffleArgs {
    /// Seed of the random order [default: a new one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) sort: SortArgs,
}

/// The arguments of `gpusort tune`.
#[derive(Args, Debug)]
pub(crate) struct TuneArgs {
    /// GPU to compare with the CPU [default: the first hardware GPU]
    #[arg(short, long, value_name = "N|NAME", default_value = "auto", hide_default_value = true)]
    pub(crate) device: String,

    /// Largest number of elements to sort [default: 1G, or what memory holds]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) largest: Option<u64>,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// The arguments of `gpusort gen`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("../help/gen.txt").trim_end())]
pub(crate) struct GenArgs {
    /// Number of elements
    ///
    /// A number such as 1000, 1e6 or 64K; K, M, G and T are powers of 1024.
    #[arg(short, long, short_alias = 'n', value_name = "SIZE", default_value = "1M")]
    #[arg(value_parser = size::parse)]
    pub(crate) count: u64,

    /// Type of numbers, or text [default: from -o, else u32]
    ///
    /// The default is the type that the extension of -o names.
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "auto")]
    #[arg(hide_default_value = true, value_parser = named_or("auto", Type::all(ElementType::ALL), Type::name))]
    pub(crate) made: OrAuto<Type>,

    /// Distribution of the elements; see the list below
    #[arg(long, value_name = "DIST", default_value = "uniform", hide_possible_values = true)]
    #[arg(value_parser = named(Distribution::ALL, Distribution::name))]
    pub(crate) dist: Distribution,

    /// Seed of the elements
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,

    /// Output format [default: from -o, else text]
    #[arg(long, value_name = "FORMAT", value_parser = named(OF_NUMBERS, Format::name))]
    pub(crate) to: Option<Format>,

    /// Output file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
