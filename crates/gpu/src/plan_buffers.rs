//! The buffers of one sort on the device, made once: its elements, and all else it needs there.

use std::cell::Cell;

use gpusort_planner::kernels::{Iota, LAST_SWAP};
use gpusort_planner::plan::{Plan, Shape};

use super::arrays::{Array, Arrays};
use super::context::Context;
use super::device::Gpu;
use super::encode::Side;
use super::readback::Readback;
use super::recording::Recording;
use super::staging::Upload;
use super::timestamps::Timestamps;
use gpusort_base::error::Error;

/// An array of elements on the device, and what else a sort of it needs there.
pub struct Buffers {
    n: u32,
    /// True if iota is written before the plan.
    needs_iota: bool,
    /// Where iota begins.
    from: u32,
    pub(super) arrays: Arrays,
    /// The side of the elements.
    pub(super) side: Cell<Side>,
    /// Where the host reads the last phase of odd-even sort that swapped.
    last_swap: Option<Readback>,
    pub(super) timestamps: Option<Timestamps>,
}

impl Buffers {
    /// Buffers for the elements of this plan.
    ///
    /// # Errors
    ///
    /// Too little memory on the device.
    pub fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, Error> {
        let context = &gpu.context;
        let arrays = Arrays::new(context, plan)?;
        let last_swap = arrays.aux(LAST_SWAP.name).map(|buffer| Readback::new(context, buffer.size()));
        let last_swap = last_swap.transpose()?;
        let timestamps = Timestamps::new(context, 2)?;
        context.check()?;
        let (n, needs_iota) = (plan.n(), plan.needs_iota());
        Ok(Self { n, needs_iota, from: 0, arrays, side: Cell::new(Side::Front), last_swap, timestamps })
    }

    /// Returns true if these buffers have room for this plan's elements.
    pub fn fit(&self, plan: &Plan) -> bool {
        self.arrays.fit(plan)
    }

    /// Sets the number of elements to this plan's, with positions from 0 on.
    ///
    /// # Panics
    ///
    /// When they do not [`fit`](Self::fit).
    pub fn resize(&mut self, plan: &Plan) {
        assert!(self.fit(plan), "the plan is for other buffers");
        (self.n, self.needs_iota, self.from) = (plan.n(), plan.needs_iota(), 0);
    }

    /// Writes iota from this number on, where the plan needs that.
    pub fn number_from(&mut self, first: u32) {
        self.from = first;
    }

    /// The number of elements.
    pub fn n(&self) -> u32 {
        self.n
    }

    /// The key and payload of an element.
    pub fn shape(&self) -> Shape {
        self.arrays.shape
    }

    /// The array of the elements.
    pub(super) fn array(&self) -> &Array {
        self.arrays.array(self.side.get())
    }

    fn key_bytes(&self) -> u64 {
        u64::from(self.n) * self.shape().key_bytes()
    }

    /// The words of the auxiliary buffer of this name, after all that was submitted; `None` if no
    /// kernel binds it.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn aux(&self, gpu: &Gpu, name: &str) -> Result<Option<Vec<u32>>, Error> {
        let Some(from) = self.arrays.aux(name) else { return Ok(None) };
        let words = Readback::new(&gpu.context, from.size())?;
        words.read(&gpu.context, gpu.context.encoder(name), from).map(Some)
    }

    /// One more than the number of the last phase that swapped something, after all that was
    /// submitted; `None` if no kernel notes it.
    pub(super) fn last_swap(&self, context: &Context) -> Result<Option<u32>, Error> {
        let (Some(words), Some(from)) = (&self.last_swap, self.arrays.aux(LAST_SWAP.name)) else {
            return Ok(None);
        };
        Ok(words.read(context, context.encoder("last swap"), from)?.first().copied())
    }

    /// Writes iota, the positions of elements in their original order.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports; a shape without payload.
    pub fn run_iota(&self, gpu: &Gpu) -> Result<(), Error> {
        let iota = [(Iota { from: self.from }.into(), 0, self.n)];
        let plan = Plan::of_kernels(self.n as usize, self.shape(), &gpu.info().limits, iota)?;
        let mut encoder = gpu.context.encoder("iota");
        let mut recording = Recording::begin(gpu, &plan, &self.arrays, &mut encoder);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        recording.record(&mut pass, |_| true)?;
        drop(pass);
        gpu.context.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Begins to bring keys to the device, and numbers them where the plan needs that.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn begin_upload<'a>(&'a self, gpu: &'a Gpu) -> Result<Upload<'a>, Error> {
        self.side.set(Side::Front);
        if self.needs_iota {
            self.run_iota(gpu)?;
        }
        Ok(Upload::new(gpu, &self.array().keys, self.key_bytes()))
    }

    /// Brings all keys to the device, in blocks, writes iota if the plan needs it, and waits for the end of the
    /// transfer.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When `keys` are not of the size of the buffer.
    pub fn upload<'k>(&self, gpu: &Gpu, keys: impl IntoIterator<Item = &'k [u8]>) -> Result<(), Error> {
        let mut upload = self.begin_upload(gpu)?;
        keys.into_iter().try_for_each(|block| upload.push(block))?;
        upload.finish()
    }

    /// Brings the keys back, or the first of them if `keys` has room for no more.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn download_keys(&self, gpu: &Gpu, keys: &mut [u8]) -> Result<(), Error> {
        gpu.download_to(&self.array().keys, keys)
    }

    /// Brings the keys back block by block, the next ones on their way while `take` has one; `take`
    /// gets them as bytes of mapped memory, in order.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver; the first error of `take`.
    pub fn take_keys(&self, gpu: &Gpu, take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        gpu.download(&self.array().keys, self.key_bytes(), take)
    }

    /// Brings the positions back: for each place, the original position of its element; only the first positions
    /// if `positions` has room for no more.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    ///
    /// # Panics
    ///
    /// When the shape has no payload.
    pub fn download_positions(&self, gpu: &Gpu, positions: &mut [u32]) -> Result<(), Error> {
        assert!(self.shape().payload, "only a shape with positions has any");
        gpu.download_to(&self.array().payload, bytemuck::cast_slice_mut(positions))
    }
}
