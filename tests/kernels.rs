//! Each kernel against the CPU interpreter: after every dispatch of every plan, the data on the
//! device is what the interpreter makes of the same data.

use gpusort::{Clock, Method, Sorter};
use gpusort_engine::gpu::{Buffers, Gpu, execute};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::Request;
use gpusort_planner::item::Pair;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::{
    Algorithm, Batch, Crossovers, Fused, FusedTile, FusedWork, Kernel, Limits, Local, MergeTile, Plan, Shape,
    Step, TransposeWork, Tuning, Variant,
};

use crate::device::gpu;
use crate::inputs::{PATTERNS, Pattern, random};
use crate::networks::all;
use crate::support::counts::interpret;

const KEYS: Shape = Shape { key: KeyWords::One, payload: false };
const POSITIONED: Shape = Shape { key: KeyWords::One, payload: true };

/// The sizes that kernels get wrong: none, one, a tile and its neighbours, primes, many tiles.
const SIZES: [usize; 17] =
    [0, 1, 2, 3, 31, 255, 256, 257, 1021, 4093, 4095, 4096, 4097, 8191, 12_289, 16_384, 20_011];

/// What `plan` leaves on the device of these keys: keys, and positions where the shape has them.
pub fn on_device(plan: &Plan, keys: &[u64]) -> (Vec<u64>, Vec<u32>) {
    let buffers = Buffers::new(gpu(), plan).unwrap();
    let mut positions = vec![0; if plan.shape().payload { keys.len() } else { 0 }];
    let keys = if plan.shape().key == KeyWords::One {
        let mut words: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        buffers.upload(gpu(), [bytemuck::cast_slice(&words)]).unwrap();
        execute(gpu(), plan, &buffers, |_| {}).unwrap();
        buffers.download_keys(gpu(), bytemuck::cast_slice_mut(&mut words)).unwrap();
        words.into_iter().map(u64::from).collect()
    } else {
        let mut words = keys.to_vec();
        buffers.upload(gpu(), [bytemuck::cast_slice(&words)]).unwrap();
        execute(gpu(), plan, &buffers, |_| {}).unwrap();
        buffers.download_keys(gpu(), bytemuck::cast_slice_mut(&mut words)).unwrap();
        words
    };
    if plan.shape().payload {
        buffers.download_positions(gpu(), &mut positions).unwrap();
    }
    (keys, positions)
}

/// What the interpreter makes of the same.
pub fn on_cpu(plan: &Plan, keys: &[u64]) -> (Vec<u64>, Vec<u32>) {
    let last_key = if plan.shape().key == KeyWords::One { u32::MAX.into() } else { u64::MAX };
    let keys = keys.iter().map(|&key| key & last_key);
    if plan.shape().payload {
        let mut pairs: Vec<Pair<u64>> = keys.zip(0..).map(|(key, payload)| Pair { key, payload }).collect();
        let last = Pair { key: last_key, payload: u32::MAX };
        interpret(plan, &mut pairs, last);
        pairs.into_iter().map(|pair| (pair.key, pair.payload)).unzip()
    } else {
        let mut keys: Vec<u64> = keys.collect();
        interpret(plan, &mut keys, last_key);
        (keys, Vec::new())
    }
}

pub fn check(plan: &Plan, pattern: Pattern, what: &str) {
    let keys = pattern.words(plan.n() as usize, u64::from(plan.n()));
    let (device, cpu) = (on_device(plan, &keys), on_cpu(plan, &keys));
    if device != cpu {
        let at =
            (0..keys.len()).find(|&i| device.0[i] != cpu.0[i] || device.1.get(i) != cpu.1.get(i)).unwrap();
        panic!("{what} {:?} n {} {pattern:?}: differs first at {at}", plan.shape(), plan.n());
    }
}

#[test]
fn kernels_leave_what_the_interpreter_leaves() {
    let limits = gpu().info().limits;
    let with = |workgroup_bytes, invocations| Limits { workgroup_bytes, invocations, ..limits };
    for (algorithm, variant) in all() {
        for shape in Shape::ALL {
            for (limits, sizes) in [
                (limits, &SIZES[..]),
                // What every device has, and what most have.
                (with(16 << 10, 256), &[4095, 20_011]),
                (with(32 << 10, 512), &[4097, 20_011]),
                // With tiles this small, these sizes take every kind of dispatch.
                (with(2112, 128), &[1021, 12_289, 20_011]),
                (with(4224, 128), &[1021, 12_289, 70_001]),
            ] {
                for (&n, pattern) in sizes.iter().zip(PATTERNS.into_iter().cycle()) {
                    let plan = Plan::new(algorithm, variant, n, shape, &limits).unwrap();
                    check_after_every_dispatch(&plan, pattern, &format!("{algorithm} {variant}"));
                }
            }
        }
    }
}

