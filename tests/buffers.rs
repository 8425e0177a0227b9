//! `gpusort::buffers`, as a program that has its own device, its own buffers and its own encoder
//! uses it.

mod beside;
mod hostile;
mod narrow;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use gpusort::buffers::{BufferSorter, Count, MOST, Misuse, Payload, Segments, Spec, Workspace};
use gpusort::{Algorithm, ElementType, ErrorKind, Gpu, Method, PlanError, Sorter, Variant};
use gpusort_planner::key::{KeyMap, KeyWords, Word};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::device;
use crate::inputs::{self, random};
use crate::support::tier;

/// A device that belongs to this test.
struct Guest {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

const STORAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Guest {
    /// As the library advises.
    fn advised() -> Self {
        let adapter = device::adapter();
        Self::with(
            BufferSorter::required_features(&adapter),
            BufferSorter::required_limits(&adapter, 1 << 22),
        )
    }

    /// With no features at all, and the limits that every device has.
    fn plain() -> Self {
        Self::with(wgpu::Features::empty(), wgpu::Limits::default())
    }

    /// With some of what the library advises: others have to do without immediates, or without
    /// subgroups.
    fn with_some(features: wgpu::Features) -> Self {
        let adapter = device::adapter();
        let limits = BufferSorter::required_limits(&adapter, 1 << 22);
        let immediates = features.contains(wgpu::Features::IMMEDIATES);
        let max_immediate_size = if immediates { limits.max_immediate_size } else { 0 };
        Self::with(
            BufferSorter::required_features(&adapter) & features,
            wgpu::Limits { max_immediate_size, ..limits },
        )
    }

    fn with(required_features: wgpu::Features, required_limits: wgpu::Limits) -> Self {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("guest"),
            required_features,
            required_limits,
            memory_hints: gpusort::buffers::MEMORY_HINTS,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(device::adapter().request_device(&descriptor)).unwrap();
        Self { device, queue }
    }

    fn buffer(&self, bytes: &[u8]) -> wgpu::Buffer {
        let size = bytes.len().next_multiple_of(4).max(4) as u64;
        let descriptor =
            wgpu::BufferDescriptor { label: None, size, usage: STORAGE, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        let padding = vec![AROUND; bytes.len().next_multiple_of(4) - bytes.len()];
        self.queue.write_buffer(&buffer, 0, &[bytes, &padding].concat());
        buffer
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    fn submit(&self, encoder: wgpu::CommandEncoder) {
        self.queue.submit([encoder.finish()]);
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: buffer.size(), usage, mapped_at_creation: false };
        let here = self.device.create_buffer(&descriptor);
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &here, 0, buffer.size());
        self.submit(encoder);
        here.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let bytes = here.slice(..).get_mapped_range().unwrap().to_vec();
        here.unmap();
        bytes
    }
}

/// What is sorted, and how.
#[derive(Clone, Debug)]
struct Asked {
    element: ElementType,
    /// Whether it is the upper half of an f32.
    is_bf16: bool,
    descending: bool,
    bits: Range<u32>,
    payload: Payload,
}

impl Asked {
    fn of(element: ElementType) -> Self {
        let bits = 0..8 * element.bytes() as u32;
        Self { element, is_bf16: false, descending: false, bits, payload: Payload::None }
    }

    fn spec(&self) -> Spec {
        let spec = if self.is_bf16 { Spec::bf16() } else { Spec::new(self.element) };
        let spec = spec.payload(self.payload).descending(self.descending);
        if self.bits == (0..8 * self.element.bytes() as u32) {
            spec
        } else {
            spec.key_bits(self.bits.clone())
        }
    }

    /// What elements are compared by.
    fn key(&self, bits: u64) -> u64 {
        let element = if self.is_bf16 { ElementType::F32 } else { self.element };
        let map = KeyMap { descending: self.descending, ..KeyMap::ascending(element) };
        let bits = if self.is_bf16 { bits << 16 } else { bits };
        let key = match self.element.key_words() {
            // Whole, since the lower half tells zeros apart.
            _ if self.is_bf16 => return (bits as u32).key(u32::map(map)).into(),
            KeyWords::One => (bits as u32).key(u32::map(map)).into(),
            KeyWords::Two => bits.key(u64::map(map)),
        };
        key >> self.bits.start & (u64::MAX >> (64 - self.bits.len()))
    }

    /// Positions of the first `count` elements in order.
    fn positions(&self, elements: &[u64], count: usize) -> Vec<u32> {
        let keys: Vec<u64> = elements[..count].iter().map(|&element| self.key(element)).collect();
        let mut positions: Vec<u32> = (0..count as u32).collect();
        positions.sort_by_key(|&at| keys[at as usize]);
        positions
    }
}

/// How many there are, and where the device learns it.
#[derive(Clone, Copy, Debug)]
enum Told {
    Host,
    Device(u32),
}

/// Elements in slices that begin at these places, in elements, with others around them.
#[derive(Clone, Copy, Debug)]
struct Places {
    keys: usize,
    values: usize,
    count: usize,
}

const NOWHERE: Places = Places { keys: 0, values: 0, count: 0 };

/// What is around slices.
const AROUND: u8 = 0xA5;

/// Elements after a slice.
const AFTER: usize = 5;

struct Slices {
    keys: wgpu::Buffer,
    values: wgpu::Buffer,
    count: wgpu::Buffer,
    elements: Vec<u64>,
    words: Vec<u32>,
}

fn within(before: usize, bytes: &[u8], each: usize) -> Vec<u8> {
    [&vec![AROUND; before * each], bytes, &vec![AROUND; AFTER * each]].concat()
}

fn bytes_of(element: ElementType, elements: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    elements.into_iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()[..element.bytes()]));
    bytes
}

impl Slices {
    fn new(guest: &Guest, asked: &Asked, elements: &[u64], told: Told, places: Places) -> Self {
        let each = asked.element.bytes();
        let words: Vec<u32> = random(99).take(elements.len()).map(|word| word as u32).collect();
        let keys = within(places.keys, &bytes_of(asked.element, elements.iter().copied()), each);
        let values = within(places.values, bytemuck::cast_slice(&words), 4);
        let number = if let Told::Device(number) = told { number } else { 7 };
        let count = within(places.count, &number.to_le_bytes(), 4);
        let [keys, values, count] = [keys, values, count].map(|bytes| guest.buffer(&bytes));
        Self { keys, values, count, elements: elements.to_vec(), words }
    }

    fn keys_and_values(
        &self,
        asked: &Asked,
        places: Places,
    ) -> (wgpu::BufferSlice<'_>, wgpu::BufferSlice<'_>) {
        let (each, n) = (asked.element.bytes() as u64, self.elements.len() as u64);
        let begin = places.keys as u64 * each;
        let keys = self.keys.slice(begin..begin + n * each);
        let begin = places.values as u64 * 4;
        (keys, self.values.slice(begin..begin + n * 4))
    }

    /// The slices, with values where there is a payload.
    fn slices(
        &self,
        asked: &Asked,
        places: Places,
    ) -> (wgpu::BufferSlice<'_>, Option<wgpu::BufferSlice<'_>>) {
        let (keys, values) = self.keys_and_values(asked, places);
        (keys, (asked.payload != Payload::None).then_some(values))
    }

