//! Stand-ins for the GPU in builds without it: types without values, so that other code need not test
//! for a GPU.

#![allow(missing_docs, clippy::missing_errors_doc, clippy::must_use_candidate)]

#[cfg(feature = "costs")]
mod timed;

use gpusort_base::device::{AdapterInfo, Select};
use gpusort_base::error::{Error, ErrorKind};

#[cfg(feature = "costs")]
pub use self::timed::{Buffers, execute, time_passes};

/// Returns no adapters.
pub fn adapters() -> Vec<AdapterInfo> {
    Vec::new()
}

pub fn adapter(select: &Select) -> Result<(usize, AdapterInfo), Error> {
    Err(Error::new(ErrorKind::NoDevice { wanted: select.clone(), adapters: None }))
}

/// A started GPU: this build cannot start any.
pub enum Gpu {}

impl Gpu {
    pub fn start(select: &Select) -> Result<Self, Error> {
        adapter(select).map(|_| unreachable!("none of it is found"))
    }

    pub fn info(&self) -> &AdapterInfo {
        match *self {}
    }
}
