//! The radix sort: its plans by the interpreter, for subgroups of every size; its kernels against
//! the interpreter.

use gpusort_engine::gpu::{Buffers, execute};
use gpusort_planner::item::Pair;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::{
    Algorithm, Kernel, Limits, Plan, RadixTile, RadixTuning, RadixWork, Scope, Shape, StalledTile, Subgroups,
    Variant,
};

use crate::device::gpu;
use crate::inputs::{PATTERNS, random};
use crate::support::counts::{AuxContents, interpret};

const VARIANTS: [Variant; 3] = [Variant::Onesweep, Variant::ReduceScan, Variant::Leading];

/// Keys, and positions where the shape has them.
pub type Elements = (Vec<u64>, Vec<u32>);

pub fn words_of(shape: Shape, words: &[u64]) -> Vec<u64> {
    let mask = u64::MAX >> (64 - 32 * shape.key_words());
    words.iter().map(|word| word & mask).collect()
}

/// The keys of these words in order, with the positions that they had.
pub fn sorted(shape: Shape, words: &[u64]) -> Elements {
    let mut pairs: Vec<(u64, u32)> = words_of(shape, words).into_iter().zip(0..).collect();
    pairs.sort_unstable();
    let (keys, positions): Elements = pairs.into_iter().unzip();
    (keys, if shape.payload { positions } else { Vec::new() })
}

/// What the interpreter makes of these words, and what the passes must have counted.
pub fn on_cpu(plan: &Plan, words: &[u64]) -> (Elements, AuxContents) {
    let words = words_of(plan.shape(), words);
    let last = words_of(plan.shape(), &[u64::MAX])[0];
    if plan.shape().payload {
        let mut pairs: Vec<Pair<u64>> =
            words.into_iter().zip(0..).map(|(key, payload)| Pair { key, payload }).collect();
        let last = Pair { key: last, payload: u32::MAX };
        let aux_buffers = interpret(plan, &mut pairs, last);
        (pairs.into_iter().map(|pair| (pair.key, pair.payload)).unzip(), aux_buffers)
    } else {
        let mut keys = words;
        let aux_buffers = interpret(plan, &mut keys, last);
        ((keys, Vec::new()), aux_buffers)
    }
}

/// What the device makes of them, the first `count`, with these of its extra buffers.
pub fn on_device(
    plan: &Plan,
    words: &[u64],
    count: usize,
    aux_buffers: &[&'static str],
) -> (Elements, AuxContents) {
    let buffers = Buffers::new(gpu(), plan).unwrap();
    let (narrow, bytes) = (plan.shape().key == KeyWords::One, plan.shape().key_bytes() as usize);
    let mut raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()[..bytes].to_vec()).collect();
    buffers.upload(gpu(), [&raw[..]]).unwrap();
    execute(gpu(), plan, &buffers, |_| {}).unwrap();
    raw.truncate(count * bytes);
    buffers.download_keys(gpu(), &mut raw).unwrap();
    let keys = if narrow {
        raw.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()).into()).collect()
    } else {
        raw.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let mut positions = vec![0; if plan.shape().payload { count } else { 0 }];
    if plan.shape().payload {
        buffers.download_positions(gpu(), &mut positions).unwrap();
    }
    let aux_buffers = aux_buffers.iter().filter_map(|&name| Some((name, buffers.aux(gpu(), name).unwrap()?)));
    ((keys, positions), aux_buffers.collect())
}

fn plan(variant: Variant, n: usize, shape: Shape, limits: &Limits) -> Plan {
    Plan::new(Algorithm::Radix, variant, n, shape, limits).unwrap()
}

/// What a device could have, in subgroups of these sizes.
fn with_subgroups(smallest: u32, largest: u32) -> Limits {
    let subgroups = Some(Subgroups { smallest, largest, barrier: true });
    Limits { subgroups, ..Limits::WEBGPU }
}

#[test]
fn plans_sort_with_subgroups_of_every_size() {
    for log2 in 0..=7 {
        let limits = with_subgroups(1 << log2, 1 << log2);
        for variant in VARIANTS {
            for shape in Shape::ALL {
                for (n, pattern) in
                    [0, 1, 2, 3, 255, 1021, 5000].into_iter().zip(PATTERNS.into_iter().cycle())
                {
                    let words = pattern.words(n, 1);
                    let (elements, _) = on_cpu(&plan(variant, n, shape, &limits), &words);
                    assert!(elements == sorted(shape, &words), "{log2} {variant} {shape:?} {n} {pattern:?}");
                }
            }
        }
    }
}

