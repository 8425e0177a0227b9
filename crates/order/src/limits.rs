//! The description of a device for planning: its kind and its limits.

/// The kind of hardware behind a device.
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
    /// Returns the name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
        }
    }
}

/// The capabilities of a device. A wrong description yields slow plans or plans that the device
/// refuses, never a plan that accesses memory outside its arrays.
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
    /// The sizes of subgroups; `None` where kernels cannot use subgroups.
    pub subgroups: Option<Subgroups>,
    /// True if workgroups start in the order of their numbers. No API promises this order. Speed depends
    /// on it; results never do.
    pub fifo_dispatch: bool,
}

/// Subgroups: invocations that run together and can read each other's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subgroups {
    /// The minimum number of invocations, called lanes, in a subgroup.
    pub smallest: u32,
    /// The maximum number of lanes in a subgroup.
    pub largest: u32,
    /// True if the invocations of a subgroup can wait for each other.
    pub barrier: bool,
}

impl Limits {
    /// The limits that WebGPU guarantees on every device with subgroups.
    pub const WEBGPU: Self = Self {
        workgroup_bytes: 16 << 10,
        invocations: 256,
        workgroups_per_dimension: 65_535,
        binding_bytes: 128 << 20,
        buffer_bytes: 256 << 20,
        subgroups: Some(Subgroups { smallest: 4, largest: 128, barrier: false }),
        fifo_dispatch: false,
    };

    /// The limits of NVIDIA's GPUs from Turing to Hopper under Vulkan, for planning without a device.
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
