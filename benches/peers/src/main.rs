//! Times other wgpu sorts of resident data beside gpusort, all on one GPU and with the same keys,
//! and prints a table in Markdown:
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- [--beside FILE.csv] [--csv FILE.csv] [--runs N] \
//!     [--only ALGORITHM,...] [SIZE]...
//! ```
//!
//! `--beside` puts the lines of another program, `algorithm,type,n,median_ms,min_ms,samples_ms`,
//! into the table and in front of those that `--csv` writes; `cub_sort.cu` prints such lines.
//!
//! Times are the GPU's, from timestamps around all that a sort records. Each run sorts fresh keys,
//! and its result is verified: sorted, and of pairs the positions of a stable sort. A peer that
//! refuses a size or the device is left out with a note on stderr.

mod guest;

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use gpusort::Error;
use gpusort::buffers::{BufferSorter, Count, Payload, Spec};
use gpusort::{Clock, Elapsed, Select};
use gpusort_bench::contender::{Contender, Sample, Sorted, on_gpu};
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_bench::verify::verify;
use gpusort_bench::{Outcome, Pace, SpinUp, measure, statistics, verified};
use gpusort_engine::gpu::Gpu;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_planner::key::{ElementType, KeyMap, KeyWords, Word};
use gpusort_planner::plan::{self, Algorithm, Plan, Shape};

use self::guest::{Guest, elapsed};

/// What stands in the table's columns beside the size: a title, and the algorithm's name in the
/// lines.
const COLUMNS: [(&str, &str); 18] = [
    ("bitonic", "gpusort-bitonic"),
    ("radix", "gpusort-radix"),
    ("recorded", "gpusort-recorded"),
    ("recorded f32", "gpusort-recorded-f32"),
    ("recorded, shared memory", "gpusort-recorded-shared"),
    ("recorded, no features", "gpusort-recorded-plain"),
    ("lampshade", "lampshade"),
    ("CUB radix", "cub-radix"),
    ("CUB merge", "cub-merge"),
    ("bitonic pairs", "gpusort-bitonic-pairs"),
    ("radix pairs", "gpusort-radix-pairs"),
    ("recorded pairs", "gpusort-recorded-pairs"),
    ("recorded positions", "gpusort-recorded-positions"),
    ("recorded argsort", "gpusort-recorded-argsort"),
    ("recorded, the first 64th", "gpusort-recorded-top"),
    ("lampshade pairs", "lampshade-pairs"),
    ("wgpu_sort pairs", "wgpu_sort-pairs"),
    ("CUB radix pairs", "cub-radix-pairs"),
];

struct Options {
    beside: Option<String>,
    csv: Option<String>,
    runs: usize,
    /// Algorithms by name; none for all.
    only: Vec<String>,
    sizes: Vec<u64>,
}

fn options() -> anyhow::Result<Options> {
    let mut options =
        Options { beside: None, csv: None, runs: Pace::default().runs, only: Vec::new(), sizes: Vec::new() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--beside" => options.beside = Some(args.next().context("--beside needs a file")?),
            "--csv" => options.csv = Some(args.next().context("--csv needs a file")?),
            "--only" => {
                let names = args.next().context("--only needs names")?;
                options.only = names.split(',').map(str::to_owned).collect();
            }
            "--runs" => options.runs = args.next().context("--runs needs a number")?.parse()?,
            size => options.sizes.push(gpusort_base::human::size::parse(size).map_err(anyhow::Error::msg)?),
        }
    }
    ensure!(!options.sizes.is_empty(), "which sizes?");
    Ok(options)
}

/// The times of one algorithm at one size.
struct Line {
    algorithm: String,
    n: u64,
    median_ms: f64,
    /// As it is written.
    text: String,
}

/// The u32 lines of another program, and all of them as they are.
fn read_lines(path: &str) -> anyhow::Result<Vec<Line>> {
    let text = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [algorithm, _, n, median, ..] = fields[..] else { bail!("{path}: '{line}' is too short") };
        let (n, median_ms) = (n.parse()?, median.parse()?);
        Ok(Line { algorithm: algorithm.to_owned(), n, median_ms, text: line.to_owned() })
    };
    text.lines().skip(1).filter(|line| line.contains(",u32,")).map(line).collect()
}