#[test]
fn tiles_of_every_cut_leave_what_the_interpreter_leaves() {
    // Software drivers take long to compile kernels of many registers, so each cut is for one
    // shape.
    let [key, positioned, wide, wide_positioned] = Shape::ALL;
    for ((elements_log2, invocations_log2, parts_log2), shape) in [
        ((5, 5, 0), key),
        ((5, 5, 2), key),
        ((4, 7, 1), key),
        ((4, 6, 2), positioned),
        ((3, 6, 1), wide),
        ((2, 6, 0), wide_positioned),
    ] {
        let tile = FusedTile::new(elements_log2, invocations_log2, parts_log2).unwrap();
        let tuning = Tuning { sort_tile: tile, tile, run_log2: 3, region_log2: 15 };
        // Rows of eleven workgroups: a dispatch for a region of 32 tiles has one more than tiles.
        let limits = Limits { workgroups_per_dimension: 11, ..gpu().info().limits };
        for (n, pattern) in [(1021, Pattern::FewDistinct), (35_001, Pattern::Random)] {
            let limits = if tile.log2() == 10 { &limits } else { &gpu().info().limits };
            let plan = Plan::fused(n, shape, limits, &tuning).unwrap();
            check_after_every_dispatch(&plan, pattern, &format!("{tuning:?}"));
        }
    }
}

#[test]
fn kernels_by_themselves_leave_what_the_interpreter_leaves() {
    // Parts, sizes and strides at the edge of what can be planned.
    let tile = |elements, invocations, parts| FusedTile::new(elements, invocations, parts).unwrap();
    let fused = |tile, work| Kernel::from(Fused { tile, work });
    let carrying = |tile, length| Batch::new(tile, length, false).unwrap().into();
    let strides = |tail, low, count, mirrored| FusedWork::Strides { tail, low, count, mirrored };
    for (n, kernel, first, count) in [
        (64, Step::Mirror { block_log2: 32 }.into(), 0, 64),
        (64, Step::Stride { stride_log2: 31 }.into(), 0, 64),
        (64, Step::Alternating { stride_log2: 0, block_log2: 63 }.into(), 0, 64),
        (1, Step::Phase { odd: true }.into(), 0, 1),
        (70, Step::Phase { odd: true }.into(), 0, 63),
        (70, Local { tile_log2: 1, sorts: true }.into(), 0, 69),
        (70, Local { tile_log2: 9, sorts: false }.into(), 0, 63),
        (64, TransposeWork::Sort { row_log2: 6 }.into(), 0, 64),
        (70, TransposeWork::Merge { row_log2: 3, steps: 3, block_log2: 31 }.into(), 0, 64),
        (70, fused(tile(1, 0, 0), FusedWork::Sort), 69, 1),
        (70, fused(tile(2, 2, 1), FusedWork::Halves), 3, 67),
        (70, fused(tile(2, 2, 0), strides(4, 4, 0, false)), 5, 65),
        // Whole blocks: of a part of one, steps are left out that find sorted halves in order.
        (700, fused(tile(2, 2, 0), strides(0, 0, 4, true)), 7, 640),
        (700, fused(tile(2, 2, 0), strides(1, 29, 3, true)), 0, 700),
        (700, fused(tile(2, 2, 0), strides(2, 6, 2, true)), 1, 699),
        // Rows of which several, one, or many are in a tile, or in an invocation.
        (700, carrying(tile(3, 4, 0), 100), 0, 700),
        (1280, carrying(tile(2, 5, 0), 128), 0, 1280),
        (999, carrying(tile(4, 3, 0), 9), 0, 999),
        (70, carrying(tile(3, 2, 0), 5), 0, 70),
        (70, carrying(tile(3, 2, 0), 1), 0, 70),
    ] {
        let limits = &gpu().info().limits;
        let plan = Plan::of_kernels(n, POSITIONED, limits, [(kernel, first, count)]).unwrap();
        check(&plan, Pattern::Random, &format!("{kernel:?}"));
        check(&plan.repeated(3).unwrap(), Pattern::FewDistinct, &format!("{kernel:?}, three times"));
    }
}

/// Sorted runs of these lengths, one after another, of keys that are few or many.
fn runs(lengths: &[u32], distinct: u64, seed: u64) -> Vec<u64> {
    let run = |(number, &length): (u64, &u32)| {
        let mut run: Vec<u64> =
            random(seed + number).take(length as usize).map(|key| key % distinct).collect();
        run.sort_unstable();
        run
    };
    (0..).zip(lengths).flat_map(run).collect()
}

