//! Adapters, their selection, and the device and queue of this folder.

use std::sync::{Arc, Mutex};

use gpusort_order::{Kind, Limits, Subgroups};
use gpusort_planner::kernels::Arguments;

use super::bindings::label;
use gpusort_base::device::{AdapterInfo, Select};
use gpusort_base::error::{Error, ErrorKind};
use gpusort_base::human;
use gpusort_base::parallel::lock;

/// Small blocks of memory, so that each large buffer has its own block, for [`wgpu::DeviceDescriptor`].
// The smallest blocks of wgpu are 4 MiB. If keys shared a block with other buffers, sorts of 4 to 64 MB took 2 to
// 4 % longer on an H100 (10,000,000 u32: 0.731 ms, not 0.706).
pub const MEMORY_HINTS: wgpu::MemoryHints =
    wgpu::MemoryHints::Manual { suballocated_device_memory_block_size: 1 << 20..1 << 20 };

/// The adapters of this machine by number: hardware first, software last.
pub fn adapters() -> Vec<AdapterInfo> {
    enumerate().iter().map(describe).collect()
}

/// The selected adapter, with its number.
///
/// # Errors
///
/// If no adapter matches; the error lists the adapters found.
pub fn adapter(select: &Select) -> Result<(usize, AdapterInfo), Error> {
    selected(select, adapters())
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

/// Features that the kernels require; every Vulkan, Metal and DirectX 12 adapter has them.
const REQUIRED: wgpu::Features = wgpu::Features::IMMEDIATES;

/// Optional features, requested if the adapter has them.
const USED: wgpu::Features = wgpu::Features::TIMESTAMP_QUERY
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES)
    .union(wgpu::Features::SUBGROUP)
    .union(wgpu::Features::SUBGROUP_BARRIER);

fn kind(info: &wgpu::AdapterInfo) -> Kind {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => Kind::Discrete,
        wgpu::DeviceType::IntegratedGpu => Kind::Integrated,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => Kind::Virtual,
        wgpu::DeviceType::Cpu => Kind::Software,
    }
}

fn describe(adapter: &wgpu::Adapter) -> AdapterInfo {
    information(&adapter.get_info(), &adapter.limits(), adapter.features())
}

/// Describes an adapter, with the limits and features of a device on it.
fn information(info: &wgpu::AdapterInfo, limits: &wgpu::Limits, features: wgpu::Features) -> AdapterInfo {
    AdapterInfo {
        kind: kind(info),
        // The name comes from the driver, so it may hold any characters.
        name: human::said(&info.name),
        backend: info.backend.to_str(),
        driver: human::said(format!("{} {}", info.driver, info.driver_info).trim()),
        limits: Limits {
            workgroup_bytes: limits.max_compute_workgroup_storage_size.into(),
            invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            // The kernels count in 32 bits, which suffice for 2^30 elements plus the excess of a grid.
            binding_bytes: limits.max_storage_buffer_binding_size.min(u32::MAX.into()),
            buffer_bytes: limits.max_buffer_size,
            subgroups: features.contains(wgpu::Features::SUBGROUP).then_some(Subgroups {
                smallest: info.subgroup_min_size,
                largest: info.subgroup_max_size,
                barrier: features.contains(wgpu::Features::SUBGROUP_BARRIER),
            }),
            // llvmpipe does not start workgroups in order: each of its threads takes a range of them.
            fifo_dispatch: kind(info) != Kind::Software,
        },
    }
}

/// A device with its queue, and the first error that it reported.
#[derive(Clone)]
pub struct Context {
    /// The device.
    pub device: wgpu::Device,
    /// The queue of the device.
    pub queue: wgpu::Queue,
    /// The adapter of the device.
    pub info: AdapterInfo,
    failure: Arc<Mutex<Option<String>>>,
}

