//! The pipelines of kernels, and the layouts of the buffers that they bind: each made once.
//!
//! What a kernel binds, the kernel declares; nothing here knows one from another.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use gpusort_planner::kernels::{Arguments, Bindings, ELEMENT_BINDINGS, PipelineKey};

use super::bindings::{label, layout, storage};
use super::context::Context;
use crate::error::Error;
use crate::parallel;
use crate::parallel::lock;

/// The bindings of keys and payload, and of those of the other array, as `element_*.wgsl` has them.
pub(super) const KEYS: u32 = 0;
pub(super) const PAYLOAD: u32 = 1;
pub(super) const OTHER_KEYS: u32 = 2;
pub(super) const OTHER_PAYLOAD: u32 = 3;

/// The numbers of these bindings. The payload is bound even where elements have none: dispatches
/// that bind a single buffer take 0.3 to 0.4 µs longer each on an H200 (2^18 u32: 0.0555 ms, not
/// 0.0517).
pub(super) fn numbers(bindings: Bindings) -> impl Iterator<Item = u32> {
    let Bindings { payload, other, aux_buffers } = bindings;
    let elements = [(KEYS, true), (PAYLOAD, true), (OTHER_KEYS, other), (OTHER_PAYLOAD, other && payload)];
    let aux_buffers = (ELEMENT_BINDINGS..).take(aux_buffers.len());
    elements.into_iter().filter(|(_, is_bound)| *is_bound).map(|(number, _)| number).chain(aux_buffers)
}

/// The layout of the buffers that kernels bind, and of pipelines with them.
#[derive(Clone)]
pub(super) struct Layouts {
    pub(super) bindings: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

impl Layouts {
    fn new(device: &wgpu::Device, bindings: Bindings, arguments: Option<&wgpu::BindGroupLayout>) -> Self {
        // What nobody writes needs no barrier between dispatches.
        let read_only = |binding: u32| match binding.checked_sub(ELEMENT_BINDINGS) {
            Some(aux) => bindings.aux_buffers[aux as usize].read_only,
            None => binding == PAYLOAD && !bindings.payload,
        };
        let entries: Vec<_> = numbers(bindings).map(|binding| storage(binding, read_only(binding))).collect();
        let bindings = layout(device, "elements", &entries);
        let groups = [Some(&bindings), arguments];
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&label("elements")),
            bind_group_layouts: if arguments.is_some() { &groups } else { &groups[..1] },
            immediate_size: if arguments.is_some() { 0 } else { Arguments::MOST_BYTES },
        });
        Self { bindings, pipeline }
    }
}

/// All that was made so far.
pub(super) struct Pipelines {
    /// The device that they are for.
    pub(super) context: Context,
    layouts: Mutex<HashMap<(Bindings, bool), Layouts>>,
    made: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
    /// The layout of arguments in a buffer, which kernels in a caller's encoder may have.
    arguments: Option<wgpu::BindGroupLayout>,
    /// What the driver has compiled before.
    cache: Option<wgpu::PipelineCache>,
}

impl Pipelines {
    /// Those of kernels whose arguments are immediates, or are bound like this.
    pub(super) fn new(
        context: Context,
        arguments: Option<wgpu::BindGroupLayout>,
        cache: Option<wgpu::PipelineCache>,
    ) -> Self {
        Self { context, layouts: Mutex::default(), made: Mutex::default(), arguments, cache }
    }

    /// Those of kernels with these bindings, and with arguments in a group of their own or as
    /// immediates.
    pub(super) fn layouts(&self, bindings: Bindings, has_group: bool) -> Layouts {
        let mut layouts = lock(&self.layouts);
        let arguments = self.arguments.as_ref().filter(|_| has_group);
        let new = || Layouts::new(&self.context.device, bindings, arguments);
        layouts.entry((bindings, has_group)).or_insert_with(new).clone()
    }

    /// Makes those of these that are not made yet: on all cores, since a driver that has not seen
    /// them before takes its time.
    pub(super) fn make(&self, keys: impl Iterator<Item = PipelineKey>) -> Result<(), Error> {
        let mut keys: HashSet<_> = keys.collect();
        keys.retain(|key| !lock(&self.made).contains_key(key));
        parallel::map_parts(keys, |key| self.get(key).map(drop)).into_iter().collect()
    }

    /// The pipeline for `key`, made when it is first asked for.
    pub(super) fn get(&self, key: PipelineKey) -> Result<wgpu::ComputePipeline, Error> {
        let pipelines = || lock(&self.made);
        if let Some(pipeline) = pipelines().get(&key) {
            return Ok(pipeline.clone());
        }
        key.check(&self.context.info.limits)?;
        debug_assert!(!key.has_group() || self.arguments.is_some(), "arguments have no layout");
        // Not while the map is locked: several may be compiled at once.
        let pipeline = if self.arguments.is_some() {
            self.context.scoped(|_| Ok(self.compile(key)))?
        } else {
            self.compile(key)
        };
        self.context.check()?;
        Ok(pipelines().entry(key).or_insert(pipeline).clone())
    }

    fn compile(&self, key: PipelineKey) -> wgpu::ComputePipeline {
        let (text, entry_point) = key.module();
        let module = wgpu::ShaderModuleDescriptor {
            label: Some(&label("kernels")),
            source: wgpu::ShaderSource::Wgsl(Cow::Owned(text)),
        };
        // Offsets are checked before they are used, but they stay in a buffer of the caller's.
        let checks = wgpu::ShaderRuntimeChecks {
            bounds_checks: key.reads_offsets(),
            ..wgpu::ShaderRuntimeChecks::unchecked()
        };
        // SAFETY:
        // - Only kernels of gpusort-planner, of this very version, come here: a key is made by
        //   `Dispatch::new` alone, or from one by saying whose keys they are. A kernel is refused whose numbers its text is not
        //   written for (`check`).
        // - No array is accessed beyond its end: `Dispatch::new` notes how many elements of each
        //   array a kernel accesses at most, whichever workgroups are launched; each kernel's
        //   `access` says why that holds. A dispatch for fewer elements accesses no more.
        // - Arrays are as large as that. A dispatch is recorded as a part of a plan, whose one
        //   constructor makes the plan's sizes no smaller than what any dispatch of it accesses: on
        //   `Arrays`, which compares its sizes with the plan's; or by `Recorder`, on its own
        //   scratch for the plan's most elements, and on a caller's slices.
        // - What is bound of a caller's slices holds as many elements as the passes are told: what
        //   the host says, or what the device says, of which the preparation takes no more than
        //   slices and scratch hold. Nobody else has the buffer with what it writes.
        // - Accesses to workgroup memory stay below its size by the same checks.
        // - Loops end: after as many turns as a number has bits, as a tile or a run has elements
        //   for each invocation, or as there are tiles. No divisor is 0.
        // - What a kernel takes subgroups to be is what this device has (`PipelineKey::check`).
        let module = unsafe { self.context.device.create_shader_module_trusted(module, checks) };
        self.context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&label(entry_point)),
            layout: Some(&self.layouts(key.bindings(), key.has_group()).pipeline),
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every kernel writes its tile and counters before it reads them, or does nothing
                // with what it reads.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: self.cache.as_ref(),
        })
    }
}
