//! Times every variant on a GPU by size and type, verifies every result, and prints a table.
//!
//! ```text
//! cargo run --release --example measure -- [--device NAME] [--sizes 1024,65536,1M] [--types u32,u64]
//!     [--algo bitonic] [--variant NAME] [--inputs uniform,sorted] [--runs 15] [--limit SECONDS]
//!     [--beside FILE.csv] [--csv FILE.csv]
//!     [--tuning 5,8,0,4,8,0,4,23/5,8,0,5,8,0,4,23] [--passes yes]
//! ```
//!
//! A type with `+p` carries positions. Each run sorts fresh keys, distributed as `gpusort gen --dist`
//! has it. What would take longer than the limit (5 s for one size of one variant) is left out, and the
//! table says so.
//!
//! `--beside` reads times of another program, `algorithm,type,n,median_ms,…` a line, and puts the ratio to
//! each of them in the table: `benches/peers/cub_sort.cu` prints such lines for CUB on NVIDIA GPUs.
//!
//! `--tuning` measures the fused variant with other choices than its own, all as powers of two: elements
//! in an invocation's registers, invocations in a workgroup and parts of a tile, first for the tiles'
//! sort, then for the passes; elements in the shortest run of memory; elements in a region. `--passes`
//! also tells what each kind of dispatch takes, the gap to the next one included.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use gpusort::generate::{Distribution, Sequence};
use gpusort::gpu::{Buffers, Gpu, Select, execute};
use gpusort::key::{ElementType, Keys};
use gpusort::plan::{Algorithm, Dispatch, FusedTile, Plan, Round, Shape, Tuning, Variant};
use rayon::prelude::*;

struct Options {
    select: Select,
    sizes: Vec<usize>,
    types: Vec<String>,
    algorithm: Option<String>,
    variant: Option<String>,
    inputs: Vec<Distribution>,
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
        inputs: vec![Distribution::Uniform],
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
            "--inputs" => options.inputs = value.split(',').map(str::parse).collect::<Result<_, _>>()?,
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
    let tile = |numbers: &[u32]| FusedTile {
        elements_log2: numbers[0],
        invocations_log2: numbers[1],
        parts_log2: numbers[2],
    };
    ensure!(numbers.len() == 8, "'{text}' is not a tuning");
    Ok(Tuning {
        sort_tile: tile(&numbers[..3]),
        tile: tile(&numbers[3..6]),
        run_log2: numbers[6],
        region_log2: numbers[7],
    })
}

fn size(text: &str) -> anyhow::Result<usize> {
    Ok(usize::try_from(gpusort::size::parse(text)?)?)
}

fn tuning_name(tuning: &Tuning) -> String {
    let tile =
        |tile: FusedTile| format!("{},{},{}", tile.elements_log2, tile.invocations_log2, tile.parts_log2);
    format!("{},{},{},{}", tile(tuning.sort_tile), tile(tuning.tile), tuning.run_log2, tuning.region_log2)
}

