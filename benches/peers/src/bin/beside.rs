//! Times what is recorded into a caller's encoder beside sorts of whole words: sorts of keys of 8 and
//! 16 bits, gathers, unique keys, merges; beside a copy of as many words.
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml --bin beside -- [SIZE…]
//! ```
//!
//! Every result is compared with the standard library's.

#[path = "../guest.rs"]
mod guest;

use anyhow::ensure;
use gpusort::buffers::{BufferSorter, Count, Gather, Payload, Run, Spec, Unique};
use gpusort::{ElementType, Select};
use gpusort_bench::SpinUp;
use gpusort_engine::gpu::Gpu;
use rayon::prelude::*;

use self::guest::Guest;

/// Timed runs of each.
const RUNS: usize = 7;

/// Times one thing after another.
struct Bench {
    gpu: Gpu,
    spin_up: SpinUp,
    guest: Guest,
    n: usize,
}

/// SplitMix64.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn random(n: usize, seed: u64) -> Vec<u32> {
    (0..n as u64).into_par_iter().map(|place| mixed(place ^ seed << 40) as u32).collect()
}

fn main() -> anyhow::Result<()> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000_000, 10_000_000, 1 << 26];
    }
    let gpu = Gpu::start(&std::env::var("GPUSORT_DEVICE").map_or(Select::Hardware, Select::Name))?;
    let spin_up = SpinUp::new(&gpu)?;
    let guest = Guest::new(&gpu.info().name, true, true)?;
    println!("{}, driver {}: ms, medians\n", gpu.info(), gpu.info().driver);
    let mut bench = Bench { gpu, spin_up, guest, n: 0 };
    println!("| | n | ms |\n|---|---:|---:|");
    for n in sizes {
        bench.n = n;
        bench.sorts("u8", Spec::new(ElementType::U8), 8, |bits| bits)?;
        bench.sorts("i16", Spec::new(ElementType::I16), 16, |bits| bits ^ 0x8000)?;
        bench.sorts("f16", Spec::new(ElementType::F16), 16, float)?;
        bench.sorts("bf16", Spec::bf16(), 16, float)?;
        bench.sorts("u32", Spec::new(ElementType::U32), 32, |bits| bits)?;
        bench.gathers()?;
        bench.uniques()?;
        bench.merges()?;
    }
    Ok(())
}

/// The key of a float of 16 bits that is no NaN.
fn float(bits: u32) -> u32 {
    if bits & 0x8000 == 0 { bits | 0x8000 } else { !bits & 0xffff }
}

impl Bench {
    /// Prints the median of what is recorded, done anew each time after these buffers were filled.
    fn timed(
        &self,
        name: &str,
        inputs: &[(&wgpu::Buffer, &[u8])],
        record: impl Fn(&mut wgpu::CommandEncoder) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        // The first time compiles.
        record(&mut self.guest.device.create_command_encoder(&Default::default()))?;
        let mut times = Vec::new();
        for _ in 0..RUNS {
            inputs.iter().for_each(|(buffer, bytes)| self.guest.queue.write_buffer(buffer, 0, bytes));
            self.spin_up.again(&self.gpu)?;
            let buffers: Vec<&wgpu::Buffer> = inputs.iter().map(|(buffer, _)| *buffer).collect();
            times.push(self.guest.timed(&buffers, &record)?);
        }
        times.sort();
        println!("| {name} | {} | {:.4} |", self.n, times[RUNS / 2].as_secs_f64() * 1e3);
        Ok(())
    }

