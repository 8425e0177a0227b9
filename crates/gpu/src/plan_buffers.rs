//! The buffers of one sort on the device, made once: its elements, and all else it needs there.

use std::cell::Cell;

use gpusort_planner::kernels::{Iota, LAST_SWAP};
use gpusort_planner::plan::{Plan, Shape};

use super::arrays::Arrays;
use super::context::Context;
use super::device::Gpu;
use super::encode::Side;
use super::readback::Readback;
use super::recording::Recording;
use super::staging::{self, Upload};
use super::timestamps::Timestamps;
use gpusort_base::error::Error;

/// An array of elements on the device, and what else a sort of it needs there.
pub struct Buffers {
    n: u32,
    /// Whether iota is written before the plan.
    needs_iota: bool,
    /// Where iota begins.
    from: u32,
    pub(super) arrays: Arrays,
    /// Which of the arrays the elements are in.
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

    /// Whether this plan's elements have room here.
    pub fn fit(&self, plan: &Plan) -> bool {
        self.arrays.fit(plan)
    }

    /// Takes as many elements as this plan has from now on, with positions from 0 on.
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

    /// How many elements there are.
    pub fn n(&self) -> u32 {
        self.n
    }

    /// What an element is made of.
    pub fn shape(&self) -> Shape {
        self.arrays.shape
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

    /// Writes iota, as of elements that are where they came.
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
        let Gpu { context, staging, .. } = gpu;
        self.side.set(Side::Front);
        if self.needs_iota {
            self.run_iota(gpu)?;
        }
        let bytes = u64::from(self.n) * self.shape().key_bytes();
        Ok(Upload::new(context, staging, &self.arrays.array(Side::Front).keys, bytes))
    }

    /// Brings keys to the device that are all there, in blocks, and numbers them where the plan
    /// needs that; returns when that is done.
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
        staging::download_to(&gpu.context, &gpu.staging, &self.arrays.array(self.side.get()).keys, keys)
    }

    /// Brings the keys back block by block, the next ones on their way while `take` has one; `take`
    /// gets them as bytes of mapped memory, in order.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports; what `take` says, with which it ends.
    pub fn take_keys(&self, gpu: &Gpu, take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let bytes = u64::from(self.n) * self.shape().key_bytes();
        staging::download(&gpu.context, &gpu.staging, &self.arrays.array(self.side.get()).keys, bytes, take)
    }

    /// Brings the positions back: the input's position of the element that is now at each place, or
    /// at the first ones if `positions` has room for no more.
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
        let buffer = &self.arrays.array(self.side.get()).payload;
        staging::download_to(&gpu.context, &gpu.staging, buffer, bytemuck::cast_slice_mut(positions))
    }
}