#[test]
fn merges_of_runs_leave_what_the_interpreter_leaves() {
    let limits = gpu().info().limits;
    for shape in Shape::ALL {
        for limits in [
            limits,
            Limits { workgroup_bytes: 16 << 10, ..limits },
            // Tiles of few elements, in several rows of workgroups.
            Limits { workgroup_bytes: 400, invocations: 4, workgroups_per_dimension: 99, ..limits },
        ] {
            let tile = MergeTile::measured(shape, &limits).unwrap().size();
            for lengths in [
                &[][..],
                &[5],
                &[0, 3, 0],
                &[1, 1],
                &[1, tile],
                &[tile, tile],
                &[2 * tile + 1, tile - 1, 7],
                &[tile * 3 / 2, 1, 1, tile, 3, 20_011],
                &[4093, 4093, 4093, 4093, 4093, 4093, 4093, 4093],
            ] {
                let many = if shape.key == KeyWords::One { 1 << 32 } else { u64::MAX };
                for distinct in [1, 3, 1000, many] {
                    let plan = Plan::merge(lengths, shape, &limits).unwrap();
                    let keys = runs(lengths, distinct, 5);
                    let (device, cpu) = (on_device(&plan, &keys), on_cpu(&plan, &keys));
                    let what = format!("{shape:?} {lengths:?} of {distinct}, tiles of {tile}");
                    assert!(device == cpu, "{what}");
                    assert!(device.0.is_sorted() && device.0.len() == keys.len(), "{what}");
                }
            }
        }
    }
}

#[test]
fn merges_of_what_is_out_of_order_stay_where_they_should() {
    // Nobody merges it, but kernels are not checked: what is no result may not be a stray access
    // either.
    let limits = Limits { workgroup_bytes: 400, invocations: 4, ..gpu().info().limits };
    for shape in Shape::ALL {
        let plan = Plan::merge(&[500, 1, 777, 2000], shape, &limits).unwrap();
        for pattern in PATTERNS {
            on_device(&plan, &pattern.words(plan.n() as usize, 3));
        }
    }
}

#[test]
fn a_device_that_somebody_else_started_sorts() {
    let adapter = crate::device::adapter();
    let start = |features, most| {
        let limits = wgpu::Limits { max_immediate_size: most, ..wgpu::Limits::default() };
        let descriptor = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: limits,
            ..Default::default()
        };
        pollster::block_on(adapter.request_device(&descriptor)).unwrap()
    };
    let (device, queue) = start(wgpu::Features::empty(), 0);
    assert!(Gpu::from_device(device, queue).is_err(), "without immediates");
    let (device, queue) = start(wgpu::Features::IMMEDIATES, 32);
    let gpu = Gpu::from_device(device, queue).unwrap();
    // What it says of itself, not what its adapter could do: no subgroups were asked for.
    assert_eq!(gpu.info().name, adapter.get_info().name);
    assert_eq!((gpu.info().limits.subgroups, gpu.info().limits.workgroup_bytes), (None, 16 << 10));
    let keys: Vec<u32> = random(5).take(5000).map(|key| key as u32).collect();
    // The radix sort needs subgroups, which this device was not asked to have.
    let crossovers = Crossovers::of_kind(gpu.info().kind).with(Algorithm::Radix, KEYS, 1000);
    let sorter = Sorter::on(gpu).with_crossovers(&crossovers);
    let sort = |method| sorter.run(Request::keys(KeyBuf::from(keys.clone())).by(method), &mut |_, _| {});
    let sorted = sort(Method::default()).unwrap();
    let mut expected = keys.clone();
    expected.sort_unstable();
    assert!(sorted.words == KeyBuf::from(expected));
    assert_eq!(sorted.report.ran.algorithm, Some(Algorithm::Bitonic));
    let why = sorted.report.why.unwrap();
    assert!(why.ends_with("does not fit the GPU: the device has no subgroups"), "{why}");
    assert!(sort(Method { algorithm: Some(Algorithm::Radix), variant: None }).is_err());
}

pub fn check_after_every_dispatch(plan: &Plan, pattern: Pattern, what: &str) {
    // Brick sort's phases differ in nothing but parity: a dozen show as much as n.
    let most = if plan.ends_early() { 12 } else { usize::MAX };
    let dispatches: Vec<_> = plan.dispatches().take(most).copied().collect();
    for end in 1..=dispatches.len() {
        // Between two transpositions the elements are where nobody looks for them.
        let transpositions = dispatches[..end].iter().filter(|d| d.access().changes_sides);
        if transpositions.count() % 2 == 0 {
            check(&plan.prefix(end as u64), pattern, &format!("{what}, {end} dispatches"));
        }
    }
}