/// Compares device and interpreter after each dispatch.
fn check_after_every_dispatch(plan: &Plan, words: &[u64], what: &str) {
    let kept = ["histograms", "varying_bits", "tile_sums", "chunk_sums"];
    let mut numbered = false;
    for (end, dispatch) in (1..).zip(plan.dispatches()) {
        // Between, it is on the device's choice where elements are.
        let Kernel::Radix(radix) = dispatch.kernel() else { panic!("another kernel") };
        let is_known = match radix.scope {
            Scope::Leading(_) => matches!(radix.work, RadixWork::Finish(_)),
            _ => true,
        };
        // Positions are there after the first pass that moves elements.
        numbered |= dispatch.access().changes_sides;
        if !is_known {
            continue;
        }
        let prefix = plan.prefix(end);
        let (mut cpu, aux_buffers) = on_cpu(&prefix, words);
        let (mut device, kept) = on_device(&prefix, words, words.len(), &kept);
        if !numbered {
            (cpu.1, device.1) = (Vec::new(), Vec::new());
        }
        let what = format!("{what} {:?} n {} after {end}: {:?}", plan.shape(), plan.n(), dispatch.kernel());
        assert!(device == cpu, "{what}");
        for (name, words) in aux_buffers {
            assert!(kept[name][..words.len()] == words, "{what}, {name}");
        }
    }
}

#[test]
fn kernels_leave_what_the_interpreter_leaves() {
    for variant in VARIANTS {
        for shape in Shape::ALL {
            for n in [2000, 5003, 20_011] {
                // All digits vary: none is left out.
                let words: Vec<u64> = random(n as u64).take(n).collect();
                let plan = plan(variant, n, shape, &gpu().info().limits);
                check_after_every_dispatch(&plan, &words, variant.name());
            }
        }
    }
}

#[test]
fn kernels_for_other_limits_leave_what_the_interpreter_leaves() {
    let own = gpu().info().limits;
    let Subgroups { smallest, largest, barrier } = own.subgroups.unwrap();
    let with = |workgroup_bytes, subgroups| Limits { workgroup_bytes, invocations: 256, subgroups, ..own };
    let kilobytes = 1 << 10;
    for (number, limits) in [
        // What every device has, and what most have.
        with(16 * kilobytes, own.subgroups),
        with(32 * kilobytes, own.subgroups),
        // The text for devices whose subgroups cannot wait, or are of several sizes.
        with(16 * kilobytes, Some(Subgroups { smallest, largest, barrier: false })),
        with(32 * kilobytes, Some(Subgroups { smallest: smallest / 2, largest: 128, barrier })),
        with(16 * kilobytes, Some(Subgroups { smallest: 4.min(smallest), largest: 128, barrier: false })),
        // Workgroups in order or in any.
        Limits { fifo_dispatch: !own.fifo_dispatch, ..with(24 * kilobytes, own.subgroups) },
        // Fewer workgroups in a row than a digit has values.
        Limits { workgroups_per_dimension: 17, ..with(16 * kilobytes, own.subgroups) },
    ]
    .into_iter()
    .enumerate()
    {
        // Those of leading digits take long to compile, and have the same parts.
        let leading = (number == 3).then_some((Variant::Leading, 3));
        let others = VARIANTS.into_iter().zip([number % 4, (number + 1) % 4]);
        for (variant, shape) in others.chain(leading) {
            let shape = Shape::ALL[shape];
            let words: Vec<u64> = random(7).take(9001).collect();
            check_after_every_dispatch(&plan(variant, words.len(), shape, &limits), &words, variant.name());
        }
    }
}

#[test]
fn kernels_without_subgroups_leave_what_the_interpreter_leaves() {
    let own = gpu().info().limits;
    for (workgroup_bytes, n) in [(16 << 10, 9001), (24 << 10, 20_000)] {
        let limits = Limits { workgroup_bytes, invocations: 256, subgroups: None, ..own };
        for shape in Shape::ALL {
            let words: Vec<u64> = random(8).take(n).collect();
            let tuning = RadixTuning::of_any(shape, &limits).unwrap();
            let plan = Plan::radix(Variant::ReduceScan, n, shape, &limits, &tuning).unwrap();
            check_after_every_dispatch(&plan, &words, "without subgroups");
        }
    }
}

