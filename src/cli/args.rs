//! The arguments as typed. Nothing here opens a file or relates one option to another: the commands
//! resolve these into options.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use gpusort::Format;
use gpusort::files::Kind;
use gpusort::unstable::bench::{Pace, Sizes};
use gpusort::unstable::generate::{Distribution, Type};
use gpusort_base::human::size;
use gpusort_base::memory;
use gpusort_order::key::ElementType;
use gpusort_order::{Invalid, Nulls};
use gpusort_planner::plan::{Algorithm, Variant};

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
#[command(after_help = include_str!("help/gpusort.txt").trim_end())]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,

    /// The number of typed `-o` options.
    #[arg(skip)]
    pub(super) outputs: usize,
}

/// The names of all commands.
pub(super) const COMMANDS: [&str; 10] =
    ["sort", "devices", "gen", "bench", "trace", "tune", "check", "merge", "completions", "man"];

/// The commands that take the options of `sort`.
pub(super) const SORTS: [&str; 3] = ["sort", "check", "merge"];

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Sort lines, tables or numbers
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
    /// The inputs are read in little memory. The first record out of order is an error that names it.
    Merge(SortArgs),
    /// Make test data
    ///
    /// The same options give the same bytes on every machine.
    Gen(GenArgs),
    /// Show what every pass of a GPU sort does, as a list or a picture
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
        /// The command
        #[arg(value_parser = PossibleValuesParser::new(COMMANDS))]
        command: Option<String>,
    },
}

/// The arguments of `gpusort check`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/check.txt").trim_end())]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) order: OrderArgs,

    #[command(flatten)]
    pub(super) progress: ProgressArgs,

    /// Print nothing; report by the exit code only
    #[arg(short, long, help_heading = TOLD)]
    pub(super) quiet: bool,
}

/// The arguments of `gpusort tune`.
#[derive(Args, Debug)]
pub(super) struct TuneArgs {
    /// GPU to compare with the CPU [default: the first hardware GPU]
    #[arg(short, long, value_name = "N|NAME", default_value = "auto", hide_default_value = true)]
    pub(super) device: String,

    /// Largest number of elements to sort [default: 1G, or what memory holds]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(super) largest: Option<u64>,

    #[command(flatten)]
    pub(super) progress: ProgressArgs,
}

/// The arguments of `gpusort bench`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/bench.txt").trim_end())]
pub(super) struct BenchArgs {
    /// Sizes and ranges: 1K,64K or 256..1M
    ///
    /// Separated by commas. A..B multiplies by 4 from A up to B, A..B*F by F; both ends are included.
    /// A size is a number such as 1000, 1e6 or 64K.
    #[arg(short, long, value_name = "SIZES", default_value = "256..1M")]
    pub(super) sizes: Sizes,

    /// Algorithms
    #[arg(short, long, value_name = "ALGO", value_delimiter = ',', default_value = "all")]
    #[arg(value_parser = named_or("all", Algorithm::ALL, Algorithm::name))]
    pub(super) algo: Vec<OrAuto<Algorithm>>,

    /// Variants, or all [default: each algorithm's default]
    #[arg(long, value_name = "NAME")]
    #[arg(value_delimiter = ',', value_parser = named_or("all", Variant::ALL, Variant::name))]
    pub(super) variant: Vec<OrAuto<Variant>>,

    /// Types of numbers, or text for lines
    #[arg(short = 't', long = "type", value_name = "TYPE", value_delimiter = ',', default_value = "u32")]
    #[arg(value_parser = named(Type::all(ElementType::WIDE), Type::name))]
    pub(super) types: Vec<Type>,

    /// Distributions of the elements
    #[arg(long, value_name = "DIST", value_delimiter = ',', default_value = "uniform")]
    #[arg(value_parser = named(Distribution::ALL, Distribution::name))]
    pub(super) dist: Vec<Distribution>,

    /// Sort positions with the keys, for a stable sort
    #[arg(long)]
    pub(super) with_positions: bool,

    /// Seed of the elements
    #[arg(long, value_name = "N", default_value_t = Pace::default().seed)]
    pub(super) seed: u64,

    /// Timed runs per case
    #[arg(long, value_name = "N", default_value_t = Pace::default().runs as u64, value_parser = at_least_one)]
    pub(super) runs: u64,

