//! Records a selection of the first k elements of the sorted order, and a sort of them.
//!
//! ```text
//! prepare      number of elements, arguments of all passes                   unless the host knows both
//! selection    moves the first k elements to the beginning of the slices, in their original order
//! sort         sorts these k elements, like any others
//! ```

use gpusort_planner::kernels::PipelineKey;
use gpusort_planner::plan::Dispatch;

use super::{RecordedSort, Recorder, begin_pass};
use crate::bindings::{bind_group, whole};
use gpusort_base::error::Error;

impl Recorder {
    /// Records passes that leave the first `k` elements in order at the beginning; the elements after them are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes a pipeline.
    pub(super) fn record_top(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sort: &RecordedSort,
        k: u32,
    ) -> Result<(), Error> {
        let Some(plan) = self.planners.sort.top(k, sort.most)? else {
            return self.record_sort(encoder, sort);
        };
        let takes_immediates = self.takes_immediates(sort);
        let as_recorded = |key: PipelineKey| if takes_immediates { key } else { key.of_slices() };
        self.pipelines.make(plan.distinct_dispatches().map(Dispatch::pipeline).map(as_recorded))?;
        let mut pass = begin_pass(encoder, "gpusort top");
        if !takes_immediates {
            let buffers = [(0, whole(&sort.scratch.parameters)), (1, self.count(sort.count))];
            // Both kernels have these buffers.
            let group = bind_group(&self.context.device, "top", (&self.preparation.top, 0), buffers);
            let [first_key, first_payload, first_count] = sort.begins();
            let host = [first_key, first_payload, first_count, sort.iota.into()];
            self.dispatch_with_host_parameters(
                &mut pass,
                &self.preparation.top,
                &group,
                1,
                (sort.most, host),
            )?;
            self.dispatch_with_host_parameters(&mut pass, &self.preparation.top_k, &group, 1, (k, [0; 4]))?;
        }
        self.record_passes(&mut pass, sort, plan.dispatches(), takes_immediates)?;
        drop(pass);
        // The selection has written the positions, so this sort moves them as payload.
        let sort = RecordedSort { elements: sort.elements.first_of(k), most: k, iota: false, ..*sort };
        self.record_sort(encoder, &sort)
    }
}
