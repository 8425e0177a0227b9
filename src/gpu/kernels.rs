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
use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use super::device::Gpu;
use super::unroll::unroll;
use crate::error::Error;
use crate::plan::{Dispatch, FusedTile, Kernel, Plan, Shape, Step, Work};

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
    /// Whether the kernel writes to the scratch array.
    pub(super) scratch: bool,
    workgroup_size: u32,
}

/// A kernel's file and the constants that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Local { tile_size: u32 },
    Fused(FusedTile),
    Step,
    Transpose { tile_size: u32 },
    Iota,
}

pub(super) type Pipeline = wgpu::ComputePipeline;

/// The bindings, as the kernels number them.
pub(super) const KEYS: u32 = 0;
pub(super) const POSITIONS: u32 = 1;
pub(super) const STATE: u32 = 2;
pub(super) const SCRATCH_KEYS: u32 = 3;
pub(super) const SCRATCH_POSITIONS: u32 = 4;

/// The bindings that there are.
pub(super) fn bindings(positions: bool, scratch: bool) -> Vec<u32> {
    let mut bindings = vec![KEYS, STATE];
    bindings.extend(positions.then_some(POSITIONS));
    bindings.extend(scratch.then_some(SCRATCH_KEYS));
    bindings.extend((positions && scratch).then_some(SCRATCH_POSITIONS));
    bindings
}

/// What all pipelines of a device share: the layouts of their bindings, by shape and scratch.
pub(super) struct Kernels(HashMap<(bool, bool), Layout>);

struct Layout {
    bindings: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

impl Layout {
    fn new(device: &wgpu::Device, bindings: &[u32]) -> Self {
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
            label: Some("elements"),
            entries: &entries,
        });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("elements"),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: size_of::<Arguments>() as u32,
        });
        Self { bindings, pipeline }
    }
}

impl Kernels {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let kinds = [(false, false), (false, true), (true, false), (true, true)];
        let layout = |(positions, scratch)| Layout::new(device, &bindings(positions, scratch));
        Self(kinds.into_iter().map(|kind| (kind, layout(kind))).collect())
    }

    fn layout(&self, shape: Shape, scratch: bool) -> &Layout {
        &self.0[&(shape.positions, scratch)]
    }

    /// The layout of the bind group that holds an array of this shape and, if so, its scratch array.
    pub(super) fn bindings(&self, shape: Shape, scratch: bool) -> &wgpu::BindGroupLayout {
        &self.layout(shape, scratch).bindings
    }
}

