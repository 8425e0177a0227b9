//! Sorts in a browser, by WebGPU, and says on the console whether the results are right.
//!
//! Nothing may block there: the adapter, the device and what is read back are waited for as
//! promises. WebGPU offers neither immediates nor subgroups to wgpu, so sorts have their arguments
//! in a buffer, and groups of invocations in place of subgroups. The last line is `gpusort: done`
//! or `gpusort: FAILED`, and the page closes itself.

use gpusort::buffers::{BufferSorter, Count, Payload, Segments, Spec};
use gpusort::{AsyncSorter, ElementType, Method, Variant, wgpu};
use gpusort_planner::key::{KeyMap, KeyWords, Word};
use wasm_bindgen::prelude::wasm_bindgen;

/// Elements of each type.
const N: usize = 1_000_000;

/// Elements of a row, of which there are as many.
const LENGTH: usize = 1000;

type Result<T> = std::result::Result<T, String>;

/// Runs when the page has loaded.
#[wasm_bindgen(start)]
pub fn start() {
    wasm_bindgen_futures::spawn_local(async {
        match run().await {
            Ok(()) => say("gpusort: done"),
            Err(problem) => say(&format!("gpusort: FAILED: {problem}")),
        }
        if let Some(window) = web_sys::window() {
            let _ = window.close();
        }
    });
}

fn say(line: &str) {
    web_sys::console::log_1(&line.into());
}

/// A device, and what goes to it and comes from it.
struct Browser {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Browser {
    async fn start() -> Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::BROWSER_WEBGPU,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await;
        let adapter = adapter.map_err(|error| format!("no adapter: {error}"))?;
        let features = BufferSorter::required_features(&adapter);
        say(&format!("adapter: {}; features that sorts use: {features:?}", adapter.get_info().name));
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                required_features: features,
                required_limits: BufferSorter::required_limits(&adapter, N as u32),
                ..Default::default()
            })
            .await
            .map_err(|error| format!("no device: {error}"))?;
        device.on_uncaptured_error(std::sync::Arc::new(|error: wgpu::Error| {
            say(&format!("gpusort: FAILED: {error}"));
        }));
        Ok(Self { device, queue })
    }

    fn buffer(&self, bytes: &[u8]) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let size = bytes.len() as u64;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// What a buffer holds after all that was submitted.
    async fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let size = buffer.size();
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let here = self.device.create_buffer(&descriptor);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &here, 0, size);
        self.queue.submit([encoder.finish()]);
        let (sender, mapped) = futures_channel::oneshot::channel();
        here.map_async(wgpu::MapMode::Read, .., |result| drop(sender.send(result)));
        mapped.await.map_err(|_| "the device is gone".to_owned())?.map_err(|error| error.to_string())?;
        let bytes = here.get_mapped_range(..).map_err(|error| error.to_string())?.to_vec();
        here.unmap();
        Ok(bytes)
    }

    /// Submits what is recorded, and waits until it is done. Returns the milliseconds.
    async fn run(
        &self,
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> std::result::Result<(), gpusort::Error>,
    ) -> Result<f64> {
        let start = js_sys::Date::now();
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        record(&mut encoder).map_err(|error| error.to_string())?;
        self.queue.submit([encoder.finish()]);
        let (sender, done) = futures_channel::oneshot::channel();
        // Nobody waits for it any more where the page is gone.
        self.queue.on_submitted_work_done(move || {
            let _ = sender.send(());
        });
        done.await.map_err(|_| "the device is gone".to_owned())?;
        Ok(js_sys::Date::now() - start)
    }
}

/// Bits of elements; every third is one that sorts get wrong.
fn elements(element: ElementType, n: usize) -> Vec<u64> {
    let special = [0_u64, 1, u64::MAX, 1 << 63, 1 << 31, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x7FF8 << 48];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mask = u64::MAX >> (64 - 8 * element.bytes());
    (0..n)
        .map(|at| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state ^ state >> 33;
            mask & if at % 3 == 1 { special[at / 3 % special.len()] } else { random }
        })
        .collect()
}