    fn count_told(&self, told: Told, places: Places) -> Count<'_> {
        match told {
            Told::Host => Count::Host(self.elements.len() as u32),
            Told::Device(_) => Count::Buffer { buffer: &self.count, offset: places.count as u64 * 4 },
        }
    }

    /// Whether the first `k` are there, and what is around the slices is as it was.
    fn check_first(
        &self,
        guest: &Guest,
        asked: &Asked,
        told: Told,
        places: Places,
        k: u32,
    ) -> Result<(), String> {
        let all = self.elements.len();
        let count = if let Told::Device(number) = told { all.min(number as usize) } else { all };
        let first = asked.positions(&self.elements, count);
        let first = &first[..count.min(k as usize)];
        let keys = bytes_of(asked.element, first.iter().map(|&at| self.elements[at as usize]));
        let words = first.iter().map(|&at| match asked.payload {
            Payload::Positions => at,
            _ => self.words[at as usize],
        });
        let words: Vec<u32> = words.take(if asked.payload == Payload::None { 0 } else { all }).collect();
        for (name, buffer, expected, before, each) in [
            ("keys", &self.keys, keys.as_slice(), places.keys, asked.element.bytes()),
            ("values", &self.values, bytemuck::cast_slice(&words), places.values, 4),
        ] {
            let found = guest.read(buffer);
            let (begin, end) = (before * each, (before + all) * each);
            let is_around = |bytes: &[u8]| bytes.iter().all(|&byte| byte == AROUND);
            if !is_around(&found[..begin]) || !is_around(&found[end..][..AFTER * each]) {
                return Err(format!("around {name} something was written: {asked:?}"));
            }
            // What the device is not told of stays.
            if count == 0
                && name == "keys"
                && found[begin..end] != bytes_of(asked.element, self.elements.iter().copied())
            {
                return Err(format!("{name} are others, though there are none: {asked:?}"));
            }
            if found[begin..][..expected.len()] != *expected {
                let same = found[begin..].iter().zip(expected).take_while(|(a, b)| a == b).count();
                return Err(format!("{name} differ at byte {same} of {}: {asked:?}", expected.len()));
            }
        }
        Ok(())
    }

    /// Whether between each of these and the next elements are sorted as if they were all, and
    /// others are as they were.
    fn check_segments(
        &self,
        guest: &Guest,
        asked: &Asked,
        ends: &[u32],
        places: Places,
    ) -> Result<(), String> {
        let (mut elements, mut words) = (self.elements.clone(), self.words.clone());
        for ends in ends.windows(2) {
            let range = ends[0] as usize..ends[1] as usize;
            let positions = asked.positions(&self.elements[range.clone()], range.len());
            for (to, &at) in range.clone().zip(&positions) {
                elements[to] = self.elements[range.start + at as usize];
                match asked.payload {
                    Payload::Positions => words[to] = at,
                    Payload::U32 => words[to] = self.words[range.start + at as usize],
                    _ => {}
                }
            }
        }
        let each = asked.element.bytes();
        let keys = within(places.keys, &bytes_of(asked.element, elements), each);
        let values = within(places.values, bytemuck::cast_slice(&words), 4);
        for (name, buffer, expected) in [("keys", &self.keys, keys), ("values", &self.values, values)] {
            let found = guest.read(buffer);
            let same = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
            if same < expected.len() {
                return Err(format!("{name} differ at byte {same} of {}: {asked:?}", expected.len()));
            }
        }
        Ok(())
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        (sorter, workspace): (&BufferSorter, &Workspace),
        asked: &Asked,
        told: Told,
        places: Places,
        argsort: bool,
    ) {
        let (keys, values) = self.keys_and_values(asked, places);
        let count = self.count_told(told, places);
        if argsort {
            sorter.record_argsort(encoder, workspace, keys, values, count).unwrap();
        } else {
            let (keys, values) = self.slices(asked, places);
            sorter.record(encoder, workspace, keys, values, count).unwrap();
        }
    }

    /// What the whole buffers must hold afterwards, where so many elements are sorted.
    fn expected(&self, asked: &Asked, count: usize, places: Places, argsort: bool) -> [Vec<u8>; 2] {
        let positions = asked.positions(&self.elements, count);
        let in_order = positions.iter().map(|&at| self.elements[at as usize]);
        let rest = self.elements[count..].iter().copied();
        let keys = if argsort {
            bytes_of(asked.element, self.elements.iter().copied())
        } else {
            bytes_of(asked.element, in_order.chain(rest))
        };
        let values: Vec<u32> = match asked.payload {
            _ if argsort => positions,
            Payload::Positions => positions,
            Payload::U32 => positions.iter().map(|&at| self.words[at as usize]).collect(),
            _ => self.words[..count].to_vec(),
        };
        let values = [&values, &self.words[count..]].concat();
        let each = asked.element.bytes();
        [within(places.keys, &keys, each), within(places.values, bytemuck::cast_slice(&values), 4)]
    }

    fn check(
        &self,
        guest: &Guest,
        asked: &Asked,
        count: usize,
        places: Places,
        argsort: bool,
    ) -> Result<(), String> {
        let expected = self.expected(asked, count, places, argsort);
        for (name, buffer, expected) in
            [("keys", &self.keys, &expected[0]), ("values", &self.values, &expected[1])]
        {
            let found = guest.read(buffer);
            let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
            if same < expected.len() {
                return Err(format!(
                    "{name} differ at byte {same} of {}: {asked:?}, {count}",
                    expected.len()
                ));
            }
        }
        Ok(())
    }
}

/// Sorts these elements, and says what is wrong.
fn sort(
    guest: &Guest,
    sorter: &BufferSorter,
    workspace: &Workspace,
    asked: &Asked,
    (elements, told, places): (&[u64], Told, Places),
    argsort: bool,
) -> Result<(), String> {
    let slices = Slices::new(guest, asked, elements, told, places);
    let mut encoder = guest.encoder();
    slices.record(&mut encoder, (sorter, workspace), asked, told, places, argsort);
    guest.submit(encoder);
    let count = if let Told::Device(number) = told { number as usize } else { usize::MAX };
    slices.check(guest, asked, count.min(elements.len()), places, argsort)
}

/// Numbers of elements around those of a tile, for all tiles that there are here.
const SIZES: [usize; 14] = [0, 1, 2, 3, 255, 256, 257, 735, 737, 2943, 2945, 5887, 5889, 20_011];

fn sorter_of(guest: &Guest, spec: Spec) -> (BufferSorter, Workspace) {
    let sorter = BufferSorter::new(&guest.device, &guest.queue, spec).unwrap();
    let workspace = sorter.workspace(20_011).unwrap();
    (sorter, workspace)
}

/// With room for as many as a device selects from.
fn sorter_of_the_first(guest: &Guest, asked: &Asked) -> (BufferSorter, Workspace) {
    let (sorter, _) = sorter_of(guest, asked.spec().segments(false));
    let workspace = sorter.workspace(enough_to_select(asked.element) as u32).unwrap();
    (sorter, workspace)
}

/// With room for segments of more elements.
fn sorter_of_segments(guest: &Guest, spec: Spec) -> (BufferSorter, Workspace) {
    let (sorter, _) = sorter_of(guest, spec);
    let workspace = sorter.workspace(100_000).unwrap();
    (sorter, workspace)
}

