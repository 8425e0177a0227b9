//! Networks and plans, without a GPU: every plan sorts, every step is what it says, every cut of a
//! network is the same network.

use gpusort::PlanError;
use gpusort_planner::kernels::Iota;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::interpreter;
use gpusort_planner::plan::{
    Algorithm, Comparison, Dispatch, Fused, FusedTile, FusedWork, Kernel, Limits, Local, Merge, MergeTile,
    Plan, Shape, Step, Subgroups, Top, TopTuning, TransposeWork, Tuning, Variant,
};
use proptest::prelude::*;

use crate::inputs::random;
use crate::oracle::check_sorted;
use crate::support::tier;

const KEYS: Shape = Shape { key: KeyWords::One, payload: false };

/// Every network with each of its variants.
pub fn all() -> impl Iterator<Item = (Algorithm, Variant)> {
    crate::trace::all().filter(|(algorithm, _)| algorithm.is_network())
}

/// Limits under which tiles hold 2^`log2` elements of four bytes, so that few elements need every
/// kind of dispatch.
fn small_tiles(log2: u32) -> Limits {
    Limits { workgroup_bytes: 4 << log2, invocations: 4, workgroups_per_dimension: 256, ..Limits::WEBGPU }
}

#[test]
fn every_plan_sorts_every_sequence_of_zeros_and_ones() {
    // By the 0/1 principle (D. E. Knuth, TAOCP 3, 5.3.4), a network that does that sorts
    // everything.
    for (algorithm, variant) in all() {
        for log2 in [1, 2, 3, 12] {
            for n in 0..=16 {
                let plan = Plan::new(algorithm, variant, n, KEYS, &small_tiles(log2)).unwrap();
                for bits in 0..1_u32 << n {
                    let input: Vec<u32> = (0..n).map(|i| bits >> i & 1).collect();
                    let mut output = input.clone();
                    interpreter::perform(&plan, &mut output, |_| {});
                    let zeros = n - bits.count_ones() as usize;
                    let sorted = output.iter().enumerate().all(|(i, &bit)| bit == u32::from(i >= zeros));
                    assert!(sorted, "{algorithm} {variant} n {n} tile 2^{log2}: {input:?} became {output:?}");
                }
            }
        }
    }
}

#[test]
fn a_network_with_a_step_left_out_does_not_sort() {
    // The check above must be able to fail: without any one of its dispatches, no plan for 16
    // sorts.
    for (algorithm, variant) in all() {
        let plan = Plan::new(algorithm, variant, 16, KEYS, &small_tiles(2)).unwrap();
        let cut = plan.prefix(plan.dispatch_count() - 1);
        assert_eq!(cut.dispatch_count() + 1, plan.dispatch_count());
        let fails = (0..1_u32 << 16).any(|bits| {
            let mut output: Vec<u32> = (0..16).map(|i| bits >> i & 1).collect();
            interpreter::perform(&cut, &mut output, |_| {});
            !output.is_sorted()
        });
        assert!(fails, "{algorithm} {variant}");
    }
}

/// The comparisons of a step, one by one, as it numbers them.
fn perform_by_pairs(step: Step, elements: &mut [u64]) {
    let n = elements.len() as u64;
    let mut inside = 0;
    for c in 0..step.comparisons(n) {
        let pair = step.comparison(c);
        if pair.low.max(pair.high) < n {
            inside += 1;
            let (low, high) = (pair.low as usize, pair.high as usize);
            if elements[high] < elements[low] {
                elements.swap(low, high);
            }
        }
    }
    assert_eq!(inside, step.pairs(n), "{step:?} n {n}");
    // No pair beyond those numbered is inside.
    let outside = |pair: Comparison| pair.low.max(pair.high) >= n;
    assert!(
        (step.comparisons(n)..step.comparisons(n) + 64).all(|c| outside(step.comparison(c))),
        "{step:?} n {n}"
    );
}

