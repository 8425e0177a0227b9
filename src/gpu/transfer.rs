//! The elements on the device, and their way there and back through a ring of staging buffers.
//!
//! A staging buffer is memory that both sides reach. Making one costs more than copying through it, so
//! there are few, of a fixed size, and they are kept: while the device copies out of one, the host
//! fills the next.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::mpsc;

use super::device::Gpu;
use super::kernels::{KEYS, POSITIONS, SCRATCH_KEYS, SCRATCH_POSITIONS, bindings, iota};
use super::timestamps::Timestamps;
use crate::error::Error;
use crate::parallel::{self, IndexedParallelIterator, ParallelIterator};
use crate::plan::{Plan, Shape};

/// An array of elements on the device, and what else a sort of it needs there: all is made once.
pub struct Buffers {
    n: u32,
    room: u32,
    shape: Shape,
    front: Array,
    /// A second array, for plans that cannot work in place.
    back: Option<Array>,
    /// How many elements that one has room for.
    back_room: u32,
    /// Which of them the elements are in.
    side: Cell<Side>,
    /// What phases of odd-even sort leave for those after them, a word: see `last_swap` in `common.wgsl`.
    state: wgpu::Buffer,
    state_words: Words,
    timestamps: Option<Timestamps>,
    /// By side, and whether the other side is bound as scratch.
    bind_groups: HashMap<(Side, bool), wgpu::BindGroup>,
}

/// The buffers of one array.
struct Array {
    keys: wgpu::Buffer,
    positions: Option<wgpu::Buffer>,
}

/// Which of two arrays holds the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Where they are uploaded to.
    Front,
    Back,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back => Self::Front,
        }
    }
}

impl Array {
    fn new(gpu: &Gpu, room: u32, shape: Shape) -> Result<Self, Error> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        // A binding may not be empty.
        let words = u64::from(room.max(1)) * 4;
        let keys = gpu.buffer("keys", words * u64::from(shape.key_words), usage, false)?;
        let positions = shape.positions.then(|| gpu.buffer("positions", words, usage, false)).transpose()?;
        Ok(Self { keys, positions })
    }
}

fn bind_group(
    gpu: &Gpu,
    shape: Shape,
    array: &Array,
    scratch: Option<&Array>,
    state: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let buffer = |binding| match binding {
        KEYS => Some(&array.keys),
        POSITIONS => array.positions.as_ref(),
        SCRATCH_KEYS => scratch.map(|scratch| &scratch.keys),
        SCRATCH_POSITIONS => scratch.and_then(|scratch| scratch.positions.as_ref()),
        _ => Some(state),
    };
    let entries: Vec<_> = bindings(shape.positions, scratch.is_some())
        .into_iter()
        .filter_map(|binding| Some((binding, buffer(binding)?)))
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("elements"),
        layout: gpu.kernels.bindings(shape, scratch.is_some()),
        entries: &entries,
    })
}

impl Buffers {
    /// Room for the elements of this plan.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    pub fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, Error> {
        let front = Array::new(gpu, plan.padded, plan.shape)?;
        let back = (plan.scratch > 0).then(|| Array::new(gpu, plan.scratch, plan.shape)).transpose()?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let state = gpu.buffer("state", STATE_BYTES, usage, false)?;

