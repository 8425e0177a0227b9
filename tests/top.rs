//! The first k: plans without a GPU, the kernel against the interpreter, and the facade against the
//! order rules.

use gpusort::{Method, PlanError, Sorter};
use gpusort_engine::gpu::{Buffers, execute};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::{Incoming, Request};
use gpusort_order::Selection;
use gpusort_planner::item::Pair;
use gpusort_planner::key::{ElementType, KeyMap, KeyWords};
use gpusort_planner::plan::interpreter;
use gpusort_planner::plan::{Algorithm, Dispatch, Kernel, Limits, Plan, Shape, Top, TopTuning, Variant};

use crate::device::{self, gpu};
use crate::inputs::{PATTERNS, Pattern, elements, random};
use crate::networks::all;
use crate::oracle::{check_runs, check_top, compare};
use crate::support::counts::interpret;
use crate::support::elements::{bits_of, keys_of, orders};

const KEYS: Shape = Shape { key: KeyWords::One, payload: false };

/// The plan by the network that every device has.
pub fn plan(k: usize, n: usize, shape: Shape, limits: &Limits) -> Result<Plan, PlanError> {
    Plan::first(k, n, Algorithm::Bitonic, Variant::Fused, shape, limits)
}

/// In this order, as `benches/tunings/top.rs` has them: elements, invocations, groups, subset, slots,
/// rest.
fn tuned(k: usize, n: usize, shape: Shape, limits: &Limits, numbers: [u32; 6]) -> Result<Plan, PlanError> {
    let [elements, invocations, groups, subset, slots, rest] = numbers;
    let tuning = TopTuning::new([elements, invocations, groups, subset, slots])?;
    Plan::top_tuned(k, n, shape, limits, tuning, rest)
}

/// The plan with reductions that keep one element of each tile.
fn keeping_one(plan: &Plan, limits: &Limits) -> Plan {
    let kernel = |dispatch: &Dispatch| {
        let kernel = match dispatch.kernel() {
            Kernel::Top(Top { tuning, .. }) => Kernel::Top(Top { tuning, k: 1 }),
            kernel => kernel,
        };
        (kernel, dispatch.first(), dispatch.count())
    };
    Plan::of_kernels(plan.n() as usize, plan.shape(), limits, plan.dispatches().map(kernel)).unwrap()
}

/// Tunings of so few elements that sixteen take several passes, and the most that they keep.
const SMALL: [([u32; 6], usize); 4] =
    [([1, 1, 0, 0, 0, 0], 1), ([1, 1, 1, 1, 1, 1], 2), ([2, 1, 1, 1, 2, 2], 4), ([2, 2, 2, 1, 2, 0], 4)];

#[test]
fn every_plan_leaves_the_top_of_every_sequence_of_zeros_and_ones() {
    // Each is a network of which some outputs are not looked at, so that the 0/1 principle holds.
    for (numbers, most) in SMALL {
        for k in 1..=most {
            for n in 0..=14 {
                let plan = tuned(k, n, KEYS, &Limits::WEBGPU, numbers).unwrap();
                assert!(plan.reduces() || n <= 4, "{numbers:?} {n}");
                for bits in 0..1_u32 << n {
                    let input: Vec<u32> = (0..n).map(|i| bits >> i & 1).collect();
                    let mut output = input.clone();
                    interpreter::perform(&plan, &mut output, |_| {});
                    let zeros = n - bits.count_ones() as usize;
                    let right =
                        output.iter().take(k).enumerate().all(|(i, &bit)| bit == u32::from(i >= zeros));
                    assert!(right, "{numbers:?} k {k} n {n}: {input:?} became {output:?}");
                }
            }
        }
    }
}

#[test]
fn a_plan_that_keeps_one_too_few_is_noticed() {
    // The check above must be able to fail.
    let plan = tuned(2, 14, KEYS, &Limits::WEBGPU, SMALL[1].0).unwrap();
    let plan = keeping_one(&plan, &Limits::WEBGPU);
    let fails = (0..1_u32 << 14).any(|bits| {
        let mut output: Vec<u32> = (0..14).map(|i| bits >> i & 1).collect();
        interpreter::perform(&plan, &mut output, |_| {});
        let zeros = 14 - bits.count_ones() as usize;
        output.iter().take(2).enumerate().any(|(i, &bit)| bit != u32::from(i >= zeros))
    });
    assert!(fails);
}

