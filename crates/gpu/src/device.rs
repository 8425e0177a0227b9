//! A started device, with what it keeps for the next sort.

use gpusort_planner::plan::{Dispatch, Plan};

use super::context::Context;
use super::pipelines::Pipelines;
use super::staging::{self, Staging};
use gpusort_base::device::{AdapterInfo, Select};
use gpusort_base::error::Error;

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
    /// No such device, with what can be done about it; a driver that refuses.
    pub fn start(select: &Select) -> Result<Self, Error> {
        Context::start(select).map(Self::new)
    }

    /// Takes a device that somebody else started. Errors that wgpu reports later, but for too
    /// little memory, go to whoever that is.
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

    /// What this device is.
    pub fn info(&self) -> &AdapterInfo {
        &self.context.info
    }

    /// Makes what a large download needs on its way, so that it fails at once if there is no memory
    /// for that.
    ///
    /// # Errors
    ///
    /// Too little memory.
    pub fn prepare_download(&self) -> Result<(), Error> {
        staging::prepare_download(&self.context, &self.staging)
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
