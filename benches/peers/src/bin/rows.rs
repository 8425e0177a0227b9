//! Times sorts of rows, each by itself, recorded into a caller's encoder; beside CUB's where its lines are given:
//!
//! ```text
//! cub_sort 10000x1000 > cub.csv; rows [--beside cub.csv] 10000x1000 ROWSxLENGTH…
//! ```
//!
//! Every result is verified: rows in order, each with the keys that it had.

#[path = "../guest.rs"]
mod guest;

use std::time::Duration;

use anyhow::{Context, ensure};
use gpusort::ElementType;
use gpusort::Select;
use gpusort::buffers::{BufferSorter, Payload, Segments, Spec};
use gpusort::unstable::bench::SpinUp;
use gpusort::unstable::generate::{Distribution, Sequence};
use gpusort::unstable::gpu::Gpu;
use gpusort::unstable::words::Words;

use self::guest::Guest;

const RUNS: usize = 11;

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
        "| rows | recorded | pairs | CUB segmented | CUB segmented radix | copy |\n|---|---:|---:|---:|---:|---:|"
    );
    for rows in &args {
        let (count, length) = rows.split_once('x').context("rows are ROWSxLENGTH")?;
        let (count, length): (u32, u32) = (count.parse()?, length.parse()?);
        let mut medians = Vec::new();
        for payload in [Payload::None, Payload::U32] {
            let mut times = (0..RUNS + 2)
                .map(|run| {
                    spin_up.again(&gpu)?;
                    one(&guest, payload, count, length, run as u64)
                })
                .collect::<Result<Vec<Duration>, anyhow::Error>>()?;
            times.drain(..2);
            times.sort();
            medians.push(times[RUNS / 2].as_secs_f64() * 1e3);
        }
        let others = ["cub-segmented", "cub-segmented-radix", "copy"].map(|name| cub(name, rows));
        let shown: Vec<String> = medians
            .into_iter()
            .map(Some)
            .chain(others)
            .map(|ms| ms.map_or_else(String::new, |ms| format!("{ms:.4}")))
            .collect();
        println!("| {rows} | {} |", shown.join(" | "));
    }
    Ok(())
}

fn one(guest: &Guest, payload: Payload, rows: u32, length: u32, seed: u64) -> anyhow::Result<Duration> {
    let n = u64::from(rows) * u64::from(length);
    let (element, distribution) = (ElementType::U32, Distribution::Uniform);
    let Words::Narrow(words) = (Sequence { element, distribution, count: n, seed }).keys(0, n as usize)
    else {
        unreachable!("keys here are u32")
    };
    // Numbers of either sign; no NaN, so that the standard library's order is ours.
    let floats: Vec<f32> = words.concat().iter().map(|&word| word as i32 as f32 * 1e-3).collect();
    let spec = Spec::new(ElementType::F32).payload(payload).argsort(false);
    let sorter = BufferSorter::new(&guest.device, &guest.queue, spec)?;
    let workspace = sorter.workspace(length)?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let (keys, values) = (guest.buffer(4 * n, usage), guest.buffer(4 * n, usage));
    guest.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&floats));
    let numbers: Vec<u32> = (0..n as u32).collect();
    guest.queue.write_buffer(&values, 0, bytemuck::cast_slice(&numbers));
    let record = |encoder: &mut wgpu::CommandEncoder| {
        let values = (payload == Payload::U32).then(|| values.slice(..));
        sorter.record_segments(encoder, &workspace, keys.slice(..), values, Segments::Rows(length))?;
        Ok(())
    };
    // The first time compiles.
    record(&mut guest.device.create_command_encoder(&Default::default()))?;
    let time = guest.timed(&[&keys, &values], record)?;
    let sorted: Vec<f32> = bytemuck::pod_collect_to_vec(&guest.read(&keys)?);
    for (row, sorted) in floats.chunks(length as usize).zip(sorted.chunks(length as usize)) {
        let mut expected = row.to_vec();
        expected.sort_by(f32::total_cmp);
        ensure!(expected == sorted, "a row of {length} is wrong");
    }
    if payload == Payload::U32 {
        let values: Vec<u32> = bytemuck::pod_collect_to_vec(&guest.read(&values)?);
        let right = |(&value, &key): (&u32, &f32)| floats[value as usize] == key;
        ensure!(values.iter().zip(&sorted).all(right), "values are not beside their keys");
    }
    Ok(time)
}
