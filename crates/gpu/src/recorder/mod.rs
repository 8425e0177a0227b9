//! Records a sort of a caller's elements into the caller's encoder, on the caller's device.
//!
//! ```text
//! prepare      number of elements, arguments of all passes     count from the host or from a buffer
//! [copy]       keys that the sort must not change
//! passes       caller's slices ⇄ workspace                      elements → keys … keys → elements
//! ```
//!
//! Nothing is submitted or waited for here. On the device this module creates only bind groups, a
//! buffer for offsets that the host knows, and pipelines at first use. [`crate::buffers`] has
//! checked all arguments.
//!
//! There are two modes. If the host knows the count and slices begin at bindable offsets, passes
//! take immediates, as in any sort. Otherwise, or without immediates, the first dispatch writes the
//! arguments of all passes into a buffer. If the host does not know the count, grids are sized for the most
//! elements, and surplus workgroups end at once. On an H200 this mode takes 5 to 7 µs more, and 3 to 8 % of
//! longer sorts, because each workgroup waits for its arguments.
//!
//! Slots of the parameters, for D digits:
//!
//! ```text
//! 0 … D−1    arguments of each digit's pass
//! D, D+1     slices of passes that read the caller's elements, and of passes that write them
//! D+2        arguments of the copy
//! D+3 …      arguments of each group of short segments
//! ```

mod beside;
mod host;
mod scratch;
mod segments;
mod slice;
mod top;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gpusort_planner::kernels::{Arguments, SEGMENT_LIST, SEGMENT_OFFSETS};
use gpusort_planner::plan::{
    self, Beside, CallerPlans, Dispatch, Plan, copy_text, prepare_rows_text, prepare_text, prepare_top_text,
};
use wgpu::ComputePipeline;

use self::beside::BesideKernel;
pub(crate) use self::beside::{DeviceRun, Gathered, UniqueInto};
use self::scratch::{CachedPlans, Planners};
pub(crate) use self::scratch::{Scratch, Settings, most_bytes};
pub(crate) use self::segments::Ranges;
use self::segments::SegmentFinder;
use self::slice::first;
pub(crate) use self::slice::{Elements, Slice};
use super::bindings::{begin_of, bind_group, kernel, layout, storage, uniform, whole};
use super::context::{Context, in_error_scope};
use super::encode::{Dispatches, Memory, Sent, Side};
use super::pipelines::Pipelines;
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::error::misuse::Misuse;
use gpusort_base::parallel::lock;

/// The alignment of binding offsets that suits every device.
pub(crate) const ALIGNMENT: u64 = 256;

/// Entries of the byte table, one for each value of a byte.
const BYTES: u64 = 256;

/// Bytes of a pass's arguments, and of the offsets of its slices.
const ARGUMENTS: u64 = 32;
const SLICES: u64 = 16;

/// A sort to record.
#[derive(Clone, Copy)]
pub(crate) struct RecordedSort<'a> {
    /// Memory that the sort needs beside the caller's slices.
    pub(crate) scratch: &'a Scratch,
    /// At least one element. The sort does not write the keys of an argsort. With `iota`, values are positions that
    /// the sort writes; otherwise they move with their keys.
    pub(crate) elements: Elements<'a>,
    /// The most elements.
    pub(crate) most: u32,
    /// The number of elements in a buffer, if the host does not know it.
    pub(crate) count: Option<Slice<'a>>,
    /// If true, the sort writes positions as payload, instead of reading a payload.
    pub(crate) iota: bool,
    /// If true, the keys stay unchanged, as in an argsort.
    pub(crate) keeps_keys: bool,
    /// The offsets of segments, if there are segments.
    pub(crate) offsets: Option<Slice<'a>>,
}

/// The operation on the elements.
#[derive(Clone, Copy)]
pub(crate) enum Work<'a> {
    Sort,
    /// Leaves this number of first elements in order at the beginning; the elements after them are unspecified.
    Top(u32),
    /// Sorts rows of this length, at most [`Recorder::longest_row`].
    Rows(u32),
    Segments(Ranges<'a>),
}

