//! Sorts inside a program of your own that uses wgpu: recorded into your encoder, on your device,
//! of buffers on the GPU.
//!
//! ```text
//! your passes ─▸ [ keys, values ] ─▸ recorded sort ─▸ [ the same, in order ] ─▸ your passes      one submit
//!                   count ──────────────▴                                        (may be on the GPU, too)
//! ```
//!
//! [`BufferSorter::new`] compiles the kernels for a [`Spec`], [`BufferSorter::workspace`] allocates
//! memory, and [`BufferSorter::record`] records commands. Recording does not submit, wait, read back
//! or allocate memory on the GPU. An encoder may have several sorts, which may share a workspace.
//!
//! This program also needs the crates `bytemuck` and, to wait for `run`, `pollster`:
//!
//! ```
//! use gpusort::buffers::{BufferSorter, Count, MEMORY_HINTS, Payload, Spec};
//! use gpusort::wgpu::{self, util::DeviceExt};
//! use gpusort::ElementType;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { pollster::block_on(run()) }
//! async fn run() -> Result<(), Box<dyn std::error::Error>> {
//!     // A device for sorts of up to 1000 elements.
//!     let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
//!     let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
//!     let descriptor = wgpu::DeviceDescriptor {
//!         required_features: BufferSorter::required_features(&adapter),
//!         required_limits: BufferSorter::required_limits(&adapter, 1000),
//!         memory_hints: MEMORY_HINTS,
//!         ..Default::default()
//!     };
//!     let (device, queue) = adapter.request_device(&descriptor).await?;
//!
//!     // Once: particles are drawn from the farthest to the nearest.
//!     let spec = Spec::new(ElementType::F32).payload(Payload::U32).descending(true);
//!     let sorter = BufferSorter::new(&device, &queue, spec)?;
//!     let workspace = sorter.workspace(1000)?;
//!     let buffer = |contents: &[u8]| {
//!         let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
//!         device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
//!     };
//!     let depths = buffer(bytemuck::bytes_of(&[0.5_f32, 2.0, 1.0]));
//!     let particles = buffer(bytemuck::bytes_of(&[0_u32, 1, 2]));
//!
//!     // In each frame, among your own passes.
//!     let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
//!     let (keys, values) = (depths.slice(..), Some(particles.slice(..)));
//!     sorter.record(&mut encoder, &workspace, keys, values, Count::Host(3))?;
//!
//!     // Read back, to show the result.
//!     let result = device.create_buffer(&wgpu::BufferDescriptor {
//!         label: None,
//!         size: 12,
//!         usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
//!         mapped_at_creation: false,
//!     });
//!     encoder.copy_buffer_to_buffer(&particles, 0, &result, 0, 12);
//!     queue.submit([encoder.finish()]);
//!     result.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("the buffer is mapped"));
//!     device.poll(wgpu::PollType::wait_indefinitely())?;
//!     let order: Vec<u32> = bytemuck::pod_collect_to_vec(&result.get_mapped_range(..)?);
//!     assert_eq!(order, [1, 2, 0]);
//!     Ok(())
//! }
//! ```
//!
//! # Elements
//!
//! Keys are unsigned, signed or floating-point numbers of 32 or 64 bits, as they lie in your buffer.
//! Each may have a `u32` payload in another buffer, often an index, which moves with its key. The
//! order is that of the whole library: floats from −inf over −0 and +0 to +inf, then NaN, in both
//! directions; equal keys always keep their order. Results replace the contents of the same
//! buffers.
//!
//! All buffers are of the device of the sorter. Those of another one are an error of wgpu, which it
//! reports to the device's handler of errors, and those of another instance make it panic.
//!
//! Keys and values may be slices of one buffer that do not overlap. A slice may begin at any
//! element; with [`Count::Host`], sorts of slices that begin at multiples of 256 bytes are a few
//! percent faster. In browsers, slices of one buffer must be at least 256 bytes apart.
//!
//! # Counts
//!
//! The number of elements is known when a sort is recorded ([`Count::Host`]), or lies in a buffer
//! when it runs ([`Count::Buffer`]): the result of an earlier pass, such as the number of visible
//! particles. The count is then known only to the device: grids are sized for the whole slices, and
//! workgroups without work end at once.
//!
//! # Segments
//!
//! [`BufferSorter::record_segments`] sorts each of many ranges by itself: the rows of a matrix, or
//! segments between offsets, which may also be on the GPU. Segments of up to 8,192 elements, or
//! fewer where workgroups have little memory, are sorted in tiles, many at a time; longer ones by
//! radix, all of them together. This takes no longer than one sort of all elements, whatever the
//! lengths.
//!
//! # Memory
//!
//! [`Spec::workspace_bytes`] returns the most memory that a workspace takes on any device: a second
//! array of keys and values, a copy of the keys for [`BufferSorter::record_argsort`] (leave it out
//! with [`Spec::argsort`]), and counts of digits. A workspace serves any number of sorts in turn.
//!
//! # Devices
//!
//! Any device with the default limits of WebGPU works: 8 storage buffers in a kernel, and 256
//! invocations in a workgroup. Start yours with [`BufferSorter::required_features`] and
//! [`BufferSorter::required_limits`]: with subgroups and immediates a sort takes two thirds of the
//! time. If you decide on the memory of the device, start it with [`MEMORY_HINTS`]: sorts of 4 to
//! 64 MB take a few percent longer where keys share a block of memory with other buffers.