#[test]
fn plans_leave_the_top_of_any_input() {
    for limits in [
        Limits::TYPICAL,
        Limits::WEBGPU,
        Limits { workgroup_bytes: 2112, invocations: 128, ..Limits::TYPICAL },
    ] {
        for (n, pattern) in [0, 1, 2, 4096, 4097, 8193, 65_537, 300_007].into_iter().zip(PATTERNS) {
            for k in [1, 2, 31, 32, 33, 100, 1000, n + 1] {
                for positions in [false, true] {
                    let shape = Shape { key: KeyWords::Two, payload: positions };
                    let plan = plan(k, n, shape, &limits).unwrap();
                    let words = pattern.words(n, 1).into_iter();
                    let position = |place: u32| if positions { place } else { 0 };
                    let input: Vec<_> =
                        words.zip(0..).map(|(key, at)| Pair { key, payload: position(at) }).collect();
                    let mut output = input.clone();
                    interpreter::perform(&plan, &mut output, |_| {});
                    check_top(&input, k, &output[..k.min(n)])
                        .unwrap_or_else(|why| panic!("{limits:?} {n} {k}: {why}"));
                }
            }
        }
    }
}

#[test]
fn reductions_shrink_and_say_how_much_room_they_need() {
    for shape in Shape::ALL {
        for limits in [Limits::TYPICAL, Limits::WEBGPU] {
            for k in [1, 32, 100, 256, 257, 1000, 1024] {
                for n in [5000, 1 << 20, 10_000_019] {
                    let plan = plan(k, n, shape, &limits).unwrap();
                    let mut left = n as u32;
                    for dispatch in plan.dispatches() {
                        if let Kernel::Top(Top { tuning, .. }) = dispatch.kernel() {
                            assert_eq!((dispatch.first(), dispatch.count()), (0, left));
                            let tiles = left.div_ceil(1 << tuning.tile_log2());
                            assert!(dispatch.grid().workgroups() >= tiles.into());
                            let (kept, room) = (tiles << tuning.slots_log2(), plan.other_room());
                            assert!(kept < left && kept <= room && room <= plan.n(), "{n} {k}");
                            left = kept;
                        } else {
                            assert!(dispatch.first() + dispatch.count() <= left);
                        }
                    }
                    assert!(plan.reduces() && left <= 1 << 12, "{shape:?} {n} {k}");
                }
            }
        }
    }
    let count = |k, n| plan(k, n, KEYS, &Limits::TYPICAL).unwrap().dispatch_count();
    assert_eq!(count(100, 1 << 26), 4, "three passes and a sort");
    for (k, n) in [(1025, 1 << 20), (1 << 20, 1 << 20), (5, 4096)] {
        let plan = plan(k, n, KEYS, &Limits::TYPICAL).unwrap();
        assert_eq!(
            plan,
            Plan::new(Algorithm::Bitonic, Variant::Fused, n, KEYS, &Limits::TYPICAL).unwrap(),
            "{k} of {n}"
        );
    }
}

