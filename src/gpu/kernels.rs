//! From the work of a dispatch to the kernel that does it: WGSL, bindings, constants, arguments.
//!
//! Each kernel is written once and serves all four shapes of element. Its module is put together from
//! files, as text: the constants, one of two files that say what a key is, one of two that say what an
//! element is, and the kernel. WGSL takes declarations in any order, so that is all a preprocessor
//! would have to do here: constants alone can't give a type a second field or leave a binding out, and
//! a preprocessor of our own or a dependency would do more than two choices ask for.
//!
//! Arguments that differ between dispatches travel as immediates, so that a sort is one list of
//! commands over one bind group.

use std::borrow::Cow;
use std::sync::PoisonError;

use super::device::Gpu;
use crate::error::Error;
use crate::plan::{Dispatch, Shape, Step, Work};

/// A kernel's arguments, as `Arguments` in `common.wgsl` has them.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Arguments {
    n: u32,
    a: u32,
}

/// What distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PipelineKey {
    file: &'static str,
    entry_point: &'static str,
    shape: Shape,
    workgroup_size: u32,
    tile_size: u32,
}

pub(super) type Pipeline = wgpu::ComputePipeline;

/// What all pipelines of a device share: the layouts of their bindings.
pub(super) struct Kernels {
    keys: Layout,
    keys_and_positions: Layout,
}

struct Layout {
    bindings: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

impl Layout {
    fn new(device: &wgpu::Device, label: &str, buffers: u32) -> Self {
        let entries: Vec<_> = (0..buffers)
            .map(|binding| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: false },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &entries,
        });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: size_of::<Arguments>() as u32,
        });
        Self { bindings, pipeline }
    }
}

impl Kernels {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self {
            keys: Layout::new(device, "keys", 1),
            keys_and_positions: Layout::new(device, "keys and positions", 2),
        }
    }

    fn layout(&self, shape: Shape) -> &Layout {
        if shape.positions { &self.keys_and_positions } else { &self.keys }
    }

    /// The layout of the bind group that holds an array of this shape.
    pub(super) fn bindings(&self, shape: Shape) -> &wgpu::BindGroupLayout {
        &self.layout(shape).bindings
    }
}

/// The kernel and the arguments for this dispatch in a sort of `n` elements.
pub(super) fn kernel(dispatch: &Dispatch, n: u32, shape: Shape) -> (PipelineKey, Arguments) {
    const LOCAL: &str = include_str!("../../shaders/bitonic_local.wgsl");
    const STEP: &str = include_str!("../../shaders/step.wgsl");
    let (file, entry_point, tile_size, a) = match dispatch.work {
        Work::TileSort { tile_log2 } => (LOCAL, "sort_tile", 1 << tile_log2, 0),
        Work::TileMerge { tile_log2 } => (LOCAL, "merge_tile", 1 << tile_log2, 0),
        Work::Step(Step::Mirror { block_log2 }) => (STEP, "mirror", 1, 1 << (block_log2 - 1)),
        Work::Step(Step::Stride { stride_log2 }) => (STEP, "stride", 1, 1 << stride_log2),
        Work::Step(Step::Phase { odd }) => (STEP, "phase", 1, u32::from(odd)),
    };
    let key = PipelineKey { file, entry_point, shape, workgroup_size: dispatch.workgroup_size, tile_size };
    (key, Arguments { n, a })
}

/// The kernel that numbers the positions, its arguments and its workgroup size.
pub(super) fn iota(n: u32, key_words: u32) -> (PipelineKey, Arguments, u32) {
    const IOTA: &str = include_str!("../../shaders/iota.wgsl");
    let shape = Shape { key_words, positions: true };
    let workgroup_size = 256;
    let key = PipelineKey { file: IOTA, entry_point: "iota", shape, workgroup_size, tile_size: 1 };
    (key, Arguments { n, a: 0 }, workgroup_size)
}

impl Gpu {
    /// The pipeline for `key`, made when it is first asked for.
    pub(super) fn pipeline(&self, key: PipelineKey) -> Result<Pipeline, Error> {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&key) {
            return Ok(pipeline.clone());
        }
        let pipeline = self.compile(key);
        self.check()?;
        Ok(pipelines.entry(key).or_insert(pipeline).clone())
    }

    fn compile(&self, key: PipelineKey) -> Pipeline {
        let source = source(key);
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(key.entry_point),
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(&source)),
        };
        // SAFETY: the kernels of this crate, and no others, come here. Each guards its accesses to the
        // arrays by `arguments.n`, for which the buffers are made, and to workgroup memory by
        // TILE_SIZE; their loops are bounded by constants; they divide by constants only.
        let module = unsafe {
            self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        };
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(key.entry_point),
            layout: Some(&self.kernels.layout(key.shape).pipeline),
            module: &module,
            entry_point: Some(key.entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every kernel writes its tile before it reads it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        })
    }
}

fn source(key: PipelineKey) -> String {
    let key_file = match key.shape.key_words {
        1 => include_str!("../../shaders/key_1.wgsl"),
        _ => include_str!("../../shaders/key_2.wgsl"),
    };
    let element_file = match key.shape.positions {
        false => include_str!("../../shaders/element_key.wgsl"),
        true => include_str!("../../shaders/element_position.wgsl"),
    };
    let common = include_str!("../../shaders/common.wgsl");
    format!(
        "const WORKGROUP_SIZE: u32 = {};\nconst TILE_SIZE: u32 = {};\n{common}{key_file}{element_file}{}",
        key.workgroup_size, key.tile_size, key.file
    )
}
