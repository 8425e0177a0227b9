//! Records a plan's dispatches into compute passes, ours or a caller's. Nothing is submitted here.
//!
//! ```text
//! Memory      where elements and auxiliary buffers are: our own arrays, or a caller's slices and the scratch of their sort
//! Dispatches  pipeline ─▸ bind group ─▸ arguments ─▸ dispatch, each set where it differs from the one before
//! ```

use gpusort_planner::kernels::{Bindings, ELEMENT_BINDINGS, PipelineKey};
use gpusort_planner::plan::Dispatch;

use super::bindings::bind_group;
use super::pipelines::{self, KEYS, OTHER_KEYS, OTHER_PAYLOAD, PAYLOAD, Pipelines};
use crate::error::Error;

/// Which of two arrays holds the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Where they are uploaded to.
    Front,
    /// The other.
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

/// Where the elements and the auxiliary buffers of a plan are.
pub(super) trait Memory {
    fn keys(&self, side: Side) -> wgpu::BufferBinding<'_>;

    /// Any buffer, where elements have no payload.
    fn payload(&self, side: Side) -> wgpu::BufferBinding<'_>;

    /// The buffer of this name.
    fn aux(&self, name: &str) -> wgpu::BufferBinding<'_>;

    /// The buffers that a kernel binds when the elements are on this side.
    fn group(&self, pipelines: &Pipelines, side: Side, key: PipelineKey) -> wgpu::BindGroup {
        new_group(self, pipelines, side, key)
    }
}

/// See [`Memory::group`].
pub(super) fn new_group(
    memory: &(impl Memory + ?Sized),
    pipelines: &Pipelines,
    side: Side,
    key: PipelineKey,
) -> wgpu::BindGroup {
    let bindings = key.bindings();
    let buffer = |binding| match binding {
        KEYS => memory.keys(side),
        PAYLOAD => memory.payload(side),
        OTHER_KEYS => memory.keys(side.other()),
        OTHER_PAYLOAD => memory.payload(side.other()),
        aux => memory.aux(bindings.aux_buffers[(aux - ELEMENT_BINDINGS) as usize].name),
    };
    let layout = &pipelines.layouts(bindings, key.has_group()).bindings;
    let buffers = pipelines::numbers(bindings).map(|binding| (binding, buffer(binding)));
    bind_group(&pipelines.context.device, "elements", layout, buffers)
}

/// How a dispatch gets its arguments.
#[derive(Clone, Copy)]
pub(super) enum Sent<'a> {
    Immediates(&'a [u8]),
    /// From a buffer, at these offsets of this group.
    Group(&'a wgpu::BindGroup, [u32; 2]),
}

/// Dispatches on this memory that are recorded one after another into one pass.
pub(super) struct Dispatches<'a, M> {
    pipelines: &'a Pipelines,
    memory: &'a M,
    /// Where the elements are after what was recorded.
    pub(super) side: Side,
    piped: Option<PipelineKey>,
    bound: Option<(Side, Bindings)>,
}

impl<'a, M: Memory> Dispatches<'a, M> {
    /// With the elements on this side.
    pub(super) fn new(pipelines: &'a Pipelines, memory: &'a M, side: Side) -> Self {
        Self { pipelines, memory, side, piped: None, bound: None }
    }

    /// Records the next one.
    ///
    /// # Errors
    ///
    /// Whatever the device reports of a pipeline that had to be made.
    pub(super) fn record(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        dispatch: &Dispatch,
        sent: Sent,
    ) -> Result<(), Error> {
        let key = dispatch.pipeline();
        let key = if let Sent::Group(..) = sent { key.of_slices() } else { key };
        if self.piped != Some(key) {
            pass.set_pipeline(&self.pipelines.get(key)?);
            self.piped = Some(key);
        }
        let bound = Some((self.side, key.bindings()));
        if self.bound != bound {
            pass.set_bind_group(0, &self.memory.group(self.pipelines, self.side, key), &[]);
            self.bound = bound;
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
}