fn bytes_of(element: ElementType, elements: &[u64]) -> Vec<u8> {
    elements.iter().flat_map(|word| word.to_le_bytes()[..element.bytes()].to_vec()).collect()
}

/// The positions of these elements in order, found by the standard library.
fn in_order(element: ElementType, descending: bool, elements: &[u64]) -> Vec<u32> {
    let map = KeyMap { descending, ..KeyMap::ascending(element) };
    let key = |bits: u64| match element.key_words() {
        KeyWords::One => u64::from((bits as u32).key(u32::map(map))),
        KeyWords::Two => bits.key(u64::map(map)),
    };
    let mut positions: Vec<u32> = (0..elements.len() as u32).collect();
    positions.sort_by_key(|&at| key(elements[at as usize]));
    positions
}

fn same(found: &[u8], expected: &[u8], what: &str) -> Result<()> {
    let differs = found.iter().zip(expected).position(|(a, b)| a != b);
    match differs {
        None if found.len() >= expected.len() => Ok(()),
        place => Err(format!("{what}: byte {place:?} of {} is wrong", expected.len())),
    }
}

async fn run() -> Result<()> {
    let browser = Browser::start().await?;
    let all = ElementType::WIDE.map(|element| (element, None));
    let leading = [ElementType::U64, ElementType::F64].map(|element| (element, Some(Variant::Leading)));
    for (number, (element, variant)) in all.into_iter().chain(leading).enumerate() {
        let descending = number % 2 == 1;
        let method = Method { algorithm: None, variant };
        let spec = Spec::new(element).payload(Payload::Positions).descending(descending).method(method);
        let fail = |error: gpusort::Error| format!("{element}: {error}");
        let sorter = BufferSorter::new(&browser.device, &browser.queue, spec).map_err(fail)?;
        let workspace = sorter.workspace(N as u32).map_err(fail)?;
        let mut told = Vec::new();
        // All of them, then as many as the device is told; the first time compiles.
        for count in [N, N, 777_777] {
            let elements = elements(element, N);
            let keys = browser.buffer(&bytes_of(element, &elements));
            let values = browser.buffer(&vec![0; 4 * N]);
            let number = browser.buffer(&(count as u32).to_le_bytes());
            let counted = Count::Buffer { buffer: &number, offset: 0 };
            let many = if count == N { Count::Host(N as u32) } else { counted };
            let (slice, positions) = (keys.slice(..), Some(values.slice(..)));
            let record = |encoder: &mut wgpu::CommandEncoder| {
                sorter.record(encoder, &workspace, slice, positions, many)
            };
            let milliseconds = browser.run(record).await?;
            told.push(format!("{milliseconds:.0}"));
            let expected = in_order(element, descending, &elements[..count]);
            let sorted: Vec<u64> = expected.iter().map(|&at| elements[at as usize]).collect();
            let what = format!("{count} {element}");
            same(&browser.read(&keys).await?, &bytes_of(element, &sorted), &what)?;
            let expected: Vec<u8> = expected.iter().flat_map(|at| at.to_le_bytes()).collect();
            same(&browser.read(&values).await?, &expected, &what)?;
        }
        let [first, again, counted] = &told[..] else { continue };
        let variant = variant.map_or_else(String::new, |variant| format!(" ({variant})"));
        say(&format!(
            "radix sort{variant} of {N} {element} with positions: {again} ms (the first time {first}), of 777777 that the device counts {counted} ms, right"
        ));
    }
    let element = ElementType::F32;
    let sorter = BufferSorter::new(&browser.device, &browser.queue, Spec::new(element))
        .map_err(|error| error.to_string())?;
    let workspace = sorter.workspace(LENGTH as u32).map_err(|error| error.to_string())?;
    let elements = elements(element, N);
    let keys = browser.buffer(&bytes_of(element, &elements));
    let rows = Segments::Rows(LENGTH as u32);
    let milliseconds = browser
        .run(|encoder| sorter.record_segments(encoder, &workspace, keys.slice(..), None, rows))
        .await?;
    let sorted: Vec<u64> = elements
        .chunks(LENGTH)
        .flat_map(|row| in_order(element, false, row).into_iter().map(|at| row[at as usize]))
        .collect();
    same(&browser.read(&keys).await?, &bytes_of(element, &sorted), "rows")?;
    say(&format!("bitonic sort of {} rows of {LENGTH} {element}: {milliseconds:.0} ms, right", N / LENGTH));
    segments(&browser, &elements).await?;
    slices().await
}

