//! Records a plan's dispatches into command encoders and compute passes, of whomever they are. Nothing is
//! submitted here.

use std::iter::Peekable;

use super::arrays::{Arrays, Side};
use super::device::Gpu;
use crate::error::Error;
use crate::plan::{Dispatch, Plan};

/// A plan that is being recorded, in one pass or in several.
pub(super) struct Recording<'a> {
    gpu: &'a Gpu,
    arrays: &'a Arrays,
    ends_early: bool,
    dispatches: Peekable<Box<dyn Iterator<Item = &'a Dispatch> + 'a>>,
    /// Where the elements are after what was recorded.
    pub(super) side: Side,
    recorded: u32,
}

impl<'a> Recording<'a> {
    /// Begins in `encoder`, with the elements in the front array.
    ///
    /// # Panics
    ///
    /// When the plan is for other arrays.
    pub(super) fn begin(
        gpu: &'a Gpu,
        plan: &'a Plan,
        arrays: &'a Arrays,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Self {
        assert!(arrays.fit(plan), "the plan is for other buffers");
        arrays.zeroed().for_each(|buffer| encoder.clear_buffer(buffer, 0, None));
        let dispatches: Box<dyn Iterator<Item = _>> = Box::new(plan.dispatches());
        let dispatches = dispatches.peekable();
        Self { gpu, arrays, ends_early: plan.ends_early(), dispatches, side: Side::Front, recorded: 0 }
    }

    /// Records the next dispatches into a pass, up to one for which `take` is false.
    ///
    /// # Errors
    ///
    /// Whatever the device reports of a pipeline that had to be made.
    pub(super) fn record(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        mut take: impl FnMut(&Dispatch) -> bool,
    ) -> Result<(), Error> {
        let mut current = None;
        while let Some(dispatch) = self.dispatches.next_if(|dispatch| take(dispatch)) {
            let key = dispatch.pipeline();
            if current != Some((key, self.side)) {
                pass.set_pipeline(&self.gpu.pipelines.get(&self.gpu.context, key)?);
                pass.set_bind_group(0, &self.arrays.bind_group(self.gpu, self.side, key.bindings()), &[]);
                current = Some((key, self.side));
            }
            if dispatch.access().changes_sides {
                self.side = self.side.other();
            }
            // Only phases know how to leave out those that would find nothing to do.
            let phase = if self.ends_early { self.recorded } else { 0 };
            pass.set_immediates(0, dispatch.arguments(phase).bytes());
            pass.dispatch_workgroups(dispatch.grid().x, dispatch.grid().y, 1);
            self.recorded = self.recorded.saturating_add(1);
        }
        Ok(())
    }
}
