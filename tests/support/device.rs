//! The device that the tests use: the first one here, or the one that `GPUSORT_TEST_DEVICE` names.

use std::sync::OnceLock;

use gpusort::Select;
use gpusort_engine::gpu::Gpu;

use super::requirements;

/// The device. Without one, tests fail and say what to do.
pub fn gpu() -> &'static Gpu {
    static GPU: OnceLock<Result<Gpu, String>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| Gpu::start(&select()).map_err(|error| error.to_string()));
    gpu.as_ref().unwrap_or_else(|error| {
        requirements::lacks(
            "a Vulkan adapter",
            // The rest is for users of the command.
            error.lines().next().unwrap_or_default(),
            "apt-get install mesa-vulkan-drivers has one in software; GPUSORT_TEST_DEVICE names one of several",
        )
    })
}

/// The same device, started for this test alone.
pub fn start() -> Gpu {
    gpu();
    Gpu::start(&select()).unwrap()
}

/// The adapter of that device, for tests that start devices of their own.
pub fn adapter() -> wgpu::Adapter {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let name = &gpu().info().name;
    adapters.into_iter().find(|adapter| adapter.get_info().name == *name).unwrap()
}

/// How the command line names the same device. Fails without one, so that a missing device is
/// reported here and not by the command.
pub fn name() -> String {
    gpu();
    std::env::var("GPUSORT_TEST_DEVICE").unwrap_or_else(|_| "0".to_owned())
}

fn select() -> Select {
    std::env::var("GPUSORT_TEST_DEVICE").map_or(Select::Index(0), Select::Name)
}