/// One result.
struct Row {
    algorithm: Algorithm,
    variant: String,
    element: String,
    input: Distribution,
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

/// What both element widths have in common here.
trait Key: Copy + Ord + Send + Sync + bytemuck::Pod + Into<u64> {}
impl Key for u32 {}
impl Key for u64 {}

/// A sum over what a finaliser of `SplitMix64` makes of each key: the same for all permutations.
fn fingerprint<K: Key>(keys: &[K]) -> u64 {
    let mix = |&key: &K| {
        let z = key.into().wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    keys.par_iter().map(mix).reduce(|| 0, u64::wrapping_add)
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

/// The times of sorts of what `keys` makes for each run, in ms, rising.
fn measure(
    gpu: &Gpu,
    plan: &Plan,
    keys: impl Fn(u64) -> Keys,
    options: &Options,
) -> anyhow::Result<Vec<f64>> {
    let buffers = Buffers::new(gpu, plan)?;
    let mut sorted = keys(0);
    let mut spin_up = SpinUp::new(gpu, plan)?;
    let mut samples = Vec::new();
    let warm_up = 2;
    for run in 0..options.runs + warm_up {
        let input = keys(run as u64);
        buffers.upload(gpu, input.as_bytes())?;
        spin_up.again(gpu)?;
        let time = execute(gpu, plan, &buffers, |_| {})?.0.time;
        match (&input, &mut sorted) {
            (Keys::One(input), Keys::One(sorted)) => verify(gpu, &buffers, input, sorted)?,
            (Keys::Two(input), Keys::Two(sorted)) => verify(gpu, &buffers, input, sorted)?,
            _ => bail!("keys changed their width between two runs"),
        }
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

/// Keeps the device busy on elements that are of no interest: one that waits for the host to make and
/// verify keys lowers its clock, and then it is the clock's return that is timed.
struct SpinUp {
    /// The plan, so often in one submit that the device is not idle between two of them.
    plan: Plan,
    elements: Buffers,
    /// What that took at best: the sign that the clock is up.
    fastest: Duration,
}

impl SpinUp {
    /// Runs until it has not become faster for a while.
    fn new(gpu: &Gpu, plan: &Plan) -> anyhow::Result<Self> {
        let elements = Buffers::new(gpu, plan)?;
        let once = execute(gpu, plan, &elements, |_| {})?.0.time;
        let times = (Duration::from_millis(10).as_secs_f64() / once.as_secs_f64()).clamp(1.0, 200.0) as u64;
        let rounds: Vec<Round> = (0..times).flat_map(|_| plan.rounds.clone()).collect();
        let mut spin_up = Self { plan: Plan { rounds, ..plan.clone() }, elements, fastest: Duration::MAX };
        let (start, mut improved) = (Instant::now(), Instant::now());
        while improved.elapsed() < Duration::from_millis(300) && start.elapsed() < Duration::from_secs(3) {
            let before = spin_up.fastest;
            if spin_up.once(gpu)? < before.mul_f64(0.97) {
                improved = Instant::now();
            }
        }
        Ok(spin_up)
    }

    fn once(&mut self, gpu: &Gpu) -> anyhow::Result<Duration> {
        let time = execute(gpu, &self.plan, &self.elements, |_| {})?.0.time;
        self.fastest = self.fastest.min(time);
        Ok(time)
    }

    /// Runs until it is about as fast as ever.
    fn again(&mut self, gpu: &Gpu) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.once(gpu)? > self.fastest.mul_f64(1.03) || start.elapsed() < Duration::from_millis(30) {
            if start.elapsed() > Duration::from_secs(1) {
                break;
            }
        }
        Ok(())
    }
}

/// What each kind of dispatch takes, done many times over.
fn print_passes(gpu: &Gpu, plan: &Plan, name: &str) -> anyhow::Result<()> {
    const TIMES: u64 = 50;
    let mut spin_up = SpinUp::new(gpu, plan)?;
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
        spin_up.again(gpu)?;
        let mut times = (0..5)
            .map(|_| Ok(execute(gpu, &many, &spin_up.elements, |_| {})?.0.time))
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
                    let number: ElementType = element.trim_end_matches("+p").parse()?;
                    let key_words = number.bytes() as u32 / 4;
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
                    let cases =
                        plans.iter().flat_map(|plan| options.inputs.iter().map(move |&input| (plan, input)));
                    for ((name, plan), input) in cases {
                        let plan = match plan {
                            Ok(plan) => plan,
                            Err(error) => {
                                println!("{what}: {error}");
                                continue;
                            }
                        };
                        if options.passes {
                            print_passes(&gpu, plan, &format!("{what} {name}"))?;
                        }
                        let start = Instant::now();
                        let sequence =
                            |seed| Sequence { element: number, distribution: input, count: n as u64, seed };
                        let measured = measure(&gpu, plan, |seed| sequence(seed).keys(0, n), &options);
                        let samples_ms = measured.with_context(|| what.clone())?;
                        let row = Row {
                            algorithm,
                            variant: name.clone(),
                            element: element.clone(),
                            input,
                            n,
                            dispatches: plan.dispatch_count(),
                            bytes_moved: plan.bytes_moved(),
                            samples_ms,
                        };
                        let took = start.elapsed();
                        eprintln!("{what} {name} {}: {:.4} ms ({took:.1?})", input.name(), row.median());
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
        "\n{:>11} {:6} {:13} {:9} {:21} {:>6} {:>10} {:>10} {:>10} {:>6}",
        "n", "type", "input", "algorithm", "variant", "passes", "median ms", "min ms", "max ms", "limit"
    );
    for row in rows {
        let last = row.samples_ms.len() - 1;
        print!(
            "{:>11} {:6} {:13} {:9} {:21} {:>6} {:>10.4} {:>10.4} {:>10.4}",
            row.n,
            row.element,
            row.input.name(),
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
    writer.write_record([
        "algorithm",
        "variant",
        "type",
        "input",
        "n",
        "dispatches",
        "bytes_moved",
        "samples_ms",
    ])?;
    for row in rows {
        let samples: Vec<String> = row.samples_ms.iter().map(|sample| format!("{sample:.4}")).collect();
        writer.write_record([
            row.algorithm.name(),
            &row.variant,
            &row.element,
            row.input.name(),
            &row.n.to_string(),
            &row.dispatches.to_string(),
            &row.bytes_moved.to_string(),
            &samples.join(" "),
        ])?;
    }
    writer.flush().context("standard output")
}
