//! Integers of text: lines become keys on the device while they arrive, and sorted keys leave it as lines.
//!
//! ```text
//! text ── window ──> parse ─┐                             windows follow each other through one buffer
//!                         keys ── sorted by a plan
//! text <── window ── print ─┘
//! ```

use std::ops::Range;
use std::sync::Mutex;

use gpusort_order::KeyWords;
use gpusort_order::key::KeyMap;
use gpusort_planner::kernels::Grid;
use gpusort_planner::text::{self, HALO, Layout, PARSED, PRINTED, WORKGROUP, module};

use super::bindings::{bind_group, kernel, storage, whole};
use super::device::Gpu;
use super::encode::Side;
use super::plan_buffers::Buffers;
use super::transfers::arrays::USAGE;
use super::transfers::readback::Readback;
use super::transfers::staging::{CHUNK, Ring};
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, lock};

/// Bytes of text in a window.
const WINDOW: u64 = CHUNK - HALO as u64;

/// The number of windows from one look at the state to the next: half a gigabyte of text.
const CHECKED: usize = 32;

/// Bytes that a core reads before it copies them to device memory: a block fits its cache.
const BLOCK: usize = 1 << 18;

/// The kernels of integers of text, compiled for keys with one number of words.
#[derive(Clone)]
pub struct TextKernels {
    parse: wgpu::ComputePipeline,
    search: wgpu::ComputePipeline,
    print: wgpu::ComputePipeline,
}

impl TextKernels {
    /// Compiles the kernels.
    pub fn new(gpu: &Gpu, key: KeyWords) -> Self {
        let compile = |(name, read_only): (&str, [bool; 3])| {
            let buffers = [0, 1, 2].map(|number| storage(number, read_only[number as usize]));
            kernel(&gpu.context.device, name, module(name, key), &buffers, None, None)
        };
        let kernels = [
            ("parse", [true, false, false]),
            ("search", [true, true, false]),
            ("print", [true, true, false]),
        ];
        let compiled = parallel::map_parts(kernels, compile);
        let [parse, search, print] = &compiled[..] else { unreachable!("there are three kernels") };
        let [parse, search, print] = [parse, search, print].map(wgpu::ComputePipeline::clone);
        Self { parse, search, print }
    }

    /// Writes the keys of the lines that end in a part of a text to `to`, in any order. `fill` fills bytes from a place on.
    /// With `returns`, a carriage return may precede a line feed. Returns the number of keys; `None` if a line is
    /// not an integer of the map's type in canonical form, or if a key has no room.
    ///
    /// # Errors
    ///
    /// Errors of `fill` and of the device.
    pub fn parse(
        &self,
        gpu: &Gpu,
        to: &Buffers,
        map: KeyMap,
        returns: bool,
        part: Range<u64>,
        fill: impl Fn(u64, &mut [u8]) -> Result<(), Error> + Sync,
    ) -> Result<Option<u32>, Error> {
        let context = &gpu.context;
        let window = context.buffer("text", CHUNK, USAGE)?;
        let state = context.buffer("state", 8, USAGE)?;
        let (flipped, most) = (text::flipped(map), map.element.limits().1 as u64);
        to.side.set(Side::Front);
        let mut ring = Ring::new(gpu, wgpu::MapMode::Write);
        let words = Readback::new(context, 8)?;
        let read_state = || words.read::<u32>(context, context.encoder("state"), &state);
        for (number, start) in part.clone().step_by(WINDOW as usize).enumerate() {
            // An invalid line ends the upload of a long text early.
            if number % CHECKED == CHECKED - 1 && read_state()?[1] != 0 {
                return Ok(None);
            }
            let now = (part.end - start).min(WINDOW);
            let (staging, _) = ring.next(CHUNK)?;
            fill_mapped(&staging, u64::from(HALO) + now, |at, room| {
                let halo = room.len().min(u64::from(HALO).saturating_sub(start + at) as usize);
                let (before, room) = room.split_at_mut(halo);
                before.fill(b'\n');
                fill(start + at + halo as u64 - u64::from(HALO), room)
            })?;
            staging.unmap();
            let signed = u32::from(map.element.limits().0 < 0);
            let [low, high] = [flipped as u32, (flipped >> 32) as u32];
            let arguments =
                [now as u32, to.n(), most as u32, (most >> 32) as u32, signed, low, high, returns.into()];
            let mut parsed = Ok(());
            ring.submit(staging, CHUNK, |encoder, staging| {
                encoder.copy_buffer_to_buffer(staging, 0, &window, 0, CHUNK);
                let buffers = [&window, &to.array().keys, &state];
                let workgroups = now.div_ceil(PARSED.into());
                parsed = gpu.dispatch(encoder, &self.parse, buffers, &arguments, workgroups);
            });
            parsed?;
        }
        while let Some((staging, _)) = ring.first()? {
            ring.keep(staging);
        }
        let state = read_state()?;
        Ok((state[1] == 0).then_some(state[0]))
    }