fn every_type_and_payload(guest: &Guest, variant: Option<Variant>) {
    let mut seed = tier::seed();
    for (number, element) in ElementType::WIDE.into_iter().enumerate() {
        for descending in [false, true] {
            // Each type has each payload, in one of the directions at least.
            let payloads = [Payload::None, Payload::U32, Payload::Positions];
            let skipped = (number + usize::from(descending)) % 3;
            for payload in payloads.into_iter().enumerate().filter(|(at, _)| *at != skipped).map(|(_, it)| it)
            {
                let asked = Asked { descending, payload, ..Asked::of(element) };
                let method = Method { algorithm: None, variant };
                let (sorter, workspace) = sorter_of(guest, asked.spec().method(method));
                for n in SIZES.into_iter().filter(|n| n % 2 == 1 || !tier::is_quick()) {
                    seed += 1;
                    let elements = inputs::elements(element, n, seed);
                    let given = (&elements[..], Told::Host, NOWHERE);
                    sort(guest, &sorter, &workspace, &asked, given, false).unwrap();
                    if seed.is_multiple_of(5) {
                        sort(guest, &sorter, &workspace, &asked, given, true).unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn every_type_and_payload_on_a_device_as_advised() {
    every_type_and_payload(&Guest::advised(), None);
}

#[test]
fn every_type_and_payload_on_a_device_without_any_feature() {
    every_type_and_payload(&Guest::plain(), None);
}

#[test]
fn every_type_and_payload_on_a_device_with_subgroups_alone() {
    every_type_and_payload(
        &Guest::with_some(wgpu::Features::SUBGROUP | wgpu::Features::SUBGROUP_BARRIER),
        None,
    );
}

#[test]
fn every_type_and_payload_on_a_device_with_immediates_alone() {
    every_type_and_payload(&Guest::with_some(wgpu::Features::IMMEDIATES), None);
}

#[test]
fn every_variant_sorts() {
    let guest = Guest::advised();
    for &variant in Algorithm::Radix.variants() {
        for element in [ElementType::F32, ElementType::I64] {
            // Not for these, and its kernels take long to compile.
            if variant == Variant::Leading && element == ElementType::F32 {
                continue;
            }
            let asked = Asked { payload: Payload::U32, ..Asked::of(element) };
            let method = Method { algorithm: Some(Algorithm::Radix), variant: Some(variant) };
            let (sorter, workspace) = sorter_of(&guest, asked.spec().method(method));
            for n in SIZES {
                let elements = inputs::elements(element, n, 4 + n as u64);
                for told in [Told::Host, Told::Device(n as u32 / 3 + 1)] {
                    sort(&guest, &sorter, &workspace, &asked, (&elements, told, NOWHERE), false).unwrap();
                }
            }
        }
    }
}

#[test]
fn whichever_passes_run() {
    // Digits that vary, as bits of a number: none, one, neighbours, those apart.
    let guest = Guest::advised();
    for (element, digits) in [(ElementType::F32, 4), (ElementType::U64, 8), (ElementType::F64, 8)] {
        let kinds = [(Payload::None, Variant::Onesweep), (Payload::Positions, Variant::ReduceScan)];
        for (payload, variant) in kinds {
            let asked = Asked { payload, descending: true, ..Asked::of(element) };
            // So few are sorted by themselves otherwise.
            let method = Method { algorithm: Some(Algorithm::Radix), variant: Some(variant) };
            let (sorter, workspace) = sorter_of(&guest, asked.spec().method(method));
            for vary in (0..1_u32 << digits).step_by(if digits > 4 && tier::is_quick() { 23 } else { 5 }) {
                let mask = (0..digits)
                    .filter(|digit| vary >> digit & 1 == 1)
                    .fold(0, |mask, digit| mask | 0xFF_u64 << (8 * digit));
                let fixed = 0x40A3_81C5_3FF0_1234_u64 & !mask;
                // Elements that differ in these bytes are mostly numbers of one sign, whose keys
                // differ in the same bytes.
                let elements: Vec<u64> =
                    random(vary.into()).take(3000).map(|word| word & mask | fixed).collect();
                let elements: Vec<u64> =
                    elements.iter().map(|word| word & (u64::MAX >> (64 - 8 * element.bytes()))).collect();
                let given = (&elements[..], Told::Host, NOWHERE);
                sort(&guest, &sorter, &workspace, &asked, given, false).unwrap();
                if vary % 4 == 1 {
                    sort(&guest, &sorter, &workspace, &asked, given, true).unwrap();
                }
            }
        }
    }
}

#[test]
fn counts_on_the_device() {
    for guest in [Guest::advised(), Guest::plain()] {
        let asked = Asked { payload: Payload::U32, ..Asked::of(ElementType::I32) };
        let (sorter, workspace) = sorter_of(&guest, asked.spec());
        let elements = inputs::elements(asked.element, 9001, 3);
        // Of none, one, all, more than there are; the last of them more than any sort has.
        for count in [0, 1, 2, 736, 5000, 9000, 9001, 9002, 20_011, 1 << 30, u32::MAX] {
            for argsort in [false, true] {
                sort(&guest, &sorter, &workspace, &asked, (&elements, Told::Device(count), NOWHERE), argsort)
                    .unwrap();
            }
        }
        // Slices larger than the workspace: its capacity is the most.
        let small = sorter.workspace(700).unwrap();
        let slices = Slices::new(&guest, &asked, &elements, Told::Device(800), NOWHERE);
        let mut encoder = guest.encoder();
        slices.record(&mut encoder, (&sorter, &small), &asked, Told::Device(800), NOWHERE, false);
        guest.submit(encoder);
        slices.check(&guest, &asked, 700, NOWHERE, false).unwrap();
    }
}

#[test]
fn slices_begin_anywhere_and_nothing_around_them_changes() {
    let guest = Guest::advised();
    for element in [ElementType::F32, ElementType::F64] {
        let asked = Asked { payload: Payload::U32, ..Asked::of(element) };
        let (sorter, workspace) = sorter_of(&guest, asked.spec());
        let places = (0..200_usize, 0..200_usize, 0..200_usize);
        let cases = (places, 0..6000_usize, any::<bool>(), any::<bool>());
        TestRunner::new(ProptestConfig::with_cases(tier::count(60, 12) as u32))
            .run(&cases, |((keys, values, count), n, on_device, argsort)| {
                let places = Places { keys, values, count };
                let elements = inputs::elements(element, n.max(1), (keys + n) as u64);
                let told = if on_device { Told::Device(n as u32 / 2) } else { Told::Host };
                sort(&guest, &sorter, &workspace, &asked, (&elements, told, places), argsort)
                    .map_err(TestCaseError::fail)
            })
            .unwrap();
    }
}

#[test]
fn some_bits_of_keys() {
    let guest = Guest::advised();
    for (element, bits) in [
        (ElementType::U32, 0..1),
        (ElementType::U32, 5..24),
        (ElementType::I32, 16..32),
        (ElementType::F32, 31..32),
        (ElementType::F32, 9..32),
        (ElementType::U64, 0..40),
        (ElementType::U64, 28..37),
        (ElementType::I64, 33..64),
        (ElementType::F64, 1..64),
    ] {
        for payload in [Payload::None, Payload::U32] {
            let asked =
                Asked { payload, bits: bits.clone(), descending: bits.start == 9, ..Asked::of(element) };
            let (sorter, workspace) = sorter_of(&guest, asked.spec());
            for n in [1, 300, 6001] {
                let elements = inputs::elements(element, n, 10 + n as u64);
                sort(&guest, &sorter, &workspace, &asked, (&elements, Told::Host, NOWHERE), false).unwrap();
            }
        }
    }
}

#[test]
fn sorts_in_one_encoder_with_one_workspace() {
    let guest = Guest::advised();
    let asked = Asked { payload: Payload::Positions, ..Asked::of(ElementType::F32) };
    let (sorter, workspace) = sorter_of(&guest, asked.spec());
    let mut encoder = guest.encoder();
    let mut all = Vec::new();
    for (number, n) in [5000_usize, 17, 20_011, 1, 6000].into_iter().enumerate() {
        let elements = inputs::elements(asked.element, n, number as u64);
        let told = if number % 2 == 1 { Told::Device(n as u32 / 2) } else { Told::Host };
        let places = Places { keys: number, values: 2 * number, count: 3 };
        let slices = Slices::new(&guest, &asked, &elements, told, places);
        slices.record(&mut encoder, (&sorter, &workspace), &asked, told, places, number == 2);
        let count = if number % 2 == 1 { n / 2 } else { n };
        all.push((slices, count, places, number == 2));
    }
    guest.submit(encoder);
    for (slices, count, places, argsort) in &all {
        slices.check(&guest, &asked, *count, *places, *argsort).unwrap();
    }
}

/// Rows of these lengths and numbers: around powers of two, one for each way to hold rows in
/// registers, and longer than any tile.
#[test]
fn rows_of_every_length() {
    let lengths = [1, 2, 3, 15, 16, 17, 100, 127, 128, 129, 1000, 1024, 2049, 4096, 5000, 8192, 9001];
    for guest in [Guest::advised(), Guest::plain()] {
        for (element, payload) in [
            (ElementType::F32, Payload::None),
            (ElementType::I32, Payload::U32),
            (ElementType::U32, Payload::Positions),
            (ElementType::F64, Payload::None),
            (ElementType::U64, Payload::U32),
            (ElementType::F64, Payload::Positions),
        ] {
            let asked = Asked { payload, descending: element == ElementType::I32, ..Asked::of(element) };
            let (sorter, workspace) = sorter_of_segments(&guest, asked.spec());
            for (number, length) in lengths.into_iter().enumerate() {
                if tier::is_quick() && number % 3 > 0 {
                    continue;
                }
                let rows = (10_000 / length).clamp(2, 700) + number % 2;
                let elements = inputs::elements(element, rows * length, number as u64);
                let places = Places { keys: number, values: 3 * number, count: 0 };
                let slices = Slices::new(&guest, &asked, &elements, Told::Host, places);
                let (keys, values) = slices.slices(&asked, places);
                let mut encoder = guest.encoder();
                let segments = Segments::Rows(length as u32);
                sorter.record_segments(&mut encoder, &workspace, keys, values, segments).unwrap();
                guest.submit(encoder);
                let ends: Vec<u32> = (0..=rows).map(|row| (row * length) as u32).collect();
                let sorted = slices.check_segments(&guest, &asked, &ends, places);
                assert!(sorted.is_ok(), "{sorted:?}: rows of {length}");
            }
        }
    }
}

/// Offsets of segments: of every class of lengths, around its ends; some empty, some of one
/// element, some longer than any tile. Before them there are elements of none, and after them as
/// well.
fn ends(lengths: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut end = 7;
    let ends = lengths.into_iter().map(|length| {
        end += length;
        end
    });
    std::iter::once(7).chain(ends).collect()
}

fn lengths(number: u64) -> Vec<u32> {
    let short = random(number).take(400).map(|word| word as u32 % 40);
    let around = [4, 16, 64, 256, 1024, 2048, 4096].into_iter().flat_map(|end| [end - 1, end, end + 1, 0]);
    let long = [8191, 8192, 8193, 20_000, 1, 0, 0, 13_000];
    let mut lengths: Vec<u32> = short.chain(around).chain(long).collect();
    // In any order.
    let mut random = random(number + 1);
    for at in (1..lengths.len()).rev() {
        lengths.swap(at, (random.next().unwrap() % (at as u64 + 1)) as usize);
    }
    lengths
}

#[test]
fn segments_of_every_length() {
    let features = wgpu::Features::SUBGROUP | wgpu::Features::SUBGROUP_BARRIER;
    for (guest, name) in [
        (Guest::advised(), "advised"),
        (Guest::plain(), "plain"),
        (Guest::with_some(features), "without immediates"),
    ] {
        for (number, (element, payload)) in [
            (ElementType::F32, Payload::U32),
            (ElementType::U32, Payload::None),
            (ElementType::I32, Payload::Positions),
            (ElementType::F64, Payload::U32),
            (ElementType::I64, Payload::None),
            (ElementType::U64, Payload::Positions),
        ]
        .into_iter()
        .enumerate()
        {
            // Where all types are tried, arguments lie in a buffer as well.
            if number % 3 > 0 && (tier::is_quick() || name != "plain") {
                continue;
            }
            let asked = Asked { payload, descending: number % 2 > 0, ..Asked::of(element) };
            let (sorter, workspace) = sorter_of_segments(&guest, asked.spec());
            for (which, ends) in [
                ends(lengths(number as u64)),
                ends([30_000]),
                ends([8192, 8193]),
                ends(vec![1; 5000]),
                ends(vec![2; 5000]),
                ends([0; 600]),
                ends([]),
            ]
            .into_iter()
            .enumerate()
            {
                let n = *ends.last().unwrap() as usize + 11;
                let elements = inputs::elements(element, n, number as u64);
                let places = Places { keys: which, values: 3 * which, count: 0 };
                let slices = Slices::new(&guest, &asked, &elements, Told::Host, places);
                // Also where offsets begin within a buffer.
                let offsets = guest.buffer(&within(which, bytemuck::cast_slice(&ends), 4));
                let begin = 4 * which as u64;
                let segments = if which % 2 == 0 {
                    Segments::Offsets(offsets.slice(begin..begin + 4 * ends.len() as u64))
                } else {
                    Segments::HostOffsets(&ends)
                };
                let (keys, values) = slices.slices(&asked, places);
                let mut encoder = guest.encoder();
                sorter.record_segments(&mut encoder, &workspace, keys, values, segments).unwrap();
                guest.submit(encoder);
                let sorted = slices.check_segments(&guest, &asked, &ends, places);
                assert!(sorted.is_ok(), "{sorted:?}: {name}, {which}");
                // The comparison must be able to fail.
                let others: Vec<u32> = ends.iter().map(|&end| end / 2).collect();
                assert!(
                    number + which > 0 || slices.check_segments(&guest, &asked, &others, places).is_err()
                );
            }
        }
    }
}

/// Those that are sorted in the order of their offsets, told by either.
#[test]
fn segments_whose_longest_is_known() {
    let features = wgpu::Features::SUBGROUP | wgpu::Features::SUBGROUP_BARRIER;
    let guests = [Guest::advised(), Guest::plain(), Guest::with_some(features)];
    let kinds = [
        (ElementType::F32, Payload::U32),
        (ElementType::U64, Payload::Positions),
        (ElementType::I16, Payload::None),
        (ElementType::U32, Payload::Positions),
    ];
    for (which, (guest, (element, payload))) in
        guests.iter().flat_map(|guest| kinds.map(|kind| (guest, kind))).enumerate()
    {
        if tier::is_quick() && which % 3 > 0 {
            continue;
        }
        let asked = Asked { payload, descending: which % 2 > 0, ..Asked::of(element) };
        for longest in [1, 8, 9, 100, 1024, 4096, 8192_u32] {
            let (sorter, workspace) = sorter_of_segments(guest, asked.spec().longest_segment(longest));
            let segments = (20_000 / longest).clamp(3, 2000) as usize;
            // From half as long on, and some empty ones, at the end as well.
            let lengths = random(u64::from(longest)).take(segments).enumerate().map(|(number, word)| {
                let is_empty = number % 7 == 0 || number + 1 == segments;
                if is_empty { 0 } else { longest - word as u32 % longest.div_ceil(2) }
            });
            let ends = ends(lengths);
            let elements = inputs::elements(element, *ends.last().unwrap() as usize + which % 2, 5);
            let places = Places { keys: which, values: 2 * which, count: 0 };
            let offsets = guest.buffer(&within(which, bytemuck::cast_slice(&ends), 4));
            let begin = 4 * which as u64;
            let by_device = Segments::Offsets(offsets.slice(begin..begin + 4 * ends.len() as u64));
            for segments in [by_device, Segments::HostOffsets(&ends)] {
                let slices = Slices::new(guest, &asked, &elements, Told::Host, places);
                let (keys, values) = slices.slices(&asked, places);
                let mut encoder = guest.encoder();
                sorter.record_segments(&mut encoder, &workspace, keys, values, segments).unwrap();
                guest.submit(encoder);
                let sorted = slices.check_segments(guest, &asked, &ends, places);
                assert!(sorted.is_ok(), "{sorted:?}: {which}, up to {longest}");
            }
        }
    }
}

/// Two sorts of segments with one workspace in one encoder, and a whole sort after them.
#[test]
fn segments_and_all_in_one_encoder() {
    let guest = Guest::advised();
    let asked = Asked { payload: Payload::U32, ..Asked::of(ElementType::F32) };
    let (sorter, workspace) = sorter_of_segments(&guest, asked.spec());
    let all = [lengths(5), vec![9000, 9000, 20_000], vec![100; 300]].map(ends);
    let slices = all.each_ref().map(|ends| {
        let elements = inputs::elements(asked.element, *ends.last().unwrap() as usize, 8);
        Slices::new(&guest, &asked, &elements, Told::Host, NOWHERE)
    });
    let whole = Slices::new(&guest, &asked, &inputs::elements(asked.element, 30_000, 9), Told::Host, NOWHERE);
    let mut encoder = guest.encoder();
    for (slices, ends) in slices.iter().zip(&all) {
        let (keys, values) = slices.slices(&asked, NOWHERE);
        let segments = Segments::HostOffsets(ends);
        sorter.record_segments(&mut encoder, &workspace, keys, values, segments).unwrap();
    }
    whole.record(&mut encoder, (&sorter, &workspace), &asked, Told::Host, NOWHERE, false);
    guest.submit(encoder);
    for (slices, ends) in slices.iter().zip(&all) {
        slices.check_segments(&guest, &asked, ends, NOWHERE).unwrap();
    }
    whole.check(&guest, &asked, 30_000, NOWHERE, false).unwrap();
}

/// In workspaces for so few elements that none of their segments are long, and in larger ones.
#[test]
fn segments_in_workspaces_of_every_size() {
    let guest = Guest::advised();
    for (element, payload) in [(ElementType::U32, Payload::Positions), (ElementType::F64, Payload::None)] {
        let asked = Asked { payload, ..Asked::of(element) };
        let sorter = BufferSorter::new(&guest.device, &guest.queue, asked.spec()).unwrap();
        for capacity in [1, 2, 3, 8, 9, 1000, 2048, 2049, 4096, 4097, 8192, 8193, 9001] {
            let workspace = sorter.workspace(capacity).unwrap();
            assert_eq!(workspace.bytes(), sorter.workspace_bytes(capacity).unwrap());
            let elements = inputs::elements(element, capacity as usize, 0);
            let half = capacity / 2;
            for ends in [vec![0, capacity], vec![0, half, half, capacity], vec![half; 3]] {
                let slices = Slices::new(&guest, &asked, &elements, Told::Host, NOWHERE);
                let (keys, values) = slices.slices(&asked, NOWHERE);
                let mut encoder = guest.encoder();
                let segments = Segments::HostOffsets(&ends);
                sorter.record_segments(&mut encoder, &workspace, keys, values, segments).unwrap();
                guest.submit(encoder);
                slices.check_segments(&guest, &asked, &ends, NOWHERE).unwrap();
            }
        }
    }
}

/// Offsets of segments of 30,000 elements: any words, rising ones, and rising ones but for a few.
/// `GPUSORT_TEST_SORTS` says how many lists.
fn hostile_offsets() -> Vec<Vec<u32>> {
    let lists = std::env::var("GPUSORT_TEST_SORTS").map_or(24, |sorts| sorts.parse().expect("a number"));
    let mut words = random(tier::seed());
    let mut below = |most: u32| (words.next().unwrap() % u64::from(most)) as u32;
    let list = |number: u32| {
        let mut offsets: Vec<u32> = (0..2 + below(1 << (number % 14))).map(|_| below(30_001)).collect();
        if !number.is_multiple_of(4) {
            offsets.sort_unstable();
        }
        for _ in 0..number % 3 {
            let at = below(offsets.len() as u32) as usize;
            offsets[at] = [below(u32::MAX), below(40_000), u32::MAX - below(9)][number as usize / 3 % 3];
        }
        offsets
    };
    (0..lists).map(list).collect()
}

/// Nothing is sorted by offsets that the device finds to be wrong, and nothing else is touched.
#[test]
fn wrong_offsets_sort_nothing() {
    let guest = Guest::advised();
    let asked = Asked { payload: Payload::U32, ..Asked::of(ElementType::F32) };
    let elements = inputs::elements(asked.element, 30_000, 4);
    let overlapping: Vec<u32> = (0..20_000).map(|at| if at % 2 == 0 { 0 } else { 30_000 }).collect();
    let mut all = vec![
        vec![0, 10, 30_001],
        vec![0, 100, 50, 30_000],
        vec![0, u32::MAX],
        vec![u32::MAX, 0, 20_000],
        vec![0, 29_000, 1, 30_000],
        overlapping,
    ];
    all.extend(hostile_offsets());
    // Also where segments are sorted in their order.
    let specs = [(asked.spec(), 30_000), (asked.spec().longest_segment(8192), 8192)];
    let sorters = specs.map(|(spec, most)| (sorter_of_segments(&guest, spec), most));
    for (offsets, ((sorter, workspace), most)) in
        all.iter().flat_map(|offsets| sorters.iter().map(move |sorter| (offsets, sorter)))
    {
        let slices = Slices::new(&guest, &asked, &elements, Told::Host, NOWHERE);
        let (keys, values) = slices.slices(&asked, NOWHERE);
        let told = guest.buffer(bytemuck::cast_slice(offsets));
        let mut encoder = guest.encoder();
        let segments = Segments::Offsets(told.slice(..));
        sorter.record_segments(&mut encoder, workspace, keys, values, segments).unwrap();
        guest.submit(encoder);
        let is_right = offsets.is_sorted() && offsets.last() <= Some(&30_000);
        if is_right && offsets.windows(2).any(|ends| ends[1] - ends[0] > *most) {
            // Segments that are longer than promised stay as they are.
            continue;
        }
        let told = if is_right { &offsets[..] } else { &[0] };
        slices.check_segments(&guest, &asked, told, NOWHERE).unwrap();
        // The same workspace sorts what comes next.
        let mut encoder = guest.encoder();
        let segments = Segments::HostOffsets(&[0, 12_000, 12_100]);
        sorter.record_segments(&mut encoder, workspace, keys, values, segments).unwrap();
        guest.submit(encoder);
        slices.check_segments(&guest, &asked, &[0, 12_000, 12_100], NOWHERE).unwrap();
    }
}

/// Records what leaves the first `k` at the beginning, and says what is wrong.
fn first(
    guest: &Guest,
    (sorter, workspace): &(BufferSorter, Workspace),
    asked: &Asked,
    k: u32,
    (elements, told, places): (&[u64], Told, Places),
) -> Result<(), String> {
    let slices = Slices::new(guest, asked, elements, told, places);
    let mut encoder = guest.encoder();
    let (keys, values) = slices.slices(asked, places);
    sorter.record_top(&mut encoder, workspace, keys, values, k, slices.count_told(told, places)).unwrap();
    guest.submit(encoder);
    slices.check_first(guest, asked, told, places, k)
}

/// Where a device selects the first of so many elements, and does not sort all.
fn enough_to_select(element: ElementType) -> usize {
    let in_software = device::adapter().get_info().device_type == wgpu::DeviceType::Cpu;
    if in_software { 20_011 } else { (1 << 24) / element.bytes() }
}

#[test]
fn the_first_of_every_type_and_payload() {
    for (guest, name) in [(Guest::advised(), "advised"), (Guest::plain(), "plain")] {
        for (number, element) in ElementType::WIDE.into_iter().enumerate() {
            for payload in [Payload::None, Payload::U32, Payload::Positions] {
                let asked = Asked { descending: number % 2 == 1, payload, ..Asked::of(element) };
                let sorter = sorter_of_the_first(&guest, &asked);
                let elements = inputs::elements(element, enough_to_select(element), 8);
                for k in [1, 300, elements.len() / 4] {
                    first(&guest, &sorter, &asked, k as u32, (&elements, Told::Host, NOWHERE))
                        .unwrap_or_else(|wrong| panic!("{name}, {k}: {wrong}"));
                }
            }
        }
    }
}

#[test]
fn the_first_of_slices_and_of_as_many_as_the_device_says() {
    let of_bits = |bits| Asked { bits, ..Asked::of(ElementType::U64) };
    let asked = [
        Asked { payload: Payload::U32, descending: true, ..Asked::of(ElementType::F32) },
        Asked { payload: Payload::Positions, ..of_bits(5..51) },
        Asked { payload: Payload::U32, ..of_bits(30..37) },
        Asked { payload: Payload::Positions, bits: 0..10, ..Asked::of(ElementType::U32) },
    ];
    for guest in [Guest::advised(), Guest::plain()] {
        for asked in &asked {
            let sorter = sorter_of_the_first(&guest, asked);
            let elements = inputs::elements(asked.element, enough_to_select(asked.element), 16);
            let most = elements.len() as u32;
            let places = Places { keys: 3, values: 7, count: 5 };
            for (k, told) in [
                (0, Told::Host),
                (1, Told::Host),
                (5000, Told::Host),
                (300, Told::Device(11_000)),
                (300, Told::Device(300)),
                (300, Told::Device(299)),
                (300, Told::Device(1)),
                (300, Told::Device(0)),
                (4097, Told::Device(u32::MAX)),
                (most - 1, Told::Device(4097)),
                (u32::MAX, Told::Host),
            ] {
                first(&guest, &sorter, asked, k, (&elements, told, places))
                    .unwrap_or_else(|wrong| panic!("{k}, {told:?}: {wrong}"));
            }
        }
    }
}

#[test]
fn the_first_where_keys_are_equal() {
    let guest = Guest::advised();
    let asked = Asked { payload: Payload::Positions, ..Asked::of(ElementType::I32) };
    let sorter = sorter_of_the_first(&guest, &asked);
    let n = enough_to_select(asked.element);
    for pattern in 0..inputs::PATTERNS.len() as u64 {
        let elements = inputs::elements(asked.element, n, pattern);
        for k in [1, 777, n as u32 / 4] {
            first(&guest, &sorter, &asked, k, (&elements, Told::Host, NOWHERE))
                .unwrap_or_else(|wrong| panic!("{pattern}, {k}: {wrong}"));
        }
    }
    // The comparison must be able to fail.
    let elements = inputs::elements(asked.element, n, 8);
    let slices = Slices::new(&guest, &asked, &elements, Told::Host, NOWHERE);
    slices.check_first(&guest, &asked, Told::Host, NOWHERE, 777).unwrap_err();
}

/// Passes of the caller's own before and after the sort, in one submit: numbers are made, those
/// below a bound are kept and counted, the kept ones sorted, and the sum of the products of keys
/// and their places is made of them.
#[test]
fn between_passes_of_the_callers_own() {
    const N: u32 = 10_000;
    let text = "
        @group(0) @binding(0) var<storage, read_write> keys: array<f32>;
        @group(0) @binding(1) var<storage, read_write> count: array<atomic<u32>>;
        @group(0) @binding(2) var<storage, read_write> steps: array<atomic<u32>>;

        fn value(i: u32) -> f32 { return f32((i * 2654435761u) >> 12u) - 500000.0; }

        @compute @workgroup_size(64)
        fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < 10000u && value(id.x) < 0.0 {
                keys[atomicAdd(&count[0], 1u)] = value(id.x);
            }
        }

        @compute @workgroup_size(64)
        fn look(@builtin(global_invocation_id) id: vec3<u32>) {
            // How many are not below the one before them.
            if id.x > 0u && id.x < atomicLoad(&count[0]) && keys[id.x - 1u] <= keys[id.x] {
                atomicAdd(&steps[0], 1u);
            }
        }
    ";
    let guest = Guest::advised();
    let module = guest.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let entries: Vec<_> = (0..3)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let layout = guest
        .device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let pipeline_layout = guest.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = |entry_point| {
        guest.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    };
    let (fill, look) = (pipeline("fill"), pipeline("look"));
    let [keys, count, steps] = [4 * N as usize, 4, 4].map(|size| guest.buffer(&vec![0; size]));
    let buffers = [&keys, &count, &steps];
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let group = guest.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &entries,
    });
    let (sorter, workspace) = sorter_of(&guest, Spec::new(ElementType::F32));
    let mut encoder = guest.encoder();
    let dispatch = |encoder: &mut wgpu::CommandEncoder, pipeline| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(N.div_ceil(64), 1, 1);
    };
    dispatch(&mut encoder, &fill);
    sorter
        .record(&mut encoder, &workspace, keys.slice(..), None, Count::Buffer { buffer: &count, offset: 0 })
        .unwrap();
    dispatch(&mut encoder, &look);
    guest.submit(encoder);

    let mut expected: Vec<f32> = (0..N)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 12) as f32 - 500_000.0)
        .filter(|&value| value < 0.0)
        .collect();
    expected.sort_by(f32::total_cmp);
    let number = |buffer| u32::from_le_bytes(guest.read(buffer).try_into().unwrap());
    assert_eq!(number(&count) as usize, expected.len());
    assert_eq!(number(&steps) as usize, expected.len() - 1);
    let sorted: Vec<f32> = bytemuck::pod_collect_to_vec(&guest.read(&keys)[..4 * expected.len()]);
    assert_eq!(sorted, expected);
}

