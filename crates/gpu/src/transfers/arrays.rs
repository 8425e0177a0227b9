//! An array of elements on the device.

use std::ops::Range;

use gpusort_planner::plan::Shape;

use crate::context::Context;
use gpusort_base::error::Error;

/// The buffers of one array.
pub(crate) struct Array {
    pub(crate) shape: Shape,
    /// The most elements.
    pub(crate) room: u32,
    pub(crate) keys: wgpu::Buffer,
    /// An unused word if elements have no payload; see `numbers` in `pipelines.rs`.
    pub(crate) payload: wgpu::Buffer,
}

pub(crate) const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Array {
    pub(crate) fn new(context: &Context, room: u32, shape: Shape) -> Result<Self, Error> {
        // A binding may not be empty.
        let elements = u64::from(room.max(1));
        let keys = context.buffer("keys", elements * shape.key_bytes(), USAGE)?;
        let payload = if shape.payload { elements } else { 1 };
        let payload = context.buffer("payload", payload * 4, USAGE)?;
        Ok(Self { shape, room, keys, payload })
    }

    /// Copies this slice of elements to another array, from this place on.
    ///
    /// # Panics
    ///
    /// If one of the arrays has no such place, or if they have elements of different shapes.
    pub(crate) fn copy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        slice: Range<usize>,
        to: &Self,
        place: usize,
    ) {
        assert!(self.shape == to.shape, "the arrays have different elements");
        assert!(
            slice.end <= self.room as usize && place + slice.len() <= to.room as usize,
            "outside of an array"
        );
        let mut copy = |from: &wgpu::Buffer, to: &wgpu::Buffer, each: u64| {
            let [begin, place, count] =
                [slice.start, place, slice.len()].map(|elements| elements as u64 * each);
            encoder.copy_buffer_to_buffer(from, begin, to, place, count);
        };
        copy(&self.keys, &to.keys, self.shape.key_bytes());
        if self.shape.payload {
            copy(&self.payload, &to.payload, 4);
        }
    }
}
