//! In place of the GPU, in builds without it: the same names, of which no value exists. So nothing else has to ask
//! whether there may be one.

#![allow(missing_docs, clippy::missing_errors_doc, clippy::must_use_candidate)]

use std::ops::Range;
use std::time::Duration;

use crate::clock::Elapsed;
use crate::device::{AdapterInfo, Select};
use crate::error::{Error, ErrorKind};
use crate::plan::{Plan, Shape};

/// No adapters.
#[must_use]
pub fn adapters() -> Vec<AdapterInfo> {
    Vec::new()
}

/// A GPU that was started: none can be.
pub enum Gpu {}

impl Gpu {
    pub fn start(select: &Select) -> Result<Self, Error> {
        Err(Error::new(ErrorKind::NoDevice { wanted: select.clone(), adapters: None }))
    }

    pub fn info(&self) -> &AdapterInfo {
        match *self {}
    }

    pub fn prepare(&self, _: &Plan) -> Result<(), Error> {
        match *self {}
    }

    pub fn prepare_download(&self) -> Result<(), Error> {
        match *self {}
    }

    pub fn copy_bandwidth(&self) -> Result<f64, Error> {
        match *self {}
    }
}

/// Elements on a GPU.
pub enum Buffers {}

/// Elements in order on a GPU.
pub enum Run {}

impl Run {
    pub fn new(gpu: &Gpu, _: u32, _: Shape) -> Result<Self, Error> {
        match *gpu {}
    }

    pub fn count(&self) -> usize {
        match *self {}
    }

    pub fn copy(&self, _: &Gpu, _: &Buffers) {
        match *self {}
    }

    pub fn download(&self, _: &Gpu, _: &mut [u8]) -> Result<(), Error> {
        match *self {}
    }

    pub fn keys_at(gpu: &Gpu, _: &[&Self], _: &[(usize, usize)]) -> Result<Vec<u64>, Error> {
        match *gpu {}
    }
}

/// Keys on their way to a GPU.
pub enum Upload {}

impl Buffers {
    pub fn new(gpu: &Gpu, _: &Plan) -> Result<Self, Error> {
        match *gpu {}
    }

    pub fn fit(&self, _: &Plan) -> bool {
        match *self {}
    }

    pub fn resize(&mut self, _: &Plan) {
        match *self {}
    }

    pub fn number_from(&mut self, _: u32) {
        match *self {}
    }

    pub fn gather(&self, _: &Gpu, _: &[(&Run, Range<usize>)]) {
        match *self {}
    }

    pub fn n(&self) -> u32 {
        match *self {}
    }

    pub fn number_positions(&self, _: &Gpu) -> Result<(), Error> {
        match *self {}
    }

    pub fn begin_upload(&self, _: &Gpu) -> Result<Upload, Error> {
        match *self {}
    }

    pub fn download_keys(&self, _: &Gpu, _: &mut [u8]) -> Result<(), Error> {
        match *self {}
    }

    pub fn download_positions(&self, _: &Gpu, _: &mut [u32]) -> Result<(), Error> {
        match *self {}
    }

    pub fn take_keys<E: From<Error>>(&self, _: &Gpu, _: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match *self {}
    }
}

impl Upload {
    pub fn push(&mut self, _: &[u8]) -> Result<(), Error> {
        match *self {}
    }

    pub fn finish(self) -> Result<(), Error> {
        match self {}
    }
}

pub fn time_passes(gpu: &Gpu, _: &Plan, _: &Buffers) -> Result<Vec<Duration>, Error> {
    match *gpu {}
}

pub fn time_submits(gpu: &Gpu, _: &Plan, _: &Buffers) -> Result<Vec<Duration>, Error> {
    match *gpu {}
}

pub fn execute(gpu: &Gpu, _: &Plan, _: &Buffers, _: impl FnMut(u64)) -> Result<(Elapsed, u64), Error> {
    match *gpu {}
}
