//! The facade, from element bits to element bits: every type, direction, algorithm and device
//! against the order rules.

use std::cmp::Ordering;
use std::fmt::Debug;

use gpusort::Kind;
use gpusort::buffers::BufferSorter;
use gpusort::{Algorithm, AsyncSorter, Element, ElementType, Form, Method, Sorter};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::{Incoming, Request};
use gpusort_planner::key::{KeyMap, KeyWords};
use gpusort_planner::plan::{Crossovers, Dispatch, Kernel, Plan, Shape};

use half::f16;

use crate::device;
use crate::inputs::{elements, random};
use crate::networks::all;
use crate::oracle::{check_elements, check_positions};
pub use crate::support::elements::{bits_of, orders};
use crate::support::elements::{in_blocks, keys_of};
use crate::support::tier;

/// Sorts these elements both ways, keys alone and as positions, and compares with the order rules.
fn check(sorter: &Sorter, method: Method, order: KeyMap, bits: &[u64]) {
    let right = |checked: Result<(), String>| {
        checked.unwrap_or_else(|why| panic!("{method:?} {order:?}: {why}"));
    };
    let keys = keys_of(bits, order);
    let sorted = sorter.run(Request::positions(keys.borrowed()).by(method), &mut |_, _| {}).unwrap();
    let positions: Vec<u32> = sorted.words.into_vec().unwrap();
    right(check_positions(order.element, order.descending, bits, &positions));
    // On the CPU the radix sort is no algorithm with plans.
    let planned = |algorithm: &Algorithm| sorter.device().is_some() || algorithm.is_network();
    assert_eq!(sorted.report.ran.algorithm, method.algorithm.filter(planned));

    let sorted = sorter.run(Request::keys(keys).by(method), &mut |_, _| {}).unwrap();
    right(check_elements(order.element, order.descending, bits, &bits_of(sorted.words, order)));
}

/// Every size to 600; in the quick tier to 3, and some.
fn small_sizes() -> impl Iterator<Item = usize> {
    let step = if tier::is_quick() { 41 } else { 1 };
    (0..3).chain((3..=600).step_by(step))
}

/// Small sizes, and the neighbours of every tile size that a shape of element has.
fn sizes() -> impl Iterator<Item = usize> {
    small_sizes().chain([1024, 2048, 4096, 8192].into_iter().flat_map(|tile| [tile - 1, tile, tile + 1]))
}

#[test]
fn gpu_bitonic_sorts_every_type_and_size() {
    let sorter = Sorter::on(device::start());
    for order in orders() {
        for (algorithm, variant) in all().filter(|(algorithm, _)| *algorithm == Algorithm::Bitonic) {
            let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
            sizes().for_each(|n| check(&sorter, method, order, &elements(order.element, n, n as u64)));
        }
    }
}

#[test]
fn gpu_odd_even_sorts_every_type_and_size() {
    let sorter = Sorter::on(device::start());
    for order in orders() {
        for (algorithm, variant) in all().filter(|(algorithm, _)| *algorithm == Algorithm::OddEven) {
            let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
            let sizes = small_sizes().chain([1023, 1024, 1025]);
            sizes.for_each(|n| check(&sorter, method, order, &elements(order.element, n, n as u64)));
        }
    }
}

#[test]
fn gpu_radix_sorts_every_type_and_size() {
    let sorter = Sorter::on(device::start());
    for (number, order) in orders().enumerate() {
        for &variant in Algorithm::Radix.variants() {
            let method = Method { algorithm: Some(Algorithm::Radix), variant: Some(variant) };
            // On a software driver each order has a tenth of the small sizes.
            let step = if device::gpu().info().kind == Kind::Software { 10 } else { 1 };
            let tile = |positions| {
                let shape = Shape::of(order.element, positions);
                let plan = Plan::new(Algorithm::Radix, variant, 2, shape, &device::gpu().info().limits);
                let is_last = |kernel| match kernel {
                    Kernel::Radix(radix) => radix.tile.size() as usize,
                    other => panic!("{other:?} in a radix sort"),
                };
                plan.unwrap().dispatches().last().map(Dispatch::kernel).map(is_last).unwrap()
            };
            let borders = [tile(false), tile(true), 3 * tile(false)];
            let sizes = small_sizes().skip(number % step).step_by(step);
            sizes
                .chain(borders.into_iter().flat_map(|border| border - 1..=border + 1))
                .for_each(|n| check(&sorter, method, order, &elements(order.element, n, n as u64)));
        }
    }
}

