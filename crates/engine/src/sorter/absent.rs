//! Stand-ins for the sorter's GPUs in builds without them: types without values.

#![allow(clippy::needless_pass_by_value)]

use gpusort_order::Shape;
#[cfg(feature = "costs")]
use gpusort_planner::plan::Crossovers;

use super::{DeviceJob, Lines, Method, Ordered, Progress};
use crate::gpu::Gpu;
use crate::report::Report;
use gpusort_base::error::Error;

pub(super) enum OnGpu {}

impl OnGpu {
    pub(super) fn new(gpu: Gpu) -> Self {
        match gpu {}
    }

    #[cfg(feature = "costs")]
    pub(super) fn with_crossovers(self, _: Crossovers) -> Self {
        match self {}
    }

    pub(super) fn gpu(&self) -> &Gpu {
        match *self {}
    }

    pub(super) fn takes(&self, _: usize, _: Shape, _: Method) -> bool {
        match *self {}
    }

    pub(super) fn perform<'s>(
        &'s self,
        _: &'s [Self],
        _: DeviceJob,
        _: Progress,
    ) -> Result<Ordered<'s>, Error> {
        match *self {}
    }

    pub(super) fn sort_lines(
        &self,
        _: Lines,
        _: Method,
        _: &mut dyn FnMut(usize) -> bool,
        _: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Option<Report>, Error> {
        match *self {}
    }
}
