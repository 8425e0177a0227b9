//! Records a sort of a caller's elements into the caller's encoder, on the caller's device.
//!
//! ```text
//! prepare      number of elements, arguments of all passes     count: of the host, or in a buffer
//! [copy]       keys that are to stay as they are
//! passes       caller's slices ⇄ workspace                      elements → keys … keys → elements
//! ```
//!
//! Nothing is submitted, waited for or made on the device here but bind groups. [`crate::buffers`] has checked what comes here.
//!
//! There are two ways. Where the host knows all, and slices begin where buffers may be bound, passes are those of any sort, with
//! immediates for arguments. Otherwise arguments lie in a buffer, which the first dispatch writes: how many elements there are
//! the device alone may know, or it has no immediates. Grids are then those of the most elements, and workgroups without work
//! end at once. On an H200 this way takes 5 to 7 µs more, and 3 to 8 % of what is longer: each workgroup waits for its arguments.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::context::Context;
use super::pipelines::{self, KEYS, OTHER_KEYS, OTHER_POSITIONS, POSITIONS, Pipelines};
use crate::algorithm::{Algorithm, Variant};
use crate::clock::Instant;
use crate::device::AdapterInfo;
use crate::error::Error;
use crate::kernels::{Arguments, ELEMENT_BINDINGS, PipelineKey, keep_to};
use crate::parallel::{self, ParallelIterator};
use crate::plan::{Dispatch, Extra, Plan, RadixTuning, Shape, View};

/// What offsets of bindings are multiples of, on every device.
pub(crate) const ALIGNMENT: u64 = 256;

/// Entries of the table of bytes.
const BYTES: u64 = 256;

/// Bytes of a set of arguments, and of where slices begin.
const ARGUMENTS: u64 = 32;
const SLICES: u64 = 16;

/// Bytes that are bound where there is nothing.
const NOTHING: u64 = 4;

/// A slice of a caller's buffer.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    /// In bytes.
    pub(crate) offset: u64,
    /// Bytes of an element.
    pub(crate) each: u64,
    /// Elements.
    pub(crate) len: u64,
}

impl<'a> Slice<'a> {
    /// Elements between where it is bound from and where it begins.
    fn first(&self) -> u32 {
        (self.offset % ALIGNMENT / self.each) as u32
    }

    /// One of the rows of this length in it.
    pub(crate) fn row(self, number: u64, length: u32) -> Self {
        let len = u64::from(length);
        Self { offset: self.offset + number * len * self.each, len, ..self }
    }

    /// Bytes that are bound: from a multiple of the alignment to the end of the elements.
    pub(crate) fn bound_bytes(&self) -> u64 {
        self.offset % ALIGNMENT + self.len * self.each
    }

    fn binding(&self) -> wgpu::BufferBinding<'a> {
        let offset = self.offset - self.offset % ALIGNMENT;
        wgpu::BufferBinding { buffer: self.buffer, offset, size: wgpu::BufferSize::new(self.bound_bytes()) }
    }

    /// Whether it has bytes in common with another one.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let end = |slice: &Self| slice.offset + slice.len * slice.each;
        // Browsers look at all that is bound.
        let bound = |slice: &Self| if cfg!(target_arch = "wasm32") { slice.offset % ALIGNMENT } else { 0 };
        let begin = |slice: &Self| slice.offset - bound(slice);
        self.buffer == other.buffer && begin(self) < end(other) && begin(other) < end(self)
    }
}

/// What is recorded.
#[derive(Clone, Copy)]
pub(crate) struct Sort<'a> {
    /// At least one element; those of an argsort are read alone.
    pub(crate) keys: Slice<'a>,
    /// What is beside keys, or becomes their positions.
    pub(crate) positions: Option<Slice<'a>>,
    /// The most elements.
    pub(crate) most: u32,
    /// Where their number is, if it is not the most.
    pub(crate) count: Option<Slice<'a>>,
    /// Whether positions are numbered, not read.
    pub(crate) numbers: bool,
    /// Whether keys stay as they are.
    pub(crate) keeps_keys: bool,
}

/// The passes for elements of one shape.
#[derive(Clone, Copy)]
struct Passes {
    shape: Shape,
    tuning: RadixTuning,
    variant: Variant,
    view: View,
}

impl Passes {
    fn plan(&self, capacity: u32, info: &AdapterInfo) -> Result<Plan, Error> {
        let Self { shape, tuning, variant, view } = self;
        Plan::of_callers(*variant, capacity as usize, *shape, &info.limits, tuning, *view)
    }
}