    /// Untimed runs before them
    #[arg(long, value_name = "N", default_value_t = Pace::default().warm_up)]
    pub(super) warmup: usize,

    /// Time limit per case
    ///
    /// Limits all runs of one algorithm at one size. If they take longer, there are fewer runs, but
    /// at least three; a case whose three runs would take longer is skipped, with a note.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(super) time_limit: Duration,

    /// Devices: auto, cpu, gpu, numbers or names
    ///
    /// Numbers are those of 'gpusort devices'; part of a name is enough. auto is the first hardware
    /// GPU, or the CPU without one.
    #[arg(short, long, value_name = "DEVICE", value_delimiter = ',', default_value = "auto")]
    #[arg(env = "GPUSORT_DEVICE")]
    pub(super) device: Vec<String>,

    /// Print JSON instead of the table
    ///
    /// Like --export-json -, but without the table.
    #[arg(long)]
    pub(super) json: bool,

    /// Write machine, devices and all samples as JSON
    ///
    /// - is standard output; the table then goes to standard error, as it does for the other exports.
    #[arg(long, value_name = "FILE")]
    pub(super) export_json: Option<PathBuf>,

    /// Write the results as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) export_csv: Option<PathBuf>,

    /// Write the results as Markdown tables
    #[arg(long, value_name = "FILE")]
    pub(super) export_markdown: Option<PathBuf>,

    /// Plot time by size as SVG; - draws on the terminal
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,

    #[command(flatten)]
    pub(super) progress: ProgressArgs,

    /// No progress, no notes
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// The arguments of `gpusort trace`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/trace.txt").trim_end())]
pub(super) struct TraceArgs {
    /// Numbers in text, binary or .npy; - is standard input [default: generated]
    ///
    /// Without FILE, --dist and --seed, trace reads standard input unless it is a terminal or empty.
    /// Up to 64 generated elements are different numbers from 0 to 99. Larger counts, and elements
    /// with --type, --dist or --seed, are those of 'gpusort gen'.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Number of elements, the first of FILE [default: 16, or all of FILE]
    #[arg(short = 'n', long, value_name = "SIZE", value_parser = size::parse)]
    pub(super) count: Option<u64>,

    /// Algorithm [default: bitonic]
    #[arg(short, long, value_name = "ALGO", value_parser = named(Algorithm::ALL, Algorithm::name))]
    pub(super) algo: Option<Algorithm>,

    /// Variant of the algorithm [bitonic: fused, local-global, transpose, naive;
    /// odd-even: block, naive; radix: onesweep, reduce-scan, leading]
    ///
    /// The default is the variant that sort uses. Odd-even sort of up to 64 elements is naive, unless --tile,
    /// --top or --device is given.
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = named(Variant::ALL, Variant::name))]
    pub(super) variant: Option<Variant>,

    /// Compare several variants, as in naive,fused
    ///
    /// A variant of another algorithm than --algo selects that algorithm.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "variant")]
    #[arg(hide_possible_values = true, value_parser = named(Variant::ALL, Variant::name))]
    pub(super) compare: Vec<Variant>,

    /// Show a sort of only the first K elements of the result
    #[arg(long, value_name = "K", value_parser = size::parse)]
    pub(super) top: Option<u64>,

    /// Plan for tiles of this many elements, a power of two
    ///
    /// With small tiles, few elements take every kind of pass.
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(super) tile: Option<u64>,

    /// Element type [default: the type of FILE as in 'gpusort sort', else u32]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    #[arg(value_parser = named(ElementType::ALL, ElementType::name))]
    pub(super) element: Option<ElementType>,

    /// Sort positions with the keys, for a stable sort
    #[arg(long)]
    pub(super) with_positions: bool,

    /// Format of FILE; auto uses the extension, else text
    #[arg(short, long, value_name = "FORMAT", default_value = "auto")]
    #[arg(value_parser = named_or("auto", OF_NUMBERS, Format::name))]
    pub(super) from: OrAuto<Format>,

    /// Distribution of generated elements, as in 'gpusort gen' [default: uniform]
    #[arg(long, value_name = "DIST", hide_possible_values = true)]
    #[arg(value_parser = named(Distribution::ALL, Distribution::name))]
    pub(super) dist: Option<Distribution>,

    /// Seed of generated elements [default: 1]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// Write an SVG picture; - is standard output
    ///
    /// Any SVG renderer draws it in the colours of a light page. Browsers use dark colours where
    /// their user prefers them.
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,

    /// Animate the picture, in browsers
    ///
    /// Other renderers, and browsers whose user prefers reduced motion, show a still picture.
    #[arg(long)]
    pub(super) animate: bool,

    /// Draw the picture in light colours everywhere
    #[arg(long, conflicts_with = "dark")]
    pub(super) light: bool,

    /// Draw the picture in dark colours everywhere
    #[arg(long)]
    pub(super) dark: bool,

    /// Draw the sorting network alone, on the terminal or with --svg
    ///
    /// Wires and comparators of 2 to 64 elements, with a box for each block of a bitonic stage, and no
    /// passes: variants with the same network have the same picture. The elements are printed only if
    /// FILE, --type, --dist, --seed or --animate is given; comparators that swap are then bold.
    #[arg(long, conflicts_with_all = ["json", "device", "top", "tile"])]
    pub(super) network: bool,

    /// Print the passes as JSON, one object a line
    #[arg(long)]
    pub(super) json: bool,

    /// Plan for this GPU and time each pass on it
    ///
    /// gpu, a number from 'gpusort devices', or a part of a name.
    #[arg(short, long, value_name = "N|NAME")]
    pub(super) device: Option<String>,
}

