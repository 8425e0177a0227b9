//! The device's own clock, where it has one.

use std::time::Duration;

use super::context::Context;
use super::readback::Readback;
use crate::error::Error;

const BEGIN: u32 = 0;
const END: u32 = 1;
const BYTES: u64 = 2 * size_of::<u64>() as u64;

/// Two timestamps: when the first pass began and when the last one ended.
pub(super) struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    words: Readback,
}

impl Timestamps {
    /// `None` where the device has no timestamps.
    pub(super) fn new(context: &Context) -> Result<Option<Self>, Error> {
        if !context.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let queries = context.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let resolved = context.buffer("timestamps", BYTES, usage, false)?;
        Ok(Some(Self { queries, resolved, words: Readback::new(context, BYTES)? }))
    }

    /// Where a pass writes them; only the first writes the beginning.
    pub(super) fn writes(&self, first: bool) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: first.then_some(BEGIN),
            end_of_pass_write_index: Some(END),
        }
    }

    /// The time between them, once the passes are submitted.
    pub(super) fn read(&self, context: &Context) -> Result<Duration, Error> {
        let mut encoder = context.encoder("timestamps");
        encoder.resolve_query_set(&self.queries, BEGIN..END + 1, &self.resolved, 0);
        let ticks: Vec<u64> = self.words.read(context, encoder, &self.resolved)?;
        let nanoseconds =
            ticks[1].wrapping_sub(ticks[0]) as f64 * f64::from(context.queue.get_timestamp_period());
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}