#[test]
fn cpu_sorts_every_type_and_size() {
    let sorter = Sorter::cpu();
    let methods = [None, Some(Algorithm::Bitonic), Some(Algorithm::OddEven), Some(Algorithm::Radix)];
    for order in orders() {
        for algorithm in methods {
            let method = Method { algorithm, variant: None };
            let large: &[usize] =
                if algorithm == Some(Algorithm::OddEven) { &[] } else { &[16_383, 16_384, 40_009, 100_003] };
            for n in sizes()
                .chain(large.iter().copied())
                .filter(|&n| algorithm != Some(Algorithm::OddEven) || n < 2000)
            {
                check(&sorter, method, order, &elements(order.element, n, n as u64));
            }
        }
    }
}

#[test]
fn gpu_sorts_random_sizes() {
    // Sizes as likely to be small as large; a software driver has time for few and for none that is
    // huge.
    let sorter = Sorter::on(device::start());
    let is_hardware = device::gpu().info().kind != Kind::Software;
    let (draws, largest_log2) = if is_hardware { (300, 22.0) } else { (100, 17.0) };
    let orders: Vec<KeyMap> = orders().collect();
    let radix = Algorithm::Radix.variants().iter().map(|&variant| (Algorithm::Radix, variant));
    let variants: Vec<_> =
        all().filter(|(algorithm, _)| *algorithm == Algorithm::Bitonic).chain(radix).collect();
    let mut words = random(tier::seed());
    let mut draw = |below: usize| (words.next().unwrap() >> 16) as usize % below;
    for seed in 0..draws {
        let n = 2_f64.powf(draw(1000) as f64 / 1000.0 * largest_log2) as usize;
        let (order, (algorithm, variant)) = (orders[draw(orders.len())], variants[draw(variants.len())]);
        let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
        check(&sorter, method, order, &elements(order.element, n, seed));
    }
}

#[test]
fn the_gpu_takes_the_faster_algorithm() {
    let kind = device::gpu().info().kind;
    let sizes =
        [(false, 999, Algorithm::Bitonic), (false, 1000, Algorithm::Radix), (true, 1000, Algorithm::Bitonic)];
    let crossovers =
        Crossovers::of_kind(kind).with(Algorithm::Radix, Shape::of(ElementType::U32, false), 1000);
    let crossovers = crossovers.with(Algorithm::Radix, Shape::of(ElementType::U32, true), 1001);
    let sorter = Sorter::on(device::start()).with_crossovers(&crossovers);
    for (positions, n, algorithm) in sizes {
        let keys: Vec<u32> = random(3).take(n).map(|word| word as u32).collect();
        let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
        expected.sort_unstable();
        let (expected, places): (Vec<u32>, Vec<u32>) = expected.into_iter().unzip();
        let keys = in_blocks(&keys);
        let request = if positions { Request::positions(keys) } else { Request::keys(keys) };
        let sorted = sorter.run(request, &mut |_, _| {}).unwrap();
        assert!(sorted.words == KeyBuf::from(if positions { places } else { expected }));
        assert_eq!(sorted.report.ran.algorithm, Some(algorithm), "{n}");
        assert!(sorted.report.why.unwrap().starts_with(algorithm.name()));
    }
}

#[test]
fn a_million_keys_on_the_gpu() {
    let sorter = Sorter::on(device::start());
    for element in [ElementType::U32, ElementType::F64] {
        let bits: Vec<u64> = random(7)
            .take(1_000_000)
            .map(|word| if element.bytes() == 4 { word >> 32 } else { word })
            .collect();
        let method = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
        check(&sorter, method, KeyMap::ascending(element), &bits);
    }
}