/// Parses a number of at least 1.
fn at_least_one(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

/// Parses a time in seconds, above zero.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0, such as 0.5".to_owned())
}

/// The arguments of `gpusort gen`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/gen.txt").trim_end())]
pub(super) struct GenArgs {
    /// Number of elements
    ///
    /// A number such as 1000, 1e6 or 64K; K, M, G and T are powers of 1024.
    #[arg(short, long, value_name = "SIZE", default_value = "1M", value_parser = size::parse)]
    pub(super) count: u64,

    /// Type of numbers, or text [default: from -o, else u32]
    ///
    /// The default is the type that the extension of -o names.
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "auto")]
    #[arg(hide_default_value = true, value_parser = named_or("auto", Type::all(ElementType::ALL), Type::name))]
    pub(super) made: OrAuto<Type>,

    /// Distribution of the elements; see the list below
    #[arg(long, value_name = "DIST", default_value = "uniform", hide_possible_values = true)]
    #[arg(value_parser = named(Distribution::ALL, Distribution::name))]
    pub(super) dist: Distribution,

    /// Seed of the elements
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) seed: u64,

    /// Output format [default: from -o, else text]
    #[arg(long, value_name = "FORMAT", value_parser = named(OF_NUMBERS, Format::name))]
    pub(super) to: Option<Format>,

    /// Output file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// No progress
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// The arguments of `gpusort sort`.
#[derive(Args, Clone, Debug)]
#[command(after_help = include_str!("help/sort-short.txt").trim_end())]
#[command(after_long_help = include_str!("help/sort.txt").trim_end())]
pub(super) struct SortArgs {
    #[command(flatten)]
    pub(super) order: OrderArgs,

    /// Write only the first K records of the result
    #[arg(long, value_name = "K", help_heading = RESULT, value_parser = size::parse)]
    pub(super) top: Option<u64>,

    /// Write the positions of the records, from 0
    ///
    /// Positions are text, or u32 in binary and .npy; u64 beyond 2^32 records.
    #[arg(long, help_heading = RESULT)]
    pub(super) argsort: bool,

    /// Output format [default: by the name of -o, else as the input]
    #[arg(long, value_name = "FORMAT", value_parser = named(written(), Format::name), help_heading = RESULT)]
    pub(super) to: Option<Format>,

    /// Output file, which may be an input; - is standard output
    ///
    /// With --each, the output folder.
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    pub(super) output: Option<PathBuf>,

    /// Compression of Parquet: zstd, snappy, lz4, gzip, brotli, none
    ///
    /// The default is the compression of the input, or snappy.
    #[arg(long, value_name = "NAME", help_heading = RESULT)]
    pub(super) parquet_compression: Option<String>,

