//! What is recorded beside sorts: gathers, unique keys, merges.

use gpusort::buffers::{Gather, Run, Unique};

use super::*;

fn words(bytes: &[u8]) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(bytes)
}

/// A part of a buffer that begins after so many elements of these bytes.
fn part(buffer: &wgpu::Buffer, before: usize, n: usize, each: usize) -> wgpu::BufferSlice<'_> {
    let begin = (before * each) as u64;
    buffer.slice(begin..begin + (n * each) as u64)
}

#[test]
fn arrays_are_gathered_by_positions() {
    for guest in [Guest::advised(), Guest::plain()] {
        let sorter = BufferSorter::new(&guest.device, &guest.queue, Spec::new(ElementType::U32)).unwrap();
        for (n, told) in
            [(1, Told::Host), (700, Told::Device(513)), (20_011, Told::Host), (90, Told::Device(0))]
        {
            let elements = n + 5;
            // One of them beyond the source.
            let positions: Vec<u32> =
                random(n as u64).take(n).map(|word| word as u32 % (elements as u32 + 1)).collect();
            let count = if let Told::Device(number) = told { number as usize } else { n };
            let number = guest.buffer(&within(9, &(count as u32).to_le_bytes(), 4));
            let places = guest.buffer(&within(3, bytemuck::cast_slice(&positions), 4));
            // As many as two dispatches take.
            let sizes = [1, 2, 5, 64];
            let arrays: Vec<_> = sizes
                .iter()
                .map(|&size| {
                    let source: Vec<u32> =
                        random(size as u64).take(elements * size).map(|word| word as u32).collect();
                    let from = guest.buffer(&within(size, bytemuck::cast_slice(&source), 4));
                    let to = guest.buffer(&within(7, &vec![AROUND; 4 * n * size], 4));
                    (size, source, from, to)
                })
                .collect();
            let gathers: Vec<_> = arrays
                .iter()
                .map(|(size, _, from, to)| Gather {
                    source: part(from, *size, elements * size, 4),
                    target: part(to, 7, n * size, 4),
                    element_bytes: 4 * *size as u32,
                })
                .collect();
            let told = match told {
                Told::Host => Count::Host(n as u32),
                Told::Device(_) => Count::Buffer { buffer: &number, offset: 36 },
            };
            let mut encoder = guest.encoder();
            sorter.record_gather(&mut encoder, part(&places, 3, n, 4), &gathers, told).unwrap();
            guest.submit(encoder);
            for (size, source, _, to) in &arrays {
                let mut expected = vec![u32::from_le_bytes([AROUND; 4]); n * size];
                for (to, &from) in expected.chunks_mut(*size).zip(&positions[..count]) {
                    if (from as usize) < elements {
                        to.copy_from_slice(&source[from as usize * size..][..*size]);
                    }
                }
                let expected = within(7, bytemuck::cast_slice(&expected), 4);
                assert!(guest.read(to)[..expected.len()] == expected, "{n} of {size} words");
            }
        }
    }
}

/// The specifications of which keys are made unique and merged.
fn kinds() -> [Asked; 6] {
    let of = |element, descending| Asked { payload: Payload::U32, descending, ..Asked::of(element) };
    [
        of(ElementType::U32, false),
        of(ElementType::F64, true),
        of(ElementType::U8, true),
        Asked { is_bf16: true, ..of(ElementType::F16, false) },
        Asked { bits: 4..20, payload: Payload::None, ..of(ElementType::I32, false) },
        Asked { bits: 30..41, ..of(ElementType::U64, false) },
    ]
}

