//! Records a whole plan on buffers of our own, in one pass or in several.

use std::iter::Peekable;

use gpusort_planner::kernels::Iota;
use gpusort_planner::plan::{Dispatch, Plan};

use super::device::Gpu;
use super::encode::{Dispatches, Sent, Side};
use super::pipelines::Pipelines;
use super::plan_buffers::Buffers;
use super::transfers::staging::Upload;
use gpusort_base::error::Error;

/// The state of a recording.
pub(super) struct Recording<'a> {
    pipelines: &'a Pipelines,
    buffers: &'a Buffers,
    ends_early: bool,
    dispatches: Peekable<Box<dyn Iterator<Item = &'a Dispatch> + 'a>>,
    recorded: u32,
}

impl<'a> Recording<'a> {
    /// Begins in `encoder`, with the elements in the front array.
    ///
    /// # Panics
    ///
    /// If the buffers do not fit the plan.
    pub(super) fn begin(
        gpu: &'a Gpu,
        plan: &'a Plan,
        buffers: &'a Buffers,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Self {
        assert!(buffers.fit(plan), "the plan is for other buffers");
        buffers.clear(encoder);
        buffers.side.set(Side::Front);
        let dispatches: Box<dyn Iterator<Item = _>> = Box::new(plan.dispatches());
        let (pipelines, dispatches) = (&gpu.pipelines, dispatches.peekable());
        Self { pipelines, buffers, ends_early: plan.ends_early(), dispatches, recorded: 0 }
    }

    /// Records the next dispatches into a pass while `take` returns true, and sets the buffers' side of the
    /// elements.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes a pipeline.
    pub(super) fn record(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        mut take: impl FnMut(&Dispatch) -> bool,
    ) -> Result<(), Error> {
        let mut recorded = Dispatches::new(self.pipelines, self.buffers, self.buffers.side.get());
        while let Some(dispatch) = self.dispatches.next_if(|dispatch| take(dispatch)) {
            // Only phases end early if they would do nothing.
            let phase = if self.ends_early { self.recorded } else { 0 };
            recorded.record(pass, dispatch, Sent::Immediates(dispatch.arguments(phase).bytes()))?;
            self.recorded = self.recorded.saturating_add(1);
        }
        self.buffers.side.set(recorded.side);
        Ok(())
    }
}

impl Buffers {
    /// Begins to bring keys to the device, and writes iota if the plan needs it.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver.
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
    /// Errors of the device or its driver.
    ///
    /// # Panics
    ///
    /// If `keys` have another size than the buffer.
    pub fn upload<'k>(&self, gpu: &Gpu, keys: impl IntoIterator<Item = &'k [u8]>) -> Result<(), Error> {
        let mut upload = self.begin_upload(gpu)?;
        keys.into_iter().try_for_each(|block| upload.push(block))?;
        upload.finish()
    }

    /// Writes iota, the positions of elements in their original order.
    ///
    /// # Errors
    ///
    /// Errors of the device or its driver; a shape without payload.
    pub fn run_iota(&self, gpu: &Gpu) -> Result<(), Error> {
        let iota = [(Iota { from: self.from }.into(), 0, self.n())];
        let plan = Plan::of_kernels(self.n() as usize, self.shape(), &gpu.info().limits, iota)?;
        let mut encoder = gpu.context.encoder("iota");
        let mut recording = Recording::begin(gpu, &plan, self, &mut encoder);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        recording.record(&mut pass, |_| true)?;
        drop(pass);
        gpu.context.queue.submit([encoder.finish()]);
        Ok(())
    }
}
