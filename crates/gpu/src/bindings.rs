//! Helpers that create bind groups and their layouts, and pipelines for kernels that no plan contains.

use gpusort_planner::kernels::Arguments;

/// The label of an object on the device: its name after `gpusort `.
pub(super) fn label(name: &str) -> String {
    ["gpusort ", name].concat()
}

pub(super) fn storage(binding: u32, read_only: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BufferBindingType::Storage { read_only };
    layout_entry(binding, wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None })
}

pub(super) fn uniform(binding: u32, dynamic: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BufferBindingType::Uniform;
    layout_entry(
        binding,
        wgpu::BindingType::Buffer { ty, has_dynamic_offset: dynamic, min_binding_size: None },
    )
}

fn layout_entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
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

pub(super) fn bind_group<'a>(
    device: &wgpu::Device,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    buffers: impl IntoIterator<Item = (u32, wgpu::BufferBinding<'a>)>,
) -> wgpu::BindGroup {
    let entry =
        |(binding, buffer)| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) };
    let entries: Vec<_> = buffers.into_iter().map(entry).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
}

/// The first `bytes` bytes of a buffer.
pub(super) fn begin_of(buffer: &wgpu::Buffer, bytes: u64) -> wgpu::BufferBinding<'_> {
    wgpu::BufferBinding { buffer, offset: 0, size: wgpu::BufferSize::new(bytes) }
}

pub(super) fn whole(buffer: &wgpu::Buffer) -> wgpu::BufferBinding<'_> {
    buffer.as_entire_buffer_binding()
}

/// A pipeline for a kernel of this name, with wgpu's runtime checks. With one bind group layout,
/// arguments are immediates.
pub(super) fn pipeline(
    device: &wgpu::Device,
    name: &str,
    text: String,
    layouts: &[Option<&wgpu::BindGroupLayout>],
    cache: Option<&wgpu::PipelineCache>,
) -> wgpu::ComputePipeline {
    let label = label(name);
    let label = Some(&label[..]);
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: layouts,
        immediate_size: if layouts.len() > 1 { 0 } else { Arguments::MOST_BYTES },
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&layout),
        module: &module,
        entry_point: Some(name),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache,
    })
}
