//! Sorted runs that stay on the device until they are merged there.

use std::ops::Range;

use super::arrays::{Side, USAGE};
use super::buffers::Buffers;
use super::device::Gpu;
use super::readback::Mapping;
use super::staging;
use crate::error::Error;
use crate::plan::Shape;

/// Elements in order, in memory of the device.
pub struct Run {
    count: usize,
    shape: Shape,
    keys: wgpu::Buffer,
    positions: Option<wgpu::Buffer>,
}

impl Run {
    /// Room for this many elements.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    pub fn new(gpu: &Gpu, count: usize, shape: Shape) -> Result<Self, Error> {
        let buffer = |label, each| gpu.context.buffer(label, count.max(1) as u64 * each, USAGE, false);
        let keys = buffer("keys of a run", shape.key_bytes())?;
        let positions = shape.positions.then(|| buffer("positions of a run", 4)).transpose()?;
        Ok(Self { count, shape, keys, positions })
    }

    /// How many elements it has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the elements of these buffers, as they are after all that was submitted.
    ///
    /// # Panics
    ///
    /// When they are not as many, or of another shape.
    pub fn copy(&self, gpu: &Gpu, from: &Buffers) {
        assert!(self.shape == from.shape() && self.count == from.n() as usize, "the run is for others");
        let mut encoder = gpu.context.encoder("run");
        let side = from.side.get();
        let copies = [
            (from.arrays.keys(side), Some(&self.keys), self.shape.key_bytes()),
            (from.arrays.positions(side), self.positions.as_ref(), 4),
        ];
        for (from, to, each) in copies {
            if let Some(to) = to {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, self.count as u64 * each);
            }
        }
        gpu.context.queue.submit([encoder.finish()]);
    }

    /// Brings the keys to memory.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When `keys` are more bytes.
    pub fn download_keys(&self, gpu: &Gpu, keys: &mut [u8]) -> Result<(), Error> {
        staging::download_to(&gpu.context, &gpu.staging, &self.keys, keys)
    }

    /// Brings the positions to memory; nothing where elements have none.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When `positions` are more.
    pub fn download_positions(&self, gpu: &Gpu, positions: &mut [u32]) -> Result<(), Error> {
        let Some(from) = &self.positions else { return Ok(()) };
        staging::download_to(&gpu.context, &gpu.staging, from, bytemuck::cast_slice_mut(positions))
    }

    /// The keys at each of these places of these runs, widened.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When there is no such place.
    pub fn keys_at(gpu: &Gpu, runs: &[&Self], places: &[(usize, usize)]) -> Result<Vec<u64>, Error> {
        let Some(first) = runs.first() else { return Ok(Vec::new()) };
        let each = first.shape.key_bytes();
        let bytes = each * places.len().max(1) as u64;
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let keys = gpu.context.buffer("keys", bytes, usage, false)?;
        let mut encoder = gpu.context.encoder("keys");
        for (to, &(run, place)) in (0..).zip(places) {
            assert!(place < runs[run].count, "the run has no such place");
            encoder.copy_buffer_to_buffer(&runs[run].keys, place as u64 * each, &keys, to * each, each);
        }
        let submission = gpu.context.queue.submit([encoder.finish()]);
        Mapping::start(&keys, wgpu::MapMode::Read, bytes, submission).finish(&gpu.context)?;
        let view = keys.get_mapped_range(..bytes).map_err(Error::device)?;
        let wide = |word: &[u8]| word.iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte));
        Ok(view.chunks(each as usize).take(places.len()).map(wide).collect())
    }
}

impl Buffers {
    /// Takes slices of runs, one after another, as what is to be merged next.
    ///
    /// # Panics
    ///
    /// When they are not as many elements as there are here, or of another shape.
    pub fn gather(&self, gpu: &Gpu, slices: &[(&Run, Range<usize>)]) {
        let count: usize = slices.iter().map(|(_, slice)| slice.len()).sum();
        assert_eq!(count, self.n() as usize, "the buffers are for others");
        let mut encoder = gpu.context.encoder("slices of runs");
        let mut place = 0;
        for (run, slice) in slices.iter().filter(|(_, slice)| !slice.is_empty()) {
            assert!(run.shape == self.shape() && slice.end <= run.count, "the run has no such slice");
            let copies = [
                (Some(&run.keys), self.arrays.keys(Side::Front), run.shape.key_bytes()),
                (run.positions.as_ref(), self.arrays.positions(Side::Front), 4),
            ];
            for (from, to, each) in copies {
                if let Some(from) = from {
                    let (begin, bytes) = (slice.start as u64 * each, slice.len() as u64 * each);
                    encoder.copy_buffer_to_buffer(from, begin, to, place * each, bytes);
                }
            }
            place += slice.len() as u64;
        }
        gpu.context.queue.submit([encoder.finish()]);
        self.side.set(Side::Front);
    }
}
