//! How fast the device copies within its memory: what no pass over the data can exceed by much.

use std::time::{Duration, Instant};

use super::device::{Gpu, Kind};
use crate::error::Error;

impl Gpu {
    /// Bytes a second that copies from one large buffer to another reach, read and written ones counted.
    ///
    /// # Errors
    ///
    /// Too little memory, or another failure of the device.
    pub fn copy_bandwidth(&self) -> Result<f64, Error> {
        // More than fits any cache.
        let most = if self.info().kind == Kind::Software { 64 << 20 } else { 512 << 20 };
        let bytes = self.info().limits.buffer_bytes.min(most);
        let from = self.buffer("copied from", bytes, wgpu::BufferUsages::COPY_SRC, false)?;
        let to = self.buffer("copied to", bytes, wgpu::BufferUsages::COPY_DST, false)?;
        let copy = |times: u32| {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            for _ in 0..times {
                encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
            }
            let start = Instant::now();
            self.queue.submit([encoder.finish()]);
            self.wait().map(|()| start.elapsed())
        };
        // So many that a submit and its wait, a tenth of a millisecond, do not count.
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
