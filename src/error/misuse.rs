//! Errors in the use of a caller's buffers.

use std::fmt;
use std::ops::Range;

use gpusort_planner::Algorithm;
use gpusort_planner::key::ElementType;

use super::{Error, ErrorKind};

/// The most elements in one sort of a caller's buffers.
pub const MOST: u32 = (1 << 30) - 1;

/// A use of buffers that cannot be. Slices are named as the parameters of the functions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// The type is not one of 32 or 64 bits.
    Element(ElementType),
    /// Bits of a key that are none, or that it does not have.
    KeyBits {
        /// Those asked for.
        bits: Range<u32>,
        /// How many a key has.
        of: u32,
    },
    /// A method that sorts no caller's buffers.
    Method(Algorithm),
    /// A slice of a buffer that was made without usage `STORAGE`.
    Usage(&'static str),
    /// A slice begins between two elements.
    Alignment {
        /// The slice.
        slice: &'static str,
        /// Where it begins, in bytes.
        offset: u64,
        /// Bytes of an element.
        element: u64,
    },
    /// A slice holds fewer elements than there are.
    Length {
        /// The slice.
        slice: &'static str,
        /// Elements that it holds.
        holds: u64,
        /// Elements that there are.
        count: u64,
    },
    /// More bytes than the device binds at once.
    Binding {
        /// The slice.
        slice: &'static str,
        /// Bytes to be bound.
        bytes: u64,
        /// Bytes that may be.
        limit: u64,
    },
    /// Two slices have bytes in common.
    Overlap(&'static str, &'static str),
    /// Two slices lie in one buffer, of which one is only read.
    OneBuffer(&'static str, &'static str),
    /// More elements than the workspace has room for.
    Capacity {
        /// Elements that there are.
        count: u32,
        /// Elements that it has room for.
        capacity: u32,
    },
    /// More elements, or none, than a workspace can be for.
    WorkspaceOf(u32),
    /// The workspace is another sorter's.
    Workspace,
    /// The workspace has no room for an argsort, which its specification left out.
    NoArgsort,
    /// The workspace has no room for segments, which its specification left out.
    NoSegments,
    /// Elements that are no whole number of rows, or rows without elements.
    Rows {
        /// Elements that there are.
        elements: u64,
        /// Elements in a row.
        length: u32,
    },
    /// Segments are sorted by whole keys, and the specification names some bits of them.
    SegmentBits,
    /// Offsets that do not ascend, or are larger than the number of keys: that of the first
    /// segment.
    Offsets {
        /// Which segment.
        segment: usize,
        /// Where it would begin and end.
        range: Range<u32>,
        /// Keys that there are.
        keys: u64,
    },
    /// Values are missing that the specification has.
    NoValues,
    /// Values are there that the specification does not have.
    Values,
    /// The number of elements is not within its buffer.
    CountOffset {
        /// Where it would be, in bytes.
        offset: u64,
        /// Bytes of the buffer.
        size: u64,
    },
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => write!(f, "{element} is no type of 32 or 64 bits"),
            Self::KeyBits { bits, of } => {
                write!(f, "bits {} to {} of keys that have {of}", bits.start, bits.end)
            }
            Self::Method(algorithm) => write!(f, "{algorithm} sorts no buffers of callers; radix does"),
            Self::Usage(slice) => write!(f, "the buffer of {slice} was made without usage STORAGE"),
            Self::Alignment { slice, offset, element } => {
                write!(f, "{slice} begin at byte {offset}, which is no multiple of {element}")
            }
            Self::Length { slice, holds, count } => {
                write!(f, "{slice} hold {holds} elements, and there are {count}")
            }
            Self::Binding { slice, bytes, limit } => {
                write!(f, "{slice} take a binding of {bytes} bytes, and the device was started with {limit}")
            }
            Self::Overlap(a, b) => write!(f, "{a} and {b} have bytes in common"),
            Self::OneBuffer(a, b) => write!(f, "{a} and {b} lie in one buffer, and need one each"),
            Self::Capacity { count, capacity } => {
                write!(f, "{count} elements, and the workspace has room for {capacity}")
            }
            Self::WorkspaceOf(count) => {
                write!(f, "a workspace for {count} elements; it can be for 1 to {MOST}")
            }
            Self::Workspace => f.write_str("the workspace is another sorter's"),
            Self::NoArgsort => f.write_str("the workspace was asked for without an argsort"),
            Self::NoSegments => f.write_str("the workspace was asked for without segments"),
            Self::Rows { elements, length } => write!(f, "{elements} elements are no rows of {length}"),
            Self::SegmentBits => f.write_str("segments are sorted by all bits of keys"),
            Self::Offsets { segment, range, keys } => write!(
                f,
                "segment {segment} is from {} to {}, which is no range of {keys} keys",
                range.start, range.end
            ),
            Self::NoValues => f.write_str("values are missing, which the specification has"),
            Self::Values => f.write_str("values are there, which the specification has not"),
            Self::CountOffset { offset, size } => {
                write!(f, "the number of elements at byte {offset} of a buffer of {size}")
            }
        }
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self::new(ErrorKind::Misuse(misuse))
    }
}
