//! What `gpusort trace` draws is what is done.

use gpusort_engine::gpu::{Buffers, execute, time_passes};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_planner::key::{ElementType, KeyWords};
use gpusort_planner::network::Step;
use gpusort_planner::plan::{Algorithm, Dispatch, Limits, Plan, Shape, Variant};
use gpusort_trace::{Layer, Played, Trace, list, network, work};

use crate::device;
use crate::inputs::random;

const KEYS: Shape = Shape { key: KeyWords::One, payload: false };

/// Every algorithm with each of its variants.
pub fn all() -> impl Iterator<Item = (Algorithm, Variant)> {
    let variants =
        |algorithm: Algorithm| algorithm.variants().iter().map(move |&variant| (algorithm, variant));
    Algorithm::ALL.into_iter().flat_map(variants)
}

/// Plans in large tiles and in small ones, and of the first few, for these elements.
fn plans(n: usize, shape: Shape) -> Vec<(Algorithm, Variant, Plan)> {
    let limits = &Limits::TYPICAL;
    let mut plans = Vec::new();
    for (algorithm, variant) in all() {
        plans.push((algorithm, variant, Plan::new(algorithm, variant, n, shape, limits).unwrap()));
        for log2 in 1..=5 {
            if algorithm != Algorithm::Radix || log2 >= 3 {
                let plan = Plan::in_tiles(algorithm, variant, n, shape, limits, log2).unwrap();
                plans.push((algorithm, variant, plan));
            }
        }
    }
    plans
}

/// A few keys with repetitions among them.
fn few(n: usize) -> Vec<u32> {
    random(n as u64).take(n).map(|number| number as u32 >> 3 << 26 | number as u32 & 7).collect()
}

/// The pairs of a dispatch whose elements are in different tiles.
fn strays(dispatch: &Dispatch) -> usize {
    let Some(tiles) = dispatch.kernel().tiles() else { return 0 };
    let count = u64::from(dispatch.count());
    let pairs = |step: Step| (0..step.comparisons(count)).map(move |number| step.comparison(number));
    let inside = dispatch.kernel().steps().into_iter().flat_map(pairs);
    inside
        .filter(|pair| pair.low.max(pair.high) < count)
        .filter(|pair| tiles.of(pair.low) != tiles.of(pair.high))
        .count()
}

#[test]
fn no_comparison_leaves_its_tile() {
    for n in [2, 7, 16, 63, 64, 1000, 5000] {
        for (algorithm, variant, plan) in plans(n, KEYS) {
            for dispatch in plan.distinct_dispatches() {
                assert_eq!(strays(dispatch), 0, "{algorithm} {variant} {n}: {dispatch:?}");
            }
        }
    }
    // The check must be able to fail: the steps of a whole stage leave the tiles that end it.
    let plan = Plan::in_tiles(Algorithm::Bitonic, Variant::Fused, 64, KEYS, &Limits::TYPICAL, 2).unwrap();
    let tiles = plan.dispatches().nth(1).unwrap().kernel().tiles().unwrap();
    let pair = Step::Mirror { block_log2: 6 }.comparison(0);
    assert_ne!(tiles.of(pair.low), tiles.of(pair.high));
}

/// What the layers of all moments make of the input.
fn redrawn(played: &Played) -> Vec<u32> {
    let mut ranks = played.input.clone();
    for moment in &played.moments {
        assert_eq!(ranks, moment.before);
        ranks.resize(ranks.len().max(moment.after.len()), u32::MAX);
        for layer in &moment.layers {
            match layer {
                Layer::Compare(_, pairs) => {
                    for pair in pairs {
                        assert_eq!(pair.swapped, ranks[pair.high] < ranks[pair.low], "{pair:?}");
                        if ranks[pair.high] < ranks[pair.low] {
                            ranks.swap(pair.low, pair.high);
                        }
                    }
                }
                Layer::Move(sources) => {
                    ranks = sources.iter().map(|from| from.map_or(u32::MAX, |from| ranks[from])).collect();
                }
                Layer::Count(_) | Layer::Sum(_) => {}
            }
        }
        assert_eq!(ranks, moment.after);
    }
    ranks
}

