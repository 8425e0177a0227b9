//! Reads of device memory by the host: buffers that wgpu maps after a submission.

use std::sync::mpsc;

use crate::context::Context;
use gpusort_base::error::Error;

/// A buffer on its way to being mapped.
pub(crate) struct Mapping {
    result: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    submission: wgpu::SubmissionIndex,
}

impl Mapping {
    /// Maps the first bytes of a buffer once this submission is done.
    pub(crate) fn start(
        buffer: &wgpu::Buffer,
        mode: wgpu::MapMode,
        bytes: u64,
        submission: wgpu::SubmissionIndex,
    ) -> Self {
        let (sender, result) = mpsc::channel();
        buffer.map_async(mode, ..bytes, move |mapped| {
            // The receiver is gone only when an earlier buffer failed, which is reported already.
            let _ = sender.send(mapped);
        });
        Self { result, submission }
    }

    /// Waits for the mapping.
    pub(crate) fn finish(self, context: &Context) -> Result<(), Error> {
        let poll = wgpu::PollType::Wait { submission_index: Some(self.submission), timeout: None };
        context.device.poll(poll).map_err(Error::device)?;
        context.check()?;
        self.result.recv().map_err(Error::device)?.map_err(Error::device)
    }
}

/// A small buffer through which the host reads a few words: the target of copies before [`Self::collect`].
pub(crate) struct Readback(pub(crate) wgpu::Buffer);

impl Readback {
    pub(crate) fn new(context: &Context, bytes: u64) -> Result<Self, Error> {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        Ok(Self(context.buffer("words", bytes, usage)?))
    }

    /// The words at the beginning of `from`, after all submitted commands and the commands in `encoder`.
    pub(crate) fn read<T: bytemuck::Pod>(
        &self,
        context: &Context,
        mut encoder: wgpu::CommandEncoder,
        from: &wgpu::Buffer,
    ) -> Result<Vec<T>, Error> {
        encoder.copy_buffer_to_buffer(from, 0, &self.0, 0, self.0.size());
        self.collect(context, encoder)
    }

    /// All words, after all submitted commands and the commands in `encoder`.
    pub(crate) fn collect<T: bytemuck::Pod>(
        &self,
        context: &Context,
        encoder: wgpu::CommandEncoder,
    ) -> Result<Vec<T>, Error> {
        let bytes = self.0.size();
        let submission = context.queue.submit([encoder.finish()]);
        Mapping::start(&self.0, wgpu::MapMode::Read, bytes, submission).finish(context)?;
        let view = self.0.get_mapped_range(..bytes).map_err(Error::device)?;
        let words = bytemuck::pod_collect_to_vec(&view);
        drop(view);
        self.0.unmap();
        Ok(words)
    }
}
