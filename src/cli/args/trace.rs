//! The arguments of `gpusort trace`.

use std::path::PathBuf;

use clap::Args;
use gpusort::Format;
use gpusort_base::human::size;
use gpusort_bench::generate::Distribution;
use gpusort_order::key::ElementType;
use gpusort_planner::plan::{Algorithm, Variant};

use super::values::{OF_NUMBERS, OrAuto, named, named_or, tile};

/// The arguments of `gpusort trace`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("../help/trace.txt").trim_end())]
pub(crate) struct TraceArgs {
    /// Numbers in text, binary or .npy; - is standard input [default: generated]
    ///
    /// Without FILE, --dist and --seed, trace reads standard input unless it is a terminal or empty.
    /// Up to 64 generated elements are different numbers from 0 to 99. Larger counts, and elements
    /// with --type, --dist or --seed, are those of 'gpusort gen'.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Number of elements, from the start of FILE [default: 16, or all of FILE]
    #[arg(short = 'n', long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) count: Option<u64>,

    /// Algorithm [default: bitonic]
    #[arg(short, long, value_name = "ALGO", value_parser = named(Algorithm::ALL, Algorithm::name))]
    pub(crate) algo: Option<Algorithm>,

    /// Variant of the algorithm [bitonic: fused, local-global, transpose, naive;
    /// odd-even: block, naive; radix: onesweep, reduce-scan, leading]
    ///
    /// The default is the variant that sort uses. Odd-even sort of up to 64 elements is naive, unless --tile,
    /// --top or --device is given.
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = named(Variant::ALL, Variant::name))]
    pub(crate) variant: Option<Variant>,

    /// Compare several variants, as in naive,fused
    ///
    /// Variants of any algorithm; a name that two algorithms share means that of --algo.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "variant")]
    #[arg(hide_possible_values = true, value_parser = named(Variant::ALL, Variant::name))]
    pub(crate) compare: Vec<Variant>,

    /// Show a sort of only the first K elements of the result
    #[arg(long, value_name = "K", value_parser = size::parse)]
    pub(crate) top: Option<u64>,

    /// Plan for tiles of this many elements, a power of two
    ///
    /// With small tiles, few elements take every kind of pass. With --top, the sort chooses its own.
    #[arg(long, value_name = "SIZE", value_parser = tile, conflicts_with = "top")]
    pub(crate) tile: Option<u64>,

    /// Element type [default: the type of FILE as in 'gpusort sort', else u32]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    #[arg(value_parser = named(ElementType::ALL, ElementType::name))]
    pub(crate) element: Option<ElementType>,

    /// Sort positions with the keys, for a stable sort
    #[arg(long)]
    pub(crate) with_positions: bool,

    /// Format of FILE; auto uses the extension, else text
    #[arg(short, long, value_name = "FORMAT", default_value = "auto")]
    #[arg(value_parser = named_or("auto", OF_NUMBERS, Format::name))]
    pub(crate) from: OrAuto<Format>,

    /// Distribution of generated elements, as in 'gpusort gen' [default: uniform]
    #[arg(long, value_name = "DIST", hide_possible_values = true, conflicts_with = "files")]
    #[arg(value_parser = named(Distribution::ALL, Distribution::name))]
    pub(crate) dist: Option<Distribution>,

    /// Seed of generated elements [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "files")]
    pub(crate) seed: Option<u64>,

    /// Write an SVG picture; - is standard output
    ///
    /// Any SVG renderer draws it in the colours of a light page. Browsers use dark colours where
    /// their user prefers them.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Animate the picture, in browsers
    ///
    /// Other renderers, and browsers whose user prefers reduced motion, show a still picture.
    #[arg(long, requires = "svg")]
    pub(crate) animate: bool,

    /// Draw the picture in light colours everywhere
    #[arg(long, conflicts_with = "dark", requires = "svg")]
    pub(crate) light: bool,

    /// Draw the picture in dark colours everywhere
    #[arg(long, requires = "svg")]
    pub(crate) dark: bool,

    /// Draw the sorting network alone, on the terminal or with --svg
    ///
    /// Wires and comparators of 2 to 64 elements, with a box for each block of a bitonic stage, and no
    /// passes: variants with the same network have the same picture. The elements are printed only if
    /// FILE, --type, --dist, --seed or --animate is given; comparators that swap are then bold.
    #[arg(long, conflicts_with_all = ["json", "device", "top", "tile"])]
    pub(crate) network: bool,

    /// Print the passes as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Plan for this GPU and time each pass on it
    ///
    /// gpu, a number from 'gpusort devices', or a part of a name.
    #[arg(short, long, value_name = "N|NAME")]
    pub(crate) device: Option<String>,
}
