//! Keys of 8 and 16 bits: whatever is recorded of others, in slices that begin inside a word.

use super::*;

fn asked() -> [Asked; 6] {
    let of = |element, payload, descending| Asked { descending, payload, ..Asked::of(element) };
    [
        of(ElementType::U8, Payload::None, false),
        of(ElementType::I8, Payload::U32, true),
        of(ElementType::U16, Payload::Positions, true),
        of(ElementType::I16, Payload::None, false),
        of(ElementType::F16, Payload::U32, true),
        Asked { is_bf16: true, ..of(ElementType::F16, Payload::Positions, false) },
    ]
}

/// Every bit pattern of the type as often as another, so that there are all kinds of NaN.
fn patterns(asked: &Asked, n: usize, seed: u64) -> Vec<u64> {
    random(seed).take(n).map(|word| word >> (64 - 8 * asked.element.bytes())).collect()
}

#[test]
fn narrow_keys_are_sorted_in_place() {
    for (guest, name) in [(Guest::advised(), "advised"), (Guest::plain(), "plain")] {
        for (number, asked) in asked().into_iter().enumerate() {
            if tier::is_quick() && name == "plain" && number % 3 > 0 {
                continue;
            }
            let (sorter, workspace) = sorter_of(&guest, asked.spec());
            for (n, keys, told) in [
                (0, 0, Told::Host),
                (1, 1, Told::Host),
                (2, 3, Told::Host),
                (7, 0, Told::Device(5)),
                (257, 255, Told::Host),
                (6001, 5, Told::Device(u32::MAX)),
                (6001, 2, Told::Device(0)),
                (20_011, 0, Told::Host),
                (20_010, 131, Told::Device(19_999)),
            ] {
                let places = Places { keys, values: number, count: number };
                let elements = patterns(&asked, n, (n + keys) as u64);
                for argsort in [false, true] {
                    sort(&guest, &sorter, &workspace, &asked, (&elements, told, places), argsort)
                        .unwrap_or_else(|wrong| panic!("{name}, {n} at {keys}, {argsort}: {wrong}"));
                }
            }
            // With patterns that are not random.
            for seed in 0..inputs::PATTERNS.len() as u64 {
                let elements = inputs::elements(asked.element, 3000, seed);
                sort(&guest, &sorter, &workspace, &asked, (&elements, Told::Host, NOWHERE), false).unwrap();
            }
        }
    }
}

#[test]
fn some_bits_of_narrow_keys() {
    let guest = Guest::advised();
    for (element, bits) in [(ElementType::U8, 3..5), (ElementType::I16, 4..16), (ElementType::F16, 10..15)] {
        let asked = Asked { bits, payload: Payload::Positions, ..Asked::of(element) };
        let (sorter, workspace) = sorter_of(&guest, asked.spec());
        let places = Places { keys: 3, values: 0, count: 0 };
        let elements = patterns(&asked, 5001, 4);
        sort(&guest, &sorter, &workspace, &asked, (&elements, Told::Host, places), false).unwrap();
    }
}

#[test]
fn segments_of_narrow_keys() {
    let guest = Guest::advised();
    for (number, asked) in asked().into_iter().enumerate() {
        let (sorter, workspace) = sorter_of_segments(&guest, asked.spec());
        let of_offsets = ends(lengths(number as u64));
        let rows = |length: u32| (0..=10).map(|row| row * length).collect::<Vec<_>>();
        for (which, ends) in [of_offsets, rows(100), rows(3), rows(8200)].into_iter().enumerate() {
            let places = Places { keys: 3 * which, values: which, count: 0 };
            let n = *ends.last().unwrap() as usize + if which == 0 { 11 } else { 0 };
            let elements = patterns(&asked, n, 70 + which as u64);
            let slices = Slices::new(&guest, &asked, &elements, Told::Host, places);
            let segments = if which == 0 { Segments::HostOffsets(&ends) } else { Segments::Rows(ends[1]) };
            let (keys, values) = slices.slices(&asked, places);
            let mut encoder = guest.encoder();
            sorter.record_segments(&mut encoder, &workspace, keys, values, segments).unwrap();
            guest.submit(encoder);
            slices.check_segments(&guest, &asked, &ends, places).unwrap();
        }
    }
}

#[test]
fn the_first_of_narrow_keys() {
    let guest = Guest::advised();
    for asked in asked() {
        let sorter = sorter_of_the_first(&guest, &asked);
        let elements = patterns(&asked, enough_to_select(asked.element), 8);
        let places = Places { keys: 1, values: 0, count: 2 };
        for (k, told) in [(1, Told::Host), (300, Told::Device(9999)), (5000, Told::Host)] {
            first(&guest, &sorter, &asked, k, (&elements, told, places)).unwrap();
        }
    }
}

#[test]
fn narrow_keys_that_no_buffer_holds_are_errors() {
    let guest = Guest::advised();
    let sorter = BufferSorter::new(&guest.device, &guest.queue, Spec::new(ElementType::U16)).unwrap();
    let workspace = sorter.workspace(100).unwrap();
    let usage = wgpu::BufferUsages::STORAGE;
    let of = |size| wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    let buffer = guest.device.create_buffer(&of(6));
    let record = |keys, count| {
        let mut encoder = guest.encoder();
        sorter.record(&mut encoder, &workspace, keys, None, Count::Host(count)).map_err(|it| it.to_string())
    };
    assert!(record(buffer.slice(..), 2).is_ok());
    let said = record(buffer.slice(..), 3).unwrap_err();
    assert_eq!(said, "keys: the buffer has 6 bytes; create it with a multiple of 4");
    let said = record(buffer.slice(1..), 1).unwrap_err();
    assert_eq!(said, "keys: byte offset 1 is not a multiple of 2");
    // Rows of narrow keys need room.
    let keys = guest.buffer(&[0; 240]);
    let mut encoder = guest.encoder();
    let rows = sorter.record_segments(&mut encoder, &workspace, keys.slice(..), None, Segments::Rows(12));
    assert!(matches!(rows.unwrap_err().kind(), ErrorKind::Misuse(Misuse::Capacity { count: 120, .. })));
}
