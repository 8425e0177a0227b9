//! Sorts inside a program of your own that uses wgpu: recorded into your encoder, on your device,
//! of buffers that are on the GPU already.
//!
//! ```text
//! your passes ─▸ [ keys, values ] ─▸ recorded sort ─▸ [ the same, in order ] ─▸ your passes      one submit
//!                   count ──────────────▴                                        (may be on the GPU, too)
//! ```
//!
//! [`BufferSorter::new`] compiles what a [`Spec`] asks for, [`BufferSorter::workspace`] takes the
//! memory, and [`BufferSorter::record`] writes commands. Recording submits nothing, waits for
//! nothing, reads nothing back, and takes no memory on the GPU; several sorts may be recorded into
//! one encoder, also with the same workspace.
//!
//! ```
//! use gpusort::buffers::{BufferSorter, Count, Payload, Spec};
//! use gpusort::{ElementType, wgpu};
//! # fn device() -> Result<(wgpu::Device, wgpu::Queue), Box<dyn std::error::Error>> {
//! #     let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
//! #     let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
//! #     let descriptor = wgpu::DeviceDescriptor {
//! #         required_features: BufferSorter::required_features(&adapter),
//! #         required_limits: BufferSorter::required_limits(&adapter, 1000),
//! #         ..Default::default()
//! #     };
//! #     Ok(pollster::block_on(adapter.request_device(&descriptor))?)
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (device, queue) = device()?;
//! # let buffer = |label| device.create_buffer(&wgpu::BufferDescriptor {
//! #     label: Some(label),
//! #     size: 4000,
//! #     usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
//! #     mapped_at_creation: false,
//! # });
//! // Once: particles are drawn from the farthest to the nearest.
//! let spec = Spec::new(ElementType::F32).payload(Payload::U32).descending(true);
//! let sorter = BufferSorter::new(&device, &queue, spec)?;
//! let workspace = sorter.workspace(1000)?;
//! let (depths, particles) = (buffer("depths"), buffer("particles"));
//!
//! // In each frame, among your own passes.
//! let mut encoder = device.create_command_encoder(&Default::default());
//! let (keys, values) = (depths.slice(..), Some(particles.slice(..)));
//! sorter.record(&mut encoder, &workspace, keys, values, Count::Host(1000))?;
//! queue.submit([encoder.finish()]);
//! # Ok(())
//! # }
//! ```
//!
//! # Elements
//!
//! Keys are elements as they lie in your buffer: unsigned, signed or floating-point numbers of 32
//! or 64 bits. Beside each may be a `u32` of yours in another buffer (an index, most often), which
//! goes where its key goes. The order is that of the whole library: floats from −inf over −0 and +0
//! to +inf, then NaN, in both directions; equal keys stay in the order in which they were, always.
//! Results lie in the same buffers.
//!
//! Keys and values may be slices of one buffer that have no bytes in common. A slice may begin at
//! any element; sorts of slices that begin at multiples of 256 bytes are a few percent faster where
//! the host knows the count. In browsers slices of one buffer must begin 256 bytes apart, or more,
//! from where the other ends.
//!
//! # Counts
//!
//! How many elements there are is known when a sort is recorded ([`Count::Host`]), or lies in a
//! buffer once it runs ([`Count::Buffer`]): what an earlier pass has found, such as how many
//! particles are visible. Grids are then those for as many as the slices hold; workgroups without
//! work end at once.
//!
//! # Segments
//!
//! [`BufferSorter::record_segments`] sorts each of many ranges by itself: the rows of a matrix, or
//! segments between offsets that may be on the GPU, too. Those of up to 8,192 elements, or fewer
//! where workgroups have little memory, are sorted in tiles, many at a time; longer ones by radix,
//! all of them together. It takes as long as one sort of all elements, or less, whatever their
//! lengths.
//!
//! # Memory
//!
//! [`Spec::workspace_bytes`] says without a device what a workspace takes at most: a second array
//! of keys and values, a copy of the keys for [`BufferSorter::record_argsort`] (leave it out by
//! [`Spec::argsort`]), and counts of digits. A workspace serves any number of sorts, one after
//! another.
//!
//! # Devices
//!
//! Any device with what WebGPU promises of all will do: 8 storage buffers in a kernel, and 256
//! invocations in a workgroup. [`BufferSorter::required_features`] and
//! [`BufferSorter::required_limits`] say what to ask for when you start one: with subgroups and
//! immediates a sort takes two thirds of the time. Start it with [`MEMORY_HINTS`], if its memory is
//! yours to decide on: sorts of 4 to 64 MB take a few percent longer where keys share a block of
//! memory with others.

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

/// Memory in blocks so small that large buffers have one each, for [`wgpu::DeviceDescriptor`].
pub const MEMORY_HINTS: wgpu::MemoryHints =
    wgpu::MemoryHints::Manual { suballocated_device_memory_block_size: 1 << 20..1 << 20 };

/// What each key carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// A `u32` of the caller's, whatever it means.
    U32,
    /// The position that the key had before, from 0: written, not read.
    Positions,
}

/// What is to be sorted, and how. Two sorters of the same specification do the same.
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
    /// So many.
    Host(u32),
    /// As many as this `u32` in a buffer with usage `STORAGE` says when the sort runs, but no more
    /// than the slices hold or the workspace has room for.
    Buffer {
        /// The buffer.
        buffer: &'a wgpu::Buffer,
        /// Where it is, in bytes: a multiple of 4.
        offset: u64,
    },
}