#[test]
fn a_workspace_takes_what_was_said() {
    for guest in [Guest::advised(), Guest::plain()] {
        for element in [ElementType::U32, ElementType::F64] {
            for (payload, argsort) in [
                (Payload::None, false),
                (Payload::None, true),
                (Payload::U32, false),
                (Payload::Positions, true),
            ] {
                let spec = Spec::new(element).payload(payload).argsort(argsort);
                let sorter = BufferSorter::new(&guest.device, &guest.queue, spec.clone()).unwrap();
                assert!(!sorter.compile_time().is_zero());
                for capacity in [1, 2, 1000, 300_000] {
                    let workspace = sorter.workspace(capacity).unwrap();
                    let bytes = workspace.bytes();
                    assert_eq!(workspace.capacity(), capacity);
                    assert_eq!(sorter.workspace_bytes(capacity).unwrap(), bytes);
                    let most = spec.workspace_bytes(capacity);
                    assert!(bytes <= most, "{bytes} of {most} for {capacity} of {spec:?}");
                    assert!(most < 3 * bytes + 10_000, "{bytes} of {most} for {capacity} of {spec:?}");
                }
            }
        }
    }
}

#[test]
fn sorters_and_workspaces_go_to_other_threads() {
    fn goes<T: Send + Sync>() {}
    goes::<BufferSorter>();
    goes::<Workspace>();
}