#[test]
fn a_sorter_is_used_again_and_again() {
    let sorter = Sorter::on(device::start());
    let method = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    for (n, element) in
        [(5000, ElementType::U32), (0, ElementType::U32), (70_000, ElementType::I64), (3, ElementType::F32)]
    {
        check(&sorter, method, KeyMap::ascending(element), &elements(element, n, 0));
    }
}

#[test]
fn keys_that_come_in_pieces_arrive_whole() {
    for sorter in [Sorter::cpu(), Sorter::on(device::start())] {
        // More than a staging buffer takes.
        let largest = tier::count(5_000_003, 300_001) as u64;
        for n in [0, 1, 2, 1001, 300_000, largest] {
            let keys: Vec<u32> = random(n).take(n as usize).map(|key| key as u32).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            let request = || Request::keys(in_blocks(&keys));
            let sorted = sorter.run(request(), &mut |_, _| {}).unwrap();
            assert!(sorted.words == KeyBuf::from(expected.clone()), "{n}");
            let mut taken = Vec::new();
            let mut take = |block: KeyBuf| {
                taken.extend(block.into_vec::<u32>().unwrap());
                Ok(())
            };
            sorter.order(request(), &mut |_, _| {}).unwrap().take(&mut take).unwrap();
            assert!(taken == expected, "{n}, block by block");
        }
    }
}

#[test]
fn a_gpu_does_not_sort_input_that_is_in_order() {
    let sorter = Sorter::on(device::start());
    let sort =
        |keys: &[u32], method| sorter.run(Request::keys(in_blocks(keys)).by(method), &mut |_, _| {}).unwrap();
    let mut keys: Vec<u32> = (0..100_000).map(|i| i / 3).collect();
    let sorted = sort(&keys, Method::default());
    assert_eq!(sorted.words, KeyBuf::from(keys.clone()));
    assert_eq!((sorted.report.ran.form, sorted.report.dispatches), (Form::InOrder, 0));
    let named = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    assert!(sort(&keys, named).report.dispatches > 0, "an algorithm that is named is seen at work");
    let positions = sorter.run(Request::positions(in_blocks(&keys)), &mut |_, _| {}).unwrap().words;
    assert_eq!(positions, KeyBuf::from((0..100_000).collect::<Vec<u32>>()));
    // Out of order within a block, and between two.
    for place in [3, 5, 50_000, 99_998] {
        keys.swap(place, place - 3);
        let sorted = sort(&keys, Method::default());
        assert!(sorted.report.dispatches > 0, "{place}");
        keys.swap(place, place - 3);
        assert_eq!(sorted.words, KeyBuf::from(keys.clone()), "{place}");
    }
}

#[test]
fn an_input_of_another_length_than_announced_is_an_error() {
    let sorter = Sorter::on(device::start());
    for told in [999, 1001] {
        let blocks = [400, 600].into_iter().map(|n| Ok(KeyBuf::from(vec![5_u32; n])));
        let request = Request::keys(Incoming::new(told, KeyWords::One, blocks));
        let error = sorter.run(request, &mut |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("size"), "{error}");
    }
    // And the sorter is as good as before.
    let mut elements = [3, 1];
    sorter.sort(&mut elements).unwrap();
    assert_eq!(elements, [1, 3]);
}

