//! A started device, with pipelines and memory for the next sort.

use std::sync::Mutex;

use gpusort_planner::plan::{Dispatch, Plan};

use super::context::Context;
use super::pipelines::Pipelines;
use gpusort_base::device::{AdapterInfo, Select};
use gpusort_base::error::Error;

/// Unused staging buffers, for the next transfer.
#[derive(Default)]
pub(super) struct Staging {
    /// For the way to the device; mapped.
    pub(super) up: Mutex<Vec<wgpu::Buffer>>,
    /// For the way back; not mapped.
    pub(super) down: Mutex<Vec<wgpu::Buffer>>,
}

/// A device that was started, its pipelines and its staging memory.
pub struct Gpu {
    pub(super) context: Context,
    pub(super) pipelines: Pipelines,
    pub(super) staging: Staging,
}

impl Gpu {
    /// Starts the selected device. Takes a tenth of a second or more: best done on a thread of its
    /// own while the input is read.
    ///
    /// # Errors
    ///
    /// No such device, with the remedy; a driver that refuses.
    pub fn start(select: &Select) -> Result<Self, Error> {
        Context::start(select).map(Self::new)
    }

    /// Takes a caller's device. The caller gets the errors that wgpu reports later, except for too little memory.
    ///
    /// # Errors
    ///
    /// A device without what the kernels need: immediates of 32 bytes.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, Error> {
        Context::from_device(device, queue).map(Self::new)
    }

    fn new(context: Context) -> Self {
        let pipelines = Pipelines::new(context.clone(), None, None);
        Self { context, pipelines, staging: Staging::default() }
    }

    /// The adapter of this device.
    pub fn info(&self) -> &AdapterInfo {
        &self.context.info
    }

    /// Makes the pipelines of a plan, so that it need not wait for them.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn prepare(&self, plan: &Plan) -> Result<(), Error> {
        self.pipelines.make(plan.distinct_dispatches().map(Dispatch::pipeline))
    }
}
