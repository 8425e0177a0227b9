//! Times other wgpu sorts of resident data and prints `algorithm,type,n,median_ms,min_ms` lines, which
//! `cargo run --example measure -- --beside FILE` puts beside gpusort's:
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- [SIZE]... > peers.csv
//! ```
//!
//! Times are the GPU's, from timestamps around all that a sort records. Each run sorts the fresh keys
//! that gpusort would be given, and its result is verified: sorted, and of pairs the positions of a
//! stable sort. A peer that refuses a size or the device is left out with a note on stderr.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use gpusort::generate::{Distribution, Sequence};
use gpusort::key::{ElementType, Keys};
use rayon::prelude::*;

const RUNS: usize = 15;
const WARM_UP: usize = 2;

fn main() -> anyhow::Result<()> {
    let sizes: Result<Vec<u64>, _> =
        std::env::args().skip(1).map(|size| gpusort::size::parse(&size)).collect();
    let sizes = sizes?;
    println!("algorithm,type,n,median_ms,min_ms");
    let lampshade = Lampshade::new()?;
    for &n in &sizes {
        report("lampshade", n, || lampshade.keys(n));
        report("lampshade-pairs", n, || lampshade.pairs(n));
    }
    match WgpuSort::new() {
        Ok(wgpu_sort) => sizes.iter().for_each(|&n| report("wgpu_sort-pairs", n, || wgpu_sort.pairs(n))),
        Err(error) => eprintln!("wgpu_sort: {error:#}"),
    }
    Ok(())
}

fn report(algorithm: &str, n: u64, measure: impl FnOnce() -> anyhow::Result<Vec<f64>>) {
    match measure() {
        Ok(times) => println!("{algorithm},u32,{n},{:.4},{:.4}", times[times.len() / 2], times[0]),
        Err(error) => eprintln!("{algorithm} {n}: {error:#}"),
    }
}

fn keys(n: u64, seed: u64) -> Vec<u32> {
    let sequence =
        Sequence { element: ElementType::U32, distribution: Distribution::Uniform, count: n, seed };
    match sequence.keys(0, n as usize) {
        Keys::One(keys) => keys,
        Keys::Two(_) => unreachable!("u32 keys are of one word"),
    }
}

