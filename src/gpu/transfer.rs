//! The elements on the device, and their way there and back through a ring of staging buffers.
//!
//! A staging buffer is memory that both sides reach. Making one costs more than copying through it, so
//! there are few, of a fixed size, and they are kept: while the device copies out of one, the host
//! fills the next.

use std::collections::VecDeque;
use std::sync::mpsc;

use rayon::prelude::*;

use super::device::Gpu;
use super::kernels::{KEYS, POSITIONS, STATE, iota};
use crate::error::Error;
use crate::plan::Shape;

/// An array of elements on the device.
pub struct Buffers {
    n: u32,
    shape: Shape,
    keys: wgpu::Buffer,
    positions: Option<wgpu::Buffer>,
    /// What phases of odd-even sort leave for those after them, a word: see `last_swap` in `common.wgsl`.
    state: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

impl Buffers {
    /// Room for `n` elements of this shape.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    pub fn new(gpu: &Gpu, n: u32, shape: Shape) -> Result<Self, Error> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        // A binding may not be empty.
        let room = u64::from(n.max(1)) * 4;
        let keys = gpu.buffer("keys", room * u64::from(shape.key_words), usage, false)?;
        let positions = shape.positions.then(|| gpu.buffer("positions", room, usage, false)).transpose()?;
        let state = gpu.buffer("state", STATE_BYTES, usage, false)?;
        let buffers = [(KEYS, Some(&keys)), (POSITIONS, positions.as_ref()), (STATE, Some(&state))];
        let entries: Vec<_> = buffers
            .into_iter()
            .filter_map(|(binding, buffer)| Some((binding, buffer?)))
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("elements"),
            layout: gpu.kernels.bindings(shape),
            entries: &entries,
        });
        gpu.check()?;
        Ok(Self { n, shape, keys, positions, state, bind_group })
    }

    /// How many elements there are.
    #[must_use]
    pub fn n(&self) -> u32 {
        self.n
    }

    /// What an element is made of.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn state(&self) -> &wgpu::Buffer {
        &self.state
    }

    pub(super) fn bind_group(&self) -> &wgpu::BindGroup {
        &self.bind_group
    }

    /// Brings the keys to the device and, where there are positions, numbers them 0, 1, 2, …; returns
    /// when that is done.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When `keys` are not of the size of the buffer.
    pub fn upload(&self, gpu: &Gpu, keys: &[u8]) -> Result<(), Error> {
        assert_eq!(keys.len() as u64, u64::from(self.n) * u64::from(self.shape.key_words) * 4);
        if self.positions.is_some() && self.n > 0 {
            let (key, arguments, workgroup_size) = iota(self.n, self.shape.key_words);
            let workgroups = self.n.div_ceil(workgroup_size);
            let rows = workgroups.div_ceil(gpu.info().limits.workgroups_per_dimension);
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&gpu.pipeline(key)?);
            pass.set_bind_group(0, &self.bind_group, &[]);
            pass.set_immediates(0, bytemuck::bytes_of(&arguments));
            pass.dispatch_workgroups(workgroups.div_ceil(rows), rows, 1);
            drop(pass);
            gpu.queue.submit([encoder.finish()]);
        }
        upload(gpu, keys, &self.keys)?;
        gpu.wait()
    }

    /// Brings the keys back.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn download_keys(&self, gpu: &Gpu, keys: &mut [u8]) -> Result<(), Error> {
        download(gpu, &self.keys, keys)
    }

    /// Brings the positions back: the input's position of the element that is now at each place.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When the shape has no positions.
    pub fn download_positions(&self, gpu: &Gpu, positions: &mut [u32]) -> Result<(), Error> {
        let buffer = self.positions.as_ref().expect("the caller asks only where the shape has positions");
        download(gpu, buffer, bytemuck::cast_slice_mut(positions))
    }
}

/// Bytes of the state.
pub(super) const STATE_BYTES: u64 = 4;

/// Bytes in one staging buffer.
const CHUNK: usize = 16 << 20;
/// Staging buffers in a ring.
const RING: usize = 3;

/// Staging buffers that are not in use, kept for the next transfer.
#[derive(Default)]
pub(super) struct Staging {
    /// For the way to the device; mapped.
    up: Vec<wgpu::Buffer>,
    /// For the way back; not mapped.
    down: Vec<wgpu::Buffer>,
}

fn upload(gpu: &Gpu, from: &[u8], to: &wgpu::Buffer) -> Result<(), Error> {
    let mut staging = gpu.staging.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut under_way: VecDeque<(wgpu::Buffer, Mapping)> = VecDeque::new();
    for (number, chunk) in from.chunks(CHUNK).enumerate() {
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let buffer = match staging.up.pop() {
            Some(buffer) if buffer.size() >= chunk.len() as u64 => buffer,
            _ if under_way.len() < RING => gpu.buffer("staging", room(chunk), usage, true)?,
            _ => wait_for_first(gpu, &mut under_way)?,
        };
        copy_to_mapped(chunk, &buffer)?;
        buffer.unmap();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&buffer, 0, to, (number * CHUNK) as u64, chunk.len() as u64);
        let submission = gpu.queue.submit([encoder.finish()]);
        let mapping = Mapping::start(&buffer, wgpu::MapMode::Write, buffer.size(), submission);
        under_way.push_back((buffer, mapping));
    }
    while !under_way.is_empty() {
        let buffer = wait_for_first(gpu, &mut under_way)?;
        staging.up.push(buffer);
    }
    Ok(())
}

