//! More keys than a GPU takes at once, and several GPUs: sorted in shares, which are merged.

use gpusort::{Algorithm, ElementType, Method, Sorter};
use gpusort_engine::gpu::Gpu;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::Request;
use gpusort_order::Selection;
use gpusort_planner::key::KeyMap;

use crate::device;
use crate::inputs::{elements, random};
use crate::oracle::{check_elements, check_positions};
use crate::support::elements::{bits_of, keys_of};

/// The device of the tests with bindings of this many bytes at most.
fn narrow(bytes: u64) -> Gpu {
    let adapter = device::adapter();
    let limits = wgpu::Limits { max_storage_buffer_binding_size: bytes, ..adapter.limits() };
    let used = wgpu::Features::IMMEDIATES | wgpu::Features::SUBGROUP | wgpu::Features::SUBGROUP_BARRIER;
    let descriptor = wgpu::DeviceDescriptor {
        required_features: used & adapter.features(),
        required_limits: limits,
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    Gpu::from_device(device, queue).unwrap()
}

fn check(sorter: &Sorter, element: ElementType, bits: &[u64], method: Method) -> usize {
    let order = KeyMap::ascending(element);
    let keys = keys_of(bits, order);
    let sorted = sorter.run(Request::keys(keys.borrowed()).by(method), &mut |_, _| {}).unwrap();
    check_elements(element, false, bits, &bits_of(sorted.words, order)).unwrap();
    let shares = sorted.report.shares;
    let sorted = sorter.run(Request::positions(keys.borrowed()).by(method), &mut |_, _| {}).unwrap();
    let positions = sorted.words.into_vec::<u32>().unwrap();
    check_positions(element, false, bits, &positions).unwrap();
    let places: Vec<u64> = (0..bits.len() as u64).map(|place| 3 * place).collect();
    let records = || Request::records(keys.borrowed(), KeyBuf::from(&places[..])).by(method);
    let sorted = sorter.run(records(), &mut |_, _| {}).unwrap();
    assert!(
        sorted.words.into_vec::<u64>().unwrap().into_iter().eq(positions.iter().map(|&at| 3 * u64::from(at)))
    );

    // Block by block it is the same.
    let taken = |request| {
        let ordered = sorter.order(request, &mut |_, _| {}).unwrap();
        assert_eq!(ordered.count(), bits.len());
        let mut taken: Option<KeyBuf<'static>> = None;
        let mut take = |block: KeyBuf| {
            let block = block.borrowed().joined();
            match &mut taken {
                Some(taken) => taken.append(block),
                None => taken = Some(block),
            }
            Ok(())
        };
        ordered.take(&mut take).unwrap();
        taken.unwrap().joined()
    };
    let elements = taken(Request::keys(keys.borrowed()).by(method));
    check_elements(element, false, bits, &bits_of(elements, order)).unwrap();
    assert!(taken(Request::positions(keys.borrowed()).by(method)) == KeyBuf::from(&positions[..]));
    let of_records = taken(records()).into_vec::<u64>().unwrap();
    assert!(of_records.into_iter().eq(positions.iter().map(|&at| 3 * u64::from(at))));
    // What does not want more ends it.
    let mut error = |_: KeyBuf| Err(gpusort::Error::device("full"));
    let ordered = sorter.order(Request::keys(keys.borrowed()).by(method), &mut |_, _| {}).unwrap();
    assert!(ordered.take(&mut error).unwrap_err().to_string().contains("full"));
    shares
}

#[test]
fn more_than_a_binding_is_sorted_in_shares() {
    let sorter = Sorter::on(narrow(1 << 18));
    for (element, n, shares) in [
        (ElementType::U32, 65_536, 0),
        (ElementType::U32, 65_537, 2),
        (ElementType::F32, 300_007, 5),
        (ElementType::I64, 200_003, 7),
    ] {
        assert_eq!(check(&sorter, element, &elements(element, n, 7), Method::default()), shares, "{n}");
    }
    // Few distinct keys: of equal ones those of earlier shares come first.
    let few: Vec<u64> = random(3).take(150_000).map(|key| key % 5).collect();
    let bitonic = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    assert!(check(&sorter, ElementType::U32, &few, bitonic) > 1);
    let sorted: Vec<u64> = (0..150_000).collect();
    assert!(check(&sorter, ElementType::U32, &sorted, Method::default()) > 1);
}

#[test]
fn selections_of_shares_are_those_of_all() {
    let sorter = Sorter::on(narrow(1 << 18));
    let keys: Vec<u64> = random(9).take(200_000).map(|key| key % 100_000).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    for unique in [false, true] {
        if unique {
            sorted.dedup();
        }
        for first in [0, 1, 5000, 150_000] {
            let selection = Selection { unique, first: Some(first) };
            let request = || KeyBuf::from(keys.iter().map(|&key| key as u32).collect::<Vec<_>>());
            let found = sorter.run(Request::keys(request()).select(selection), &mut |_, _| {}).unwrap();
            let found: Vec<u64> = found.words.into_vec::<u32>().unwrap().into_iter().map(u64::from).collect();
            assert!(found == sorted[..first.min(sorted.len())], "{unique} {first}");
            let positions =
                sorter.run(Request::positions(request()).select(selection), &mut |_, _| {}).unwrap();
            let positions = positions.words.into_vec::<u32>().unwrap();
            let at: Vec<u64> = positions.iter().map(|&position| keys[position as usize]).collect();
            assert!(at == found, "{unique} {first}");
            // The first of equal ones, in their order.
            assert!(
                positions
                    .windows(2)
                    .all(|pair| { keys[pair[0] as usize] < keys[pair[1] as usize] || pair[0] < pair[1] })
            );
        }
    }
}

#[test]
fn several_devices_share_the_work() {
    let sorter = Sorter::on_all([device::start(), device::start()]);
    assert_eq!(sorter.devices().count(), 2);
    let n = if crate::support::tier::is_quick() { 1 << 20 } else { (1 << 20) + 12_345 };
    assert_eq!(check(&sorter, ElementType::U32, &elements(ElementType::U32, n, 4), Method::default()), 4);
    // Few are sorted by one alone.
    assert_eq!(check(&sorter, ElementType::F64, &elements(ElementType::F64, 5000, 4), Method::default()), 0);
}