#[test]
fn tunings_that_no_kernel_has_are_refused() {
    let fine = [5, 8, 0, 6, 8, 12];
    let refused = |k, numbers, limits: &Limits| tuned(k, 1 << 20, KEYS, limits, numbers).is_err();
    assert!(!refused(100, fine, &Limits::TYPICAL));
    for wrong in [
        [5, 8, 6, 6, 8, 12],
        [5, 8, 0, 9, 8, 12],
        [5, 8, 0, 6, 6, 12],
        [5, 8, 0, 6, 13, 12],
        [5, 11, 0, 6, 8, 12],
    ] {
        assert!(refused(100, wrong, &Limits::TYPICAL), "{wrong:?}");
    }
    for wrong in [[u32::MAX; 6], [16, 16, 0, 6, 8, 12], [5, 8, 0, 6, 8, 32]] {
        assert!(refused(100, wrong, &Limits::TYPICAL), "{wrong:?}");
    }
    assert!(refused(257, [5, 8, 0, 6, 9, 12], &Limits::TYPICAL), "fewer groups than must be kept");
    assert!(refused(100, fine, &Limits { workgroup_bytes: 1043, ..Limits::TYPICAL }));
    assert!(!refused(100, fine, &Limits { workgroup_bytes: 1044, ..Limits::TYPICAL }));
    // Any limits, however odd, get a plan.
    for workgroup_bytes in [16, 100, 1000, 5000, 16 << 10, 64 << 10] {
        for invocations in [1, 7, 64, 256, 1024] {
            for shape in Shape::ALL {
                for k in [1, 3, 100, 1000] {
                    let limits = Limits { workgroup_bytes, invocations, ..Limits::TYPICAL };
                    assert!(plan(k, 1 << 20, shape, &limits).is_ok(), "{limits:?} {shape:?} {k}");
                }
            }
        }
    }
}

/// What is where the plan leaves it on the device, the first `count`: keys, and positions or zeros.
fn on_device(plan: &Plan, keys: &[u64], count: usize) -> Vec<(u64, u32)> {
    let buffers = Buffers::new(gpu(), plan).unwrap();
    let mut positions = vec![0; count];
    let keys: Vec<u64> = if plan.shape().key == KeyWords::One {
        let words: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        let mut left = vec![0_u32; count];
        buffers.upload(gpu(), [bytemuck::cast_slice(&words)]).unwrap();
        execute(gpu(), plan, &buffers, |_| {}).unwrap();
        buffers.download_keys(gpu(), bytemuck::cast_slice_mut(&mut left)).unwrap();
        left.into_iter().map(u64::from).collect()
    } else {
        let mut left = vec![0_u64; count];
        buffers.upload(gpu(), [bytemuck::cast_slice(keys)]).unwrap();
        execute(gpu(), plan, &buffers, |_| {}).unwrap();
        buffers.download_keys(gpu(), bytemuck::cast_slice_mut(&mut left)).unwrap();
        left
    };
    if plan.shape().payload {
        buffers.download_positions(gpu(), &mut positions).unwrap();
    }
    keys.into_iter().zip(positions).collect()
}

/// The elements that these keys are on a device.
fn input(shape: Shape, keys: &[u64]) -> Vec<(u64, u32)> {
    let mask = if shape.key == KeyWords::One { u32::MAX.into() } else { u64::MAX };
    keys.iter().zip(0..).map(|(&key, at)| (key & mask, if shape.payload { at } else { 0 })).collect()
}

fn last(shape: Shape) -> (u64, u32) {
    (input(shape, &[u64::MAX])[0].0, if shape.payload { u32::MAX } else { 0 })
}

/// Compares what the device has after each reduction and in the end with what the interpreter has,
/// and with the order rules; says how many elements the first run has that are not padding.
fn check_plan(plan: &Plan, k: usize, keys: &[u64], what: &str) -> usize {
    let k = k.min(keys.len());
    let input = input(plan.shape(), keys);
    let last = last(plan.shape());
    let dispatches: Vec<_> = plan.dispatches().copied().collect();
    let mut filled = 0;
    let mut reach = 1;
    for (end, dispatch) in (1..).zip(&dispatches) {
        let what = || format!("{what} {:?} n {} k {k}, {end} dispatches", plan.shape(), plan.n());
        let cut = plan.prefix(end as u64);
        let pair = |(key, payload)| Pair { key, payload };
        let mut expected: Vec<Pair<u64>> = input.iter().copied().map(pair).collect();
        interpret(&cut, &mut expected, pair(last));
        let expected: Vec<_> = expected.iter().map(|pair| (pair.key, pair.payload)).collect();
        if let Kernel::Top(Top { tuning, .. }) = dispatch.kernel() {
            let (tile_log2, slots_log2) = (tuning.tile_log2(), tuning.slots_log2());
            let slots = 1 << slots_log2;
            reach = if reach == 1 { 1 << tile_log2 } else { reach << (tile_log2 - slots_log2) };
            let count = input.len().div_ceil(reach) * slots;
            let left = on_device(&cut, keys, count);
            for (who, left) in [("device", &left), ("interpreter", &expected[..count].to_vec())] {
                check_runs(&input, reach, k, slots, last, left)
                    .unwrap_or_else(|why| panic!("{}, {who}: {why}", what()));
            }
            filled = filled.max(left[..slots].iter().filter(|element| **element != last).count());
        } else if end == dispatches.len() {
            let left = on_device(&cut, keys, k);
            assert!(left == expected[..k], "{}", what());
            check_top(&input, k, &left).unwrap_or_else(|why| panic!("{}: {why}", what()));
        }
    }
    filled
}