/// So many elements in order, some of them alike.
fn in_order(asked: &Asked, n: usize, seed: u64) -> Vec<u64> {
    let mask = u64::MAX >> (64 - 8 * asked.element.bytes());
    let few = random(seed)
        .take(n)
        .map(|word| (word % (n as u64 / 3 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask);
    let few: Vec<u64> = few.collect();
    asked.positions(&few, n).into_iter().map(|at| few[at as usize]).collect()
}

#[test]
fn keys_are_made_unique() {
    for (guest, name) in [(Guest::advised(), "advised"), (Guest::plain(), "plain")] {
        for (kind, asked) in kinds().into_iter().enumerate() {
            let (sorter, workspace) = sorter_of(&guest, asked.spec());
            let each = asked.element.bytes();
            for (n, told, room) in [
                (0, Told::Host, 4),
                (1, Told::Host, 4),
                (2047, Told::Host, 2047),
                (2048, Told::Device(2000), 2048),
                (2049, Told::Device(0), 9),
                (20_011, Told::Host, 20_011),
                (20_011, Told::Device(u32::MAX), 100),
            ] {
                let elements = in_order(&asked, n, (n + kind) as u64);
                let places = Places { keys: 3, values: 5, count: 1 };
                let slices = Slices::new(&guest, &asked, &elements, told, places);
                let (keys, values) = slices.keys_and_values(&asked, places);
                let has_values = kind % 2 == 0;
                let outputs = [(5, each), (2, 4), (9, 4), (1, 4)]
                    .map(|(before, each)| guest.buffer(&within(before, &vec![AROUND; room * each], each)));
                let unique = Unique {
                    keys: part(&outputs[0], 5, room, each),
                    values: has_values.then(|| part(&outputs[1], 2, room, 4)),
                    counts: (kind != 3).then(|| part(&outputs[2], 9, room, 4)),
                    number: part(&outputs[3], 1, 1, 4),
                };
                let count = slices.count_told(told, places);
                let mut encoder = guest.encoder();
                let recorded =
                    sorter.record_unique(&mut encoder, &workspace, keys, Some(values), count, unique);
                recorded.unwrap();
                guest.submit(encoder);

                let all = if let Told::Device(number) = told { n.min(number as usize) } else { n };
                let is_first = |&i: &usize| i == 0 || asked.key(elements[i]) != asked.key(elements[i - 1]);
                let firsts: Vec<usize> = (0..all).filter(is_first).collect();
                let ends = firsts.iter().skip(1).copied().chain([all]);
                let counts: Vec<u32> =
                    firsts.iter().zip(ends).map(|(first, end)| (end - first) as u32).collect();
                let kept = firsts.len().min(room);
                let untouched = |written: Vec<u8>, each: usize, before: usize| {
                    let rest = vec![AROUND; (room - kept) * each];
                    within(before, &[written, rest].concat(), each)
                };
                let of_words = |words: Vec<u32>| bytemuck::cast_slice(&words).to_vec();
                let keys = bytes_of(asked.element, firsts[..kept].iter().map(|&at| elements[at]));
                let values =
                    firsts[..if has_values { kept } else { 0 }].iter().map(|&at| slices.words[at]).collect();
                let values = of_words(values);
                let what = format!("{name}, {n}: {asked:?}");
                let found = outputs.each_ref().map(|buffer| guest.read(buffer));
                let starts = |found: &[u8], expected: &[u8]| found[..expected.len()] == *expected;
                assert!(starts(&found[0], &untouched(keys, each, 5)), "keys: {what}");
                assert!(starts(&found[1], &within(2, &values, 4)[..8 + values.len()]), "values: {what}");
                if kind != 3 {
                    assert!(
                        starts(&found[2], &untouched(of_words(counts[..kept].to_vec()), 4, 9)),
                        "counts: {what}"
                    );
                }
                assert_eq!(words(&found[3])[1], firsts.len() as u32, "{what}");
                // What is read stays as it is.
                let before = within(places.keys, &bytes_of(asked.element, elements.iter().copied()), each);
                assert!(guest.read(&slices.keys)[..before.len()] == before, "{what}");
            }
        }
    }
}

#[test]
fn sorted_runs_are_merged() {
    for (guest, name) in [(Guest::advised(), "advised"), (Guest::plain(), "plain")] {
        for (kind, asked) in kinds().into_iter().enumerate() {
            let sorter = BufferSorter::new(&guest.device, &guest.queue, asked.spec()).unwrap();
            let each = asked.element.bytes();
            for (a, b, told) in [
                (0, 0, Told::Host),
                (0, 5, Told::Host),
                (1, 0, Told::Host),
                (1, 1, Told::Host),
                (3840, 1, Told::Host),
                (5000, 5001, Told::Device(4000)),
                (20, 9000, Told::Device(0)),
                (12_000, 9, Told::Host),
            ] {
                let places =
                    [Places { keys: 3, values: 1, count: 2 }, Places { keys: 6, values: 9, count: 0 }];
                let elements = [in_order(&asked, a, 4), in_order(&asked, b, 5)];
                // Only of the first the device alone knows the number.
                let tolds = [told, Told::Host];
                let runs = [0, 1].map(|at| Slices::new(&guest, &asked, &elements[at], tolds[at], places[at]));
                let merged = guest.buffer(&within(5, &vec![AROUND; (a + b) * each], each));
                let values = guest.buffer(&within(2, &vec![AROUND; (a + b) * 4], 4));
                let run = |at: usize| {
                    let (keys, values) = runs[at].slices(&asked, places[at]);
                    Run { keys, values, count: runs[at].count_told(tolds[at], places[at]) }
                };
                let mut encoder = guest.encoder();
                let has_values = asked.payload != Payload::None;
                let into = part(&merged, 5, a + b, each);
                let into_values = has_values.then(|| part(&values, 2, a + b, 4));
                sorter.record_merge(&mut encoder, run(0), run(1), into, into_values).unwrap();
                guest.submit(encoder);

                let first = if let Told::Device(number) = told { number as usize } else { a };
                let both = elements[0][..first].iter().zip(&runs[0].words);
                let mut both: Vec<_> = both.chain(elements[1].iter().zip(&runs[1].words)).collect();
                both.sort_by_key(|(element, _)| asked.key(**element));
                let rest = a - first;
                let keys = bytes_of(asked.element, both.iter().map(|(element, _)| **element));
                let keys = within(5, &[keys, vec![AROUND; rest * each]].concat(), each);
                let what = format!("{name}, {kind}, {a} and {b}: {asked:?}");
                assert!(guest.read(&merged)[..keys.len()] == keys, "{what}");
                if has_values {
                    let moved: Vec<u32> = both.iter().map(|(_, word)| **word).collect();
                    let moved = [bytemuck::cast_slice(&moved).to_vec(), vec![AROUND; 4 * rest]].concat();
                    let moved = within(2, &moved, 4);
                    assert!(guest.read(&values)[..moved.len()] == moved, "values: {what}");
                }
            }
        }
    }
}

#[test]
fn wrong_uses_beside_sorts_are_errors() {
    let guest = Guest::advised();
    let spec = Spec::new(ElementType::U32).payload(Payload::U32);
    let (sorter, workspace) = sorter_of(&guest, spec);
    let [a, b, c] = [(); 3].map(|()| guest.buffer(&[0; 512]));
    let said = |result: Result<(), gpusort::Error>| result.unwrap_err().to_string();
    let gather = |positions: &wgpu::Buffer, target: &wgpu::Buffer, element_bytes, count| {
        let array = Gather { source: a.slice(..), target: target.slice(..), element_bytes };
        said(sorter.record_gather(&mut guest.encoder(), positions.slice(..), &[array], Count::Host(count)))
    };
    assert_eq!(gather(&b, &c, 6, 1), "elements of 6 bytes cannot be gathered; use a multiple of 4");
    assert_eq!(gather(&b, &c, 8, 65), "target: 64 elements, but the count is 65");
    assert_eq!(gather(&c, &b, 4, 129), "target: 128 elements, but the count is 129");
    let overlap = "overlap; use slices without common bytes";
    assert_eq!(gather(&b, &a, 4, 9), format!("target and source {overlap}"));
    assert_eq!(gather(&b, &b, 4, 9), format!("target and positions {overlap}"));

    let unique = |keys: &wgpu::Buffer, number: &wgpu::Buffer, values| {
        let values = Some(b.slice(..)).filter(|_| values);
        let unique = Unique { keys: keys.slice(..), values, counts: None, number: number.slice(..) };
        let encoder = &mut guest.encoder();
        said(sorter.record_unique(encoder, &workspace, a.slice(..), None, Count::Host(9), unique))
    };
    assert_eq!(unique(&a, &b, false), format!("unique keys and keys {overlap}"));
    assert_eq!(unique(&b, &b, false), format!("unique keys and number {overlap}"));
    assert_eq!(unique(&b, &c, true), "the Spec has a payload; pass values");

    let run = |keys: &wgpu::Buffer, values: &wgpu::Buffer, count| {
        let first = Run { keys: a.slice(..64), values: Some(b.slice(..64)), count: Count::Host(count) };
        let second = Run { keys: a.slice(64..128), values: Some(b.slice(64..128)), count: Count::Host(16) };
        let values = Some(values.slice(..100));
        said(sorter.record_merge(&mut guest.encoder(), first, second, keys.slice(256..), values))
    };
    assert_eq!(run(&c, &b, 16), "values: 25 elements, but the count is 32");
    assert_eq!(run(&c, &b, 17), "first keys: 16 elements, but the count is 17");
    assert_eq!(run(&a, &b, 5), format!("values and first values {overlap}"));
}
