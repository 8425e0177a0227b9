//! Slices of a caller's buffers, and how they are bound.

use super::ALIGNMENT;

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
    pub(super) fn first(&self) -> u32 {
        (self.offset % ALIGNMENT / self.each) as u32
    }

    /// Bytes that are bound: from a multiple of the alignment to the end of the elements, in whole
    /// words.
    pub(crate) fn bound_bytes(&self) -> u64 {
        (self.offset % ALIGNMENT + self.len * self.each).next_multiple_of(4)
    }

    /// Whether the buffer ends inside a word that would be bound.
    pub(crate) fn ends_inside_a_word(&self) -> bool {
        self.offset - self.offset % ALIGNMENT + self.bound_bytes() > self.buffer.size()
    }

    /// Its first elements.
    pub(crate) fn first_of(self, len: u32) -> Self {
        Self { len: len.into(), ..self }
    }

    pub(super) fn binding(&self) -> wgpu::BufferBinding<'a> {
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
