//! Host parameters: what the host passes to the kernels that run before a plan's, which write the
//! arguments of the plan's.

use gpusort_planner::kernels::Grid;

use super::{ALIGNMENT, Recorder};
use gpusort_base::error::Error;

impl Recorder {
    /// Dispatches at least so many workgroups of a pipeline, with its buffers and its host
    /// parameters: a number and four bytes.
    pub(super) fn dispatch_with_host_parameters(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pipeline: &wgpu::ComputePipeline,
        group: &wgpu::BindGroup,
        workgroups: u32,
        (number, bytes): (u32, [u32; 4]),
    ) -> Result<(), Error> {
        let [number_0, number_1, number_2, number_3] = number.to_le_bytes().map(u32::from);
        let [byte_0, byte_1, byte_2, byte_3] = bytes;
        let bytes = [number_0, number_1, number_2, number_3, byte_0, byte_1, byte_2, byte_3];
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.set_bind_group(1, &self.host, &bytes.map(|byte| byte * ALIGNMENT as u32));
        let grid = Grid::new(workgroups.into(), &self.context.info.limits)?;
        pass.dispatch_workgroups(grid.x, grid.y, 1);
        Ok(())
    }
}