fn main() -> anyhow::Result<()> {
    let options = options()?;
    let mut lines = options.beside.as_deref().map(read_lines).transpose()?.unwrap_or_default();

    // The first, or one by a part of its name; the others take the GPU that they would.
    let gpu = Gpu::start(&std::env::var("GPUSORT_DEVICE").map_or(Select::Hardware, Select::Name))?;
    let spin_up = SpinUp::new(&gpu)?;
    let ours = Ours { gpu: &gpu, spin_up: &spin_up };
    let lampshade = Lampshade::new()?;
    ensure!(lampshade.info.name == gpu.info().name, "lampshade has another GPU: {}", lampshade.info.name);
    let [guest, shared, plain] = [(true, true), (true, false), (false, true)]
        .map(|(features, hints)| Guest::new(&gpu.info().name, features, hints));
    let (guest, shared, plain) = (guest?, shared?, plain?);
    let wgpu_sort = WgpuSort::new();
    if let Err(error) = &wgpu_sort {
        eprintln!("wgpu_sort: {error:#}");
    }
    // What a caller's timestamps say of nothing is in all that is recorded.
    let mut empty = Vec::new();
    for _ in 0..=options.runs {
        spin_up.again(&gpu)?;
        let buffer = guest.buffer(4, wgpu::BufferUsages::STORAGE);
        let time = guest.timed(&[&buffer], |encoder| {
            drop(encoder.begin_compute_pass(&Default::default()));
            Ok(())
        })?;
        empty.push(time.as_secs_f64() * 1e3);
    }
    eprintln!("an empty pass: {:.4} ms between timestamps", statistics::median(&empty[1..]));
    for &n in &options.sizes {
        let wanted =
            |algorithm: &str| options.only.is_empty() || options.only.iter().any(|only| only == algorithm);
        let mut add = |algorithm: &str, contender: Option<anyhow::Result<Box<Contender<'_>>>>| {
            let Some(contender) = contender else { return };
            match contender.and_then(|mut contender| times(n, options.runs, contender.as_mut())) {
                Ok(times) => {
                    let line = line(algorithm, n, times);
                    eprintln!("{algorithm} {n}: {} ms", line.median_ms);
                    lines.push(line);
                }
                Err(error) => eprintln!("{algorithm} {n}: {error:#}"),
            }
        };
        for algorithm in [Algorithm::Bitonic, Algorithm::Radix] {
            add(
                &format!("gpusort-{algorithm}"),
                wanted(&format!("gpusort-{algorithm}")).then(|| ours.sort(n, algorithm, false)),
            );
            add(
                &format!("gpusort-{algorithm}-pairs"),
                wanted(&format!("gpusort-{algorithm}-pairs")).then(|| ours.sort(n, algorithm, true)),
            );
        }
        for what in Recorded::ALL {
            let guest = match what {
                Recorded::Shared => &shared,
                Recorded::Plain => &plain,
                _ => &guest,
            };
            add(what.name(), wanted(what.name()).then(|| guest.recorded(n, what, ours)));
        }
        add("lampshade", wanted("lampshade").then(|| lampshade.keys(n, ours)));
        add("lampshade-pairs", wanted("lampshade-pairs").then(|| lampshade.pairs(n, ours)));
        if let Ok(wgpu_sort) = &wgpu_sort {
            add("wgpu_sort-pairs", wanted("wgpu_sort-pairs").then(|| wgpu_sort.pairs(n, ours)));
        }
    }

    if let Some(path) = options.csv {
        let text: String = lines.iter().map(|line| format!("{}\n", line.text)).collect();
        let header = "algorithm,type,n,median_ms,min_ms,samples_ms\n";
        std::fs::write(&path, header.to_owned() + &text).context(path)?;
    }
    print_table(&gpu, &options.sizes, &lines);
    Ok(())
}

fn line(algorithm: &str, n: u64, mut times: Vec<f64>) -> Line {
    times.sort_by(f64::total_cmp);
    let median_ms = statistics::median(&times);
    let samples: Vec<String> = times.iter().map(|ms| format!("{ms:.4}")).collect();
    let text = format!("{algorithm},u32,{n},{median_ms:.4},{:.4},{}", times[0], samples.join(" "));
    Line { algorithm: algorithm.to_owned(), n, median_ms, text }
}

fn print_table(gpu: &Gpu, sizes: &[u64], lines: &[Line]) {
    println!("{}, driver {}: ms, medians\n", gpu.info(), gpu.info().driver);
    let has = |name: &str| lines.iter().any(|line| line.algorithm == name);
    let columns: Vec<_> = COLUMNS.into_iter().filter(|(_, name)| has(name)).collect();
    let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    println!("| n | {} |\n|---:|{}", titles.join(" | "), "---:|".repeat(columns.len()));
    for &n in sizes {
        print!("| {} |", gpusort_base::human::grouped(n));
        for (_, name) in &columns {
            match lines.iter().find(|line| line.algorithm == *name && line.n == n) {
                Some(Line { median_ms: ms, .. }) if *ms < 0.1 => print!(" {ms:.4} |"),
                Some(Line { median_ms: ms, .. }) => print!(" {ms:.3} |"),
                None => print!(" |"),
            }
        }
        println!();
    }
}

