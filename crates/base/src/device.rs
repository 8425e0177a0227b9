//! Devices as plain data: which one is asked for, and what a person sees of it. No GPU API is named
//! here.

use std::fmt;

use gpusort_order::{Kind, Limits};

/// Which of the adapters to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The first that is real hardware.
    Hardware,
    /// The same or, if there is no hardware, the first in software: for tests, and where being right
    /// matters more than speed.
    Any,
    /// The one with this number in the list of adapters.
    Index(usize),
    /// The first of this name, else the first with this text in its name; case ignored.
    Name(String),
}

/// An adapter as a person sees it.
#[derive(Clone, Debug)]
pub struct AdapterInfo {
    /// The hardware's name.
    pub name: String,
    /// The API through which it is reached: `vulkan`, `metal`, `dx12`.
    pub backend: &'static str,
    /// The driver's name and version.
    pub driver: String,
    /// What kind of hardware it is.
    pub kind: Kind,
    /// What a plan must keep to.
    pub limits: Limits,
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.backend)
    }
}
