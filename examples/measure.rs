//! Times every variant on a GPU by size and type, verifies every result, and prints a table.
//!
//! ```text
//! cargo run --release --example measure -- [--device NAME] [--sizes 1024,65536,1M] [--types u32,u64]
//!     [--algo bitonic] [--variant NAME] [--runs 15] [--limit SECONDS] [--beside FILE.csv] [--csv FILE.csv]
//!     [--tuning 5,8,0,4,8,0,4,23/5,8,0,5,8,0,4,23] [--passes yes]
//! ```
//!
//! `--tuning` measures the fused variant with other choices than its own, all as powers of two: elements
//! in an invocation's registers, invocations in a workgroup and parts of a tile, first for the tiles'
//! sort, then for the passes; elements in the shortest run of memory; elements in a region. `--passes`
//! also tells what each kind of dispatch takes, the gap to the next one included.
//!
//! A type with `+p` carries positions. Each run sorts fresh random keys. `--beside` reads times of
//! another program, `algorithm,type,n,median_ms,…` a line, and puts the ratio to each of them in the
//! table: `benches/peers/cub_sort.cu` prints such lines for CUB on NVIDIA GPUs. What would take longer
//! than the limit (5 s for one size of one variant) is left out, and the table says so.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use gpusort::gpu::{Buffers, Gpu, Select, execute};
use gpusort::plan::{Algorithm, Dispatch, FusedTile, Plan, Round, Shape, Tuning, Variant};
use rayon::prelude::*;

struct Options {
    select: Select,
    sizes: Vec<usize>,
    types: Vec<String>,
    algorithm: Option<String>,
    variant: Option<String>,
    runs: usize,
    limit: Duration,
    beside: Option<String>,
    csv: Option<String>,
    tunings: Vec<Tuning>,
    passes: bool,
}

fn options() -> anyhow::Result<Options> {
    let mut options = Options {
        select: Select::Hardware,
        sizes: [1024, 65_536, 1_000_000, 10_000_000, 1 << 24].to_vec(),
        types: ["u32", "u32+p", "u64", "u64+p"].map(str::to_owned).to_vec(),
        algorithm: None,
        variant: None,
        runs: 15,
        limit: Duration::from_secs(5),
        beside: None,
        csv: None,
        tunings: Vec::new(),
        passes: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().with_context(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--device" => options.select = Select::Name(value),
            "--sizes" => options.sizes = value.split(',').map(size).collect::<Result<_, _>>()?,
            "--types" => options.types = value.split(',').map(str::to_owned).collect(),
            "--algo" => options.algorithm = Some(value),
            "--variant" => options.variant = Some(value),
            "--runs" => options.runs = value.parse()?,
            "--limit" => options.limit = Duration::from_secs_f64(value.parse()?),
            "--beside" => options.beside = Some(value),
            "--tuning" => options.tunings = value.split('/').map(tuning).collect::<Result<_, _>>()?,
            "--passes" => options.passes = value == "yes",
            "--csv" => options.csv = Some(value),
            _ => bail!("unknown option {flag}"),
        }
    }
    Ok(options)
}

fn tuning(text: &str) -> anyhow::Result<Tuning> {
    let numbers: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let [a, b, c, d, e, f, run_log2, region_log2] = numbers[..] else { bail!("'{text}' is not a tuning") };
    let tile = |(elements_log2, invocations_log2, parts_log2)| FusedTile {
        elements_log2,
        invocations_log2,
        parts_log2,
    };
    Ok(Tuning { sort_tile: tile((a, b, c)), tile: tile((d, e, f)), run_log2, region_log2 })
}

fn tuning_name(tuning: &Tuning) -> String {
    let tile =
        |tile: FusedTile| format!("{},{},{}", tile.elements_log2, tile.invocations_log2, tile.parts_log2);
    format!("{},{},{},{}", tile(tuning.sort_tile), tile(tuning.tile), tuning.run_log2, tuning.region_log2)
}

