//! The arguments of `gpusort sort`, and the options that a check shares.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use gpusort::files::{Invalid, Nulls};
use gpusort::{Algorithm, Format, Variant};
use gpusort_base::human::size;
use gpusort_base::memory;

use super::values::{
    MESSAGES, OrAuto, ProgressArgs, TypeArg, at_least_one, delimiter, kibibytes, lines, named, named_or,
    one_of, type_or_separator,
};

/// The groups of options in help.
const INPUT: &str = "Input";
const ORDER: &str = "Order";
const RESULT: &str = "Result";
const PARQUET: &str = "Output as Parquet";
const INSTEAD: &str = "Instead of sorting";
const HOW: &str = "Algorithm, device and memory";

/// The options that select the device or the method.
pub(crate) const METHOD: [&str; 3] = ["device", "algo", "variant"];

/// The options of sorts alone.
pub(crate) const OF_SORT: [&str; 8] =
    ["merge", "check", "check_quietly", "count", "per", "keep_order", "each", "in_place"];

/// The options that a merge does not have.
pub(crate) const NOT_MERGED: [&str; 5] = ["count", "per", "keep_order", "each", "in_place"];

/// The further options that a count does not have.
pub(crate) const NOT_COUNTED: [&str; 2] = ["unique", "argsort"];

/// The further options that a shuffle does not have.
pub(crate) const NOT_SHUFFLED: [&str; 4] = ["unique", "argsort", "key", "reverse"];

/// The options that a check does not have.
const NOT_CHECKED: [&str; 10] =
    ["top", "per", "keep_order", "count", "argsort", "to", "output", "bgzf", "each", "merge"];

/// The values of `--check`, with true for a check that prints nothing.
const IS_QUIET: [(&str, bool); 3] = [("diagnose-first", false), ("quiet", true), ("silent", true)];

/// The arguments of `gpusort sort`.
#[derive(Args, Clone, Debug)]
#[command(after_help = include_str!("../help/sort-short.txt").trim_end())]
#[command(after_long_help = include_str!("../help/sort.txt").trim_end())]
pub(crate) struct SortArgs {
    #[command(flatten)]
    pub(crate) order: OrderArgs,

    /// Write only the first K records of the result
    #[arg(long, value_name = "K", help_heading = RESULT, value_parser = size::parse)]
    pub(crate) top: Option<u64>,

    /// Apply --top to each value of this column
    ///
    /// Values compare as text. The records come in the order of the keys.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["argsort", "merge"], help_heading = RESULT)]
    pub(crate) per: Option<String>,

    /// With -u: keep the order of the input
    #[arg(long, conflicts_with_all = ["argsort", "merge", "per"], help_heading = RESULT)]
    pub(crate) keep_order: bool,

    /// With -u: write the count of each key before its record
    ///
    /// Lines begin with the count, as with uniq -c; tables get a column count.
    #[arg(long, help_heading = RESULT)]
    #[arg(conflicts_with_all = ["argsort", "merge", "per", "keep_order"])]
    pub(crate) count: bool,

    /// Write the positions of the records, from 0
    ///
    /// Positions are text, or u32 in binary and .npy; u64 beyond 2^32 records.
    #[arg(long, help_heading = RESULT)]
    pub(crate) argsort: bool,

    /// Output format [default: by -o, else as the input]: text, bin, npy, csv, tsv, jsonl, parquet or arrow
    #[arg(long, value_name = "FORMAT", value_parser = named(written(), Format::name), help_heading = RESULT)]
    pub(crate) to: Option<Format>,

    /// Output file, which may be an input; - is standard output
    ///
    /// With --each or --split-size, the output folder.
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    pub(crate) output: Option<PathBuf>,

    /// zstd, snappy, lz4, gzip, brotli or none
    ///
    /// A level may follow, as in zstd:9: 1 to 22 for zstd, 0 to 9 for gzip, 0 to 11 for brotli. The default is the
    /// compression of the input, or snappy.
    #[arg(long, value_name = "NAME", help_heading = PARQUET)]
    pub(crate) parquet_compression: Option<String>,

    /// Maximum number of rows of a row group
    #[arg(long, value_name = "N", help_heading = PARQUET, value_parser = size::parse)]
    pub(crate) row_group_rows: Option<u64>,