fn download(gpu: &Gpu, from: &wgpu::Buffer, to: &mut [u8]) -> Result<(), Error> {
    let mut staging = gpu.staging.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut under_way: VecDeque<(wgpu::Buffer, Mapping)> = VecDeque::new();
    let mut arrived: VecDeque<&mut [u8]> = VecDeque::new();
    for (number, chunk) in to.chunks_mut(CHUNK).enumerate() {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = match staging.down.pop() {
            Some(buffer) if buffer.size() >= chunk.len() as u64 => buffer,
            _ if under_way.len() < RING => gpu.buffer("staging", room(chunk), usage, false)?,
            _ => take_first(gpu, &mut under_way, &mut arrived)?,
        };
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(from, (number * CHUNK) as u64, &buffer, 0, chunk.len() as u64);
        let submission = gpu.queue.submit([encoder.finish()]);
        let mapping = Mapping::start(&buffer, wgpu::MapMode::Read, chunk.len() as u64, submission);
        under_way.push_back((buffer, mapping));
        arrived.push_back(chunk);
    }
    while !under_way.is_empty() {
        let buffer = take_first(gpu, &mut under_way, &mut arrived)?;
        staging.down.push(buffer);
    }
    gpu.check()
}

/// What a staging buffer for this chunk should hold: all of a large transfer's chunks the same.
fn room(chunk: &[u8]) -> u64 {
    chunk.len().next_power_of_two().min(CHUNK) as u64
}

fn wait_for_first(
    gpu: &Gpu,
    under_way: &mut VecDeque<(wgpu::Buffer, Mapping)>,
) -> Result<wgpu::Buffer, Error> {
    let (buffer, mapping) = under_way.pop_front().expect("the ring is waited for only when it is not empty");
    mapping.finish(gpu)?;
    Ok(buffer)
}

fn take_first(
    gpu: &Gpu,
    under_way: &mut VecDeque<(wgpu::Buffer, Mapping)>,
    arrived: &mut VecDeque<&mut [u8]>,
) -> Result<wgpu::Buffer, Error> {
    let buffer = wait_for_first(gpu, under_way)?;
    let chunk = arrived.pop_front().expect("each buffer under way has its chunk");
    copy_from_mapped(&buffer, chunk)?;
    buffer.unmap();
    Ok(buffer)
}

/// A buffer on its way to being mapped.
struct Mapping {
    result: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    submission: wgpu::SubmissionIndex,
}

impl Mapping {
    fn start(
        buffer: &wgpu::Buffer,
        mode: wgpu::MapMode,
        bytes: u64,
        submission: wgpu::SubmissionIndex,
    ) -> Self {
        let (sender, result) = mpsc::channel();
        buffer.map_async(mode, ..bytes, move |mapped| {
            // The receiver is gone only when an earlier buffer failed, which is reported already.
            let _ = sender.send(mapped);
        });
        Self { result, submission }
    }

    fn finish(self, gpu: &Gpu) -> Result<(), Error> {
        let poll = wgpu::PollType::Wait { submission_index: Some(self.submission), timeout: None };
        gpu.device.poll(poll).map_err(Error::device)?;
        gpu.check()?;
        self.result.recv().map_err(Error::device)?.map_err(Error::device)
    }
}

/// The few words in a small buffer, after all that was submitted.
pub(super) fn read_words<T: bytemuck::Pod>(
    gpu: &Gpu,
    from: &wgpu::Buffer,
    bytes: u64,
) -> Result<Vec<T>, Error> {
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let readable = gpu.buffer("words", bytes, usage, false)?;
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(from, 0, &readable, 0, bytes);
    let submission = gpu.queue.submit([encoder.finish()]);
    Mapping::start(&readable, wgpu::MapMode::Read, bytes, submission).finish(gpu)?;
    let view = readable.get_mapped_range(..bytes).map_err(Error::device)?;
    Ok(bytemuck::pod_collect_to_vec(&view))
}

/// Copied by several cores, since one does not saturate memory.
const COPY_PART: usize = 1 << 20;

fn copy_to_mapped(from: &[u8], to: &wgpu::Buffer) -> Result<(), Error> {
    let parts = from.chunks(COPY_PART).enumerate().map(|(number, part)| {
        let start = (number * COPY_PART) as u64;
        Ok((part, to.get_mapped_range_mut(start..start + part.len() as u64).map_err(Error::device)?))
    });
    let parts: Vec<_> = parts.collect::<Result<_, Error>>()?;
    let copy = |(from, mut to): (&[u8], wgpu::BufferViewMut)| to.copy_from_slice(from);
    if parts.len() > 1 {
        parts.into_par_iter().for_each(copy);
    } else {
        parts.into_iter().for_each(copy);
    }
    Ok(())
}

fn copy_from_mapped(from: &wgpu::Buffer, to: &mut [u8]) -> Result<(), Error> {
    let view = from.get_mapped_range(..to.len() as u64).map_err(Error::device)?;
    let parts = to.len().div_ceil(COPY_PART);
    let copy = |(to, from): (&mut [u8], &[u8])| to.copy_from_slice(from);
    if parts > 1 {
        to.par_chunks_mut(COPY_PART).zip(view.par_chunks(COPY_PART)).for_each(copy);
    } else {
        copy((to, &view));
    }
    Ok(())
}