#[test]
fn wrong_uses_are_errors() {
    let guest = Guest::advised();
    let new = |spec| BufferSorter::new(&guest.device, &guest.queue, spec);
    let misuse = |result: Result<(), gpusort::Error>| match result.unwrap_err().kind() {
        ErrorKind::Misuse(misuse) => misuse.clone(),
        other => panic!("{other:?}"),
    };
    let of_new = |spec| misuse(new(spec).map(drop));
    assert_eq!(of_new(Spec::bf16().key_bits(3..17)), Misuse::KeyBits { bits: 3..17, of: 16 });
    for bits in [0..0, 5..5, 7..33] {
        let expected = Misuse::KeyBits { bits: bits.clone(), of: 32 };
        assert_eq!(of_new(Spec::new(ElementType::I32).key_bits(bits)), expected);
    }
    let bitonic = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
    let of_method = of_new(Spec::new(ElementType::U32).method(bitonic));
    assert_eq!(of_method, Misuse::Method(Algorithm::Bitonic));
    let fused = Method { algorithm: None, variant: Some(Variant::Fused) };
    assert!(matches!(
        new(Spec::new(ElementType::U32).method(fused)).err().unwrap().kind(),
        ErrorKind::Plan(PlanError::NoVariant(_))
    ));

    let sorter = new(Spec::new(ElementType::U64).payload(Payload::U32)).unwrap();
    let workspace = sorter.workspace(100).unwrap();
    for capacity in [0, 1 << 30, u32::MAX] {
        let refused = misuse(sorter.workspace(capacity).map(drop));
        assert_eq!(refused, Misuse::WorkspaceOf(capacity));
        assert_eq!(misuse(sorter.workspace_bytes(capacity).map(drop)), Misuse::WorkspaceOf(capacity));
    }
    let [keys, values, count] = [8 * 200, 4 * 200, 16].map(|size| guest.buffer(&vec![0; size]));
    let mapped = guest.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 8 * 200,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let record = |keys, values, count| {
        let mut encoder = guest.encoder();
        let result = sorter.record(&mut encoder, &workspace, keys, values, count);
        guest.submit(encoder);
        result
    };
    let wrong = |keys, values, count| misuse(record(keys, values, count));
    let (k, v, ten) = (keys.slice(..), Some(values.slice(..)), Count::Host(10));
    record(k, v, ten).unwrap();
    assert_eq!(wrong(k, None, ten), Misuse::NoValues);
    assert_eq!(wrong(mapped.slice(..), v, ten), Misuse::Usage("keys"));
    assert_eq!(wrong(k, Some(mapped.slice(..)), ten), Misuse::Usage("values"));
    let expected = Misuse::Alignment { slice: "keys", offset: 4, element: 8 };
    assert_eq!(wrong(keys.slice(4..), v, ten), expected);
    let expected = Misuse::Alignment { slice: "values", offset: 2, element: 4 };
    assert_eq!(wrong(k, Some(values.slice(2..)), ten), expected);
    let expected = Misuse::Length { slice: "keys", holds: 9, count: 10 };
    assert_eq!(wrong(keys.slice(..79), v, ten), expected);
    let expected = Misuse::Length { slice: "values", holds: 5, count: 10 };
    assert_eq!(wrong(k, Some(values.slice(..20)), ten), expected);
    assert_eq!(wrong(k, v, Count::Host(101)), Misuse::Capacity { count: 101, capacity: 100 });
    assert_eq!(wrong(k, Some(keys.slice(64..)), ten), Misuse::Overlap("keys", "values"));
    // Neighbours have nothing in common.
    record(keys.slice(..80), Some(keys.slice(80..120)), ten).unwrap();
    let on_device = |buffer, offset| Count::Buffer { buffer, offset };
    assert_eq!(wrong(k, v, on_device(&keys, 8)), Misuse::Overlap("keys", "the number of elements"));
    assert_eq!(wrong(k, v, on_device(&count, 16)), Misuse::CountOffset { offset: 16, size: 16 });
    assert_eq!(wrong(k, v, on_device(&count, u64::MAX)), Misuse::CountOffset { offset: u64::MAX, size: 16 });
    let expected = Misuse::Alignment { slice: "the number of elements", offset: 6, element: 4 };
    assert_eq!(wrong(k, v, on_device(&count, 6)), expected);
    assert_eq!(wrong(k, v, on_device(&mapped, 0)), Misuse::Usage("the number of elements"));

    let rows = |keys, length| {
        let segments = Segments::Rows(length);
        misuse(sorter.record_segments(&mut guest.encoder(), &workspace, keys, v, segments))
    };
    assert_eq!(rows(k, 0), Misuse::Rows { elements: 200, length: 0 });
    assert_eq!(rows(k, 7), Misuse::Rows { elements: 200, length: 7 });
    let offsets = |workspace, offsets| {
        let segments = Segments::HostOffsets(offsets);
        misuse(sorter.record_segments(&mut guest.encoder(), workspace, k, v, segments))
    };
    let wrong = |segment, range| Misuse::Offsets { segment, range, keys: 200 };
    assert_eq!(offsets(&workspace, &[0, 3, 2, 9]), wrong(1, Range { start: 3, end: 2 }));
    assert_eq!(offsets(&workspace, &[0, 201]), wrong(0, 0..201));
    assert_eq!(offsets(&workspace, &[0, 200]), Misuse::Capacity { count: 200, capacity: 100 });
    let long = guest.buffer(&vec![0; 8 * 20_000]);
    assert_eq!(rows(long.slice(..), 100), Misuse::Length { slice: "values", holds: 200, count: 20_000 });
    let some_bits = new(Spec::new(ElementType::U64).key_bits(0..8)).unwrap();
    let own = some_bits.workspace(100).unwrap();
    let refused = some_bits.record_segments(&mut guest.encoder(), &own, k, None, Segments::Rows(10));
    assert_eq!(misuse(refused), Misuse::SegmentBits);

    let other = new(Spec::new(ElementType::U64).argsort(false)).unwrap();
    let mut encoder = guest.encoder();
    let others = misuse(other.record(&mut encoder, &workspace, k, None, ten));
    assert_eq!(others, Misuse::Workspace);
    let own = other.workspace(100).unwrap();
    assert_eq!(misuse(other.record(&mut encoder, &own, k, v, ten)), Misuse::Values);
    let argsort = other.record_argsort(&mut encoder, &own, k, values.slice(..), ten);
    assert_eq!(misuse(argsort), Misuse::NoArgsort);
    assert_eq!(Misuse::NoArgsort.to_string(), "the Spec leaves out the argsort; use Spec::argsort(true)");
}