#[test]
fn a_pass_left_out_is_noticed() {
    // The comparisons must be able to fail: without its last pass no plan sorts.
    for variant in VARIANTS {
        for shape in Shape::ALL {
            let words: Vec<u64> = random(3).take(5000).collect();
            let plan = plan(variant, words.len(), shape, &gpu().info().limits);
            // The one for long runs has nothing to do.
            let cut = plan.prefix(plan.dispatch_count() - if variant == Variant::Leading { 2 } else { 1 });
            assert!(on_cpu(&cut, &words).0 != sorted(shape, &words));
            assert!(on_device(&cut, &words, words.len(), &[]).0 != sorted(shape, &words));
            assert!(on_device(&cut, &words, words.len(), &[]).0 != on_cpu(&plan, &words).0);
        }
    }
}

#[test]
fn positions_alone_are_the_same_without_keys() {
    for variant in VARIANTS {
        for shape in Shape::ALL.into_iter().filter(|shape| shape.payload) {
            for (n, pattern) in [2, 300, 5003, 12_001].into_iter().flat_map(|n| PATTERNS.map(|it| (n, it))) {
                let words = pattern.words(n, 9);
                let plan = plan(variant, n, shape, &gpu().info().limits).without_keys();
                let ((_, positions), _) = on_device(&plan, &words, words.len(), &[]);
                assert!(positions == sorted(shape, &words).1, "{variant} {shape:?} {n} {pattern:?}");
            }
        }
    }
}

#[test]
fn a_plan_done_again_starts_anew() {
    // What the first time left in the extra buffers must not be counted the second time.
    for variant in VARIANTS {
        let words: Vec<u64> = random(4).take(7001).collect();
        let plan = plan(variant, words.len(), Shape::ALL[0], &gpu().info().limits).repeated(3).unwrap();
        assert!(on_device(&plan, &words, words.len(), &[]).0 == sorted(Shape::ALL[0], &words), "{variant}");
    }
}

#[test]
fn tiles_that_no_step_of_counting_divides_are_counted_whole() {
    // Eight invocations with 23 elements: tiles of 184, which 32 does not divide.
    let own = gpu().info().limits;
    let subgroups =
        Some(Subgroups { smallest: 4.min(own.subgroups.unwrap().smallest), largest: 128, barrier: false });
    // A driver that starts workgroups in any order may end long loops, so it is not told that it
    // does not.
    for fifo_dispatch in [false, own.fifo_dispatch] {
        let limits = Limits { subgroups, fifo_dispatch, workgroups_per_dimension: 17, ..own };
        let tile = RadixTile::new(8, 23, &limits).unwrap();
        for stalled in [StalledTile { tile: 0, late: false }, StalledTile { tile: 93, late: false }] {
            let tuning = RadixTuning { stalled: Some(stalled), ..RadixTuning::of(tile) };
            let words: Vec<u64> = random(6).take(100 * 184 + 1).collect();
            let plan = Plan::radix(Variant::Onesweep, words.len(), Shape::ALL[0], &limits, &tuning).unwrap();
            let (elements, _) = on_device(&plan, &words, words.len(), &[]);
            assert!(elements == sorted(Shape::ALL[0], &words), "{fifo_dispatch} {stalled:?}");
        }
    }
}

#[test]
fn digits_are_left_out_of_many_tiles() {
    // Both halves of the status are used and cleared, with passes left out or copied
    // in between.
    let limits = &gpu().info().limits;
    let tuning = RadixTuning { chunks: 7, ..RadixTuning::of(RadixTile::new(64, 4, limits).unwrap()) };
    for variant in VARIANTS {
        for (shape, mask) in [
            (Shape::ALL[0], 0xFF00_FFFF),
            (Shape::ALL[1], 0xFFFF_00FF),
            (Shape::ALL[0], 0x00FF_00FF),
            (Shape::ALL[2], 0xFF00_00FF_00FF_FFFF),
            (Shape::ALL[3], 0x00FF_FFFF_FF00_0000),
        ] {
            let words: Vec<u64> = random(8).take(20_011).map(|word| word & mask).collect();
            let plan = Plan::radix(variant, words.len(), shape, limits, &tuning).unwrap();
            let (elements, _) = on_device(&plan, &words, words.len(), &[]);
            assert!(elements == sorted(shape, &words), "{variant} {shape:?} {mask:x}");
        }
    }
}

