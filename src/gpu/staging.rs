//! The way of keys and positions to the device and back, through rings of staging buffers.
//!
//! A staging buffer is memory that both sides reach. Making one costs more than copying through it, so
//! there are few, of a fixed size, and they are kept: while the device copies out of one, the host
//! fills the next.
//!
//! ```text
//! host     fill 0   fill 1   fill 2   wait for 0, fill it …
//! device            copy 0   copy 1   copy 2
//! ```

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::Context;
use super::readback::Mapping;
use crate::error::Error;
use crate::parallel::{self, IndexedParallelIterator, ParallelIterator};

/// Bytes in one staging buffer.
const CHUNK: usize = 16 << 20;
/// Staging buffers in a ring.
const RING: usize = 3;

/// Staging buffers that are not in use, kept for the next transfer.
#[derive(Default)]
pub(super) struct Staging {
    /// For the way to the device; mapped.
    up: Mutex<Vec<wgpu::Buffer>>,
    /// For the way back; not mapped.
    down: Mutex<Vec<wgpu::Buffer>>,
}

fn lock(buffers: &Mutex<Vec<wgpu::Buffer>>) -> MutexGuard<'_, Vec<wgpu::Buffer>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keys on their way to the device, as they come.
pub struct Upload<'a> {
    context: &'a Context,
    staging: &'a Staging,
    to: &'a wgpu::Buffer,
    /// Bytes that are still to come.
    room: u64,
    /// Bytes that were submitted.
    submitted: u64,
    /// Mapped, with the number of bytes that are filled.
    filling: Option<(wgpu::Buffer, usize)>,
    under_way: VecDeque<(wgpu::Buffer, Mapping)>,
    /// How many buffers this upload has made or taken.
    buffers: usize,
}

impl<'a> Upload<'a> {
    /// Begins to bring `room` bytes to the beginning of a buffer.
    pub(super) fn new(context: &'a Context, staging: &'a Staging, to: &'a wgpu::Buffer, room: u64) -> Self {
        Self {
            context,
            staging,
            to,
            room,
            submitted: 0,
            filling: None,
            under_way: VecDeque::new(),
            buffers: 0,
        }
    }

    /// Sends the next keys, as bytes. They are copied, so that the caller may drop them once this returns.
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
            let kept = lock(&self.staging.up).pop().filter(|buffer| buffer.size() >= bytes);
            return kept.map_or_else(|| self.context.buffer("staging", bytes, usage, true), Ok);
        }
        wait_for_first(self.context, &mut self.under_way)
    }

    fn submit(&mut self, buffer: wgpu::Buffer, bytes: usize) {
        buffer.unmap();
        let mut encoder = self.context.encoder("upload");
        encoder.copy_buffer_to_buffer(&buffer, 0, self.to, self.submitted, bytes as u64);
        self.submitted += bytes as u64;
        let submission = self.context.queue.submit([encoder.finish()]);
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
            let buffer = wait_for_first(self.context, &mut self.under_way)?;
            lock(&self.staging.up).push(buffer);
        }
        self.context.wait()
    }
}

/// Fills `to` from the beginning of a buffer.
pub(super) fn download_to(
    context: &Context,
    staging: &Staging,
    from: &wgpu::Buffer,
    to: &mut [u8],
) -> Result<(), Error> {
    let mut rest = &mut to[..];
    let bytes = rest.len() as u64;
    download(context, staging, from, bytes, |block| {
        let (place, after) = std::mem::take(&mut rest).split_at_mut(block.len());
        copy(block, place);
        rest = after;
        Ok(())
    })
}

/// Brings so many bytes of a buffer to `take`, block by block and in order.
pub(super) fn download<E: From<Error>>(
    context: &Context,
    staging: &Staging,
    from: &wgpu::Buffer,
    bytes: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut under_way: VecDeque<(wgpu::Buffer, Mapping, u64)> = VecDeque::new();
    let mut take_first = |under_way: &mut VecDeque<(wgpu::Buffer, Mapping, u64)>| {
        let Some((buffer, mapping, length)) = under_way.pop_front() else { return Ok(None) };
        mapping.finish(context)?;
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
            let kept = lock(&staging.down).pop().filter(|buffer| buffer.size() >= length);
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            kept.map_or_else(|| context.buffer("staging", room(length), usage, false), Ok)?
        };
        let mut encoder = context.encoder("download");
        encoder.copy_buffer_to_buffer(from, start, &buffer, 0, length);
        let submission = context.queue.submit([encoder.finish()]);
        let mapping = Mapping::start(&buffer, wgpu::MapMode::Read, length, submission);
        under_way.push_back((buffer, mapping, length));
    }
    while let Some(buffer) = take_first(&mut under_way)? {
        lock(&staging.down).push(buffer);
    }
    Ok(context.check()?)
}

/// What a staging buffer should hold for so many bytes, or for some of them: the same for all of a large transfer.
fn room(bytes: u64) -> u64 {
    bytes.next_power_of_two().min(CHUNK as u64)
}

fn wait_for_first(
    context: &Context,
    under_way: &mut VecDeque<(wgpu::Buffer, Mapping)>,
) -> Result<wgpu::Buffer, Error> {
    let (buffer, mapping) = under_way.pop_front().expect("the ring is waited for only when it is not empty");
    mapping.finish(context)?;
    Ok(buffer)
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
    parallel::map_parts(parts, copy);
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