/// Segments of very different lengths, the longest of which no tile holds, in all elements but the
/// last few.
async fn segments(browser: &Browser, elements: &[u64]) -> Result<()> {
    let fail = |error: gpusort::Error| error.to_string();
    let element = ElementType::F32;
    let sorter =
        BufferSorter::new(&browser.device, &browser.queue, Spec::new(element).payload(Payload::Positions))
            .map_err(fail)?;
    let workspace = sorter.workspace(N as u32).map_err(fail)?;
    let lengths = [0, 1, 2, 7, 20, 100, 500, 1, 3000, 9, 0, 20_000];
    let mut ends = vec![0];
    while let Some(end) = ends.last().map(|end| end + lengths[ends.len() % lengths.len()])
        && end < N
    {
        ends.push(end);
    }
    let offsets =
        browser.buffer(&ends.iter().flat_map(|&end| (end as u32).to_le_bytes()).collect::<Vec<_>>());
    let keys = browser.buffer(&bytes_of(element, elements));
    let values = browser.buffer(&vec![0; 4 * N]);
    let told = || Segments::Offsets(offsets.slice(..));
    let record = |encoder: &mut wgpu::CommandEncoder| {
        sorter.record_segments(encoder, &workspace, keys.slice(..), Some(values.slice(..)), told())
    };
    let milliseconds = browser.run(record).await?;
    let (mut sorted, mut positions) = (elements.to_vec(), vec![0; N]);
    for ends in ends.windows(2) {
        let segment = &elements[ends[0]..ends[1]];
        for (to, at) in (ends[0]..).zip(in_order(element, false, segment)) {
            (sorted[to], positions[to]) = (segment[at as usize], at);
        }
    }
    same(&browser.read(&keys).await?, &bytes_of(element, &sorted), "segments")?;
    let positions: Vec<u8> = positions.iter().flat_map(|at| at.to_le_bytes()).collect();
    same(&browser.read(&values).await?, &positions, "positions in segments")?;
    say(&format!("{} segments of 0 to 20000 {element}: {milliseconds:.0} ms, right", ends.len() - 1));
    Ok(())
}

/// Slices in memory, to the device and back.
async fn slices() -> Result<()> {
    let fail = |error: gpusort::Error| error.to_string();
    let sorter = AsyncSorter::start(N as u32).await.map_err(fail)?;
    for again in ["the first time", "again"] {
        let mut numbers: Vec<f64> = elements(ElementType::F64, N).into_iter().map(f64::from_bits).collect();
        let bits: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        let start = js_sys::Date::now();
        sorter.sort_descending(&mut numbers).await.map_err(fail)?;
        let milliseconds = js_sys::Date::now() - start;
        let sorted = in_order(ElementType::F64, true, &bits).into_iter().map(|at| bits[at as usize]);
        if !numbers.iter().map(|number| number.to_bits()).eq(sorted) {
            return Err("the slice is not in order".to_owned());
        }
        say(&format!("a slice of {N} f64 sorted, {again}: {milliseconds:.0} ms, right"));
    }
    let bytes: Vec<u8> = elements(ElementType::U32, N).into_iter().map(|word| word as u8).collect();
    let words: Vec<u64> = bytes.iter().map(|&byte| byte.into()).collect();
    let positions = sorter.argsort(&bytes).await.map_err(fail)?;
    if positions != in_order(ElementType::U8, false, &words) {
        return Err("the positions are not in order".to_owned());
    }
    say(&format!("positions of a slice of {N} u8: right"));
    Ok(())
}
