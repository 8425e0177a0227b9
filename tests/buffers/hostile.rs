//! Sorts of all types, payloads, directions, variants, kinds of slices, numbers and distributions, many
//! of each, compared with the oracle. `GPUSORT_TEST_SORTS` is how many; by default a few.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// All that sorters differ in.
fn asked() -> Vec<(Asked, Option<Variant>)> {
    let mut all = Vec::new();
    let payloads = [Payload::None, Payload::U32, Payload::Positions];
    let types = ElementType::ALL.map(|element| (element, false));
    for (number, (element, is_bf16)) in types.into_iter().chain([(ElementType::F16, true)]).enumerate() {
        let variants = if element.bytes() == 8 {
            vec![None, Some(Variant::Leading), Some(Variant::Onesweep), Some(Variant::ReduceScan)]
        } else {
            vec![None, Some(Variant::ReduceScan)]
        };
        for (other, payload) in payloads.into_iter().enumerate() {
            for (which, &variant) in variants.iter().enumerate() {
                let descending = (number + other + which) % 2 == 1;
                all.push((Asked { is_bf16, descending, payload, ..Asked::of(element) }, variant));
            }
        }
    }
    all
}

/// Keys of some distribution.
fn keys(asked: &Asked, n: usize, drawn: &mut impl Iterator<Item = u64>) -> Vec<u64> {
    let mut word = || drawn.next().unwrap();
    let bits = 8 * asked.element.bytes() as u32;
    let mask = u64::MAX >> (64 - bits);
    let (shape, seed) = (word() % 14, word());
    let float = |x: f64| match asked.element {
        ElementType::F64 => x.to_bits(),
        ElementType::F32 => (x as f32).to_bits().into(),
        _ if asked.is_bf16 => u64::from((x as f32).to_bits() >> 16),
        ElementType::F16 => half::f16::from_f64(x).to_bits().into(),
        _ => (x * 1e3) as i64 as u64 & mask,
    };
    let unit = |word: u64| ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let prefix = seed & mask & !(mask >> (bits / 2));
    let low = mask >> (bits / 2);
    let few = random(seed ^ 1).next().unwrap_or(1) % 100 + 1;
    random(seed)
        .take(n)
        .enumerate()
        .map(|(place, word)| match shape {
            0 => seed & mask,
            1 => (word % few).wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask,
            2 => float(
                (-2.0 * unit(word).ln()).sqrt() * (std::f64::consts::TAU * unit(word.rotate_left(32))).cos(),
            ),
            3 => float(unit(word)),
            4 => float(unit(word).powf(-3.0)),
            5 => (place as u64).wrapping_mul(mask / (n as u64 + 1)) & mask,
            6 => mask - ((place as u64).wrapping_mul(mask / (n as u64 + 1)) & mask),
            7 => prefix | word & low,
            8 => word & word.rotate_left(17) & word.rotate_left(41) & mask,
            // A few, or half, of them with one prefix.
            9 if word % 1000 == 0 => prefix | word >> 20 & low,
            10 if word % 2 == 0 => prefix | word >> 20 & low,
            // About a hundred that begin alike.
            11 => {
                (word % (n as u64 / 100 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask & !low
                    | word >> 20 & low
            }
            // Nearly sorted.
            12 if word % 50 > 0 => (place as u64).wrapping_mul(mask / (n as u64 + 1)) & mask,
            _ => word & mask,
        })
        .collect()
}

/// One case: where slices lie, how many there are, and what is recorded of them.
fn one(
    guest: &Guest,
    sorter: &(BufferSorter, Workspace),
    asked: &Asked,
    most: usize,
    drawn: &mut impl Iterator<Item = u64>,
) -> Result<(), String> {
    let mut below = |most: usize| (drawn.next().unwrap() % most as u64) as usize;
    // As many short ones as long ones.
    let n = (2 << below(most.ilog2() as usize)) + below(3) - 1;
    let n = (n + below(n + 1)).min(most);
    let what = below(6);
    let places = match below(3) {
        0 => NOWHERE,
        _ => Places { keys: below(300), values: below(300), count: below(60) },
    };
    let told = if below(3) == 0 { Told::Device(below(2 * n + 1) as u32) } else { Told::Host };
    let (k, length) = (below(n + 2), below(n.min(20_000)) + 1);
    let elements = keys(asked, n, drawn);
    match what {
        0 => first(guest, sorter, asked, k as u32, (&elements, told, places)),
        1 | 2 => {
            let ends: Vec<u32> = match what {
                1 => (0..=n / length).map(|row| (row * length) as u32).collect(),
                // Of one length, which the host sees where offsets are its own.
                _ if k % 2 == 0 => (0..=n / length).map(|row| (row * length) as u32).collect(),
                _ => {
                    // Short, long and empty ones.
                    let mut end = 0;
                    let lengths = drawn.map(|word| (word % (length as u64 + 1)) >> (word >> 60));
                    let ends = lengths.map(|length| {
                        end += length;
                        end
                    });
                    ends.take_while(|&end| end <= n as u64).take(50_000).map(|end| end as u32).collect()
                }
            };
            let n = if what == 1 { n / length * length } else { n };
            let slices = Slices::new(guest, asked, &elements[..n], Told::Host, places);
            let offsets = guest.buffer(bytemuck::cast_slice(&[&ends[..], &[0, 0]].concat()));
            let segments = match what {
                1 => Segments::Rows(length as u32),
                _ if told_by_host(told) => Segments::HostOffsets(&ends),
                _ => Segments::Offsets(offsets.slice(..4 * ends.len().max(1) as u64)),
            };
            let (keys, values) = slices.slices(asked, places);
            let mut encoder = guest.encoder();
            let (sorter, workspace) = sorter;
            sorter
                .record_segments(&mut encoder, workspace, keys, values, segments)
                .map_err(|it| it.to_string())?;
            guest.submit(encoder);
            slices.check_segments(guest, asked, &ends, places)
        }
        _ => sort(guest, &sorter.0, &sorter.1, asked, (&elements, told, places), what == 3),
    }
    .map_err(|wrong| format!("{wrong}: {n} elements, {what}, {told:?}, {places:?}, k {k}, {length}"))
}

fn told_by_host(told: Told) -> bool {
    matches!(told, Told::Host)
}

#[test]
fn sorts_of_all_kinds_are_right() {
    let in_software = device::adapter().get_info().device_type == wgpu::DeviceType::Cpu;
    let all = asked();
    let sorts = std::env::var("GPUSORT_TEST_SORTS").ok();
    let sorts = sorts.map(|sorts| sorts.parse::<usize>().expect("GPUSORT_TEST_SORTS is a number"));
    // Kernels of all of them take minutes to compile in software.
    let step = if in_software && tier::is_quick() { 6 } else { 1 };
    let each = sorts.map_or(20, |sorts| sorts.div_ceil(all.len()));
    let most = if in_software { 1 << 13 } else { 1 << 19 };
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(16);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let guests = [Guest::advised(), Guest::plain()];
                loop {
                    let number = next.fetch_add(step, Ordering::Relaxed);
                    let Some((asked, variant)) = all.get(number) else { return };
                    // What runs where arguments are in a buffer alone is a fifth of it.
                    for (guest, each) in guests.iter().zip([each - each / 5, each / 5]) {
                        let mut drawn = random(tier::seed() + number as u64);
                        // A device without subgroups has one of the variants.
                        let method = Method { algorithm: None, variant: variant.filter(|_| each > 0) };
                        let sorter =
                            BufferSorter::new(&guest.device, &guest.queue, asked.spec().method(method));
                        let Ok(sorter) = sorter else { continue };
                        let workspace = sorter.workspace(most as u32).unwrap();
                        let sorter = (sorter, workspace);
                        for case in 0..each {
                            one(guest, &sorter, asked, most, &mut drawn)
                                .unwrap_or_else(|wrong| panic!("case {case} of {variant:?}: {wrong}"));
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let done = done.into_inner();
    println!("{done} sorts");
    assert!(done >= sorts.unwrap_or(all.len() / step * 10), "{done}");
}