/// Digits, with `_` between them and a `K`, `M` or `G` (powers of 1024) after them.
fn size(text: &str) -> anyhow::Result<usize> {
    let text = text.replace('_', "");
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (&text[..], 0),
    };
    Ok(digits.parse::<usize>().with_context(|| format!("'{text}' is not a size"))? << shift)
}

/// One result.
struct Row {
    algorithm: Algorithm,
    variant: String,
    element: String,
    n: usize,
    dispatches: u64,
    bytes_moved: u64,
    /// Rising.
    samples_ms: Vec<f64>,
}

impl Row {
    fn median(&self) -> f64 {
        self.samples_ms[self.samples_ms.len() / 2]
    }
}

/// A finaliser of `SplitMix64`: random keys from numbers, and fingerprints from keys.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What both element widths have in common here.
trait Key: Copy + Ord + Send + Sync + bytemuck::Pod {
    fn random(i: u64) -> Self;
    fn wide(self) -> u64;
}

impl Key for u32 {
    fn random(i: u64) -> Self {
        (mix(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 32) as u32
    }
    fn wide(self) -> u64 {
        self.into()
    }
}

impl Key for u64 {
    fn random(i: u64) -> Self {
        mix(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
    fn wide(self) -> u64 {
        self
    }
}

fn fingerprint<K: Key>(keys: &[K]) -> u64 {
    keys.par_iter().map(|key| mix(key.wide().wrapping_add(1))).reduce(|| 0, u64::wrapping_add)
}

fn verify<K: Key>(gpu: &Gpu, buffers: &Buffers, input: &[K], sorted: &mut [K]) -> anyhow::Result<()> {
    buffers.download_keys(gpu, bytemuck::cast_slice_mut(sorted))?;
    ensure!(sorted.par_windows(2).all(|pair| pair[0] <= pair[1]), "not sorted");
    ensure!(fingerprint(input) == fingerprint(sorted), "not a permutation of the input");
    if buffers.shape().positions {
        let mut positions = vec![0; input.len()];
        buffers.download_positions(gpu, &mut positions)?;
        let right =
            positions.par_iter().zip(&*sorted).all(|(&position, key)| input[position as usize] == *key);
        ensure!(right, "a position is not its key's");
        let stable = positions
            .par_windows(2)
            .zip(sorted.par_windows(2))
            .all(|(position, key)| key[0] < key[1] || position[0] < position[1]);
        ensure!(stable, "equal keys changed their order, or a position is there twice");
    }
    Ok(())
}

fn measure<K: Key>(gpu: &Gpu, plan: &Plan, options: &Options) -> anyhow::Result<Vec<f64>> {
    let n = plan.n as usize;
    let buffers = Buffers::new(gpu, plan)?;
    let mut input = vec![bytemuck::Zeroable::zeroed(); n];
    let mut sorted: Vec<K> = input.clone();
    let scratch = Buffers::new(gpu, plan)?;
    let mut samples = Vec::new();
    let warm_up = 2;
    for run in 0..options.runs + warm_up {
        input.par_iter_mut().enumerate().for_each(|(i, key)| *key = K::random((run * n + i) as u64));
        buffers.upload(gpu, bytemuck::cast_slice(&input))?;
        spin_up(gpu, plan, &scratch)?;
        let time = execute(gpu, plan, &buffers, |_| {})?.0.time;
        verify(gpu, &buffers, &input, &mut sorted)?;
        // One run longer than a second tells as much as many: three of those will do.
        let long = time > Duration::from_secs(1);
        if run >= warm_up || long {
            samples.push(time.as_secs_f64() * 1e3);
        }
        if long && samples.len() >= 3 {
            break;
        }
    }
    samples.sort_by(f64::total_cmp);
    Ok(samples)
}

/// Keeps the device busy for a moment on elements that are of no interest: one that waits for the host
/// to make and verify keys lowers its clock, and then it is the clock's return that is timed.
fn spin_up(gpu: &Gpu, plan: &Plan, scratch: &Buffers) -> anyhow::Result<()> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(40) {
        execute(gpu, plan, scratch, |_| {})?;
    }
    Ok(())
}

/// What each kind of dispatch takes, done many times over.
fn print_passes(gpu: &Gpu, plan: &Plan, name: &str) -> anyhow::Result<()> {
    const TIMES: u64 = 50;
    let scratch = Buffers::new(gpu, plan)?;
    let mut kinds: Vec<(Dispatch, u32)> = Vec::new();
    for dispatch in plan.dispatches() {
        match kinds.iter_mut().find(|(kind, _)| kind == dispatch) {
            Some((_, count)) => *count += 1,
            None => kinds.push((*dispatch, 1)),
        }
    }
    for (dispatch, count) in kinds {
        let rounds = vec![Round { dispatches: vec![dispatch], times: TIMES }];
        let many = Plan { rounds, ..plan.clone() };
        spin_up(gpu, &many, &scratch)?;
        let mut times = (0..5)
            .map(|_| Ok(execute(gpu, &many, &scratch, |_| {})?.0.time))
            .collect::<anyhow::Result<Vec<_>>>()?;
        times.sort();
        let each = times[2].as_secs_f64() * 1e6 / TIMES as f64;
        println!("  {name} n {}: {each:8.2} us, {count} times: {:?}", plan.n, dispatch.work);
    }
    Ok(())
}

/// `algorithm,type,n,median_ms,…` a line.
fn read_beside(path: &str) -> anyhow::Result<Vec<(String, String, usize, f64)>> {
    let mut reader = csv::Reader::from_path(path).with_context(|| path.to_owned())?;
    let row = |record: csv::StringRecord| {
        let field = |index| record.get(index).ok_or_else(|| anyhow!("{path}: a short line"));
        Ok((field(0)?.to_owned(), field(1)?.to_owned(), field(2)?.parse()?, field(3)?.parse()?))
    };
    reader.records().map(|record| row(record?)).collect()
}

fn main() -> anyhow::Result<()> {
    let options = options()?;
    let gpu = Gpu::start(&options.select)?;
    let beside = options.beside.as_deref().map(read_beside).transpose()?.unwrap_or_default();
    println!("{}, driver {}", gpu.info(), gpu.info().driver);
    let mut rows = Vec::new();
    // The slowest of a variant's sizes so far, to know what the next would take.
    let mut slowest: HashMap<(Algorithm, Variant, &str), (usize, f64)> = HashMap::new();
    for &n in &options.sizes {
        for element in &options.types {
            for algorithm in Algorithm::ALL {
                for &variant in algorithm.variants() {
                    let wanted =
                        |name: &Option<String>, this: &str| name.as_deref().is_none_or(|name| name == this);
                    if !wanted(&options.algorithm, algorithm.name())
                        || !wanted(&options.variant, variant.name())
                    {
                        continue;
                    }
                    let what = format!("{algorithm} {variant} {element} {n}");
                    let exponent = if algorithm == Algorithm::OddEven { 2 } else { 1 };
                    let expected = slowest
                        .get(&(algorithm, variant, element.as_str()))
                        .map_or(0.0, |&(before, ms)| ms * (n as f64 / before as f64).powi(exponent));
                    let too_long = Duration::from_secs_f64(expected / 1e3) > options.limit;
                    if too_long || (algorithm == Algorithm::OddEven && n > 1 << 20) {
                        println!("{what}: left out, about {:.0} s", expected / 1e3);
                        continue;
                    }
                    let positions = element.ends_with("+p");
                    let key_words = if element.contains("64") { 2 } else { 1 };
                    let shape = Shape { key_words, positions };
                    let limits = &gpu.info().limits;
                    let mut plans =
                        vec![(variant.name().to_owned(), Plan::new(algorithm, variant, n, shape, limits))];
                    if variant == Variant::Fused {
                        plans.extend(
                            options
                                .tunings
                                .iter()
                                .map(|tuning| (tuning_name(tuning), Plan::fused(n, shape, limits, tuning))),
                        );
                    }
                    for (name, plan) in plans {
                        let plan = match plan {
                            Ok(plan) => plan,
                            Err(error) => {
                                println!("{what}: {error}");
                                continue;
                            }
                        };
                        if options.passes {
                            print_passes(&gpu, &plan, &format!("{what} {name}"))?;
                        }
                        let start = Instant::now();
                        let measured = match key_words {
                            1 => measure::<u32>(&gpu, &plan, &options),
                            _ => measure::<u64>(&gpu, &plan, &options),
                        };
                        let samples_ms = measured.with_context(|| what.clone())?;
                        let row = Row {
                            algorithm,
                            variant: name,
                            element: element.clone(),
                            n,
                            dispatches: plan.dispatch_count(),
                            bytes_moved: plan.bytes_moved(),
                            samples_ms,
                        };
                        eprintln!("{what} {}: {:.4} ms ({:.1?})", row.variant, row.median(), start.elapsed());
                        slowest.insert((algorithm, variant, element), (n, row.median()));
                        rows.push(row);
                    }
                }
            }
        }
    }
    print_table(&rows, &beside);
    options.csv.map_or(Ok(()), |path| write_csv(&rows, &path))
}

/// The copy bandwidth of the other program's run, in bytes a millisecond, reads and writes counted.
fn copy_bandwidth(beside: &[(String, String, usize, f64)]) -> Option<f64> {
    beside
        .iter()
        .filter(|(algorithm, element, ..)| algorithm == "copy" && element == "u32")
        .map(|(.., n, ms)| *n as f64 * 8.0 / ms)
        .max_by(f64::total_cmp)
}

fn print_table(rows: &[Row], beside: &[(String, String, usize, f64)]) {
    let copy = copy_bandwidth(beside);
    println!(
        "\n{:>11} {:6} {:9} {:21} {:>6} {:>10} {:>10} {:>10} {:>6}",
        "n", "type", "algorithm", "variant", "passes", "median ms", "min ms", "max ms", "limit"
    );
    for row in rows {
        let last = row.samples_ms.len() - 1;
        print!(
            "{:>11} {:6} {:9} {:21} {:>6} {:>10.4} {:>10.4} {:>10.4}",
            row.n,
            row.element,
            row.algorithm.name(),
            row.variant,
            row.dispatches,
            row.median(),
            row.samples_ms[0],
            row.samples_ms[last],
        );
        match copy {
            Some(copy) => print!(" {:>5.0}%", row.bytes_moved as f64 / copy / row.median() * 100.0),
            None => print!(" {:>6}", "-"),
        }
        let (element, pairs) =
            row.element.strip_suffix("+p").map_or((&row.element[..], false), |element| (element, true));
        for (algorithm, other, n, ms) in beside {
            let alike = algorithm.ends_with("pairs") == pairs && algorithm != "copy";
            if alike && other == element && *n == row.n {
                print!("  {:.2} × {algorithm}", row.median() / ms);
            }
        }
        println!();
    }
}

fn write_csv(rows: &[Row], path: &str) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_path(path).with_context(|| path.to_owned())?;
    writer.write_record(["algorithm", "variant", "type", "n", "dispatches", "bytes_moved", "samples_ms"])?;
    for row in rows {
        let samples: Vec<String> = row.samples_ms.iter().map(|sample| format!("{sample:.4}")).collect();
        writer.write_record([
            row.algorithm.name(),
            &row.variant,
            &row.element,
            &row.n.to_string(),
            &row.dispatches.to_string(),
            &row.bytes_moved.to_string(),
            &samples.join(" "),
        ])?;
    }
    writer.flush().context("standard output")
}