    /// Approximate size of row groups, such as 128M
    #[arg(long, value_name = "SIZE", help_heading = PARQUET, value_parser = size::parse)]
    pub(crate) row_group_size: Option<u64>,

    /// Write files of this size into the folder -o
    ///
    /// The size is approximate. The files are part-00000.parquet and so on, in order; 'gpusort check
    /// manifest.json' checks them. An existing folder must be empty.
    #[arg(long, value_name = "SIZE", conflicts_with = "each", help_heading = PARQUET)]
    #[arg(value_parser = size::parse)]
    pub(crate) split_size: Option<u64>,

    /// Compress standard output as gzip
    ///
    /// Gzip is written as BGZF, which tabix and similar programs can read. Files whose names end in .gz or
    /// .bgz are written so without this option.
    #[arg(long, help_heading = RESULT)]
    pub(crate) bgzf: bool,

    /// Sort each file by itself, into the folder named by -o
    #[arg(long, conflicts_with = "argsort", help_heading = RESULT)]
    pub(crate) each: bool,

    /// With --each: replace each file
    #[arg(long, conflicts_with = "output", help_heading = RESULT)]
    pub(crate) in_place: bool,

    /// Check whether the inputs are sorted
    ///
    /// Like 'gpusort check'. With quiet or silent, only the exit code reports it.
    #[arg(short, long, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "diagnose-first", value_parser = one_of(IS_QUIET))]
    #[arg(conflicts_with = "check_quietly", conflicts_with_all = NOT_CHECKED, help_heading = INSTEAD)]
    pub(crate) check: Option<bool>,

    /// Same as --check=quiet: report by the exit code only
    #[arg(short = 'C', conflicts_with_all = NOT_CHECKED, hide_short_help = true, help_heading = INSTEAD)]
    pub(crate) check_quietly: bool,

    /// Merge sorted inputs
    #[arg(short, long, conflicts_with_all = ["argsort", "each"], help_heading = INSTEAD)]
    pub(crate) merge: bool,

    /// Algorithm: auto (default), bitonic, odd-even, radix
    #[arg(short, long, value_name = "ALGO", default_value = "auto", env = "GPUSORT_ALGO", help_heading = HOW)]
    #[arg(value_parser = named_or("auto", Algorithm::ALL, Algorithm::name), hide_default_value = true)]
    pub(crate) algo: OrAuto<Algorithm>,

    /// Variant of the algorithm: see 'gpusort man sort'
    ///
    /// bitonic: fused, local-global, transpose, naive; odd-even: block, naive; radix: onesweep,
    /// reduce-scan, leading.
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = named(Variant::ALL, Variant::name), help_heading = HOW)]
    pub(crate) variant: Option<Variant>,

    /// Device: auto (default), cpu, gpu, all, number or name
    ///
    /// Numbers are those of 'gpusort devices', and part of a name is enough; 0,1 are two GPUs that share the
    /// work, and all means all hardware GPUs.
    #[arg(short, long, value_name = "DEVICE", default_value = "auto", env = "GPUSORT_DEVICE")]
    #[arg(value_hint = ValueHint::Other, hide_default_value = true, help_heading = HOW)]
    pub(crate) device: String,

    /// Memory, such as 2G or 50% [default: 75% of available]
    ///
    /// Larger inputs are sorted in runs, which are kept in temporary files and merged. A percentage is of
    /// the machine's memory.
    #[arg(long, value_name = "SIZE|N%", env = "GPUSORT_MEMORY", value_parser = memory::parse)]
    #[arg(help_heading = HOW)]
    pub(crate) memory: Option<u64>,

    /// Same as --memory; a number without unit is KiB, as in sort
    #[arg(short = 'S', long, value_name = "SIZE|N%", value_parser = kibibytes, overrides_with = "memory")]
    #[arg(hide_short_help = true, help_heading = HOW)]
    pub(crate) buffer_size: Option<u64>,

    /// Folder for temporary files [default: $TMPDIR]
    ///
    /// Repeat the option for more folders. Without $TMPDIR, the default is /var/tmp.
    #[arg(short = 'T', long, alias = "temporary-directory", value_name = "DIR", env = "GPUSORT_TEMP_DIR")]
    #[arg(value_hint = ValueHint::DirPath, help_heading = HOW)]
    pub(crate) temp_dir: Vec<PathBuf>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = HOW)]
    pub(crate) parallel: Option<u64>,

    /// Report to: auto (default), stdout, stderr or off
    ///
    /// The report has the result and its timing.
    /// auto is standard output if it is a terminal and -o takes the data, and otherwise standard error if it
    /// is a terminal. While standard output is a pipe, auto reports only with -v, --json, --algo, --variant
    /// or --device.
    #[arg(long, alias = "report", value_name = "WHERE", default_value = "auto", env = "GPUSORT_TIMING")]
    #[arg(hide_default_value = true, help_heading = MESSAGES)]
    pub(crate) timing: TimingArg,

    /// Report format, keys, and the timing of each phase
    #[arg(short, long, help_heading = MESSAGES)]
    pub(crate) verbose: bool,

    /// Report as JSON
    ///
    /// An object on one line; docs/report.schema.json describes it.
    #[arg(long, help_heading = MESSAGES)]
    pub(crate) json: bool,

    /// Print the format and the kinds of keys; sort nothing
    ///
    /// With --json as a JSON object.
    #[arg(long, conflicts_with_all = ["check", "check_quietly", "each"], help_heading = MESSAGES)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    /// No progress, no notes, no timing unless requested
    #[arg(short, long, help_heading = MESSAGES)]
    pub(crate) quiet: bool,

    /// True for the command count.
    #[arg(skip)]
    pub(crate) counts_keys: bool,

    /// The seed of the command shuffle.
    #[arg(skip)]
    pub(crate) shuffle: Option<u64>,

    /// The names of typed options; the environment may set options, too.
    #[arg(skip)]
    pub(crate) typed: Vec<&'static str>,
}