    /// Compress standard output as gzip
    ///
    /// Gzip is written as BGZF, which tabix and similar programs can read. Files whose names end in .gz or
    /// .bgz are written so without this option.
    #[arg(long, help_heading = RESULT)]
    pub(super) bgzf: bool,

    /// Sort each file by itself, into the folder named by -o
    #[arg(long, help_heading = RESULT)]
    pub(super) each: bool,

    /// With --each: replace each file
    #[arg(long, conflicts_with = "output", help_heading = RESULT)]
    pub(super) in_place: bool,

    /// Check whether the inputs are sorted
    ///
    /// Like 'gpusort check'. With quiet or silent, only the exit code reports it.
    #[arg(short, long, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "diagnose-first", value_parser = one_of(IS_QUIET))]
    #[arg(conflicts_with_all = NOT_CHECKED, help_heading = INSTEAD)]
    pub(super) check: Option<bool>,

    /// Same as --check=quiet: report by the exit code only
    #[arg(short = 'C', conflicts_with = "check", conflicts_with_all = NOT_CHECKED, help_heading = INSTEAD)]
    pub(super) check_quietly: bool,

    /// Merge sorted inputs
    #[arg(short, long, conflicts_with_all = ["argsort", "each"], help_heading = INSTEAD)]
    pub(super) merge: bool,

    /// Algorithm
    #[arg(short, long, value_name = "ALGO", default_value = "auto", env = "GPUSORT_ALGO")]
    #[arg(value_parser = named_or("auto", Algorithm::ALL, Algorithm::name), help_heading = HOW)]
    pub(super) algo: OrAuto<Algorithm>,

    /// Variant of the algorithm; 'gpusort man sort' lists them
    ///
    /// bitonic: fused, local-global, transpose, naive; odd-even: block, naive; radix: onesweep,
    /// reduce-scan, leading.
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = named(Variant::ALL, Variant::name), help_heading = HOW)]
    pub(super) variant: Option<Variant>,

    /// Device: auto, cpu, gpu, all, a number or part of a name
    ///
    /// Numbers are those of 'gpusort devices'; 0,1 are two GPUs that share the work, and all means all
    /// hardware GPUs.
    #[arg(short, long, value_name = "DEVICE", default_value = "auto", env = "GPUSORT_DEVICE")]
    #[arg(value_hint = ValueHint::Other, help_heading = HOW)]
    pub(super) device: String,

    /// Memory budget, such as 2G or 50% [default: 75% of the available memory]
    ///
    /// Larger inputs are sorted in runs, which are kept in temporary files and merged. A percentage is of
    /// the machine's memory.
    #[arg(long, value_name = "SIZE|N%", env = "GPUSORT_MEMORY", value_parser = memory::parse)]
    #[arg(help_heading = HOW)]
    pub(super) memory: Option<u64>,

    /// Same as --memory; a number without unit is KiB, as in sort
    #[arg(short = 'S', long, value_name = "SIZE|N%", value_parser = kibibytes, overrides_with = "memory")]
    #[arg(help_heading = HOW)]
    pub(super) buffer_size: Option<u64>,

    /// Folder for temporary files; repeat for more [default: $TMPDIR, or /var/tmp]
    #[arg(short = 'T', long, alias = "temporary-directory", value_name = "DIR", env = "GPUSORT_TEMP_DIR")]
    #[arg(value_hint = ValueHint::DirPath, help_heading = HOW)]
    pub(super) temp_dir: Vec<PathBuf>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = HOW)]
    pub(super) parallel: Option<u64>,

    /// Where to report the result and its timing
    ///
    /// auto is standard output if it is a terminal and -o takes the data, and otherwise standard error if it
    /// is a terminal. While standard output is a pipe, auto reports only with -v, --json, --algo, --variant
    /// or --device.
    #[arg(long, value_name = "WHERE", default_value = "auto", env = "GPUSORT_TIMING", help_heading = TOLD)]
    pub(super) timing: TimingArg,

    /// Report format, keys, and the timing of each phase
    #[arg(short, long, help_heading = TOLD)]
    pub(super) verbose: bool,

    /// Report as JSON
    ///
    /// An object on one line; docs/report.schema.json describes it.
    #[arg(long, help_heading = TOLD)]
    pub(super) json: bool,

    /// Print the format, the keys and their kinds, and sort nothing
    ///
    /// With --json as a JSON object.
    #[arg(long, help_heading = TOLD)]
    pub(super) explain: bool,

    #[command(flatten)]
    pub(super) progress: ProgressArgs,

    /// No progress, no notes, no timing unless requested
    #[arg(short, long, help_heading = TOLD)]
    pub(super) quiet: bool,

    /// True if `--timing` was typed; the environment may set it too.
    #[arg(skip)]
    pub(super) timing_typed: bool,

    /// True if `--progress` was typed.
    #[arg(skip)]
    pub(super) progress_typed: bool,

    /// The first typed option that selects the device or the method.
    #[arg(skip)]
    pub(super) how_typed: Option<&'static str>,
}