/// A slice of elements sorted in each way on each device, beside the standard library's stable
/// sort.
fn check_slices<T: Element + Debug>(
    sorter: &Sorter,
    awaited: &AsyncSorter,
    elements: &[T],
    is_nan: impl Fn(&T) -> bool,
    order: impl Fn(&T, &T) -> Ordering,
) {
    let bits = |elements: &[T]| elements.iter().map(|&element| element.to_word()).collect::<Vec<_>>();
    for descending in [false, true] {
        let mut positions: Vec<u32> = (0..elements.len() as u32).collect();
        let at = |&position: &u32| &elements[position as usize];
        positions.sort_by(|a, b| {
            let (a, b) = (at(a), at(b));
            // NaN is last in both directions.
            match (is_nan(a), is_nan(b)) {
                (false, false) if descending => order(b, a),
                _ => order(a, b),
            }
        });
        let sorted: Vec<T> = positions.iter().map(at).copied().collect();
        let (mut by_cpu, k) = (elements.to_vec(), 7);
        if descending {
            gpusort::sort_descending(&mut by_cpu);
            assert_eq!(gpusort::argsort_descending(elements), positions);
            assert_eq!(bits(&gpusort::top_descending(elements, k)), bits(&sorted[..k.min(sorted.len())]));
        } else {
            gpusort::sort(&mut by_cpu);
            assert_eq!(gpusort::argsort(elements), positions);
            assert_eq!(bits(&gpusort::top(elements, k)), bits(&sorted[..k.min(sorted.len())]));
            let wide: Vec<u64> = positions.iter().map(|&position| position.into()).collect();
            assert_eq!(gpusort::argsort_u64(elements), wide);
        }
        assert_eq!(bits(&by_cpu), bits(&sorted));
        let mut by_gpu = elements.to_vec();
        let (argsorted, first) = if descending {
            sorter.sort_descending(&mut by_gpu).unwrap();
            (sorter.argsort_descending(elements).unwrap().0, sorter.top_descending(elements, k).unwrap().0)
        } else {
            sorter.sort(&mut by_gpu).unwrap();
            (sorter.argsort(elements).unwrap().0, sorter.top(elements, k).unwrap().0)
        };
        assert_eq!(bits(&by_gpu), bits(&sorted));
        assert_eq!(argsorted, positions);
        let mut by_await = elements.to_vec();
        let argsorted = pollster::block_on(async {
            if descending {
                awaited.sort_descending(&mut by_await).await.unwrap();
                awaited.argsort_descending(elements).await.unwrap()
            } else {
                awaited.sort(&mut by_await).await.unwrap();
                awaited.argsort(elements).await.unwrap()
            }
        });
        assert_eq!(bits(&by_await), bits(&sorted));
        assert_eq!(argsorted, positions);
        assert_eq!(bits(&first), bits(&sorted[..k.min(sorted.len())]));
    }
}

#[test]
fn slices_of_all_eleven_types() {
    let sorter = Sorter::on(device::start());
    let adapter = device::adapter();
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: BufferSorter::required_features(&adapter),
        required_limits: BufferSorter::required_limits(&adapter, 20_011),
        ..Default::default()
    }))
    .unwrap();
    let awaited = AsyncSorter::on(device, queue);
    for n in [0, 1, 2, 1000, 20_011] {
        let bits: Vec<u64> = random(n as u64).take(n).collect();
        macro_rules! integers {
            ($($type:ty)*) => {
                $(check_slices(&sorter, &awaited, &bits.iter().map(|&bits| bits as $type).collect::<Vec<_>>(), |_| false, Ord::cmp);)*
            };
        }
        integers!(u8 i8 u16 i16 u32 i32 u64 i64);
        // Every bit pattern, so NaN of both signs too: positive ones by rising bits, then negative
        // ones by falling bits.
        macro_rules! floats {
            ($($float:ty, $bits:ty;)*) => {
                $(check_slices(
                    &sorter,
                    &awaited,
                    &bits.iter().map(|&bits| <$float>::from_bits(bits as $bits)).collect::<Vec<_>>(),
                    |it| it.is_nan(),
                    |a, b| match (a.is_nan(), b.is_nan()) {
                        (true, true) if a.is_sign_negative() != b.is_sign_negative() => {
                            a.is_sign_negative().cmp(&b.is_sign_negative())
                        }
                        (true, false) => Ordering::Greater,
                        (false, true) => Ordering::Less,
                        _ => a.total_cmp(b),
                    },
                );)*
            };
        }
        floats! { f16, u16; f32, u32; f64, u64; }
    }
}
