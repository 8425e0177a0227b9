//! What any program with wgpu has: a device, buffers, and what they hold afterwards.

#![allow(dead_code, reason = "not every example uses all of it")]

use std::error::Error;

use gpusort::buffers::{MEMORY_HINTS, Spec};
use gpusort::wgpu;

/// What may go wrong in any way.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A device on the first adapter with this in its name, started for such sorts of `capacity` elements.
///
/// # Errors
///
/// No such adapter; a driver that refuses.
pub fn device(name: &str, spec: &Spec, capacity: u32) -> Result<(wgpu::Device, wgpu::Queue)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let is_named = |adapter: &wgpu::Adapter| adapter.get_info().name.contains(name);
    let adapter = adapters.into_iter().find(is_named).ok_or("no such adapter")?;
    println!("on {}", adapter.get_info().name);
    let descriptor = wgpu::DeviceDescriptor {
        required_features: spec.required_features(&adapter),
        required_limits: spec.required_limits(&adapter, capacity),
        memory_hints: MEMORY_HINTS,
        ..Default::default()
    };
    Ok(pollster::block_on(adapter.request_device(&descriptor))?)
}

/// A buffer for sorts and for passes, which may be written and read.
pub fn buffer(device: &wgpu::Device, label: &str, bytes: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// A compute pipeline of this shader, with the bindings that it uses.
pub fn pipeline(device: &wgpu::Device, shader: &str, entry_point: &str) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(shader.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry_point),
        layout: None,
        module: &module,
        entry_point: Some(entry_point),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

/// These buffers, by their bindings.
pub fn bind(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    buffers: &[(u32, &wgpu::Buffer)],
) -> wgpu::BindGroup {
    let mut entries = Vec::new();
    for (binding, buffer) in buffers {
        entries.push(wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() });
    }
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

/// Records a pass of one dispatch.
pub fn dispatch(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    group: &wgpu::BindGroup,
    workgroups: u32,
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups(workgroups, 1, 1);
}

/// What a buffer holds after all that was submitted.
///
/// # Errors
///
/// The device is gone.
pub fn read(device: &wgpu::Device, queue: &wgpu::Queue, buffer: &wgpu::Buffer) -> Result<Vec<u8>> {
    let here = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size: buffer.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &here, 0, buffer.size());
    queue.submit([encoder.finish()]);
    here.map_async(wgpu::MapMode::Read, .., |_| {});
    device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(here.get_mapped_range(..)?.to_vec())
}

/// The format of pictures.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A square to draw on.
pub fn target(device: &wgpu::Device, side: u32) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("frame"),
        size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// A render pipeline that blends what it draws over what is there.
pub fn blending(device: &wgpu::Device, shader: &str, [vertex, fragment]: [&str; 2]) -> wgpu::RenderPipeline {
    let source = wgpu::ShaderSource::Wgsl(shader.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let target = wgpu::ColorTargetState {
        format: FORMAT,
        blend: Some(wgpu::BlendState::ALPHA_BLENDING),
        write_mask: wgpu::ColorWrites::ALL,
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("draw"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(vertex),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(fragment),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(target)],
        }),
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        multiview_mask: None,
        cache: None,
    })
}

/// Records a pass that draws on black, and a copy of the square's pixels to this buffer.
pub fn draw(
    encoder: &mut wgpu::CommandEncoder,
    target: &wgpu::Texture,
    pixels: &wgpu::Buffer,
    work: impl FnOnce(&mut wgpu::RenderPass<'_>),
) {
    let view = target.create_view(&wgpu::TextureViewDescriptor::default());
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    });
    work(&mut pass);
    drop(pass);
    let bytes_per_row = Some(4 * target.width());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: pixels, layout };
    encoder.copy_texture_to_buffer(target.as_image_copy(), to, target.size());
}
