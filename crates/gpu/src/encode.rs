//! Records the dispatches of a plan into a compute pass, our own or a caller's. Submits nothing.
//!
//! ```text
//! Memory      buffers of elements and auxiliary data: our own arrays, or a caller's slices and scratch
//! Dispatches  pipeline ─▸ bind group ─▸ arguments ─▸ dispatch; state is set only where it changes
//! ```

use gpusort_planner::kernels::{Bindings, ELEMENT_BINDINGS, PipelineKey};
use gpusort_planner::plan::Dispatch;

use super::bindings::bind_group;
use super::pipelines::{self, KEYS, OTHER_KEYS, OTHER_PAYLOAD, PAYLOAD, Pipelines};
use gpusort_base::error::Error;

/// One of the two arrays that may hold the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// The array that receives the upload.
    Front,
    /// The array behind it.
    Back,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back => Self::Front,
        }
    }
}

/// The buffers of a plan's elements and auxiliary data.
pub(super) trait Memory {
    fn keys(&self, side: Side) -> wgpu::BufferBinding<'_>;

    /// The payload; an arbitrary buffer if elements have none.
    fn payload(&self, side: Side) -> wgpu::BufferBinding<'_>;

    /// The auxiliary buffer of this name.
    fn aux(&self, name: &str) -> wgpu::BufferBinding<'_>;

    /// The bind group of these bindings while the elements are on this side; `make` makes it.
    fn group(&self, _: Side, _: Bindings, make: impl FnOnce() -> wgpu::BindGroup) -> wgpu::BindGroup {
        make()
    }
}

/// Where a dispatch finds its arguments.
#[derive(Clone, Copy)]
pub(super) enum Sent<'a> {
    Immediates(&'a [u8]),
    /// In a buffer: a bind group, with its dynamic offsets.
    Group(&'a wgpu::BindGroup, [u32; 2]),
}

/// Records dispatches on one memory into one pass.
pub(super) struct Dispatches<'a, M> {
    pipelines: &'a Pipelines,
    memory: &'a M,
    /// The side of the elements after the dispatches recorded so far.
    pub(super) side: Side,
    piped: Option<(PipelineKey, wgpu::ComputePipeline)>,
    bound: Option<(Side, Bindings)>,
}

impl<'a, M: Memory> Dispatches<'a, M> {
    /// Starts with the elements on this side.
    pub(super) fn new(pipelines: &'a Pipelines, memory: &'a M, side: Side) -> Self {
        Self { pipelines, memory, side, piped: None, bound: None }
    }

    /// Records one dispatch.
    ///
    /// # Errors
    ///
    /// Errors of the device while it makes the pipeline.
    pub(super) fn record(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        dispatch: &Dispatch,
        sent: Sent,
    ) -> Result<(), Error> {
        let key = dispatch.pipeline();
        let key = if let Sent::Group(..) = sent { key.of_slices() } else { key };
        if self.piped.as_ref().is_none_or(|(piped, _)| *piped != key) {
            let pipeline = self.pipelines.get(key)?;
            pass.set_pipeline(&pipeline);
            self.piped = Some((key, pipeline));
        }
        let bindings = key.bindings();
        if self.bound != Some((self.side, bindings)) {
            let pipeline = &self.piped.as_ref().expect("a pipeline is set").1;
            let group = self.memory.group(self.side, bindings, || self.new_group(pipeline, bindings));
            pass.set_bind_group(0, &group, &[]);
            self.bound = Some((self.side, bindings));
        }
        match sent {
            Sent::Immediates(bytes) => pass.set_immediates(0, bytes),
            Sent::Group(group, offsets) => pass.set_bind_group(1, group, &offsets),
        }
        pass.dispatch_workgroups(dispatch.grid().x, dispatch.grid().y, 1);
        if dispatch.access().changes_sides {
            self.side = self.side.other();
        }
        Ok(())
    }

    /// Creates the bind group of these bindings for a pipeline.
    fn new_group(&self, pipeline: &wgpu::ComputePipeline, bindings: Bindings) -> wgpu::BindGroup {
        let (memory, side) = (self.memory, self.side);
        let buffer = |binding| match binding {
            KEYS => memory.keys(side),
            PAYLOAD => memory.payload(side),
            OTHER_KEYS => memory.keys(side.other()),
            OTHER_PAYLOAD => memory.payload(side.other()),
            aux => memory.aux(bindings.aux_buffers[(aux - ELEMENT_BINDINGS) as usize].name),
        };
        let buffers = pipelines::numbers(bindings).map(|binding| (binding, buffer(binding)));
        bind_group(&self.pipelines.context.device, "elements", (pipeline, 0), buffers)
    }
}