mod awaited;

use std::ops::Range;
use std::time::Duration;

pub use self::awaited::AsyncSorter;
use gpusort_planner::Algorithm;
use gpusort_planner::kernels::Arguments;
use gpusort_planner::key::ElementType;
use gpusort_planner::plan::KeyTransform;

use crate::error::Error;
use crate::error::misuse::on_callers_device;
pub use crate::error::misuse::{MOST, Misuse};
use crate::gpu::{Ranges, Recorder, Scratch, Slice, Sort, Uses, most_bytes};
use crate::method::Method;

/// Small blocks of memory, so that each large buffer has its own, for [`wgpu::DeviceDescriptor`].
pub const MEMORY_HINTS: wgpu::MemoryHints =
    wgpu::MemoryHints::Manual { suballocated_device_memory_block_size: 1 << 20..1 << 20 };

/// The payload of each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// A `u32` of the caller.
    U32,
    /// The position of the key before the sort, from 0. It is written, not read.
    Positions,
}

/// What to sort, and how. Sorters with equal specifications do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    element: ElementType,
    payload: Payload,
    descending: bool,
    bits: Option<Range<u32>>,
    method: Method,
    argsort: bool,
    segments: bool,
}

/// The number of elements.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Count<'a> {
    /// Known when the sort is recorded.
    Host(u32),
    /// A `u32` on the GPU, read when the sort runs. A count above the length of the slices or the
    /// capacity of the workspace is lowered to it.
    Buffer {
        /// The buffer, with usage `STORAGE`.
        buffer: &'a wgpu::Buffer,
        /// The offset of the count, in bytes: a multiple of 4.
        offset: u64,
    },
}