#[test]
fn what_a_device_lacks_is_said() {
    let misuse = |result: Result<(), gpusort::Error>| match result.unwrap_err().kind() {
        ErrorKind::Misuse(misuse) => misuse.clone(),
        other => panic!("{other:?}"),
    };
    // Less than what WebGPU promises.
    let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 7, ..wgpu::Limits::default() };
    let poor = Guest::with(wgpu::Features::empty(), limits);
    let refused = BufferSorter::new(&poor.device, &poor.queue, Spec::new(ElementType::U32)).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "more than 7 storage buffers in a kernel (8 needed); \
         start the device with a larger max_storage_buffers_per_shader_stage"
    );

    let limits = wgpu::Limits { max_compute_workgroup_storage_size: 8192, ..wgpu::Limits::default() };
    for features in [wgpu::Features::empty(), wgpu::Features::SUBGROUP] {
        let small = Guest::with(features, limits.clone());
        let refused =
            BufferSorter::new(&small.device, &small.queue, Spec::new(ElementType::U64)).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "more than 8192 bytes of workgroup memory (16352 needed); \
             start the device with a larger max_compute_workgroup_storage_size (Spec::required_limits)"
        );
    }

    // More than the device was started for.
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 1 << 16, ..wgpu::Limits::default() };
    let narrow = Guest::with(wgpu::Features::empty(), limits);
    let sorter = BufferSorter::new(&narrow.device, &narrow.queue, Spec::new(ElementType::U32)).unwrap();
    let refused = sorter.workspace(20_000).err().unwrap();
    assert!(matches!(refused.kind(), ErrorKind::Plan(PlanError::TooLarge { .. })));
    assert!(
        refused.to_string().ends_with(
            "; start the device with a larger max_storage_buffer_binding_size (Spec::required_limits)"
        ),
        "{refused}"
    );
    let workspace = sorter.workspace(16_384).unwrap();
    let keys = narrow.buffer(&vec![0; 4 * 16_400]);
    let mut encoder = narrow.encoder();
    let record = |encoder: &mut _, begin| {
        sorter.record(encoder, &workspace, keys.slice(begin..), None, Count::Host(16_384))
    };
    record(&mut encoder, 0).unwrap();
    let expected = Misuse::Binding { slice: "keys", bytes: (1 << 16) + 4, limit: 1 << 16 };
    assert_eq!(misuse(record(&mut encoder, 4)), expected);
    narrow.submit(encoder);
}