/// Records sorts of one element type on one device.
pub(crate) struct Recorder {
    context: Context,
    /// Identifies memory made by this recorder.
    identity: Arc<()>,
    pipelines: Pipelines,
    planners: Planners,
    finder: Option<SegmentFinder>,
    preparation: Preparation,
    /// The byte table, bound once for each byte of host parameters.
    host: wgpu::BindGroup,
    /// Words of `u32::MAX`: bound as the count if the host knows it, and in place of empty slices.
    no_count: wgpu::Buffer,
    /// A buffer for [`Self::check_encoder`]: only encoders of this wgpu instance accept it.
    own: wgpu::Buffer,
    /// Hashes of callers' buffers that belong to the device.
    checked_buffers: Mutex<HashSet<u64>>,
    /// The copy kernel with arguments in a buffer; below, with immediates, if the device has them.
    copy: ComputePipeline,
    plain_copy: Option<ComputePipeline>,
    /// The texts of kernels beside sorts, and those kernels made so far.
    beside: Beside,
    beside_kernels: Mutex<HashMap<BesideKernel, ComputePipeline>>,
    pub(crate) compiling: Duration,
}

/// The kernels that write the arguments of passes.
struct Preparation {
    sort: ComputePipeline,
    rows: ComputePipeline,
    /// Writes all arguments of a selection except the number of selected elements.
    top: ComputePipeline,
    /// Writes the number of selected elements of a selection.
    top_k: ComputePipeline,
}

impl Preparation {
    /// The kernels for the elements of `callers`, each made by `kernel` from its name, text and buffers.
    fn new(
        callers: &CallerPlans,
        kernel: impl Fn(&str, String, &[wgpu::BindGroupLayoutEntry]) -> ComputePipeline,
    ) -> Self {
        let sort =
            [storage(0, false), storage(1, false), storage(2, false), uniform(3, false), storage(4, true)];
        let (text, top) = (prepare_top_text(callers), [storage(0, false), storage(1, true)]);
        Self {
            sort: kernel("prepare", prepare_text(), &sort),
            rows: kernel("prepare_rows", prepare_rows_text(), &[storage(0, false)]),
            top: kernel("prepare_top", text.clone(), &top),
            top_k: kernel("want", text, &top),
        }
    }
}

/// The slot of the slices of passes that read their elements on this side.
fn slices_slot(digits: u32, side: Side) -> u32 {
    digits + u32::from(side == Side::Back)
}

/// The slot of the arguments of the copy.
fn copy_slot(digits: u32) -> u32 {
    digits + 2
}

/// The slot of the arguments of a group of short segments.
fn group_slot(digits: u32, group: u32) -> u32 {
    digits + 3 + group
}

impl RecordedSort<'_> {
    /// Elements between the beginnings of bindings and of slices: the keys, the payload and the count.
    fn begins(&self) -> [u32; 3] {
        [self.elements.keys.first(), first(self.elements.values), first(self.count)]
    }
}

/// The caller's slices in front, the scratch behind.
impl Memory for RecordedSort<'_> {
    fn keys(&self, side: Side) -> wgpu::BufferBinding<'_> {
        match side {
            Side::Back => self.scratch.named("keys"),
            Side::Front if self.keeps_keys => self.scratch.named("copied keys"),
            Side::Front => self.elements.keys.binding(),
        }
    }

    fn payload(&self, side: Side) -> wgpu::BufferBinding<'_> {
        match (side, self.elements.values) {
            (_, None) => whole(&self.scratch.placeholder),
            (Side::Front, Some(callers)) => callers.binding(),
            (Side::Back, Some(_)) => self.scratch.named("positions"),
        }
    }

    fn aux(&self, name: &str) -> wgpu::BufferBinding<'_> {
        match name {
            // The list may share the other array: short segments are sorted before a pass needs
            // that array.
            name if name == SEGMENT_LIST.name => self.scratch.named("keys"),
            name if name == SEGMENT_OFFSETS.name => self.scratch.bound(self.offsets),
            name => self.scratch.named(name),
        }
    }
}

/// Checks the limits that every sort needs.
fn check_limits(context: &Context) -> Result<(), Error> {
    let has = context.device.limits();
    Ok(gpusort_order::error::at_most([
        ("storage buffers in a kernel", 8, has.max_storage_buffers_per_shader_stage.into()),
        ("uniform buffers in a kernel", 9, has.max_uniform_buffers_per_shader_stage.into()),
        (
            "uniform buffers with dynamic offsets",
            8,
            has.max_dynamic_uniform_buffers_per_pipeline_layout.into(),
        ),
        ("invocations in a workgroup", 256, context.info.limits.invocations.into()),
        ("workgroups in a row", 8, context.info.limits.workgroups_per_dimension.into()),
        // wgpu's downlevel default. Some kernels need less, but smaller limits are untested.
        ("bytes of workgroup memory", 16_352, context.info.limits.workgroup_bytes),
    ])?)
}

