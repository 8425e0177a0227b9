//! Sorted runs that stay on the device until they are merged there.

use std::ops::Range;

use gpusort_order::{KeyWords, Shape};

use super::device::Gpu;
use super::encode::Side;
use super::plan_buffers::Buffers;
use super::transfers::arrays::Array;
use super::transfers::readback::Readback;
use gpusort_base::error::Error;

/// Elements in order, in memory of the device.
pub struct ResidentRun(Array);

impl ResidentRun {
    /// Memory for this many elements.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    pub fn new(gpu: &Gpu, count: u32, shape: Shape) -> Result<Self, Error> {
        Array::new(&gpu.context, count, shape).map(Self)
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.0.room as usize
    }

    /// Takes the elements of these buffers, as they are after all that was submitted.
    ///
    /// # Panics
    ///
    /// If the number or the shape of the elements differs.
    pub fn copy(&self, gpu: &Gpu, from: &Buffers) {
        assert_eq!(self.0.room, from.n(), "the run is for others");
        let mut encoder = gpu.context.encoder("run");
        from.array().copy(&mut encoder, 0..self.count(), &self.0, 0);
        gpu.context.queue.submit([encoder.finish()]);
    }

    /// Brings the payload to memory, where elements have one, or else keys.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When `to` is longer.
    pub fn download(&self, gpu: &Gpu, to: &mut [u8]) -> Result<(), Error> {
        let from = if self.0.shape.payload { &self.0.payload } else { &self.0.keys };
        gpu.download_to(from, to)
    }

    /// The keys at each of these places of these runs, widened.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// If a run has no such place.
    pub fn keys_at(gpu: &Gpu, runs: &[&Self], places: &[(usize, usize)]) -> Result<Vec<u64>, Error> {
        let (Some(first), false) = (runs.first(), places.is_empty()) else { return Ok(Vec::new()) };
        let each = first.0.shape.key_bytes();
        let keys = Readback::new(&gpu.context, each * places.len() as u64)?;
        let mut encoder = gpu.context.encoder("keys");
        for (to, &(run, place)) in (0..).zip(places) {
            assert!(place < runs[run].count(), "the run has no such place");
            let from = &runs[run].0.keys;
            encoder.copy_buffer_to_buffer(from, place as u64 * each, &keys.0, to * each, each);
        }
        match first.0.shape.key {
            KeyWords::One => {
                let keys: Vec<u32> = keys.collect(&gpu.context, encoder)?;
                Ok(keys.into_iter().map(u64::from).collect())
            }
            KeyWords::Two => keys.collect(&gpu.context, encoder),
        }
    }
}

impl Buffers {
    /// Takes slices of runs, one after another, for the next merge.
    ///
    /// # Panics
    ///
    /// If the slices have another number of elements than these buffers, or another shape.
    pub fn gather(&self, gpu: &Gpu, slices: &[(&ResidentRun, Range<usize>)]) {
        let mut encoder = gpu.context.encoder("slices of runs");
        self.side.set(Side::Front);
        let mut place = 0;
        for (run, slice) in slices {
            run.0.copy(&mut encoder, slice.clone(), self.array(), place);
            place += slice.len();
        }
        assert_eq!(place, self.n() as usize, "the buffers are for others");
        gpu.context.queue.submit([encoder.finish()]);
    }
}