/// The groups of options in help.
const INPUT: &str = "Input";
const ORDER: &str = "Order";
const RESULT: &str = "Result";
const INSTEAD: &str = "Instead of sorting";
const HOW: &str = "Algorithm, device and memory";
pub(super) const TOLD: &str = "Messages";

/// The inputs, and the order of their records.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct OrderArgs {
    /// Input files, sorted together; without any, standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Read NUL-terminated names of inputs from FILE
    ///
    /// - reads them from standard input, as from find -print0.
    #[arg(long, value_name = "FILE", conflicts_with = "files", help_heading = INPUT)]
    pub(super) files0_from: Option<PathBuf>,

    /// Input format; text is numbers; -f alone ignores case
    ///
    /// auto is the format that the extension names, or else lines. With the name of a column as a key, the
    /// first line is a header: of a table if tabs, commas or semicolons separate the name, of columns between
    /// blanks, or of JSON Lines if the line is an object. text is numbers separated by white space.
    #[arg(short, long, value_name = "FORMAT", default_value = "auto")]
    #[arg(value_parser = named_or("auto", Format::ALL, Format::name), help_heading = INPUT)]
    pub(super) from: OrAuto<Format>,

    /// Type of the keys; one character is the field separator
    ///
    /// auto finds the kind of keys in the data, and the type of binary by the extension. time, size,
    /// duration, text, version and hex set the kind of keys without one. A single character is a field
    /// separator, as in sort.
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "auto")]
    #[arg(value_parser = type_or_separator(), help_heading = INPUT)]
    pub(super) element: TypeArg,

    /// Keep N lines [default: 1] on top; the last has the names
    ///
    /// Tables have a header of one line by default, and so do lines whose key is a name.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(overrides_with = "no_header", help_heading = INPUT)]
    pub(super) header: Option<usize>,

    /// Put all lines that begin with # on top
    ///
    /// Comments keep their order. The last comment with the names of all keys names the columns. Without
    /// --comments, these lines are records.
    #[arg(long, help_heading = INPUT)]
    pub(super) comments: bool,

    /// Treat the first row of a table as data
    #[arg(long, overrides_with = "header", help_heading = INPUT)]
    pub(super) no_header: bool,

    /// Field separator: a character, or tab [default: by the format]
    ///
    /// A comma in tables, a tab in .tsv, blanks in lines.
    #[arg(long, value_name = "C", value_parser = delimiter, help_heading = INPUT)]
    pub(super) delimiter: Option<u8>,

    /// Lines end in NUL, in input and output
    #[arg(short, long, help_heading = INPUT)]
    pub(super) zero_terminated: bool,

    /// Use the number that a field begins with: 45%, 12ms
    ///
    /// For keys of numbers, and keys with a kind.
    #[arg(long, help_heading = INPUT)]
    pub(super) leading: bool,

    /// Words that count as empty fields, such as NA,-,null
    ///
    /// The next word is the value, whatever it looks like.
    #[arg(long, value_name = "WORDS", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(help_heading = INPUT)]
    pub(super) na: Vec<String>,

    /// Decimal separator [default: .]
    #[arg(long, value_name = "C", help_heading = INPUT)]
    pub(super) decimal: Option<char>,

    /// Thousands separator [default: none]
    #[arg(long, value_name = "C", help_heading = INPUT)]
    pub(super) thousands: Option<char>,

    /// Format of times: '%d.%m.%Y %H:%M', clf, syslog, rfc2822, epoch, epoch-ms
    ///
    /// A pattern has the conversions of strftime. Times in the usual formats are recognized as well.
    #[arg(long, value_name = "FORMAT", help_heading = INPUT)]
    pub(super) time_format: Option<String>,

    /// Column by name or number; price:r is descending; repeat for ties
    ///
    /// 0 is the whole record as text, -1 the last field. Modifiers follow after a colon: r is descending, a
    /// ascending; number, time, size, duration, text, version or hex set the kind; nocase ignores case in
    /// text. Without a kind, all fields of the column decide. 2n and 2,2 are column 2, as in sort. Without
    /// a key, lines sort by their first field unless it is text, then by the whole line.
    #[arg(short, long, value_name = "KEY", allow_hyphen_values = true, help_heading = ORDER)]
    pub(super) key: Vec<String>,

    /// Descending order; NaN stays last
    #[arg(short, long, help_heading = ORDER)]
    pub(super) reverse: bool,

    /// Keep only the first record of each key
    ///
    /// Without a key, whole lines are compared. In a check, equal keys are out of order.
    #[arg(short, long, help_heading = ORDER)]
    pub(super) unique: bool,

    /// Where NaN goes, in either direction
    #[arg(long, value_name = "WHERE", default_value = "last", value_parser = one_of(Nulls::ALL))]
    #[arg(help_heading = ORDER)]
    pub(super) nan: Nulls,

    /// Where rows with an empty key go [default: last]
    #[arg(long, value_name = "WHERE", value_parser = one_of(Nulls::ALL), help_heading = ORDER)]
    pub(super) empty: Option<Nulls>,

    /// Where rows with an invalid key go [default: error]
    ///
    /// A key is invalid if it does not fit the kind of its column, such as a word among numbers or times.
    /// Lines without a key need -n.
    #[arg(long, value_name = "WHERE", value_parser = one_of(Invalid::ALL), help_heading = ORDER)]
    pub(super) invalid: Option<Invalid>,

    /// Numbers: keys without a kind, or the first field
    #[arg(short, long, help_heading = ORDER)]
    pub(super) numeric_sort: bool,

    /// Same as -n
    #[arg(short, long, help_heading = ORDER)]
    pub(super) general_numeric_sort: bool,

    /// Sort versions: v1.9 before v1.10, as sort -V
    ///
    /// For keys without a kind, or for whole lines without a key.
    #[arg(short = 'V', long, help_heading = ORDER)]
    pub(super) version_sort: bool,

    /// Ignore case in text
    #[arg(long, help_heading = ORDER)]
    pub(super) ignore_case: bool,

    /// No effect: keys of sort ignore blanks before fields
    #[arg(short = 'b', long, help_heading = ORDER)]
    pub(super) ignore_leading_blanks: bool,

    /// No effect: the order is always stable
    #[arg(short, long, help_heading = ORDER)]
    pub(super) stable: bool,

    /// Sort sizes: 2K before 1M, as sort -h (help: --help)
    ///
    /// For keys without a kind, or for the first field. Alone, without data on standard input, it prints
    /// help.
    #[arg(short = 'h', long = "human-numeric-sort", help_heading = ORDER)]
    pub(super) sizes: bool,
}

