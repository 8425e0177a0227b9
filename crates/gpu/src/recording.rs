//! Records a whole plan on arrays of our own, in one pass or in several.

use std::iter::Peekable;

use gpusort_planner::plan::{Dispatch, Plan};

use super::arrays::Arrays;
use super::device::Gpu;
use super::encode::{Dispatches, Sent, Side};
use super::pipelines::Pipelines;
use gpusort_base::error::Error;

/// A plan that is being recorded on arrays of our own, in one pass or in several.
pub(super) struct Recording<'a> {
    pipelines: &'a Pipelines,
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
        let (pipelines, dispatches, side) = (&gpu.pipelines, dispatches.peekable(), Side::Front);
        Self { pipelines, arrays, ends_early: plan.ends_early(), dispatches, side, recorded: 0 }
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
        let mut recorded = Dispatches::new(self.pipelines, self.arrays, self.side);
        while let Some(dispatch) = self.dispatches.next_if(|dispatch| take(dispatch)) {
            // Only phases know how to leave out those that would find nothing to do.
            let phase = if self.ends_early { self.recorded } else { 0 };
            recorded.record(pass, dispatch, Sent::Immediates(dispatch.arguments(phase).bytes()))?;
            self.recorded = self.recorded.saturating_add(1);
        }
        self.side = recorded.side;
        Ok(())
    }
}
