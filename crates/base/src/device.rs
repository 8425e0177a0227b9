//! Devices as plain data: the requested device, and the description of a device for people. No GPU API is
//! named here.

use std::fmt;

use gpusort_order::{Kind, Limits};

/// The adapter to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The first hardware adapter.
    Hardware,
    /// The first hardware adapter or, without hardware, the first software adapter: for tests, and for uses
    /// where correctness matters more than speed.
    Any,
    /// The adapter with this number in the list of adapters.
    Index(usize),
    /// The first adapter with this name, else the first with this text in its name; case is ignored.
    Name(String),
}

/// The description of an adapter for people.
#[derive(Clone, Debug)]
pub struct AdapterInfo {
    /// The hardware's name.
    pub name: String,
    /// The API that drives it: `vulkan`, `metal`, `dx12`.
    pub backend: &'static str,
    /// The driver's name and version.
    pub driver: String,
    /// The kind of hardware.
    pub kind: Kind,
    /// The limits that plans must keep.
    pub limits: Limits,
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.backend)
    }
}
