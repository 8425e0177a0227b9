//! Segments: ranges of the array, each sorted by itself. Maybe only the device knows where they
//! are.
//!
//! Offsets define them: the first offset is where the first segment begins, and each segment ends
//! where the next one begins. A plan's passes find them in what was made of the offsets
//! before: short segments in lists, one for each class of lengths up to the same power of two; of
//! longer ones, each tile of the radix sort.

use std::ops::Range;

use super::AuxBuffer;

/// For each tile of segments that are sorted by radix: where its segment begins and ends, the
/// segment's first tile, and the segment's number among those.
pub const SEGMENT_TILES: AuxBuffer =
    AuxBuffer { name: "segment_tiles", wgsl_type: "array<vec4<u32>>", read_only: true, zeroed: false };

/// Numbers of short segments, by classes.
pub const SEGMENT_LIST: AuxBuffer = AuxBuffer::words("segment_list").read();

/// For each class of lengths: its first tile among those of its group, its segments, and where its
/// list begins.
pub const SEGMENT_CLASSES: AuxBuffer =
    AuxBuffer { name: "segment_classes", wgsl_type: "array<vec4<u32>>", read_only: true, zeroed: false };

/// The offsets, as the caller has them.
pub const SEGMENT_OFFSETS: AuxBuffer = AuxBuffer::words("segment_offsets").read();

/// What was found out about segments, of which the first word says whether offsets are wrong.
pub const SEGMENTS: AuxBuffer = AuxBuffer::words("segments").read();

/// The length of the longest segments in the first class, as a power of two.
pub const FIRST_CLASS_LOG2: u32 = 3;

/// The most segments of more than `longer_than` elements that `count` elements have.
pub fn most_segments(count: u32, longer_than: u32) -> u32 {
    count / longer_than.saturating_add(1)
}

/// Segments of these lengths, or of fewer elements, are in no class before that with the longest of
/// 2^`log2` elements.
pub(super) fn longer_than(log2: u32) -> u32 {
    if log2 <= FIRST_CLASS_LOG2 { 1 } else { 1 << (log2 - 1) }
}

/// The segments with these offsets in so many elements; without offsets all are one.
pub(super) fn ranges(offsets: &[u32], count: usize) -> Vec<Range<usize>> {
    match offsets {
        [] => std::iter::once(0..count).collect(),
        _ => offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize).collect(),
    }
}