    /// A buffer that is sorted, or written.
    fn buffer(&self, bytes: usize) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        self.guest.buffer(bytes.next_multiple_of(4) as u64, usage)
    }

    /// Sorts keys of so many bits, alone and with positions.
    fn sorts(&self, name: &str, spec: Spec, bits: u32, key: fn(u32) -> u32) -> anyhow::Result<()> {
        let bytes = bits as usize / 8;
        let mask = u32::MAX >> (32 - bits);
        // No NaN: of those there are several.
        let is_nan = |word: u32| bits == 16 && word & 0x7c00 == 0x7c00;
        let words = random(self.n, bits.into()).into_par_iter().map(|word| word & mask);
        let words: Vec<u32> = words.map(|word| if is_nan(word) { word & 0x83ff } else { word }).collect();
        let input: Vec<u8> =
            words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(bytes)).collect();
        let mut input = input;
        input.resize(input.len().next_multiple_of(4), 0);
        let mut sorted = words.clone();
        sorted.par_sort_by_key(|&word| key(word));
        for payload in [Payload::None, Payload::Positions] {
            let spec = spec.clone().payload(payload).argsort(false).segments(false);
            let sorter = BufferSorter::new(&self.guest.device, &self.guest.queue, spec)?;
            let workspace = sorter.workspace(self.n as u32)?;
            let (keys, positions) = (self.buffer(self.n * bytes), self.buffer(4 * self.n));
            let has = payload == Payload::Positions;
            let part = keys.slice(..(self.n * bytes) as u64);
            let name = if has { format!("sort {name} with positions") } else { format!("sort {name}") };
            self.timed(&name, &[(&keys, &input)], |encoder| {
                let values = has.then(|| positions.slice(..));
                sorter.record(encoder, &workspace, part, values, Count::Host(self.n as u32))?;
                Ok(())
            })?;
            let found = self.guest.read(&keys)?;
            let is_right = |(found, word): (&[u8], &u32)| *found == word.to_le_bytes()[..bytes];
            ensure!(found.par_chunks(bytes).zip(&sorted).all(is_right), "{name} is wrong");
            if has {
                let positions: Vec<u32> = bytemuck::pod_collect_to_vec(&self.guest.read(&positions)?);
                let is_right = |(&at, &word): (&u32, &u32)| words[at as usize] == word;
                ensure!(positions.par_iter().zip(&sorted).all(is_right), "{name}: positions are wrong");
            }
        }
        Ok(())
    }

    fn sorter(&self, payload: Payload) -> anyhow::Result<BufferSorter> {
        let spec = Spec::new(ElementType::U32).payload(payload).argsort(false).segments(false);
        Ok(BufferSorter::new(&self.guest.device, &self.guest.queue, spec)?)
    }

    /// Gathers one, three and five arrays of words, and one of 16 bytes, by random positions.
    fn gathers(&self) -> anyhow::Result<()> {
        let sorter = self.sorter(Payload::None)?;
        let n = self.n as u64;
        let order: Vec<u32> =
            random(self.n, 9).into_iter().map(|word| (u64::from(word) * n >> 32) as u32).collect();
        let places = self.buffer(4 * self.n);
        for (arrays, words) in [(1, 1), (3, 1), (5, 1), (1, 4)] {
            let source = random(self.n * words, 10);
            let of = || self.buffer(4 * self.n * words);
            let buffers: Vec<_> = (0..arrays).map(|_| (of(), of())).collect();
            let mut inputs: Vec<(&wgpu::Buffer, &[u8])> =
                buffers.iter().map(|(from, _)| (from, bytemuck::cast_slice(&source))).collect();
            inputs.push((&places, bytemuck::cast_slice(&order)));
            let element_bytes = 4 * words as u32;
            let gathers: Vec<Gather> = buffers
                .iter()
                .map(|(from, to)| Gather { source: from.slice(..), target: to.slice(..), element_bytes })
                .collect();
            self.timed(&format!("gather {arrays} × {element_bytes} bytes"), &inputs, |encoder| {
                sorter.record_gather(encoder, places.slice(..), &gathers, Count::Host(self.n as u32))?;
                Ok(())
            })?;
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&self.guest.read(&buffers[arrays - 1].1)?);
            let expected = |at: u32| &source[at as usize * words..][..words];
            let is_right = |(found, &at): (&[u32], &u32)| found == expected(at);
            ensure!(found.par_chunks(words).zip(&order).all(is_right), "a gather is wrong");
        }
        Ok(())
    }

    /// The first of each run of equal keys, of a million different ones, with values and counts.
    fn uniques(&self) -> anyhow::Result<()> {
        let sorter = self.sorter(Payload::U32)?;
        let workspace = sorter.workspace(self.n as u32)?;
        let mut keys: Vec<u32> = random(self.n, 11).into_iter().map(|word| word >> 12).collect();
        keys.par_sort_unstable();
        let [sorted, values, firsts, first_values, counts] = [(); 5].map(|()| self.buffer(4 * self.n));
        let number = self.buffer(4);
        for (name, has) in [("unique", false), ("unique, values and counts", true)] {
            self.timed(name, &[(&sorted, bytemuck::cast_slice(&keys)), (&values, &[])], |encoder| {
                let unique = Unique {
                    keys: firsts.slice(..),
                    values: has.then(|| first_values.slice(..)),
                    counts: has.then(|| counts.slice(..)),
                    number: number.slice(..),
                };
                let count = Count::Host(self.n as u32);
                sorter.record_unique(
                    encoder,
                    &workspace,
                    sorted.slice(..),
                    Some(values.slice(..)),
                    count,
                    unique,
                )?;
                Ok(())
            })?;
            let mut expected = keys.clone();
            expected.dedup();
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&self.guest.read(&firsts)?);
            ensure!(found[..expected.len()] == expected, "unique keys are wrong");
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&self.guest.read(&number)?);
            ensure!(found == [expected.len() as u32], "their number is wrong");
        }
        Ok(())
    }

    /// Merges two runs of half as many keys, alone and with values.
    fn merges(&self) -> anyhow::Result<()> {
        let half = self.n / 2;
        let mut keys = random(2 * half, 12);
        keys.par_chunks_mut(half).for_each(<[u32]>::sort_unstable);
        let [runs, values, merged, merged_values] = [(); 4].map(|()| self.buffer(8 * half));
        for payload in [Payload::None, Payload::U32] {
            let sorter = self.sorter(payload)?;
            let has = payload == Payload::U32;
            let middle = 4 * half as u64;
            let run = |begin| {
                let range = begin..begin + middle;
                let values = has.then(|| values.slice(range.clone()));
                Run { keys: runs.slice(range), values, count: Count::Host(half as u32) }
            };
            let name = if has { "merge two halves, with values" } else { "merge two halves" };
            self.timed(name, &[(&runs, bytemuck::cast_slice(&keys)), (&values, &[])], |encoder| {
                let values = has.then(|| merged_values.slice(..));
                sorter.record_merge(encoder, run(0), run(middle), merged.slice(..), values)?;
                Ok(())
            })?;
            let mut expected = keys.clone();
            expected.par_sort_unstable();
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&self.guest.read(&merged)?);
            ensure!(found == expected, "a merge is wrong");
        }
        Ok(())
    }
}
