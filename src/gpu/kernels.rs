//! From the work of a dispatch to the kernel that does it: WGSL, bindings, constants, arguments.
//!
//! Each kernel is written once and serves all four shapes of element. Its module is put together from
//! files, as text: the constants, one of two files that say what a key is, one of two that say what an
//! element is, and the kernel. WGSL takes declarations in any order, so that is all a preprocessor
//! would have to do here: constants alone can't give a type a second field or leave a binding out, and
//! a preprocessor would be a dependency for two choices. What WGSL lacks is loops that are sure to be
//! unrolled; `unroll.rs` supplies them.
//!
//! Arguments that differ between dispatches travel as immediates, so that a sort is one list of
//! commands over one bind group.

use std::borrow::Cow;
use std::sync::PoisonError;

use super::device::Gpu;
use super::unroll::unroll;
use crate::error::Error;
use crate::plan::{Dispatch, FusedTile, Kernel, Shape, Step, Work};

/// A kernel's arguments, as `Arguments` in `common.wgsl` has them.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Arguments {
    n: u32,
    a: u32,
    b: u32,
    c: u32,
}

/// What distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PipelineKey {
    source: Source,
    entry_point: &'static str,
    shape: Shape,
    workgroup_size: u32,
}

/// A kernel's file and the constants that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Local { tile_log2: u32 },
    Fused(FusedTile),
    Step,
    Iota,
}

pub(super) type Pipeline = wgpu::ComputePipeline;

/// The bindings, as the kernels number them.
pub(super) const KEYS: u32 = 0;
pub(super) const POSITIONS: u32 = 1;
pub(super) const STATE: u32 = 2;

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
    fn new(device: &wgpu::Device, label: &str, bindings: &[u32]) -> Self {
        let entries: Vec<_> = bindings
            .iter()
            .map(|&binding| wgpu::BindGroupLayoutEntry {
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
            keys: Layout::new(device, "keys", &[KEYS, STATE]),
            keys_and_positions: Layout::new(device, "keys and positions", &[KEYS, POSITIONS, STATE]),
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

/// The kernel and the arguments for this dispatch, number `ordinal` in a sort of `n` elements.
pub(super) fn kernel(dispatch: &Dispatch, ordinal: u32, n: u32, shape: Shape) -> (PipelineKey, Arguments) {
    let (entry_point, a, b) = match (dispatch.kernel, dispatch.work) {
        (_, Work::TileSort { .. }) => ("sort_tile", 0, 0),
        (_, Work::TileMerge { .. }) => ("merge_tile", 0, 0),
        (_, Work::TileHalves { .. }) => ("merge_halves", dispatch.first, ordinal),
        (Kernel::Fused(tile), Work::Strides { low, count, mirrored }) => {
            let entry_point = match (mirrored, count > tile.elements_log2) {
                (false, false) => "stride_tile",
                (false, true) => "stride_tile_wide",
                (true, false) => "mirror_tile",
                (true, true) => "mirror_tile_wide",
            };
            (entry_point, low, count)
        }
        (_, Work::Strides { .. }) => unreachable!("only the fused kernels are planned for several strides"),
        (_, Work::Step(Step::Mirror { block_log2 })) => ("mirror", 1 << (block_log2 - 1), 0),
        (_, Work::Step(Step::Stride { stride_log2 })) => ("stride", 1 << stride_log2, 0),
        (_, Work::Step(Step::Phase { odd })) => ("phase", u32::from(odd), ordinal),
    };
    let source = match dispatch.kernel {
        Kernel::Local => Source::Local { tile_log2: dispatch.work.tile().map_or(0, usize::ilog2) },
        Kernel::Fused(tile) => Source::Fused(tile),
        Kernel::Step => Source::Step,
    };
    let key = PipelineKey { source, entry_point, shape, workgroup_size: dispatch.workgroup_size };
    let c = match dispatch.kernel {
        Kernel::Fused(tile) => dispatch.first >> tile.log2(),
        Kernel::Local | Kernel::Step => 0,
    };
    (key, Arguments { n, a, b, c })
}

/// The kernel that numbers the positions, its arguments and its workgroup size.
pub(super) fn iota(n: u32, key_words: u32) -> (PipelineKey, Arguments, u32) {
    let shape = Shape { key_words, positions: true };
    let workgroup_size = 256;
    let key = PipelineKey { source: Source::Iota, entry_point: "iota", shape, workgroup_size };
    (key, Arguments { n, a: 0, b: 0, c: 0 }, workgroup_size)
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

/// The whole text of a module.
fn source(key: PipelineKey) -> String {
    let key_file = match key.shape.key_words {
        1 => include_str!("../../shaders/key_1.wgsl"),
        _ => include_str!("../../shaders/key_2.wgsl"),
    };
    let element_file = match key.shape.positions {
        false => include_str!("../../shaders/element_key.wgsl"),
        true => include_str!("../../shaders/element_position.wgsl"),
    };
    let mut constants = vec![("WORKGROUP_SIZE", key.workgroup_size)];
    let file = match key.source {
        Source::Local { tile_log2 } => {
            constants.push(("TILE_SIZE", 1 << tile_log2));
            include_str!("../../shaders/bitonic_local.wgsl")
        }
        Source::Fused(tile) => {
            constants.extend([
                ("TILE_SIZE", 1),
                ("TILE_LOG2", tile.log2()),
                ("ELEMENTS_LOG2", tile.elements_log2),
                ("ELEMENTS", 1 << tile.elements_log2),
                ("HALF", 1 << (tile.elements_log2 - 1)),
                ("UPPER_LAYOUTS", tile.log2().div_ceil(tile.elements_log2) - 1),
                ("ELEMENT_WORDS", (key.shape.bytes() / 4) as u32),
            ]);
            include_str!("../../shaders/fused.wgsl")
        }
        Source::Step => {
            constants.push(("TILE_SIZE", 1));
            include_str!("../../shaders/step.wgsl")
        }
        Source::Iota => {
            constants.push(("TILE_SIZE", 1));
            include_str!("../../shaders/iota.wgsl")
        }
    };
    let common = include_str!("../../shaders/common.wgsl");
    let mut source = String::new();
    for (name, value) in &constants {
        source += &format!("const {name}: u32 = {value}u;\n");
    }
    for part in [common, key_file, element_file, &unroll(file, &constants)] {
        source.push_str(part);
    }
    source
}