/// Ranges of elements, each sorted by itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Segments<'a> {
    /// Consecutive rows of this many elements, as of a matrix.
    Rows(u32),
    /// From each of these `u32` to the next, in elements from the beginning of the keys. They ascend,
    /// and lie in a buffer of their own with usage `STORAGE`. Where they do not ascend, or exceed the
    /// number of keys, keys and values stay as they are, and positions are unspecified.
    Offsets(wgpu::BufferSlice<'a>),
    /// The same, known to the host. Recording creates a buffer of them, the only memory that it
    /// allocates.
    HostOffsets(&'a [u32]),
}

impl Spec {
    /// Keys without payload, ascending, by all bits.
    #[must_use]
    pub const fn new(element: ElementType) -> Self {
        let method = Method { algorithm: None, variant: None };
        Self {
            element,
            payload: Payload::None,
            descending: false,
            bits: None,
            method,
            argsort: true,
            segments: true,
        }
    }

    /// With this payload.
    #[must_use]
    pub const fn payload(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    /// Largest first; NaN stays last.
    #[must_use]
    pub const fn descending(self, descending: bool) -> Self {
        Self { descending, ..self }
    }

    /// By these bits of the keys only, counted from the lowest. Elements with equal bits keep their
    /// order. For signed and floating-point numbers these are bits of the unsigned key that has
    /// their order.
    #[must_use]
    pub fn key_bits(self, bits: Range<u32>) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// By this variant of the radix sort instead of the device's best.
    #[must_use]
    pub const fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Whether workspaces have memory for [`BufferSorter::record_argsort`]: a copy of the keys, and
    /// four bytes per element if there is no payload.
    #[must_use]
    pub const fn argsort(self, argsort: bool) -> Self {
        Self { argsort, ..self }
    }

    /// Whether workspaces have memory for [`BufferSorter::record_segments`] with offsets or long
    /// rows: up to half a key per key, far less where tiles are large.
    #[must_use]
    pub const fn segments(self, segments: bool) -> Self {
        Self { segments, ..self }
    }

    /// The most bytes that a workspace for `capacity` elements takes on any device. With subgroups
    /// of 32, the most common size, it takes some 15 % less, and some 30 % less with memory for
    /// segments (with the default of [`Self::argsort`]): [`BufferSorter::workspace_bytes`] is exact.
    /// 0 for an element type or bits that [`BufferSorter::new`] refuses.
    #[must_use]
    pub fn workspace_bytes(&self, capacity: u32) -> u64 {
        let capacity = capacity.clamp(1, MOST);
        let variant = self.method.variant;
        let most = |transform| most_bytes(transform, self.has_payload(), self.uses(), variant, capacity);
        // What cannot be takes nothing.
        self.transform().ok().and_then(|transform| most(transform).ok()).unwrap_or(0)
    }

    /// Segments are sorted by whole keys alone.
    fn uses(&self) -> Uses {
        Uses { argsort: self.argsort, segments: self.segments && self.bits.is_none() }
    }

    fn has_payload(&self) -> bool {
        self.payload != Payload::None
    }

    fn transform(&self) -> Result<KeyTransform, Misuse> {
        if !ElementType::WIDE.contains(&self.element) {
            return Err(Misuse::Element(self.element));
        }
        let of = 8 * self.element.bytes() as u32;
        let bits = self.bits.clone().unwrap_or(0..of);
        if bits.is_empty() || bits.end > of {
            return Err(Misuse::KeyBits { bits, of });
        }
        let &Self { element, descending, .. } = self;
        Ok(KeyTransform { element, descending, begin: bits.start, bits: bits.end - bits.start })
    }
}

/// A slice, and what it is called in messages.
type Named<'a> = (&'static str, wgpu::BufferSlice<'a>);

/// Records sorts on one device.
pub struct BufferSorter {
    spec: Spec,
    recorder: Recorder,
}

/// Device memory for sorts of up to [`capacity`](Self::capacity) elements.
pub struct Workspace {
    scratch: Scratch,
}

impl Workspace {
    /// The most elements of a sort.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.scratch.capacity
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.scratch.bytes
    }
}

impl BufferSorter {
    /// Compiles the kernels of this specification. This may take a second if the driver has not
    /// cached them; [`compile_time`](Self::compile_time) returns how long it took.
    ///
    /// # Errors
    ///
    /// An invalid specification; a device that lacks a feature or has too low a limit; a failure of
    /// the device.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, spec: Spec) -> Result<Self, Error> {
        Self::with_cache(device, queue, spec, None)
    }

    /// As [`Self::new`], with a pipeline cache.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn with_cache(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        spec: Spec,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<Self, Error> {
        let transform = spec.transform()?;
        let Method { algorithm, variant } = spec.method;
        if let Some(algorithm) = algorithm.filter(|&algorithm| algorithm != Algorithm::Radix) {
            return Err(Misuse::Method(algorithm).into());
        }
        let (payload, uses) = (spec.has_payload(), spec.uses());
        let recorder = Recorder::new(device, queue, cache, transform, payload, uses, variant);
        Ok(Self { spec, recorder: recorder.map_err(on_callers_device)? })
    }

    /// The features to start a device with: immediates and subgroups, if the adapter has them. The
    /// sort also works without.
    #[must_use]
    pub fn required_features(adapter: &wgpu::Adapter) -> wgpu::Features {
        let used = wgpu::Features::IMMEDIATES.union(wgpu::Features::SUBGROUP);
        adapter.features() & used.union(wgpu::Features::SUBGROUP_BARRIER)
    }

    /// The limits to start a device with for sorts of `capacity` elements of 64 bits: the defaults
    /// of wgpu, with larger bindings where necessary and all of the adapter's workgroup memory.
    #[must_use]
    pub fn required_limits(adapter: &wgpu::Adapter, capacity: u32) -> wgpu::Limits {
        let (least, has) = (wgpu::Limits::default(), adapter.limits());
        // Beside a slice there may be what is between its beginning and where it is bound from.
        let bytes = 8 * u64::from(capacity) + crate::gpu::ALIGNMENT;
        wgpu::Limits {
            max_storage_buffer_binding_size: least.max_storage_buffer_binding_size.max(bytes),
            max_buffer_size: least.max_buffer_size.max(bytes),
            max_compute_workgroup_storage_size: has.max_compute_workgroup_storage_size,
            max_immediate_size: has.max_immediate_size.min(Arguments::MOST_BYTES),
            ..least
        }
    }

    /// The specification.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The time that [`Self::new`] took to compile.
    #[must_use]
    pub fn compile_time(&self) -> Duration {
        self.recorder.compiling
    }

    /// The longest row that is sorted in a tile with others: such rows need no memory of a workspace,
    /// however many there are. Longer ones need a capacity of all elements.
    #[must_use]
    pub fn longest_row(&self) -> u32 {
        self.recorder.longest_row()
    }

    /// The bytes of a workspace for `capacity` elements on this device.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or above [`MOST`]; a buffer larger than the device's limits.
    pub fn workspace_bytes(&self, capacity: u32) -> Result<u64, Error> {
        self.recorder.scratch_bytes(in_range(capacity)?).map_err(on_callers_device)
    }

    /// Allocates memory for sorts of up to `capacity` elements. It serves any number of sorts, in
    /// turn.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or above [`MOST`]; a buffer larger than the device's limits; too little
    /// memory.
    pub fn workspace(&self, capacity: u32) -> Result<Workspace, Error> {
        let scratch = self.recorder.scratch(in_range(capacity)?).map_err(on_callers_device)?;
        Ok(Workspace { scratch })
    }

    /// Records a sort of `count` keys, with their values if the specification has a payload.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        count: Count<'_>,
    ) -> Result<(), Error> {
        let values = self.values(values)?;
        if let Some(sort) = self.checked(workspace, keys, values, count, workspace.scratch.capacity)? {
            self.recorder.record(encoder, &workspace.scratch, &sort)?;
        }
        Ok(())
    }

    /// Records an argsort: writes the positions of `count` keys, from 0, in sorted order. The keys
    /// stay as they are.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_argsort(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        positions: wgpu::BufferSlice<'_>,
        count: Count<'_>,
    ) -> Result<(), Error> {
        if !self.spec.argsort {
            return Err(Misuse::NoArgsort.into());
        }
        let positions = Some(("positions", positions));
        if let Some(sort) = self.checked(workspace, keys, positions, count, workspace.scratch.capacity)? {
            let sort = Sort { iota: true, keeps_keys: true, ..sort };
            self.recorder.record(encoder, &workspace.scratch, &sort)?;
        }
        Ok(())
    }

    /// Records a sort that leaves the first `k` of `count` keys in order at the beginning, with their
    /// values. The elements after them are unspecified: some may be duplicated, others lost.
    ///
    /// If `k` is at most a quarter of many elements, they are selected first; the first such call
    /// compiles pipelines. Otherwise it takes as long as sorting all.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_top(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        k: u32,
        count: Count<'_>,
    ) -> Result<(), Error> {
        let values = self.values(values)?;
        if let Some(sort) = self.checked(workspace, keys, values, count, workspace.scratch.capacity)?
            && k > 0
        {
            self.recorder.record_top(encoder, &workspace.scratch, &sort, k.min(sort.most))?;
        }
        Ok(())
    }

    /// Records sorts of segments, each by itself; positions count within their segment. Keys outside
    /// of segments stay as they are.
    ///
    /// Rows of up to [`Self::longest_row`], mostly 8,192 elements, use no memory of the workspace, and all
    /// of them together may exceed its capacity. The first call with segments, or with rows of another power of two,
    /// compiles pipelines.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers; nothing is recorded.
    pub fn record_segments(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'_>,
        values: Option<wgpu::BufferSlice<'_>>,
        segments: Segments<'_>,
    ) -> Result<(), Error> {
        if self.spec.bits.is_some() {
            return Err(Misuse::SegmentBits.into());
        }
        let scratch = &workspace.scratch;
        let elements = keys.size() / self.spec.element.bytes() as u64;
        let count = Count::Host(u32::try_from(elements).unwrap_or(u32::MAX));
        let values = self.values(values)?;
        let all = |capacity| self.checked(workspace, keys, values, count, capacity);
        if let Segments::Rows(length) = segments {
            if length == 0 || !elements.is_multiple_of(length.into()) {
                return Err(Misuse::Rows { elements, length }.into());
            }
            if length <= self.recorder.longest_row() {
                let Some(all) = all(MOST)? else { return Ok(()) };
                return self.recorder.record_rows(encoder, scratch, &all, length);
            }
        }
        if !self.spec.segments {
            return Err(Misuse::NoSegments.into());
        }
        if let Segments::HostOffsets(offsets) = segments {
            let is_wrong = |ends: &[u32]| ends[0] > ends[1] || u64::from(ends[1]) > elements;
            if let Some(segment) = offsets.windows(2).position(is_wrong) {
                let range = offsets[segment]..offsets[segment + 1];
                return Err(Misuse::Offsets { segment, range, keys: elements }.into());
            }
            if offsets.len() < 2 {
                return Ok(());
            }
            self.check_binding("offsets", size_of_val(offsets) as u64)?;
        }
        let Some(all) = all(scratch.capacity)? else { return Ok(()) };
        let made;
        let offsets = match segments {
            Segments::Rows(length) => {
                return self.recorder.record_segments(encoder, scratch, &all, Ranges::Long(length));
            }
            Segments::Offsets(offsets) => offsets,
            Segments::HostOffsets(offsets) => {
                made = self.recorder.words(offsets)?;
                made.slice(..)
            }
        };
        let offsets = slice("offsets", offsets, 4)?;
        self.check_binding("offsets", offsets.bound_bytes())?;
        for (name, other) in [("keys", Some(all.keys)), ("values", all.payload)] {
            if other.is_some_and(|other| other.buffer == offsets.buffer) {
                return Err(Misuse::OneBuffer(name, "offsets").into());
            }
        }
        if offsets.len < 2 {
            return Ok(());
        }
        self.recorder.record_segments(encoder, scratch, &all, Ranges::Offsets(offsets))
    }

    /// The values, as far as the specification has any.
    fn values<'a>(&self, values: Option<wgpu::BufferSlice<'a>>) -> Result<Option<Named<'a>>, Misuse> {
        match (self.spec.payload, values) {
            (Payload::None, Some(_)) => Err(Misuse::Values),
            (Payload::U32 | Payload::Positions, None) => Err(Misuse::NoValues),
            (_, values) => Ok(values.map(|values| ("values", values))),
        }
    }

    /// Whether the device binds so many bytes of a slice.
    fn check_binding(&self, slice: &'static str, bytes: u64) -> Result<(), Misuse> {
        let limit = self.recorder.binding_bytes();
        if bytes > limit { Err(Misuse::Binding { slice, bytes, limit }) } else { Ok(()) }
    }

    /// What is to be recorded, if it is anything, of no more elements than there is room for.
    fn checked<'a>(
        &self,
        workspace: &Workspace,
        keys: wgpu::BufferSlice<'a>,
        values: Option<Named<'a>>,
        count: Count<'a>,
        capacity: u32,
    ) -> Result<Option<Sort<'a>>, Misuse> {
        if !self.recorder.owns(&workspace.scratch) {
            return Err(Misuse::Workspace);
        }
        let mut keys = slice("keys", keys, self.spec.element.bytes() as u64)?;
        let (name, values) = values.unzip();
        let name = name.unwrap_or_default();
        let mut values = values.map(|values| slice(name, values, 4)).transpose()?;
        let most = match count {
            Count::Host(count) => {
                for (slice, Slice { len, .. }) in [("keys", Some(keys)), (name, values)]
                    .into_iter()
                    .filter_map(|(name, slice)| Some((name, slice?)))
                {
                    if len < count.into() {
                        return Err(Misuse::Length { slice, holds: len, count: count.into() });
                    }
                }
                if count > capacity {
                    return Err(Misuse::Capacity { count, capacity });
                }
                count
            }
            Count::Buffer { .. } => {
                let holds = values.map_or(keys.len, |values| values.len.min(keys.len));
                u32::try_from(holds).unwrap_or(u32::MAX).min(capacity)
            }
        };
        let count = match count {
            Count::Host(_) => None,
            Count::Buffer { buffer, offset } => {
                if offset.checked_add(4).is_none_or(|end| end > buffer.size()) {
                    return Err(Misuse::CountOffset { offset, size: buffer.size() });
                }
                Some(slice("the number of elements", buffer.slice(offset..offset + 4), 4)?)
            }
        };
        if most == 0 {
            return Ok(None);
        }
        // What is bound is no more than what there may be.
        keys.len = most.into();
        values.iter_mut().for_each(|values| values.len = most.into());
        let named = [("keys", Some(keys)), (name, values), ("the number of elements", count)];
        let there = || named.iter().filter_map(|&(name, slice)| Some((name, slice?)));
        for (number, (name, slice)) in there().enumerate() {
            self.check_binding(name, slice.bound_bytes())?;
            if let Some((other, _)) = there().take(number).find(|(_, other)| other.overlaps(&slice)) {
                return Err(Misuse::Overlap(other, name));
            }
        }
        let iota = self.spec.payload == Payload::Positions;
        Ok(Some(Sort { keys, payload: values, most, count, iota, keeps_keys: false, offsets: None }))
    }
}

fn in_range(capacity: u32) -> Result<u32, Misuse> {
    if (1..=MOST).contains(&capacity) { Ok(capacity) } else { Err(Misuse::WorkspaceOf(capacity)) }
}

/// A caller's slice, of elements of so many bytes.
fn slice<'a>(name: &'static str, slice: wgpu::BufferSlice<'a>, each: u64) -> Result<Slice<'a>, Misuse> {
    let (buffer, offset) = (slice.buffer(), slice.offset());
    if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
        return Err(Misuse::Usage(name));
    }
    if offset % each != 0 {
        return Err(Misuse::Alignment { slice: name, offset, element: each });
    }
    Ok(Slice { buffer, offset, each, len: slice.size() / each })
}