/// Ranges of elements, each of which is sorted by itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Segments<'a> {
    /// Rows of so many elements, one after another, as of a matrix.
    Rows(u32),
    /// Between each of these `u32` and the next, counted in elements from the beginning of the
    /// keys. They ascend, and lie in a buffer with usage `STORAGE` which is none of the others.
    /// Where they do not ascend, or one is larger than the number of keys, keys stay as they are.
    Offsets(wgpu::BufferSlice<'a>),
    /// The same where the host knows the offsets. Recording makes a buffer of them: it is the one
    /// memory that it takes.
    HostOffsets(&'a [u32]),
}

impl Spec {
    /// Ascending, keys alone, all of their bits.
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

    /// With this beside each key.
    #[must_use]
    pub const fn payload(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    /// Largest first; NaN stay last.
    #[must_use]
    pub const fn descending(self, descending: bool) -> Self {
        Self { descending, ..self }
    }

    /// By these bits of keys alone, from the lowest: elements that are equal in them stay in the
    /// order in which they were. Of signed and floating-point numbers, bits are those of the key
    /// that they are mapped to, whose order is theirs.
    #[must_use]
    pub fn key_bits(self, bits: Range<u32>) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// By this variant of the radix sort, not by the one that is best on the device.
    #[must_use]
    pub const fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Whether workspaces have room for [`BufferSorter::record_argsort`], which takes as much again
    /// as the keys, and four bytes an element where there is no payload.
    #[must_use]
    pub const fn argsort(self, argsort: bool) -> Self {
        Self { argsort, ..self }
    }

    /// Whether workspaces have room for [`BufferSorter::record_segments`] of offsets and of long
    /// rows, which takes up to a half of a key for each of the keys, and far less where tiles are
    /// large.
    #[must_use]
    pub const fn segments(self, segments: bool) -> Self {
        Self { segments, ..self }
    }

    /// The most bytes that a workspace for `capacity` elements takes on any device. On one with
    /// subgroups of 32, as most are, it is less by some 15 %, and by some 30 % where there is room
    /// for segments: [`BufferSorter::workspace_bytes`] says it. These are for the default of
    /// [`Self::argsort`]. 0 for an element type or bits that [`BufferSorter::new`] refuses.
    #[must_use]
    pub fn workspace_bytes(&self, capacity: u32) -> u64 {
        let capacity = capacity.clamp(1, MOST);
        let most = |transform| most_bytes(transform, self.has_payload(), self.uses(), capacity);
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

/// Memory of the device for sorts of up to so many elements.
pub struct Workspace {
    scratch: Scratch,
}

impl Workspace {
    /// The most elements of a sort in it.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.scratch.capacity
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.scratch.bytes
    }
}

impl BufferSorter {
    /// Compiles what sorts of this kind need. This may take a second where the driver has not seen
    /// it before; then [`compile_time`](Self::compile_time) says how long it took.
    ///
    /// # Errors
    ///
    /// A specification of what cannot be; a device that lacks what a named variant needs, or
    /// refuses.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, spec: Spec) -> Result<Self, Error> {
        Self::with_cache(device, queue, spec, None)
    }

    /// As [`Self::new`], with the caller's cache of pipelines.
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

    /// Features to start a device with, of those that the adapter has: immediates and subgroups.
    /// The sort works without them.
    #[must_use]
    pub fn required_features(adapter: &wgpu::Adapter) -> wgpu::Features {
        let used = wgpu::Features::IMMEDIATES.union(wgpu::Features::SUBGROUP);
        adapter.features() & used.union(wgpu::Features::SUBGROUP_BARRIER)
    }

    /// Limits to start a device with for sorts of `capacity` elements of 64 bits: the default ones,
    /// but bindings as large as they must be, and as much memory of workgroups as the adapter has.
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

    /// What it sorts, and how.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How long [`Self::new`] took to compile.
    #[must_use]
    pub fn compile_time(&self) -> Duration {
        self.recorder.compiling
    }

    /// Bytes of a workspace for `capacity` elements on this device.
    ///
    /// # Errors
    ///
    /// A capacity that none can have; a buffer larger than the device was started for.
    pub fn workspace_bytes(&self, capacity: u32) -> Result<u64, Error> {
        self.recorder.scratch_bytes(in_range(capacity)?).map_err(on_callers_device)
    }

    /// Takes memory for sorts of up to `capacity` elements. It may be used for any number of them,
    /// in turn.
    ///
    /// # Errors
    ///
    /// A capacity that none can have; too little memory; a buffer larger than the device was
    /// started for.
    pub fn workspace(&self, capacity: u32) -> Result<Workspace, Error> {
        let scratch = self.recorder.scratch(in_range(capacity)?).map_err(on_callers_device)?;
        Ok(Workspace { scratch })
    }

    /// Records a sort of `count` keys, and of values beside them where the specification has a
    /// payload.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers: nothing is recorded then.
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

    /// Records what writes the positions of `count` keys in sorted order: first that of the first
    /// key, from 0. Keys stay as they are.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers: nothing is recorded then.
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

    /// Records what leaves the first `k` of `count` keys in order at the beginning, with the values
    /// beside them. What is after those is unspecified: some elements may be there twice, and
    /// others lack.
    ///
    /// Of many elements that are at most a quarter, the first are selected, which the first such
    /// call compiles pipelines for; else it takes as long as sorting all.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers: nothing is recorded then.
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

    /// Records sorts of segments, each by itself; positions are those in their segment. Keys in no
    /// segment stay as they are.
    ///
    /// Rows that fit a tile, which those of up to 8,192 elements mostly do, need no room in the
    /// workspace, and may be more than it has room for. The first time that segments come, and rows
    /// of another power of two, pipelines are compiled for them.
    ///
    /// # Errors
    ///
    /// A [`Misuse`] of buffers: nothing is recorded then.
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
