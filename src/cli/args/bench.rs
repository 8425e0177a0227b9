//! The arguments of `gpusort bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gpusort_bench::generate::{Distribution, Type};
use gpusort_bench::{Pace, Sizes};
use gpusort_order::key::ElementType;
use gpusort_planner::plan::{Algorithm, Variant};

use super::values::{OrAuto, ProgressArgs, at_least_one, named, named_or, seconds};

/// The arguments of `gpusort bench`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("../help/bench.txt").trim_end())]
pub(crate) struct BenchArgs {
    /// Sizes and ranges: 1K,64K or 256..1M
    ///
    /// Separated by commas. A..B multiplies by 4 from A up to B, A..B*F by F; both ends are included.
    /// A size is a number such as 1000, 1e6 or 64K.
    #[arg(short, long, value_name = "SIZES", default_value = "256..1M")]
    pub(crate) sizes: Sizes,

    /// Algorithms
    #[arg(short, long, value_name = "ALGO", value_delimiter = ',', default_value = "all")]
    #[arg(value_parser = named_or("all", Algorithm::ALL, Algorithm::name))]
    pub(crate) algo: Vec<OrAuto<Algorithm>>,

    /// Variants, or all [default: each algorithm's default]
    #[arg(long, value_name = "NAME")]
    #[arg(value_delimiter = ',', value_parser = named_or("all", Variant::ALL, Variant::name))]
    pub(crate) variant: Vec<OrAuto<Variant>>,

    /// Types of numbers, or text for lines
    #[arg(short = 't', long = "type", value_name = "TYPE", value_delimiter = ',', default_value = "u32")]
    #[arg(value_parser = named(Type::all(ElementType::WIDE), Type::name))]
    pub(crate) types: Vec<Type>,

    /// Distributions of the elements
    #[arg(long, value_name = "DIST", value_delimiter = ',', default_value = "uniform")]
    #[arg(value_parser = named(Distribution::ALL, Distribution::name))]
    pub(crate) dist: Vec<Distribution>,

    /// Sort positions with the keys, for a stable sort
    #[arg(long)]
    pub(crate) with_positions: bool,

    /// Seed of the elements
    #[arg(long, value_name = "N", default_value_t = Pace::default().seed)]
    pub(crate) seed: u64,

    /// Timed runs per case
    #[arg(long, value_name = "N", default_value_t = Pace::default().runs as u64, value_parser = at_least_one)]
    pub(crate) runs: u64,

    /// Untimed runs before them
    #[arg(long, value_name = "N", default_value_t = Pace::default().warm_up)]
    pub(crate) warmup: usize,

    /// Time limit per case
    ///
    /// Limits all runs of one algorithm at one size. If they take longer, there are fewer runs, but
    /// at least three; a case whose three runs would take longer is skipped, with a note.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) time_limit: Duration,

    /// Devices: auto, cpu, gpu, numbers or names
    ///
    /// Numbers are those of 'gpusort devices'; part of a name is enough. auto is the first hardware
    /// GPU, or the CPU without one.
    #[arg(short, long, value_name = "DEVICE", value_delimiter = ',', default_value = "auto")]
    #[arg(env = "GPUSORT_DEVICE")]
    pub(crate) device: Vec<String>,

    /// Print JSON instead of the table
    ///
    /// Like --export-json -, but without the table.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write machine, devices and all samples as JSON
    ///
    /// - is standard output; the table then goes to standard error, as it does for the other exports.
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,

    /// Write the results as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) export_csv: Option<PathBuf>,

    /// Write the results as Markdown tables
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,

    /// Plot time by size as SVG; - draws on the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    /// No progress, no notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