/// The times of this many sorts, in ms.
fn times(n: u64, runs: usize, contender: &mut Contender) -> anyhow::Result<Vec<f64>> {
    let keys = |seed| {
        let (element, distribution) = (ElementType::U32, Distribution::Uniform);
        Sequence { element, distribution, count: n, seed }.keys(0, n as usize)
    };
    let pace = Pace { runs, limit: Duration::from_secs(60), ..Pace::default() };
    match measure(&mut |seed| verified(contender, &keys(seed), seed), &pace, &mut |_| {})? {
        Outcome::Measured(samples) => {
            Ok(samples.iter().map(|sample| sample.sort.time.as_secs_f64() * 1e3).collect())
        }
        Outcome::TooLong(time) => bail!("one run takes {time:?}"),
    }
}

/// gpusort on its device, which also keeps the GPU's clock up for the others.
#[derive(Clone, Copy)]
struct Ours<'a> {
    gpu: &'a Gpu,
    spin_up: &'a SpinUp,
}

impl<'a> Ours<'a> {
    fn sort(self, n: u64, algorithm: Algorithm, positions: bool) -> anyhow::Result<Box<Contender<'a>>> {
        let shape = Shape { key: KeyWords::One, payload: positions };
        let limits = &self.gpu.info().limits;
        let variant = plan::default_variant(algorithm, limits);
        let plan = Plan::new(algorithm, variant, n as usize, shape, limits)?;
        Ok(on_gpu(self.gpu, Some(self.spin_up), plan)?)
    }
}

/// What a peer's sort gives: the time that its device says it took, the keys and, of pairs, the
/// values.
type Times = (Duration, Vec<u32>, Option<Vec<u32>>);

/// A peer as gpusort's bench measures it. `sort` takes keys and what is to be called just before
/// the timed sort.
fn peer<'a>(
    ours: Ours<'a>,
    mut sort: impl FnMut(&[u32], &dyn Fn() -> anyhow::Result<()>) -> anyhow::Result<Times> + 'a,
) -> Box<Contender<'a>> {
    Box::new(move |input| {
        let KeyBuf::Narrow(blocks) = input else { unreachable!("keys here are u32") };
        let [words] = &blocks[..] else { unreachable!("keys are made in one block") };
        let spin_up = || Ok(ours.spin_up.again(ours.gpu)?);
        let result = sort(words, &spin_up).map_err(|error| Error::device(format!("{error:#}")))?;
        let (time, keys, values) = result;
        let keys = Sorted { words: keys.into(), positions: false };
        // Of pairs both are verified: the keys here, the values by the caller.
        verify(input, &keys).map_err(Error::device)?;
        let sorted = values.map_or(keys, |values| Sorted { words: values.into(), positions: true });
        let (upload, download) = (Duration::ZERO, Duration::ZERO);
        let sort = Elapsed { time, clock: Clock::Gpu };
        Ok((Sample { sort, upload, download, ..Sample::on_cpu(time) }, sorted))
    })
}

/// What is recorded into a caller's encoder.
#[derive(Clone, Copy, PartialEq)]
enum Recorded {
    Keys,
    Floats,
    /// On a device that was started without advice on memory.
    Shared,
    /// On a device without features.
    Plain,
    Pairs,
    Positions,
    Argsort,
    /// The first of 64 alone.
    Top,
}

impl Recorded {
    const ALL: [Self; 8] = [
        Self::Keys,
        Self::Floats,
        Self::Shared,
        Self::Plain,
        Self::Pairs,
        Self::Positions,
        Self::Argsort,
        Self::Top,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Keys => "gpusort-recorded",
            Self::Floats => "gpusort-recorded-f32",
            Self::Shared => "gpusort-recorded-shared",
            Self::Plain => "gpusort-recorded-plain",
            Self::Pairs => "gpusort-recorded-pairs",
            Self::Positions => "gpusort-recorded-positions",
            Self::Argsort => "gpusort-recorded-argsort",
            Self::Top => "gpusort-recorded-top",
        }
    }
}