#[test]
fn what_is_drawn_gives_what_the_interpreter_leaves() {
    for n in [1, 2, 3, 8, 12, 16, 31, 63, 64] {
        for shape in Shape::ALL {
            let keys = few(n);
            for (algorithm, variant, plan) in plans(n, shape) {
                let words: KeyBuf = match shape.key {
                    KeyWords::One => keys.clone().into(),
                    KeyWords::Two => {
                        keys.iter().map(|&key| u64::from(key) << 17).collect::<Vec<u64>>().into()
                    }
                };
                let played = Played::new(&plan, &words).unwrap();
                let case = format!("{algorithm} {variant} {n} {shape:?}");
                assert_eq!(played.moments.len() as u64, plan.dispatch_count(), "{case}");
                let drawn = redrawn(&played);
                assert!(drawn.is_sorted(), "{case}");
                let mut expected = played.input.clone();
                expected.sort_unstable();
                assert_eq!(drawn[..n], expected, "{case}");
                assert!(played.in_order_after.is_some(), "{case}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn a_comparison_that_is_not_drawn_is_noticed() {
    let plan = Plan::in_tiles(Algorithm::Bitonic, Variant::Fused, 16, KEYS, &Limits::TYPICAL, 2).unwrap();
    let mut played = Played::new(&plan, &few(16).into()).unwrap();
    let swaps = |layer: &mut Layer| match layer {
        Layer::Compare(_, pairs) => {
            let before = pairs.len();
            pairs.retain(|pair| !pair.swapped);
            before > pairs.len()
        }
        _ => false,
    };
    assert!(played.moments[1].layers.iter_mut().any(swaps));
    redrawn(&played);
}

#[test]
fn the_first_few_are_drawn_as_they_are_kept() {
    for n in [20, 64] {
        for first in [1, 3, 10] {
            for (algorithm, variant) in all() {
                let limits = &Limits::TYPICAL;
                let plan = Plan::first(first, n, algorithm, variant, KEYS, limits).unwrap();
                let played = Played::new(&plan, &few(n).into()).unwrap();
                assert!(redrawn(&played)[..first].is_sorted(), "{algorithm} {variant} {n} {first}");
            }
            let plan =
                Plan::select(first, n, Algorithm::Bitonic, Variant::Fused, KEYS, &Limits::TYPICAL).unwrap();
            let played = Played::new(&plan, &few(n).into()).unwrap();
            let kept = redrawn(&played);
            let mut expected = played.input.clone();
            expected.sort_unstable();
            assert_eq!(kept[..first], expected[..first], "{n} {first}");
        }
    }
}

fn trace(algorithm: Algorithm, variant: Variant, n: usize) -> Trace {
    let limits = Limits::TYPICAL;
    let plan = Plan::new(algorithm, variant, n, KEYS, &limits).unwrap();
    Trace {
        algorithm,
        variant,
        element: ElementType::U32,
        first: None,
        tile: None,
        limits,
        plan,
        measured: None,
    }
}

#[test]
fn passes_add_up_to_their_plan() {
    for (algorithm, variant) in all() {
        for n in [0, 1, 2, 1000, 70_000] {
            let trace = trace(algorithm, variant, n);
            let passes: Vec<_> = trace.passes().collect();
            assert_eq!(passes.len() as u64, trace.plan.dispatch_count());
            let bytes: u64 = passes.iter().map(|pass| pass.bytes_moved).sum();
            assert_eq!(bytes, trace.plan.bytes_moved(), "{algorithm} {variant} {n}");
            let steps: usize = passes.iter().map(|pass| pass.steps).sum();
            let comparisons: u64 = passes.iter().map(|pass| pass.comparisons).sum();
            assert_eq!(work(&trace.plan), (steps as u64, comparisons));
        }
    }
    // The network has log2 n · (log2 n + 1) / 2 steps, however it is cut.
    for &variant in Algorithm::Bitonic.variants() {
        assert_eq!(work(&trace(Algorithm::Bitonic, variant, 1 << 16).plan), (136, 136 << 15), "{variant}");
    }
}

#[test]
fn lists_and_networks_are_as_wide_as_they_may_be() {
    for (algorithm, variant) in all() {
        for n in [2, 16, 64] {
            let trace = trace(algorithm, variant, n);
            let played = Played::new(&trace.plan, &few(n).into()).unwrap();
            let labels: Vec<String> = played.sorted.iter().map(ToString::to_string).collect();
            let mut lines = Vec::new();
            for width in [60, 80, 200] {
                let text = list(&trace, Some(&played), width) + &network(&played, &labels, width, false);
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= width, "{algorithm} {variant} {n}, {width}: {widest}\n{text}");
                assert!(!text.contains('\x1b'));
                lines.push(text.lines().count());
            }
            // With more room nothing is longer.
            assert!(lines.is_sorted_by(|a, b| a >= b), "{algorithm} {variant} {n}: {lines:?}");
            let coloured = network(&played, &labels, 80, true);
            assert_eq!(coloured.contains("\x1b[1;36m●\x1b[0m"), played.swaps() > 0);
        }
    }
    let wide = list(&trace(Algorithm::Bitonic, Variant::Fused, 1 << 20), None, 200);
    for heading in ["kernel", "steps", "tile", "held in", "workgroup memory", "invocations", "moved"] {
        assert!(wide.contains(heading), "{heading}: {wide}");
    }
    assert!(wide.contains("mirror 128K, strides 32K … 512"), "{wide}");
}

/// The first two articles' tables beside ours; `gpusort trace --json` says the same.
#[test]
fn the_passes_of_the_articles_tables() {
    // WebGPU: log2²(n) passes, where the network has half as many and log2 n more.
    for (log2, stated, ours) in [(8, 64, 36), (10, 100, 55), (16, 256, 136), (20, 400, 210)] {
        assert_eq!(stated, log2 * log2);
        let naive = trace(Algorithm::Bitonic, Variant::Naive, 1 << log2);
        assert_eq!(naive.plan.dispatch_count(), ours);
        // An element is read and written once in each.
        assert_eq!(naive.plan.bytes_moved(), ours * (1 << log2) * 2 * 4);
    }
    // CUDA: 20 launches in place of 400 at a million.
    let launches = |variant| trace(Algorithm::Bitonic, variant, 1 << 20).plan.dispatch_count();
    assert_eq!(
        (launches(Variant::Naive), launches(Variant::LocalGlobal), launches(Variant::Fused)),
        (210, 45, 12)
    );
}

#[test]
fn timed_passes_sort_in_tiles_of_any_size() {
    let gpu = device::gpu();
    let limits = &gpu.info().limits;
    for (n, log2) in [(2, 4), (300, 3), (300, 5)] {
        let keys: Vec<u32> = random(n).take(n as usize).map(|number| number as u32).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        for (algorithm, variant) in all() {
            // Its kernels take long to compile.
            if variant == Variant::Leading && log2 != 3 {
                continue;
            }
            let plan = Plan::in_tiles(algorithm, variant, keys.len(), KEYS, limits, log2).unwrap();
            let buffers = Buffers::new(gpu, &plan).unwrap();
            let mut sorted = vec![0_u32; keys.len()];
            let upload = || buffers.upload(gpu, [bytemuck::cast_slice(&keys)]).unwrap();
            upload();
            let times = time_passes(gpu, &plan, &buffers, true).unwrap();
            assert_eq!(times.len() as u64, plan.dispatch_count());
            buffers.download_keys(gpu, bytemuck::cast_slice_mut(&mut sorted)).unwrap();
            assert!(sorted == expected, "{algorithm} {variant} {n} 2^{log2}, timed");
            upload();
            let together = time_passes(gpu, &plan, &buffers, false).unwrap();
            // A submit has as many passes as there may be timestamps, and at least 255.
            assert!(!together.is_empty() && together.len() as u64 <= plan.dispatch_count().div_ceil(255));
            buffers.download_keys(gpu, bytemuck::cast_slice_mut(&mut sorted)).unwrap();
            assert!(sorted == expected, "{algorithm} {variant} {n} 2^{log2}, timed together");
            upload();
            execute(gpu, &plan, &buffers, |_| {}).unwrap();
            buffers.download_keys(gpu, bytemuck::cast_slice_mut(&mut sorted)).unwrap();
            assert!(sorted == expected, "{algorithm} {variant} {n} 2^{log2}");
        }
    }
}
