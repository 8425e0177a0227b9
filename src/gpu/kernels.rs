//! From the work of a dispatch to the kernel that does it: WGSL, bindings, constants, arguments.
//!
//! Each kernel is written once and serves all four shapes of element. Its module is put together from
//! files, as text: the constants, one of two files that say what a key is, one of two that say what an
//! element is, and the kernel. WGSL takes declarations in any order, so that is all a preprocessor
//! would have to do here: constants alone can't give a type a second field or leave a binding out, and
//! a preprocessor would be a dependency for two choices. What WGSL lacks is loops that are sure to be
//! unrolled; `unroll.rs` supplies them. A `fused` pass is put together here too, a call for each of its
//! layouts: see `fused_pass`.
//!
//! Arguments that differ between dispatches travel as immediates, so that a sort is one list of
//! commands over one bind group.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use super::device::Gpu;
use super::unroll::unroll;
use crate::error::Error;
use crate::parallel::{self, ParallelIterator};
use crate::plan::{Dispatch, FusedTile, Kernel, Layout, Plan, Shape, Step, TopTuning, Work};

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
    Local {
        tile_size: u32,
    },
    /// The work is without its place in the array: that is an argument.
    Fused {
        tile: FusedTile,
        work: Work,
    },
    Step,
    Transpose {
        tile_size: u32,
    },
    Top(TopTuning),
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
pub(super) struct Kernels(HashMap<(bool, bool), Layouts>);

struct Layouts {
    bindings: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

impl Layouts {
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
        let layout = |(positions, scratch)| Layouts::new(device, &bindings(positions, scratch));
        Self(kinds.into_iter().map(|kind| (kind, layout(kind))).collect())
    }

    fn layout(&self, shape: Shape, scratch: bool) -> &Layouts {
        &self.0[&(shape.positions, scratch)]
    }

    /// The layout of the bind group that holds an array of this shape and, if so, its scratch array.
    pub(super) fn bindings(&self, shape: Shape, scratch: bool) -> &wgpu::BindGroupLayout {
        &self.layout(shape, scratch).bindings
    }
}

/// The kernel and the arguments for this dispatch, number `ordinal` of the plan.
pub(super) fn kernel(dispatch: &Dispatch, ordinal: u32, plan: &Plan) -> (PipelineKey, Arguments) {
    let shape = plan.shape;
    // For a part of the array, what is after it is not there.
    let n = match dispatch.kernel {
        Kernel::Fused(_) | Kernel::Top(_) => dispatch.first + dispatch.count,
        _ => plan.n,
    };
    let (entry_point, a, b, c) = match (dispatch.kernel, dispatch.work) {
        (Kernel::Fused(_), Work::TileSort { tile_log2 }) => ("sort_tile", tile_log2, 0, dispatch.first),
        (Kernel::Fused(_), Work::Strides { low, .. }) => ("do_steps", low, 0, dispatch.first),
        (Kernel::Fused(_), Work::TileHalves { tile_log2 }) => {
            ("do_steps", tile_log2, ordinal, dispatch.first)
        }
        (Kernel::Top(tuning), Work::TopTile { tile_log2, k, .. }) => {
            ("top_of_tile", n.div_ceil(1 << tile_log2), k, tuning.rank(k))
        }
        (_, Work::TileSort { .. }) => ("sort_tile", 0, 0, 0),
        (_, Work::TileMerge { .. }) => ("merge_tile", 0, 0, 0),
        (_, Work::TileHalves { .. } | Work::Strides { .. } | Work::TopTile { .. }) => {
            unreachable!("only the fused kernels and that for the top are planned for this")
        }
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
        (Kernel::Fused(tile), Work::Strides { tail, count, mirrored, .. }) => {
            Source::Fused { tile, work: Work::Strides { tail, low: 0, count, mirrored } }
        }
        (Kernel::Fused(tile), work) => Source::Fused { tile, work },
        (Kernel::Local, work) => Source::Local { tile_size: work.tile().map_or(1, |tile| tile as u32) },
        (Kernel::Step, _) => Source::Step,
        (Kernel::Transpose, Work::RowSort { row_log2 } | Work::RowMerge { row_log2, .. }) => {
            Source::Transpose { tile_size: 1 << row_log2 }
        }
        (Kernel::Transpose, Work::Transpose { .. }) => Source::Transpose { tile_size: SQUARE },
        (Kernel::Transpose, _) => Source::Transpose { tile_size: 1 },
        (Kernel::Top(tuning), _) => Source::Top(tuning),
    };
    let scratch = dispatch.work.changes_sides();
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
        let pipelines = || self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines().get(&key) {
            return Ok(pipeline.clone());
        }
        // Not while the map is locked: several may be compiled at once.
        let pipeline = self.compile(key);
        self.check()?;
        Ok(pipelines().entry(key).or_insert(pipeline).clone())
    }

    /// Makes the pipelines of a plan, so that it need not wait for them: on all cores, since a driver
    /// that has not seen them before takes its time.
    ///
    /// # Errors
    ///
    /// Whatever the device or its driver reports.
    pub fn prepare(&self, plan: &Plan) -> Result<(), Error> {
        let dispatches = plan.rounds.iter().flat_map(|round| &round.dispatches);
        let keys: HashSet<PipelineKey> = dispatches.map(|dispatch| kernel(dispatch, 0, plan).0).collect();
        parallel::take(keys.into_iter().collect()).try_for_each(|key| self.pipeline(key).map(drop))
    }

    fn compile(&self, key: PipelineKey) -> Pipeline {
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(key.entry_point),
            layout: Some(&self.kernels.layout(key.shape, key.scratch).pipeline),
            module: &self.translate(key),
            entry_point: Some(key.entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every kernel writes its tile before it reads it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        })
    }

    fn translate(&self, key: PipelineKey) -> wgpu::ShaderModule {
        let source = source(key);
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some("kernels"),
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(&source)),
        };
        // SAFETY: the kernels of this crate, and no others, come here. Their accesses to the arrays are
        // guarded by the number of elements, or of those with the padding, for which the buffers are made: each
        // by itself, or all of a tile's by a look whether its block is inside. `execute` makes sure that
        // a plan's dispatches, transpositions and reductions keep to those numbers: the last write to the run
        // of a tile, of which there are as many as it counts, and to a slot less than the run has. Accesses to
        // workgroup memory are bounded by its size; loops end after as many turns as a number has bits, or
        // a tile or a run has elements for each invocation; what is divided by is never 0.
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
            include_str!("../../shaders/bitonic_local.wgsl").to_owned()
        }
        Source::Fused { tile, work } => {
            constants.extend(fused_constants(tile, work, key.shape));
            let kernel = match work {
                Work::TileSort { .. } => include_str!("../../shaders/fused_sort.wgsl").to_owned(),
                _ => fused_pass(tile, work),
            };
            include_str!("../../shaders/fused.wgsl").to_owned() + &kernel
        }
        Source::Step => {
            constants.push(("TILE_SIZE", 1));
            include_str!("../../shaders/step.wgsl").to_owned()
        }
        Source::Transpose { tile_size } => {
            constants.push(("TILE_SIZE", tile_size));
            include_str!("../../shaders/transpose.wgsl").to_owned()
        }
        Source::Top(tuning) => {
            constants.extend(top_constants(tuning, key.shape));
            include_str!("../../shaders/top.wgsl").to_owned()
        }
        Source::Iota => {
            constants.push(("TILE_SIZE", 1));
            include_str!("../../shaders/iota.wgsl").to_owned()
        }
    };
    let common = include_str!("../../shaders/common.wgsl");
    let mut source = String::new();
    for (name, value) in &constants {
        source += &format!("const {name}: u32 = {value}u;\n");
    }
    for part in [common, key_file, element_file, &unroll(&file, &constants)] {
        source.push_str(part);
    }
    source
}