#[test]
fn a_kernel_that_does_another_step_is_noticed() {
    // The comparison above must be able to fail.
    let shape = KEYS;
    let plan = Plan::new(Algorithm::OddEven, Variant::Naive, 1000, shape, &gpu().info().limits).unwrap();
    let other = plan.prefix(plan.dispatch_count() - 2);
    let keys = Pattern::Reversed.words(1000, 1);
    assert_ne!(on_device(&plan, &keys), on_cpu(&other, &keys));
}

#[test]
fn brick_sort_does_not_race() {
    // One workgroup's phase must see what its neighbours' did in the phase before, every time.
    let n = 10_000;
    for (algorithm, variant) in all().filter(|(algorithm, _)| *algorithm == Algorithm::OddEven) {
        for shape in [KEYS, POSITIONED] {
            let plan = Plan::new(algorithm, variant, n, shape, &gpu().info().limits).unwrap();
            let runs = if shape.payload { 3 } else { 20 };
            for run in 0..runs {
                let keys: Vec<u64> = random(run).take(n).map(|key| u64::from(key as u32)).collect();
                let mut expected: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
                expected.sort_unstable();
                let (sorted, positions) = on_device(&plan, &keys);
                assert!(
                    sorted.iter().zip(&expected).all(|(key, expected)| *key == expected.0),
                    "{variant} {run}"
                );
                let right =
                    positions.iter().zip(&expected).all(|(position, expected)| *position == expected.1);
                assert!(right, "{variant} {run}");
            }
        }
    }
}

#[test]
fn brick_sort_ends_early_where_all_is_in_order() {
    let n = 20_000;
    let shape = KEYS;
    let plan = Plan::new(Algorithm::OddEven, Variant::Naive, n, shape, &gpu().info().limits).unwrap();
    let buffers = Buffers::new(gpu(), &plan).unwrap();
    let dispatches = |keys: &[u32]| {
        buffers.upload(gpu(), [bytemuck::cast_slice(keys)]).unwrap();
        let (_, dispatches) = execute(gpu(), &plan, &buffers, |_| {}).unwrap();
        let mut sorted = vec![0; n];
        buffers.download_keys(gpu(), bytemuck::cast_slice_mut(&mut sorted)).unwrap();
        assert!(sorted.is_sorted());
        dispatches
    };
    let mut keys: Vec<u32> = (0..n as u32).collect();
    assert!(dispatches(&keys) < n as u64, "sorted already");
    // One key that must travel all the way needs all phases; and the flag of the sort before is
    // gone.
    keys.rotate_left(1);
    assert_eq!(dispatches(&keys), n as u64);
    keys.rotate_right(1);
    keys.swap(5, 6);
    assert!(dispatches(&keys) < n as u64, "one swap");
}

#[test]
fn a_sort_is_timed_by_a_named_clock() {
    let shape = KEYS;
    let plan =
        Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, 50_000, shape, &gpu().info().limits).unwrap();
    let buffers = Buffers::new(gpu(), &plan).unwrap();
    let keys: Vec<u32> = random(1).take(50_000).map(|key| key as u32).collect();
    buffers.upload(gpu(), [bytemuck::cast_slice(&keys)]).unwrap();
    let start = std::time::Instant::now();
    let mut reported = 0;
    let (elapsed, _) = execute(gpu(), &plan, &buffers, |done| {
        assert!(done > reported);
        reported = done;
    })
    .unwrap();
    assert!(!elapsed.time.is_zero() && elapsed.time <= start.elapsed(), "{elapsed:?}");
    assert!(matches!(elapsed.clock, Clock::Gpu | Clock::Host));
    assert_eq!(reported, plan.dispatch_count());
}

#[test]
fn transfers_larger_than_a_staging_buffer_arrive_whole() {
    // Several rings around, and an end that is not a whole staging buffer.
    let n = 18_000_003;
    let shape = POSITIONED;
    let plan =
        Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, n as usize, shape, &gpu().info().limits).unwrap();
    let buffers = Buffers::new(gpu(), &plan).unwrap();
    let keys: Vec<u32> = random(3).take(n as usize).map(|key| key as u32).collect();
    for _ in 0..2 {
        buffers.upload(gpu(), [bytemuck::cast_slice(&keys)]).unwrap();
        let (mut back, mut positions) = (vec![0_u32; keys.len()], vec![0; keys.len()]);
        buffers.download_keys(gpu(), bytemuck::cast_slice_mut(&mut back)).unwrap();
        buffers.download_positions(gpu(), &mut positions).unwrap();
        assert!(back == keys);
        assert!(positions.into_iter().eq(0..n));
    }
}
