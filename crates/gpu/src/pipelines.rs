//! Caches the pipelines of kernels, and their layouts.
//!
//! Each kernel declares its own bindings; this module treats all kernels alike.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use gpusort_planner::kernels::{Bindings, ELEMENT_BINDINGS, PipelineKey};

use super::bindings::{label, pipeline_layout, storage};
use super::context::Context;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, lock};

/// Binding numbers of keys and payload on both sides, as in `element_*.wgsl`.
pub(super) const KEYS: u32 = 0;
pub(super) const PAYLOAD: u32 = 1;
pub(super) const OTHER_KEYS: u32 = 2;
pub(super) const OTHER_PAYLOAD: u32 = 3;

/// The binding numbers of a kernel. A payload buffer is bound even if elements have none:
/// dispatches that bind a single buffer take 0.3 to 0.4 µs longer on an H200 (2^18 u32: 0.0555 ms,
/// not 0.0517).
pub(super) fn numbers(bindings: Bindings) -> impl Iterator<Item = u32> {
    let Bindings { payload, other, aux_buffers } = bindings;
    let elements = [(KEYS, true), (PAYLOAD, true), (OTHER_KEYS, other), (OTHER_PAYLOAD, other && payload)];
    let aux_buffers = (ELEMENT_BINDINGS..).take(aux_buffers.len());
    elements.into_iter().filter(|(_, is_bound)| *is_bound).map(|(number, _)| number).chain(aux_buffers)
}

/// The pipelines and their layouts made so far.
pub(super) struct Pipelines {
    /// The device of all pipelines.
    pub(super) context: Context,
    /// Pipelines with equal bindings share a layout: otherwise wgpu sets immediates anew with each pipeline.
    layouts: Mutex<HashMap<(Bindings, bool), wgpu::PipelineLayout>>,
    made: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
    /// The layout of arguments in a buffer; only kernels in a caller's encoder have them.
    arguments: Option<wgpu::BindGroupLayout>,
    /// The driver's compiled pipelines from earlier runs.
    pub(super) cache: Option<wgpu::PipelineCache>,
}

impl Pipelines {
    /// An empty cache. With `arguments`, kernels may take their arguments from a buffer of this
    /// layout; without, all take immediates.
    pub(super) fn new(
        context: Context,
        arguments: Option<wgpu::BindGroupLayout>,
        cache: Option<wgpu::PipelineCache>,
    ) -> Self {
        Self { context, layouts: Mutex::default(), made: Mutex::default(), arguments, cache }
    }

    /// The layout of pipelines with these bindings. If `has_group`, arguments are in a group of their own,
    /// otherwise they are immediates.
    fn layout(&self, bindings: Bindings, has_group: bool) -> wgpu::PipelineLayout {
        // A read-only buffer needs no barrier between dispatches.
        let read_only = |binding: u32| match binding.checked_sub(ELEMENT_BINDINGS) {
            Some(aux) => bindings.aux_buffers[aux as usize].read_only,
            None => binding == PAYLOAD && !bindings.payload,
        };
        let new = || {
            let buffers: Vec<_> =
                numbers(bindings).map(|number| storage(number, read_only(number))).collect();
            let arguments = self.arguments.as_ref().filter(|_| has_group);
            pipeline_layout(&self.context.device, "elements", &buffers, arguments)
        };
        lock(&self.layouts).entry((bindings, has_group)).or_insert_with(new).clone()
    }

    /// Makes the missing pipelines for `keys`, on all cores: a driver compiles a new kernel slowly.
    pub(super) fn make(&self, keys: impl Iterator<Item = PipelineKey>) -> Result<(), Error> {
        let mut keys: HashSet<_> = keys.collect();
        keys.retain(|key| !lock(&self.made).contains_key(key));
        parallel::map_parts(keys, |key| self.get(key).map(drop)).into_iter().collect()
    }

    /// The pipeline for `key`, made at its first use.
    pub(super) fn get(&self, key: PipelineKey) -> Result<wgpu::ComputePipeline, Error> {
        let pipelines = || lock(&self.made);
        if let Some(pipeline) = pipelines().get(&key) {
            return Ok(pipeline.clone());
        }
        key.check(&self.context.info.limits)?;
        debug_assert!(!key.has_group() || self.arguments.is_some(), "arguments have no layout");
        // Compiles without the lock, so that several threads can compile at once.
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
        let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY:
        // - Every key comes from `Dispatch::new` in this version of gpusort-planner; `of_slices` changes
        //   only how its kernel accesses elements.
        // - Each kernel's text supports its numbers: `KernelSpec::check` refuses other kernels.
        // - No kernel accesses an array beyond the bound that `Dispatch::new` notes, whichever workgroups
        //   are launched; each kernel's `access` gives the reason. A dispatch for fewer elements accesses
        //   no more.
        // - Arrays reach these bounds. Every dispatch belongs to a plan, and the only constructor of plans
        //   makes the plan's sizes cover each dispatch. `Buffers::fit` compares the sizes of buffers with the plan's;
        //   `Recorder` binds its own scratch, made for the plan's most elements, and a caller's slices.
        // - A caller's slices hold the number of elements that the passes receive: a number from the host,
        //   or one from the device that the preparation limits to the size of slices and scratch.
        // - Only this crate has the buffer into which the preparation writes.
        // - Offsets of segments that are out of order or beyond the keys are found by a checked kernel,
        //   after which nothing is sorted. They stay the same until the sort ends: no kernel of the sort
        //   writes to the buffer of the offsets (`Misuse::OneBuffer`).
        // - Accesses to workgroup memory stay inside it, by `KernelSpec::check`.
        // - Loops end: their turns are limited by the bits of a number, by an invocation's elements of a
        //   tile or a run, or by the number of tiles.
        // - No divisor is 0.
        // - The device has the subgroups that a kernel assumes (`PipelineKey::check`).
        let module = unsafe { self.context.device.create_shader_module_trusted(module, unchecked) };
        self.context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&label(entry_point)),
            layout: Some(&self.layout(key.bindings(), key.has_group())),
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Zeroing is unnecessary: kernels write workgroup memory before they read it, or
                // ignore the values read.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: self.cache.as_ref(),
        })
    }
}