#[test]
fn the_kernel_leaves_what_the_interpreter_leaves() {
    let limits = gpu().info().limits;
    let mut patterns = PATTERNS.into_iter().cycle();
    for shape in Shape::ALL {
        for (limits, cases) in [
            (
                limits,
                &[(1, 8191), (2, 8192), (31, 8193), (32, 4097), (33, 20_011), (100, 20_011), (1000, 70_001)]
                    [..],
            ),
            (
                Limits { workgroup_bytes: 16 << 10, invocations: 256, ..limits },
                &[(100, 20_011), (1000, 70_001)],
            ),
            (
                Limits { workgroup_bytes: 2112, invocations: 128, workgroups_per_dimension: 20, ..limits },
                &[(5, 20_011), (100, 70_001)],
            ),
        ] {
            for &(k, n) in cases {
                let pattern = patterns.next().unwrap();
                let plan = plan(k, n, shape, &limits).unwrap();
                assert!(plan.reduces());
                check_plan(&plan, k, &pattern.words(n, k as u64), &format!("{pattern:?}"));
            }
        }
    }
}

#[test]
fn every_pattern_leaves_its_top() {
    for shape in Shape::ALL {
        let plan = plan(100, 70_001, shape, &gpu().info().limits).unwrap();
        for pattern in PATTERNS {
            check_plan(&plan, 100, &pattern.words(70_001, 3), &format!("{pattern:?}"));
        }
    }
}

#[test]
fn tilings_of_every_cut_leave_what_the_interpreter_leaves() {
    let [key, positioned, wide, wide_positioned] = Shape::ALL;
    for (numbers, shape, k) in [
        ([0, 5, 0, 5, 4, 4], key, 16),
        ([1, 3, 1, 0, 3, 0], positioned, 7),
        ([3, 5, 3, 3, 6, 5], wide, 50),
        ([3, 4, 2, 4, 5, 3], wide_positioned, 20),
        ([2, 0, 2, 0, 0, 0], key, 1),
        ([3, 5, 0, 2, 5, 9], positioned, 32),
        // A rank of every element: there is no closer bound.
        ([3, 4, 3, 4, 6, 6], key, 64),
    ] {
        let limits = Limits { workgroups_per_dimension: 50, ..gpu().info().limits };
        for (n, pattern) in
            [(1021, Pattern::FewDistinct), (2000, Pattern::Random), (1500, Pattern::AllLargest)]
        {
            let plan = tuned(k, n, shape, &limits, numbers).unwrap();
            check_plan(&plan, k, &pattern.words(n, 5), &format!("{numbers:?} {pattern:?}"));
        }
    }
}

