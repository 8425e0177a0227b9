//! Times the radix sort of 64-bit keys by all digits and by leading ones, on keys of many kinds.
//!
//! ```sh
//! cargo run --release --example leading 10000000,67108864 uniform,normal,zipf keys,pairs
//! ```
//!
//! Floats are seen as integers in their order. Each result is verified. The first GPU is taken.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use gpusort::Select;
use gpusort_engine::gpu::{Buffers, Gpu, execute};
use gpusort_planner::Kind;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::{Algorithm, Plan, Shape, Variant};

/// Timed runs of each.
const RUNS: usize = 5;

const KINDS: [&str; 13] = [
    "uniform",
    "normal",
    "unit",
    "zipf",
    "few",
    "sorted",
    "equal",
    "top-equal",
    "low-entropy",
    "prefix-rare",
    "prefix-half",
    "runs",
    "f32",
];

fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number in (0, 1).
fn unit(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn normal(bits: u64) -> f64 {
    (-2.0 * unit(bits).ln()).sqrt() * (std::f64::consts::TAU * unit(mixed(bits))).cos()
}

fn key_of(float: f64) -> u64 {
    let bits = float.to_bits();
    if float.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

/// The key at a place of `n`.
fn key(kind: &str, place: u64, n: u64) -> u64 {
    let bits = mixed(place ^ 0x1EEF);
    let with_prefix = 0x1234_5678_0000_0000 | mixed(bits) >> 32;
    match kind {
        "normal" => key_of(normal(bits)),
        "unit" => key_of(unit(bits)),
        "zipf" => unit(bits).powf(-5.0).min(1e12) as u64,
        "few" => mixed(mixed(bits % 100)),
        "sorted" => (u128::from(place) * u128::from(u64::MAX) / u128::from(n)) as u64,
        "equal" => 0x1234_5678_9ABC_DEF0,
        "top-equal" => 0x4059_0000_0000_0000 | bits & 0xFFFF_FFFF,
        "low-entropy" => bits & mixed(bits) & mixed(mixed(bits)),
        "prefix-rare" if bits.is_multiple_of(10_000) => with_prefix,
        "prefix-half" if bits.is_multiple_of(2) => with_prefix,
        // A tenth of the keys, of which about a hundred begin alike.
        "runs" if bits.is_multiple_of(10) => {
            mixed(mixed(bits) % (n / 1000).max(1)) & !0xFFFF_FFFF | mixed(bits) >> 32
        }
        "f32" => key_of((normal(bits) as f32).into()),
        _ => mixed(bits),
    }
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let (sizes, kinds, shapes) = (next("10000000"), next("uniform,normal,zipf"), next("keys"));

    let gpu = Gpu::start(&Select::Any)?;
    println!("{}", gpu.info().name);
    // Work that keeps the clock of the GPU up.
    let busy = Shape { key: KeyWords::One, payload: false };
    let busy = Plan::new(Algorithm::Radix, Variant::ReduceScan, 1 << 22, busy, &gpu.info().limits)?;
    let busy = busy.repeated(40)?;
    let busy_buffers = Buffers::new(&gpu, &busy)?;
    busy_buffers.upload(&gpu, [&vec![0; 4 << 22][..]])?;
    let keep_busy = |milliseconds| -> anyhow::Result<()> {
        let start = Instant::now();
        // One in software has no clock of its own.
        while gpu.info().kind != Kind::Software && start.elapsed() < Duration::from_millis(milliseconds) {
            execute(&gpu, &busy, &busy_buffers, |_| {})?;
        }
        Ok(())
    };

    for n in sizes.split(',') {
        let n: usize = n.parse().with_context(|| format!("'{n}' is no number of elements"))?;
        for shape in shapes.split(',') {
            let payload = shape == "pairs";
            for kind in kinds.split(',') {
                ensure!(KINDS.contains(&kind), "'{kind}': choose from {}", KINDS.join(", "));
                let keys: Vec<u64> = (0..n as u64).map(|place| key(kind, place, n as u64)).collect();
                let mut positions: Vec<u32> = (0..n as u32).collect();
                positions.sort_by_key(|&position| keys[position as usize]);
                let mut milliseconds = Vec::new();
                for variant in [Variant::Onesweep, Variant::Leading] {
                    let shape = Shape { key: KeyWords::Two, payload };
                    let plan = Plan::new(Algorithm::Radix, variant, n, shape, &gpu.info().limits)?;
                    let buffers = Buffers::new(&gpu, &plan)?;
                    keep_busy(600)?;
                    let mut times = Vec::new();
                    for _ in 0..RUNS {
                        buffers.upload(&gpu, [bytemuck::cast_slice(&keys)])?;
                        keep_busy(40)?;
                        times.push(execute(&gpu, &plan, &buffers, |_| {})?.0.time.as_secs_f64() * 1e3);
                    }
                    times.sort_by(f64::total_cmp);
                    milliseconds.push(times[RUNS / 2]);
                    verify(&gpu, &buffers, &keys, &positions, payload)
                        .with_context(|| format!("{variant}: {n} {kind}"))?;
                }
                let [all, leading] = milliseconds[..] else { unreachable!("two are timed") };
                println!(
                    "{n} {shape} {kind}: onesweep {all:.4} ms, leading {leading:.4}, {:.3} times",
                    leading / all
                );
            }
        }
    }
    Ok(())
}

/// Compares what is in the buffers with the keys in the order of these positions.
fn verify(
    gpu: &Gpu,
    buffers: &Buffers,
    keys: &[u64],
    positions: &[u32],
    payload: bool,
) -> anyhow::Result<()> {
    let mut sorted = vec![0_u64; keys.len()];
    buffers.download_keys(gpu, bytemuck::cast_slice_mut(&mut sorted))?;
    let is_right = |(key, position): (&u64, &u32)| *key == keys[*position as usize];
    ensure!(sorted.iter().zip(positions).all(is_right), "the keys are not in order");
    if payload {
        let mut found = vec![0; keys.len()];
        buffers.download_positions(gpu, &mut found)?;
        ensure!(found == positions, "the positions are not those of a stable sort");
    }
    Ok(())
}
