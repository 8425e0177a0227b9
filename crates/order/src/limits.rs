//! What is known of a device before anything is planned for it: its kind and its limits.

/// What kind of hardware a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A graphics card with memory of its own.
    Discrete,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU lent to a virtual machine.
    Virtual,
    /// A driver that runs shaders on the processor.
    Software,
}

impl Kind {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
        }
    }
}

/// What a device can do. A description that is wrong makes plans that the device refuses, or slow
/// ones, and never one that leaves its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory that the invocations of one workgroup share.
    pub workgroup_bytes: u64,
    /// Invocations in one workgroup.
    pub invocations: u32,
    /// Workgroups along one dimension of a dispatch.
    pub workgroups_per_dimension: u32,
    /// Bytes that one binding of a storage buffer reaches.
    pub binding_bytes: u64,
    /// Bytes in one buffer.
    pub buffer_bytes: u64,
    /// The invocations that run together; `None` where kernels cannot use that.
    pub subgroups: Option<Subgroups>,
    /// Whether workgroups start in the order of their numbers. No API promises that; results never
    /// depend on it, but speed does.
    pub fifo_dispatch: bool,
}

/// Subgroups: invocations that run together, and can see each other's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subgroups {
    /// The fewest invocations, called lanes, that a subgroup may have.
    pub smallest: u32,
    /// The most.
    pub largest: u32,
    /// Whether the invocations of a subgroup can wait for each other.
    pub barrier: bool,
}

impl Limits {
    /// What WebGPU promises of every device that has subgroups.
    pub const WEBGPU: Self = Self {
        workgroup_bytes: 16 << 10,
        invocations: 256,
        workgroups_per_dimension: 65_535,
        binding_bytes: 128 << 20,
        buffer_bytes: 256 << 20,
        subgroups: Some(Subgroups { smallest: 4, largest: 128, barrier: false }),
        fifo_dispatch: false,
    };

    /// What NVIDIA's GPUs from Turing to Hopper have through Vulkan, to plan for where there is no
    /// device.
    pub const TYPICAL: Self = Self {
        workgroup_bytes: 48 << 10,
        invocations: 1024,
        workgroups_per_dimension: 65_535,
        binding_bytes: (1 << 31) - 1,
        buffer_bytes: 4 << 30,
        subgroups: Some(Subgroups { smallest: 32, largest: 32, barrier: true }),
        fifo_dispatch: true,
    };

    /// A CPU core as a workgroup: a tile fills a part of its second-level cache.
    pub const CPU: Self = Self {
        workgroup_bytes: 256 << 10,
        invocations: 1,
        workgroups_per_dimension: u32::MAX,
        binding_bytes: u64::MAX,
        buffer_bytes: u64::MAX,
        subgroups: None,
        fifo_dispatch: true,
    };
}
