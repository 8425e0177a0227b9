//! A program with a device of its own, into whose encoders gpusort records.

use std::time::Duration;

use anyhow::Context;
use gpusort::buffers::{BufferSorter, MEMORY_HINTS};

/// Its device, and what it takes to time what runs there.
pub struct Guest {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    queries: wgpu::QuerySet,
    ticks: wgpu::Buffer,
    touch: wgpu::ComputePipeline,
}

/// Does nothing to a buffer but use it as a sort does.
const TOUCH: &str = "
    @group(0) @binding(0) var<storage, read_write> keys: array<u32>;
    @compute @workgroup_size(1) fn touch() { keys[0] = keys[0]; }
";

/// The time between two timestamps.
pub fn elapsed(ticks: &[u64], period: f32) -> Duration {
    Duration::from_secs_f64((ticks[1] - ticks[0]) as f64 * f64::from(period) / 1e9)
}

impl Guest {
    /// On the adapter of this name, with the features that gpusort uses or without, and with its
    /// advice on memory or without.
    pub fn new(name: &str, features: bool, hints: bool) -> anyhow::Result<Self> {
        let descriptor = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let is_ours = |adapter: &wgpu::Adapter| adapter.get_info().name == name;
        let adapter = adapters.into_iter().find(is_ours).context("the adapter is gone")?;
        let clock = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let own = if features { BufferSorter::required_features(&adapter) } else { wgpu::Features::empty() };
        let memory_hints = if hints { MEMORY_HINTS } else { wgpu::MemoryHints::Performance };
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: clock | own,
            required_limits: adapter.limits(),
            memory_hints,
            ..Default::default()
        }))?;
        Ok(Self::on(device, queue))
    }

    /// On a device with timestamps in encoders.
    pub fn on(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let ticks = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let source = wgpu::ShaderSource::Wgsl(TOUCH.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let touch = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        Self { device, queue, queries, ticks, touch }
    }

    /// A buffer of so many bytes that may be written from here.
    pub fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// What a buffer holds.
    pub fn read(&self, from: &wgpu::Buffer) -> anyhow::Result<Vec<u8>> {
        let readable = self.buffer(from.size(), wgpu::BufferUsages::MAP_READ);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &readable, 0, from.size());
        self.queue.submit([encoder.finish()]);
        readable.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(readable.get_mapped_range(..)?.to_vec())
    }

    /// The time that the device takes for what is recorded, after these buffers were used by a pass
    /// before it: what it takes to make ready for passes what was copied there is no part of a
    /// sort.
    pub fn timed(
        &self,
        buffers: &[&wgpu::Buffer],
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> anyhow::Result<()>,
    ) -> anyhow::Result<Duration> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for buffer in buffers {
            let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.touch.get_bind_group_layout(0),
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
            });
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.touch);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        encoder.write_timestamp(&self.queries, 0);
        record(&mut encoder)?;
        encoder.write_timestamp(&self.queries, 1);
        encoder.resolve_query_set(&self.queries, 0..2, &self.ticks, 0);
        self.queue.submit([encoder.finish()]);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&self.read(&self.ticks)?);
        Ok(elapsed(&ticks, self.queue.get_timestamp_period()))
    }
}