/// The kernel and the arguments for this dispatch, number `ordinal` of the plan.
pub(super) fn kernel(dispatch: &Dispatch, ordinal: u32, plan: &Plan) -> (PipelineKey, Arguments) {
    let (n, shape) = (plan.n, plan.shape);
    let first_tile = match dispatch.kernel {
        Kernel::Fused(tile) => dispatch.first >> tile.log2(),
        _ => 0,
    };
    let (entry_point, a, b, c) = match (dispatch.kernel, dispatch.work) {
        (_, Work::TileSort { .. }) => ("sort_tile", 0, 0, first_tile),
        (_, Work::TileMerge { .. }) => ("merge_tile", 0, 0, first_tile),
        (_, Work::TileHalves { .. }) => ("merge_halves", dispatch.first, ordinal, 0),
        (Kernel::Fused(tile), Work::Strides { low, count, mirrored }) => {
            let entry_point = match (mirrored, count > tile.elements_log2) {
                (false, false) => "stride_tile",
                (false, true) => "stride_tile_wide",
                (true, false) => "mirror_tile",
                (true, true) => "mirror_tile_wide",
            };
            (entry_point, low, count, first_tile)
        }
        (_, Work::Strides { .. }) => unreachable!("only the fused kernels are planned for several strides"),
        (_, Work::Step(Step::Mirror { block_log2 })) => ("mirror", 1 << (block_log2 - 1), 0, 0),
        (_, Work::Step(Step::Stride { stride_log2 })) => ("stride", 1 << stride_log2, 0, 0),
        (_, Work::Step(Step::Phase { odd })) => ("phase", u32::from(odd), ordinal, 0),
        (_, Work::Step(Step::Alternating { stride_log2, block_log2 })) => {
            ("alternating", plan.padded, 1 << stride_log2, block_log2)
        }
        (_, Work::Pad) => ("pad", plan.padded, 0, 0),
        (_, Work::RowSort { .. }) => ("sort_rows", plan.padded, 0, 0),
        (_, Work::RowMerge { steps, block_log2, .. }) => ("merge_rows", plan.padded, steps, block_log2),
        (_, Work::Transpose { rows_log2, columns_log2 }) => {
            ("transpose", 1 << rows_log2, 1 << columns_log2, 0)
        }
    };
    let source = match (dispatch.kernel, dispatch.work) {
        (Kernel::Fused(tile), _) => Source::Fused(tile),
        (Kernel::Local, work) => Source::Local { tile_size: work.tile().map_or(1, |tile| tile as u32) },
        (Kernel::Step, _) => Source::Step,
        (Kernel::Transpose, Work::RowSort { row_log2 } | Work::RowMerge { row_log2, .. }) => {
            Source::Transpose { tile_size: 1 << row_log2 }
        }
        (Kernel::Transpose, Work::Transpose { .. }) => Source::Transpose { tile_size: SQUARE },
        (Kernel::Transpose, _) => Source::Transpose { tile_size: 1 },
    };
    let scratch = matches!(dispatch.work, Work::Transpose { .. });
    let key = PipelineKey { source, entry_point, shape, scratch, workgroup_size: dispatch.workgroup_size };
    (key, Arguments { n, a, b, c })
}

/// Elements of workgroup memory for a square of 16 × 16 with rows of 17: see `transpose.wgsl`.
const SQUARE: u32 = 16 * 17;

/// The kernel that numbers the positions, its arguments and its workgroup size.
pub(super) fn iota(n: u32, key_words: u32) -> (PipelineKey, Arguments, u32) {
    let shape = Shape { key_words, positions: true };
    let workgroup_size = 256;
    let key =
        PipelineKey { source: Source::Iota, entry_point: "iota", shape, scratch: false, workgroup_size };
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

    /// Makes the pipelines of a plan, so that it need not wait for them.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn prepare(&self, plan: &Plan) -> Result<(), Error> {
        let dispatches = plan.rounds.iter().flat_map(|round| &round.dispatches);
        let keys: HashSet<PipelineKey> = dispatches.map(|dispatch| kernel(dispatch, 0, plan).0).collect();
        keys.into_iter().try_for_each(|key| self.pipeline(key).map(drop))
    }

    fn compile(&self, key: PipelineKey) -> Pipeline {
        let module = self.module(key);
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(key.entry_point),
            layout: Some(&self.kernels.layout(key.shape, key.scratch).pipeline),
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

    /// The module with this kernel, which it may share with others.
    fn module(&self, key: PipelineKey) -> wgpu::ShaderModule {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let key = PipelineKey { entry_point: "", scratch: false, ..key };
        modules.entry(key).or_insert_with(|| self.translate(key)).clone()
    }

    fn translate(&self, key: PipelineKey) -> wgpu::ShaderModule {
        let source = source(key);
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some("kernels"),
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(&source)),
        };
        // SAFETY: the kernels of this crate, and no others, come here. Each guards its accesses to the
        // arrays by `arguments.n`, for which the buffers are made, and to workgroup memory by
        // TILE_SIZE; their loops are bounded by constants; they divide by constants only.
        unsafe {
            self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        }
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
        Source::Local { tile_size } => {
            constants.push(("TILE_SIZE", tile_size));
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
                ("ELEMENT_WORDS", key.shape.words()),
            ]);
            include_str!("../../shaders/fused.wgsl")
        }
        Source::Step => {
            constants.push(("TILE_SIZE", 1));
            include_str!("../../shaders/step.wgsl")
        }
        Source::Transpose { tile_size } => {
            constants.push(("TILE_SIZE", tile_size));
            include_str!("../../shaders/transpose.wgsl")
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