/// The inputs, and the order of their records.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct OrderArgs {
    /// Input files, sorted together; without any, standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Read NUL-terminated file names from FILE
    ///
    /// - reads them from standard input, as from find -print0.
    #[arg(long, value_name = "FILE", conflicts_with = "files", help_heading = INPUT)]
    pub(crate) files0_from: Option<PathBuf>,

    /// Input format: lines, text (plain numbers), csv, tsv, bin, npy, jsonl, parquet, arrow
    ///
    /// Without a value, -f ignores case, as in sort. auto (default) is the format that the extension names,
    /// or else lines. With the name of a column as a key, the first line is a header: of a table if tabs,
    /// commas or semicolons separate the name, of columns between blanks, or of JSON Lines if the line is an
    /// object. text is numbers separated by white space.
    #[arg(short, long, value_name = "FORMAT", default_value = "auto", hide_default_value = true)]
    #[arg(value_parser = named_or("auto", Format::ALL, Format::name), help_heading = INPUT)]
    pub(crate) from: OrAuto<Format>,

    /// Type (f32), kind of keys (time), or separator (:)
    ///
    /// auto (default) finds the kind of keys in the data, and the type of binary by the extension. time,
    /// size, duration, text, version, hex and month set the kind of keys without one. A single character is a
    /// field separator, as in sort.
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "auto")]
    #[arg(value_parser = type_or_separator(), hide_default_value = true, help_heading = INPUT)]
    pub(crate) element: TypeArg,

    /// Keep the first N lines at the top [default: 1]
    ///
    /// The last of them names the columns. Tables have a header of one line by default, and so do lines whose
    /// key is a name.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(overrides_with = "no_header", value_parser = lines, help_heading = INPUT)]
    pub(crate) header: Option<usize>,

    /// Keep lines that begin with # at the top, unsorted
    ///
    /// Comments keep their order. The last comment with the names of all keys names the columns. Without
    /// --comments, these lines are records.
    #[arg(long, help_heading = INPUT)]
    pub(crate) comments: bool,

    /// Treat the first row of a table as data
    #[arg(long, overrides_with = "header", help_heading = INPUT)]
    pub(crate) no_header: bool,

    /// Field separator: a character, or tab
    ///
    /// The default is a comma in tables, a tab in .tsv, blanks in lines.
    #[arg(long, value_name = "C", value_parser = delimiter, help_heading = INPUT)]
    pub(crate) delimiter: Option<u8>,

    /// Lines end in NUL, in input and output
    #[arg(short, long, help_heading = INPUT)]
    pub(crate) zero_terminated: bool,

    /// Read the number at the start of a field: 45%, 12ms
    ///
    /// For keys of numbers, and keys with a kind.
    #[arg(long, help_heading = INPUT)]
    pub(crate) leading: bool,

    /// Words that count as empty, such as NA,-,null
    ///
    /// The next word is the value, whatever it looks like.
    #[arg(long, value_name = "WORDS", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(help_heading = INPUT)]
    pub(crate) na: Vec<String>,

    /// Decimal separator [default: .]
    #[arg(long, value_name = "C", help_heading = INPUT)]
    pub(crate) decimal: Option<char>,

    /// Thousands separator [default: none]
    #[arg(long, value_name = "C", help_heading = INPUT)]
    pub(crate) thousands: Option<char>,

    /// Format of times, such as '%d.%m.%Y' or epoch
    ///
    /// A pattern of strftime, or clf, syslog, rfc2822, epoch or epoch-ms. Times in the usual formats are
    /// recognised as well.
    #[arg(long, value_name = "FORMAT", help_heading = INPUT)]
    pub(crate) time_format: Option<String>,

    /// Column by name or number; price:r is descending
    ///
    /// Each further key orders the records whose earlier keys are equal. 0 is the whole record as text, -1 the last
    /// field, hilbert(x,y) points along a curve. Modifiers follow after a colon: r is descending, a
    /// ascending; number, time, size, duration, text, version, hex, month or list=FILE set the kind; nocase
    /// ignores case in text. Without a kind, all fields of the column decide. 2n and 2,2 are column 2, as in
    /// sort. Without a key, lines sort by their first field unless it is text, then by the whole line.
    #[arg(short, long, value_name = "KEY", allow_hyphen_values = true, help_heading = ORDER)]
    pub(crate) key: Vec<String>,

    /// Descending order; NaN stays last
    #[arg(short, long, help_heading = ORDER)]
    pub(crate) reverse: bool,

    /// Keep only the first record of each key
    ///
    /// Without a key, whole lines are compared. In a check, equal keys are out of order.
    #[arg(short, long, help_heading = ORDER)]
    pub(crate) unique: bool,

    /// NaN: last (default), first or error
    #[arg(long, value_name = "WHERE", default_value = "last", value_parser = one_of(Nulls::ALL))]
    #[arg(hide_default_value = true, help_heading = ORDER)]
    pub(crate) nan: Nulls,

    /// Empty keys: last (default), first or error
    #[arg(long, value_name = "WHERE", value_parser = one_of(Nulls::ALL), help_heading = ORDER)]
    pub(crate) empty: Option<Nulls>,

    /// Invalid keys: error (default), last, first or skip
    ///
    /// A key is invalid if it does not fit the kind of its column, such as a word among numbers or times.
    /// Lines without a key need -n.
    #[arg(long, value_name = "WHERE", value_parser = one_of(Invalid::ALL), help_heading = ORDER)]
    pub(crate) invalid: Option<Invalid>,

    /// Sort numbers: 9 before 10
    ///
    /// For keys without a kind, or for the first field.
    #[arg(short, long, help_heading = ORDER)]
    pub(crate) numeric_sort: bool,

    /// Same as -n
    #[arg(short, long, hide_short_help = true, help_heading = ORDER)]
    pub(crate) general_numeric_sort: bool,

    /// Sort versions: v1.9 before v1.10, as sort -V
    ///
    /// For keys without a kind, or for whole lines without a key.
    #[arg(short = 'V', long, help_heading = ORDER)]
    pub(crate) version_sort: bool,

    /// Ignore case in text
    #[arg(long, help_heading = ORDER)]
    pub(crate) ignore_case: bool,

    /// No effect: blanks between fields belong to no field
    #[arg(short = 'b', long, hide_short_help = true, help_heading = ORDER)]
    pub(crate) ignore_leading_blanks: bool,

    /// No effect: the order is always stable
    #[arg(short, long, hide_short_help = true, help_heading = ORDER)]
    pub(crate) stable: bool,

    /// Sort sizes: 2K before 1M (help: --help)
    ///
    /// For keys without a kind, or for the first field. Alone, without data on standard input, it prints
    /// help.
    #[arg(short = 'h', long = "human-numeric-sort", help_heading = ORDER)]
    pub(crate) sizes: bool,
}

/// `--timing`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimingArg {
    Auto,
    Stdout,
    Stderr,
    Off,
}

/// Returns the formats of `--to`. Lines need no name: sorted lines are written as lines.
fn written() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Lines)
}