#[test]
fn best_elements_that_are_all_in_few_invocations_are_found_bit_by_bit() {
    let n = 3 << 13;
    for shape in Shape::ALL {
        let plan = plan(100, n, shape, &gpu().info().limits).unwrap();
        let period = |word: u64| word << 32 | word;
        // Rows of a matrix as wide as a workgroup, say: each invocation has a column.
        let columns: Vec<u64> = (0..n as u64).map(|i| period(((i % 256) << 8) | (i / 256 % 7))).collect();
        assert_eq!(check_plan(&plan, 100, &columns, "columns"), 100, "{shape:?}");
        // Random ones, and those that differ in the lowest bits only.
        for low in [1 << 20, u64::MAX << 3, u64::MAX << 3 & u64::from(u32::MAX)] {
            let words = random(9).take(n).zip(0..);
            let few: Vec<u64> = words
                .map(
                    |(word, i)| {
                        if i % 256 < 11 { low | word & 7 } else { low | 1 << 30 | word & 0x3F00_0007 }
                    },
                )
                .collect();
            check_plan(&plan, 100, &few, "few invocations");
        }
        let random: Vec<u64> = Pattern::Random.words(n, 1);
        assert!(
            check_plan(&plan, 100, &random, "random") > 100,
            "a bound that is quickly found is not close"
        );
    }
}

#[test]
fn a_kernel_that_keeps_too_few_is_noticed() {
    // The comparison above must be able to fail.
    let plan = plan(100, 20_011, KEYS, &gpu().info().limits).unwrap();
    let other = keeping_one(&plan, &gpu().info().limits);
    let keys = Pattern::AllEqual.words(20_011, 1).into_iter().chain([0]).take(20_011).collect::<Vec<_>>();
    assert_ne!(on_device(&plan, &keys, 100), on_device(&other, &keys, 100));
    assert!(check_top(&input(KEYS, &keys), 100, &on_device(&other, &keys, 100)).is_err());
}

#[test]
fn a_plan_that_leaves_its_arrays_is_refused() {
    let plan = plan(100, 20_011, KEYS, &gpu().info().limits).unwrap();
    // The second time it would take as many from the smaller array.
    assert!(plan.prefix(1).repeated(2).is_err());
    let first = plan.dispatches().next().unwrap();
    let twice = [(first.kernel(), 0, 20_011); 2];
    assert!(Plan::of_kernels(20_011, KEYS, &gpu().info().limits, twice).is_err());
}

#[test]
#[should_panic(expected = "for other buffers")]
fn a_plan_without_room_for_its_runs_is_not_performed() {
    let whole = Plan::new(Algorithm::Bitonic, Variant::Fused, 20_011, KEYS, &gpu().info().limits).unwrap();
    let plan = plan(100, 20_011, KEYS, &gpu().info().limits).unwrap();
    let buffers = Buffers::new(gpu(), &whole).unwrap();
    let _ = execute(gpu(), &plan, &buffers, |_| {});
}

/// The first `k` of these elements both ways, as keys and as positions, against the order rules.
pub fn check<R: Fn(&str, &str)>(
    sorter: &Sorter,
    method: Method,
    order: KeyMap,
    bits: &[u64],
    k: usize,
    ran: R,
) {
    let what = || format!("{method:?} {order:?} n {} k {k}", bits.len());
    let mut expected: Vec<(u64, u32)> = bits.iter().copied().zip(0..).collect();
    expected.sort_by(|a, b| compare(order.element, order.descending, a.0, b.0));
    expected.truncate(k);
    let keys = in_blocks(bits, order);
    let selection = Selection { unique: false, first: Some(k) };
    let request = Request::positions(keys.borrowed()).select(selection).by(method);
    let sorted = sorter.run(request, &mut |_, _| {}).unwrap();
    let positions: Vec<u32> = sorted.words.into_vec().unwrap();
    assert!(positions.iter().eq(expected.iter().map(|(_, position)| position)), "positions, {}", what());
    ran(sorted.report.ran.algorithm(), sorted.report.ran.variant());
    let sorted = sorter.run(Request::keys(keys).select(selection).by(method), &mut |_, _| {}).unwrap();
    let top = bits_of(sorted.words, order);
    assert!(top.iter().eq(expected.iter().map(|(bits, _)| bits)), "keys, {}", what());
    ran(sorted.report.ran.algorithm(), sorted.report.ran.variant());
}

