//! Stand-ins for timed runs.

use std::time::Duration;

use gpusort_planner::plan::Plan;

use super::Gpu;
use gpusort_base::clock::Elapsed;
use gpusort_base::error::Error;

impl Gpu {
    pub fn prepare(&self, _: &Plan) -> Result<(), Error> {
        match *self {}
    }

    pub fn copy_bandwidth(&self) -> Result<f64, Error> {
        match *self {}
    }
}

/// Elements on a GPU.
pub enum Buffers {}

impl Buffers {
    pub fn new(gpu: &Gpu, _: &Plan) -> Result<Self, Error> {
        match *gpu {}
    }

    pub fn upload<'k>(&self, _: &Gpu, _: impl IntoIterator<Item = &'k [u8]>) -> Result<(), Error> {
        match *self {}
    }

    pub fn download_keys(&self, _: &Gpu, _: &mut [u8]) -> Result<(), Error> {
        match *self {}
    }

    pub fn download_positions(&self, _: &Gpu, _: &mut [u32]) -> Result<(), Error> {
        match *self {}
    }
}

pub fn time_passes(gpu: &Gpu, _: &Plan, _: &Buffers, _: bool) -> Result<Vec<Duration>, Error> {
    match *gpu {}
}

pub fn execute(gpu: &Gpu, _: &Plan, _: &Buffers, _: impl FnMut(u64)) -> Result<(Elapsed, u64), Error> {
    match *gpu {}
}
