//! What the first K of N elements take on a GPU: by whole sorts, by selection, and by tunings of
//! the reduction:
//!
//! ```text
//! cargo run --release --example top -- SIZE TYPE K [TUNING]...
//! cargo run --release --example top -- 64M u32 100 5,8,0,6,8,12 4,8,0,5,8,11
//! ```
//!
//! A type with `+p` carries positions. A tuning is six powers of two: elements in an invocation's
//! registers, invocations in a workgroup, groups of an invocation's elements, least elements in a
//! subset, slots in a run, elements sorted in the end. `GPUSORT_DIST` names how the keys are
//! distributed, or is `columns`: then the least are in few invocations, which is the worst case.
//! `GPUSORT_PASSES` set to anything times the first passes of each plan, too. Each result is
//! compared with the CPU's. The first hardware GPU is used, or the one that `GPUSORT_DEVICE` names
//! a part of.

use anyhow::{Context, ensure};
use gpusort::{Algorithm, PlanError, Select, Sorter};
use gpusort_base::human::time;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_bench::{SpinUp, statistics};
use gpusort_engine::gpu::{Buffers, Gpu, execute};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::report::timing::milliseconds;
use gpusort_engine::sorter::Request;
use gpusort_order::Selection;
use gpusort_planner::key::{ElementType, KeyWords};
use gpusort_planner::plan::{self, Plan, Shape, TopTuning};

/// Sorts of fresh keys that are timed.
const RUNS: u64 = 11;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [size, element, k, tunings @ ..] = &arguments[..] else {
        anyhow::bail!("a size, a type and how many are wanted are needed, then tunings")
    };
    let n = usize::try_from(gpusort_base::human::size::parse(size).map_err(anyhow::Error::msg)?)?;
    let k = usize::try_from(gpusort_base::human::size::parse(k).map_err(anyhow::Error::msg)?)?.min(n);
    let (name, positions) = element.strip_suffix("+p").map_or((element.as_str(), false), |name| (name, true));
    let element: ElementType = name.parse()?;
    let shape = Shape::of(element, positions);

    let gpu = Gpu::start(&std::env::var("GPUSORT_DEVICE").map_or(Select::Hardware, Select::Name))?;
    let spin_up = SpinUp::new(&gpu)?;
    let limits = &gpu.info().limits;
    let mut plans = Vec::new();
    for algorithm in [Algorithm::Bitonic, Algorithm::Radix] {
        let variant = plan::default_variant(algorithm, limits);
        let mut add = |name: &str, plan: Result<Plan, PlanError>| {
            plans.extend(plan.ok().map(|plan| (format!("{algorithm}, {name}"), plan)));
        };
        add("whole sort", Plan::new(algorithm, variant, n, shape, limits));
        add("selection", Plan::select(k, n, algorithm, variant, shape, limits));
        add("its own", Plan::first(k, n, algorithm, variant, shape, limits));
    }
    for text in tunings {
        let (tuning, rest_log2) = tuning(text)?;
        plans.push((text.clone(), Plan::top_tuned(k, n, shape, limits, tuning, rest_log2)?));
    }
    let keys = (0..RUNS).map(|seed| keys(element, n, seed)).collect::<Result<Vec<_>, _>>()?;
    let expected = keys.iter().map(|keys| top_on_cpu(keys, k, positions)).collect::<Result<Vec<_>, _>>()?;

    println!("{}, driver {}", gpu.info(), gpu.info().driver);
    println!("{:>9}  {:>9}  {:>10}  plan", "median", "min", "dispatches");
    for (name, plan) in plans {
        gpu.prepare(&plan)?;
        let buffers = Buffers::new(&gpu, &plan)?;
        let measure = |plan: &Plan, verify: bool| -> anyhow::Result<Vec<f64>> {
            let mut times = Vec::new();
            for (keys, expected) in keys.iter().zip(&expected) {
                buffers.upload(&gpu, keys.bytes())?;
                spin_up.again(&gpu)?;
                times.push(milliseconds(execute(&gpu, plan, &buffers, |_| {})?.0.time));
                let found = if verify { Some(top_of(&gpu, &buffers, k)?) } else { None };
                ensure!(found.is_none_or(|found| found == *expected), "{name}: not the first {k}");
            }
            Ok(times)
        };
        let times = measure(&plan, true)?;
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let (median, least) = (time(statistics::median(&times)), time(least));
        println!("{median:>9}  {least:>9}  {:>10}  {name}", plan.dispatch_count());
        if plan.reduces() && std::env::var_os("GPUSORT_PASSES").is_some() {
            let dispatches: Vec<_> = plan.dispatches().copied().collect();
            for end in 1..dispatches.len() {
                let median = time(statistics::median(&measure(&plan.prefix(end as u64), false)?));
                println!("{median:>9}  {:>9}  {end:>10}  up to {:?}", "", dispatches[end - 1].kernel());
            }
        }
    }
    Ok(())
}

/// A tuning, and the elements sorted in the end.
fn tuning(text: &str) -> anyhow::Result<(TopTuning, u32)> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    let numbers = numbers.with_context(|| format!("'{text}'"))?;
    let [elements, invocations, groups, subset, slots, rest] = numbers[..] else {
        anyhow::bail!("'{text}' is not a tuning: it has {} numbers, not 6", numbers.len())
    };
    Ok((TopTuning::new([elements, invocations, groups, subset, slots])?, rest))
}

fn keys(element: ElementType, n: usize, seed: u64) -> anyhow::Result<KeyBuf<'static>> {
    let name = std::env::var("GPUSORT_DIST").unwrap_or_else(|_| "uniform".to_owned());
    if name == "columns" {
        let key = |i: u64| ((i % 512) << 9) | (i / 512 % (300 + seed));
        return Ok(match element.bytes() {
            4 => (0..n as u64).map(|i| key(i) as u32).collect::<Vec<_>>().into(),
            _ => (0..n as u64).map(|i| (key(i) << 32) | key(i)).collect::<Vec<_>>().into(),
        });
    }
    let distribution: Distribution = name.parse()?;
    Ok(Sequence { element, distribution, count: n as u64, seed }.keys(0, n))
}

/// The first keys, or positions.
fn top_on_cpu(keys: &KeyBuf, k: usize, positions: bool) -> anyhow::Result<KeyBuf<'static>> {
    let request = if positions { Request::positions } else { Request::keys };
    let request = request(keys.borrowed()).select(Selection { unique: false, first: Some(k) });
    Ok(Sorter::cpu().run(request, &mut |_, _| {})?.words)
}

fn top_of(gpu: &Gpu, buffers: &Buffers, k: usize) -> anyhow::Result<KeyBuf<'static>> {
    let shape = buffers.shape();
    if shape.payload {
        let mut positions = vec![0; k];
        buffers.download_positions(gpu, &mut positions)?;
        return Ok(positions.into());
    }
    let mut keys: KeyBuf = match shape.key {
        KeyWords::One => vec![0_u32; k].into(),
        KeyWords::Two => vec![0_u64; k].into(),
    };
    keys.bytes_mut().into_iter().try_for_each(|block| buffers.download_keys(gpu, block))?;
    Ok(keys)
}