        let mut arrays = vec![((Side::Front, false), &front, None)];
        if let Some(back) = &back {
            arrays.extend([
                ((Side::Front, true), &front, Some(back)),
                ((Side::Back, false), back, None),
                ((Side::Back, true), back, Some(&front)),
            ]);
        }
        let bind = |(key, array, scratch)| (key, bind_group(gpu, plan.shape, array, scratch, &state));
        let bind_groups = arrays.into_iter().map(bind).collect();
        gpu.check()?;
        Ok(Self {
            n: plan.n,
            room: plan.padded,
            shape: plan.shape,
            front,
            back,
            back_room: plan.scratch,
            side: Cell::new(Side::Front),
            state,
            state_words: Words::new(gpu, STATE_BYTES)?,
            timestamps: Timestamps::new(gpu)?,
            bind_groups,
        })
    }

    /// Whether this plan's elements have room here.
    #[must_use]
    pub fn fit(&self, plan: &Plan) -> bool {
        self.room >= plan.padded && self.shape == plan.shape && self.back_room >= plan.scratch
    }

    /// Takes as many elements as this plan has from now on.
    ///
    /// # Panics
    ///
    /// When they do not [`fit`](Self::fit).
    pub fn resize(&mut self, plan: &Plan) {
        assert!(self.fit(plan), "the plan is for other buffers");
        self.n = plan.n;
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

    /// What the state is, after all that was submitted.
    pub(super) fn read_state(&self, gpu: &Gpu) -> Result<u32, Error> {
        let encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        Ok(self.state_words.read(gpu, encoder, &self.state)?[0])
    }

    pub(super) fn timestamps(&self) -> Option<&Timestamps> {
        self.timestamps.as_ref()
    }

    /// Notes on which side the elements are.
    pub(super) fn set_side(&self, side: Side) {
        self.side.set(side);
    }

    /// The array that the elements are in.
    fn array(&self) -> &Array {
        match (self.side.get(), &self.back) {
            (Side::Back, Some(back)) => back,
            _ => &self.front,
        }
    }

    /// The bind group with the elements on this side and, if so, the other side as scratch.
    pub(super) fn bind_group(&self, side: Side, scratch: bool) -> &wgpu::BindGroup {
        &self.bind_groups[&(side, scratch)]
    }

    /// Begins to bring keys to the device, and numbers them 0, 1, 2, … where there are positions.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn begin_upload<'a>(&'a self, gpu: &'a Gpu) -> Result<Upload<'a>, Error> {
        self.set_side(Side::Front);
        if self.shape.positions && self.n > 0 {
            let (key, arguments, workgroup_size) = iota(self.n, self.shape.key_words);
            let workgroups = self.n.div_ceil(workgroup_size);
            let rows = workgroups.div_ceil(gpu.info().limits.workgroups_per_dimension);
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&gpu.pipeline(key)?);
            pass.set_bind_group(0, self.bind_group(Side::Front, false), &[]);
            pass.set_immediates(0, bytemuck::bytes_of(&arguments));
            pass.dispatch_workgroups(workgroups.div_ceil(rows), rows, 1);
            drop(pass);
            gpu.queue.submit([encoder.finish()]);
        }
        let room = u64::from(self.n) * u64::from(self.shape.key_words) * 4;
        Ok(Upload::new(gpu, &self.front.keys, room))
    }

    /// Brings keys to the device that are all there, as [`Buffers::begin_upload`] does; returns when that is done.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When `keys` are not of the size of the buffer.
    pub fn upload(&self, gpu: &Gpu, keys: &[u8]) -> Result<(), Error> {
        let mut upload = self.begin_upload(gpu)?;
        upload.push(keys)?;
        upload.finish()
    }

    /// Brings the keys back, or the first of them if `keys` has room for no more.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn download_keys(&self, gpu: &Gpu, keys: &mut [u8]) -> Result<(), Error> {
        download_to(gpu, &self.array().keys, keys)
    }

    /// Brings the keys back block by block, the next ones on their way while `take` has one; `take` gets them as
    /// bytes of mapped memory, in order.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports; what `take` says, with which it ends.
    pub fn take_keys<E: From<Error>>(
        &self,
        gpu: &Gpu,
        take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = u64::from(self.n) * u64::from(self.shape.key_words) * 4;
        download(gpu, &self.array().keys, bytes, take)
    }

    /// Brings the positions back: the input's position of the element that is now at each place, or at the first
    /// ones if `positions` has room for no more.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When the shape has no positions.
    pub fn download_positions(&self, gpu: &Gpu, positions: &mut [u32]) -> Result<(), Error> {
        let buffer = self.array().positions.as_ref();
        let buffer = buffer.expect("the caller asks only where the shape has positions");
        download_to(gpu, buffer, bytemuck::cast_slice_mut(positions))
    }
}

/// Bytes of the state.
const STATE_BYTES: u64 = 4;

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