fn fused_constants(tile: FusedTile, work: Work, shape: Shape) -> Vec<(&'static str, u32)> {
    let part_log2 = tile.elements_log2 - tile.parts_log2;
    let (run_log2, mirrored) = match work {
        Work::Strides { count, mirrored, .. } => (tile.log2() - count, mirrored),
        _ => (tile.log2(), false),
    };
    vec![
        ("TILE_SIZE", 1),
        ("TILE_LOG2", tile.log2()),
        ("ELEMENTS_LOG2", tile.elements_log2),
        ("ELEMENTS", 1 << tile.elements_log2),
        ("HALF", 1 << (tile.elements_log2 - 1)),
        ("PARTS_LOG2", tile.parts_log2),
        ("PARTS", 1 << tile.parts_log2),
        ("PART_LOG2", part_log2),
        ("PART", 1 << part_log2),
        ("RUN_LOG2", run_log2),
        ("MIRRORED", mirrored.into()),
        ("UPPER_LAYOUTS", (tile.log2() - tile.parts_log2).div_ceil(part_log2) - 1),
        ("ELEMENT_WORDS", shape.words()),
    ]
}

fn top_constants(tuning: TopTuning, shape: Shape) -> Vec<(&'static str, u32)> {
    vec![
        ("TILE_SIZE", tuning.workgroup_elements()),
        ("TILE_LOG2", tuning.tile_log2()),
        ("ELEMENTS", 1 << tuning.elements_log2),
        ("GROUPS", 1 << tuning.groups_log2),
        ("GROUP", 1 << (tuning.elements_log2 - tuning.groups_log2)),
        ("SUBSET", 1 << tuning.subset_log2),
        ("SUBSETS", 1 << (tuning.invocations_log2 - tuning.subset_log2)),
        ("SLOTS_LOG2", tuning.slots_log2),
        ("ELEMENT_WORDS", shape.words()),
    ]
}

/// A kernel that goes through the layouts of this work, one after another. A loop over them would need
/// numbers known only when it runs where the compiler needs constants.
fn fused_pass(tile: FusedTile, work: Work) -> String {
    let is_phase = matches!(work, Work::TileHalves { .. });
    let layouts = tile.layouts(work);
    let mut body = String::new();
    let mut line = |text: String| body += &format!("    {text}\n");
    line("let local = place.local;".to_owned());
    if is_phase {
        line("if workgroup_is_over(local) { return; }".to_owned());
    }
    line("let tile = tile_at(place);".to_owned());
    line("var e: Registers;".to_owned());
    let mut before: Option<&Layout> = None;
    for layout in &layouts {
        let Layout { low, steps, mirrored } = layout;
        line(match before {
            None => format!("load_registers(&e, tile, local, {low}u, {mirrored});"),
            Some(before) => {
                format!("change_layout(&e, local, {}u, {}, {low}u, {mirrored});", before.low, before.mirrored)
            }
        });
        let (mut top, bottom) = (steps.end.saturating_sub(*low), steps.start.saturating_sub(*low));
        if *mirrored {
            if is_phase {
                line("note_swaps(&e);".to_owned());
            }
            line("mirror_registers(&e);".to_owned());
            top -= 1;
        }
        line(format!("merge_registers(&e, {top}u, {bottom}u);"));
        before = Some(layout);
    }
    if let Some(Layout { low, mirrored, .. }) = before {
        line(format!("store_registers(&e, tile, local, {low}u, {mirrored});"));
    }
    format!("@compute @workgroup_size(WORKGROUP_SIZE)\nfn do_steps(place: Place) {{\n{body}}}\n")
}
