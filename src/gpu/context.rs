//! The adapters, the choice among them, and the device and queue that everything else here works with.

use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{AdapterInfo, Kind, Limits, Select};
use crate::error::{Error, ErrorKind};
use crate::human;
use crate::kernels::MOST_ARGUMENT_BYTES;

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
    information(&adapter.get_info(), &adapter.limits())
}

/// What is known of an adapter, with the limits that a device on it has.
fn information(info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> AdapterInfo {
    AdapterInfo {
        kind: kind(info),
        name: name(info),
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

/// A device with its queue, and the errors that it reports.
pub(super) struct Context {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    info: AdapterInfo,
    failure: Arc<Mutex<Option<String>>>,
}

impl Context {
    /// Starts the selected device.
    ///
    /// # Errors
    ///
    /// No such device, with what can be done about it; a driver that refuses.
    pub(super) fn start(select: &Select) -> Result<Self, Error> {
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
        Ok(Self { device, queue, info, failure })
    }

    /// Takes a device that somebody else started. Errors that wgpu reports later, but for too little memory,
    /// go to whoever that is.
    ///
    /// # Errors
    ///
    /// A device without what the kernels need.
    pub(super) fn from_device(
        device: wgpu::Device,
        queue: wgpu::Queue,
        adapter: &wgpu::AdapterInfo,
    ) -> Result<Self, Error> {
        let limits = device.limits();
        let info = information(adapter, &limits);
        let most = MOST_ARGUMENT_BYTES;
        if !device.features().contains(REQUIRED) || limits.max_immediate_size < most {
            return Err(Error::device(format_args!("{info}: started without immediates of {most} bytes")));
        }
        Ok(Self { device, queue, info, failure: Arc::default() })
    }

    /// What the device is.
    pub(super) fn info(&self) -> &AdapterInfo {
        &self.info
    }

    /// A list of commands to be filled.
    pub(super) fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
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
        let adapters = Some(adapters.iter().map(describe).collect());
        Error::new(ErrorKind::NoDevice { wanted: select.clone(), adapters })
    })
}