    /// Passes the lines of sorted integers to `take`, block by block. Returns their number of bytes.
    ///
    /// # Errors
    ///
    /// Errors of `take` and of the device.
    pub fn print(
        &self,
        gpu: &Gpu,
        from: &Buffers,
        map: KeyMap,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (context, keys) = (&gpu.context, &from.array().keys);
        let classes = text::classes(map);
        let firsts: Vec<u64> = classes.iter().map(|class| class.first).collect();
        let below = context.buffer("counts", firsts.len() as u64 * 4, USAGE)?;
        let others = context.filled("keys", bytemuck::cast_slice(&firsts), USAGE)?;
        let mut encoder = context.encoder("search");
        let count = firsts.len() as u32;
        let workgroups = count.div_ceil(WORKGROUP).into();
        gpu.dispatch(&mut encoder, &self.search, [keys, &others, &below], &[from.n(), count], workgroups)?;
        let below: Vec<u32> = Readback::new(context, below.size())?.read(context, encoder, &below)?;
        let layout = Layout::new(&classes, &below, from.n());
        let window = context.buffer("text", CHUNK, USAGE)?;
        let flipped = text::flipped(map);
        let mut left = layout.bytes;
        // The size of a copy is a multiple of 4 bytes.
        let padded = layout.bytes.next_multiple_of(4);
        let print = |encoder: &mut wgpu::CommandEncoder, staging: &wgpu::Buffer, start, length: u64| {
            let bytes = length.min(layout.bytes - start) as u32;
            let segments = layout.segments(start, bytes);
            let arguments = [bytes, segments.len() as u32, flipped as u32, (flipped >> 32) as u32];
            let segments = context.filled("segments", bytemuck::cast_slice(&segments), USAGE)?;
            let workgroups = bytes.div_ceil(PRINTED).into();
            gpu.dispatch(encoder, &self.print, [keys, &segments, &window], &arguments, workgroups)?;
            encoder.copy_buffer_to_buffer(&window, 0, staging, 0, length);
            Ok(())
        };
        gpu.download_by(padded, print, |block| {
            let there = left.min(block.len() as u64);
            left -= there;
            take(&block[..there as usize])
        })?;
        Ok(layout.bytes)
    }
}

impl Gpu {
    /// Dispatches a kernel with these buffers and arguments.
    fn dispatch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &wgpu::ComputePipeline,
        buffers: [&wgpu::Buffer; 3],
        arguments: &[u32],
        workgroups: u64,
    ) -> Result<(), Error> {
        let group = bind_group(&self.context.device, "text", (pipeline, 0), (0..).zip(buffers.map(whole)));
        let grid = Grid::new(workgroups, &self.context.info.limits)?;
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_immediates(0, bytemuck::cast_slice(arguments));
        pass.dispatch_workgroups(grid.x, grid.y, 1);
        Ok(())
    }
}

/// Fills the first bytes of a mapped buffer on all cores.
fn fill_mapped(
    to: &wgpu::Buffer,
    bytes: u64,
    fill: impl Fn(u64, &mut [u8]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let part = |start: u64| {
        let end = bytes.min(start + BLOCK as u64);
        // The size of a mapped range is a multiple of 4 bytes.
        let view = to.get_mapped_range_mut(start..end.next_multiple_of(4)).map_err(Error::device)?;
        Ok((start, (end - start) as usize, view))
    };
    let parts: Vec<_> = (0..bytes).step_by(BLOCK).map(part).collect::<Result<_, Error>>()?;
    let blocks: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let copy = |(start, length, mut view): (u64, usize, wgpu::BufferViewMut)| {
        let kept = lock(&blocks).pop();
        let mut block = kept.unwrap_or_else(|| vec![0; BLOCK]);
        fill(start, &mut block[..length])?;
        view.slice(..length).copy_from_slice(&block[..length]);
        lock(&blocks).push(block);
        Ok(())
    };
    parallel::map_parts(parts, copy).into_iter().collect()
}