/// Times, in ms and rising, of what `sort` does with fresh keys: it returns the GPU's time, the keys and,
/// of pairs, the values, which went in as 0, 1, 2, …
fn measure(
    n: u64,
    mut spin: impl FnMut() -> anyhow::Result<()>,
    mut sort: impl FnMut(&[u32]) -> anyhow::Result<(f64, Vec<u32>, Option<Vec<u32>>)>,
) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    let mut fastest = Duration::MAX;
    for run in 0..RUNS + WARM_UP {
        let input = keys(n, run as u64);
        // The clock falls while the host works: it is up again when sorts are about as fast as ever.
        let start = Instant::now();
        let least = Duration::from_millis(if run == 0 { 1000 } else { 50 });
        loop {
            let begin = Instant::now();
            spin()?;
            let took = begin.elapsed();
            fastest = fastest.min(took);
            let is_fast = took < fastest.mul_f64(1.25) && start.elapsed() > least;
            if is_fast || start.elapsed() > Duration::from_secs(1) {
                break;
            }
        }
        let (ms, sorted, values) = sort(&input)?;
        let mut expected: Vec<(u32, u32)> = input.into_iter().zip(0..).collect();
        expected.par_sort_unstable();
        ensure!(sorted.iter().zip(&expected).all(|(key, expected)| *key == expected.0), "not sorted");
        if let Some(values) = values {
            ensure!(values.iter().zip(&expected).all(|(value, expected)| *value == expected.1), "not stable");
        }
        if run >= WARM_UP {
            times.push(ms);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// lampshade, and a device that it has made its choices for.
struct Lampshade {
    device: wgpu::Device,
    queue: wgpu::Queue,
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
        Ok(Self { device, queue, info: adapter.get_info() })
    }

    fn keys(&self, n: u64) -> anyhow::Result<Vec<f64>> {
        let mut sorter = lampshade::Sorter::new_for_adapter(&self.device, &self.queue, &self.info);
        let mut record = |encoder: &mut wgpu::CommandEncoder, from: &wgpu::Buffer, to: &wgpu::Buffer| {
            sorter.record_sort(encoder, from, to, n as u32).map_err(|error| anyhow::anyhow!("{error:?}"))
        };
        self.measure(n, 1, &mut record)
    }

    fn pairs(&self, n: u64) -> anyhow::Result<Vec<f64>> {
        let mut sorter = lampshade::KeyValueSorter::new_for_adapter(&self.device, &self.queue, &self.info);
        let mut record = |encoder: &mut wgpu::CommandEncoder, from: &wgpu::Buffer, to: &wgpu::Buffer| {
            sorter.record_sort(encoder, from, to, n as u32).map_err(|error| anyhow::anyhow!("{error:?}"))
        };
        self.measure(n, 2, &mut record)
    }

    fn measure(
        &self,
        n: u64,
        words: u64,
        record: &mut dyn FnMut(&mut wgpu::CommandEncoder, &wgpu::Buffer, &wgpu::Buffer) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<f64>> {
        let buffer = |size, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let bytes = n * words * 4;
        let (storage, source) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::COPY_SRC);
        let (from, to) = (buffer(bytes, storage | source), buffer(bytes, storage | source));
        let ticks = buffer(16, wgpu::BufferUsages::QUERY_RESOLVE | source);
        let queries = self.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let read = |from: &wgpu::Buffer| -> anyhow::Result<Vec<u8>> {
            let readable = buffer(from.size(), wgpu::BufferUsages::MAP_READ);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(from, 0, &readable, 0, from.size());
            self.queue.submit([encoder.finish()]);
            readable.map_async(wgpu::MapMode::Read, .., |_| {});
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            Ok(readable.get_mapped_range(..)?.to_vec())
        };
        let record = std::cell::RefCell::new(record);
        let run = || -> anyhow::Result<()> {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.write_timestamp(&queries, 0);
            (record.borrow_mut())(&mut encoder, &from, &to)?;
            encoder.write_timestamp(&queries, 1);
            encoder.resolve_query_set(&queries, 0..2, &ticks, 0);
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
            Ok(())
        };
        measure(n, run, |input| {
            let elements: Vec<u32> = match words {
                1 => input.to_vec(),
                _ => input.iter().zip(0..).flat_map(|(&key, value)| [key, value]).collect(),
            };
            self.queue.write_buffer(&from, 0, bytemuck::cast_slice(&elements));
            run()?;
            let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&read(&ticks)?);
            let ms = (ticks[1] - ticks[0]) as f64 * f64::from(self.queue.get_timestamp_period()) / 1e6;
            let sorted: Vec<u32> = bytemuck::pod_collect_to_vec(&read(&to)?);
            Ok(match words {
                1 => (ms, sorted, None),
                _ => {
                    let (keys, values) = sorted.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
                    (ms, keys, Some(values))
                }
            })
        })
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

    fn pairs(&self, n: u64) -> anyhow::Result<Vec<f64>> {
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
        let run = || {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.write_timestamp(&queries, 0);
            self.sorter.sort(&mut encoder, &self.queue, &buffers, None);
            encoder.write_timestamp(&queries, 1);
            encoder.resolve_query_set(&queries, 0..2, &ticks, 0);
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu_0_19::Maintain::Wait);
            Ok(())
        };
        let values: Vec<u32> = (0..n as u32).collect();
        let read = |buffer: &wgpu_0_19::Buffer, bytes: u64| -> Vec<u8> {
            let download = wgpu_sort::utils::download_buffer(buffer, &self.device, &self.queue, 0..bytes);
            pollster::block_on(download)
        };
        measure(n, run, |input| {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for (buffer, words) in [(buffers.keys(), input), (buffers.values(), &values[..])] {
                wgpu_sort::utils::upload_to_buffer(&mut encoder, buffer, &self.device, words);
            }
            self.queue.submit([encoder.finish()]);
            run()?;
            let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&read(&ticks, 16));
            let ms = (ticks[1] - ticks[0]) as f64 * f64::from(self.queue.get_timestamp_period()) / 1e6;
            let [keys, values] = [buffers.keys(), buffers.values()]
                .map(|buffer| bytemuck::pod_collect_to_vec::<u8, u32>(&read(buffer, n * 4)));
            Ok((ms, keys, Some(values)))
        })
    }
}