/// What is recorded by it.
impl Guest {
    fn recorded<'a>(&'a self, n: u64, what: Recorded, ours: Ours<'a>) -> anyhow::Result<Box<Contender<'a>>> {
        let element = if what == Recorded::Floats { ElementType::F32 } else { ElementType::U32 };
        let payload = match what {
            Recorded::Pairs => Payload::U32,
            Recorded::Positions => Payload::Positions,
            _ => Payload::None,
        };
        let spec = Spec::new(element).payload(payload).argsort(what == Recorded::Argsort);
        let sorter = BufferSorter::new(&self.device, &self.queue, spec)?;
        let workspace = sorter.workspace(u32::try_from(n)?)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let (keys, values) = (self.buffer(n * 4, usage), self.buffer(n * 4, usage));
        let numbers: Vec<u32> = (0..n as u32).collect();
        let map = u32::map(KeyMap::ascending(element));
        let first = (n / 64).max(1) as usize;
        let mut is_told = false;
        Ok(peer(ours, move |input: &[u32], spin_up: &dyn Fn() -> anyhow::Result<()>| {
            // Of floats those whose keys are the words that all sort.
            let elements: Vec<u32> = input.iter().map(|key| key.bits(map)).collect();
            self.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&elements));
            self.queue.write_buffer(&values, 0, bytemuck::cast_slice(&numbers));
            self.queue.submit([]);
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            spin_up()?;
            let mut recording = Duration::ZERO;
            let time = self.timed(&[&keys, &values], |encoder| {
                let start = Instant::now();
                let count = Count::Host(n as u32);
                if what == Recorded::Argsort {
                    sorter.record_argsort(encoder, &workspace, keys.slice(..), values.slice(..), count)?;
                } else if what == Recorded::Top {
                    sorter.record_top(encoder, &workspace, keys.slice(..), None, first as u32, count)?;
                } else {
                    let values = (payload != Payload::None).then(|| values.slice(..));
                    sorter.record(encoder, &workspace, keys.slice(..), values, count)?;
                }
                recording = start.elapsed();
                Ok(())
            })?;
            if !std::mem::replace(&mut is_told, true) {
                // The first recording, with all that is made once.
                let compiling = sorter.compile_time();
                eprintln!("{}: compiled in {compiling:?}, first recorded in {recording:?}", what.name());
            } else if n == 1_000_000 {
                eprintln!("{}: recorded in {recording:?}", what.name());
            }
            let words = |bytes: Vec<u8>| bytemuck::pod_collect_to_vec::<u8, u32>(&bytes);
            let values = words(self.read(&values)?);
            let mut sorted: Vec<u32> =
                words(self.read(&keys)?).into_iter().map(|bits| bits.key(map)).collect();
            if what == Recorded::Argsort {
                ensure!(sorted == input, "keys are not as they were");
                sorted = values.iter().map(|&at| input[at as usize]).collect();
            }
            if what == Recorded::Top {
                let mut all = input.to_vec();
                all.sort_unstable();
                ensure!(sorted[..first] == all[..first], "these are not the first");
                sorted = all;
            }
            let has_values = payload != Payload::None || what == Recorded::Argsort;
            Ok((time, sorted, has_values.then_some(values)))
        }))
    }
}

/// lampshade, and a device that it has made its choices for.
struct Lampshade {
    guest: Guest,
    info: wgpu::AdapterInfo,
}

impl Lampshade {
    fn new() -> anyhow::Result<Self> {
        let descriptor = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let adapter = pollster::block_on(wgpu::Instance::new(descriptor).request_adapter(
            &wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::HighPerformance,
                ..Default::default()
            },
        ))?;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features() - wgpu::Features::all_experimental_mask(),
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        }))?;
        Ok(Self { guest: Guest::on(device, queue), info: adapter.get_info() })
    }

    fn keys<'a>(&'a self, n: u64, ours: Ours<'a>) -> anyhow::Result<Box<Contender<'a>>> {
        let Guest { device, queue, .. } = &self.guest;
        let mut sorter = lampshade::Sorter::new_for_adapter(device, queue, &self.info);
        self.contender(n, 1, ours, move |encoder, from, to| {
            sorter.record_sort(encoder, from, to, n as u32).map_err(|error| anyhow!("{error:?}"))
        })
    }

    fn pairs<'a>(&'a self, n: u64, ours: Ours<'a>) -> anyhow::Result<Box<Contender<'a>>> {
        let Guest { device, queue, .. } = &self.guest;
        let mut sorter = lampshade::KeyValueSorter::new_for_adapter(device, queue, &self.info);
        self.contender(n, 2, ours, move |encoder, from, to| {
            sorter.record_sort(encoder, from, to, n as u32).map_err(|error| anyhow!("{error:?}"))
        })
    }

    fn contender<'a>(
        &'a self,
        n: u64,
        words: u64,
        ours: Ours<'a>,
        mut record: impl FnMut(&mut wgpu::CommandEncoder, &wgpu::Buffer, &wgpu::Buffer) -> anyhow::Result<()> + 'a,
    ) -> anyhow::Result<Box<Contender<'a>>> {
        let guest = &self.guest;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let [from, to] = [(); 2].map(|()| guest.buffer(n * words * 4, usage));
        Ok(peer(ours, move |input: &[u32], spin_up: &dyn Fn() -> anyhow::Result<()>| {
            let elements: Vec<u32> = match words {
                1 => input.to_vec(),
                _ => input.iter().zip(0..).flat_map(|(&key, value)| [key, value]).collect(),
            };
            guest.queue.write_buffer(&from, 0, bytemuck::cast_slice(&elements));
            guest.queue.submit([]);
            guest.device.poll(wgpu::PollType::wait_indefinitely())?;
            spin_up()?;
            let time = guest.timed(&[], |encoder| record(encoder, &from, &to))?;
            let sorted: Vec<u32> = bytemuck::pod_collect_to_vec(&guest.read(&to)?);
            Ok(match words {
                1 => (time, sorted, None),
                _ => {
                    let (keys, values) = sorted.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
                    (time, keys, Some(values))
                }
            })
        }))
    }
}

