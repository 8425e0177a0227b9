//! Transfers of keys and payload to the device and back, through rings of staging buffers.
//!
//! A staging buffer is memory that both sides reach. Making one costs more than copying through it,
//! so a transfer has few buffers of a fixed size, and leaves them to the next transfer. While the device copies
//! out of one buffer, the host fills the next.
//!
//! ```text
//! host     fill 0   fill 1   fill 2   wait for 0, fill it …
//! device            copy 0   copy 1   copy 2
//! ```

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::context::Context;
use crate::device::Gpu;
use crate::transfers::readback::Mapping;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, lock};

/// Bytes in one staging buffer.
pub(crate) const CHUNK: u64 = 16 << 20;
/// Staging buffers in a ring.
const RING: usize = 3;

/// The staging buffers of one transfer.
pub(crate) struct Ring<'a> {
    context: &'a Context,
    /// Buffers of finished transfers.
    kept: &'a Mutex<Vec<wgpu::Buffer>>,
    /// Write for an upload, read for a download.
    mode: wgpu::MapMode,
    /// Buffers of submitted copies, each with the number of bytes to map after the copy: at most [`RING`]. A transfer
    /// submits each buffer before it takes the next.
    under_way: VecDeque<(wgpu::Buffer, Mapping, u64)>,
}

impl<'a> Ring<'a> {
    pub(crate) fn new(gpu: &'a Gpu, mode: wgpu::MapMode) -> Self {
        let kept = if mode == wgpu::MapMode::Write { &gpu.staging.up } else { &gpu.staging.down };
        Self { context: &gpu.context, kept, mode, under_way: VecDeque::new() }
    }

    /// A buffer for this number of bytes or for a part of them, with the number of mapped bytes from its previous copy:
    /// 0 for the first copy of a buffer.
    pub(crate) fn next(&mut self, bytes: u64) -> Result<(wgpu::Buffer, u64), Error> {
        if self.under_way.len() == RING
            && let Some(first) = self.first()?
        {
            return Ok(first);
        }
        // All buffers of a large transfer have one size.
        let bytes = bytes.next_power_of_two().min(CHUNK);
        let kept = lock(self.kept).pop().filter(|buffer| buffer.size() >= bytes);
        let usage = if self.mode == wgpu::MapMode::Write {
            wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC
        } else {
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST
        };
        Ok((kept.map_or_else(|| self.context.buffer("staging", bytes, usage), Ok)?, 0))
    }

    /// Submits this copy to or from a buffer, and maps this number of bytes after the copy.
    pub(crate) fn submit(
        &mut self,
        buffer: wgpu::Buffer,
        mapped: u64,
        copy: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) {
        let mut encoder = self.context.encoder("transfer");
        copy(&mut encoder, &buffer);
        let submission = self.context.queue.submit([encoder.finish()]);
        let mapping = Mapping::start(&buffer, self.mode, mapped, submission);
        self.under_way.push_back((buffer, mapping, mapped));
    }

    /// Waits for the oldest submitted copy. Returns its buffer, and the number of mapped bytes.
    pub(crate) fn first(&mut self) -> Result<Option<(wgpu::Buffer, u64)>, Error> {
        let Some((buffer, mapping, mapped)) = self.under_way.pop_front() else { return Ok(None) };
        mapping.finish(self.context)?;
        Ok(Some((buffer, mapped)))
    }

    /// Leaves a buffer to the next transfer.
    pub(crate) fn keep(&self, buffer: wgpu::Buffer) {
        lock(self.kept).push(buffer);
    }
}

/// Keys on their way to the device, as they come.
pub struct Upload<'a> {
    ring: Ring<'a>,
    to: &'a wgpu::Buffer,
    /// Bytes that [`Self::push`] has not received yet.
    room: u64,
    /// Bytes that were submitted.
    submitted: u64,
    /// A mapped buffer, with the number of bytes written to it.
    filling: Option<(wgpu::Buffer, usize)>,
}

impl<'a> Upload<'a> {
    /// Begins to bring `room` bytes to the beginning of a buffer.
    pub(crate) fn new(gpu: &'a Gpu, to: &'a wgpu::Buffer, room: u64) -> Self {
        Self { ring: Ring::new(gpu, wgpu::MapMode::Write), to, room, submitted: 0, filling: None }
    }