/// Keys on their way to the device, as they come.
pub struct Upload<'a> {
    gpu: &'a Gpu,
    to: &'a wgpu::Buffer,
    /// Bytes that are still to come.
    room: u64,
    /// Bytes that were submitted.
    submitted: u64,
    /// Mapped, with so many bytes filled.
    filling: Option<(wgpu::Buffer, usize)>,
    under_way: VecDeque<(wgpu::Buffer, Mapping)>,
    /// How many buffers this upload has made or taken.
    buffers: usize,
}

impl<'a> Upload<'a> {
    fn new(gpu: &'a Gpu, to: &'a wgpu::Buffer, room: u64) -> Self {
        Self { gpu, to, room, submitted: 0, filling: None, under_way: VecDeque::new(), buffers: 0 }
    }

    /// Sends the next keys, as bytes. They are copied, so that they may go once this returns.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When they are more than the buffers are for.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.room = self.room.checked_sub(bytes.len() as u64).expect("no more keys than the plan is for");
        while !bytes.is_empty() {
            let (buffer, filled) = match self.filling.take() {
                Some(filling) => filling,
                None => (self.buffer(self.room + bytes.len() as u64)?, 0),
            };
            let room = buffer.size() as usize - filled;
            let (now, later) = bytes.split_at(bytes.len().min(room));
            copy_to_mapped(now, &buffer, filled)?;
            if now.len() == room {
                self.submit(buffer, filled + now.len());
            } else {
                self.filling = Some((buffer, filled + now.len()));
            }
            bytes = later;
        }
        Ok(())
    }

    /// A mapped buffer, which is to take this many bytes or a part of them.
    fn buffer(&mut self, bytes: u64) -> Result<wgpu::Buffer, Error> {
        let bytes = room(bytes);
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        if self.buffers < RING {
            self.buffers += 1;
            let kept = self.gpu.staging().up.pop().filter(|buffer| buffer.size() >= bytes);
            return kept.map_or_else(|| self.gpu.buffer("staging", bytes, usage, true), Ok);
        }
        wait_for_first(self.gpu, &mut self.under_way)
    }

    fn submit(&mut self, buffer: wgpu::Buffer, bytes: usize) {
        buffer.unmap();
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&buffer, 0, self.to, self.submitted, bytes as u64);
        self.submitted += bytes as u64;
        let submission = self.gpu.queue.submit([encoder.finish()]);
        let mapping = Mapping::start(&buffer, wgpu::MapMode::Write, buffer.size(), submission);
        self.under_way.push_back((buffer, mapping));
    }

    /// Waits until all keys are there.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When they are fewer than the buffers are for.
    pub fn finish(mut self) -> Result<(), Error> {
        assert_eq!(self.room, 0, "as many keys as the plan is for");
        if let Some((buffer, filled)) = self.filling.take() {
            self.submit(buffer, filled);
        }
        while !self.under_way.is_empty() {
            let buffer = wait_for_first(self.gpu, &mut self.under_way)?;
            self.gpu.staging().up.push(buffer);
        }
        self.gpu.wait()
    }
}

/// Brings all of `to` from the beginning of a buffer.
fn download_to(gpu: &Gpu, from: &wgpu::Buffer, to: &mut [u8]) -> Result<(), Error> {
    let mut rest = &mut to[..];
    let bytes = rest.len() as u64;
    download(gpu, from, bytes, |block| {
        let (place, after) = std::mem::take(&mut rest).split_at_mut(block.len());
        copy(block, place);
        rest = after;
        Ok(())
    })
}

/// Brings so many bytes of a buffer, block by block.
fn download<E: From<Error>>(
    gpu: &Gpu,
    from: &wgpu::Buffer,
    bytes: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut under_way: VecDeque<(wgpu::Buffer, Mapping, u64)> = VecDeque::new();
    let mut take_first = |under_way: &mut VecDeque<(wgpu::Buffer, Mapping, u64)>| {
        let Some((buffer, mapping, length)) = under_way.pop_front() else { return Ok(None) };
        mapping.finish(gpu)?;
        let view = buffer.get_mapped_range(..length).map_err(Error::device)?;
        take(&view)?;
        drop(view);
        buffer.unmap();
        Ok::<_, E>(Some(buffer))
    };
    let mut buffers = 0;
    for start in (0..bytes).step_by(CHUNK) {
        let length = (bytes - start).min(CHUNK as u64);
        let buffer = if buffers < RING { None } else { take_first(&mut under_way)? };
        let buffer = if let Some(buffer) = buffer {
            buffer
        } else {
            buffers += 1;
            let kept = gpu.staging().down.pop().filter(|buffer| buffer.size() >= length);
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            kept.map_or_else(|| gpu.buffer("staging", room(length), usage, false), Ok)?
        };
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(from, start, &buffer, 0, length);
        let submission = gpu.queue.submit([encoder.finish()]);
        let mapping = Mapping::start(&buffer, wgpu::MapMode::Read, length, submission);
        under_way.push_back((buffer, mapping, length));
    }
    while let Some(buffer) = take_first(&mut under_way)? {
        gpu.staging().down.push(buffer);
    }
    Ok(gpu.check()?)
}

