//! The bandwidth of copies within device memory: the bound of a pass over data beyond all caches.

use std::time::Duration;

use gpusort_order::Kind;
use gpusort_shaders::wgsl;

use super::bindings::{bind_group, kernel, storage, whole};
use super::device::Gpu;
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;

/// Bytes that a workgroup of `copy.wgsl` copies.
const WORKGROUP_BYTES: u64 = 256 * 4 * 16;

impl Gpu {
    /// Bytes a second that a kernel reaches which copies one large buffer to another, read and
    /// written ones counted. A kernel, since drivers' own copies may be several times slower.
    ///
    /// # Errors
    ///
    /// Too little memory, or another failure of the device.
    pub fn copy_bandwidth(&self) -> Result<f64, Error> {
        // More than fits any cache.
        let most = if self.info().kind == Kind::Software { 64 << 20 } else { 512 << 20 };
        let context = &self.context;
        let limits = &self.info().limits;
        let one_dispatch = u64::from(limits.workgroups_per_dimension) * WORKGROUP_BYTES;
        let bytes = limits.buffer_bytes.min(limits.binding_bytes).min(one_dispatch).min(most);
        let workgroups = (bytes / WORKGROUP_BYTES) as u32;
        let bytes = u64::from(workgroups) * WORKGROUP_BYTES;
        let buffer = |label| context.buffer(label, bytes, wgpu::BufferUsages::STORAGE);
        let (from, to) = (buffer("copied from")?, buffer("copied to")?);
        let (device, buffers) = (&context.device, [storage(0, true), storage(1, false)]);
        let kernel = kernel(device, "copy", wgsl("copy").to_owned(), &buffers, None, None);
        let buffers = [(0, whole(&from)), (1, whole(&to))];
        let bind_group = bind_group(device, "copy", (&kernel, 0), buffers);
        let copy = |times: u32| {
            let mut encoder = context.encoder("copy");
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&kernel);
            pass.set_bind_group(0, &bind_group, &[]);
            for _ in 0..times {
                pass.dispatch_workgroups(workgroups, 1, 1);
            }
            drop(pass);
            let commands = encoder.finish();
            let start = Instant::now();
            context.queue.submit([commands]);
            context.wait().map(|()| start.elapsed())
        };
        // A submission and its wait take a tenth of a millisecond, a negligible part of these copies.
        let mut times = 1;
        let mut took = copy(times)?;
        while took < Duration::from_millis(30) && times < 1 << 12 {
            times *= 2;
            took = copy(times)?;
        }
        for _ in 0..3 {
            took = took.min(copy(times)?);
        }
        Ok(2.0 * bytes as f64 * f64::from(times) / took.as_secs_f64())
    }
}
