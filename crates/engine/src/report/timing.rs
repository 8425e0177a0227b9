//! Devices and times as all reports print them.

use std::time::Duration;

use serde::Serialize;

use gpusort_base::device::AdapterInfo;

/// The device of a sort.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Device {
    /// The hardware's name.
    pub name: String,
    /// `vulkan`, `metal`, `dx12` or `cpu`.
    pub backend: &'static str,
    /// `discrete`, `integrated`, `virtual`, `software` or `cpu`.
    pub kind: &'static str,
}

impl Device {
    /// Returns these GPUs; without any, the CPU.
    pub fn all(gpus: &[AdapterInfo]) -> Vec<Self> {
        if gpus.is_empty() {
            return vec![Self { name: "CPU".to_owned(), backend: "cpu", kind: "cpu" }];
        }
        gpus.iter().map(Self::of).collect()
    }

    /// Returns this GPU.
    pub fn of(gpu: &AdapterInfo) -> Self {
        Self { name: gpu.name.clone(), backend: gpu.backend, kind: gpu.kind.name() }
    }
}

/// Returns a duration in milliseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    // Starts from whole nanoseconds, so that no more digits are printed than were measured.
    duration.as_nanos() as f64 / 1e6
}