/// Returns the formats of `--to`. Lines need no name: sorted lines are written as lines.
fn written() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Lines)
}

/// The formats of numbers alone.
const OF_NUMBERS: [Format; 3] = [Format::Text, Format::Binary, Format::Npy];

/// The options that a check does not have.
const NOT_CHECKED: [&str; 7] = ["top", "argsort", "to", "output", "bgzf", "each", "merge"];

/// The values of `--check`, with true for a check that prints nothing.
const IS_QUIET: [(&str, bool); 3] = [("diagnose-first", false), ("quiet", true), ("silent", true)];

/// Parses a size of memory; digits alone are KiB, as for `sort`.
fn kibibytes(text: &str) -> Result<u64, String> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { memory::parse(&format!("{text}K")) } else { memory::parse(text) }
}

/// Parses a byte that can separate fields.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "\\t" || text == "tab" => Ok(b'\t'),
        b"\n" => Err("a line feed cannot separate fields".to_owned()),
        &[byte] if byte.is_ascii() => Ok(byte),
        _ => Err("expected one ASCII character, or tab".to_owned()),
    }
}

/// `--type`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TypeArg {
    #[default]
    Auto,
    Element(ElementType),
    /// A kind of field.
    Kind(Kind),
    /// A field separator, as `sort` takes it after `-t`.
    Separator(u8),
}

