//! Timestamps by the device's clock.

use std::time::Duration;

use super::bindings::label;
use super::context::Context;
use super::transfers::readback::Readback;
use gpusort_base::error::Error;

/// The timestamps of one submit.
pub(super) struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    words: Readback,
}

impl Timestamps {
    /// `count` timestamps; `None` if the device has none.
    pub(super) fn new(context: &Context, count: u32) -> Result<Option<Self>, Error> {
        if !context.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let (label, ty) = (label("timestamps"), wgpu::QueryType::Timestamp);
        let queries =
            context.device.create_query_set(&wgpu::QuerySetDescriptor { label: Some(&label), ty, count });
        let bytes = u64::from(count) * size_of::<u64>() as u64;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let resolved = context.buffer("timestamps", bytes, usage)?;
        Ok(Some(Self { queries, resolved, words: Readback::new(context, bytes)? }))
    }

    /// Makes a pass write timestamp `begin` at its beginning and `end` at its end.
    pub(super) fn writes(
        &self,
        begin: Option<u32>,
        end: Option<u32>,
    ) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: begin,
            end_of_pass_write_index: end,
        }
    }

    /// Writes timestamp `number` inside a pass.
    pub(super) fn write(&self, pass: &mut wgpu::ComputePass<'_>, number: u32) {
        pass.write_timestamp(&self.queries, number);
    }

    /// Submits `encoder`, waits, and returns the times between the first `count` timestamps.
    pub(super) fn read(
        &self,
        context: &Context,
        mut encoder: wgpu::CommandEncoder,
        count: u32,
    ) -> Result<Vec<Duration>, Error> {
        encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
        let ticks: Vec<u64> = self.words.read(context, encoder, &self.resolved)?;
        let period = f64::from(context.queue.get_timestamp_period());
        // Saturates, in case the clock was set back.
        let nanoseconds = |ticks: &[u64]| (ticks[1].saturating_sub(ticks[0]) as f64 * period) as u64;
        Ok(ticks[..count as usize].windows(2).map(nanoseconds).map(Duration::from_nanos).collect())
    }
}
