//! The device's own clock, where it has one.

use std::time::Duration;

use super::device::Gpu;
use super::transfer::map_read;
use crate::error::Error;

const BEGIN: u32 = 0;
const END: u32 = 1;
const BYTES: u64 = 2 * size_of::<u64>() as u64;

/// Two timestamps: when the first pass began and when the last one ended.
pub(super) struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
}

impl Timestamps {
    /// `None` where the device has no timestamps.
    pub(super) fn new(gpu: &Gpu) -> Result<Option<Self>, Error> {
        if !gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let resolved = gpu.buffer("timestamps", BYTES, usage, false)?;
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let readable = gpu.buffer("timestamps", BYTES, usage, false)?;
        Ok(Some(Self { queries, resolved, readable }))
    }

    /// Where a pass writes them; only the first writes the beginning.
    pub(super) fn writes(&self, first: bool) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: first.then_some(BEGIN),
            end_of_pass_write_index: Some(END),
        }
    }

    /// Records that they be made readable, after the last pass.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, BEGIN..END + 1, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, BYTES);
    }

    /// The time between them. The submit with [`Timestamps::resolve`] must have been made.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<Duration, Error> {
        map_read(gpu, &self.readable, BYTES)?;
        let ticks: [u64; 2] = {
            let view = self.readable.get_mapped_range(..).map_err(Error::device)?;
            bytemuck::pod_read_unaligned(&view)
        };
        self.readable.unmap();
        let nanoseconds =
            ticks[1].wrapping_sub(ticks[0]) as f64 * f64::from(gpu.queue.get_timestamp_period());
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}
