//! Times sorts of segments, each by itself, recorded into a caller's encoder; beside CUB's where
//! its lines are given:
//!
//! ```text
//! cub_sort 10000x1000 100000~100 > cub.csv; rows [--beside cub.csv] 10000x1000 100000~100
//! ```
//!
//! `ROWSxLENGTH` are rows of one length; `SEGMENTS~MEAN` are segments of 0 to twice as many
//! elements, told by offsets alone. Every result is verified: segments in order, each with the keys
//! that it had.

#[path = "../guest.rs"]
mod guest;

use anyhow::{Context, ensure};
use gpusort::buffers::{BufferSorter, Payload, Segments, Spec};
use gpusort::{ElementType, Select};
use gpusort_bench::SpinUp;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_engine::gpu::Gpu;
use gpusort_engine::key_buf::KeyBuf;
use rayon::prelude::*;

use self::guest::Guest;

/// What is sorted.
struct Asked {
    /// The length of rows, if it is one.
    length: Option<u32>,
    ends: Vec<u32>,
}

impl Asked {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let two = |separator| {
            let (count, length) = text.split_once(separator)?;
            Some((count.parse::<u32>().ok()?, length.parse::<u32>().ok()?))
        };
        if let Some((rows, length)) = two('x') {
            return Ok(Self { length: Some(length), ends: (0..=rows).map(|row| row * length).collect() });
        }
        let (segments, mean) = two('~').context("what is sorted is ROWSxLENGTH or SEGMENTS~MEAN")?;
        let mut end = 0;
        let ends = (0..=u64::from(segments)).map(|segment| {
            let begin = end;
            end += (mixed(segment) % (2 * u64::from(mean) + 1)) as u32;
            begin
        });
        Ok(Self { length: None, ends: ends.collect() })
    }

    fn n(&self) -> usize {
        *self.ends.last().unwrap_or(&0) as usize
    }
}

/// SplitMix64, as `cub_sort.cu` has it.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn main() -> anyhow::Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let beside = match args.iter().position(|arg| arg == "--beside") {
        Some(place) => {
            let path = args.drain(place..place + 2).nth(1).context("--beside takes a file")?;
            std::fs::read_to_string(&path).context(path)?
        }
        None => String::new(),
    };
    let cub = |name: &str, rows: &str| -> Option<f64> {
        let line = beside.lines().find(|line| line.starts_with(&format!("{name},f32,{rows},")))?;
        line.split(',').nth(3)?.parse().ok()
    };
    let gpu = Gpu::start(&std::env::var("GPUSORT_DEVICE").map_or(Select::Hardware, Select::Name))?;
    let spin_up = SpinUp::new(&gpu)?;
    let guest = Guest::new(&gpu.info().name, true, true)?;
    println!("{}, driver {}: ms, medians; f32\n", gpu.info(), gpu.info().driver);
    println!(
        "| segments | rows | rows, pairs | offsets | offsets, pairs | offsets, longest known | the same, pairs | CUB segmented | CUB segmented radix | copy |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for name in &args {
        let asked = Asked::parse(name)?;
        let mut shown = Vec::new();
        for how in [How::Rows, How::Offsets, How::LongestKnown] {
            for payload in [Payload::None, Payload::U32] {
                let median = match asked.length {
                    None if how == How::Rows => None,
                    _ => Some(median(&gpu, &spin_up, &guest, payload, &asked, how)?),
                };
                shown.push(median);
            }
        }
        shown.extend(["cub-segmented", "cub-segmented-radix", "copy"].map(|column| cub(column, name)));
        let shown = shown.into_iter().map(|ms| ms.map_or_else(String::new, |ms| format!("{ms:.4}")));
        println!("| {name} | {} |", shown.collect::<Vec<_>>().join(" | "));
    }
    Ok(())
}

/// How the library is told of segments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Rows,
    Offsets,
    LongestKnown,
}

/// The median time in ms.
fn median(
    gpu: &Gpu,
    spin_up: &SpinUp,
    guest: &Guest,
    payload: Payload,
    asked: &Asked,
    how: How,
) -> anyhow::Result<f64> {
    let n = asked.n() as u64;
    let spec = Spec::new(ElementType::F32).payload(payload).argsort(false);
    let longest = asked.ends.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    let spec = if how == How::LongestKnown { spec.longest_segment(longest) } else { spec };
    let sorter = BufferSorter::new(&guest.device, &guest.queue, spec)?;
    let workspace = sorter.workspace(n as u32)?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let [keys, values] = [(); 2].map(|()| guest.buffer(4 * n, usage));
    let offsets = guest.buffer(4 * asked.ends.len() as u64, usage);
    guest.queue.write_buffer(&offsets, 0, bytemuck::cast_slice(&asked.ends));
    let segments = || match asked.length {
        Some(length) if how == How::Rows => Segments::Rows(length),
        _ => Segments::Offsets(offsets.slice(..)),
    };
    let record = |encoder: &mut wgpu::CommandEncoder| {
        let values = (payload == Payload::U32).then(|| values.slice(..));
        sorter.record_segments(encoder, &workspace, keys.slice(..), values, segments())?;
        Ok(())
    };
    // The first time compiles.
    record(&mut guest.device.create_command_encoder(&Default::default()))?;
    let runs = if n > 1 << 25 { 3 } else { 9 };
    let numbers: Vec<u32> = (0..n as u32).collect();
    let mut times = Vec::new();
    for seed in 0..runs + 2 {
        let (element, distribution) = (ElementType::U32, Distribution::Uniform);
        let sequence = Sequence { element, distribution, count: n, seed };
        let KeyBuf::Narrow(words) = sequence.keys(0, n as usize) else { unreachable!("keys here are u32") };
        // Numbers of either sign; no NaN, so that the standard library's order is ours.
        let floats: Vec<f32> = words.concat().iter().map(|&word| word as i32 as f32 * 1e-3).collect();
        guest.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&floats));
        guest.queue.write_buffer(&values, 0, bytemuck::cast_slice(&numbers));
        spin_up.again(gpu)?;
        let time = guest.timed(&[&keys, &values], record)?;
        if seed >= 2 {
            times.push(time);
        }
        // All of the small ones, and one of the large.
        if n > 1 << 20 && seed != 2 {
            continue;
        }
        let sorted: Vec<f32> = bytemuck::pod_collect_to_vec(&guest.read(&keys)?);
        let is_right = |ends: &[u32]| {
            let range = ends[0] as usize..ends[1] as usize;
            let mut expected = floats[range.clone()].to_vec();
            expected.sort_by(f32::total_cmp);
            expected == sorted[range]
        };
        ensure!(asked.ends.par_windows(2).all(is_right), "a segment is wrong");
        if payload == Payload::U32 {
            let values: Vec<u32> = bytemuck::pod_collect_to_vec(&guest.read(&values)?);
            let right = |(&value, &key): (&u32, &f32)| floats[value as usize] == key;
            ensure!(values.iter().zip(&sorted).all(right), "values are not beside their keys");
        }
    }
    times.sort();
    Ok(times[times.len() / 2].as_secs_f64() * 1e3)
}
