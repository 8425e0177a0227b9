//! The first k of many by selection: plans by the interpreter, kernels against it; and payloads of
//! the caller's own.

use gpusort::{Form, Method, Ran, Sorter};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::Request;
use gpusort_order::Selection;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::{
    self, Algorithm, Crossovers, Kernel, Limits, Plan, Select, SelectWork, Shape, Variant,
};

use crate::device::{self, gpu};
use crate::inputs::{PATTERNS, Pattern, elements, random};
use crate::radix::{Elements, on_cpu, on_device, sorted};
use crate::support::elements::orders;
use crate::top::check as check_top;

/// With the network after it, which every device has.
fn plan(k: usize, n: usize, shape: Shape, limits: &Limits) -> Plan {
    Plan::select(k, n, Algorithm::Bitonic, Variant::Fused, shape, limits).unwrap()
}

/// The first of these.
fn first(k: usize, (mut keys, mut positions): Elements) -> Elements {
    keys.truncate(k);
    positions.truncate(k);
    (keys, positions)
}

#[test]
fn plans_leave_the_first_of_every_short_sequence() {
    // Values that differ in the lowest digit, in others, and in two words; each with equal ones.
    for values in [[0, 1, 2], [5, 5 << 10, 5 << 21], [0, u64::MAX, 1 << 32], [1 << 33, 1 << 31, 1 << 63]] {
        for shape in Shape::ALL {
            for n in 1..=6 {
                for number in 0..3_usize.pow(n) {
                    let words: Vec<u64> =
                        (0..n).map(|place| values[number / 3_usize.pow(place) % 3]).collect();
                    for k in 1..=words.len() {
                        let plan = plan(k, words.len(), shape, &Limits::TYPICAL);
                        let (elements, _) = on_cpu(&plan, &words);
                        let what = format!("{shape:?} k {k}: {words:?}");
                        assert_eq!(first(k, elements), first(k, sorted(shape, &words)), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_selection_of_one_too_few_is_noticed() {
    // The comparison must be able to fail.
    let words: Vec<u64> = random(1).take(1000).collect();
    let of = |k| first(100, on_cpu(&plan(k, 1000, Shape::ALL[1], &Limits::TYPICAL), &words).0);
    assert_eq!(of(100), first(100, sorted(Shape::ALL[1], &words)));
    assert_ne!(of(99), of(100));
}

#[test]
fn plans_leave_the_first_of_any_input() {
    for limits in [
        Limits::TYPICAL,
        Limits::WEBGPU,
        Limits { workgroup_bytes: 8 << 10, invocations: 2, ..Limits::TYPICAL },
    ] {
        for shape in Shape::ALL {
            for (n, k) in [(1, 1), (257, 256), (5003, 1), (5003, 1025), (20_011, 20_011), (70_001, 4097)] {
                for pattern in PATTERNS {
                    let words = pattern.words(n, 3);
                    let (elements, _) = on_cpu(&plan(k, n, shape, &limits), &words);
                    assert!(
                        first(k, elements) == first(k, sorted(shape, &words)),
                        "{limits:?} {shape:?} {n} {k} {pattern:?}"
                    );
                }
            }
        }
    }
}

/// Compares device and interpreter after each dispatch, and the result with what is right.
fn check(plan: &Plan, k: usize, words: &[u64], what: &str) {
    let kept = ["digit_counts", "chosen", "chunk_counts"];
    let mut together = words.len();
    let mut numbered = false;
    for (end, dispatch) in (1..).zip(plan.dispatches()) {
        if let Kernel::Select(Select { work: SelectWork::Keep, .. }) = dispatch.kernel() {
            (together, numbered) = (k, true);
        }
        let prefix = plan.prefix(end);
        let (cpu, aux_buffers) = on_cpu(&prefix, words);
        let (device, kept) = on_device(&prefix, words, together, &kept);
        let [mut cpu, mut device] = [cpu, device].map(|elements| first(together, elements));
        if !numbered {
            (cpu.1, device.1) = (Vec::new(), Vec::new());
        }
        let what = format!("{what} {:?} n {} after {end}: {:?}", plan.shape(), plan.n(), dispatch.kernel());
        assert!(device == cpu, "{what}");
        for (name, words) in aux_buffers.into_iter().filter(|(name, _)| kept.contains_key(name)) {
            assert!(kept[name][..words.len()] == words, "{what}, {name}");
        }
        if end == plan.dispatch_count() {
            assert!(device == first(k, sorted(plan.shape(), words)), "{what}");
        }
    }
}

#[test]
fn kernels_leave_what_the_interpreter_leaves() {
    let own = gpu().info().limits;
    let with = |workgroup_bytes, invocations| Limits { workgroup_bytes, invocations, ..own };
    let few_in_a_row = Limits { workgroups_per_dimension: 4, ..with(16 << 10, 256) };
    let mut patterns = PATTERNS.into_iter().cycle();
    for limits in [own, with(16 << 10, 256), with(8 << 10, 32), with(8 << 10, 2), few_in_a_row] {
        for shape in Shape::ALL {
            for (n, k) in [(2, 1), (4095, 4095), (4097, 1000), (20_011, 1100)] {
                let pattern = patterns.next().unwrap();
                let words = pattern.words(n, k as u64);
                check(&plan(k, n, shape, &limits), k, &words, &format!("{limits:?} {pattern:?}"));
            }
        }
    }
}

#[test]
fn every_pattern_leaves_its_first() {
    for shape in Shape::ALL {
        for pattern in PATTERNS {
            for k in [1, 1025, 40_000] {
                let words = pattern.words(70_001, 3);
                let plan = plan(k, words.len(), shape, &gpu().info().limits);
                let (elements, _) = on_device(&plan, &words, k, &[]);
                let what = format!("{shape:?} {k} {pattern:?}");
                assert!(first(k, elements) == first(k, sorted(shape, &words)), "{what}");
            }
        }
    }
}

#[test]
fn what_is_selected_is_sorted_by_either_algorithm_in_chunks_of_several_blocks() {
    let n = 4_400_003;
    let limits = gpu().info().limits;
    for (shape, pattern) in [(Shape::ALL[1], Pattern::FewDistinct), (Shape::ALL[2], Pattern::Random)] {
        let words = pattern.words(n, 1);
        let expected = first(70_001, sorted(shape, &words));
        for (algorithm, variant) in [
            (Algorithm::Bitonic, Variant::Fused),
            (Algorithm::Radix, Variant::Onesweep),
            (Algorithm::Radix, Variant::ReduceScan),
        ] {
            let plan = Plan::select(70_001, n, algorithm, variant, shape, &limits).unwrap();
            let (elements, _) = on_device(&plan, &words, 70_001, &[]);
            assert!(first(70_001, elements) == expected, "{shape:?} {variant} {pattern:?}");
        }
    }
}

/// Keys of which some are equal, and what sorts them: those keys in order, and where they were.
fn keys_and_order(n: usize) -> (Vec<u32>, Elements) {
    let keys: Vec<u32> = random(n as u64).take(n).map(|word| word as u32 >> 12).collect();
    let mut expected: Vec<(u64, u32)> = keys.iter().map(|&key| key.into()).zip(0..).collect();
    expected.sort_unstable();
    (keys, expected.into_iter().unzip())
}

#[test]
fn a_sorter_selects_where_that_is_faster() {
    // One sorter for all, so that a selection finds the buffers of a sort, and a sort those of a
    // selection.
    let sorter = Sorter::on(device::start());
    let own = gpu().info();
    let methods = [None, Some(Algorithm::Bitonic), Some(Algorithm::Radix)];
    for (positions, n, k, methods) in [
        (false, 4_200_001, 2000, &methods[..]),
        (false, 4_200_001, 4_200_001, &methods[..1]),
        (false, 4_200_001, 200_000, &methods[..]),
        (false, 300_000, 300_000, &methods[..1]),
        (true, 2_100_001, 5000, &methods[..]),
    ] {
        let (keys, order) = keys_and_order(n);
        let (expected, places) = first(k, order);
        let expected = expected.into_iter().map(|key| key as u32).collect();
        let expected = KeyBuf::from(if positions { places } else { expected });
        let from = Crossovers::of_kind(own.kind)
            .of(Algorithm::Radix, Shape { key: KeyWords::One, payload: positions });
        let by_size = if k < from.unwrap() { Algorithm::Bitonic } else { Algorithm::Radix };
        for &algorithm in methods {
            let words = KeyBuf::from(&keys[..]);
            let request = if positions { Request::positions(words) } else { Request::keys(words) };
            let request = request.select(Selection { unique: false, first: Some(k) });
            let request = request.by(Method { algorithm, variant: None });
            let sorted = sorter.run(request, &mut |_, _| {}).unwrap();
            assert!(sorted.words == expected, "{algorithm:?} {n} {k}");
            let ran = algorithm.unwrap_or(by_size);
            let whole = Form::Variant(plan::default_variant(ran, &own.limits));
            let form = if k < n { Form::Top } else { whole };
            assert_eq!(sorted.report.ran, Ran { algorithm: Some(ran), form });
        }
    }
}

#[test]
fn the_first_of_every_type_are_selected() {
    let sorter = Sorter::on(device::start());
    // So few are worth a selection where launches cost little.
    let form = if gpu().info().limits.fifo_dispatch { "fused" } else { "top" };
    for (seed, order) in (0..).zip(orders()) {
        for algorithm in [Algorithm::Bitonic, Algorithm::Radix] {
            let method = Method { algorithm: Some(algorithm), variant: None };
            let bits = elements(order.element, 20_011, seed);
            check_top(&sorter, method, order, &bits, 1500, |name, variant| {
                let expected = if algorithm == Algorithm::Radix && form != "top" { "onesweep" } else { form };
                assert_eq!((name, variant), (algorithm.name(), expected));
            });
        }
    }
}

#[test]
fn the_first_of_input_in_order_are_numbered() {
    let sorter = Sorter::on(device::start());
    let (n, k) = (2_100_001, 5000);
    let keys: Vec<u32> = (0..n).map(|at| at / 7).collect();
    let request = Request::positions(KeyBuf::from(&keys[..]));
    let request = request.select(Selection { unique: false, first: Some(k) });
    let sorted = sorter.run(request, &mut |_, _| {}).unwrap();
    assert_eq!((sorted.report.ran.form, sorted.report.why), (Form::InOrder, None));
    assert!(sorted.words == KeyBuf::from((0..k as u32).collect::<Vec<_>>()));
}

#[test]
fn the_first_by_several_keys_are_selected_by_the_first_of_them() {
    let sorter = Sorter::on(device::start());
    let (n, k) = (2_100_001, 60_000);
    let (major, _) = keys_and_order(n);
    let minor: Vec<u64> = random(8).take(n).map(|word| word % 1000).collect();
    let mut expected: Vec<(u32, u64, u32)> =
        (0..n).map(|place| (major[place] >> 8, minor[place], place as u32)).collect();
    expected.sort_unstable();
    let expected: Vec<u32> = expected.into_iter().take(k).map(|(_, _, place)| place).collect();
    let major: Vec<u32> = major.into_iter().map(|key| key >> 8).collect();
    let request = Request::positions_by(vec![KeyBuf::from(&major[..]), KeyBuf::from(&minor[..])]);
    let request = request.select(Selection { unique: false, first: Some(k) });
    let sorted = sorter.run(request, &mut |_, _| {}).unwrap();
    assert!(sorted.words == KeyBuf::from(expected));
    // What is told is of one sort, not of two.
    let ran = sorted.report.ran.algorithm.unwrap().name();
    assert!(sorted.report.why.is_none_or(|why| why.starts_with(ran)));
}