/// wgpu_sort, which sorts pairs only, on a device of the wgpu that it was made for.
struct WgpuSort {
    device: wgpu_0_19::Device,
    queue: wgpu_0_19::Queue,
    sorter: wgpu_sort::GPUSorter,
}

impl WgpuSort {
    fn new() -> anyhow::Result<Self> {
        let instance = wgpu_0_19::Instance::new(wgpu_0_19::InstanceDescriptor {
            backends: wgpu_0_19::Backends::PRIMARY,
            ..Default::default()
        });
        let options = wgpu_0_19::RequestAdapterOptions {
            power_preference: wgpu_0_19::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options)).context("no adapter")?;
        let descriptor = wgpu_0_19::DeviceDescriptor {
            required_features: wgpu_0_19::Features::TIMESTAMP_QUERY,
            required_limits: adapter.limits(),
            label: None,
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor, None))?;
        let subgroup = pollster::block_on(wgpu_sort::utils::guess_workgroup_size(&device, &queue));
        let sorter = wgpu_sort::GPUSorter::new(&device, subgroup.context("no subgroup size works")?);
        Ok(Self { device, queue, sorter })
    }

    fn pairs<'a>(&'a self, n: u64, ours: Ours<'a>) -> anyhow::Result<Box<Contender<'a>>> {
        let length = NonZeroU32::new(n as u32).context("nothing to sort")?;
        let buffers = self.sorter.create_sort_buffers(&self.device, length);
        let queries = self.device.create_query_set(&wgpu_0_19::QuerySetDescriptor {
            label: None,
            ty: wgpu_0_19::QueryType::Timestamp,
            count: 2,
        });
        let ticks = self.device.create_buffer(&wgpu_0_19::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu_0_19::BufferUsages::QUERY_RESOLVE | wgpu_0_19::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let values: Vec<u32> = (0..n as u32).collect();
        let read = move |buffer: &wgpu_0_19::Buffer, bytes: u64| -> Vec<u8> {
            let download = wgpu_sort::utils::download_buffer(buffer, &self.device, &self.queue, 0..bytes);
            pollster::block_on(download)
        };
        Ok(peer(ours, move |input: &[u32], spin_up: &dyn Fn() -> anyhow::Result<()>| {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for (buffer, words) in [(buffers.keys(), input), (buffers.values(), &values[..])] {
                wgpu_sort::utils::upload_to_buffer(&mut encoder, buffer, &self.device, words);
            }
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu_0_19::Maintain::Wait);
            spin_up()?;
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.write_timestamp(&queries, 0);
            self.sorter.sort(&mut encoder, &self.queue, &buffers, None);
            encoder.write_timestamp(&queries, 1);
            encoder.resolve_query_set(&queries, 0..2, &ticks, 0);
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu_0_19::Maintain::Wait);
            let time =
                elapsed(&bytemuck::pod_collect_to_vec(&read(&ticks, 16)), self.queue.get_timestamp_period());
            let [keys, values] = [buffers.keys(), buffers.values()]
                .map(|buffer| bytemuck::pod_collect_to_vec::<u8, u32>(&read(buffer, n * 4)));
            Ok((time, keys, Some(values)))
        }))
    }
}