#[test]
fn limits_are_those_of_the_elements_and_of_the_adapter() {
    let adapter = device::adapter();
    let (least, has) = (wgpu::Limits::default(), adapter.limits());
    let (f32, u64) = (Spec::new(ElementType::F32), Spec::new(ElementType::U64));
    for (spec, n, key, both) in [
        (f32.clone(), 17_000_000, 4, 4),
        (f32.payload(Payload::Positions), 60_000_000, 4, 8),
        (Spec::new(ElementType::U8), 100_000_000, 4, 4),
        (u64.clone(), 1 << 28, 8, 8),
        (u64.payload(Payload::U32), MOST, 8, 12),
    ] {
        let limits = spec.required_limits(&adapter, n);
        let expected = |each: u64, least: u64, has: u64| (each * u64::from(n) + 256).max(least).min(has);
        let binding = (least.max_storage_buffer_binding_size, has.max_storage_buffer_binding_size);
        assert_eq!(limits.max_storage_buffer_binding_size, expected(key, binding.0, binding.1), "{spec:?}");
        let buffer = (least.max_buffer_size, has.max_buffer_size);
        assert_eq!(limits.max_buffer_size, expected(both, buffer.0, buffer.1), "{spec:?}");
        assert!(limits.check_limits(&has));
        Guest::with(spec.required_features(&adapter), limits);
        Guest::with(BufferSorter::required_features(&adapter), BufferSorter::required_limits(&adapter, n));
    }
}

