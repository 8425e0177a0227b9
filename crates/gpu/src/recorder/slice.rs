//! Slices of a caller's buffers, and how they are bound.

use super::ALIGNMENT;

/// A slice of a caller's buffer.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    /// The name in messages.
    pub(crate) name: &'static str,
    pub(crate) buffer: &'a wgpu::Buffer,
    /// In bytes.
    pub(crate) offset: u64,
    /// Bytes of an element.
    pub(crate) each: u64,
    /// Elements.
    pub(crate) len: u64,
}

impl<'a> Slice<'a> {
    /// Elements between the beginning of the binding and the beginning of the slice.
    pub(super) fn first(self) -> u32 {
        (self.offset % ALIGNMENT / self.each) as u32
    }

    /// Bytes of the binding: whole words from a multiple of the alignment to the end of the elements.
    pub(crate) fn bound_bytes(self) -> u64 {
        (self.offset % ALIGNMENT + self.len * self.each).next_multiple_of(4)
    }

    /// Returns true if the buffer ends inside the last word of the binding.
    pub(crate) fn ends_inside_a_word(self) -> bool {
        self.offset - self.offset % ALIGNMENT + self.bound_bytes() > self.buffer.size()
    }

    /// The first elements.
    pub(crate) fn first_of(self, len: u32) -> Self {
        Self { len: len.into(), ..self }
    }

    pub(super) fn binding(self) -> wgpu::BufferBinding<'a> {
        let offset = self.offset - self.offset % ALIGNMENT;
        wgpu::BufferBinding { buffer: self.buffer, offset, size: wgpu::BufferSize::new(self.bound_bytes()) }
    }

    /// Returns true if two slices share bytes.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let end = |slice: Self| slice.offset + slice.len * slice.each;
        // Browsers compare whole bindings.
        let bound = |slice: Self| if cfg!(target_arch = "wasm32") { slice.offset % ALIGNMENT } else { 0 };
        let begin = |slice: Self| slice.offset - bound(slice);
        self.buffer == other.buffer && begin(self) < end(other) && begin(other) < end(self)
    }
}

/// The slices of elements: of keys and, if they have values, of values.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    pub(crate) keys: Slice<'a>,
    pub(crate) values: Option<Slice<'a>>,
}

impl<'a> Elements<'a> {
    /// The slices.
    pub(crate) fn slices(self) -> impl Iterator<Item = Slice<'a>> {
        [Some(self.keys), self.values].into_iter().flatten()
    }

    /// The first elements.
    pub(crate) fn first_of(self, len: u32) -> Self {
        Self { keys: self.keys.first_of(len), values: self.values.map(|values| values.first_of(len)) }
    }
}

/// [`Slice::first`], or 0 without a slice.
pub(super) fn first(slice: Option<Slice>) -> u32 {
    slice.map_or(0, Slice::first)
}