/// What a staging buffer should hold for so many bytes, or for some of them: all of a large transfer's the same.
fn room(bytes: u64) -> u64 {
    bytes.next_power_of_two().min(CHUNK as u64)
}

fn wait_for_first(
    gpu: &Gpu,
    under_way: &mut VecDeque<(wgpu::Buffer, Mapping)>,
) -> Result<wgpu::Buffer, Error> {
    let (buffer, mapping) = under_way.pop_front().expect("the ring is waited for only when it is not empty");
    mapping.finish(gpu)?;
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

/// A small buffer through which the host reads a few words.
pub(super) struct Words(wgpu::Buffer);

impl Words {
    pub(super) fn new(gpu: &Gpu, bytes: u64) -> Result<Self, Error> {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        Ok(Self(gpu.buffer("words", bytes, usage, false)?))
    }

    /// The words in `from`, after all that was submitted and what is in `encoder`.
    pub(super) fn read<T: bytemuck::Pod>(
        &self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
        from: &wgpu::Buffer,
    ) -> Result<Vec<T>, Error> {
        let bytes = self.0.size();
        encoder.copy_buffer_to_buffer(from, 0, &self.0, 0, bytes);
        let submission = gpu.queue.submit([encoder.finish()]);
        Mapping::start(&self.0, wgpu::MapMode::Read, bytes, submission).finish(gpu)?;
        let view = self.0.get_mapped_range(..bytes).map_err(Error::device)?;
        let words = bytemuck::pod_collect_to_vec(&view);
        drop(view);
        self.0.unmap();
        Ok(words)
    }
}

/// Copied by several cores, since one does not saturate memory.
const COPY_PART: usize = 1 << 20;

/// Copies whole words to this offset.
fn copy_to_mapped(from: &[u8], to: &wgpu::Buffer, offset: usize) -> Result<(), Error> {
    // A view begins at a multiple of this, which a word may not do.
    const ALIGNMENT: usize = wgpu::MAP_ALIGNMENT as usize;
    let (first, rest) = from.split_at(from.len().min(COPY_PART - offset % COPY_PART));
    let starts = std::iter::once(offset).chain((offset + first.len()..).step_by(COPY_PART));
    let parts = std::iter::once(first).chain(rest.chunks(COPY_PART)).zip(starts).map(|(part, start)| {
        let skipped = start % ALIGNMENT;
        let range = (start - skipped) as u64..(start + part.len()) as u64;
        Ok((part, skipped, to.get_mapped_range_mut(range).map_err(Error::device)?))
    });
    let parts: Vec<_> = parts.collect::<Result<_, Error>>()?;
    let copy = |(from, skipped, mut to): (&[u8], usize, wgpu::BufferViewMut)| {
        to.slice(skipped..).copy_from_slice(from);
    };
    if parts.len() > 1 {
        parallel::take(parts).for_each(copy);
    } else {
        parts.into_iter().for_each(copy);
    }
    Ok(())
}

fn copy(from: &[u8], to: &mut [u8]) {
    let parts = to.len().div_ceil(COPY_PART);
    let copy = |(to, from): (&mut [u8], &[u8])| to.copy_from_slice(from);
    if parts > 1 {
        parallel::chunks_mut(to, COPY_PART).zip(parallel::chunks(from, COPY_PART)).for_each(copy);
    } else {
        copy((to, from));
    }
}
