//! What other tilings of the bitonic `fused` variant would take than the ones that it chooses
//! itself, and what each pass takes:
//!
//! ```text
//! cargo run --release --example tunings -- SIZE TYPE [TUNING]...
//! cargo run --release --example tunings -- 1000000 u32 5,8,1,4,8,1,4,23 4,9,0,4,9,0,3,23
//! ```
//!
//! A type with `+p` carries positions. A tuning is eight powers of two: elements in an invocation's
//! registers, invocations in a workgroup and parts of a tile, first for the tiles' sort, then for
//! the passes; elements in the shortest run of memory; elements in a region. The first hardware GPU
//! is used, or the one that `GPUSORT_DEVICE` names a part of.

use std::time::Instant;

use anyhow::{Context, ensure};
use gpusort::Select;
use gpusort_base::human::time;
use gpusort_bench::contender::on_gpu;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_bench::{Outcome, Pace, SpinUp, measure, statistics, verified};
use gpusort_engine::gpu::{Buffers, Gpu, execute};
use gpusort_engine::report::timing::milliseconds;
use gpusort_planner::key::ElementType;
use gpusort_planner::plan::{Algorithm, Dispatch, FusedTile, Plan, Shape, Tuning, Variant};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [size, element, tunings @ ..] = &arguments[..] else {
        anyhow::bail!("a size and a type are needed, then tunings")
    };
    let n = usize::try_from(gpusort_base::human::size::parse(size).map_err(anyhow::Error::msg)?)?;
    let (name, positions) = element.strip_suffix("+p").map_or((element.as_str(), false), |name| (name, true));
    let element: ElementType = name.parse()?;
    let shape = Shape::of(element, positions);

    let gpu = Gpu::start(&std::env::var("GPUSORT_DEVICE").map_or(Select::Hardware, Select::Name))?;
    let spin_up = SpinUp::new(&gpu)?;
    let limits = &gpu.info().limits;
    let own = Plan::new(Algorithm::Bitonic, Variant::Fused, n, shape, limits)?;
    let mut plans = vec![("its own".to_owned(), own)];
    for text in tunings {
        plans.push((text.clone(), Plan::fused(n, shape, limits, &tuning(text)?)?));
    }

    println!("{}, driver {}", gpu.info(), gpu.info().driver);
    for (name, plan) in plans {
        let keys = |seed| {
            Sequence { element, distribution: Distribution::Uniform, count: n as u64, seed }.keys(0, n)
        };
        let mut contender = on_gpu(&gpu, Some(&spin_up), plan.clone())?;
        let mut sort = |seed| verified(contender.as_mut(), &keys(seed), seed);
        let outcome = measure(&mut sort, &Pace::default(), &mut |_| {})?;
        let Outcome::Measured(samples) = outcome else { anyhow::bail!("{name}: too slow to measure") };
        let times: Vec<f64> = samples.iter().map(|sample| milliseconds(sample.sort.time)).collect();
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{name}: median {}, min {}", time(statistics::median(&times)), time(least));
        print_passes(&gpu, &spin_up, &plan)?;
    }
    Ok(())
}

fn tuning(text: &str) -> anyhow::Result<Tuning> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    let numbers = numbers.with_context(|| format!("'{text}'"))?;
    ensure!(numbers.len() == 8, "'{text}' is not a tuning: it has {} numbers, not 8", numbers.len());
    let tile = |numbers: &[u32]| FusedTile::new(numbers[0], numbers[1], numbers[2]);
    let (sort_tile, tile) = (tile(&numbers[..3])?, tile(&numbers[3..6])?);
    Ok(Tuning { sort_tile, tile, run_log2: numbers[6], region_log2: numbers[7] })
}

/// What each kind of dispatch takes with the gap to the next one, done many times over.
fn print_passes(gpu: &Gpu, spin_up: &SpinUp, plan: &Plan) -> anyhow::Result<()> {
    const TIMES: u32 = 50;
    let elements = Buffers::new(gpu, plan)?;
    let mut kinds: Vec<(Dispatch, u32)> = Vec::new();
    for dispatch in plan.dispatches() {
        match kinds.iter_mut().find(|(kind, _)| kind == dispatch) {
            Some((_, count)) => *count += 1,
            None => kinds.push((*dispatch, 1)),
        }
    }
    for (dispatch, count) in kinds {
        let kernel = [(dispatch.kernel(), dispatch.first(), dispatch.count())];
        let once = Plan::of_kernels(plan.n() as usize, plan.shape(), &gpu.info().limits, kernel)?;
        let many = once.repeated(TIMES)?;
        let start = Instant::now();
        let mut times = Vec::new();
        while times.len() < 5 && (times.is_empty() || start.elapsed().as_secs() < 5) {
            spin_up.again(gpu)?;
            times.push(milliseconds(execute(gpu, &many, &elements, |_| {})?.0.time));
        }
        let each = time(statistics::median(&times) / f64::from(TIMES));
        println!("  {each:>8}, {count} times: {:?}", dispatch.kernel());
    }
    Ok(())
}