#[test]
fn the_interpreter_performs_steps_as_their_pairs_say() {
    // Blocks that are whole, and blocks that are not.
    let large = [40_000, 65_536, 70_001, 131_072 + 7, 200_000];
    let steps = (1..=18)
        .map(|block_log2| Step::Mirror { block_log2 })
        .chain((0..18).map(|stride_log2| Step::Stride { stride_log2 }))
        .chain(
            [(0, 1), (0, 7), (3, 4), (5, 40)]
                .map(|(stride_log2, block_log2)| Step::Alternating { stride_log2, block_log2 }),
        )
        .chain([false, true].map(|odd| Step::Phase { odd }));
    for step in steps {
        for n in (0..70).chain(large) {
            let input: Vec<u64> = random(n as u64).take(n).collect();
            let mut expected = input.clone();
            perform_by_pairs(step, &mut expected);
            let mut output = input;
            let kernel = [(Kernel::Step(step), 0, n as u32)];
            let plan = Plan::of_kernels(n, KEYS, &Limits::CPU, kernel).unwrap();
            interpreter::perform(&plan, &mut output, |_| {});
            assert!(output == expected, "{step:?} n {n}");
        }
    }
}

#[test]
fn variants_are_the_same_network_cut_differently() {
    let steps = |variant, n| {
        let plan = Plan::new(Algorithm::Bitonic, variant, n, KEYS, &small_tiles(3)).unwrap();
        plan.dispatches().flat_map(|dispatch| dispatch.kernel().steps()).collect::<Vec<_>>()
    };
    for n in [2_usize, 3, 8, 9, 100, 1000] {
        let log2 = n.next_power_of_two().ilog2() as usize;
        let network = steps(Variant::LocalGlobal, n);
        assert_eq!(network.len(), log2 * (log2 + 1) / 2, "n {n}");
        // But for the one that is the network's classic form.
        for &variant in Algorithm::Bitonic.variants().iter().filter(|variant| **variant != Variant::Transpose)
        {
            // A tile larger than the input goes on with more stages, which find nothing to do.
            assert!(steps(variant, n).starts_with(&network), "{variant} n {n}");
        }
    }
}