impl Context {
    /// See [`Gpu::start`](super::Gpu::start).
    pub(crate) fn start(select: &Select) -> Result<Self, Error> {
        let adapters = enumerate();
        let (number, info) = selected(select, adapters.iter().map(describe).collect())?;
        let adapter = &adapters[number];
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("gpusort"),
            required_features: REQUIRED | (adapter.features() & USED),
            required_limits: adapter.limits(),
            memory_hints: MEMORY_HINTS,
            ..Default::default()
        }))
        .map_err(|error| Error::device(format_args!("{info}: {error}")))?;

        let failure = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&failure);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&noted).get_or_insert_with(|| error.to_string());
        }));
        Ok(Self { device, queue, info, failure })
    }

    /// See [`Gpu::from_device`](super::Gpu::from_device).
    pub(crate) fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, Error> {
        let context = Self::of_caller(device, queue);
        let (device, most) = (&context.device, Arguments::MOST_BYTES);
        if !device.features().contains(REQUIRED) || device.limits().max_immediate_size < most {
            let info = &context.info;
            return Err(Error::device(format_args!(
                "{info}: no immediates of {most} bytes; start the device with Features::IMMEDIATES and \
                 max_immediate_size {most}"
            )));
        }
        Ok(context)
    }

    /// A context on a caller's device. The device may have few features, and its uncaptured errors
    /// go to the caller. Limits come from the device itself, because kernels are sized by them and
    /// run unchecked.
    pub fn of_caller(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let info = information(&device.adapter_info(), &device.limits(), device.features());
        Self { device, queue, info, failure: Arc::default() }
    }

    /// Returns errors that `work` causes on the device, instead of passing them to the device's
    /// error handler.
    pub(crate) fn scoped<R>(&self, work: impl FnOnce(&Self) -> Result<R, Error>) -> Result<R, Error> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let validated = || in_error_scope(&self.device, Validation, || work(self));
        let (((done, invalid), internal), memory) =
            in_error_scope(&self.device, OutOfMemory, || in_error_scope(&self.device, Internal, validated));
        let done = done?;
        invalid.or(internal).or(memory).map_or(Ok(done), |error| Err(Error::device(error)))
    }

    /// A buffer that holds `bytes`; their number is a multiple of four.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::buffer`].
    pub fn filled(&self, name: &str, bytes: &[u8], usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
        let buffer = self.buffer(name, bytes.len() as u64, usage | wgpu::BufferUsages::COPY_DST)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// An empty command encoder.
    pub fn encoder(&self, name: &str) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(&label(name)) })
    }

    /// Returns the error that wgpu reported since the last call.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let failure = lock(&self.failure).take();
        failure.map_or(Ok(()), |failure| Err(Error::device(failure)))
    }

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    ///
    /// The device failed.
    pub fn wait(&self) -> Result<(), Error> {
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(Error::device)?;
        self.check()
    }

    /// Creates a buffer of `size` bytes, mapped if the host may write to it.
    ///
    /// # Errors
    ///
    /// The device failed; [`ErrorKind::NoMemory`] if it has too little memory.
    pub fn buffer(&self, name: &str, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
        let (label, mapped_at_creation) = (label(name), usage.contains(wgpu::BufferUsages::MAP_WRITE));
        let descriptor = wgpu::BufferDescriptor { label: Some(&label), size, usage, mapped_at_creation };
        let make = || self.device.create_buffer(&descriptor);
        let (buffer, failure) = in_error_scope(&self.device, wgpu::ErrorFilter::OutOfMemory, make);
        match failure {
            None => self.check().map(|()| buffer),
            Some(_) => Err(Error::new(ErrorKind::NoMemory {
                device: self.info.to_string(),
                what: name.to_owned(),
                bytes: size,
            })),
        }
    }
}

/// Runs `work` and returns an error of this kind that it causes on the device. In a browser waiting
/// is impossible, so the error goes to the page's handler.
pub(super) fn in_error_scope<R>(
    device: &wgpu::Device,
    filter: wgpu::ErrorFilter,
    work: impl FnOnce() -> R,
) -> (R, Option<wgpu::Error>) {
    if cfg!(target_arch = "wasm32") {
        return (work(), None);
    }
    let scope = device.push_error_scope(filter);
    let done = work();
    (done, pollster::block_on(scope.pop()))
}

/// The selected adapter, with its number.
fn selected(select: &Select, mut adapters: Vec<AdapterInfo>) -> Result<(usize, AdapterInfo), Error> {
    let hardware = || adapters.iter().position(|info| info.kind != Kind::Software);
    let number = match select {
        Select::Hardware => hardware(),
        Select::Any => Some(hardware().unwrap_or(0)),
        Select::Index(index) => Some(*index),
        Select::Name(part) => {
            let wanted = part.to_lowercase();
            let names: Vec<String> = adapters.iter().map(|info| info.name.to_lowercase()).collect();
            // An exact match wins, because a name may be part of another name.
            let whole = names.iter().position(|name| *name == wanted);
            whole.or_else(|| names.iter().position(|name| name.contains(&wanted)))
        }
    };
    match number.filter(|&number| number < adapters.len()) {
        Some(number) => Ok((number, adapters.swap_remove(number))),
        None => Err(Error::new(ErrorKind::NoDevice { wanted: select.clone(), adapters: Some(adapters) })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_found_by_one_rule() {
        let adapter = |(name, kind): (&str, _)| AdapterInfo {
            name: name.to_owned(),
            backend: "vulkan",
            driver: String::new(),
            kind,
            limits: Limits::TYPICAL,
        };
        let all = || {
            let named = [("GeForce RTX 4060 Ti", Kind::Discrete), ("GeForce RTX 4060", Kind::Discrete)];
            named.into_iter().chain([("llvmpipe", Kind::Software)]).map(adapter).collect::<Vec<_>>()
        };
        let found = |select: &Select| selected(select, all()).ok().map(|(number, info)| (number, info.name));
        for (name, number) in [("rtx", 0), ("geforce rtx 4060", 1), ("4060 TI", 0), ("PIPE", 2)] {
            assert_eq!(found(&Select::Name(name.to_owned())), Some((number, all()[number].name.clone())));
        }
        assert_eq!(found(&Select::Hardware).unwrap().0, 0);
        assert_eq!(found(&Select::Any).unwrap().0, 0);
        let software = || all().split_off(2);
        assert_eq!(selected(&Select::Any, software()).unwrap().1.kind, Kind::Software);
        assert!(
            selected(&Select::Hardware, software()).is_err() && selected(&Select::Any, Vec::new()).is_err()
        );
        assert_eq!(found(&Select::Index(2)).unwrap().0, 2);
        assert!(found(&Select::Index(3)).is_none() && found(&Select::Name("4070".to_owned())).is_none());
    }
}