/// Parses `auto`, the name of a type, or a character.
#[derive(Clone)]
struct TypeParser<P>(P);

impl<P: TypedValueParser<Value = TypeArg>> TypedValueParser for TypeParser<P> {
    type Value = TypeArg;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<TypeArg, clap::Error> {
        match value.to_str().map(delimiter) {
            Some(Ok(byte)) => Ok(TypeArg::Separator(byte)),
            _ => self.0.parse_ref(command, argument, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

fn type_or_separator() -> impl TypedValueParser<Value = TypeArg> {
    let elements = ElementType::ALL.map(|element| (element.name(), TypeArg::Element(element)));
    let kinds = Kind::ALL.into_iter().filter(|(_, kind)| *kind != Kind::Number);
    let kinds = kinds.map(|(name, kind)| (name, TypeArg::Kind(kind)));
    TypeParser(one_of([("auto", TypeArg::Auto)].into_iter().chain(elements).chain(kinds)))
}

/// A value, or `None` for `auto` or `all`. An alias hides the `Option` from clap, which would make the
/// argument optional.
pub(super) type OrAuto<T> = Option<T>;

/// Parses the name of one of these values.
fn named<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    one_of(all.into_iter().map(move |value| (name(value), value)))
}

/// Parses a word that stands for no value, or the name of one of these values.
fn named_or<T: Copy + Send + Sync + 'static>(
    none: &'static str,
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = OrAuto<T>> {
    let all = all.into_iter().map(move |value| (name(value), Some(value)));
    one_of([(none, None)].into_iter().chain(all))
}

/// Parses a name as the value beside it.
fn one_of<T: Copy + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    // The name in textbooks, as well.
    let also = |name| (name == Algorithm::OddEven.name()).then_some("brick");
    let values: Vec<(PossibleValue, T)> = values
        .into_iter()
        .map(|(name, value)| (PossibleValue::new(name).aliases(also(name)), value))
        .collect();
    PossibleValuesParser::new(values.iter().map(|(name, _)| name.clone())).try_map(move |given| {
        let value = values.iter().find(|(name, _)| name.matches(&given, false)).map(|(_, value)| *value);
        value.ok_or("not one of the possible values")
    })
}

/// `--timing`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TimingArg {
    Auto,
    Stdout,
    Stderr,
    Off,
}

/// When to show progress.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct ProgressArgs {
    /// When to show progress on standard error
    ///
    /// auto shows it on a terminal, for work that takes more than half a second, unless a pipe takes the data.
    #[arg(long, value_name = "WHEN", default_value = "auto", env = "GPUSORT_PROGRESS", help_heading = TOLD)]
    pub(super) progress: Progress,
}

/// `--progress`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Progress {
    Auto,
    Always,
    Never,
}

/// Inserts `sort` before the first word, unless the word names a command, or asks for help or the version.
/// `-h` or `-V` alone ask for these only if nothing `comes_in`, and an empty command line only if standard
/// input `is_terminal`. After `sort`, `check` or `merge`, too, `-h` alone asks for help if nothing `comes_in`;
/// otherwise `-h` sorts sizes, as in coreutils.
pub(super) fn with_command(
    mut all: Vec<OsString>,
    is_terminal: bool,
    comes_in: impl Fn() -> bool,
) -> Vec<OsString> {
    let first = all.get(1).map(|first| first.to_string_lossy());
    let is_other = match first.as_deref() {
        Some("help" | "--help" | "--version") => true,
        None => is_terminal,
        Some("-h" | "-V") if all.len() == 2 => !comes_in(),
        Some(first) => COMMANDS.contains(&first),
    };
    if !is_other {
        all.insert(1, "sort".into());
    }
    if let [_, command, letter] = &mut all[..]
        && SORTS.iter().any(|name| command == name)
        && letter == "-h"
        && !comes_in()
    {
        *letter = "--help".into();
    }
    all
}

