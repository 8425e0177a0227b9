//! The facade, from element bits to element bits: every type, direction, algorithm and device against
//! the order rules.

use gpusort::gpu::Kind;
use gpusort::key::{ElementType, Incoming, Keys, KeysRef, Order};
use gpusort::plan::Algorithm;
use gpusort::{Method, Sorter};

use crate::device;
use crate::inputs::{elements, random};
use crate::networks::all;
use crate::oracle::{check_elements, check_positions};
pub use crate::support::elements::{bits_of, orders};
use crate::support::elements::{in_pieces, keys_of};
use crate::support::tier;

/// Sorts these elements both ways, keys alone and as positions, and compares with the order rules.
fn check(sorter: &Sorter, method: Method, order: Order, bits: &[u64]) {
    let right = |checked: Result<(), String>| {
        checked.unwrap_or_else(|why| panic!("{method:?} {order:?}: {why}"));
    };
    let keys = keys_of(bits, order);
    let (positions, report) = sorter.argsort(keys.clone(), method, &mut |_, _| {}).unwrap();
    right(check_positions(order.element, order.descending, bits, &positions));
    assert_eq!(report.algorithm, method.algorithm.map_or("cpu", Algorithm::name));

    let (keys, _) = sorter.sort(keys, method, &mut |_, _| {}).unwrap();
    right(check_elements(order.element, order.descending, bits, &bits_of(keys, order)));
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
    let sorter = Sorter::gpu(device::start());
    for order in orders() {
        for (algorithm, variant) in all().filter(|(algorithm, _)| *algorithm == Algorithm::Bitonic) {
            let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
            sizes().for_each(|n| check(&sorter, method, order, &elements(order.element, n, n as u64)));
        }
    }
}

#[test]
fn gpu_odd_even_sorts_every_type_and_size() {
    let sorter = Sorter::gpu(device::start());
    for order in orders() {
        for (algorithm, variant) in all().filter(|(algorithm, _)| *algorithm == Algorithm::OddEven) {
            let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
            let sizes = small_sizes().chain([1023, 1024, 1025]);
            sizes.for_each(|n| check(&sorter, method, order, &elements(order.element, n, n as u64)));
        }
    }
}

#[test]
fn cpu_sorts_every_type_and_size() {
    let sorter = Sorter::cpu();
    let methods = [None, Some(Algorithm::Bitonic), Some(Algorithm::OddEven)];
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
    // Sizes as likely to be small as large; a software driver has time for few and for none that is huge.
    let sorter = Sorter::gpu(device::start());
    let is_hardware = device::gpu().info().kind != Kind::Software;
    let (draws, largest_log2) = if is_hardware { (300, 22.0) } else { (100, 17.0) };
    let orders: Vec<Order> = orders().collect();
    let variants: Vec<_> = all().filter(|(algorithm, _)| *algorithm == Algorithm::Bitonic).collect();
    let mut words = random(2026);
    let mut draw = |below: usize| (words.next().unwrap() >> 16) as usize % below;
    for seed in 0..draws {
        let n = 2_f64.powf(draw(1000) as f64 / 1000.0 * largest_log2) as usize;
        let (order, (algorithm, variant)) = (orders[draw(orders.len())], variants[draw(variants.len())]);
        let method = Method { algorithm: Some(algorithm), variant: Some(variant) };
        check(&sorter, method, order, &elements(order.element, n, seed));
    }
}

#[test]
fn a_million_keys_on_the_gpu() {
    let sorter = Sorter::gpu(device::start());
    for element in [ElementType::U32, ElementType::F64] {
        let bits: Vec<u64> = random(7)
            .take(1_000_000)
            .map(|word| if element.bytes() == 4 { word >> 32 } else { word })
            .collect();
        let method = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
        check(&sorter, method, Order::ascending(element), &bits);
    }
}

#[test]
fn a_sorter_is_used_again_and_again() {
    let sorter = Sorter::gpu(device::start());
    let method = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    for (n, element) in
        [(5000, ElementType::U32), (0, ElementType::U32), (70_000, ElementType::I64), (3, ElementType::F32)]
    {
        check(&sorter, method, Order::ascending(element), &elements(element, n, 0));
    }
}

#[test]
fn keys_that_come_in_pieces_arrive_whole() {
    for sorter in [Sorter::cpu(), Sorter::gpu(device::start())] {
        // More than a staging buffer takes.
        let largest = tier::count(5_000_003, 300_001) as u64;
        for n in [0, 1, 2, 1001, 300_000, largest] {
            let keys: Vec<u32> = random(n).take(n as usize).map(|key| key as u32).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            let (sorted, _) = sorter.sort(in_pieces(&keys), Method::default(), &mut |_, _| {}).unwrap();
            assert!(sorted == Keys::One(expected.clone()), "{n}");
            let mut taken = Vec::new();
            let take = |block: KeysRef| {
                let KeysRef::One(block) = block else { panic!("keys of one word") };
                taken.extend_from_slice(block);
                Ok::<_, gpusort::Error>(())
            };
            sorter.sort_to(in_pieces(&keys), Method::default(), &mut |_, _| {}, take).unwrap();
            assert!(taken == expected, "{n}, block by block");
        }
    }
}

#[test]
fn a_gpu_does_not_sort_input_that_is_in_order() {
    let sorter = Sorter::gpu(device::start());
    let sort = |keys: &[u32], method| sorter.sort(in_pieces(keys), method, &mut |_, _| {}).unwrap();
    let mut keys: Vec<u32> = (0..100_000).map(|i| i / 3).collect();
    let (sorted, report) = sort(&keys, Method::default());
    assert_eq!((sorted, report.variant, report.dispatches), (Keys::One(keys.clone()), "in-order", 0));
    let named = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    assert!(sort(&keys, named).1.dispatches > 0, "an algorithm that is named is seen at work");
    let (positions, _) = sorter.argsort(in_pieces(&keys), Method::default(), &mut |_, _| {}).unwrap();
    assert!(positions.into_iter().eq(0..100_000));
    // Out of order within a piece, and between two.
    for place in [3, 5, 50_000, 99_998] {
        keys.swap(place, place - 3);
        let (sorted, report) = sort(&keys, Method::default());
        assert!(report.dispatches > 0, "{place}");
        keys.swap(place, place - 3);
        assert_eq!(sorted, Keys::One(keys.clone()), "{place}");
    }
}

#[test]
fn an_input_of_another_length_than_announced_is_an_error() {
    let sorter = Sorter::gpu(device::start());
    for told in [999, 1001] {
        let pieces = [400, 600].into_iter().map(|n| Ok(Keys::One(vec![5; n])));
        let keys = Incoming::new(told, 1, pieces);
        let error = sorter.sort(keys, Method::default(), &mut |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("size"), "{error}");
    }
    // And the sorter is as good as before.
    assert!(
        sorter.sort(in_pieces(&[3, 1]), Method::default(), &mut |_, _| {}).unwrap().0
            == Keys::One(vec![1, 3])
    );
}
