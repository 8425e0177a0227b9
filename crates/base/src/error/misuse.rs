//! Errors in the use of a caller's buffers and device.

use std::fmt;
use std::ops::Range;

use gpusort_order::Algorithm;

use super::{Error, ErrorKind, Hint, PlanError};

/// The maximum number of elements in one sort of a caller's buffers.
pub const MOST: u32 = (1 << 30) - 1;

/// An invalid use of a caller's buffers. Slices are named after the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// The range of key bits is empty or exceeds the key.
    KeyBits {
        /// The requested range.
        bits: Range<u32>,
        /// Bits of a key.
        of: u32,
    },
    /// The algorithm does not sort a caller's buffers.
    Method(Algorithm),
    /// The slice's buffer lacks usage `STORAGE`.
    Usage(&'static str),
    /// The slice begins inside an element.
    Alignment {
        /// The slice.
        slice: &'static str,
        /// The slice's offset, in bytes.
        offset: u64,
        /// Bytes of an element.
        element: u64,
    },
    /// The slice holds fewer elements than the count.
    Length {
        /// The slice.
        slice: &'static str,
        /// Elements in the slice.
        holds: u64,
        /// The number of elements that the slice must hold.
        count: u64,
    },
    /// The slice exceeds the device's limit of a binding.
    Binding {
        /// The slice.
        slice: &'static str,
        /// Bytes to bind.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The buffer's size is not a multiple of 4, and the slice reaches into its last, partial word.
    PartialWord {
        /// The slice.
        slice: &'static str,
        /// Bytes of the buffer.
        size: u64,
    },
    /// Elements to gather have this size in bytes, which must be a positive multiple of 4.
    GatherBytes(u32),
    /// Two slices overlap.
    Overlap(&'static str, &'static str),
    /// Two slices share a buffer, although a kernel reads one and writes the other.
    OneBuffer(&'static str, &'static str),
    /// The count exceeds the workspace's capacity.
    Capacity {
        /// The count.
        count: u32,
        /// The workspace's capacity.
        capacity: u32,
    },
    /// The capacity is invalid: 0 or above [`MOST`].
    WorkspaceOf(u32),
    /// The workspace belongs to another sorter.
    Workspace,
    /// The slice's buffer or the encoder belongs to another device, or the buffer is destroyed.
    Device(&'static str),
    /// The `Spec` left out memory for an argsort.
    NoArgsort,
    /// The `Spec` left out memory for segments.
    NoSegments,
    /// The elements do not fill whole rows, or the row length is 0.
    Rows {
        /// Elements in the slice of keys.
        elements: u64,
        /// Elements in a row.
        length: u32,
    },
    /// The `Spec` has key bits, which segments do not support.
    SegmentBits,
    /// An offset is below the one before it, or above the number of keys.
    Offsets {
        /// The first invalid segment.
        segment: usize,
        /// Its offsets.
        range: Range<u32>,
        /// Elements in the slice of keys.
        keys: u64,
    },
    /// The `Spec` has a payload, but no values were passed.
    NoValues,
    /// Values were passed, but the `Spec` has no payload.
    Values,
    /// The count lies outside its buffer.
    CountOffset {
        /// The count's offset, in bytes.
        offset: u64,
        /// Bytes of the buffer.
        size: u64,
    },
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyBits { bits: Range { start, end }, of } => {
                write!(f, "{start}..{end} is not a range of key bits; use one within 0..{of}")
            }
            Self::Method(algorithm) => write!(f, "{algorithm} does not sort buffers; use radix"),
            Self::Usage(slice) => {
                write!(f, "{slice}: the buffer lacks usage STORAGE; create it with BufferUsages::STORAGE")
            }
            Self::Alignment { slice, offset, element } => {
                write!(f, "{slice}: byte offset {offset} is not a multiple of {element}")
            }
            Self::Length { slice, holds, count } => {
                write!(f, "{slice}: {holds} elements, but the count is {count}")
            }
            Self::Binding { slice, bytes, limit } => write!(
                f,
                "{slice}: {bytes} bytes exceed the device's limit of {limit} in one binding; \
                 start the device with a larger max_storage_buffer_binding_size (Spec::required_limits)"
            ),
            Self::PartialWord { slice, size } => {
                write!(f, "{slice}: the buffer has {size} bytes; create it with a multiple of 4")
            }
            Self::GatherBytes(bytes) => {
                write!(f, "elements of {bytes} bytes cannot be gathered; use a multiple of 4")
            }
            Self::Overlap(a, b) => write!(f, "{a} and {b} overlap; use slices without common bytes"),
            Self::OneBuffer(a, b) => write!(f, "{a} and {b} share a buffer; use a buffer for each"),
            Self::Capacity { count, capacity } => {
                write!(f, "the workspace has room for {capacity} elements; create one for {count}")
            }
            Self::WorkspaceOf(count) => {
                write!(f, "no workspace has a capacity of {count}; use 1 to {MOST}")
            }
            Self::Workspace => f.write_str(
                "the workspace belongs to another sorter; use BufferSorter::workspace of this one",
            ),
            Self::Device(what) => {
                write!(f, "{what}: it is not of the sorter's device; create it with that device")
            }
            Self::NoArgsort => f.write_str("the Spec leaves out the argsort; use Spec::argsort(true)"),
            Self::NoSegments => f.write_str("the Spec leaves out segments; use Spec::segments(true)"),
            Self::Rows { elements, length } => {
                write!(f, "{elements} elements do not make whole rows of {length}")
            }
            Self::SegmentBits => f.write_str("segments are sorted by whole keys; leave out Spec::key_bits"),
            Self::Offsets { segment, range, keys } => write!(
                f,
                "segment {segment} is {}..{}; offsets must ascend to at most {keys}",
                range.start, range.end
            ),
            Self::NoValues => f.write_str("the Spec has a payload; pass values"),
            Self::Values => f.write_str("values were passed, but the Spec has no payload; use Spec::payload"),
            Self::CountOffset { offset, size } => {
                write!(f, "the count at byte {offset} is outside its buffer of {size} bytes")
            }
        }
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self::new(ErrorKind::Misuse(misuse))
    }
}

/// Adds the remedy if the caller's device was started with too small a limit or without a feature.
pub fn on_callers_device(error: Error) -> Error {
    let ErrorKind::Plan(PlanError::TooLarge { what, .. } | PlanError::Lacks { what }) = error.kind() else {
        return error;
    };
    let needed = match *what {
        "bytes in one binding" => "a larger max_storage_buffer_binding_size (Spec::required_limits)",
        "bytes in one buffer" => "a larger max_buffer_size (Spec::required_limits)",
        "storage buffers in a kernel" => "a larger max_storage_buffers_per_shader_stage",
        "uniform buffers in a kernel" => "a larger max_uniform_buffers_per_shader_stage",
        "uniform buffers with dynamic offsets" => "a larger max_dynamic_uniform_buffers_per_pipeline_layout",
        "invocations in a workgroup" => "a larger max_compute_invocations_per_workgroup",
        "bytes of workgroup memory" => "a larger max_compute_workgroup_storage_size (Spec::required_limits)",
        "workgroups in a row" => "a larger max_compute_workgroups_per_dimension",
        "subgroups" => "Features::SUBGROUP (Spec::required_features)",
        _ => return error,
    };
    error.hinting(Hint::StartWith(needed))
}