/// Replaces each `-f` without a format by `--ignore-case`, its meaning in `sort`.
pub(super) fn with_ignore_case(mut all: Vec<OsString>) -> Vec<OsString> {
    /// Letters of `sort` and `check` that take no value.
    const LETTERS: &str = "bcCfghmnrsuvzqV";
    let is_format =
        |name: &str| name == "auto" || Format::ALL.into_iter().any(|format| format.name() == name);
    let is_sort = all.get(1).is_some_and(|command| SORTS.iter().any(|name| command == name));
    let mut place = 2;
    while is_sort && place < all.len() {
        if all[place] == "--" {
            break;
        }
        // The next word is its value, whatever it looks like.
        if ["--na", "-k", "--key"].iter().any(|option| all[place] == *option) {
            place += 2;
            continue;
        }
        let next = all.get(place + 1).and_then(|next| next.to_str());
        // Another word may be a misspelt format, which is an error later.
        let may_follow = next.is_none_or(|next| next.starts_with('-') || Path::new(next).exists());
        let letters = all[place].to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
        let (before, after) = letters.split_once('f').unwrap_or_default();
        let are_letters = [before, after].iter().all(|part| part.chars().all(|c| LETTERS.contains(c)));
        if letters.contains('f') && are_letters && !is_format(after) && (may_follow || !after.is_empty()) {
            let rest = format!("-{before}{}", after.replace('f', ""));
            all[place] = "--ignore-case".into();
            if rest.len() > 1 {
                all.insert(place, rest.into());
                place += 1;
            }
        }
        place += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_of_sort_is_told_from_a_format() {
        let with = |typed: &str| {
            let all = typed.split(' ').map(OsString::from).collect();
            with_ignore_case(all)
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        for typed in [
            "gpusort sort -f csv a",
            "gpusort sort -fcsv",
            "gpusort sort -rf csv",
            "gpusort sort -f jpeg",
            "gpusort bench -f",
            "gpusort sort -- -f",
            "gpusort sort --na -f",
            "gpusort sort -k -f",
            "gpusort sort -k1,1f",
            "gpusort sort --from",
        ] {
            assert_eq!(with(typed), typed);
        }
        for (typed, expected) in [
            ("gpusort sort -f", "gpusort sort --ignore-case"),
            ("gpusort sort -f -k1,1", "gpusort sort --ignore-case -k1,1"),
            ("gpusort sort -f Cargo.toml", "gpusort sort --ignore-case Cargo.toml"),
            ("gpusort sort -ruf Cargo.toml", "gpusort sort -ru --ignore-case Cargo.toml"),
            ("gpusort sort -fr x", "gpusort sort -r --ignore-case x"),
            ("gpusort merge -f Cargo.toml", "gpusort merge --ignore-case Cargo.toml"),
        ] {
            assert_eq!(with(typed), expected);
        }
    }

    #[test]
    fn sort_may_be_left_out() {
        let with = |typed: &str, comes_in: bool| {
            let all = with_command(typed.split(' ').map(OsString::from).collect(), !comes_in, || comes_in);
            all.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for typed in ["sort a", "check a", "merge", "help", "--help", "--version", "gen", "man sort"] {
            let typed = format!("gpusort {typed}");
            assert_eq!([true, false].map(|comes_in| with(&typed, comes_in)), [&*typed; 2]);
        }
        for typed in ["a.txt", "-", "-r", "-h a", "-V a", "-n -r", "--top 3", "sorted"] {
            let expected = format!("gpusort sort {typed}");
            assert_eq!(
                [true, false].map(|comes_in| with(&format!("gpusort {typed}"), comes_in)),
                [&*expected; 2]
            );
        }
        for typed in ["gpusort", "gpusort -h", "gpusort -V"] {
            let sorts = typed.replacen("gpusort", "gpusort sort", 1);
            assert_eq!([true, false].map(|comes_in| with(typed, comes_in)), [&*sorts, typed]);
        }
        for command in SORTS {
            let typed = format!("gpusort {command} -h");
            let help = format!("gpusort {command} --help");
            assert_eq!([true, false].map(|comes_in| with(&typed, comes_in)), [&*typed, &*help]);
        }
        // From `/dev/null`.
        assert_eq!(with_command(vec!["gpusort".into()], false, || false), ["gpusort", "sort"]);
    }
}