#[test]
fn grids_cover_the_work_and_keep_to_the_limits() {
    let limits = Limits { binding_bytes: 1 << 31, buffer_bytes: 1 << 31, ..Limits::WEBGPU };
    for (algorithm, variant) in all() {
        for n in [2, 3, 1000, 1 << 24, (1 << 28) - 1, 1 << 28] {
            if algorithm == Algorithm::OddEven && n > 1000 && variant != Variant::Naive {
                continue;
            }
            let plan = Plan::new(algorithm, variant, n, KEYS, &limits).unwrap();
            for dispatch in plan.distinct_dispatches() {
                let grid = dispatch.grid();
                assert!(
                    grid.x <= limits.workgroups_per_dimension && grid.y <= limits.workgroups_per_dimension
                );
                assert!(dispatch.pipeline().workgroup_size() <= limits.invocations);
                let count = u64::from(dispatch.count());
                // Comparisons that the workgroups make room for, and those that there are.
                let each = match dispatch.kernel() {
                    Kernel::Fused(fused) => 1 << (fused.tile.log2() - 1),
                    Kernel::Top(top) => 1 << (top.tuning.tile_log2() - 1),
                    Kernel::Local(local) => 1 << (local.tile_log2 - 1),
                    Kernel::Transpose(
                        TransposeWork::Sort { row_log2 } | TransposeWork::Merge { row_log2, .. },
                    ) => 1 << (row_log2 - 1),
                    _ => u64::from(dispatch.pipeline().workgroup_size()),
                };
                let pairs = match dispatch.kernel() {
                    Kernel::Transpose(TransposeWork::Pad { from }) => u64::from(plan.room() - from),
                    kernel => kernel.steps().iter().map(|step| step.pairs(count)).max().unwrap_or(count),
                };
                let room = grid.workgroups() * each;
                assert!(room >= pairs, "{algorithm} {variant} n {n}: {dispatch:?}");
                // No more than half a block and a row too many.
                let block = match dispatch.kernel() {
                    Kernel::Fused(Fused { work: FusedWork::Strides { low, count, .. }, .. }) => {
                        1 << (low + count).saturating_sub(1)
                    }
                    Kernel::Step(Step::Mirror { block_log2 }) => 1 << (block_log2 - 1),
                    _ => each,
                };
                assert!(
                    room <= pairs + block + room / u64::from(grid.y),
                    "{algorithm} {variant} n {n}: {dispatch:?}"
                );
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_number_exceeded() {
    let refused = |n, shape, limits: &Limits| {
        let error = Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, n, shape, limits).unwrap_err();
        match error {
            PlanError::TooLarge { needed, limit, .. } => (needed, limit),
            other => panic!("{other:?}"),
        }
    };
    let two = Shape { key: KeyWords::Two, payload: true };
    assert_eq!(refused((32 << 20) + 1, KEYS, &Limits::WEBGPU), ((128 << 20) + 4, 128 << 20));
    assert_eq!(refused((16 << 20) + 1, two, &Limits::WEBGPU), ((128 << 20) + 8, 128 << 20));
    assert_eq!(refused(1 << 32, KEYS, &Limits::CPU), (1 << 32, u64::from(u32::MAX)));
    assert!(Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, 32 << 20, KEYS, &Limits::WEBGPU).is_ok());
}

#[test]
fn bytes_moved_are_those_of_the_passes() {
    let plan = Plan::new(Algorithm::OddEven, Variant::Naive, 10, KEYS, &Limits::WEBGPU).unwrap();
    assert_eq!(plan.dispatch_count(), 10);
    // Five pairs in even phases, four in odd ones; two elements a pair, read and written.
    assert_eq!(plan.bytes_moved(), 5 * (5 + 4) * 2 * 2 * 4);
    let plan = Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, 4096, KEYS, &Limits::WEBGPU).unwrap();
    assert_eq!((plan.dispatch_count(), plan.bytes_moved()), (1, 4096 * 2 * 4));
}

#[test]
fn tiles_fit_what_the_device_has() {
    let tiles = |log2: u32, shape, limits: &Limits| {
        let tuning = Tuning::measured(1 << log2, shape, limits);
        for tile in [tuning.sort_tile, tuning.tile] {
            assert!(tile.workgroup_bytes() <= limits.workgroup_bytes && tile.log2() >= 5);
            assert!(1 << tile.invocations_log2() <= limits.invocations);
        }
        let numbers = |tile: FusedTile| (tile.elements_log2(), tile.invocations_log2(), tile.parts_log2());
        (numbers(tuning.sort_tile), numbers(tuning.tile))
    };
    assert_eq!(tiles(12, KEYS, &Limits::TYPICAL), ((4, 8, 0), (3, 9, 0)));
    assert_eq!(tiles(20, KEYS, &Limits::TYPICAL), ((5, 8, 0), (3, 9, 0)), "few tiles are sorted larger");
    assert_eq!(
        tiles(24, KEYS, &Limits::TYPICAL),
        ((5, 8, 1), (4, 8, 1)),
        "many workgroups share a core's memory"
    );
    assert_eq!(tiles(28, KEYS, &Limits::TYPICAL), ((5, 9, 2), (5, 9, 2)), "beyond the cache, passes count");
    assert_eq!(tiles(20, KEYS, &Limits::WEBGPU), ((5, 8, 2), (3, 8, 0)), "16 KiB hold 2^11 words, or parts");
    assert_eq!(tiles(10, KEYS, &Limits::TYPICAL), ((3, 7, 0), (3, 7, 0)), "no larger than the input");
    assert_eq!(
        tiles(1, KEYS, &Limits::TYPICAL),
        ((3, 5, 0), (3, 5, 0)),
        "no fewer invocations than a subgroup"
    );
    for shape in &Shape::ALL[1..3] {
        assert_eq!(tiles(16, *shape, &Limits::TYPICAL), ((3, 8, 0), (3, 8, 0)));
        assert_eq!(tiles(20, *shape, &Limits::TYPICAL), ((4, 8, 0), (4, 8, 0)));
        assert_eq!(tiles(20, *shape, &Limits::WEBGPU), ((4, 8, 1), (4, 8, 1)));
        assert_eq!(tiles(26, *shape, &Limits::TYPICAL), ((4, 9, 2), (4, 9, 2)));
    }
    // Any limits, however odd, get tiles that fit them, no larger in passes than those sorted.
    for workgroup_bytes in [16, 100, 1000, 5000, 16 << 10, 20_000, 32 << 10, 64 << 10] {
        for invocations in [1, 7, 64, 256, 1024] {
            let limits = Limits { workgroup_bytes, invocations, ..Limits::TYPICAL };
            for log2 in 1..=26 {
                for shape in Shape::ALL {
                    let tuning = Tuning::measured(1 << log2, shape, &limits);
                    assert!(
                        Plan::fused(1 << log2, shape, &limits, &tuning).is_ok(),
                        "{limits:?} {log2} {tuning:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_million_keys_take_few_dispatches() {
    let count = |variant| {
        Plan::new(Algorithm::Bitonic, variant, 1_000_000, KEYS, &Limits::TYPICAL).unwrap().dispatch_count()
    };
    assert_eq!(count(Variant::Fused), 12);
    assert_eq!(count(Variant::LocalGlobal), 45);
    assert_eq!(count(Variant::Naive), 210);
}

#[test]
fn regions_are_finished_one_after_another() {
    let tile = FusedTile::new(4, 5, 0).unwrap();
    let tuning = Tuning { sort_tile: tile, tile, run_log2: 4, region_log2: 11 };
    let n = (1 << 13) + 5;
    let plan = Plan::fused(n, KEYS, &Limits::TYPICAL, &tuning).unwrap();
    let firsts: Vec<u32> = plan.dispatches().map(Dispatch::first).collect();
    // The tiles' sort and three passes, on four whole regions; the fifth holds five.
    let expected: Vec<u32> = (0..4).flat_map(|region| [region << 11; 4]).collect();
    assert_eq!(firsts[..16], expected);
    let input: Vec<u64> = random(1).take(n).collect();
    let mut output = input.clone();
    interpreter::perform(&plan, &mut output, |_| {});
    check_sorted(&input, &output).unwrap();
}

#[test]
fn layouts_do_the_steps_of_their_work_and_touch_memory_in_runs() {
    for elements_log2 in 2..=6 {
        for invocations_log2 in 5..=9 {
            for parts_log2 in 0..=3 {
                if elements_log2 < parts_log2 + 2 {
                    continue;
                }
                check_layouts(FusedTile::new(elements_log2, invocations_log2, parts_log2).unwrap());
            }
        }
    }
}

fn check_layouts(tile: FusedTile) {
    let (tile_log2, parts_log2) = (tile.log2(), tile.parts_log2());
    for tail in 0..=tile_log2 {
        let run = tail.max(3);
        for count in 0..=tile_log2.saturating_sub(run) {
            let work = FusedWork::Strides { tail, low: 20, count, mirrored: tail > 0 && count > 0 };
            let layouts = tile.layouts(work);
            let what = format!("{tile:?} {work:?} {layouts:?}");
            let bits: Vec<u32> = layouts.iter().flat_map(|layout| layout.steps.clone().rev()).collect();
            let expected: Vec<u32> = (0..tail).rev().chain((tile_log2 - count..tile_log2).rev()).collect();
            assert_eq!(bits, expected, "{what}");
            for layout in &layouts {
                let highest = layout.low == tile_log2 - tile.elements_log2();
                let in_registers = if highest {
                    layout.low..tile_log2
                } else {
                    layout.low..layout.low + tile.elements_log2() - parts_log2
                };
                let steps = &layout.steps;
                assert!(
                    steps.is_empty() || (steps.start >= in_registers.start && steps.end <= in_registers.end),
                    "{what}"
                );
                assert!(!layout.mirrored || (highest && steps.end == tile_log2), "{what}");
            }
            if let [first, .., last] = &layouts[..] {
                assert!(first.low.min(last.low) >= 3.min(tile_log2 - tile.elements_log2()), "{what}");
            }
        }
    }
}

#[test]
fn as_many_elements_as_positions_number_are_planned_for() {
    let limits = Limits { invocations: 256, ..Limits::CPU };
    for n in [1 << 31, (1 << 31) + 1, u32::MAX as usize] {
        let plan = Plan::new(Algorithm::Bitonic, Variant::Fused, n, KEYS, &limits).unwrap();
        let first = plan.dispatches().next().unwrap();
        assert_eq!((first.first(), first.count() as usize), (0, n));
        let steps: usize = plan.dispatches().map(|dispatch| dispatch.kernel().steps().len()).sum();
        let stages = n.next_power_of_two().ilog2() as usize;
        assert_eq!(steps, stages * (stages + 1) / 2);
    }
}

#[test]
fn tunings_that_no_kernel_has_are_refused() {
    let fine = FusedTile::new(4, 8, 1).unwrap();
    for (elements, invocations, parts) in [(0, 8, 0), (2, 8, 2), (2, 8, 3), (4, 0, 1)] {
        assert!(FusedTile::new(elements, invocations, parts).is_err(), "{elements} {invocations} {parts}");
    }
    let tuning = Tuning { sort_tile: fine, tile: fine, run_log2: 4, region_log2: 23 };
    assert!(Plan::fused(1 << 20, KEYS, &Limits::TYPICAL, &tuning).is_ok());
    let smaller = Tuning { sort_tile: FusedTile::new(3, 8, 0).unwrap(), ..tuning };
    let plan = Plan::fused(1 << 20, KEYS, &Limits::TYPICAL, &smaller);
    assert!(plan.is_err(), "passes on tiles larger than those sorted");
}

#[test]
fn a_tuning_that_does_not_fit_is_refused() {
    let tile = FusedTile::new(6, 8, 0).unwrap();
    let tuning = Tuning { sort_tile: tile, tile, run_log2: 4, region_log2: 23 };
    let error = Plan::fused(1 << 20, KEYS, &Limits::TYPICAL, &tuning).unwrap_err();
    assert!(matches!(error, PlanError::TooLarge { needed: 67_584, limit: 49_152, .. }), "{error}");
}

/// Numbers that arithmetic on powers of two goes wrong with.
const EXTREMES: [u32; 9] = [0, 1, 2, 5, 15, 31, 32, 33, u32::MAX];

/// Kernels of every kind, most of which there cannot be.
pub fn kernels() -> Vec<Kernel> {
    let mut kernels = vec![Iota { from: 0 }.into(), Iota { from: u32::MAX - 9 }.into()];
    let tiles = [(1, 0, 0), (1, 1, 0), (2, 3, 1), (4, 8, 1), (10, 16, 0)];
    let tiles =
        tiles.map(|(elements, invocations, parts)| FusedTile::new(elements, invocations, parts).unwrap());
    let tunings = [[1, 1, 0, 0, 0], [2, 1, 1, 1, 2], [5, 8, 0, 6, 8], [10, 15, 10, 15, 14]];
    for a in EXTREMES {
        let [block_log2, stride_log2, tile_log2, row_log2] = [a; 4];
        kernels.extend([
            Step::Mirror { block_log2 }.into(),
            Step::Stride { stride_log2 }.into(),
            Local { tile_log2, sorts: true }.into(),
            Local { tile_log2, sorts: false }.into(),
            TransposeWork::Pad { from: a }.into(),
            Kernel::from(TransposeWork::Sort { row_log2 }),
        ]);
        let top = |tuning| Kernel::from(Top { tuning: TopTuning::new(tuning).unwrap(), k: a });
        kernels.extend(tunings.map(top));
        for (log2, elements) in [(2, 1), (8, 15), (15, 64)] {
            let tile = MergeTile::new(log2, elements).unwrap();
            kernels.extend([false, true].map(|stays| Kernel::from(Merge { tile, middle: a, stays })));
        }
        for b in EXTREMES {
            kernels.extend([
                Step::Alternating { stride_log2, block_log2: b }.into(),
                Kernel::from(TransposeWork::Transpose { rows_log2: a, columns_log2: b }),
            ]);
            for c in EXTREMES {
                kernels.push(TransposeWork::Merge { row_log2, steps: b, block_log2: c }.into());
                for (tile, mirrored) in tiles.into_iter().zip([false, true].into_iter().cycle()) {
                    let work = FusedWork::Strides { tail: a, low: b, count: c, mirrored };
                    kernels.push(Fused { tile, work }.into());
                }
            }
        }
    }
    for tile in tiles {
        kernels.extend([FusedWork::Sort, FusedWork::Halves].map(|work| Kernel::from(Fused { tile, work })));
    }
    kernels.extend([false, true].map(|odd| Kernel::from(Step::Phase { odd })));
    kernels
}

/// Whether every dispatch finds what it reads, and the arrays have room for what it writes.
fn keeps_inside(plan: &Plan) -> bool {
    let (room, mut there, mut side) = ([plan.room(), plan.other_room()], [u64::from(plan.n()), 0], 0);
    plan.dispatches().all(|dispatch| {
        let access = dispatch.access();
        let finds = access.reads <= there[side];
        let written = if access.to_other { 1 - side } else { side };
        if access.changes_sides {
            side = written;
            there[side] = 0;
        }
        there[written] = there[written].max(access.writes);
        finds && access.writes <= room[written].into()
    })
}

#[test]
fn a_merge_of_runs_goes_over_all_elements_once_a_level() {
    for count in 0..20_u32 {
        let lengths: Vec<u32> = (0..count).map(|run| run * 37 % 50).collect();
        let runs = lengths.iter().filter(|&&length| length > 0).count();
        for shape in Shape::ALL {
            let plan = Plan::merge(&lengths, shape, &Limits::TYPICAL).unwrap();
            assert!(keeps_inside(&plan), "{lengths:?}");
            let (mut levels, mut end) = (0, 0);
            for dispatch in plan.dispatches() {
                assert_eq!(dispatch.first(), end, "{lengths:?}");
                end += dispatch.count();
                assert_eq!(dispatch.access().changes_sides, end == plan.n(), "{lengths:?}");
                if end == plan.n() {
                    (levels, end) = (levels + 1, 0);
                }
            }
            assert_eq!((end, levels), (0, runs.next_power_of_two().ilog2()), "{lengths:?}");
        }
    }
}

#[test]
fn kernels_that_leave_their_arrays_cannot_be_planned() {
    let huge = Limits { workgroup_bytes: u64::MAX, invocations: u32::MAX, ..Limits::CPU };
    let mut planned = 0;
    for limits in
        [Limits::TYPICAL, Limits::WEBGPU, Limits::CPU, huge, Limits { invocations: 0, ..Limits::TYPICAL }]
    {
        for shape in Shape::ALL {
            for kernel in kernels() {
                for (n, first, count) in [
                    (0, 0, 0),
                    (1, 0, 1),
                    (2, 0, 2),
                    (64, 0, 64),
                    (64, 0, 65),
                    (64, 1, 64),
                    (64, 60, 4),
                    (63, 0, 63),
                    (64, u32::MAX, 1),
                    (64, 0, u32::MAX),
                    (64, u32::MAX, u32::MAX),
                ] {
                    let dispatch = [(kernel, first, count)];
                    let Ok(plan) = Plan::of_kernels(n, shape, &limits, dispatch) else { continue };
                    planned += 1;
                    let what = || format!("{kernel:?} on {count} from {first} of {n}");
                    assert!(keeps_inside(&plan), "{}", what());
                    let fills =
                        matches!(kernel, Kernel::Transpose(TransposeWork::Pad { .. }) | Kernel::Iota(_));
                    assert!(fills || u64::from(first) + u64::from(count) <= n as u64, "{}", what());
                    // Nor does its twin, which would panic.
                    if plan.room() <= 1 << 16 {
                        interpreter::perform(&plan, &mut vec![1_u32; n], |_| {});
                    }
                }
            }
        }
    }
    assert!(planned > 1000, "{planned}");
}

#[test]
fn dispatches_that_read_what_is_not_there_cannot_be_planned() {
    let refused = |kernels: &[(Kernel, u32, u32)]| {
        Plan::of_kernels(64, KEYS, &Limits::TYPICAL, kernels.to_vec()).is_err()
    };
    let top = Top { tuning: TopTuning::new([2, 1, 1, 1, 1]).unwrap(), k: 2 };
    let all = |kernel: Kernel| (kernel, 0, 64);
    let transpose = all(TransposeWork::Transpose { rows_log2: 3, columns_log2: 3 }.into());
    assert!(!refused(&[all(top.into()), (top.into(), 0, 16), (Step::Mirror { block_log2: 2 }.into(), 0, 4)]));
    // A reduction leaves a quarter, in the other array.
    assert!(refused(&[all(top.into()), (top.into(), 0, 17)]));
    assert!(refused(&[all(top.into()), all(Step::Mirror { block_log2: 2 }.into())]));
    assert!(!refused(&[transpose, transpose]));
    assert!(refused(&[all(top.into()), transpose]));
    // Padding makes more, where it begins at the end of what is there.
    let (pad, sort) =
        (Kernel::from(TransposeWork::Pad { from: 64 }), Kernel::from(TransposeWork::Sort { row_log2: 7 }));
    assert!(!refused(&[(pad, 0, 128), (sort, 0, 128)]));
    assert!(refused(&[(sort, 0, 128)]));
    assert!(refused(&[(TransposeWork::Pad { from: 65 }.into(), 0, 128)]));
    let plan = Plan::of_kernels(64, KEYS, &Limits::TYPICAL, [transpose]).unwrap();
    assert!(plan.repeated(1).is_ok() && plan.repeated(2).is_err(), "each begins in the first array");
    assert!(plan.repeated(u32::MAX).is_err());
}

#[test]
fn plans_for_any_limits_and_sizes_keep_inside_or_are_refused() {
    let tile = FusedTile::new(1, 0, 0).unwrap();
    let tuning = Tuning { sort_tile: tile, tile, run_log2: u32::MAX, region_log2: 0 };
    let reduction = TopTuning::new([1, 1, 0, 0, 0]).unwrap();
    for workgroup_bytes in [0, 2112, u64::MAX, 7, 16].into_iter().take(tier::count(5, 3)) {
        for invocations in [0, 1, 3, 256, u32::MAX] {
            for workgroups_per_dimension in [0, 1, 65_535, u32::MAX] {
                for bytes in [0, 1 << 16, u64::MAX] {
                    let limits = Limits {
                        workgroup_bytes,
                        invocations,
                        workgroups_per_dimension,
                        binding_bytes: bytes,
                        buffer_bytes: bytes,
                        subgroups: (invocations != 3).then_some(Subgroups {
                            smallest: invocations % 64,
                            largest: invocations,
                            barrier: invocations > 1,
                        }),
                        fifo_dispatch: true,
                    };
                    for n in [0, 1, 2, 3, 1000, 5000, u32::MAX as usize, 1 << 32, usize::MAX] {
                        let shape = Shape::ALL[n % 4];
                        let plans = crate::trace::all()
                            .map(|(algorithm, variant)| Plan::new(algorithm, variant, n, shape, &limits));
                        let tops = [0, 1, 100, usize::MAX].map(|k| crate::top::plan(k, n, shape, &limits));
                        let tuned = [
                            Plan::fused(n, shape, &limits, &tuning),
                            Plan::top_tuned(1, n, shape, &limits, reduction, u32::MAX),
                            Plan::top_tuned(n, n, shape, &limits, reduction, 0),
                        ];
                        for plan in plans.chain(tops).chain(tuned).flatten() {
                            assert_eq!(plan.n() as usize, n);
                            assert!(u64::from(plan.room()) * shape.key_bytes() <= bytes);
                            let few = plan.prefix(5000);
                            assert!(keeps_inside(&few), "{limits:?} {n}");
                        }
                    }
                }
            }
        }
    }
    for largest in EXTREMES {
        assert_eq!(TopTuning::new([largest; 5]).is_ok(), (1..=10).contains(&largest), "{largest}");
        assert!(TopTuning::new([5, 8, 0, 6, largest]).is_ok() == (largest <= 12), "{largest} slots");
        assert!(FusedTile::new(largest, largest, largest).is_err(), "as many parts as elements");
        assert_eq!(FusedTile::new(largest, 0, 0).is_ok(), (1..=10).contains(&largest));
    }
}

#[test]
fn phases_end_early_on_the_cpu() {
    let plan = Plan::new(Algorithm::OddEven, Variant::Naive, 10_000, KEYS, &Limits::CPU).unwrap();
    let mut done = 0;
    interpreter::perform(&plan, &mut (0..10_000).collect::<Vec<u32>>(), |dispatches| done = dispatches);
    assert_eq!(done, 64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plans_sort_random_input_of_any_size(n in 0_usize..3000, log2 in 1_u32..9, seed: u64, range in 1_u64..2000) {
        let input: Vec<u64> = random(seed).take(n).map(|word| word % range).collect();
        for (algorithm, variant) in all() {
            let plan = Plan::new(algorithm, variant, n, KEYS, &small_tiles(log2)).unwrap();
            let mut output = input.clone();
            interpreter::perform(&plan, &mut output, |_| {});
            check_sorted(&input, &output).map_err(|why| TestCaseError::fail(format!("{algorithm} {variant}: {why}")))?;
        }
    }
}

#[test]
fn the_cpu_cut_sorts_sizes_around_its_tiles() {
    for n in [(1 << 12) - 1, 1 << 12, (1 << 12) + 1, 50_000, (1 << 16) + 1, 300_007] {
        let plan = Plan::new(Algorithm::Bitonic, Variant::LocalGlobal, n, KEYS, &Limits::CPU).unwrap();
        let input: Vec<u64> = random(n as u64).take(n).collect();
        let mut output = input.clone();
        interpreter::perform(&plan, &mut output, |_| {});
        check_sorted(&input, &output).unwrap();
    }
}