#[test]
fn buffers_and_encoders_of_other_devices_are_refused() {
    let adapter = device::adapter();
    let spec = Spec::new(ElementType::U32).payload(Payload::U32);
    let descriptor = wgpu::DeviceDescriptor {
        required_features: spec.required_features(&adapter),
        required_limits: spec.required_limits(&adapter, 100),
        ..Default::default()
    };
    let guest = || {
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        Guest { device, queue }
    };
    let (here, other) = (guest(), guest());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    here.device.on_uncaptured_error(Arc::new(move |error| hears.lock().unwrap().push(error.to_string())));
    let sorter = BufferSorter::new(&here.device, &here.queue, spec).unwrap();
    let workspace = sorter.workspace(100).unwrap();
    let [keys, values, count] = [here.buffer(&[1; 400]), here.buffer(&[0; 400]), here.buffer(&[0; 400])];
    let wrong = |keys: &wgpu::Buffer, values: &wgpu::Buffer, count: &wgpu::Buffer, encoder: &mut _| {
        let count = Count::Buffer { buffer: count, offset: 0 };
        let values = Some(values.slice(..));
        match sorter.record(encoder, &workspace, keys.slice(..), values, count) {
            Ok(()) => None,
            Err(error) => match error.kind() {
                ErrorKind::Misuse(Misuse::Device(name)) => Some(*name),
                other => panic!("{other:?}"),
            },
        }
    };
    let mut encoder = here.encoder();
    // Another instance has more objects than this one, so that none of the last is also here.
    let abroad = Guest::advised();
    let all: Vec<wgpu::Buffer> = (0..100).map(|_| abroad.buffer(&[0; 400])).collect();
    for foreign in [other.buffer(&[0; 400]), all[99].clone()] {
        assert_eq!(wrong(&foreign, &values, &count, &mut encoder), Some("keys"));
        assert_eq!(wrong(&keys, &foreign, &count, &mut encoder), Some("values"));
        assert_eq!(wrong(&keys, &values, &foreign, &mut encoder), Some("the number of elements"));
        let offsets = Segments::Offsets(foreign.slice(..));
        let (keys, values) = (keys.slice(..), Some(values.slice(..)));
        let refused = sorter.record_segments(&mut encoder, &workspace, keys, values, offsets).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Misuse(Misuse::Device("offsets"))), "{refused}");
    }
    let mut empty = Guest::advised().encoder();
    assert_eq!(wrong(&keys, &values, &count, &mut empty), Some("encoder"));
    assert_eq!(wrong(&keys, &values, &count, &mut encoder), None);
    here.submit(encoder);
    here.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    assert_eq!(*heard.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_made_has_labels_of_gpusort() {
    let guest = Guest::with(wgpu::Features::IMMEDIATES, device::adapter().limits());
    let names = || -> Vec<String> {
        let report = guest.device.generate_allocator_report().unwrap();
        report.allocations.into_iter().map(|allocation| allocation.name).collect()
    };
    let before = names();
    let sorter = Sorter::on(Gpu::from_device(guest.device.clone(), guest.queue.clone()).unwrap());
    let mut numbers: Vec<u32> = (0..100_000).rev().collect();
    sorter.sort(&mut numbers).unwrap();
    let spec = Spec::new(ElementType::U32).payload(Payload::U32);
    let recorded = BufferSorter::new(&guest.device, &guest.queue, spec).unwrap();
    let _workspace = recorded.workspace(100_000).unwrap();
    let made: Vec<String> = names().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(made.len() > 5, "{made:?}");
    for name in made {
        assert!(name.starts_with("gpusort ") || name.starts_with("(wgpu internal)"), "{name}");
    }
}

#[test]
fn rows_up_to_the_longest_need_no_room() {
    let guest = Guest::with(wgpu::Features::empty(), wgpu::Limits::default());
    let sorter = BufferSorter::new(&guest.device, &guest.queue, Spec::new(ElementType::U32)).unwrap();
    let longest = sorter.longest_row();
    let workspace = sorter.workspace(1).unwrap();
    let keys: Vec<u32> = (0..2 * (longest + 1)).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    let buffer = guest.buffer(bytemuck::cast_slice(&keys));
    let mut encoder = guest.encoder();
    let mut record = |length: u32| {
        let slice = buffer.slice(..8 * u64::from(length));
        sorter.record_segments(&mut encoder, &workspace, slice, None, Segments::Rows(length))
    };
    record(longest).unwrap();
    let refused = record(longest + 1).unwrap_err();
    let expected = Misuse::Capacity { count: 2 * (longest + 1), capacity: 1 };
    assert!(matches!(refused.kind(), ErrorKind::Misuse(misuse) if *misuse == expected), "{refused}");
    guest.submit(encoder);
    let mut sorted = keys.clone();
    sorted[..2 * longest as usize].chunks_mut(longest as usize).for_each(<[u32]>::sort);
    let found: Vec<u32> = bytemuck::pod_collect_to_vec(&guest.read(&buffer));
    assert!(found == sorted);
}

#[test]
fn a_sort_that_goes_wrong_is_noticed() {
    // The comparison must be able to fail.
    let guest = Guest::advised();
    let asked = Asked { payload: Payload::U32, ..Asked::of(ElementType::U32) };
    let (sorter, workspace) = sorter_of(&guest, asked.spec());
    let elements = inputs::elements(asked.element, 1000, 0);
    let slices = Slices::new(&guest, &asked, &elements, Told::Host, NOWHERE);
    assert!(slices.check(&guest, &asked, 1000, NOWHERE, false).is_err(), "nothing was sorted");
    let mut encoder = guest.encoder();
    slices.record(&mut encoder, (&sorter, &workspace), &asked, Told::Host, NOWHERE, false);
    guest.submit(encoder);
    slices.check(&guest, &asked, 1000, NOWHERE, false).unwrap();
    assert!(slices.check(&guest, &asked, 999, NOWHERE, false).is_err(), "one too many was sorted");
    let other = Asked { descending: true, ..asked };
    assert!(slices.check(&guest, &other, 1000, NOWHERE, false).is_err(), "the other direction");
}