#[test]
fn what_is_not_for_the_device_or_not_whole_is_refused() {
    // A plan for subgroups of another size than the device's would leave its arrays.
    let own = gpu().info().limits;
    let wide = Limits { subgroups: Some(Subgroups { smallest: 128, largest: 128, barrier: true }), ..own };
    for variant in VARIANTS {
        let plan = plan(variant, 5000, Shape::ALL[0], &wide);
        assert!(gpu().prepare(&plan).is_err(), "{variant}");
        assert!(execute(gpu(), &plan, &Buffers::new(gpu(), &plan).unwrap(), |_| {}).is_err(), "{variant}");
        let kernels: Vec<_> = plan.dispatches().map(|dispatch| (dispatch.kernel(), 0, 5000)).collect();
        assert!(Plan::of_kernels(5000, Shape::ALL[0], &wide, kernels).is_err());
    }
    for (invocations, items) in [(0, 4), (4, 4), (8, 0), (8, 65), (24, 4), (1 << 13, 1), (256, 4)] {
        let limits =
            Limits { subgroups: Some(Subgroups { smallest: 1, largest: 128, barrier: true }), ..own };
        assert!(RadixTile::new(invocations, items, &limits).is_err(), "{invocations} {items}");
    }
}

#[test]
fn devices_without_subgroups_are_refused() {
    for limits in
        [Limits { subgroups: None, ..Limits::WEBGPU }, Limits { workgroup_bytes: 1 << 10, ..Limits::WEBGPU }]
    {
        for variant in VARIANTS {
            assert!(Plan::new(Algorithm::Radix, variant, 1000, Shape::ALL[0], &limits).is_err());
            assert!(Plan::new(Algorithm::Radix, variant, 1, Shape::ALL[0], &limits).is_ok(), "nothing to do");
        }
    }
}

#[test]
fn kernels_sort() {
    for variant in VARIANTS {
        for shape in Shape::ALL {
            for n in [0, 1, 2, 3, 31, 255, 256, 257, 1021, 1472, 5003, 20_011] {
                for pattern in PATTERNS {
                    let plan = plan(variant, n, shape, &gpu().info().limits);
                    let words = pattern.words(n, n as u64);
                    let (elements, _) = on_device(&plan, &words, words.len(), &[]);
                    assert!(elements == sorted(shape, &words), "{variant} {shape:?} {n} {pattern:?}");
                }
            }
        }
    }
}

#[test]
fn digits_that_are_the_same_in_all_keys_are_left_out() {
    // Every set of digits that vary, few elements, so that one that is left out by mistake is
    // noticed.
    for variant in VARIANTS {
        for shape in Shape::ALL {
            let digits = 4 * shape.key_words();
            // Of keys of two words some sets, which differ in both.
            let step = if digits == 8 { 37 } else { 1 };
            for varying in (0..1_u64 << digits).step_by(step) {
                let mask =
                    (0..digits).filter(|digit| varying >> digit & 1 == 1).map(|digit| 0xFF << (8 * digit));
                let mask: u64 = mask.sum();
                let words: Vec<u64> = random(varying)
                    .take(3000)
                    .map(|word| word & mask | 0x0123_4567_89AB_CDEF & !mask)
                    .collect();
                let plan = plan(variant, words.len(), shape, &gpu().info().limits);
                let (elements, _) = on_device(&plan, &words, words.len(), &[]);
                assert!(elements == sorted(shape, &words), "{variant} {shape:?} {varying:b}");
            }
        }
    }
}

#[test]
fn a_stalled_tile_is_counted_by_others() {
    let limits = &gpu().info().limits;
    let tile = RadixTile::new(64, 4, limits).unwrap();
    for shape in Shape::ALL {
        for (tile_number, late) in
            [(0, false), (0, true), (1, false), (7, true), (7, false), (39, false), (39, true)]
        {
            let stalled = Some(StalledTile { tile: tile_number, late });
            let tuning = RadixTuning { stalled, ..RadixTuning::of(tile) };
            let words: Vec<u64> = random(5).take(40 * tile.size() as usize - 3).collect();
            let plan = Plan::radix(Variant::Onesweep, words.len(), shape, limits, &tuning).unwrap();
            let (elements, _) = on_device(&plan, &words, words.len(), &[]);
            assert!(elements == sorted(shape, &words), "{shape:?} {stalled:?}");
        }
    }
}