/// What records sorts of one kind on one device.
pub(crate) struct Recorder {
    context: Context,
    /// What tells its memory from that of others.
    identity: Arc<()>,
    pipelines: Pipelines,
    arguments: wgpu::BindGroupLayout,
    sort: Passes,
    argsort: Passes,
    prepare: wgpu::ComputePipeline,
    prepare_layout: wgpu::BindGroupLayout,
    /// The table of bytes, bound once for each byte that there is to tell.
    told: wgpu::BindGroup,
    /// A number that is larger than any.
    any: wgpu::Buffer,
    /// With arguments in a buffer, and as immediates where the device has these.
    copy: wgpu::ComputePipeline,
    plain_copy: Option<wgpu::ComputePipeline>,
    copy_layout: wgpu::BindGroupLayout,
    prepare_rows: wgpu::ComputePipeline,
    rows_layout: wgpu::BindGroupLayout,
    pub(crate) compiling: Duration,
}

/// Memory for sorts of up to so many elements.
pub(crate) struct Room {
    owner: Arc<()>,
    pub(crate) capacity: u32,
    keys: wgpu::Buffer,
    /// Where the keys of an argsort are; none if there are to be none.
    copies: Option<wgpu::Buffer>,
    /// None where neither sort has positions.
    positions: Option<wgpu::Buffer>,
    /// A word, bound where there is nothing.
    nothing: wgpu::Buffer,
    extras: Vec<(&'static str, wgpu::Buffer)>,
    parameters: wgpu::Buffer,
    arguments: wgpu::BindGroup,
    sort: Planned,
    argsort: Option<Planned>,
    pub(crate) bytes: u64,
}

impl Room {
    /// The buffer that kernels have by this name, if the plans have one.
    fn extra(&self, name: &str) -> wgpu::BufferBinding<'_> {
        let found = self.extras.iter().find(|(known, _)| *known == name);
        whole(found.map_or(&self.nothing, |(_, buffer)| buffer))
    }
}

/// Bytes of the buffers in a room.
struct Sizes {
    keys: u64,
    copies: Option<u64>,
    positions: Option<u64>,
    parameters: u64,
    fixed: u64,
    extras: Vec<(&'static str, u64)>,
}

impl Sizes {
    fn sum(&self) -> u64 {
        let extras = self.extras.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let elements = self.keys + self.copies.unwrap_or(0) + self.positions.unwrap_or(0);
        elements + self.parameters + self.fixed + extras + NOTHING
    }
}

/// A plan, with what does not change from one sort by it to the next.
struct Planned {
    plan: Plan,
    /// As `Fixed` in `prepare.wgsl`.
    fixed: wgpu::Buffer,
}

/// Which array holds the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Callers,
    Ours,
}

fn storage(binding: u32, read_only: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BufferBindingType::Storage { read_only };
    layout_entry(binding, wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None })
}

fn uniform(binding: u32, dynamic: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BufferBindingType::Uniform;
    layout_entry(
        binding,
        wgpu::BindingType::Buffer { ty, has_dynamic_offset: dynamic, min_binding_size: None },
    )
}

fn layout_entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

fn layout(
    device: &wgpu::Device,
    label: &str,
    entries: &[wgpu::BindGroupLayoutEntry],
) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
}

fn bind_group<'a>(
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

/// A part of a buffer, from its beginning on.
fn begin_of(buffer: &wgpu::Buffer, bytes: u64) -> wgpu::BufferBinding<'_> {
    wgpu::BufferBinding { buffer, offset: 0, size: wgpu::BufferSize::new(bytes) }
}

fn whole(buffer: &wgpu::Buffer) -> wgpu::BufferBinding<'_> {
    buffer.as_entire_buffer_binding()
}

/// A pipeline of a shader that is checked. Without a second group arguments are immediates.
fn pipeline(
    device: &wgpu::Device,
    name: &str,
    text: String,
    layouts: &[Option<&wgpu::BindGroupLayout>],
    cache: Option<&wgpu::PipelineCache>,
) -> wgpu::ComputePipeline {
    let label = Some(name);
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
        entry_point: label,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache,
    })
}

