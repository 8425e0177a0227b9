//! What a person types, as typed. Nothing here opens a file or looks at another option: `sort.rs` makes
//! of these what is meant.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use gpusort::generate::Distribution;
use gpusort::key::ElementType;
use gpusort::plan::{Algorithm, Variant};

/// Sort numbers with the GPU.
///
/// Integers and floats from files or standard input, text or raw binary, with the algorithm chosen by a
/// flag. Without a GPU the CPU sorts.
#[derive(Debug, Parser)]
#[command(
    name = "gpusort",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Examples:
  gpusort sort numbers.txt                     the whole file, sorted, on standard output
  seq 100000 | shuf | gpusort sort -a bitonic  a pipeline, by the bitonic network
  gpusort devices                              what can sort here
  gpusort gen --count 1M -o random.u32         something to sort

'gpusort sort --help' has the order rules and all options.")]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Sort numbers
    Sort(SortArgs),
    /// List what can sort here: GPUs with their numbers, drivers and limits, and the CPU
    Devices,
    /// Make test data
    Gen(GenArgs),
}

/// Make test data: the same bytes on every machine for the same options.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
#[command(after_help = "\
Examples:
  gpusort gen --count 10 -t f64                       ten numbers, as text
  gpusort gen --count 1G --dist zipf -o zipf.u32      a billion, as binary; takes no memory
  gpusort gen --to bin | gpusort sort -f bin -q --to text | head

Distributions:
  uniform        evenly over the whole range of an integer type; from -1 to 1 for floats
  sorted         rising evenly over that range
  reversed       falling evenly over it
  nearly-sorted  as sorted, but one in a hundred is that of a random place
  equal          all the same
  few-distinct   sixteen different numbers
  zipf           1, 2, 3 ... in proportion to 1, 1/2, 1/3 ...
  sycl           n - i*(1 + [3|i] + [5|i] + [7|i] + [11|i]), as a SYCL example has it")]
pub(super) struct GenArgs {
    /// How many numbers; K, M and G are powers of 1024
    #[arg(short, long, value_name = "SIZE", default_value = "1M", value_parser = gpusort::size::parse)]
    pub(super) count: u64,

    /// Element type [default: that of the output's extension, else u32]
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPE",
        default_value = "auto",
        hide_default_value = true
    )]
    pub(super) element: TypeArg,

    /// How the numbers are distributed
    #[arg(
        long,
        value_name = "DIST",
        default_value = "uniform",
        hide_possible_values = true,
        value_parser = by_name::<Distribution>(Distribution::ALL.map(Distribution::name))
    )]
    pub(super) dist: Distribution,

    /// Another seed, other numbers
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) seed: u64,

    /// Output format [default: the extension of -o if known, else text]
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<OutputFormatArg>,

    /// Where to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// No progress
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Sort numbers from files or standard input.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
#[command(after_help = "See 'gpusort sort --help' for examples, order rules and exit codes.")]
#[command(after_long_help = "\
Examples:
  gpusort sort numbers.txt                      sorted, on standard output
  seq 100000 | shuf | gpusort sort | head -3    a pipeline
  gpusort sort -r -t f32 a.bin -o a.bin         raw binary floats, largest first, in place
  gpusort sort --algo bitonic --device gpu x.f64 -o y.f64
  gpusort sort --algo odd-even small.txt        the brick sort: n phases
  gpusort sort --to text data.i64               binary in, text out
  gpusort sort --json big.txt -o /dev/null      how long does it take?

Order:
  Numeric and total: -inf ... -0, +0 ... +inf, then NaN; integers have one zero. With --reverse the
  numbers are reversed and NaN stays last. Records with equal keys keep their input order, always.
  The result never depends on the device or the algorithm.

Numbers in text:
  Separated by white space, printed one a line, spelled as they were: 007, +5 and 1e3 stay as they
  are. Lines that begin with # are comments. The whole input has one type: the first of u32, i32,
  u64, i64 that holds every number, or f64 if there are decimals. What no type holds is an error,
  never a wrong order.

