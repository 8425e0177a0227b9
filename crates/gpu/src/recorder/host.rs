//! Host parameters: the host passes them to kernels that run before a plan, and that write the arguments of the
//! plan's kernels.

use gpusort_planner::kernels::Grid;

use super::{ALIGNMENT, Recorder};
use gpusort_base::error::Error;

impl Recorder {
    /// Dispatches at least this number of workgroups of a kernel, with its buffers and its host parameters: a
    /// number and four bytes.
    pub(super) fn dispatch_with_host_parameters(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        kernel: &wgpu::ComputePipeline,
        group: &wgpu::BindGroup,
        workgroups: u32,
        (number, bytes): (u32, [u32; 4]),
    ) -> Result<(), Error> {
        let number = number.to_le_bytes().map(u32::from);
        let offsets: [u32; 8] =
            std::array::from_fn(|at| [number, bytes].as_flattened()[at] * ALIGNMENT as u32);
        pass.set_pipeline(kernel);
        pass.set_bind_group(0, group, &[]);
        pass.set_bind_group(1, &self.host, &offsets);
        let grid = Grid::new(workgroups.into(), &self.context.info.limits)?;
        pass.dispatch_workgroups(grid.x, grid.y, 1);
        Ok(())
    }
}