impl Recorder {
    /// For elements that are keys alone, or have a word beside each, seen like this.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        cache: Option<&wgpu::PipelineCache>,
        view: View,
        (positions, has_argsort): (bool, bool),
        variant: Option<Variant>,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let context = Context::of_caller(device.clone(), queue.clone());
        let has = device.limits();
        keep_to([
            ("storage buffers in a kernel", 8, has.max_storage_buffers_per_shader_stage.into()),
            ("uniform buffers in a kernel", 9, has.max_uniform_buffers_per_shader_stage.into()),
            ("buffers with offsets", 8, has.max_dynamic_uniform_buffers_per_pipeline_layout.into()),
            ("invocations in a workgroup", 256, context.info.limits.invocations.into()),
            ("workgroups in a row", 8, context.info.limits.workgroups_per_dimension.into()),
        ])?;
        context.scoped(|context| {
            let limits = &context.info.limits;
            let has_subgroups = limits.subgroups.is_some();
            let variant = variant.unwrap_or_else(|| {
                if has_subgroups { Algorithm::Radix.default_variant(limits) } else { Variant::ReduceScan }
            });
            let passes = |positions| {
                let shape = Shape::of(view.element, positions);
                let tuning = RadixTuning::of_any(shape, limits)?;
                Ok::<_, Error>(Passes { shape, tuning, variant, view })
            };
            let (sort, argsort) = (passes(positions)?, passes(true)?);

            let arguments = layout(device, "gpusort arguments", &[uniform(0, true), uniform(1, true)]);
            let pipelines = Pipelines::of_callers(arguments.clone(), cache.cloned());
            let entries: [_; 8] = std::array::from_fn(|byte| uniform(byte as u32, true));
            let bytes = layout(device, "gpusort bytes", &entries);
            let prepare_layout = layout(
                device,
                "gpusort prepare",
                &[
                    storage(0, false),
                    storage(1, false),
                    storage(2, false),
                    uniform(3, false),
                    storage(4, true),
                ],
            );
            let text = include_str!("../../shaders/callers/prepare.wgsl").to_owned();
            let prepare = pipeline(device, "prepare", text, &[Some(&prepare_layout), Some(&bytes)], cache);
            let rows_layout = layout(device, "gpusort rows", &[storage(0, false)]);
            let text = include_str!("../../shaders/callers/prepare_rows.wgsl").to_owned();
            let layouts = [Some(&rows_layout), Some(&bytes)];
            let prepare_rows = pipeline(device, "prepare_rows", text, &layouts, cache);
            let copy_layout = layout(device, "gpusort copy", &[storage(0, true), storage(1, false)]);
            let copy = |arguments: &str, layouts: &[_]| {
                let words = sort.shape.key_words();
                let kernel = include_str!("../../shaders/callers/copy.wgsl");
                let text = format!("const KEY_WORDS = {words}u;\n{arguments}{kernel}");
                pipeline(device, "copy", text, layouts, cache)
            };
            let has_immediates = device.features().contains(wgpu::Features::IMMEDIATES)
                && device.limits().max_immediate_size >= Arguments::MOST_BYTES;
            let immediate = include_str!("../../shaders/arguments_immediate.wgsl");
            let plain_copy = has_immediates.then(|| copy(immediate, &[Some(&copy_layout)]));
            let uniform_text = include_str!("../../shaders/arguments_uniform.wgsl");
            let copy = copy(uniform_text, &[Some(&copy_layout), Some(&arguments)]);

            let mut table = vec![0_u8; (BYTES * ALIGNMENT) as usize];
            for (byte, entry) in table.chunks_mut(ALIGNMENT as usize).enumerate() {
                entry[0] = byte as u8;
            }
            let uniform_usage = wgpu::BufferUsages::UNIFORM;
            let table = context.filled("gpusort bytes", &table, uniform_usage)?;
            let any = context.filled("gpusort any number", &[0xff; 4], wgpu::BufferUsages::STORAGE)?;
            // The least that may be bound is what the shader takes, in whole vectors.
            let told = (0..8).map(|byte| (byte, begin_of(&table, 16)));
            let told = bind_group(device, "gpusort bytes", &bytes, told);
            let recorder = Self {
                context: context.clone(),
                identity: Arc::default(),
                pipelines,
                arguments,
                sort,
                argsort,
                prepare,
                prepare_layout,
                told,
                any,
                copy,
                plain_copy,
                copy_layout,
                prepare_rows,
                rows_layout,
                compiling: Duration::ZERO,
            };
            // Of any size, as pipelines do not depend on it.
            recorder.compile(&recorder.sort.plan(2, &context.info)?)?;
            if has_argsort {
                recorder.compile(&recorder.argsort.plan(2, &context.info)?)?;
            }
            Ok(Self { compiling: start.elapsed(), ..recorder })
        })
    }

    /// Makes the pipelines of a plan, on all cores.
    fn compile(&self, plan: &Plan) -> Result<(), Error> {
        let all = || plan.distinct_dispatches().map(Dispatch::pipeline);
        let immediate = all().filter(|_| self.plain_copy.is_some());
        // The preparation clears, too.
        let keys: HashSet<_> = immediate.chain(all().skip(1).map(PipelineKey::of_slices)).collect();
        parallel::iter(keys).try_for_each(|key| self.pipelines.get(&self.context, key).map(drop))
    }

    /// The most bytes of a slice that the device binds.
    pub(crate) fn binding_bytes(&self) -> u64 {
        self.context.info.limits.binding_bytes
    }

    /// Whether memory was made by this recorder.
    pub(crate) fn owns(&self, room: &Room) -> bool {
        Arc::ptr_eq(&room.owner, &self.identity)
    }

    /// Bytes of [`Self::room`].
    pub(crate) fn room_bytes(&self, capacity: u32, argsort: bool) -> Result<u64, Error> {
        let (sort, argsort) = self.plans(capacity, argsort)?;
        Ok(self.sizes(&sort, argsort.as_ref()).sum())
    }

    fn plans(&self, capacity: u32, argsort: bool) -> Result<(Plan, Option<Plan>), Error> {
        let plan = |passes: &Passes| passes.plan(capacity, &self.context.info);
        Ok((plan(&self.sort)?, argsort.then(|| plan(&self.argsort)).transpose()?))
    }

    /// What these plans need.
    fn sizes(&self, sort: &Plan, argsort: Option<&Plan>) -> Sizes {
        let plans = || [Some(sort), argsort].into_iter().flatten();
        let elements = u64::from(plans().map(Plan::other_room).max().unwrap_or(0));
        let keys = elements * sort.shape().key_bytes();
        let has_positions = plans().any(|plan| plan.shape().positions);
        let mut extras: Vec<(&str, u64)> = Vec::new();
        for (Extra { name, .. }, words) in plans().flat_map(Plan::extras) {
            match extras.iter_mut().find(|(known, _)| known == name) {
                Some((_, bytes)) => *bytes = (*bytes).max(words * 4),
                None => extras.push((name, words * 4)),
            }
        }
        Sizes {
            keys,
            copies: argsort.map(|_| keys),
            positions: has_positions.then_some(elements * 4),
            parameters: u64::from(self.sort.view.digits() + 3) * ALIGNMENT,
            fixed: 16 * plans().count() as u64,
            extras,
        }
    }

    /// Memory for sorts of up to `capacity` elements.
    pub(crate) fn room(&self, capacity: u32, argsort: bool) -> Result<Room, Error> {
        self.context.scoped(|context| {
            let (sort, argsort) = self.plans(capacity, argsort)?;
            let sizes = self.sizes(&sort, argsort.as_ref());
            let storage = wgpu::BufferUsages::STORAGE;
            let buffer = |name, bytes| context.buffer(&format!("gpusort {name}"), bytes, storage, false);
            let uniform = wgpu::BufferUsages::UNIFORM;
            let parameters =
                context.buffer("gpusort parameters", sizes.parameters, storage | uniform, false)?;
            let planned = |passes: &Passes, plan: Plan| {
                let chunk = passes.tuning.chunk(plan.n());
                let fixed = [capacity, passes.tuning.tile.size(), chunk, passes.view.digits()];
                let fixed = context.filled("gpusort fixed", bytemuck::cast_slice(&fixed), uniform)?;
                Ok::<_, Error>(Planned { plan, fixed })
            };
            Ok(Room {
                owner: Arc::clone(&self.identity),
                capacity,
                keys: buffer("keys", sizes.keys)?,
                copies: sizes.copies.map(|bytes| buffer("copied keys", bytes)).transpose()?,
                positions: sizes.positions.map(|bytes| buffer("positions", bytes)).transpose()?,
                nothing: buffer("nothing", NOTHING)?,
                extras: (sizes.extras.iter())
                    .map(|&(name, bytes)| Ok((name, buffer(name, bytes)?)))
                    .collect::<Result<_, Error>>()?,
                arguments: bind_group(
                    &context.device,
                    "gpusort arguments",
                    &self.arguments,
                    [(0, begin_of(&parameters, ARGUMENTS)), (1, begin_of(&parameters, SLICES))],
                ),
                parameters,
                sort: planned(&self.sort, sort)?,
                argsort: argsort.map(|plan| planned(&self.argsort, plan)).transpose()?,
                bytes: sizes.sum(),
            })
        })
    }

    /// Records a sort.
    ///
    /// # Errors
    ///
    /// An argsort where the room has none for it.
    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        room: &Room,
        sort: &Sort,
    ) -> Result<(), Error> {
        let passes = if sort.keeps_keys { &self.argsort } else { &self.sort };
        let planned = if sort.keeps_keys { room.argsort.as_ref() } else { Some(&room.sort) };
        let planned = planned.ok_or_else(|| Error::lacks("room for an argsort"))?;
        let first = sort.positions.as_ref().map_or(0, Slice::first) | sort.keys.first();
        let is_plain = self.plain_copy.is_some() && sort.count.is_none() && first == 0;
        let (shape, digits) = (passes.shape, passes.view.digits());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("gpusort"),
            timestamp_writes: None,
        });
        let mut dispatches = planned.plan.dispatches();
        if !is_plain {
            // Which clears, too.
            self.record_prepare(&mut pass, room, planned, sort, digits);
            dispatches.next();
        }
        if sort.keeps_keys {
            self.record_copy(&mut pass, room, sort, is_plain, digits);
        }
        let mut side = Side::Callers;
        let (mut piped, mut bound) = (None, None);
        for dispatch in dispatches {
            let mut dispatch = dispatch.for_fewer(sort.most, shape, &self.context.info.limits)?;
            let key = if is_plain { dispatch.pipeline() } else { dispatch.pipeline().of_slices() };
            if piped != Some(key) {
                pass.set_pipeline(&self.pipelines.get(&self.context, key)?);
                piped = Some(key);
            }
            let bindings = key.bindings();
            if bound != Some((side, bindings)) {
                pass.set_bind_group(0, &self.elements(room, sort, shape, side, key), &[]);
                bound = Some((side, bindings));
            }
            if is_plain {
                if !sort.numbers {
                    dispatch.carry();
                }
                if sort.keeps_keys {
                    dispatch.drop_keys();
                }
                pass.set_immediates(0, dispatch.arguments(0).bytes());
            } else {
                let slices = digits + u32::from(side == Side::Ours);
                let offsets = [dispatch.digit(), slices].map(|slot| slot * ALIGNMENT as u32);
                pass.set_bind_group(1, &room.arguments, &offsets);
            }
            pass.dispatch_workgroups(dispatch.grid().x, dispatch.grid().y, 1);
            if dispatch.access().changes_sides {
                side = if side == Side::Callers { Side::Ours } else { Side::Callers };
            }
        }
        Ok(())
    }

    /// The longest row that is sorted with others.
    pub(crate) fn longest_row(&self) -> u32 {
        Plan::longest_row(&self.context.info.limits)
    }

    /// Records sorts of rows of this many elements, no more than of the longest row.
    ///
    /// # Errors
    ///
    /// Whatever the device reports of a pipeline that had to be made.
    pub(crate) fn record_rows(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        room: &Room,
        sort: &Sort,
        length: u32,
    ) -> Result<(), Error> {
        let Passes { shape, view, .. } = self.sort;
        let limits = &self.context.info.limits;
        let plan = Plan::of_callers_rows(sort.most / length, length, shape, limits, view, sort.numbers)?;
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("gpusort rows"),
            timestamp_writes: None,
        });
        let is_plain = self.plain_copy.is_some();
        let first_key = sort.keys.first();
        let first_position = sort.positions.as_ref().map_or(0, Slice::first);
        if !is_plain {
            let parameters = [(0, whole(&room.parameters))];
            let group = bind_group(&self.context.device, "gpusort rows", &self.rows_layout, parameters);
            let [elements_0, elements_1, elements_2, elements_3] = sort.most.to_le_bytes().map(u32::from);
            let [length_0, length_1, ..] = length.to_le_bytes().map(u32::from);
            let told = [
                elements_0,
                elements_1,
                elements_2,
                elements_3,
                length_0,
                length_1,
                first_key,
                first_position,
            ];
            self.tell(&mut pass, &self.prepare_rows, &group, told);
            pass.dispatch_workgroups(1, 1, 1);
        }
        for dispatch in plan.dispatches() {
            let key = if is_plain { dispatch.pipeline() } else { dispatch.pipeline().of_slices() };
            pass.set_pipeline(&self.pipelines.get(&self.context, key)?);
            pass.set_bind_group(0, &self.elements(room, sort, shape, Side::Callers, key), &[]);
            if is_plain {
                let arguments = [sort.most / length, length, first_key, first_position];
                pass.set_immediates(0, bytemuck::cast_slice(&arguments));
            } else {
                pass.set_bind_group(1, &room.arguments, &[0, 0]);
            }
            pass.dispatch_workgroups(dispatch.grid().x, dispatch.grid().y, 1);
        }
        Ok(())
    }

    fn record_prepare(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        room: &Room,
        planned: &Planned,
        sort: &Sort,
        digits: u32,
    ) {
        let count = sort.count.as_ref().map_or_else(|| whole(&self.any), Slice::binding);
        let group = bind_group(
            &self.context.device,
            "gpusort prepare",
            &self.prepare_layout,
            [
                (0, whole(&room.parameters)),
                (1, room.extra("histograms")),
                (2, room.extra("varying_bits")),
                (3, whole(&planned.fixed)),
                (4, count),
            ],
        );
        let [most_0, most_1, most_2, most_3] = sort.most.to_le_bytes().map(u32::from);
        let first_position = sort.positions.as_ref().map_or(0, Slice::first);
        let first_count = sort.count.as_ref().map_or(0, Slice::first);
        let keeps = u32::from(sort.keeps_keys);
        let flags = u32::from(sort.numbers) | keeps << 1 | keeps << 2;
        let told = [most_0, most_1, most_2, most_3, sort.keys.first(), first_position, first_count, flags];
        self.tell(pass, &self.prepare, &group, told);
        pass.dispatch_workgroups(digits, 1, 1);
    }

    /// Sets a pipeline, its buffers, and the bytes that it is told.
    fn tell(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pipeline: &wgpu::ComputePipeline,
        group: &wgpu::BindGroup,
        bytes: [u32; 8],
    ) {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.set_bind_group(1, &self.told, &bytes.map(|byte| byte * ALIGNMENT as u32));
    }

    fn record_copy(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        room: &Room,
        sort: &Sort,
        is_plain: bool,
        digits: u32,
    ) {
        /// Workgroups that keep any device busy.
        const MOST: u32 = 1 << 14;
        let Some(copies) = &room.copies else { return };
        let group = bind_group(
            &self.context.device,
            "gpusort copy",
            &self.copy_layout,
            [(0, sort.keys.binding()), (1, whole(copies))],
        );
        let words = u64::from(sort.most) * sort.keys.each / 4;
        if let Some(copy) = self.plain_copy.as_ref().filter(|_| is_plain) {
            pass.set_pipeline(copy);
            pass.set_immediates(0, bytemuck::cast_slice(&[sort.most, 0]));
        } else {
            pass.set_pipeline(&self.copy);
            pass.set_bind_group(1, &room.arguments, &[(digits + 2) * ALIGNMENT as u32, 0]);
        }
        pass.set_bind_group(0, &group, &[]);
        let most = self.context.info.limits.workgroups_per_dimension.min(MOST);
        pass.dispatch_workgroups(words.div_ceil(256).min(most.into()) as u32, 1, 1);
    }

    /// The buffers of a dispatch, when the elements are on this side.
    fn elements(
        &self,
        room: &Room,
        sort: &Sort,
        shape: Shape,
        side: Side,
        key: PipelineKey,
    ) -> wgpu::BindGroup {
        let bindings = key.bindings();
        let keys = |side| match (side, &room.copies) {
            (Side::Ours, _) => whole(&room.keys),
            (Side::Callers, Some(copies)) if sort.keeps_keys => whole(copies),
            (Side::Callers, _) => sort.keys.binding(),
        };
        let positions = |side| match (side, &sort.positions) {
            _ if !shape.positions => whole(&room.nothing),
            (Side::Callers, Some(callers)) => callers.binding(),
            _ => whole(room.positions.as_ref().unwrap_or(&room.nothing)),
        };
        let other = if side == Side::Callers { Side::Ours } else { Side::Callers };
        let buffer = |binding| match binding {
            KEYS => keys(side),
            POSITIONS => positions(side),
            OTHER_KEYS => keys(other),
            OTHER_POSITIONS => positions(other),
            extra => room.extra(bindings.extras[(extra - ELEMENT_BINDINGS) as usize].name),
        };
        let layout = &self.pipelines.layouts(&self.context, bindings, key.has_group()).bindings;
        let buffers = pipelines::numbers(bindings).map(|binding| (binding, buffer(binding)));
        bind_group(&self.context.device, "gpusort elements", layout, buffers)
    }
}
