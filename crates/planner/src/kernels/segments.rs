//! Segments: ranges of the array, each sorted by itself. The host may not know the ranges, only the
//! device.
//!
//! Offsets define segments: the first segment begins at the first offset, and each segment ends where the
//! next begins. Earlier kernels list the segments for a plan's passes: short segments in one list for each
//! class of lengths up to one power of two, longer segments by their tiles of the radix sort.

use std::ops::Range;

use super::AuxBuffer;

/// For each tile of segments sorted by radix: the beginning and the end of its segment, the segment's
/// first tile, and the segment's number among the long segments.
pub const SEGMENT_TILES: AuxBuffer =
    AuxBuffer { name: "segment_tiles", wgsl_type: "array<vec4<u32>>", read_only: true, zeroed: false };

/// Numbers of short segments, by classes.
pub const SEGMENT_LIST: AuxBuffer = AuxBuffer::words("segment_list").read();

/// For each class of lengths: its first tile in its group, its number of segments, and the beginning of
/// its list.
pub const SEGMENT_CLASSES: AuxBuffer =
    AuxBuffer { name: "segment_classes", wgsl_type: "array<vec4<u32>>", read_only: true, zeroed: false };

/// The caller's offsets.
pub const SEGMENT_OFFSETS: AuxBuffer = AuxBuffer::words("segment_offsets").read();

/// The description of segments; a flag for wrong offsets is its first word.
pub const SEGMENTS: AuxBuffer = AuxBuffer::words("segments").read();

/// The length of the longest segments in the first class, as a power of two.
pub const FIRST_CLASS_LOG2: u32 = 3;

/// Returns the maximum number of segments with more than `longer_than` elements in `count` elements.
pub fn most_segments(count: u32, longer_than: u32) -> u32 {
    count / longer_than.saturating_add(1)
}

/// Returns the segments with these offsets; without offsets, all `count` elements are one segment.
pub(super) fn ranges(offsets: &[u32], count: usize) -> Vec<Range<usize>> {
    match offsets {
        [] => std::iter::once(0..count).collect(),
        _ => offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize).collect(),
    }
}