impl Recorder {
    /// A recorder of sorts with these settings.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        cache: Option<&wgpu::PipelineCache>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let context = Context::of_caller(device.clone(), queue.clone());
        check_limits(&context)?;
        context.scoped(|context| {
            let planners = Planners::new(settings, &context.info.limits)?;
            let sort = planners.sort;

            let arguments = layout(device, "arguments", &[uniform(0, true), uniform(1, true)]);
            let pipelines = Pipelines::new(context.clone(), Some(arguments.clone()), cache.cloned());
            let entries: [_; 8] = std::array::from_fn(|byte| uniform(byte as u32, true));
            let bytes = layout(device, "bytes", &entries);
            let with_host =
                |name: &str, text, buffers: &[_]| kernel(device, name, text, buffers, Some(&bytes), cache);
            let preparation = Preparation::new(&sort, with_host);
            let copy = |has_immediates, arguments| {
                let text = copy_text(sort.shape.key_words(), has_immediates);
                kernel(device, "copy", text, &[storage(0, true), storage(1, false)], arguments, cache)
            };
            let has_immediates = device.features().contains(wgpu::Features::IMMEDIATES)
                && device.limits().max_immediate_size >= Arguments::MOST_BYTES;
            let plain_copy = has_immediates.then(|| copy(true, None));
            let copy = copy(false, Some(&arguments));

            let finder = settings.segments.then(|| SegmentFinder::new(&sort, with_host)).transpose()?;
            let host = byte_table(context, &preparation.sort)?;
            let own = context.buffer("own", 4, wgpu::BufferUsages::COPY_DST)?;
            // Holds the largest element, since it also stands for empty runs.
            let no_count = context.filled("any number", &[0xff; 8], wgpu::BufferUsages::STORAGE)?;
            let (transform, narrow) = (settings.transform, settings.narrow);
            let recorder = Self {
                context: context.clone(),
                identity: Arc::default(),
                pipelines,
                planners,
                finder,
                preparation,
                host,
                no_count,
                own,
                checked_buffers: Mutex::default(),
                copy,
                plain_copy,
                beside: Beside { transform, narrow, has_immediates },
                beside_kernels: Mutex::default(),
                compiling: Duration::ZERO,
            };
            // Pipelines do not depend on the number of elements, so plans for 2 elements serve.
            for callers in [Some(sort), recorder.planners.argsort].into_iter().flatten() {
                callers.sorts(2)?.iter().try_for_each(|(_, plan)| recorder.compile(plan))?;
            }
            Ok(Self { compiling: start.elapsed(), ..recorder })
        })
    }

    /// Makes the pipelines of a plan, on all cores.
    fn compile(&self, plan: &Plan) -> Result<(), Error> {
        let all = || plan.distinct_dispatches().map(Dispatch::pipeline);
        let immediate = all().filter(|_| self.has_immediates());
        // The preparation replaces dispatches that clear.
        let others = plan.distinct_dispatches().filter(|dispatch| !dispatch.clears());
        self.pipelines.make(immediate.chain(others.map(|dispatch| dispatch.pipeline().of_slices())))
    }

    /// A storage buffer that holds these words.
    pub(crate) fn words(&self, words: &[u32]) -> Result<wgpu::Buffer, Error> {
        let bytes = bytemuck::cast_slice(words);
        self.context.scoped(|context| context.filled("offsets", bytes, wgpu::BufferUsages::STORAGE))
    }

    /// The most bytes that the device binds at once.
    pub(crate) fn binding_bytes(&self) -> u64 {
        self.context.info.limits.binding_bytes
    }

    /// Returns false if wgpu reports that a slice's buffer belongs to another device. Each buffer is tried
    /// once, since a bind group costs as much as the recording of a short sort.
    pub(crate) fn is_of_device(&self, slice: Slice) -> bool {
        /// The limit of kept hashes; a program may make buffers without end.
        const MOST: usize = 1 << 10;
        if slice.len == 0 {
            return true;
        }
        let buffer = BuildHasherDefault::<DefaultHasher>::default().hash_one(slice.buffer);
        if lock(&self.checked_buffers).contains(&buffer) {
            return true;
        }
        let (device, kernel) = (&self.context.device, (&self.preparation.rows, 0));
        let bind = || bind_group(device, "check", kernel, [(0, slice.binding())]);
        let is_own =
            is_of_instance(|| in_error_scope(device, wgpu::ErrorFilter::Validation, bind).1.is_none());
        let mut checked = lock(&self.checked_buffers);
        if checked.len() == MOST {
            checked.clear();
        }
        checked.extend(is_own.then_some(buffer));
        is_own
    }

    /// Checks that an encoder belongs to the wgpu instance of this device.
    pub(super) fn check_encoder(&self, encoder: &mut wgpu::CommandEncoder) -> Result<(), Misuse> {
        // Clears 0 bytes: it only looks up the buffer in the encoder's instance.
        let is_known = is_of_instance(|| {
            encoder.clear_buffer(&self.own, 0, Some(0));
            true
        });
        if is_known { Ok(()) } else { Err(Misuse::Device("encoder")) }
    }

    /// Records an operation on elements; an empty sort, `None`, needs no passes. Narrow elements are widened
    /// first and narrowed afterwards.
    ///
    /// # Errors
    ///
    /// Scratch without memory for an argsort or segments; more offsets than one dispatch takes;
    /// errors of the device while it makes a pipeline.
    pub(crate) fn record<'s>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sort: Option<RecordedSort<'s>>,
        work: Work<'s>,
    ) -> Result<(), Error> {
        let Some(sort) = sort else { return Ok(()) };
        self.check_encoder(encoder)?;
        let k = if let Work::Top(k) = work { k.min(sort.most) } else { sort.most };
        self.with_wide_keys(encoder, &sort, k, |encoder, sort| match work {
            Work::Sort => self.record_sort(encoder, sort),
            Work::Top(_) => self.record_top(encoder, sort, k),
            Work::Rows(length) => self.record_rows(encoder, sort, length),
            Work::Segments(ranges) => self.record_segments(encoder, sort, ranges),
        })
    }

    fn record_sort(&self, encoder: &mut wgpu::CommandEncoder, sort: &RecordedSort) -> Result<(), Error> {
        let planned = if sort.keeps_keys {
            sort.scratch.argsort.as_ref().ok_or_else(|| Error::lacks("memory for an argsort"))?
        } else {
            &sort.scratch.sort
        };
        let takes_immediates = self.takes_immediates(sort);
        let mut pass = begin_pass(encoder, "gpusort sort");
        let plan = planned.plans.iter().find(|(most, _)| sort.most <= *most);
        let (_, plan) = plan.expect("the scratch has room for the elements");
        if !takes_immediates {
            self.record_prepare(&mut pass, planned, sort)?;
        }
        // The preparation replaces dispatches that clear.
        let dispatches = plan.dispatches().filter(|dispatch| takes_immediates || !dispatch.clears());
        // Narrow keys are copies already, made by widening.
        if sort.keeps_keys && self.beside.narrow.is_none() {
            self.record_copy(&mut pass, sort, takes_immediates);
        }
        self.record_passes(&mut pass, sort, dispatches, takes_immediates)
    }

    /// The number of digits of a key.
    fn digits(&self) -> u32 {
        self.planners.sort.transform.digits()
    }

    /// Returns true if the device has immediates.
    fn has_immediates(&self) -> bool {
        self.beside.has_immediates
    }

    /// Returns true if arguments can be immediates: the host knows the count, and slices begin at
    /// bindable offsets.
    fn takes_immediates(&self, sort: &RecordedSort) -> bool {
        let [first_key, first_payload, _] = sort.begins();
        self.has_immediates() && sort.count.is_none() && first_key | first_payload == 0
    }

    /// The binding of the count, or of `u32::MAX` if the host knows the count.
    fn count<'a>(&'a self, count: Option<Slice<'a>>) -> wgpu::BufferBinding<'a> {
        count.map_or_else(|| whole(&self.no_count), Slice::binding)
    }

    /// Records passes on elements in the caller's slices. Arguments are immediates, or in the scratch.
    fn record_passes<'a>(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        sort: &RecordedSort,
        dispatches: impl Iterator<Item = &'a Dispatch>,
        takes_immediates: bool,
    ) -> Result<(), Error> {
        let digits = self.digits();
        let mut recorded = Dispatches::new(&self.pipelines, sort, Side::Front);
        for dispatch in dispatches {
            let mut dispatch = dispatch.for_fewer(sort.most, &self.context.info.limits)?;
            if takes_immediates {
                if !sort.iota {
                    dispatch.pass_through();
                }
                if sort.keeps_keys {
                    dispatch.drop_keys();
                }
                let arguments = dispatch.arguments(0);
                recorded.record(pass, &dispatch, Sent::Immediates(arguments.bytes()))?;
            } else {
                let group = dispatch.group();
                let arguments = group.map_or(dispatch.digit(), |group| group_slot(digits, group.number));
                let offsets =
                    [arguments, slices_slot(digits, recorded.side)].map(|slot| slot * ALIGNMENT as u32);
                recorded.record(pass, &dispatch, Sent::Group(&sort.scratch.arguments, offsets))?;
            }
        }
        Ok(())
    }

    /// The longest row that a tile holds.
    pub(crate) fn longest_row(&self) -> u32 {
        plan::longest_row(&self.context.info.limits)
    }

    fn record_rows(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sort: &RecordedSort,
        length: u32,
    ) -> Result<(), Error> {
        let plan = self.planners.sort.rows(sort.most / length, length, sort.iota)?;
        let mut pass = begin_pass(encoder, "gpusort rows");
        let takes_immediates = self.has_immediates();
        let [first_key, first_payload, _] = sort.begins();
        if !takes_immediates {
            let parameters = [(0, whole(&sort.scratch.parameters))];
            let kernel = &self.preparation.rows;
            let group = bind_group(&self.context.device, "rows", (kernel, 0), parameters);
            let [length_0, length_1, ..] = length.to_le_bytes().map(u32::from);
            let host = [length_0, length_1, first_key, first_payload];
            self.dispatch_with_host_parameters(&mut pass, kernel, &group, 1, (sort.most, host))?;
        }
        let mut recorded = Dispatches::new(&self.pipelines, sort, Side::Front);
        let arguments = [sort.most / length, length, first_key, first_payload];
        for dispatch in plan.dispatches() {
            let sent = match takes_immediates {
                true => Sent::Immediates(bytemuck::cast_slice(&arguments)),
                false => Sent::Group(&sort.scratch.arguments, [0, 0]),
            };
            recorded.record(&mut pass, dispatch, sent)?;
        }
        Ok(())
    }

    fn record_prepare(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        planned: &CachedPlans,
        sort: &RecordedSort,
    ) -> Result<(), Error> {
        let buffers = [
            (0, whole(&sort.scratch.parameters)),
            (1, sort.scratch.named("histograms")),
            (2, sort.scratch.named("varying_bits")),
            (3, whole(&planned.fixed)),
            (4, self.count(sort.count)),
        ];
        let kernel = &self.preparation.sort;
        let group = bind_group(&self.context.device, "prepare", (kernel, 0), buffers);
        let keeps = u32::from(sort.keeps_keys);
        let flags = u32::from(sort.iota) | keeps << 1 | keeps << 2;
        let [first_key, first_payload, first_count] = sort.begins();
        let host = [first_key, first_payload, first_count, flags];
        self.dispatch_with_host_parameters(pass, kernel, &group, self.digits(), (sort.most, host))
    }

    fn record_copy(&self, pass: &mut wgpu::ComputePass<'_>, sort: &RecordedSort, takes_immediates: bool) {
        /// Enough workgroups to keep any device busy.
        const MOST: u32 = 1 << 14;
        let copy = self.plain_copy.as_ref().filter(|_| takes_immediates).unwrap_or(&self.copy);
        let buffers = [(0, sort.elements.keys.binding()), (1, sort.scratch.named("copied keys"))];
        pass.set_pipeline(copy);
        pass.set_bind_group(0, &bind_group(&self.context.device, "copy", (copy, 0), buffers), &[]);
        if takes_immediates {
            pass.set_immediates(0, bytemuck::cast_slice(&[sort.most, 0]));
        } else {
            let offset = copy_slot(self.digits()) * ALIGNMENT as u32;
            pass.set_bind_group(1, &sort.scratch.arguments, &[offset, 0]);
        }
        let words = u64::from(sort.most) * sort.elements.keys.each / 4;
        let most = self.context.info.limits.workgroups_per_dimension.min(MOST);
        pass.dispatch_workgroups(words.div_ceil(256).min(most.into()) as u32, 1, 1);
    }
}

/// Returns the byte table, bound once for each byte of the parameters of `prepare` and of other kernels.
fn byte_table(context: &Context, prepare: &ComputePipeline) -> Result<wgpu::BindGroup, Error> {
    let mut table = vec![0_u8; (BYTES * ALIGNMENT) as usize];
    for (byte, entry) in table.chunks_mut(ALIGNMENT as usize).enumerate() {
        entry[0] = byte as u8;
    }
    let table = context.filled("bytes", &table, wgpu::BufferUsages::UNIFORM)?;
    // Shaders take uniforms in whole vectors, so the least binding is 16 bytes.
    let bindings = (0..8).map(|byte| (byte, begin_of(&table, 16)));
    Ok(bind_group(&context.device, "bytes", (prepare, 1), bindings))
}

/// Returns the result of `work`, or false if wgpu panics because it lacks an object of another instance.
fn is_of_instance(work: impl FnOnce() -> bool) -> bool {
    // Unwinding is safe: before the panic wgpu only reserves an id.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(false)
}

fn begin_pass<'a>(encoder: &'a mut wgpu::CommandEncoder, label: &str) -> wgpu::ComputePass<'a> {
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes: None })
}
