//! What merging two sorted runs takes on a GPU with other tiles than the one that is chosen, beside
//! a copy of the same bytes:
//!
//! ```text
//! cargo run --release --example merges -- SIZE [TILE]...
//! cargo run --release --example merges -- 256M 8,7 8,11 8,15
//! ```
//!
//! For keys of one word and of two, with positions and without. A tile is the number of invocations
//! in a workgroup, as a power of two, and the elements of each. The first hardware GPU is used, or
//! the one that `GPUSORT_DEVICE` names a part of.

use anyhow::{Context, ensure};
use gpusort::Select;
use gpusort_base::human::time;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_bench::{SpinUp, statistics};
use gpusort_engine::gpu::{Buffers, Gpu, execute};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::report::timing::milliseconds;
use gpusort_planner::key::{ElementType, KeyWords};
use gpusort_planner::plan::{Kernel, Merge, MergeTile, Plan, Shape};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [size, tiles @ ..] = &arguments[..] else { anyhow::bail!("a size is needed, then tiles") };
    let n = u32::try_from(gpusort_base::human::size::parse(size).map_err(anyhow::Error::msg)?)?;
    let gpu = Gpu::start(&std::env::var("GPUSORT_DEVICE").map_or(Select::Hardware, Select::Name))?;
    let limits = &gpu.info().limits;
    let spin_up = SpinUp::new(&gpu)?;
    let copied = gpu.copy_bandwidth()?;
    println!("{}, driver {}; a copy moves {:.0} GB/s", gpu.info(), gpu.info().driver, copied / 1e9);
    for shape in Shape::ALL {
        let keys = runs(n, shape);
        let measured = MergeTile::measured(shape, limits)?;
        let mut all = vec![("its own".to_owned(), measured)];
        for text in tiles {
            all.push((text.clone(), tile(text)?));
        }
        for (name, tile) in all {
            let merge = Kernel::from(Merge { tile, middle: n / 2, stays: false });
            let plan = match Plan::of_kernels(n as usize, shape, limits, [(merge, 0, n)]) {
                Ok(plan) => plan,
                Err(error) => {
                    println!("{shape:?} {name}: {error}");
                    continue;
                }
            };
            let buffers = Buffers::new(&gpu, &plan)?;
            let mut samples = Vec::new();
            for _ in 0..5 {
                buffers.upload(&gpu, keys.bytes())?;
                spin_up.again(&gpu)?;
                samples.push(milliseconds(execute(&gpu, &plan, &buffers, |_| {})?.0.time));
            }
            let median = statistics::median(&samples);
            let share = plan.bytes_moved() as f64 / copied * 1e3 / median;
            println!(
                "{shape:?} {name} ({} elements): {}, {share:.2} of a copy's speed",
                tile.size(),
                time(median)
            );
        }
    }
    Ok(())
}

/// Two sorted runs of random keys.
fn runs(n: u32, shape: Shape) -> KeyBuf<'static> {
    let element = if shape.key == KeyWords::One { ElementType::U32 } else { ElementType::U64 };
    let random = Sequence { element, distribution: Distribution::Uniform, count: n.into(), seed: 1 };
    let keys = random.keys(0, n as usize);
    if shape.key == KeyWords::One {
        let mut keys = keys.into_vec::<u32>().unwrap_or_default();
        keys.chunks_mut(n as usize / 2).for_each(<[u32]>::sort_unstable);
        keys.into()
    } else {
        let mut keys = keys.into_vec::<u64>().unwrap_or_default();
        keys.chunks_mut(n as usize / 2).for_each(<[u64]>::sort_unstable);
        keys.into()
    }
}

fn tile(text: &str) -> anyhow::Result<MergeTile> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    let numbers = numbers.with_context(|| format!("'{text}'"))?;
    ensure!(numbers.len() == 2, "'{text}' is not a tile: it has {} numbers, not 2", numbers.len());
    Ok(MergeTile::new(numbers[0], numbers[1])?)
}
