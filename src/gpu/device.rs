//! Adapters, the choice among them, and the device that is started on the chosen one.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::kernels::{Kernels, Pipeline, PipelineKey};
use super::transfer::Staging;
use crate::error::{Error, ErrorKind};
use crate::human;
use crate::plan::Limits;

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
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
        }
    }
}

/// Which of the adapters to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The first that is real hardware.
    Hardware,
    /// The one with this number in the list of [`adapters`].
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
    /// The sizes that a subgroup may have, smallest and largest.
    pub subgroup_sizes: (u32, u32),
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.backend)
    }
}

/// The adapters of this machine in the order of their numbers: hardware first, software last.
#[must_use]
pub fn adapters() -> Vec<AdapterInfo> {
    enumerate().iter().map(describe).collect()
}

fn enumerate() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    adapters.retain(|adapter| adapter.features().contains(REQUIRED));
    adapters.sort_by_key(|adapter| kind(&adapter.get_info()));
    adapters
}

/// What the kernels cannot do without; every Vulkan, Metal and DirectX 12 adapter has it.
const REQUIRED: wgpu::Features = wgpu::Features::IMMEDIATES;

/// The driver's memory in blocks as small as wgpu makes them, 4 MiB, so that no two large buffers share one. Where
/// keys shared a block with other buffers, sorts of 4 to 64 MB took 2 to 4 % longer on an H100 (10,000,000 u32:
/// 0.731 ms, not 0.706).
const OWN_MEMORY: wgpu::MemoryHints =
    wgpu::MemoryHints::Manual { suballocated_device_memory_block_size: 1 << 20..1 << 20 };

fn kind(info: &wgpu::AdapterInfo) -> Kind {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => Kind::Discrete,
        wgpu::DeviceType::IntegratedGpu => Kind::Integrated,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => Kind::Virtual,
        wgpu::DeviceType::Cpu => Kind::Software,
    }
}

/// The name by which an adapter is known here: a driver may call it anything.
fn name(info: &wgpu::AdapterInfo) -> String {
    human::said(&info.name)
}

fn describe(adapter: &wgpu::Adapter) -> AdapterInfo {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    AdapterInfo {
        kind: kind(&info),
        name: name(&info),
        backend: info.backend.to_str(),
        driver: human::said(format!("{} {}", info.driver, info.driver_info).trim()),
        limits: Limits {
            workgroup_bytes: limits.max_compute_workgroup_storage_size.into(),
            invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            // The kernels count in 32 bits: 2^30 elements and the excess of a grid fit, more do not.
            binding_bytes: limits.max_storage_buffer_binding_size.min(u32::MAX.into()),
            buffer_bytes: limits.max_buffer_size,
        },
        subgroup_sizes: (info.subgroup_min_size, info.subgroup_max_size),
    }
}

/// A device that was started, with all that is kept for the next sort: pipelines, staging memory.
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) kernels: Kernels,
    pub(super) pipelines: Mutex<HashMap<PipelineKey, Pipeline>>,
    staging: Mutex<Staging>,
    info: AdapterInfo,
    failure: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Starts the selected device. Takes a tenth of a second or more: best done on a thread of its own
    /// while the input is read.
    ///
    /// # Errors
    ///
    /// No such device, with what can be done about it; a driver that refuses.
    pub fn start(select: &Select) -> Result<Self, Error> {
        let adapters = enumerate();
        let adapter = choose(&adapters, select)?;
        let info = describe(adapter);
        let features = adapter.features();
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("gpusort"),
            required_features: REQUIRED | (features & wgpu::Features::TIMESTAMP_QUERY),
            required_limits: adapter.limits(),
            memory_hints: OWN_MEMORY,
            ..Default::default()
        }))
        .map_err(|error| Error::device(format_args!("{info}: {error}")))?;

        let failure = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&failure);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
        }));
        let kernels = Kernels::new(&device);
        Ok(Self {
            device,
            queue,
            kernels,
            pipelines: Mutex::default(),
            staging: Mutex::default(),
            info,
            failure,
        })
    }

    /// What this device is.
    #[must_use]
    pub fn info(&self) -> &AdapterInfo {
        &self.info
    }

    /// Staging buffers that are not in use.
    pub(super) fn staging(&self) -> MutexGuard<'_, Staging> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error that wgpu reported since the last call, if any.
    pub(super) fn check(&self) -> Result<(), Error> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), |failure| Err(Error::device(failure)))
    }

    /// Waits until everything submitted is done.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(Error::device)?;
        self.check()
    }

    /// Makes a buffer; too little memory is an error that says so.
    pub(super) fn buffer(
        &self,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
        mapped: bool,
    ) -> Result<wgpu::Buffer, Error> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: mapped,
        });
        match pollster::block_on(scope.pop()) {
            None => self.check().map(|()| buffer),
            Some(_) => Err(Error::new(ErrorKind::NoMemory {
                device: self.info.to_string(),
                what: label.to_owned(),
                bytes: size,
            })),
        }
    }
}

fn choose<'a>(adapters: &'a [wgpu::Adapter], select: &Select) -> Result<&'a wgpu::Adapter, Error> {
    let found = match select {
        Select::Hardware => adapters.iter().find(|adapter| kind(&adapter.get_info()) != Kind::Software),
        Select::Index(index) => adapters.get(*index),
        Select::Name(part) => {
            let wanted = part.to_lowercase();
            let names = |adapter: &&wgpu::Adapter| name(&adapter.get_info()).to_lowercase();
            // A whole name may be a part of another one's.
            let whole = adapters.iter().find(|adapter| names(adapter) == wanted);
            whole.or_else(|| adapters.iter().find(|adapter| names(adapter).contains(&wanted)))
        }
    };
    found.ok_or_else(|| {
        let wanted = match select {
            Select::Hardware => "no hardware GPU found".to_owned(),
            Select::Index(index) => format!("no GPU has the number {index}"),
            Select::Name(name) => format!("no GPU has '{}' in its name", human::quoted(name)),
        };
        Error::new(ErrorKind::NoDevice { wanted, remedy: remedy(adapters) })
    })
}

fn remedy(adapters: &[wgpu::Adapter]) -> String {
    if adapters.is_empty() {
        return "install the graphics driver (on Linux with its Vulkan part and libvulkan1; \
                mesa-vulkan-drivers has a software one), or sort with --device cpu"
            .to_owned();
    }
    let listed: Vec<String> = adapters
        .iter()
        .enumerate()
        .map(|(number, adapter)| {
            format!("{number} {} ({})", name(&adapter.get_info()), kind(&adapter.get_info()).name())
        })
        .collect();
    format!(
        "there is: {}; name one with --device N or --device NAME, install another's driver, or sort with --device cpu",
        listed.join(", ")
    )
}
