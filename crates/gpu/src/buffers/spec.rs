//! The specification of a sort, and the slices that it takes.

use std::ops::Range;

use gpusort_order::{ElementType, Encoding, Method};
use gpusort_planner::kernels::Arguments;
use gpusort_planner::plan::{KeyTransform, Narrow};

#[cfg(doc)]
use super::BufferSorter;
use crate::recorder::{Settings, most_bytes};
use gpusort_base::error::misuse::{MOST, Misuse};

/// The payload of each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// A `u32` of the caller.
    U32,
    /// The position of the key before the sort, from 0. The sort writes positions, and never reads them. A
    /// position is below 2³⁰, so it may also be used as an `i32`.
    Positions,
}

/// The keys, payload and order of a sort. Sorters with equal specifications do the same work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub(super) element: ElementType,
    /// True for the upper half of an `f32` in place of `element`.
    pub(super) is_bf16: bool,
    pub(super) payload: Payload,
    pub(super) descending: bool,
    pub(super) bits: Option<Range<u32>>,
    pub(super) method: Method,
    pub(super) argsort: bool,
    pub(super) segments: bool,
    pub(super) longest_segment: Option<u32>,
}

/// The number of elements.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Count<'a> {
    /// Known when the sort is recorded.
    Host(u32),
    /// A `u32` on the GPU, read when the sort runs; for example, the number of instances in the arguments of
    /// an indirect draw. A count above the length of the slices or the capacity of the workspace is lowered
    /// to this limit.
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
    /// Consecutive rows of this many elements, as in a matrix.
    Rows(u32),
    /// From each of these `u32` offsets to the next, in elements from the beginning of the keys. Offsets
    /// ascend, and lie in a buffer of their own with usage `STORAGE`. If they do not ascend, or exceed the
    /// number of keys, keys and values stay as they are, and positions are unspecified.
    Offsets(wgpu::BufferSlice<'a>),
    /// Offsets that the host knows. Recording creates a buffer of them, its only allocation.
    HostOffsets(&'a [u32]),
}

impl Spec {
    /// Keys without payload, ascending, by all bits.
    #[must_use]
    pub const fn new(element: ElementType) -> Self {
        let method = Method { algorithm: None, variant: None };
        Self {
            element,
            is_bf16: false,
            payload: Payload::None,
            descending: false,
            bits: None,
            method,
            argsort: true,
            segments: true,
            longest_segment: None,
        }
    }

    /// [`Self::new`] for keys of bfloat16, the upper half of an `f32`: a type for buffers only.
    #[must_use]
    pub const fn bf16() -> Self {
        Self { is_bf16: true, ..Self::new(ElementType::F16) }
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

    /// By these bits of the keys only, counted from the lowest. Elements with equal bits keep their order.
    /// For signed and floating-point numbers, these are bits of the unsigned key with the same order.
    #[must_use]
    pub fn key_bits(self, bits: Range<u32>) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// By this variant of the radix sort instead of the device's best.
    #[must_use]
    pub const fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// With or without workspace memory for [`BufferSorter::record_argsort`]: a copy of the keys, and without
    /// a payload also four bytes per element.
    #[must_use]
    pub const fn argsort(self, argsort: bool) -> Self {
        Self { argsort, ..self }
    }

    /// With or without workspace memory for [`BufferSorter::record_segments`] with offsets or long rows: up
    /// to half the size of the keys, far less if tiles are large.
    #[must_use]
    pub const fn segments(self, segments: bool) -> Self {
        Self { segments, ..self }
    }

    /// With at most this many elements in each segment between [`Segments::Offsets`]: kernels for longer
    /// segments are not recorded, and such segments may stay as they are. If all segments are short and about
    /// as long as this, sorts of up to a few million elements take half to two thirds of the time.
    #[must_use]
    pub const fn longest_segment(self, elements: u32) -> Self {
        Self { longest_segment: Some(elements), ..self }
    }

    /// The most bytes that a workspace for `capacity` elements takes on any device. With subgroups of 32, the
    /// most common size, a workspace takes some 15 % less, and some 30 % less with memory for segments (with
    /// the default of [`Self::argsort`]): [`BufferSorter::workspace_bytes`] is exact. Returns 0 for bits that
    /// [`BufferSorter::new`] refuses.
    #[must_use]
    pub fn workspace_bytes(&self, capacity: u32) -> u64 {
        let capacity = capacity.clamp(1, MOST);
        // Invalid specifications need 0 bytes.
        self.settings().ok().and_then(|settings| most_bytes(settings, capacity).ok()).unwrap_or(0)
    }

    /// The features to start a device with: immediates and subgroups, if the adapter has them. Sorts also
    /// work without these.
    #[must_use]
    pub fn required_features(&self, adapter: &wgpu::Adapter) -> wgpu::Features {
        let used = wgpu::Features::IMMEDIATES.union(wgpu::Features::SUBGROUP);
        adapter.features() & used.union(wgpu::Features::SUBGROUP_BARRIER)
    }

    /// The limits to start a device with for sorts of `capacity` elements, as far as the adapter has them:
    /// the defaults of wgpu, with larger bindings if necessary, buffers for keys and payload together, and
    /// all of the adapter's workgroup memory. With lower limits, a workspace of this capacity is an error
    /// that names the limit.
    #[must_use]
    pub fn required_limits(&self, adapter: &wgpu::Adapter, capacity: u32) -> wgpu::Limits {
        let (least, has) = (wgpu::Limits::default(), adapter.limits());
        // Keys of 8 and 16 bits become words. A binding begins up to `ALIGNMENT` bytes before its slice.
        let bytes = |each| each * u64::from(capacity) + crate::recorder::ALIGNMENT;
        let (key, payload) = (self.key_bytes().max(4), if self.has_payload() { 4 } else { 0 });
        wgpu::Limits {
            max_storage_buffer_binding_size: least.max_storage_buffer_binding_size.max(bytes(key)),
            max_buffer_size: least.max_buffer_size.max(bytes(key + payload)),
            max_compute_workgroup_storage_size: has.max_compute_workgroup_storage_size,
            max_immediate_size: Arguments::MOST_BYTES,
            ..least
        }
        .or_worse_values_from(&has)
    }

    pub(super) fn has_payload(&self) -> bool {
        self.payload != Payload::None
    }

    /// The bits of a key, and their encoding.
    pub(super) fn layout(&self) -> (u32, Encoding) {
        if self.is_bf16 { (16, Encoding::Float { exponent: 8 }) } else { self.element.layout() }
    }

    pub(super) fn key_bytes(&self) -> u64 {
        u64::from(self.layout().0 / 8)
    }

    /// The keys, if they have fewer than 32 bits.
    pub(super) fn narrow(&self) -> Option<Narrow> {
        let (bits, encoding) = self.layout();
        (bits < 32).then_some(Narrow { bits, encoding, descending: self.descending })
    }

    pub(super) fn settings(&self) -> Result<Settings, Misuse> {
        let of = self.layout().0;
        let bits = self.bits.clone().unwrap_or(0..of);
        if bits.is_empty() || bits.end > of {
            return Err(Misuse::KeyBits { bits, of });
        }
        // Narrow keys become words with the same order.
        let narrow = self.narrow();
        let (element, descending) = match narrow {
            Some(_) => (ElementType::U32, false),
            None => (self.element, self.descending),
        };
        Ok(Settings {
            transform: KeyTransform { element, descending, begin: bits.start, bits: bits.end - bits.start },
            narrow,
            payload: self.has_payload(),
            argsort: self.argsort,
            // Only sorts by whole keys have segments.
            segments: self.segments && self.bits.is_none(),
            variant: self.method.variant,
        })
    }
}

/// An array for [`BufferSorter::record_gather`].
#[derive(Clone, Copy, Debug)]
pub struct Gather<'a> {
    /// The elements.
    pub source: wgpu::BufferSlice<'a>,
    /// The elements in the order of the positions.
    pub target: wgpu::BufferSlice<'a>,
    /// Bytes of an element: a multiple of 4, at least 4.
    pub element_bytes: u32,
}

/// The outputs of [`BufferSorter::record_unique`].
#[derive(Clone, Copy, Debug)]
pub struct Unique<'a> {
    /// The first of each run of equal keys.
    pub keys: wgpu::BufferSlice<'a>,
    /// The value of this key, if values are passed.
    pub values: Option<wgpu::BufferSlice<'a>>,
    /// The length of each run, as `u32`, if wanted.
    pub counts: Option<wgpu::BufferSlice<'a>>,
    /// The number of runs: a `u32`, even if the slices are shorter.
    pub number: wgpu::BufferSlice<'a>,
}

/// A sorted run for [`BufferSorter::record_merge`].
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The keys, in order.
    pub keys: wgpu::BufferSlice<'a>,
    /// Their values, if the specification has a payload.
    pub values: Option<wgpu::BufferSlice<'a>>,
    /// The number of keys.
    pub count: Count<'a>,
}
