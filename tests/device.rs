//! The device that the tests use: the first one here, or the one that `GPUSORT_TEST_DEVICE` names.

use std::sync::OnceLock;

use gpusort::gpu::{Gpu, Select};

/// The device. Without one, tests fail and say what to do.
pub fn gpu() -> &'static Gpu {
    static GPU: OnceLock<Gpu> = OnceLock::new();
    GPU.get_or_init(start)
}

pub fn start() -> Gpu {
    Gpu::start(&select()).unwrap_or_else(|error| {
        panic!("the tests of kernels need a Vulkan device: {error}\n(apt-get install mesa-vulkan-drivers has a software one)")
    })
}

/// How the command line names the same device.
pub fn name() -> String {
    std::env::var("GPUSORT_TEST_DEVICE").unwrap_or_else(|_| "0".to_owned())
}

fn select() -> Select {
    std::env::var("GPUSORT_TEST_DEVICE").map_or(Select::Index(0), Select::Name)
}
