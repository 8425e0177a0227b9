//! Helpers that create bind groups and their layouts, and pipelines for kernels that no plan contains.

use gpusort_planner::kernels::Arguments;

/// The label of an object on the device: its name after `gpusort `.
pub(super) fn label(name: &str) -> String {
    ["gpusort ", name].concat()
}

pub(super) fn storage(binding: u32, read_only: bool) -> wgpu::BindGroupLayoutEntry {
    entry(binding, wgpu::BufferBindingType::Storage { read_only }, false)
}

pub(super) fn uniform(binding: u32, dynamic: bool) -> wgpu::BindGroupLayoutEntry {
    entry(binding, wgpu::BufferBindingType::Uniform, dynamic)
}

fn entry(binding: u32, ty: wgpu::BufferBindingType, has_dynamic_offset: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None };
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

pub(super) fn layout(
    device: &wgpu::Device,
    name: &str,
    entries: &[wgpu::BindGroupLayoutEntry],
) -> wgpu::BindGroupLayout {
    let label = label(name);
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(&label), entries })
}

/// The bind group with this number of a pipeline.
pub(super) fn bind_group<'a>(
    device: &wgpu::Device,
    name: &str,
    (pipeline, number): (&wgpu::ComputePipeline, u32),
    buffers: impl IntoIterator<Item = (u32, wgpu::BufferBinding<'a>)>,
) -> wgpu::BindGroup {
    let entry =
        |(binding, buffer)| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) };
    let entries: Vec<_> = buffers.into_iter().map(entry).collect();
    let layout = &pipeline.get_bind_group_layout(number);
    let (label, entries) = (Some(&label(name)[..]), &entries[..]);
    device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries })
}

/// The first `bytes` bytes of a buffer.
pub(super) fn begin_of(buffer: &wgpu::Buffer, bytes: u64) -> wgpu::BufferBinding<'_> {
    wgpu::BufferBinding { buffer, offset: 0, size: wgpu::BufferSize::new(bytes) }
}

pub(super) fn whole(buffer: &wgpu::Buffer) -> wgpu::BufferBinding<'_> {
    buffer.as_entire_buffer_binding()
}

/// The layout of pipelines with these buffers, and with arguments in a second bind group. Without a layout of the second
/// group, arguments are immediates.
pub(super) fn pipeline_layout(
    device: &wgpu::Device,
    name: &str,
    buffers: &[wgpu::BindGroupLayoutEntry],
    arguments: Option<&wgpu::BindGroupLayout>,
) -> wgpu::PipelineLayout {
    let buffers = layout(device, name, buffers);
    let groups = [Some(&buffers), arguments];
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(&label(name)),
        bind_group_layouts: if arguments.is_some() { &groups } else { &groups[..1] },
        immediate_size: if arguments.is_some() { 0 } else { Arguments::MOST_BYTES },
    })
}

/// A kernel that no plan contains, with these buffers and wgpu's runtime checks. Its name is the name of its function.
/// Arguments are as for [`pipeline_layout`].
pub(super) fn kernel(
    device: &wgpu::Device,
    name: &str,
    text: String,
    buffers: &[wgpu::BindGroupLayoutEntry],
    arguments: Option<&wgpu::BindGroupLayout>,
    cache: Option<&wgpu::PipelineCache>,
) -> wgpu::ComputePipeline {
    let label = label(name);
    let label = Some(&label[..]);
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout(device, name, buffers, arguments)),
        module: &module,
        entry_point: Some(name),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache,
    })
}