    /// Sends the next keys, as bytes. They are copied, so that the caller may drop them once this
    /// returns.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// If the bytes exceed the announced number.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.room = self.room.checked_sub(bytes.len() as u64).expect("no more keys than the plan is for");
        while !bytes.is_empty() {
            let (buffer, filled) = match self.filling.take() {
                Some(filling) => filling,
                None => (self.ring.next(self.room + bytes.len() as u64)?.0, 0),
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

    fn submit(&mut self, buffer: wgpu::Buffer, filled: usize) {
        buffer.unmap();
        let all = buffer.size();
        self.ring.submit(buffer, all, |encoder, buffer| {
            encoder.copy_buffer_to_buffer(buffer, 0, self.to, self.submitted, filled as u64);
        });
        self.submitted += filled as u64;
    }

    /// Waits until all keys are there.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// If the bytes are fewer than announced.
    pub fn finish(mut self) -> Result<(), Error> {
        assert_eq!(self.room, 0, "as many keys as the plan is for");
        if let Some((buffer, filled)) = self.filling.take() {
            self.submit(buffer, filled);
        }
        while let Some((buffer, _)) = self.ring.first()? {
            self.ring.keep(buffer);
        }
        self.ring.context.wait()
    }
}

impl Gpu {
    /// Makes the staging buffers of a large download, so that a lack of memory shows now, and the
    /// download needs no more.
    ///
    /// # Errors
    ///
    /// Too little memory.
    pub fn prepare_download(&self) -> Result<(), Error> {
        let mut ring = Ring::new(self, wgpu::MapMode::Read);
        let buffers: Vec<_> = (0..RING).map(|_| ring.next(CHUNK)).collect::<Result<_, _>>()?;
        buffers.into_iter().for_each(|(buffer, _)| ring.keep(buffer));
        Ok(())
    }

    /// Fills `to` from the beginning of a buffer.
    pub(crate) fn download_to(&self, from: &wgpu::Buffer, to: &mut [u8]) -> Result<(), Error> {
        let bytes = to.len() as u64;
        let mut rest = to;
        self.download(from, bytes, |block| {
            let (place, after) = std::mem::take(&mut rest).split_at_mut(block.len());
            let parts = place.chunks_mut(COPY_PART).zip(block.chunks(COPY_PART));
            parallel::map_parts(parts, |(place, part): (&mut [u8], &[u8])| place.copy_from_slice(part));
            rest = after;
            Ok(())
        })
    }

    /// Brings the first bytes of a buffer to `take`, block by block and in order.
    pub(crate) fn download(
        &self,
        from: &wgpu::Buffer,
        bytes: u64,
        take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let copy = |encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer, start, length| {
            encoder.copy_buffer_to_buffer(from, start, to, 0, length);
            Ok(())
        };
        self.download_by(bytes, copy, take)
    }

    /// Brings bytes to `take`, block by block and in order. `record` records the commands that copy a block to the
    /// beginning of a buffer; it gets the place of the block and its length.
    pub(crate) fn download_by(
        &self,
        bytes: u64,
        mut record: impl FnMut(&mut wgpu::CommandEncoder, &wgpu::Buffer, u64, u64) -> Result<(), Error>,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut take_mapped = |buffer: &wgpu::Buffer, bytes| {
            let view = buffer.get_mapped_range(..bytes).map_err(Error::device)?;
            take(&view)?;
            drop(view);
            buffer.unmap();
            Ok::<_, Error>(())
        };
        let mut ring = Ring::new(self, wgpu::MapMode::Read);
        for start in (0..bytes).step_by(CHUNK as usize) {
            let length = (bytes - start).min(CHUNK);
            let (buffer, mapped) = ring.next(length)?;
            if mapped > 0 {
                take_mapped(&buffer, mapped)?;
            }
            let mut recorded = Ok(());
            ring.submit(buffer, length, |encoder, buffer| recorded = record(encoder, buffer, start, length));
            recorded?;
        }
        while let Some((buffer, mapped)) = ring.first()? {
            take_mapped(&buffer, mapped)?;
            ring.keep(buffer);
        }
        self.context.check()
    }
}

/// Copied by several cores, since one does not saturate memory.
const COPY_PART: usize = 1 << 20;

/// Copies whole words to this offset.
fn copy_to_mapped(from: &[u8], to: &wgpu::Buffer, offset: usize) -> Result<(), Error> {
    // A mapped range begins at a multiple of this; a word may not.
    const ALIGNMENT: usize = wgpu::MAP_ALIGNMENT as usize;
    let (first, rest) = from.split_at(from.len().min(COPY_PART - offset % COPY_PART));
    let starts = std::iter::once(offset).chain((offset + first.len()..).step_by(COPY_PART));
    let parts = std::iter::once(first).chain(rest.chunks(COPY_PART)).zip(starts).map(|(part, start)| {
        let skipped = start % ALIGNMENT;
        let range = (start - skipped) as u64..(start + part.len()) as u64;
        Ok((part, skipped, to.get_mapped_range_mut(range).map_err(Error::device)?))
    });
    let copy = |(from, skipped, mut to): (&[u8], usize, wgpu::BufferViewMut)| {
        to.slice(skipped..).copy_from_slice(from);
    };
    parallel::map_parts(parts.collect::<Result<Vec<_>, Error>>()?, copy);
    Ok(())
}