/// The keys of these elements in blocks of many sizes.
fn in_blocks(bits: &[u64], order: KeyMap) -> KeyBuf<'static> {
    let mut blocks = KeyBuf::new(order.element.key_words());
    let (mut rest, mut size) = (bits, 1);
    while !rest.is_empty() {
        let (block, after) = rest.split_at(size.min(rest.len()));
        blocks.append(keys_of(block, order));
        (rest, size) = (after, size * 5 + 2);
    }
    blocks
}

const COUNTS: [usize; 9] = [0, 1, 2, 31, 32, 33, 100, 1000, usize::MAX];

#[test]
fn the_cpu_finds_the_top_of_every_type() {
    let sorter = Sorter::cpu();
    for order in orders() {
        for (seed, n) in (0..).zip([0, 1, 2, 3, 17, 1021, 1600, 4096, 16_001, 70_001]) {
            for k in COUNTS {
                let bits = elements(order.element, n, seed);
                check(&sorter, Method::default(), order, &bits, k, |algorithm, variant| {
                    assert_eq!((algorithm, variant == "top"), ("cpu", k.min(n) <= n / 4), "n {n} k {k}");
                });
            }
        }
        for algorithm in Algorithm::ALL {
            let method = Method { algorithm: Some(algorithm), variant: None };
            let expected =
                if algorithm.is_network() { (algorithm.name(), "network") } else { ("cpu", "radix") };
            check(&sorter, method, order, &elements(order.element, 1021, 1), 33, |ran, variant| {
                assert_eq!((ran, variant), expected);
            });
        }
    }
}

#[test]
fn the_gpu_finds_the_top_of_every_type_and_size() {
    let sorter = Sorter::on(device::start());
    let method = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    let mut seed = 0;
    for order in orders() {
        for n in [0, 1, 2, 1021, 4095, 4096, 4097, 8191, 8193, 20_011, 70_001] {
            for k in COUNTS {
                // Each size meets each pattern in one order or another.
                seed += 1;
                check(&sorter, method, order, &elements(order.element, n, seed), k, |algorithm, variant| {
                    let few = n > 4096 && k <= 1000;
                    assert_eq!((algorithm, variant), ("bitonic", if few { "top" } else { "fused" }));
                });
            }
        }
    }
}

#[test]
fn equal_keys_keep_their_order_in_the_top() {
    for sorter in [Sorter::cpu(), Sorter::on(device::start())] {
        for distinct in [1, 2, 5, 300] {
            for element in [ElementType::U32, ElementType::F64] {
                let order = KeyMap::ascending(element);
                let bits: Vec<u64> = random(distinct).take(100_003).map(|word| word % distinct).collect();
                for k in [1, 100, 1000] {
                    let method = Method::default();
                    let is_in_order = distinct == 1 && sorter.device().is_some();
                    check(&sorter, method, order, &bits, k, |_, variant| {
                        assert_eq!(variant, if is_in_order { "in-order" } else { "top" });
                    });
                }
            }
        }
    }
}

#[test]
fn named_variants_sort_all_for_the_top() {
    let sorter = Sorter::on(device::start());
    let order = KeyMap::ascending(ElementType::I32);
    let bits = elements(ElementType::I32, 5000, 0);
    for (algorithm, variant) in all() {
        let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
        let ran = if variant == Variant::Fused { "top" } else { variant.name() };
        check(&sorter, method, order, &bits, 10, |name, variant| {
            assert_eq!((name, variant), (algorithm.name(), ran));
        });
    }
    // And what is uploaded next is found where it is.
    let mut elements = [3_u32, 1, 2];
    sorter.sort(&mut elements).unwrap();
    assert_eq!(elements, [1, 2, 3]);
}

#[test]
fn what_ends_early_has_no_top() {
    for sorter in [Sorter::cpu(), Sorter::on(device::start())] {
        for k in [0, 10] {
            let blocks = [Ok(KeyBuf::from(vec![5_u32; 10_000])), Err(gpusort::Error::device("gone"))];
            let keys = Incoming::new(20_000, KeyWords::One, blocks.into_iter());
            let request = Request::keys(keys).select(Selection { unique: false, first: Some(k) });
            assert!(sorter.run(request, &mut |_, _| {}).is_err());
        }
    }
}