Binary:
  Little-endian, no header. Files named .u32 .i32 .f32 .u64 .i64 .f64 are binary of that type, and
  .bin is binary of u32 unless --type says otherwise.

Output:
  A file given by -o is replaced when the sort is complete, so it may be one of the inputs, and a
  failure leaves the old one whole.

Exit codes:
  0 done; 2 an error (usage, input, device, disk); 130 interrupted.")]
pub(super) struct SortArgs {
    /// Files to sort as one input; none or - is standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// The algorithm
    #[arg(
        short,
        long,
        value_name = "ALGO",
        default_value = "auto",
        env = "GPUSORT_ALGO",
        hide_env_values = true
    )]
    pub(super) algo: Algo,

    /// Which kernels of the algorithm [bitonic: fused, local-global, transpose, naive; odd-even: block, naive]
    #[arg(
        long,
        value_name = "NAME",
        hide_possible_values = true,
        value_parser = by_name::<Variant>(Variant::ALL.map(Variant::name))
    )]
    pub(super) variant: Option<Variant>,

    /// Element type; auto finds it in text, and for binary takes it from the extension
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "auto")]
    pub(super) element: TypeArg,

    /// Input format; auto goes by the extension, else text
    #[arg(short, long, value_name = "FORMAT", default_value = "auto")]
    pub(super) from: FormatArg,

    /// Output format [default: the extension of -o if known, else the input's format]
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<OutputFormatArg>,

    /// Largest first; NaN stays last
    #[arg(short, long)]
    pub(super) reverse: bool,

    /// Ignored: sorting is numeric here
    #[arg(short, long)]
    pub(super) numeric_sort: bool,

    /// Ignored: floats and exponents are understood here
    #[arg(short, long)]
    pub(super) general_numeric_sort: bool,

    /// Where to write; the file may be an input, - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Where to sort: auto, cpu, gpu, a number from 'gpusort devices', or part of a name
    #[arg(
        short,
        long,
        value_name = "DEVICE",
        default_value = "auto",
        env = "GPUSORT_DEVICE",
        hide_env_values = true
    )]
    pub(super) device: String,

    /// Where the timing goes; auto is standard output where no data is in the way, else stderr
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "auto",
        env = "GPUSORT_TIMING",
        hide_env_values = true
    )]
    pub(super) timing: TimingArg,

    /// The timing as a JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// A progress bar on stderr; auto is on a terminal, for work over half a second
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        env = "GPUSORT_PROGRESS",
        hide_env_values = true
    )]
    pub(super) progress: Progress,

    /// No progress, no notes, no timing unless asked for
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Whether `--timing` was typed and is not the environment's.
    #[arg(skip)]
    pub(super) timing_typed: bool,

    /// Likewise for `--progress`.
    #[arg(skip)]
    pub(super) progress_typed: bool,
}

/// An enumeration of the library as clap sees it: `auto`, then each value by its name.
macro_rules! value_or_auto {
    ($(#[$doc:meta])* $name:ident($inner:ty): $values:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub(super) Option<$inner>);

        impl ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &$values
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(PossibleValue::new(self.0.map_or("auto", <$inner>::name)))
            }
        }
    };
}

value_or_auto! {
    /// `--algo`
    Algo(Algorithm): [Self(None), Self(Some(Algorithm::Bitonic)), Self(Some(Algorithm::OddEven))]
}

value_or_auto! {
    /// `--type`
    TypeArg(ElementType): [
        Self(None),
        Self(Some(ElementType::U32)),
        Self(Some(ElementType::I32)),
        Self(Some(ElementType::F32)),
        Self(Some(ElementType::U64)),
        Self(Some(ElementType::I64)),
        Self(Some(ElementType::F64)),
    ]
}

/// Reads one of these names as the value that it is the name of.
fn by_name<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// `--from`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    Auto,
    Text,
    Bin,
    Csv,
    Tsv,
    Npy,
}

/// `--to`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormatArg {
    Text,
    Bin,
    Csv,
    Tsv,
    Npy,
}

/// `--timing`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TimingArg {
    Auto,
    Stdout,
    Stderr,
    Off,
}

/// `--progress`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Progress {
    Auto,
    Always,
    Never,
}
